//! Single figures of the records in the text of a page.
//!
//! | on a page | is replaced by |
//! |---|---|
//! | `{{#figure aes-128 cuda-bitslice ECB encryption}}` | Gbit/s |
//! | `{{#times aes-128 a CTR / aes-128 b CTR}}` | how many times the throughput of the second the first one has |
//! | `{{#saved aes-128 a CTR / aes-128 b CTR}}` | the part of the second's time that the first one saves |
//! | `{{#part aes-128 a CTR / aes-128 b CTR}}` | the first one's throughput as a part of the second's |
//! | `{{#cycles aes-128 default CTR}}` | cycles per byte |
//! | `{{#batch aes-128 CTR, 10000 of 35000}}` | Gbit/s of messages on a device, each under a key of its own |
//! | `{{#block-sizes aes-128 cuda-bitslice}}` | P4's times of a kernel, by messages and sizes of thread blocks |
//! | `{{#predicted SM4 tables}}` | Gbit/s that the counts of a cipher give for a family, on the card of the records |
//! | `{{#reached SM4 tables / sm4-128 a CTR}}` | what part of that a figure is |
//! | `{{#cell RECORD / ROW / COLUMN}}` | what stands in a table of a record, see [`cells`] |
//!
//! A figure is of the newest record that has it, for the longest data there, without transfers, and leads to that
//! record; two that are compared are of the newest record that has both, where one has. A place may follow the mode, or the
//! messages, as in the headings of reports: `CTR, GPU, resident, a minute without a pause`. What is on a device is of the card of
//! [`figures`](crate::figures).

use std::{fmt::Write as _, ops::Range};

use lanecrypt_record::{Figure, Part, Place, Work, distinct, title};

use crate::{
    cells,
    figures::GPU,
    predicted::predicted,
    record::{Record, grouped},
};

/// The directives.
const NAMES: [&str; 10] = [
    "figure",
    "times",
    "saved",
    "part",
    "cycles",
    "batch",
    "block-sizes",
    "cell",
    "predicted",
    "reached",
];

/// The modes that can be asked for.
const WORKS: [Work; 10] = [
    Work::EcbEncrypt,
    Work::EcbDecrypt,
    Work::Ctr,
    Work::CbcDecrypt,
    Work::XtsEncrypt,
    Work::XtsDecrypt,
    Work::GcmEncrypt,
    Work::GcmDecrypt,
    Work::Keystream,
    Work::RandomBytes,
];

/// What is round a table of many columns.
const DENSE: &str = "<div class=\"dense\">";

/// Places that are named behind a mode.
const PLACES: [Place; 3] = [Place::Sustained, Place::EndToEnd, Place::Pinned];

/// A text without the place at its end, and that place, if one is named.
fn placed(text: &str) -> (&str, Option<Place>) {
    let named = PLACES.into_iter().find_map(|place| {
        Some((text.strip_suffix(place.name())?.trim_end().strip_suffix(',')?, Some(place)))
    });
    named.unwrap_or((text, None))
}

/// A directive: where it stands, what it is, and what it asks for.
struct Asked<'a> {
    range: Range<usize>,
    name: &'a str,
    what: &'a str,
}

impl Asked<'_> {
    /// What takes its place, on a page from which `up` leads to the book's source folder.
    fn answer(&self, records: &[Record], up: &str) -> Option<String> {
        match self.name {
            "figure" => figure(records, self.what, up),
            "times" => times(records, self.what, up),
            "saved" => saved(records, self.what, up),
            "part" => part(records, self.what, up),
            "cycles" => cycles(records, self.what, up),
            "batch" => batch(records, self.what, up),
            "cell" => cells::cell(records, self.what, up),
            "predicted" => predicted(self.what).map(number),
            "reached" => reached(records, self.what, up),
            _ => block_sizes(records, self.what, up),
        }
    }
}

