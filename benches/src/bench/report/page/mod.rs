//! The page of a report: one HTML file that needs nothing else, not even a network.

mod papers;
mod parts;

use std::{
    io,
    path::{Path, PathBuf},
};

use lanecrypt_record::{Part, Place, Record, replace, svg};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::bench::report::{
    choices, pictures, roof,
    runs::{Run, Runs, has_auto},
    summary, swap,
    table::Section,
    write,
};
use parts::{boxed, heat_map, label, labels, stand_in, with_bars};

/// What is no text of a data URL.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>');
/// Files that may lie beside the page.
const FILES: [&str; 3] = ["report.json", "report.csv", "report.md"];

/// Writes `index.html`, and says where it is.
///
/// # Errors
/// Those of the file system.
pub(crate) fn write_to(runs: &Runs, folder: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let files: Vec<&str> = FILES.into_iter().filter(|name| folder.join(name).is_file()).collect();
    let path = folder.join("index.html");
    replace(&path, &page(runs, &files))?;
    Ok(path)
}

/// The whole page, with links to these files beside it.
fn page(runs: &Runs, files: &[&str]) -> String {
    let record = runs.merged();
    let sections = [
        ("summary", "Summary", summary(runs, &record)),
        ("throughput", "Throughput against size", throughput(runs, &record)),
        ("places", "CPU against GPU", places(runs)),
        ("swap", "The swap", swap_section(&record)),
        ("roofs", "Roofs", roofs_section(runs, &record)),
        ("papers", "The five papers", papers::section(runs, &record)),
        ("machines", "Machines, versions, data", data(runs, &record, files)),
    ];
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "bench-all, " (record.environment.date) }
                style { (PreEscaped(svg::STYLE)) (PreEscaped(include_str!("style.css"))) }
            }
            body {
                h1 { "bench-all" }
                (machine(runs, &record))
                nav { @for (id, title, _) in &sections { a href={ "#" (id) } { (title) } } }
                @for (id, title, content) in &sections {
                    section id=(id) { h2 { (title) } (content) }
                }
            }
        }
    };
    page.into_string()
}

/// On what the figures were measured, and which of them this run has from another.
fn machine(runs: &Runs, record: &Record) -> Markup {
    let environment = &record.environment;
    html! {
        p {
            @if let Some(run) = runs.of_cpu() {
                "CPU: " (environment.cpu) " (" (environment.cpu_features) "), " (label(run)) "."
            } @else { "No CPU was measured." }
            br;
            @if let Some(run) = runs.of_gpu() {
                "GPU: " (environment.gpu) ", " (label(run)) "."
            } @else { "GPU: " (environment.gpu) "." }
        }
        (stand_in(runs.of_gpu()))
        p.note {
            "Medians; 1 Gbit/s is 10^9 bit/s. Every output was compared with another implementation before "
            "it was timed. The pointer on a point shows its value."
        }
    }
}

fn summary(runs: &Runs, record: &Record) -> Markup {
    html! {
        (stand_in(runs.of_gpu()))
        @if let Some(section) = summary::section(record) {
            p.note { (section.title) ". " (section.note) }
            (boxed(&section))
            @if let Some(sentence) = summary::gpu_sentence(record) { p { (sentence) } }
        } @else { p { "No single measurements are in this record: its parts are in report.md." } }
    }
}

fn throughput(runs: &Runs, record: &Record) -> Markup {
    let places = [
        (Place::Cpu, "CPU, one core", runs.of_cpu()),
        (Place::Resident, "GPU, data that lies on it", runs.of_gpu()),
        (Place::EndToEnd, "GPU, from host memory to host memory", runs.of_gpu()),
    ];
    html! {
        p.note { "ECB encryption with the shortest key; both axes are logarithmic." }
        @for (place, title, run) in places {
            @let charts = pictures::throughputs(record.measurements(), place);
            @let charts: Vec<_> = charts.into_iter().filter_map(|(_, chart)| chart.figure()).collect();
            @if !charts.is_empty() {
                h3 { (title) }
                (stand_in(run))
                div.charts { @for chart in charts { (chart) } }
            }
        }
    }
}

