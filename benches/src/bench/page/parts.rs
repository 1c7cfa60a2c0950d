//! Tables and pictures of a page.

use maud::{Markup, html};

use super::{
    super::{
        plan::Work,
        record::{AutoMeasurement, Measurement, Place, Record},
        report::{distinct, throughput},
        roof::{self, Share},
        runs::{Run, Runs},
        summary::{about, percent, switches},
    },
    chart::{Chart, Line},
    label,
};
/// Columns with longer texts wrap.
const WORDS: usize = 40;

/// A table in a box of its own, in which it scrolls where the page is narrow.
pub(super) fn boxed(header: &[String], rows: &[Vec<String>]) -> Markup {
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

/// Throughput against size in one place: a picture a cipher, a line a backend.
pub(super) fn throughput_charts(measurements: &[Measurement], place: Place) -> Vec<Markup> {
    let of_place = measurements.iter().filter(|m| m.place == place && m.work == Work::EcbEncrypt);
    let chart = |cipher: &str| {
        let of_cipher = of_place.clone().filter(|m| m.cipher == cipher);
        let shortest = of_cipher.clone().map(|m| m.key_bits).min()?;
        let of_cipher = of_cipher.filter(|m| m.key_bits == shortest);
        let line = |backend: &str| Line {
            name: backend.to_owned(),
            points: of_cipher
                .clone()
                .filter(|m| m.backend == backend)
                .map(|m| (m.bytes as f64, m.gbit_per_second()))
                .collect(),
        };
        let lines = distinct(of_cipher.clone().map(|m| m.backend.as_str()));
        Chart {
            title: format!("{}-{shortest}", cipher.to_uppercase()),
            unit: "Gbit/s",
            is_logarithmic: true,
            lines: lines.into_iter().map(line).collect(),
            marks: Vec::new(),
            shaded: Vec::new(),
        }
        .figure()
    };
    let ciphers = distinct(of_place.clone().map(|m| m.cipher.as_str()));
    ciphers.into_iter().filter_map(chart).collect()
}

/// What stands for a mode in the pictures of CPU and GPU: a quick run measures it alone.
const CROSSING: Work = Work::Ctr;

/// CPU and GPU against size: a picture a cipher, in CTR with the shortest key.
pub(super) fn crossover_charts(auto: &[AutoMeasurement]) -> Vec<Markup> {
    let of_mode = auto.iter().filter(|row| row.work == CROSSING);
    let chart = |cipher: &str| {
        let of_cipher = of_mode.clone().filter(|row| row.cipher == cipher);
        let shortest = of_cipher.clone().map(|row| row.key_bits).min()?;
        let rows: Vec<&AutoMeasurement> =
            of_cipher.filter(|row| row.key_bits == shortest).collect();
        let line = |name: &str, seconds: fn(&AutoMeasurement) -> f64| Line {
            name: name.to_owned(),
            points: rows
                .iter()
                .map(|row| (row.bytes as f64, rate(row.bytes, seconds(row))))
                .collect(),
        };
        let mark = |&at: &u64| (at as f64, about(at as usize));
        Chart {
            title: format!("{}-{shortest} {CROSSING}", cipher.to_uppercase()),
            unit: "Gbit/s",
            is_logarithmic: true,
            lines: vec![
                line("CPU, all cores", |row| row.cpu_seconds),
                line("GPU", |row| row.gpu_seconds),
            ],
            marks: rows.first()?.switches.iter().map(mark).collect(),
            shaded: Vec::new(),
        }
        .figure()
    };
    distinct(of_mode.clone().map(|row| row.cipher.as_str())).into_iter().filter_map(chart).collect()
}

/// Gbit/s.
fn rate(bytes: usize, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds / 1e9
}

/// Where the GPU takes over, and both at the largest size that was measured: a row a cipher, key and mode.
pub(super) fn crossovers(auto: &[AutoMeasurement]) -> (Vec<String>, Vec<Vec<String>>) {
    let kind = |row: &AutoMeasurement| (row.cipher.clone(), row.key_bits, row.work);
    let row = |wanted: &(String, usize, Work)| {
        let members = auto.iter().filter(|row| kind(row) == *wanted);
        let largest = members.max_by_key(|row| row.bytes)?;
        let (cpu, gpu) =
            (rate(largest.bytes, largest.cpu_seconds), rate(largest.bytes, largest.gpu_seconds));
        Some(vec![
            format!("{}-{} {}", wanted.0.to_uppercase(), wanted.1, wanted.2),
            switches(largest),
            about(largest.bytes),
            throughput(cpu),
            throughput(gpu),
            format!("{:.2}", gpu / cpu),
        ])
    };
    let header = ["", "GPU from", "at", "CPU, Gbit/s", "GPU, Gbit/s", "GPU over CPU"];
    let kinds = distinct(auto.iter().map(kind));
    (header.map(str::to_owned).to_vec(), kinds.iter().filter_map(row).collect())
}

/// Kernels at their largest size beside their roofs; none where no roof is known.
pub(super) fn roofs(record: &Record, labels: &[String]) -> Option<Markup> {
    let gpu = record.environment.gpu_details.as_ref();
    let resident = record.measurements.iter().filter(|m| m.place == Place::Resident);
    let is_largest = |m: &&Measurement| {
        !resident.clone().any(|other| {
            (&other.cipher, other.key_bits, &other.backend, other.work)
                == (&m.cipher, m.key_bits, &m.backend, m.work)
                && other.bytes > m.bytes
        })
    };
    let rows: Vec<(&Measurement, Share)> = resident
        .clone()
        .filter_map(|m| Some((m, roof::share(m, gpu)?)))
        .filter(|(m, _)| is_largest(m))
        .collect();
    (!rows.is_empty()).then(|| roof_table(&rows, labels))
}

fn roof_table(rows: &[(&Measurement, Share)], labels: &[String]) -> Markup {
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
pub(super) fn machines(runs: &Runs, record: &Record) -> (Vec<String>, Vec<Vec<String>>) {
    let row = |(number, run): (usize, &Run)| {
        let environment = &run.record.environment;
        let figures = record.measurements.iter().filter(|m| m.run == number).count();
        let is_part = !run.record.auto.is_empty() || !run.record.files.is_empty();
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