/// The directives of this module in a text; one behind a backslash is text.
fn asked(text: &str) -> Vec<Asked<'_>> {
    let starts = text.match_indices("{{#").filter(|(at, _)| !text[..*at].ends_with('\\'));
    starts
        .filter_map(|(at, start)| {
            let (inner, _) = text[at + start.len()..].split_once("}}")?;
            let (name, what) = inner.split_once(char::is_whitespace)?;
            let range = at..at + start.len() + inner.len() + "}}".len();
            NAMES.contains(&name).then_some(Asked { range, name, what })
        })
        .collect()
}

/// What a text asks for and no record has, with its places.
pub(crate) fn missing(text: &str, records: &[Record]) -> Vec<(usize, String)> {
    let asked = asked(text).into_iter().filter(|asked| asked.answer(records, "").is_none());
    asked.map(|asked| (asked.range.start, format!("no record has {}", asked.what))).collect()
}

/// The text with what it asks for; what no record has stays, and [`missing`] reports it.
pub(crate) fn filled(text: &str, records: &[Record], up: &str) -> String {
    let mut text = text.to_owned();
    let mut answers = Vec::new();
    for asked in asked(&text).into_iter().rev() {
        answers.extend(asked.answer(records, up).map(|answer| (asked.range, answer)));
    }
    for (range, answer) in answers {
        text.replace_range(range, &answer);
    }
    text
}

/// One backend with a cipher and a mode.
#[derive(Debug, PartialEq, Eq)]
struct Which<'a> {
    cipher: &'a str,
    key_bits: usize,
    backend: &'a str,
    work: Work,
    place: Place,
}

/// A cipher, the bits of its key, and what stands behind them: `aes-128 cuda-bitslice CTR`.
fn keyed(text: &str) -> Option<(&str, usize, &str)> {
    let (keyed, rest) = text.trim().split_once(char::is_whitespace)?;
    let (cipher, bits) = keyed.rsplit_once('-')?;
    Some((cipher, bits.parse().ok()?, rest.trim()))
}

impl<'a> Which<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (cipher, key_bits, rest) = keyed(text)?;
        let (rest, place) = placed(rest);
        let (work, backend) = WORKS.into_iter().find_map(|work| {
            Some((work, rest.strip_suffix(&work.to_string())?.strip_suffix(' ')?.trim()))
        })?;
        let is_on_device = backend.starts_with("cuda-") || backend.starts_with("wgpu-");
        let place = place.unwrap_or(if is_on_device { Place::Resident } else { Place::Cpu });
        Some(Self { cipher, key_bits, backend, work, place })
    }

    /// The figure of the longest data in a record.
    fn in_record<'r>(&self, record: &'r Record) -> Option<&'r Figure> {
        let of = |m: &&Figure| {
            (&*m.cipher, m.key_bits, &*m.backend, m.work, m.place)
                == (self.cipher, self.key_bits, self.backend, self.work, self.place)
        };
        let is_of_card = self.place == Place::Cpu || record.gpu() == Some(GPU);
        let found = record.measurements().iter().filter(of).max_by_key(|m| m.bytes);
        found.filter(|_| is_of_card)
    }

    /// That of the newest record which has one.
    fn newest<'r>(&self, records: &'r [Record]) -> Option<(&'r Record, &'r Figure)> {
        records.iter().find_map(|record| Some((record, self.in_record(record)?)))
    }
}

/// Gbit/s of a figure, leading to its record.
fn figure(records: &[Record], what: &str, up: &str) -> Option<String> {
    let (record, figure) = Which::of(what)?.newest(records)?;
    Some(link(&number(figure.gbit_per_second()), record, up))
}

/// A figure and the record that it is of.
type Found<'r> = (&'r Record, &'r Figure);

/// Two figures, of one record where one has both.
fn pair<'r>(records: &'r [Record], what: &str) -> Option<[Found<'r>; 2]> {
    let (one, other) = what.split_once(" / ")?;
    let (one, other) = (Which::of(one)?, Which::of(other)?);
    let of_one = records.iter().find_map(|record| {
        Some([(record, one.in_record(record)?), (record, other.in_record(record)?)])
    });
    of_one.or_else(|| Some([one.newest(records)?, other.newest(records)?]))
}

