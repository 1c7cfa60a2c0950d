//! The five papers on a page: their figures and claims, and ours beside them.

use lanecrypt_record::Record;
use maud::{Markup, html};

use super::{label, parts::boxed, stand_in};
use crate::bench::{
    report,
    report::{
        block_sizes,
        chart::Chart,
        papers::{P1_RESOURCES, Resources},
        pictures,
        runs::{Run, Runs},
        sections,
        table::Section,
    },
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
    let labels: Vec<String> = runs.all().iter().map(label).collect();
    match paper.name {
        "P4" => {
            let table = block_sizes::section(record).map(|section| captioned("Table 3", &section));
            table.into_iter().chain(figure_10(record)).collect()
        }
        "P5" => file_tables(runs),
        name => {
            let figures = report::paper_section(record, name, Some(&labels));
            let gains = report::gain_section(record, name);
            let tables = figures.map(|section| captioned("Figures", &section)).into_iter();
            let tables = tables.chain(gains.map(|section| captioned("Claims", &section)));
            let resources = (name == "P1").then(|| resources(record)).flatten();
            tables.chain(resources.map(|section| captioned("Table 4", &section))).collect()
        }
    }
}

fn captioned(caption: &str, section: &Section) -> Markup {
    html! {
        p { strong { (caption) } ". " (section.note) }
        (boxed(&section.header, &section.rows))
    }
}

/// P1's Table 4, each row over that of our kernel of the same form.
fn resources(record: &Record) -> Option<Section> {
    let row = |name: &str, place: &str, numbers: [u32; 3]| -> Vec<String> {
        let texts = numbers.into_iter().map(|number| number.to_string());
        [name.to_owned(), place.to_owned()].into_iter().chain(texts).collect()
    };
    let pair = |theirs: &Resources| {
        let found = || record.kernels.iter().filter(|kernel| kernel.kernel == theirs.ours);
        // As the driver compiled it for the device, with shared memory that a launch asks for.
        let on_device = found().find(|kernel| kernel.architecture == record.environment.gpu);
        let ours = on_device.or(found().next())?;
        let numbers = [theirs.shared_bytes, theirs.registers, theirs.local_bytes];
        Some([
            row(theirs.name, "P1, Table 4", numbers),
            row(
                &ours.kernel,
                &ours.architecture,
                [ours.shared_bytes, ours.registers, ours.local_bytes],
            ),
        ])
    };
    let rows: Vec<Vec<String>> = P1_RESOURCES.iter().filter_map(pair).flatten().collect();
    let header = ["kernel", "on", "shared bytes", "registers", "local bytes"];
    (!rows.is_empty()).then(|| Section {
        title: String::new(),
        note: "P1's numbers are from the compiler of 2007 for the 8800 series. Ours are the driver's where \
               a device is named; for an architecture the compiler's, without the shared memory that a launch \
               asks for."
            .into(),
        header: header.map(str::to_owned).to_vec(),
        rows,
    })
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
        if let Some(section) = sections::files(&run.record).filter(|_| !shown.contains(&machine)) {
            shown.push(machine);
            tables.push(file_table(run, &section));
        }
    }
    tables
}

fn file_table(run: &Run, section: &Section) -> Markup {
    let environment = &run.record.environment;
    html! {
        (stand_in(Some(run)))
        p { strong { "Files, GB/s" } ". " (environment.cpu) ", GPU: " (environment.gpu) "; " (label(run)) ". " (section.note) }
        (boxed(&section.header, &section.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::measure::gpu::compiled_kernels;

    #[test]
    fn every_row_of_table_4_names_a_kernel_of_ours() {
        let kernels = compiled_kernels("sm_90");
        for row in P1_RESOURCES {
            assert!(kernels.iter().any(|kernel| kernel.kernel == row.ours), "{}", row.ours);
        }
    }
}
