//! The report: tables for the terminal and for Markdown, CSV, JSON.

use std::{fmt::Write as _, fs, io, path::Path};

use comfy_table::{CellAlignment, Table, presets};

use super::{
    auto, block_sizes, blocks_chart, blocks_report, chart, claims, files, fleet, host_memory,
    papers::{self, P1_RESOURCES},
    plan::Work,
    ratio,
    record::{BatchMeasurement, FirstCall, Measurement, Place, Record},
};
use crate::size::size_name;

/// Rows and columns under a title.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Section {
    pub(super) fn render(&self, markdown: bool) -> String {
        let mut table = Table::new();
        table.load_style(if markdown {
            presets::ASCII_MARKDOWN
        } else {
            presets::UTF8_FULL_CONDENSED
        });
        table.set_header(&self.header);
        table.add_rows(&self.rows);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let heading = if markdown { "## " } else { "" };
        let note = if self.note.is_empty() { String::new() } else { format!("{}\n\n", self.note) };
        format!("{heading}{}\n\n{note}{table}\n", self.title)
    }
}

/// Gbit/s with about four digits.
pub(super) fn throughput(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

/// Distinct values in order of first appearance.
pub(super) fn distinct<T: PartialEq, I: Iterator<Item = T>>(values: I) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// Gbit/s, and cycles a byte where the core's clock is known; of single launches, microseconds.
fn throughput_and_cycles(measurement: &Measurement) -> String {
    if measurement.place == Place::Queued {
        return format!("{:.1}", measurement.seconds * 1e6);
    }
    let throughput = throughput(measurement.gbit_per_second());
    match measurement.cycles_per_byte() {
        Some(cycles) => format!("{throughput} ({cycles:.3})"),
        None => throughput,
    }
}

/// A section for every cipher, place, mode and key size: backends down, sizes across.
fn throughput_sections(measurements: &[Measurement]) -> Vec<Section> {
    let group = |m: &Measurement| (m.cipher.clone(), m.place, m.work, m.key_bits);
    let groups = distinct(measurements.iter().map(group));
    let section = |key: &(String, Place, Work, usize)| {
        let members: Vec<&Measurement> = measurements.iter().filter(|m| group(m) == *key).collect();
        let mut sizes = distinct(members.iter().map(|m| m.bytes));
        sizes.sort_unstable();
        let row = |backend: &String| {
            let cell = |bytes: &usize| {
                let found = members.iter().find(|m| m.backend == *backend && m.bytes == *bytes);
                found.map_or_else(String::new, |m| throughput_and_cycles(m))
            };
            std::iter::once(backend.clone()).chain(sizes.iter().map(cell)).collect()
        };
        let backends = distinct(members.iter().map(|m| m.backend.clone()));
        let (cipher, place, work, bits) = key;
        Section {
            title: format!(
                "{}-{bits} {work}, {}, {}{}",
                cipher.to_uppercase(),
                place.name(),
                if *place == Place::Queued { "microseconds" } else { "Gbit/s" },
                if members.iter().any(|m| m.gigahertz.is_some()) { " (cycles a byte)" } else { "" }
            ),
            note: String::new(),
            header: std::iter::once("backend".to_owned())
                .chain(sizes.iter().map(|&bytes| size_name(bytes)))
                .collect(),
            rows: backends.iter().map(row).collect(),
        }
    };
    groups.iter().map(section).collect()
}

/// Throughput for comparing GPUs: resident data at the largest size, in bits per multiprocessor and
/// clock cycle.
fn per_clock_section(record: &Record) -> Option<Section> {
    record.environment.gpu_details.as_ref()?;
    let is_stored = |m: &&Measurement| m.place == Place::Resident && m.work != Work::Keystream;
    let resident = record.measurements.iter().filter(is_stored);
    let largest = resident.clone().map(|m| m.bytes).max()?;
    let members: Vec<&Measurement> = resident.filter(|m| m.bytes == largest).collect();
    let kind = |m: &Measurement| (m.cipher.to_uppercase(), m.key_bits, m.work);
    let kinds = distinct(members.iter().map(|m| kind(m)));
    let row = |backend: &String| {
        let cell = |wanted: &(String, usize, Work)| {
            let found = members.iter().find(|m| m.backend == *backend && kind(m) == *wanted);
            let n = found.and_then(|m| per_clock(record, m));
            n.map_or_else(String::new, |n| format!("{n:.1}"))
        };
        std::iter::once(backend.clone()).chain(kinds.iter().map(cell)).collect()
    };
    let backends = distinct(members.iter().map(|m| m.backend.clone()));
    let titles = kinds.iter().map(|(cipher, bits, work)| format!("{cipher}-{bits} {work}"));
    Some(Section {
        title: format!("N, resident, {}", size_name(largest)),
        note: "N = Gbit/s / (multiprocessors x GHz).".into(),
        header: std::iter::once("backend".to_owned()).chain(titles).collect(),
        rows: backends.iter().map(row).collect(),
    })
}

/// Throughput of batches: messages down, ciphers, modes and places across.
fn batch_section(record: &Record) -> Option<Section> {
    let measured = &record.batches;
    let kind = |m: &BatchMeasurement| (m.cipher.to_uppercase(), m.key_bits, m.work, m.place);
    let kinds = distinct(measured.iter().map(kind));
    let shapes = distinct(measured.iter().map(|m| (m.message_bytes, m.messages)));
    if shapes.is_empty() {
        return None;
    }
    let row = |&(bytes, messages): &(usize, usize)| {
        let cell = |wanted: &(String, usize, Work, Place)| {
            let is_it = |m: &&BatchMeasurement| {
                kind(m) == *wanted && (m.message_bytes, m.messages) == (bytes, messages)
            };
            measured
                .iter()
                .find(is_it)
                .map_or_else(String::new, |m| throughput(m.gbit_per_second()))
        };
        let name = format!("{messages} of {}", size_name(bytes));
        std::iter::once(name).chain(kinds.iter().map(cell)).collect()
    };
    let titles = kinds
        .iter()
        .map(|(cipher, bits, work, place)| format!("{cipher}-{bits} {work}, {}", place.name()));
    Some(Section {
        title: "Batches of messages with keys of their own, Gbit/s".into(),
        note:
            "One call for all messages, key schedules counted; on the GPU the upload of keys and \
               places is not."
                .into(),
        header: std::iter::once("messages".to_owned()).chain(titles).collect(),
        rows: shapes.iter().map(row).collect(),
    })
}

/// Milliseconds of first calls: calls down, their parts across.
fn first_call_section(record: &Record) -> Option<Section> {
    let measured = &record.first_calls;
    let row = |call: &FirstCall| {
        let FirstCall { cipher, key_bits, work, place, bytes, .. } = call;
        let cipher = cipher.to_uppercase();
        let (place, size) = (place.name(), size_name(*bytes));
        let times = [call.open_seconds, call.compiling_seconds, call.loading_seconds];
        std::iter::once(format!("{cipher}-{key_bits} {work}, {place}, {size}"))
            .chain(times.map(|seconds| format!("{:.0}", 1e3 * seconds)))
            .collect()
    };
    let header = ["call", "device opened", "kernels compiled", "kernels of the driver's cache"];
    (!measured.is_empty()).then(|| Section {
        title: "The first call of a process, milliseconds".into(),
        note:
            "Opening comes before the call; the others are what it takes longer than the next one."
                .into(),
        header: header.map(str::to_owned).to_vec(),
        rows: measured.iter().map(row).collect(),
    })
}

/// What every kernel takes, with P1's figures first.
fn resource_section(record: &Record) -> Option<Section> {
    if record.kernels.is_empty() {
        return None;
    }
    let row = |name: &str, place: &str, numbers: [u32; 4]| {
        let texts = numbers.into_iter().map(|number| number.to_string());
        [name.to_owned(), place.to_owned()].into_iter().chain(texts).collect()
    };
    let theirs = P1_RESOURCES.iter().map(|theirs| {
        let numbers = [theirs.registers, theirs.shared_bytes, theirs.local_bytes, 0];
        row(theirs.name, "P1, Table 4", numbers)
    });
    let ours = record.kernels.iter().map(|k| {
        let numbers = [k.registers, k.shared_bytes, k.local_bytes, k.spill_bytes];
        row(&k.kernel, &k.architecture, numbers)
    });
    let header = ["kernel", "on", "registers", "shared bytes", "local bytes", "spilled bytes"];
    Some(Section {
        title: "What the kernels take (P1, Table 4)".into(),
        note: "P1's numbers are from the compiler of 2007 for the 8800 series.".into(),
        header: header.map(str::to_owned).to_vec(),
        rows: theirs.chain(ours).collect(),
    })
}

/// Throughput for comparing GPUs, in bits per multiprocessor and clock cycle; of a CPU there is none.
pub(super) fn per_clock(record: &Record, measurement: &Measurement) -> Option<f64> {
    let details = record.environment.gpu_details.as_ref()?;
    let cycles = f64::from(details.multiprocessors) * details.gigahertz;
    (measurement.place != Place::Cpu).then(|| measurement.gbit_per_second() / cycles)
}

/// The papers' figures whose names begin with `paper`, or with "" all; with names of runs, whose our
/// figures are.
pub(super) fn paper_section(
    record: &Record,
    paper: &str,
    runs: Option<&[String]>,
) -> Option<Section> {
    let comparisons = papers::comparisons(&record.measurements);
    let titles = ["paper", "figure", "theirs, Gbit/s", "our backend", "ours, Gbit/s", "N", "ratio"];
    let row = |c: &papers::Comparison| {
        let ours = c.ours.gbit_per_second();
        let mut cells = vec![
            c.paper.to_owned(),
            c.what.to_owned(),
            format!("{}", c.theirs),
            c.backend.to_owned(),
            throughput(ours),
            per_clock(record, &c.ours).map_or_else(String::new, |n| format!("{n:.2}")),
            format!("{:.1}", ours / c.theirs),
        ];
        cells.extend(runs.map(|runs| runs[c.ours.run].clone()));
        cells
    };
    let rows: Vec<Vec<String>> =
        comparisons.iter().filter(|c| c.paper.starts_with(paper)).map(row).collect();
    (!rows.is_empty()).then(|| Section {
        title: "The papers' figures and ours".into(),
        note: "Ours: the same mode, without transfers, at the largest size measured.".into(),
        header: titles.into_iter().chain(runs.map(|_| "run")).map(str::to_owned).collect(),
        rows,
    })
}

/// The papers' claims whose names begin with `paper`, or with "" all.
pub(super) fn gain_section(record: &Record, paper: &str) -> Option<Section> {
    let gains = claims::gains(&record.measurements);
    let header = ["paper", "comparison", "theirs", "our backends", "ours", "claim", "why"];
    let row = |gain: &claims::GainComparison| {
        vec![
            gain.paper.to_owned(),
            gain.what.to_owned(),
            gain.claim.to_string(),
            gain.backends.join(" / "),
            format!("{:.2}", gain.ours),
            gain.verdict.name().to_owned(),
            gain.why_not.unwrap_or_default().to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> =
        gains.iter().filter(|gain| gain.paper.starts_with(paper)).map(row).collect();
    (!rows.is_empty()).then(|| Section {
        title: "The papers' gains and ours".into(),
        note: "How many times the throughput of the one the other has; from their tables, where \
               they give no ratio."
            .into(),
        header: header.map(str::to_owned).to_vec(),
        rows,
    })
}

fn sections(record: &Record) -> Vec<Section> {
    let mut sections = throughput_sections(&record.measurements);
    sections.extend(ratio::sections(record));
    sections.extend(blocks_report::section(&record.block_curves));
    sections.extend(per_clock_section(record));
    sections.extend(block_sizes::thread_blocks(record));
    sections.extend(block_sizes::section(record));
    sections.extend(batch_section(record));
    sections.extend(auto::section(&record.auto));
    sections.extend(host_memory::section(&record.host_memory));
    sections.extend(first_call_section(record));
    sections.extend(fleet::section(&record.fleet));
    sections.extend(files::section(&record.files));
    sections.extend(resource_section(record));
    sections.extend(paper_section(record, "", None));
    sections.extend(gain_section(record, ""));
    sections
}

/// The whole report for a terminal.
#[must_use]
pub(super) fn terminal(record: &Record) -> String {
    let tables = sections(record).iter().map(|s| s.render(false)).collect::<Vec<_>>().join("\n");
    format!("{tables}\n{}", environment(record))
}

pub(super) fn environment(record: &Record) -> String {
    let machine = &record.environment;
    let mut text = format!("CPU: {} ({})\nGPU: {}", machine.cpu, machine.cpu_features, machine.gpu);
    if let (Some(details), Some(driver)) = (&machine.gpu_details, &machine.driver) {
        let _ = write!(
            text,
            ", {} multiprocessors at up to {} GHz, compute capability {}, driver {driver}",
            details.multiprocessors, details.gigahertz, details.compute_capability
        );
    }
    let _ = writeln!(
        text,
        "\nCompiler: {}\nCommit: {}\nDate: {}",
        machine.compiler, machine.commit, machine.date
    );
    let clocks = record.measurements.iter().filter_map(|m| m.gigahertz);
    let (lowest, highest) = clocks
        .fold((f64::MAX, 0.0), |(low, high): (f64, f64), clock| (low.min(clock), high.max(clock)));
    if lowest <= highest {
        let _ = writeln!(
            text,
            "Core clock: {lowest:.2} to {highest:.2} GHz, measured before each figure by a chain \
             of dependent additions"
        );
    }
    for peer in &machine.peers {
        let _ = writeln!(text, "Peer: {peer}");
    }
    for skipped in &record.skipped {
        let _ = writeln!(text, "Not measured: {skipped}");
    }
    text
}

fn markdown(record: &Record, pictures: &[String]) -> String {
    let tables = sections(record).iter().map(|s| s.render(true)).collect::<Vec<_>>().join("\n");
    let environment = environment(record).trim_end().replace('\n', "\n- ");
    let pictures =
        pictures.iter().map(|name| format!("![{name}]({name})")).collect::<Vec<_>>().join("\n\n");
    format!(
        "# bench-all\n\n- {environment}\n\nMedians; cycles a byte are those of the fastest \
         pass. 1 Gbit/s = 10^9 bit/s. Every output was compared with another implementation before \
         it was timed.\n\n{pictures}\n\n{tables}"
    )
}

pub(super) fn csv(record: &Record) -> String {
    let mut text = "cipher,key_bits,backend,work,place,bytes,seconds,gbit_per_second,samples,\
                    gigahertz,fastest_seconds,cycles_per_byte,of_fastest_peer\n"
        .to_owned();
    let or_empty =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
    for m in &record.measurements {
        let of_peer = ratio::fastest_peer(&record.measurements, m);
        let of_peer = of_peer.map(|peer| ratio::of_throughput(m, peer));
        let _ = writeln!(
            text,
            "{},{},{},{},\"{}\",{},{:e},{:.4},{},{},{},{},{}",
            m.cipher,
            m.key_bits,
            m.backend,
            m.work,
            m.place.name(),
            m.bytes,
            m.seconds,
            m.gbit_per_second(),
            m.samples,
            or_empty(m.gigahertz),
            m.fastest_seconds.map_or_else(String::new, |seconds| format!("{seconds:e}")),
            or_empty(m.cycles_per_byte()),
            or_empty(of_peer)
        );
    }
    text
}

/// Writes report.md, report.csv, report.json, the times by number of blocks as CSV, and the
/// pictures; each file appears when it is complete.
///
/// # Errors
/// Those of the file system.
pub(super) fn write(record: &Record, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut pictures = Vec::new();
    for (name, svg) in chart::charts(&record.measurements) {
        replace(&folder.join(&name), &svg)?;
        pictures.push(name);
    }
    if let Some(svg) = block_sizes::chart(record) {
        let name = "aes-thread-blocks.svg";
        replace(&folder.join(name), &svg)?;
        pictures.push(name.to_owned());
    }
    for curve in &record.block_curves {
        replace(&folder.join(format!("{}-blocks.csv", curve.cipher)), &blocks_report::csv(curve))?;
        if let Some(svg) = blocks_chart::chart(curve) {
            let name = format!("{}-blocks.svg", curve.cipher);
            replace(&folder.join(&name), &svg)?;
            pictures.push(name);
        }
    }
    replace(&folder.join("report.md"), &markdown(record, &pictures))?;
    replace(&folder.join("report.csv"), &csv(record))?;
    replace(&folder.join("report.json"), &serde_json::to_string_pretty(record)?)
}

/// Writes a file, which appears when it is complete.
///
/// # Errors
/// Those of the file system.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(backend: &str, bytes: usize, seconds: f64) -> Measurement {
        Measurement::of(("aes", backend), (Work::EcbEncrypt, Place::Cpu), bytes, seconds)
    }

    #[test]
    fn a_row_a_backend_and_a_column_a_size() {
        let all = [
            measurement("a", 1 << 20, 1e-3),
            measurement("b", 1 << 20, 1e-4),
            measurement("b", 16, 1e-6),
        ];
        let [section] = throughput_sections(&all).try_into().ok().expect("one section");
        assert_eq!(section.header, ["backend", "16 B", "1 MiB"]);
        assert_eq!(section.rows[0], ["a", "", "8.389"]);
        assert_eq!(section.rows[1], ["b", "0.128", "83.886"]);
        assert!(section.render(true).contains("| backend |"));
    }

    #[test]
    fn cycles_stand_beside_throughput() {
        let mut all = [measurement("a", 1 << 20, 1e-3)];
        all[0].gigahertz = Some(2.0);
        let [section] = throughput_sections(&all).try_into().ok().expect("one section");
        assert!(section.title.ends_with("Gbit/s (cycles a byte)"), "{}", section.title);
        assert_eq!(section.rows[0], ["a", "8.389 (1.907)"]);
        let record = record(all.to_vec());
        assert!(environment(&record).contains("Core clock: 2.00 to 2.00 GHz"));
        assert!(csv(&record).lines().nth(1).expect("a row").ends_with(",11,2.0000,,1.9073,"));
    }

    fn record(measurements: Vec<Measurement>) -> Record {
        let environment = crate::bench::environment::Environment::of_this_machine(false);
        Record::of(environment, measurements)
    }

    #[test]
    fn batches_have_a_row_a_shape() {
        let mut record = record(Vec::new());
        assert!(batch_section(&record).is_none());
        for (place, messages) in [(Place::Cpu, 10), (Place::Resident, 10), (Place::Resident, 20)] {
            record.batches.push(BatchMeasurement {
                cipher: "aes".into(),
                key_bits: 128,
                work: Work::Ctr,
                place,
                messages,
                message_bytes: 1 << 20,
                seconds: 1e-3 * messages as f64,
                samples: 11,
                interval: None,
            });
        }
        let section = batch_section(&record).expect("there are measurements");
        assert_eq!(section.header[1..], ["AES-128 CTR, CPU", "AES-128 CTR, GPU, resident"]);
        assert_eq!(section.rows[0], ["10 of 1 MiB", "8.389", "8.389"]);
        assert_eq!(section.rows[1], ["20 of 1 MiB", "", "8.389"]);
    }

    #[test]
    fn first_calls_have_a_row_each() {
        let mut record = record(Vec::new());
        assert!(first_call_section(&record).is_none());
        record.first_calls.push(FirstCall {
            cipher: "aes".into(),
            key_bits: 128,
            work: Work::Ctr,
            place: Place::Resident,
            bytes: 1 << 20,
            open_seconds: 0.3,
            compiling_seconds: 0.25,
            loading_seconds: 0.0015,
        });
        let section = first_call_section(&record).expect("there is one");
        let row = ["AES-128 CTR, GPU, resident, 1 MiB", "300", "250", "2"];
        assert_eq!(section.rows, [row]);
    }

    #[test]
    fn gains_are_ratios() {
        let mut measurements =
            [measurement("table", 1 << 20, 2e-3), measurement("bitslice-u64", 1 << 20, 1e-3)];
        for measurement in &mut measurements {
            measurement.cipher = "hight".into();
        }
        let record = record(measurements.into());
        let section = gain_section(&record, "P3").expect("both were measured");
        let row = ["P3, Table 1", "bit slicing over KISA's, 64-bit", "2.39"];
        let ours = ["bitslice-u64 / table", "2.00", "holds", ""];
        assert_eq!(section.rows, [[&row[..], &ours].concat()]);
        assert!(gain_section(&record, "P1").is_none());
    }

    #[test]
    fn papers_stand_beside_ours() {
        let all = [measurement("table32", 1 << 20, 1e-3)];
        let record = record(all.to_vec());
        let section = paper_section(&record, "P1", None).expect("one comparison");
        let row = ["AES-128 in C on a 2.4 GHz Core2 Quad", "1.1", "table32", "8.389", "", "7.6"];
        assert_eq!(section.rows, [[&["P1, section 4.1"], &row[..]].concat()]);
    }
}
