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

/// A paper, and what a reader must know beside its figures.
struct Paper {
    name: &'static str,
    title: &'static str,
    note: &'static str,
}

const PAPERS: [Paper; 5] = [
    Paper {
        name: "P1",
        title: "Yeom and Cho, High-Speed Implementations of Block Ciphers on GPUs using CUDA (2008)",
        note: "Table 3 is over data that lies on the GPU, and so are ours.",
    },
    Paper {
        name: "P2",
        title: "Eum et al., Optimized GPU implementation of Camellia CTR by minimizing bank conflicts (2025)",
        note: "The key stream alone, not stored, on an RTX 3060 Mobile. The gains of 8.74% and 25.21% in its \
               text are of time; as throughput, which is compared here, its Table 2 has more.",
    },
    Paper {
        name: "P3",
        title: "High-speed implementation of the HIGHT block cipher (about 2012)",
        note: "Table 1 is of a Core i7 920, Table 2 of a GTX 470.",
    },
    Paper {
        name: "P4",
        title: "Fei, Li and Yang, Optimization of AES parallel algorithm based on CUDA (2014)",
        note: "Its claim: to choose the size of a thread block by recorded times gains over the mean of all \
               sizes, most for short messages and for those of SSL.",
    },
    Paper {
        name: "P5",
        title: "Waloschek et al., Accelerating AES encryption with a GPU (2010)",
        note: "Whole files of random bytes on a RAM disk. Its text has no figures of the test; ours stand alone.",
    },
];

/// All of them.
pub(crate) fn section(runs: &Runs, record: &Record) -> Markup {
    html! {
        p.note {
            "N is Gbit/s by multiprocessors and GHz, to compare GPUs by. A claim holds where half of its gain or "
            "more is there; where it does not and the reason is known, that stands beside it."
        }
        (stand_in(runs.of_gpu()))
        @for paper in &PAPERS {
            h3 { (paper.name) ": " (paper.title) }
            p.note { (paper.note) }
            @let found = content(paper, runs, record);
            @if found.is_empty() { p { "Nothing that it compares was measured." } }
            @for part in found { (part) }
        }
    }
}

fn content(paper: &Paper, runs: &Runs, record: &Record) -> Vec<Markup> {
    match paper.name {
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
