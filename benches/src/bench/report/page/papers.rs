//! The five papers on a page: their figures and claims, and ours beside them.

use lanecrypt_record::{Chart, KernelResources, Record};
use maud::{Markup, html};

use super::parts::{boxed, captioned, label, labels, stand_in};
use crate::bench::report::{
    block_sizes,
    papers::{self, RESOURCES},
    pictures,
    runs::Runs,
    sections::FILES,
    table::Section,
};

/// All of them.
pub(crate) fn section(runs: &Runs, record: &Record) -> Markup {
    html! {
        p.note {
            "N is Gbit/s by multiprocessors and GHz, to compare GPUs by. A claim holds where half of its gain or "
            "more is there; where it does not and the reason is known, that stands beside it."
        }
        (stand_in(runs.of_gpu()))
        @for (name, title, note) in papers::all() {
            h3 { (name) ": " (title) }
            p.note { (note) }
            @let found = content(name, runs, record);
            @if found.is_empty() { p { "Nothing that it compares was measured." } }
            @for part in found { (part) }
        }
    }
}

fn content(paper: &str, runs: &Runs, record: &Record) -> Vec<Markup> {
    match paper {
        "P4" => {
            let table = block_sizes::section(record).map(|section| captioned("Table 3", &section));
            table.into_iter().chain(figure_10(record)).collect()
        }
        "P5" => file_tables(runs),
        name => {
            let resources = (name == "P1").then(|| resources(record)).flatten();
            let tables = [
                ("Figures", papers::figures(record, name, Some(&labels(runs)))),
                ("Claims", papers::gains(record, name)),
                ("Table 4", resources),
            ];
            let table = |(caption, section): (&str, Option<Section>)| {
                section.map(|section| captioned(caption, &section))
            };
            tables.into_iter().filter_map(table).collect()
        }
    }
}

/// P1's Table 4, each row over that of our kernel of the same form.
fn resources(record: &Record) -> Option<Section> {
    let row = |k: &KernelResources| {
        let numbers = [k.shared_bytes, k.registers, k.local_bytes].map(|number| number.to_string());
        [[k.kernel.clone(), k.architecture.clone()].as_slice(), &numbers].concat()
    };
    let pair = |(theirs, ours): &(KernelResources, &str)| {
        let found = || record.kernels.iter().filter(|kernel| kernel.kernel == *ours);
        // As the driver compiled it for the device, with shared memory that a launch asks for.
        let on_device = found().find(|kernel| kernel.architecture == record.environment.gpu);
        Some([row(theirs), row(on_device.or(found().next())?)])
    };
    let header = ["kernel", "on", "shared bytes", "registers", "local bytes"];
    let note = "P1's numbers are from the compiler of 2007 for the 8800 series. Ours are the driver's where \
                a device is named; for an architecture the compiler's, without the shared memory that a \
                launch asks for.";
    Section::of("", note, header, RESOURCES.iter().filter_map(pair).flatten().collect())
}

/// P4's Figure 10 as far as its text goes, and ours.
fn figure_10(record: &Record) -> Option<Markup> {
    let figures = pictures::gains(record)?.map(Chart::figure);
    Some(html! { div.charts { @for figure in figures.into_iter().flatten() { (figure) } } })
}

/// A table of each machine's newest run.
fn file_tables(runs: &Runs) -> Vec<Markup> {
    let mut shown: Vec<(&str, &str)> = Vec::new();
    let mut tables = Vec::new();
    for run in runs.all().iter().rev() {
        let environment = &run.record.environment;
        let machine = (environment.cpu.as_str(), environment.gpu.as_str());
        for section in FILES.tables(&run.record).iter().filter(|_| !shown.contains(&machine)) {
            tables.push(html! {
                (stand_in(Some(run)))
                p {
                    strong { "Files, GB/s" } ". " (machine.0) ", GPU: " (machine.1) "; " (label(run)) ". "
                    (section.note)
                }
                (boxed(section))
            });
        }
        if !run.record.part(lanecrypt_record::Part::Files).is_empty() {
            shown.push(machine);
        }
    }
    tables
}
