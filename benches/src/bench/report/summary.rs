//! The one screen that a run ends with: for each cipher what is fastest, and beside what.

use std::fmt::Write as _;

use lanecrypt::ConstantTime;
use lanecrypt_record::{
    Figure, Part, Place, Record, Step, Work, distinct,
    roof::{self, Roof},
    title,
};

use super::{
    choices::switches,
    ratio, swap,
    table::{Section, percent, throughput},
    write,
};
use crate::bench::measure::blocks::DEFAULT;
use crate::size::size_name;

/// What stands for a cipher: every backend has it, and it is what the papers measured.
const WORK: Work = Work::EcbEncrypt;

/// Backends that choose one of the others, which counts by its own name where it was measured.
const CHOOSING: [&str; 2] = [DEFAULT, "cuda-fastest"];

/// What stands for a cipher in one place: our backends under the shortest key, over the largest size that was
/// measured; one that chooses among others only where it is alone.
fn candidates<'a>(record: &'a Record, cipher: &str, place: Place) -> Vec<&'a Figure> {
    let is_ours =
        |m: &&Figure| (&*m.cipher, m.place, m.work, m.is_peer) == (cipher, place, WORK, false);
    let mut found: Vec<&Figure> = record.measurements().iter().filter(is_ours).collect();
    let bits = found.iter().map(|m| m.key_bits).min();
    found.retain(|m| Some(m.key_bits) == bits);
    let bytes = found.iter().map(|m| m.bytes).max();
    found.retain(|m| Some(m.bytes) == bytes);
    let is_itself = |m: &&Figure| !CHOOSING.contains(&&*m.backend);
    if found.iter().any(is_itself) {
        found.retain(is_itself);
    }
    found
}

fn ciphers(record: &Record) -> Vec<&str> {
    distinct(record.measurements().iter().map(|m| m.cipher.as_str()))
}

/// The claim of the registry; what is not there claims nothing.
fn is_constant_time(m: &Figure) -> bool {
    let cipher = lanecrypt::find_cipher(&m.cipher).ok();
    let backend = cipher.and_then(|cipher| cipher.backend(&m.backend));
    backend.is_some_and(|backend| backend.constant_time == ConstantTime::Yes)
}

