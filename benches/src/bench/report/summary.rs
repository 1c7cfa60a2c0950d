//! The one screen that a run ends with: for each cipher what is fastest, and beside what.

use std::fmt::Write as _;

use lanecrypt::ConstantTime;
use lanecrypt_record::{Figure, Part, Place, Record, Step, Work, distinct, title};

use super::{
    ratio, roof, swap,
    table::{Section, throughput},
};
use crate::bench::{measure::blocks::DEFAULT, report};
use crate::size::size_name;

/// What stands for a cipher: every backend has it, and it is what the papers measured.
const WORK: Work = Work::EcbEncrypt;

/// Backends that choose one of the others, which counts by its own name where it was measured.
const CHOOSING: [&str; 2] = [DEFAULT, "cuda-fastest"];

/// A cipher in one place.
#[derive(Debug)]
pub(crate) struct Row {
    /// Cipher and bits of the key.
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) bytes: usize,
    /// The fastest of our backends that claim to run in constant time.
    pub(crate) constant_time: Option<Figure>,
    /// The fastest of all our backends.
    pub(crate) fastest: Figure,
    /// How many times the throughput of the crate that ours replaces.
    pub(crate) of_crate: Option<f64>,
    /// How many times the throughput of the fastest other library, and which that is.
    pub(crate) of_peer: Option<(f64, String)>,
    /// The part of what the chip's pipes allow.
    pub(crate) of_roof: Option<f64>,
    /// At which sizes the GPU is faster than all cores of the CPU.
    pub(crate) gpu_from: Option<String>,
}

/// Two rows a cipher: the CPU's, and the GPU's over data that lies there.
#[must_use]
pub(crate) fn rows(record: &Record) -> Vec<Row> {
    let ciphers = distinct(record.measurements().iter().map(|m| m.cipher.as_str()));
    let places = [Place::Cpu, Place::Resident];
    let of = |cipher| places.into_iter().filter_map(move |place| row(record, cipher, place));
    ciphers.into_iter().flat_map(of).collect()
}

/// Under the shortest key, over the largest size that was measured.
fn row(record: &Record, cipher: &str, place: Place) -> Option<Row> {
    let all = record.measurements();
    let ours = || {
        let is_one = |m: &&Figure| (&*m.cipher, m.place, m.work) == (cipher, place, WORK);
        all.iter().filter(is_one).filter(|m| !m.is_peer)
    };
    let bits = ours().map(|m| m.key_bits).min()?;
    let bytes = ours().filter(|m| m.key_bits == bits).map(|m| m.bytes).max()?;
    let mut candidates: Vec<&Figure> =
        ours().filter(|m| (m.key_bits, m.bytes) == (bits, bytes)).collect();
    let is_itself = |m: &&Figure| !CHOOSING.contains(&&*m.backend);
    if candidates.iter().any(is_itself) {
        candidates.retain(is_itself);
    }
    let time = |m: &&&Figure| m.undisturbed_seconds();
    let faster = |a: &&&Figure, b: &&&Figure| time(a).total_cmp(&time(b));
    let fastest = *candidates.iter().min_by(faster)?;
    let constant_time = candidates.iter().filter(|m| is_constant_time(m)).min_by(faster);
    let has_peers = !record.environment.peers.is_empty();
    let of_peer = ratio::fastest_peer(all, fastest).filter(|_| has_peers);
    Some(Row {
        name: title(cipher, bits),
        place,
        bytes,
        constant_time: constant_time.map(|&m| m.clone()),
        fastest: fastest.clone(),
        of_crate: ratio::replaced(all, fastest).map(|peer| ratio::of_throughput(fastest, peer)),
        of_peer: of_peer.map(|peer| (ratio::of_throughput(fastest, peer), peer.backend.clone())),
        of_roof: match place {
            Place::Cpu => roof::of_core(fastest, &record.environment.cpu_features),
            _ => roof::share(fastest, record.environment.gpu_details.as_ref())
                .map(|share| share.reached),
        },
        gpu_from: (place == Place::Resident)
            .then(|| gpu_from(record.part(Part::Auto), cipher, bits))
            .flatten(),
    })
}

/// The claim of the registry; what is not there claims nothing.
fn is_constant_time(m: &Figure) -> bool {
    let cipher = lanecrypt::find_cipher(&m.cipher).ok();
    let backend = cipher.and_then(|cipher| cipher.backend(&m.backend));
    backend.is_some_and(|backend| backend.constant_time == ConstantTime::Yes)
}

/// Where the GPU takes over in ECB encryption, or in CTR where that alone was measured.
fn gpu_from(auto: &[Figure], cipher: &str, bits: usize) -> Option<String> {
    let of = |work| {
        auto.iter().find(move |f| {
            (&*f.cipher, f.key_bits, f.work, f.step) == (cipher, bits, work, Step::Auto)
        })
    };
    of(WORK).or_else(|| of(Work::Ctr)).map(switches)
}

