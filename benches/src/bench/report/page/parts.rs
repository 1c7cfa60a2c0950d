//! Tables and pictures of a page.

use lanecrypt_record::{Figure, Part, Place, Record, distinct};
use maud::{Markup, html};

use super::label;
use crate::bench::report::{
    roof::{self, Share},
    runs::{Run, Runs},
    sections::{Choice, choices},
    summary::{about, percent, switches},
    swap::heat,
    table::{Section, keyed_work, throughput},
};
/// The part of a colour that its strongest cell has: text is read on it.
const HOTTEST: f64 = 0.7;
/// Columns with longer texts wrap.
const WORDS: usize = 40;

/// A table in a box of its own, in which it scrolls where the page is narrow.
pub(crate) fn boxed(header: &[String], rows: &[Vec<String>]) -> Markup {
    let classes: Vec<_> = (0..header.len()).map(|column| class(rows, column)).collect();
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr { @for (title, class) in header.iter().zip(&classes) { th class=[class] { (title) } } } }
                tbody {
                    @for row in rows {
                        tr { @for (cell, class) in row.iter().zip(&classes) { td class=[class] { (cell) } } }
                    }
                }
            }
        }
    }
}

/// A table of ratios, each coloured by how far it is from 1, with its number all the same.
pub(crate) fn heat_map(table: &Section) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.heat {
                thead { tr { @for title in &table.header { th { (title) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { th { (row[0]) } @for cell in &row[1..] { (heated(cell)) } }
                    }
                }
            }
        }
    }
}

fn heated(cell: &str) -> Markup {
    html! {
        @if let Some((is_loss, strength)) = heat(cell) {
            td class=(if is_loss { "loss" } else { "gain" }) style={ "--heat:" (percent(HOTTEST * strength)) } { (cell) }
        } @else { td { (cell) } }
    }
}

/// How a column is set: numbers to the right, long texts in lines.
fn class(rows: &[Vec<String>], column: usize) -> Option<&'static str> {
    let is_number = |cell: &str| {
        let first = cell.split([' ', '/']).next().unwrap_or_default();
        first.trim_end_matches('%').parse::<f64>().is_ok()
    };
    let cells = || rows.iter().map(|row| row[column].as_str()).filter(|cell| !cell.is_empty());
    if cells().any(|cell| cell.len() > WORDS) {
        Some("words")
    } else {
        (cells().next().is_some() && cells().all(is_number)).then_some("number")
    }
}

/// Where the GPU takes over, and both at the largest size that was measured: a row a cipher, key and mode.
pub(crate) fn crossovers(record: &Record) -> (Vec<String>, Vec<Vec<String>>) {
    let choices = choices(record);
    let kind = |choice: &Choice<'_>| keyed_work(choice.auto);
    let row = |wanted: &String| {
        let members = choices.iter().filter(|choice| kind(choice) == *wanted);
        let Choice { cpu, gpu, auto } = members.max_by_key(|choice| choice.auto.bytes)?;
        let [host, device] = [cpu, gpu].map(|f| f.gbit_per_second());
        Some(vec![
            wanted.clone(),
            switches(auto),
            about(auto.bytes),
            throughput(host),
            throughput(device),
            format!("{:.2}", device / host),
        ])
    };
    let header = ["", "goes to the GPU", "at", "CPU, Gbit/s", "GPU, Gbit/s", "GPU over CPU"];
    let kinds = distinct(choices.iter().map(kind));
    (header.map(str::to_owned).to_vec(), kinds.iter().filter_map(row).collect())
}

/// Kernels at their largest size beside their roofs; none where no roof is known.
pub(crate) fn roofs(record: &Record, labels: &[String]) -> Option<Markup> {
    let gpu = record.environment.gpu_details.as_ref();
    let resident = record.measurements().iter().filter(|m| m.place == Place::Resident);
    let is_largest = |m: &&Figure| {
        !resident.clone().any(|other| {
            (&other.cipher, other.key_bits, &other.backend, other.work)
                == (&m.cipher, m.key_bits, &m.backend, m.work)
                && other.bytes > m.bytes
        })
    };
    let rows: Vec<(&Figure, Share)> = resident
        .clone()
        .filter_map(|m| Some((m, roof::share(m, gpu)?)))
        .filter(|(m, _)| is_largest(m))
        .collect();
    (!rows.is_empty()).then(|| roof_table(&rows, labels))
}

fn roof_table(rows: &[(&Figure, Share)], labels: &[String]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { "kernel" }
                        @for title in ["Gbit/s", "roof, Gbit/s", "of its roof"] { th.number { (title) } }
                        @for (pipe, _) in roof::PIPES { th.number { (pipe) } }
                        th { "run" }
                    }
                }
                tbody {
                    @for (m, share) in rows {
                        tr {
                            td { (m.cipher.to_uppercase()) "-" (m.key_bits) " " (m.work) ", " (m.backend) }
                            td.number { (throughput(m.gbit_per_second())) }
                            td.number { (throughput(share.roof)) }
                            (bar(share.reached))
                            @for part in share.of_pipes { (bar(part)) }
                            td { (labels[m.run]) }
                        }
                    }
                }
            }
        }
    }
}

/// A cell that is filled to a part.
fn bar(part: f64) -> Markup {
    html! { td.share style={ "--share:" (percent(part.min(1.0))) } { (percent(part)) } }
}

/// Every run that the page has something of, newest first, and how many of its figures that are.
pub(crate) fn machines(runs: &Runs, record: &Record) -> (Vec<String>, Vec<Vec<String>>) {
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
    (header.map(str::to_owned).to_vec(), rows)
}