/// How many times the throughput of the second the first of two has. The number leads to the record of the first,
/// and "times" to that of the second where it is another.
fn times(records: &[Record], what: &str, up: &str) -> Option<String> {
    let [(record, ours), (second, theirs)] = pair(records, what)?;
    let ratio = number(ours.gbit_per_second() / theirs.gbit_per_second());
    Some(if record.name == second.name {
        link(&format!("{ratio}&nbsp;times"), record, up)
    } else {
        format!("{}&nbsp;{}", link(&ratio, record, up), link("times", second, up))
    })
}

/// How much less time than the second the first of two takes for the same data.
fn saved(records: &[Record], what: &str, up: &str) -> Option<String> {
    let [(record, ours), (_, theirs)] = pair(records, what)?;
    let part = 1.0 - theirs.gbit_per_second() / ours.gbit_per_second();
    Some(link(&format!("{:.1}%", 100.0 * part), record, up))
}

/// The first one's throughput as a part of the second's.
fn part(records: &[Record], what: &str, up: &str) -> Option<String> {
    let [(record, ours), (_, theirs)] = pair(records, what)?;
    let part = ours.gbit_per_second() / theirs.gbit_per_second();
    Some(link(&format!("{:.0}%", 100.0 * part), record, up))
}

/// What part of a prediction a figure is.
fn reached(records: &[Record], what: &str, up: &str) -> Option<String> {
    let (family, which) = what.rsplit_once(" / ")?;
    let (record, figure) = Which::of(which)?.newest(records)?;
    let part = figure.gbit_per_second() / predicted(family)?;
    Some(link(&format!("{:.0}%", 100.0 * part), record, up))
}

/// Cycles per byte of a figure.
fn cycles(records: &[Record], what: &str, up: &str) -> Option<String> {
    let (record, figure) = Which::of(what)?.newest(records)?;
    Some(link(&format!("{:.2}", figure.cycles_per_byte()?), record, up))
}

/// Gbit/s of a batch, as `aes-128 CTR, 10000 of 35000`: the number of messages, and the bytes of each. They are on the
/// device, if no place follows.
fn batch(records: &[Record], what: &str, up: &str) -> Option<String> {
    let (cipher, bits, rest) = keyed(what)?;
    let (work, sizes) = rest.split_once(", ")?;
    let (sizes, place) = placed(sizes);
    let place = place.unwrap_or(Place::Resident);
    let (count, bytes) = sizes.split_once(" of ")?;
    let [count, bytes] = [count, bytes].map(|number| number.trim().parse().ok());
    let (count, bytes): (usize, usize) = (count?, bytes?);
    let of = |m: &&Figure| {
        (&*m.cipher, m.key_bits, m.place) == (cipher, bits, place)
            && (m.count, m.bytes) == (count, count * bytes)
            && m.work.to_string() == work
    };
    let of_card = records.iter().filter(|record| record.gpu() == Some(GPU));
    let (record, figure) = of_card
        .filter_map(|record| Some((record, record.data.as_ref()?.part(Part::Batches))))
        .find_map(|(record, rows)| Some((record, rows.iter().find(of)?)))?;
    Some(link(&number(figure.gbit_per_second()), record, up))
}