/// The sizes at which it is the GPU.
#[must_use]
pub(crate) fn switches(auto: &Figure) -> String {
    let range = |range: &[u64]| match range {
        [from, to] => format!("from {} to {}", about(*from as usize), about(*to as usize)),
        range => format!("from {} on", about(range[0] as usize)),
    };
    let ranges: Vec<String> = auto.switches.chunks(2).map(range).collect();
    if ranges.is_empty() { "never".to_owned() } else { ranges.join(" and ") }
}

/// What a person asks of the two: when data of host memory is for the GPU.
#[must_use]
pub(crate) fn gpu_sentence(rows: &[Row]) -> Option<String> {
    let of_row = |row: &Row| Some(format!("{} {}", row.name, row.gpu_from.as_ref()?));
    let of_rows: Vec<String> = rows.iter().filter_map(of_row).collect();
    (!of_rows.is_empty()).then(|| {
        let of_rows = of_rows.join("; ");
        format!("For data in host memory the GPU is faster than all cores of the CPU: {of_rows}.")
    })
}

/// A size to two or three digits: it was found by bisection, to five per cent.
#[must_use]
pub(crate) fn about(bytes: usize) -> String {
    let steps = (bytes.max(1).ilog2() / 10).min(4);
    let value = bytes as f64 / 1024_f64.powf(f64::from(steps));
    let unit = ["B", "KiB", "MiB", "GiB", "TiB"][steps as usize];
    let digits = usize::from(value < 10.0 && value.fract() > 0.05);
    format!("{value:.digits$} {unit}")
}

/// The table's title.
pub(crate) const TITLE: &str = "ECB encryption with the shortest key, Gbit/s";
/// What its rows mean.
const NOTE: &str = "CPU: one core, over the largest size measured; GPU: over data that lies on it.";
/// What the columns that not every run has mean.
const COLUMNS: [(&str, &str); 3] = [
    ("crate", "Crate: how many times the throughput of the Rust crate that is replaced."),
    ("peer", "Peer: how many times that of the fastest other library."),
    (
        "bound",
        "Bound: the part of what the chip's pipes or ports allow (book, \"The roof of a kernel\", \
         \"The bound\").",
    ),
];

/// The same rows as a table, with the columns that say something; without rows there is none.
#[must_use]
pub(crate) fn section(rows: &[Row]) -> Option<Section> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let best = |m: &Figure| format!("{} {}", m.backend, throughput(m.gbit_per_second()));
    let cells = |row: &Row| {
        let is_same = |m: &&Figure| m.backend == row.fastest.backend;
        let constant_time = row.constant_time.as_ref();
        let is_both = constant_time.is_some_and(|m| is_same(&m));
        [
            format!("{} {}", row.name, if row.place == Place::Cpu { "CPU" } else { "GPU" }),
            size_name(row.bytes),
            text(constant_time.map(best)),
            if is_both { "same".into() } else { best(&row.fastest) },
            text(row.of_crate.map(|ratio| format!("{ratio:.2}"))),
            text(row.of_peer.as_ref().map(|(ratio, name)| format!("{ratio:.2} {name}"))),
            text(row.of_roof.map(percent)),
        ]
    };
    let header = ["", "bytes", "fastest constant-time", "fastest", "crate", "peer", "bound"];
    let rows: Vec<_> = rows.iter().map(cells).collect();
    let says = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
    let columns: Vec<usize> = (0..header.len()).filter(says).collect();
    let of_columns = |cells: &[String]| columns.iter().map(|&i| cells[i].clone()).collect();
    let header: Vec<String> = of_columns(&header.map(str::to_owned));
    let notes = COLUMNS.iter().filter(|(name, _)| header.iter().any(|title| title == name));
    let notes: Vec<&str> = std::iter::once(NOTE).chain(notes.map(|(_, note)| *note)).collect();
    (!rows.is_empty()).then(|| Section {
        title: TITLE.into(),
        note: notes.join(" "),
        header,
        rows: rows.iter().map(|cells| of_columns(cells)).collect(),
    })
}

/// A part, in per cent.
#[must_use]
pub(crate) fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