/// What a person asks of the two: when data in host memory is for the GPU, by ECB encryption, or by CTR where
/// that alone was measured.
#[must_use]
pub(crate) fn gpu_sentence(record: &Record) -> Option<String> {
    let of_cipher = |cipher: &str| {
        let bits = candidates(record, cipher, Place::Resident).first()?.key_bits;
        let of = |work| {
            record.part(Part::Auto).iter().find(move |f| {
                (&*f.cipher, f.key_bits, f.work, f.step) == (cipher, bits, work, Step::Auto)
            })
        };
        let auto = of(WORK).or_else(|| of(Work::Ctr))?;
        Some((title(cipher, bits), auto))
    };
    let all = ciphers(record).into_iter().filter_map(of_cipher);
    let (switched, others): (Vec<_>, Vec<_>) = all.partition(|(_, auto)| !auto.switches.is_empty());
    let switched = switched.iter().map(|(name, auto)| format!("{name} {}", switches(auto)));
    let others = others.into_iter().map(|(name, _)| name);
    let sentences = [
        ("For data in host memory the GPU is faster than all cores of the CPU", switched.collect()),
        (
            "All cores of the CPU are faster than the GPU, for data in host memory of any size",
            others.collect(),
        ),
    ];
    let sentences = sentences.into_iter().filter(|(_, of): &(_, Vec<String>)| !of.is_empty());
    let sentences: Vec<String> =
        sentences.map(|(what, of)| format!("{what}: {}.", of.join("; "))).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The table's title.
const TITLE: &str = "ECB encryption with the shortest key, Gbit/s";
/// What its rows mean.
const NOTE: &str = "CPU: one core, over the largest size measured; GPU: over data that lies on it.";
/// The columns, and what those mean that not every run has.
const COLUMNS: [(&str, &str); 7] = [
    ("", ""),
    ("bytes", ""),
    ("fastest constant-time", ""),
    ("fastest", ""),
    ("crate", "Crate: how many times the throughput of the Rust crate that is replaced."),
    ("peer", "Peer: how many times that of the fastest other library."),
    (
        "bound",
        "Bound: the part of what the chip's pipes or ports allow (book, \"The roof of a kernel\", \
         \"The bound\").",
    ),
];

/// The cells of a cipher in one place.
fn row(record: &Record, cipher: &str, place: Place) -> Option<[String; COLUMNS.len()]> {
    let (all, environment) = (record.measurements(), &record.environment);
    let candidates = candidates(record, cipher, place);
    let best = ratio::fastest_of(candidates.iter().copied())?;
    let constant_time =
        ratio::fastest_of(candidates.iter().copied().filter(|m| is_constant_time(m)));
    let of = |peer: &Figure| format!("{:.2}", ratio::of_throughput(best, peer));
    let peer = ratio::fastest_peer(all, best).filter(|_| !environment.peers.is_empty());
    let bound = match place {
        Place::Cpu => roof::of_core(best, environment),
        _ => Roof::of(best, environment.gpu_details.as_ref()).map(|roof| roof.reached),
    };
    let named = |m: &Figure| format!("{} {}", m.backend, throughput(m.gbit_per_second()));
    let is_both = constant_time.is_some_and(|m| m.backend == best.backend);
    let name = title(cipher, best.key_bits);
    Some([
        format!("{name} {}", if place == Place::Cpu { "CPU" } else { "GPU" }),
        size_name(best.bytes),
        constant_time.map(named).unwrap_or_default(),
        if is_both { "same".into() } else { named(best) },
        ratio::replaced(all, best).map(of).unwrap_or_default(),
        peer.map(|peer| format!("{} {}", of(peer), peer.backend)).unwrap_or_default(),
        bound.map(percent).unwrap_or_default(),
    ])
}

/// Two rows for each cipher, the CPU's, and the GPU's over data that lies there, with the columns that say
/// something; without rows there is none.
#[must_use]
pub(crate) fn section(record: &Record) -> Option<Section> {
    let rows = ciphers(record).into_iter().flat_map(|cipher| {
        let places = [Place::Cpu, Place::Resident].into_iter();
        places.filter_map(move |place| row(record, cipher, place))
    });
    let rows: Vec<_> = rows.collect();
    let says = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
    let columns: Vec<usize> = (0..COLUMNS.len()).filter(says).collect();
    let notes = columns.iter().map(|&i| COLUMNS[i].1).filter(|note| !note.is_empty());
    let note = std::iter::once(NOTE).chain(notes).collect::<Vec<_>>().join(" ");
    let cells = |row: &[String; COLUMNS.len()]| columns.iter().map(|&i| row[i].clone()).collect();
    let mut section = Section::of(TITLE, note, [], rows.iter().map(cells).collect())?;
    section.header = columns.iter().map(|&i| COLUMNS[i].0.to_owned()).collect();
    Some(section)
}

/// The screen: this table, or where nothing of it was measured the run's own few tables; and the machine.
#[must_use]
pub(crate) fn screen(record: &Record) -> String {
    let losses = swap::losses(record).unwrap_or_default();
    let Some(mut section) = section(record) else {
        // All tables but those of the swap, which are many.
        let mut record = record.clone();
        record.figures.remove(&Part::Swap);
        return format!("{}\n{losses}", write::terminal(&record));
    };
    let note = std::mem::take(&mut section.note);
    let machine = &record.environment;
    let mut text = format!("{}\n{}\n", section.render(false), wrapped(&note, 100));
    if let Some(sentence) = gpu_sentence(record) {
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
    use crate::bench::report::tests::record;

    #[test]
    fn columns_without_anything_are_left_out_and_what_is_both_is_said_once() {
        let mut record = record();
        record.environment.peers.clear();
        let measurements = record.part_mut(Part::Measurements);
        let is_kept = |m: &Figure| m.cipher == "aes" && m.place == Place::Cpu;
        measurements.retain(|m| is_kept(m) && m.backend != "table32");
        for m in measurements {
            m.gigahertz = None;
        }
        let found = section(&record).expect("there are rows");
        assert_eq!(found.rows, [["AES-128 CPU", "1 MiB", "bitslice-u64 4.194", "same", "2.00"]]);
        assert!(found.note.contains("Crate:") && !found.note.contains("Peer:"));
        assert!(gpu_sentence(&record).is_none());
        record.part_mut(Part::Measurements).retain(|m| m.backend == DEFAULT);
        let found = section(&record).expect("it alone was measured");
        assert!(found.rows[0].iter().any(|cell| cell.starts_with(DEFAULT)), "{found:?}");
    }

    #[test]
    fn a_sentence_says_where_the_gpu_is_faster_and_one_where_it_never_is() {
        let mut record = record();
        let des = |m: &Figure| Figure { cipher: "des".into(), key_bits: 64, ..m.clone() };
        let des = record.measurements().iter().find(|m| m.place == Place::Resident).map(des);
        record.add(Part::Measurements, des);
        let sentence = gpu_sentence(&record).expect("it was measured");
        assert!(
            sentence.contains("the GPU is faster than all cores of the CPU: AES-128 from 8 KiB")
        );
        assert!(sentence.ends_with("for data in host memory of any size: DES."), "{sentence}");
    }

    /// Where no single measurements are there; those of the swap are too many.
    #[test]
    fn a_run_of_a_part_shows_its_own_table() {
        let screen_of = |kept: Part| {
            let mut record = record();
            record.figures.retain(|part, _| *part == kept);
            screen(&record)
        };
        assert!(screen_of(Part::Batches).contains("Batches of messages"));
        let swapped = screen_of(Part::Swap);
        assert!(swapped.contains("3 of 8 cells") && !swapped.contains("The swap, AES-128"));
    }
}
