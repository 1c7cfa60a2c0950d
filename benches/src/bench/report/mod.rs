//! The report: tables for the terminal and for Markdown, CSV, JSON.

pub(crate) mod block_sizes;
pub(crate) mod chart;
pub(crate) mod claims;
pub(crate) mod compare;
pub(crate) mod curves;
pub(crate) mod page;
pub(crate) mod papers;
pub(crate) mod pictures;
pub(crate) mod ratio;
pub(crate) mod roof;
pub(crate) mod runs;
pub(crate) mod sections;
pub(crate) mod summary;
pub(crate) mod swap;
pub(crate) mod table;

use std::{fmt::Write as _, fs, io, path::Path};

use lanecrypt_record::Record;

use crate::bench::report::table::{Section, throughput};

/// The papers' figures whose names begin with `paper`, or with "" all; with names of runs, whose our
/// figures are.
pub(crate) fn paper_section(
    record: &Record,
    paper: &str,
    runs: Option<&[String]>,
) -> Option<Section> {
    let comparisons = papers::comparisons(record.measurements());
    let titles = ["paper", "figure", "theirs, Gbit/s", "our backend", "ours, Gbit/s", "N", "ratio"];
    let row = |c: &papers::Comparison| {
        let ours = c.ours.gbit_per_second();
        let mut cells = vec![
            c.paper.to_owned(),
            c.what.to_owned(),
            format!("{}", c.theirs),
            c.backend.to_owned(),
            throughput(ours),
            sections::per_clock(record, &c.ours).map_or_else(String::new, |n| format!("{n:.2}")),
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
pub(crate) fn gain_section(record: &Record, paper: &str) -> Option<Section> {
    let gains = claims::gains(record.measurements());
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

fn all_sections(record: &Record) -> Vec<Section> {
    let mut all = sections::throughputs(record.measurements());
    all.extend(ratio::sections(record));
    all.extend(curves::section(record));
    let of_parts = [
        sections::per_clocks(record),
        sections::thread_blocks(record),
        block_sizes::section(record),
        sections::batches(record),
        sections::auto(record),
        sections::host_memory(record),
        sections::first_calls(record),
        sections::fleet(record),
        sections::files(record),
        sections::resources(record),
        paper_section(record, "", None),
        gain_section(record, ""),
    ];
    all.extend(of_parts.into_iter().flatten());
    all.extend(swap::sections(record));
    all
}

/// The whole report for a terminal.
#[must_use]
pub(crate) fn terminal(record: &Record) -> String {
    let tables =
        all_sections(record).iter().map(|s| s.render(false)).collect::<Vec<_>>().join("\n");
    format!("{tables}\n{}", environment(record))
}

pub(crate) fn environment(record: &Record) -> String {
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
    let clocks = record.measurements().iter().filter_map(|m| m.gigahertz);
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
    let tables = all_sections(record).iter().map(|s| s.render(true)).collect::<Vec<_>>().join("\n");
    let environment = environment(record).trim_end().replace('\n', "\n- ");
    let pictures =
        pictures.iter().map(|name| format!("![{name}]({name})")).collect::<Vec<_>>().join("\n\n");
    format!(
        "# bench-all\n\n- {environment}\n\nMedians; cycles a byte are those of the fastest \
         pass. 1 Gbit/s = 10^9 bit/s. Every output was compared with another implementation before \
         it was timed.\n\n{pictures}\n\n{tables}"
    )
}

pub(crate) fn csv(record: &Record) -> String {
    let mut text = "cipher,key_bits,backend,work,place,bytes,seconds,gbit_per_second,samples,\
                    gigahertz,fastest_seconds,cycles_per_byte,of_fastest_peer\n"
        .to_owned();
    let or_empty =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
    for m in record.measurements() {
        let of_peer = ratio::fastest_peer(record.measurements(), m);
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

/// Writes report.md, report.csv, report.json, the times by number of blocks and the swap as CSV, and the
/// pictures; each file appears when it is complete.
///
/// # Errors
/// Those of the file system.
pub(crate) fn write(record: &Record, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut pictures = Vec::new();
    for (name, svg) in pictures::files(record) {
        replace(&folder.join(&name), &svg)?;
        pictures.push(name);
    }
    for curve in curves::curves(record) {
        let name = format!("{}-blocks.csv", curve[0].cipher);
        replace(&folder.join(name), &curves::csv(curve))?;
    }
    if let Some(csv) = swap::csv(record) {
        replace(&folder.join("swap.csv"), &csv)?;
    }
    replace(&folder.join("report.md"), &markdown(record, &pictures))?;
    replace(&folder.join("report.csv"), &csv(record))?;
    replace(&folder.join("report.json"), &serde_json::to_string_pretty(record)?)
}

/// Writes a file, which appears when it is complete.
///
/// # Errors
/// Those of the file system.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, path)
}

#[cfg(test)]
mod tests {
    use lanecrypt_record::{Environment, Figure, Place, Work};

    use super::*;

    fn measurement(backend: &str, bytes: usize, seconds: f64) -> Figure {
        Figure::of(("aes", backend), (Work::EcbEncrypt, Place::Cpu), bytes, seconds)
    }

    fn record(measurements: Vec<Figure>) -> Record {
        Record::of(Environment::default(), measurements)
    }

    #[test]
    fn the_clock_is_in_the_head_and_cycles_are_in_the_rows() {
        let all = [Figure { gigahertz: Some(2.0), ..measurement("a", 1 << 20, 1e-3) }];
        let record = record(all.to_vec());
        assert!(environment(&record).contains("Core clock: 2.00 to 2.00 GHz"));
        assert!(csv(&record).lines().nth(1).expect("a row").ends_with(",11,2.0000,,1.9073,"));
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