/// The screen: this table, or where nothing of it was measured the run's own few tables; and the machine.
#[must_use]
pub(crate) fn screen(record: &Record) -> String {
    let rows = rows(record);
    let losses = swap::losses(record).unwrap_or_default();
    let Some(mut section) = section(&rows) else {
        // All tables but those of the swap, which are many.
        let mut record = record.clone();
        record.figures.remove(&Part::Swap);
        return format!("{}\n{losses}", report::terminal(&record));
    };
    let note = std::mem::take(&mut section.note);
    let machine = &record.environment;
    let mut text = format!("{}\n{}\n", section.render(false), wrapped(&note, 100));
    if let Some(sentence) = gpu_sentence(&rows) {
        let _ = writeln!(text, "{}", wrapped(&sentence, 100));
    }
    let _ = write!(text, "\nCPU: {}\nGPU: {}\n", machine.cpu, machine.gpu);
    if !record.skipped.is_empty() {
        let _ = writeln!(text, "Not measured: {}, which report.md names", record.skipped.len());
    }
    if !losses.is_empty() {
        let _ = write!(text, "\n{losses}");
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
    use lanecrypt_record::{Environment, GpuDetails};

    fn measurement(backend: &str, place: Place, seconds: f64) -> Figure {
        Figure::of(("aes", backend), (WORK, place), 1 << 20, seconds)
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
            measurements.push(Figure { is_peer: true, ..measurement });
        }
        // A longer key, a smaller size and another mode do not count.
        for change in [
            |m: &mut Figure| m.key_bits = 256,
            |m: &mut Figure| m.bytes = 16,
            |m: &mut Figure| m.work = Work::Ctr,
        ] {
            let mut other = measurement("table32", Place::Cpu, 1e-9);
            change(&mut other);
            measurements.push(other);
        }
        let mut environment =
            Environment { cpu_features: "aes avx512f gfni vaes".into(), ..Environment::default() };
        environment.peers = vec!["Botan 3".into()];
        let gpu =
            GpuDetails { multiprocessors: 132, gigahertz: 1.98, compute_capability: "9.0".into() };
        environment.gpu_details = Some(gpu);
        let mut record = Record::of(environment, measurements);
        let auto = Figure::of(("aes", ""), (Work::Ctr, Place::EndToEnd), 8192, 1e-6);
        let switches = vec![4096, 1 << 20];
        record.add(Part::Auto, [Figure { step: Step::Auto, switches, ..auto }]);
        record
    }

    /// With other figures and alone, without the tables.
    #[test]
    fn the_screen_names_what_is_lost_by_the_swap() {
        let mut all = record();
        let swapped = swap::tests::record();
        all.figures.extend(swapped.figures.clone());
        for record in [&all, &swapped] {
            let text = screen(record);
            assert!(text.contains("3 of 7 cells") && text.contains("AES-128 key: 0.09"), "{text}");
            assert!(!text.contains("The swap, AES-128"), "{text}");
        }
        assert!(!screen(&record()).contains("The swap"));
    }

    #[test]
    fn a_cipher_has_a_row_for_the_cpu_and_one_for_the_gpu() {
        let rows = rows(&record());
        let section = section(&rows).expect("there are rows");
        let header = ["", "bytes", "fastest constant-time", "fastest", "crate", "peer", "bound"];
        assert_eq!(section.header, header);
        let cpu =
            ["AES-128 CPU", "1 MiB", "bitslice-u64 4.194", "table32 8.389", "4.00", "2.00 Botan"];
        assert_eq!(section.rows[0], [&cpu[..], &[""]].concat());
        let gpu = ["AES-128 GPU", "1 MiB", "cuda-bitslice 2097", "cuda-table-conflict-free 4194"];
        assert_eq!(section.rows[1], [&gpu[..], &["", "", "67%"]].concat());
        assert_eq!(section.rows.len(), 2);
        let sentence = gpu_sentence(&rows).expect("it was measured");
        assert!(sentence.ends_with("CPU: AES-128 from 4 KiB to 1 MiB."), "{sentence}");
    }

    #[test]
    fn columns_without_anything_are_left_out_and_what_is_both_is_said_once() {
        let mut record = record();
        record.environment.peers.clear();
        let measurements = record.part_mut(Part::Measurements);
        measurements.retain(|m| m.backend != "table32" && m.place == Place::Cpu);
        let section = section(&rows(&record)).expect("there are rows");
        assert_eq!(section.rows, [["AES-128 CPU", "1 MiB", "bitslice-u64 4.194", "same", "2.00"]]);
        assert!(section.note.contains("Crate:") && !section.note.contains("Peer:"));
        record.part_mut(Part::Measurements).retain(|m| m.backend == DEFAULT);
        let found = rows(&record);
        assert_eq!(found[0].fastest.backend, DEFAULT, "where it alone was measured");
        assert!(gpu_sentence(&found).is_none());
    }

    #[test]
    fn a_core_has_its_bound_too() {
        let mut record = record();
        record.part_mut(Part::Measurements).iter_mut().for_each(|m| m.gigahertz = Some(2.0));
        let rows = rows(&record);
        let reached = rows[0].of_roof.expect("the ports are known");
        // 1 ms for 1 MiB: 1.9 cycles per byte, where ten rounds for 64 bytes are the bound.
        assert!((reached - 10.0 / 64.0 / 1.907).abs() < 1e-3, "{reached}");
        assert!(section(&rows).expect("rows").rows[0].contains(&"8%".to_owned()));
    }

    #[test]
    fn sizes_of_switches_are_short() {
        for (bytes, text) in [(512, "512 B"), (37_296, "36 KiB"), (4_379_984, "4.2 MiB")] {
            assert_eq!(about(bytes), text);
        }
        let of = |at: &[u64]| switches(&Figure { switches: at.to_vec(), ..Figure::default() });
        assert_eq!(of(&[37_296, 1 << 20, 4_379_984]), "from 36 KiB to 1 MiB and from 4.2 MiB on");
        assert_eq!(of(&[]), "never");
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
        let mut record = Record::default();
        let batch = Figure::of(("aes", ""), (Work::Ctr, Place::Cpu), 10 << 20, 1e-3);
        record.add(Part::Batches, [Figure { count: 10, ..batch }]);
        assert!(screen(&record).contains("Batches of messages"));
    }
}