/// A table of microseconds: messages down, threads of a thread block across, then as the kernel is launched by
/// itself, and what that gains over the mean of all sizes. The fastest size of a row is bold.
fn block_sizes(records: &[Record], what: &str, up: &str) -> Option<String> {
    let (cipher, bits, backend) = keyed(what)?;
    let rows = |record: &Record| -> Vec<Figure> {
        let all = record.data.as_ref().map_or(&[][..], |data| data.part(Part::BlockSizes));
        let of = |m: &&Figure| (&*m.cipher, m.key_bits, &*m.backend) == (cipher, bits, backend);
        all.iter().filter(of).cloned().collect()
    };
    let of_card = records.iter().filter(|record| record.gpu() == Some(GPU));
    let (record, rows) =
        of_card.map(|record| (record, rows(record))).find(|(_, rows)| !rows.is_empty())?;
    let mut sizes = distinct(rows.iter().map(|m| m.count).filter(|count| *count > 0));
    sizes.sort_unstable();
    let (name, from) = (title(cipher, bits), link(&record.name, record, up));
    let mut text = format!("{name}, `{backend}`, microseconds ({from}):\n\n{DENSE}\n\n| |");
    for size in &sizes {
        let _ = write!(text, " {size} |");
    }
    let _ = writeln!(text, " chosen | gain |\n|---|{}---|---|", "---|".repeat(sizes.len()));
    for bytes in distinct(rows.iter().map(|m| m.bytes)) {
        let seconds = |count: usize| {
            let found = rows.iter().find(|m| (m.bytes, m.count) == (bytes, count));
            found.map(|m| m.seconds)
        };
        let tried: Vec<f64> = sizes.iter().filter_map(|&size| seconds(size)).collect();
        let least = tried.iter().copied().reduce(f64::min)?;
        let chosen = seconds(0)?;
        let _ = write!(text, "| {} |", length(bytes));
        for &size in &sizes {
            let time = seconds(size).map_or_else(String::new, |time| format!("{:.1}", time * 1e6));
            let mark = if seconds(size) == Some(least) { "**" } else { "" };
            let _ = write!(text, " {mark}{time}{mark} |");
        }
        let gain = tried.iter().sum::<f64>() / tried.len() as f64 / chosen - 1.0;
        let _ = writeln!(text, " {:.1} | {:.0}% |", chosen * 1e6, 100.0 * gain);
    }
    Some(text + "\n</div>")
}

fn link(text: &str, record: &Record, up: &str) -> String {
    format!("[{text}]({up}{})", record.page().display())
}

