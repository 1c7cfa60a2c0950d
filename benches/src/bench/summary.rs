//! The one screen that a run ends with: for each cipher what is fastest, and beside what.

use std::fmt::Write as _;

use lanecrypt::ConstantTime;

use super::{
    blocks::DEFAULT,
    plan::Work,
    ratio,
    record::{AutoMeasurement, Measurement, Place, Record},
    report,
    report::{Section, distinct, throughput},
    roof,
};
use crate::size::size_name;

/// What stands for a cipher: every backend has it, and it is what the papers measured.
const WORK: Work = Work::EcbEncrypt;

/// Backends that choose one of the others, which counts by its own name where it was measured.
const CHOOSING: [&str; 2] = [DEFAULT, "cuda-fastest"];

/// A cipher in one place.
#[derive(Debug)]
pub(super) struct Row {
    /// Cipher and bits of the key.
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) bytes: usize,
    /// The fastest of our backends that claim to run in constant time.
    pub(super) constant_time: Option<Measurement>,
    /// The fastest of all our backends.
    pub(super) fastest: Measurement,
    /// How many times the throughput of the crate that ours replaces.
    pub(super) of_crate: Option<f64>,
    /// How many times the throughput of the fastest other library, and which that is.
    pub(super) of_peer: Option<(f64, String)>,
    /// The part of what the chip's pipes allow.
    pub(super) of_roof: Option<f64>,
    /// From which sizes on the GPU is faster than all cores of the CPU.
    pub(super) gpu_from: Option<String>,
}

/// Two rows a cipher: the CPU's, and the GPU's over data that lies there.
#[must_use]
pub(super) fn rows(record: &Record) -> Vec<Row> {
    let ciphers = distinct(record.measurements.iter().map(|m| m.cipher.as_str()));
    let places = [Place::Cpu, Place::Resident];
    let of = |cipher| places.into_iter().filter_map(move |place| row(record, cipher, place));
    ciphers.into_iter().flat_map(of).collect()
}

/// Under the shortest key, over the largest size that was measured.
fn row(record: &Record, cipher: &str, place: Place) -> Option<Row> {
    let all = &record.measurements;
    let ours = || {
        let is_one = |m: &&Measurement| (&*m.cipher, m.place, m.work) == (cipher, place, WORK);
        all.iter().filter(is_one).filter(|m| !m.is_peer)
    };
    let bits = ours().map(|m| m.key_bits).min()?;
    let bytes = ours().filter(|m| m.key_bits == bits).map(|m| m.bytes).max()?;
    let mut candidates: Vec<&Measurement> =
        ours().filter(|m| (m.key_bits, m.bytes) == (bits, bytes)).collect();
    let is_itself = |m: &&Measurement| !CHOOSING.contains(&&*m.backend);
    if candidates.iter().any(is_itself) {
        candidates.retain(is_itself);
    }
    let time = |m: &&&Measurement| m.undisturbed_seconds();
    let faster = |a: &&&Measurement, b: &&&Measurement| time(a).total_cmp(&time(b));
    let fastest = *candidates.iter().min_by(faster)?;
    let constant_time = candidates.iter().filter(|m| is_constant_time(m)).min_by(faster);
    let has_peers = !record.environment.peers.is_empty();
    let of_peer = ratio::fastest_peer(all, fastest).filter(|_| has_peers);
    Some(Row {
        name: format!("{}-{bits}", cipher.to_uppercase()),
        place,
        bytes,
        constant_time: constant_time.map(|&m| m.clone()),
        fastest: fastest.clone(),
        of_crate: ratio::replaced(all, fastest).map(|peer| ratio::of_throughput(fastest, peer)),
        of_peer: of_peer.map(|peer| (ratio::of_throughput(fastest, peer), peer.backend.clone())),
        of_roof: roof::share(fastest, record.environment.gpu_details.as_ref())
            .map(|share| share.reached),
        gpu_from: (place == Place::Resident)
            .then(|| gpu_from(&record.auto, cipher, bits))
            .flatten(),
    })
}

/// The claim of the registry; what is not there claims nothing.
fn is_constant_time(m: &Measurement) -> bool {
    let cipher = lanecrypt::find_cipher(&m.cipher).ok();
    let backend = cipher.and_then(|cipher| cipher.backend(&m.backend));
    backend.is_some_and(|backend| backend.constant_time == ConstantTime::Yes)
}