fn places(runs: &Runs) -> Markup {
    let Some(run) = runs.newest(has_auto) else {
        return html! { p { "The choice between CPU and GPU was not measured: bench-all --auto does." } };
    };
    let environment = &run.record.environment;
    html! {
        p.note {
            "One call from host memory to host memory, in place: all cores of " (environment.cpu)
            " against " (environment.gpu) "; " (label(run)) ". A dashed line is where the GPU takes over."
        }
        (stand_in(Some(run)))
        div.charts { @for chart in pictures::crossovers(&run.record) { @if let Some(figure) = chart.figure() { (figure) } } }
        @if let Some(section) = choices::crossovers(&run.record) { (boxed(&section)) }
        @if let Some(section) = choices::section(&run.record) {
            details {
                summary { "Every size that was measured" }
                p.note { (section.note) }
                (boxed(&section))
            }
        }
    }
}

fn swap_section(record: &Record) -> Markup {
    let tables = swap::sections(record);
    html! {
        @if let Some(losses) = swap::losses(record) {
            p.note { (swap::NOTE) }
            pre { (losses) }
            @for (i, table) in tables.iter().enumerate() {
                details open=[(i == 0).then_some("")] { summary { (table.title) } (heat_map(table)) }
            }
        } @else { p { "It was not measured: cargo xtask bench-all --swap does." } }
    }
}

fn roofs_section(runs: &Runs, record: &Record) -> Markup {
    html! {
        @if let Some(table) = roof::section(record, &labels(runs)) {
            p.note {
                "The roof is the throughput at which the fullest pipe of the GPU's multiprocessors has no "
                "time to spare: the counts of " code { "kernels/operations.csv" } ", by the multiprocessors and "
                "clock of " (record.environment.gpu) ". A bar is the part that was measured; beside it, how "
                "busy that keeps each pipe. The book's page \u{201c}The roof of a kernel\u{201d} has the rest."
            }
            (stand_in(runs.of_gpu()))
            (with_bars(&table))
        } @else {
            p {
                "No kernel was measured whose roof is known: the pipes are those of compute capability 9.0."
            }
        }
    }
}

fn data(runs: &Runs, record: &Record, files: &[&str]) -> Markup {
    let csv = write::csv(record);
    let csv = utf8_percent_encode(&csv, ENCODED);
    html! {
        @if let Some(section) = machines(runs, record) { (boxed(&section)) }
        p.note {
            "Of each figure the newest counts; records from before a run's time was kept are in the order of "
            "their names."
        }
        @for run in runs.all().iter().filter(|run| !run.is_stand_in) {
            details { summary { (run.name) } pre { (write::environment(&run.record)) } }
        }
        p {
            "Raw data: "
            a download="figures.csv" href={ "data:text/csv;charset=utf-8," (csv) } {
                "the figures of this page as CSV"
            }
            @for name in files { ", " a href=(name) { (name) } }
            "."
        }
    }
}

/// Every run that the page has something of, newest first, and how many of its figures that are.
fn machines(runs: &Runs, record: &Record) -> Option<Section> {
    let row = |(number, run): (usize, &Run)| {
        let environment = &run.record.environment;
        let figures = record.measurements().iter().filter(|m| m.run == number).count();
        let is_part =
            [Part::Auto, Part::Files].iter().any(|&part| !run.record.part(part).is_empty());
        (!run.is_stand_in || figures > 0 || is_part).then(|| {
            vec![
                run.name.clone(),
                label(run),
                figures.to_string(),
                environment.cpu.clone(),
                environment.gpu.clone(),
                environment.driver.clone().unwrap_or_default(),
                environment.compiler.clone(),
                environment.peers.join("; "),
            ]
        })
    };
    let header = ["run", "date", "figures here", "CPU", "GPU", "driver", "compiler", "peers"];
    let rows = runs.all().iter().enumerate().rev().filter_map(row).collect();
    Section::of("", "", header, rows)
}

#[cfg(test)]
mod tests;