/// Three digits, or whole with commas.
fn number(value: f64) -> String {
    if value >= 100.0 {
        grouped(value)
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A length in bytes as tables have it.
fn length(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes}&nbsp;B"),
        1024..0x10_0000 => format!("{}&nbsp;KiB", bytes >> 10),
        _ => format!("{}&nbsp;MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use lanecrypt_record::{Environment, Record as Data};

    use super::*;

    fn of(backend: &str, place: Place, bytes: usize, seconds: f64) -> Figure {
        Figure::of(("aes", backend), (Work::Ctr, place), bytes, seconds)
    }

    fn record(name: &str, gpu: &str, figures: Vec<Figure>) -> Record {
        let environment = Environment { gpu: gpu.to_owned(), ..Environment::default() };
        let data = Some(Data::of(environment, figures));
        Record { name: name.to_owned(), folder: PathBuf::new(), report: None, data }
    }

    fn records() -> Vec<Record> {
        let mut records = vec![
            record("c", "NVIDIA H100", vec![of("cuda-a", Place::Resident, 1 << 30, 1e-6)]),
            record("b", GPU, vec![of("cuda-a", Place::Resident, 1 << 30, 1e-3)]),
            record(
                "a",
                GPU,
                vec![
                    of("cuda-a", Place::Resident, 1 << 30, 2e-3),
                    of("cuda-b", Place::Resident, 1 << 20, 1.0),
                    of("cuda-b", Place::Resident, 1 << 30, 4e-3),
                    of("cuda-b", Place::Sustained, 1 << 30, 8e-3),
                    of("Other lib + ctr", Place::Cpu, 1 << 20, 8e-3),
                ],
            ),
        ];
        let batch = |place, seconds| Figure { count: 10, ..of("", place, 10_000, seconds) };
        if let Some(data) = &mut records[2].data {
            let places = [batch(Place::Resident, 1e-3), batch(Place::Pinned, 4e-3)];
            data.add(Part::Batches, places);
        }
        records
    }

    #[test]
    fn a_figure_is_of_the_newest_record_of_the_card() {
        let at = |name: &str, text: &str| format!("[{text}](../records/{name}/report.md)");
        for (asked, expected) in [
            ("{{#figure aes-128 cuda-a CTR}}", at("b", "8,590")),
            ("{{#figure aes-128 cuda-b CTR}}", at("a", "2,147")),
            (
                "{{#figure aes-128 cuda-b CTR, GPU, resident, a minute without a pause}}",
                at("a", "1,074"),
            ),
            ("{{#figure aes-128 Other lib + ctr CTR}}", at("a", "1.05")),
            ("{{#saved aes-128 cuda-a CTR / aes-128 cuda-b CTR}}", at("a", "50.0%")),
            ("{{#predicted AES-128 tables}}", "6,372".to_owned()),
            ("{{#reached AES-128 tables / aes-128 cuda-b CTR}}", at("a", "34%")),
            ("{{#part aes-128 cuda-b CTR / aes-128 cuda-a CTR}}", at("a", "50%")),
            ("{{#batch aes-128 CTR, 10 of 1000}}", at("a", "0.08")),
            ("{{#batch aes-128 CTR, 10 of 1000, GPU, pinned memory}}", at("a", "0.02")),
            ("{{#times aes-128 cuda-a CTR / aes-128 cuda-b CTR}}", at("a", "2.00&nbsp;times")),
            (r"\{{#figure aes-128 cuda-c CTR}}", r"\{{#figure aes-128 cuda-c CTR}}".to_owned()),
        ] {
            let text = format!("| {asked} | {asked}\n");
            assert_eq!(filled(&text, &records(), "../"), text.replace(asked, &expected));
            assert!(missing(&text, &records()).is_empty(), "{asked}");
        }
        let other = of("Other lib + ctr", Place::Cpu, 1 << 20, 8e-3);
        let apart = [records().remove(1), record("d", GPU, vec![other])];
        let text = times(&apart, "aes-128 cuda-a CTR / aes-128 Other lib + ctr CTR", "");
        let expected = "[8,192](records/b/report.md)&nbsp;[times](records/d/report.md)";
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn what_no_record_has_is_named() {
        let text =
            "{{#records A}}\n{{#figure aes-128 cuda-c CTR}}, {{#block-sizes aes-128 cuda-a}}";
        let expected =
            [(15, "no record has aes-128 cuda-c CTR"), (47, "no record has aes-128 cuda-a")];
        assert_eq!(missing(text, &records()), expected.map(|(at, what)| (at, what.to_owned())));
        assert_eq!(filled(text, &records(), ""), text);
        assert!(Which::of("aes-128 cuda-c").is_none() && Which::of("aes cuda-c CTR").is_none());
    }

    #[test]
    fn sizes_of_thread_blocks_are_beside_the_choice() {
        let mut records = records();
        let row = |count: usize, bytes: usize, seconds: f64| Figure {
            count,
            ..of("cuda-a", Place::Resident, bytes, seconds)
        };
        let of_64 = [row(64, 64, 3e-6), row(96, 64, 1e-6), row(0, 64, 1e-6)];
        let rows = of_64.into_iter().chain([row(96, 2048, 2e-6), row(0, 2048, 2e-6)]);
        if let Some(data) = &mut records[1].data {
            data.add(Part::BlockSizes, rows);
        }
        let text = block_sizes(&records, "aes-128 cuda-a", "").expect("a table");
        let table = "\n\n| | 64 | 96 | chosen | gain |\n|---|---|---|---|---|\n\
                     | 64&nbsp;B | 3.0 | **1.0** | 1.0 | 100% |\n| 2&nbsp;KiB |  | **2.0** | 2.0 | 0% |\n\n</div>";
        assert!(text.starts_with("AES-128, `cuda-a`, ") && text.ends_with(table), "{text}");
    }
}
