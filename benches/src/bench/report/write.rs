//! What is written of a record: tables for the terminal and for Markdown, CSV, JSON, pictures.

use std::{fmt::Write as _, fs, io, path::Path};

use lanecrypt_record::{Record, replace};

use super::{curves, pictures, ratio, sections, swap};

/// All tables, in text or in Markdown.
fn tables(record: &Record, markdown: bool) -> String {
    let tables = sections::of(record);
    tables.iter().map(|table| table.render(markdown)).collect::<Vec<_>>().join("\n")
}

/// The whole report for a terminal.
#[must_use]
pub(crate) fn terminal(record: &Record) -> String {
    format!("{}\n{}", tables(record, false), environment(record))
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
    let tables = tables(record, true);
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
pub(crate) fn files(record: &Record, folder: &Path) -> io::Result<()> {
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