/// Where the GPU takes over in ECB encryption, or in CTR where that alone was measured.
fn gpu_from(auto: &[AutoMeasurement], cipher: &str, bits: usize) -> Option<String> {
    let of = |work| {
        auto.iter().find(move |row| (&*row.cipher, row.key_bits, row.work) == (cipher, bits, work))
    };
    of(WORK).or_else(|| of(Work::Ctr)).map(switches)
}

/// The sizes at which it is the GPU.
#[must_use]
pub(super) fn switches(row: &AutoMeasurement) -> String {
    let range =
        |range: &[u64]| range.iter().map(|&at| about(at as usize)).collect::<Vec<_>>().join(" to ");
    let ranges: Vec<String> = row.switches.chunks(2).map(range).collect();
    if ranges.is_empty() { "never".to_owned() } else { ranges.join(", ") }
}

/// A size to two or three digits: it was found by bisection, to five per cent.
#[must_use]
pub(super) fn about(bytes: usize) -> String {
    let steps = (bytes.max(1).ilog2() / 10).min(4);
    let value = bytes as f64 / 1024_f64.powf(f64::from(steps));
    let unit = ["B", "KiB", "MiB", "GiB", "TiB"][steps as usize];
    let digits = usize::from(value < 10.0 && value.fract() > 0.05);
    format!("{value:.digits$} {unit}")
}

/// The table's title.
pub(super) const TITLE: &str = "ECB encryption with the shortest key, Gbit/s";
/// What its columns mean.
pub(super) const NOTE: &str = "CPU: one core, over the largest size measured; GPU: over data that lies on it. \
    Crate and peer: how many times the throughput of the Rust crate that is replaced, and of the fastest \
    other library (--peers). Bound: the part of what the chip's pipes allow (book, \"The roof of a kernel\"). \
    GPU from: sizes of host memory at which the GPU ends before all cores do.";

/// The same rows as a table; without rows there is none.
#[must_use]
pub(super) fn section(rows: &[Row]) -> Option<Section> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let best = |m: &Measurement| format!("{} {}", m.backend, throughput(m.gbit_per_second()));
    let cells = |row: &Row| {
        let is_same = |m: &&Measurement| m.backend == row.fastest.backend;
        let constant_time = row.constant_time.as_ref();
        vec![
            format!("{} {}", row.name, if row.place == Place::Cpu { "CPU" } else { "GPU" }),
            size_name(row.bytes),
            text(constant_time.map(best)),
            if constant_time.is_some_and(|m| is_same(&m)) {
                "same".into()
            } else {
                best(&row.fastest)
            },
            text(row.of_crate.map(|ratio| format!("{ratio:.2}"))),
            text(row.of_peer.as_ref().map(|(ratio, name)| format!("{ratio:.2} {name}"))),
            text(row.of_roof.map(percent)),
            text(row.gpu_from.clone()),
        ]
    };
    let header =
        ["", "bytes", "fastest constant-time", "fastest", "crate", "peer", "bound", "GPU from"];
    (!rows.is_empty()).then(|| Section {
        title: TITLE.into(),
        note: String::new(),
        header: header.map(str::to_owned).to_vec(),
        rows: rows.iter().map(cells).collect(),
    })
}

/// A part, in per cent.
#[must_use]
pub(super) fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

/// The screen: this table, or where nothing of it was measured the run's own few tables; and the machine.
#[must_use]
pub(super) fn screen(record: &Record) -> String {
    let Some(section) = section(&rows(record)) else { return report::terminal(record) };
    let machine = &record.environment;
    let mut text = format!("{}\n{}\n", section.render(false), wrapped(NOTE, 100));
    let _ = write!(text, "\nCPU: {}\nGPU: {}\n", machine.cpu, machine.gpu);
    if !record.skipped.is_empty() {
        let _ = writeln!(text, "Not measured: {}, which report.md names", record.skipped.len());
    }
    text
}

/// Lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if line.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{
        environment::{Environment, GpuDetails},
        record::BatchMeasurement,
    };

    fn measurement(backend: &str, place: Place, seconds: f64) -> Measurement {
        Measurement::of(("aes", backend), (WORK, place), 1 << 20, seconds)
    }

    fn record() -> Record {
        let mut measurements = vec![
            measurement("table32", Place::Cpu, 1e-3),
            measurement("bitslice-u64", Place::Cpu, 2e-3),
            measurement(DEFAULT, Place::Cpu, 1e-6),
            measurement("cuda-bitslice", Place::Resident, 4e-6),
            measurement("cuda-table-conflict-free", Place::Resident, 2e-6),
        ];
        for (name, seconds) in [("RustCrypto aes + ctr", 4e-3), ("Botan", 2e-3)] {
            let measurement = measurement(name, Place::Cpu, seconds);
            measurements.push(Measurement { is_peer: true, ..measurement });
        }
        // A longer key, a smaller size and another mode do not count.
        for change in [
            |m: &mut Measurement| m.key_bits = 256,
            |m: &mut Measurement| m.bytes = 16,
            |m: &mut Measurement| m.work = Work::Ctr,
        ] {
            let mut other = measurement("table32", Place::Cpu, 1e-9);
            change(&mut other);
            measurements.push(other);
        }
        let mut environment = Environment::of_this_machine(false);
        environment.peers = vec!["Botan 3".into()];
        let gpu =
            GpuDetails { multiprocessors: 132, gigahertz: 1.98, compute_capability: "9.0".into() };
        environment.gpu_details = Some(gpu);
        let mut record = Record::of(environment, measurements);
        record.auto.push(AutoMeasurement {
            cipher: "aes".into(),
            key_bits: 128,
            work: Work::Ctr,
            switches: vec![4096, 1 << 20],
            bytes: 8192,
            is_on_gpu: true,
            cpu_seconds: 2e-6,
            gpu_seconds: 1e-6,
            auto_seconds: 1e-6,
        });
        record
    }

    #[test]
    fn a_cipher_has_a_row_for_the_cpu_and_one_for_the_gpu() {
        let section = section(&rows(&record())).expect("there are rows");
        let cpu =
            ["AES-128 CPU", "1 MiB", "bitslice-u64 4.194", "table32 8.389", "4.00", "2.00 Botan"];
        assert_eq!(section.rows[0], [&cpu[..], &["", ""]].concat());
        let gpu = ["AES-128 GPU", "1 MiB", "cuda-bitslice 2097", "cuda-table-conflict-free 4194"];
        assert_eq!(section.rows[1], [&gpu[..], &["", "", "67%", "4 KiB to 1 MiB"]].concat());
        assert_eq!(section.rows.len(), 2);
    }

    #[test]
    fn without_peers_there_is_the_crate_alone_and_what_is_both_is_said_once() {
        let mut record = record();
        record.environment.peers.clear();
        record.measurements.retain(|m| m.backend != "table32" && m.place == Place::Cpu);
        let section = section(&rows(&record)).expect("there are rows");
        let row = ["AES-128 CPU", "1 MiB", "bitslice-u64 4.194", "same", "2.00", "", "", ""];
        assert_eq!(section.rows, [row]);
        record.measurements.retain(|m| m.backend == DEFAULT);
        let found = rows(&record);
        assert_eq!(found[0].fastest.backend, DEFAULT, "where it alone was measured");
    }

    #[test]
    fn sizes_of_switches_are_short() {
        for (bytes, text) in [(512, "512 B"), (37_296, "36 KiB"), (4_379_984, "4.2 MiB")] {
            assert_eq!(about(bytes), text);
        }
        let mut row = record().auto.remove(0);
        row.switches = vec![37_296, 1 << 20, 4_379_984];
        assert_eq!(switches(&row), "36 KiB to 1 MiB, 4.2 MiB");
        row.switches.clear();
        assert_eq!(switches(&row), "never");
    }

    /// As wide as a terminal is that people measure in, and not as high.
    #[test]
    fn the_screen_is_one_screen() {
        let screen = screen(&record());
        assert!(screen.lines().count() < 20, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 132), "{screen}");
        assert!(screen.contains(TITLE) && screen.contains("GPU: "));
    }

    #[test]
    fn a_run_of_a_part_shows_its_own_table() {
        let mut record = Record::of(Environment::of_this_machine(false), Vec::new());
        record.batches.push(BatchMeasurement {
            cipher: "aes".into(),
            key_bits: 128,
            work: Work::Ctr,
            place: Place::Cpu,
            messages: 10,
            message_bytes: 1 << 20,
            seconds: 1e-3,
            samples: 11,
            interval: None,
        });
        assert!(screen(&record).contains("Batches of messages"));
    }
}
