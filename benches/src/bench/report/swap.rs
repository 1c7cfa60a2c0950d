//! The table of the swap: how much faster or slower a call is once our cipher has replaced RustCrypto's.

use std::fmt::Write as _;

use lanecrypt_record::{Figure, Part, Record, Step, distinct, title};

use super::table::{Query, Section};
use crate::size::size_name;

/// Below this, the user loses: measurements differ by as much.
const LOSS: f64 = 0.95;
/// Losing cells that the screen names.
const NAMED: usize = 20;

/// One of ours beside theirs.
#[derive(Clone, Copy)]
struct Cell<'a> {
    theirs: &'a Figure,
    ours: &'a Figure,
}

impl Cell<'_> {
    /// Time of theirs over time of ours, as it is shown: below 1 the user loses.
    fn ratio(&self) -> f64 {
        let ratio = self.theirs.undisturbed_seconds() / self.ours.undisturbed_seconds();
        (100.0 * ratio).round() / 100.0
    }

    /// The ratio as text; of a call that has no size, with the times that it is of.
    fn text(&self) -> String {
        let ratio = format!("{:.2}", self.ratio());
        if self.ours.bytes > 0 {
            return ratio;
        }
        let [theirs, ours] = [self.theirs, self.ours].map(|f| 1e9 * f.undisturbed_seconds());
        format!("{ratio} ({theirs:.0} ns, ours {ours:.0})")
    }

    /// Cipher, call and size.
    fn name(&self) -> String {
        let mut name = format!("{} {}", keyed(self.ours), row(self.ours));
        if self.ours.bytes > 0 {
            let _ = write!(name, ", {}", size_name(self.ours.bytes));
        }
        name
    }
}

/// Cipher and key.
fn keyed(figure: &Figure) -> String {
    title(&figure.cipher, figure.key_bits)
}

/// The call, and which of our two ways it is.
fn row(figure: &Figure) -> String {
    match figure.step {
        Step::Ours => format!("{}, ours", figure.call),
        _ => figure.call.clone(),
    }
}

/// The column of a size; keys and single blocks have none.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form of a query")]
fn column(bytes: &usize) -> String {
    if *bytes == 0 { "by itself".into() } else { size_name(*bytes) }
}

/// Every cell of a record, in its order: figures of a call lie side by side, theirs first.
fn cells(record: &Record) -> impl Iterator<Item = Cell<'_>> {
    let of = |f: &Figure| (f.cipher.clone(), f.key_bits, f.call.clone(), f.bytes);
    let calls = record.part(Part::Swap).chunk_by(move |a, b| of(a) == of(b));
    calls.flat_map(|figures| {
        let theirs = figures.iter().find(|f| f.step == Step::Theirs);
        let ours = figures.iter().filter(|f| f.step != Step::Theirs);
        ours.filter_map(move |ours| theirs.map(|theirs| Cell { theirs, ours }))
    })
}

/// What the tables say.
pub(crate) const NOTE: &str = "Time of RustCrypto's crates over the time of ours: below 1 the user \
    loses. A row is our cipher under their mode crate, or, where it says \"ours\", under our mode or in \
    our own call for many blocks. One core, a user's default release build, the fastest of up to 41 \
    rounds. The key is set before, unless the row's name says that it is new.";

/// A table for each type: calls down, sizes across. The first has the note.
pub(crate) fn sections(record: &Record) -> Vec<Section> {
    let all: Vec<Cell<'_>> = cells(record).collect();
    let section = |(i, name): (usize, String)| {
        let of_type: Vec<&Cell<'_>> = all.iter().filter(|cell| keyed(cell.ours) == name).collect();
        let text = |f: &Figure| {
            let found = of_type.iter().find(|cell| std::ptr::eq(cell.ours, f));
            found.map_or_else(String::new, |cell| cell.text())
        };
        let query = Query {
            title: format!("The swap, {name}"),
            note: if i == 0 { NOTE } else { "" },
            corner: "call",
            row: &row,
            column: &|f| f.bytes,
            column_name: &column,
            cell: &text,
        };
        query.sorted(of_type.iter().map(|cell| cell.ours))
    };
    let types = distinct(all.iter().map(|cell| keyed(cell.ours)));
    types.into_iter().enumerate().filter_map(section).collect()
}

/// What a user loses, worst first: one line a cell, of the first few.
pub(crate) fn losses(record: &Record) -> Option<String> {
    let all: Vec<Cell<'_>> = cells(record).collect();
    let mut losing: Vec<&Cell<'_>> = all.iter().filter(|cell| cell.ratio() < LOSS).collect();
    losing.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    let mut text = format!(
        "The swap: {} of {} cells are slower than RustCrypto's ({LOSS} of their speed is equal)",
        losing.len(),
        all.len()
    );
    text += if losing.is_empty() { ".\n" } else { ", worst first:\n" };
    for cell in losing.iter().take(NAMED) {
        let _ = writeln!(text, "  {}: {}", cell.name(), cell.text());
    }
    if losing.len() > NAMED {
        let _ = writeln!(text, "  and {} more, which the tables have", losing.len() - NAMED);
    }
    (!all.is_empty()).then_some(text)
}

/// How a cell of a table is coloured: whether it is a loss, and how strongly from 0 to 1; a text that is no
/// ratio is not coloured. A factor of four either way has the full colour.
pub(crate) fn heat(text: &str) -> Option<(bool, f64)> {
    let ratio = text.split(' ').next()?.parse::<f64>().ok()?;
    Some((ratio < LOSS, (ratio.max(1e-3).log2().abs() / 2.0).min(1.0)))
}

/// The table as CSV, in nanoseconds of the fastest rounds.
pub(crate) fn csv(record: &Record) -> Option<String> {
    let mut text = "cipher,key_bits,call,way,bytes,theirs_ns,ours_ns,theirs_over_ours\n".to_owned();
    let before = text.len();
    for cell in cells(record) {
        let Figure { cipher, key_bits, call, bytes, step, .. } = cell.ours;
        let way = if *step == Step::Ours { "ours" } else { "under theirs" };
        let [theirs, ours] = [cell.theirs, cell.ours].map(|f| 1e9 * f.undisturbed_seconds());
        let _ = writeln!(
            text,
            "{cipher},{key_bits},\"{call}\",{way},{bytes},{theirs:.2},{ours:.2},{:.2}",
            cell.ratio()
        );
    }
    (text.len() > before).then_some(text)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A call with nanoseconds of theirs, of ours under theirs, and of ours.
    fn call(name: &str, bytes: usize, times: [f64; 3]) -> Vec<Figure> {
        let ways = [Step::Theirs, Step::Swapped, Step::Ours].into_iter().zip(times);
        let figure = |(step, time): (Step, f64)| Figure {
            cipher: "aes".into(),
            key_bits: 128,
            call: name.into(),
            step,
            bytes,
            seconds: 2e-9 * time,
            fastest_seconds: Some(1e-9 * time),
            is_peer: step == Step::Theirs,
            ..Figure::default()
        };
        ways.filter(|(_, time)| *time > 0.0).map(figure).collect()
    }

    /// A record of a key and of two calls, one of which has no mode of ours.
    pub(crate) fn record() -> Record {
        let mut record = Record::default();
        for (name, bytes, times) in [
            ("key", 0, [36.0, 396.0, 0.0]),
            ("ctr, kept", 16, [10.0, 20.0, 5.0]),
            ("ctr, kept", 1504, [100.0, 50.0, 400.0]),
            ("cmac", 16, [94.9, 100.0, 0.0]),
            ("cmac", 1504, [95.1, 100.0, 0.0]),
        ] {
            record.add(Part::Swap, call(name, bytes, times));
        }
        record
    }

    #[test]
    fn calls_are_down_and_sizes_across_with_ours_in_rows_of_their_own() {
        let [section] = &sections(&record())[..] else { panic!("one type, one table") };
        assert_eq!(section.title, "The swap, AES-128");
        assert_eq!(section.header, ["call", "by itself", "16 B", "1504 B"]);
        let rows = [
            ["key", "0.09 (36 ns, ours 396)", "", ""],
            ["ctr, kept", "", "0.50", "2.00"],
            ["ctr, kept, ours", "", "2.00", "0.25"],
            ["cmac", "", "0.95", "0.95"],
        ];
        assert_eq!(section.rows, rows);
        assert!(sections(&Record::default()).is_empty());
    }

    #[test]
    fn losing_cells_are_named_worst_first_and_the_rest_counted() {
        let text = losses(&record()).expect("it was measured");
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(text.starts_with("The swap: 3 of 7 cells"), "{text}");
        assert_eq!(
            lines,
            [
                "  AES-128 key: 0.09 (36 ns, ours 396)",
                "  AES-128 ctr, kept, ours, 1504 B: 0.25",
                "  AES-128 ctr, kept, 16 B: 0.50",
            ]
        );
        let mut many = Record::default();
        for bytes in 1..=25 {
            many.add(Part::Swap, call("ofb", 16 * bytes, [1.0, 2.0, 0.0]));
        }
        let text = losses(&many).expect("it was measured");
        assert_eq!(text.lines().count(), 1 + NAMED + 1);
        assert!(text.ends_with("and 5 more, which the tables have\n"), "{text}");
        assert_eq!(losses(&Record::default()), None);
    }

    #[test]
    fn heat_is_a_direction_and_a_strength() {
        assert_eq!(heat("0.25"), Some((true, 1.0)));
        assert_eq!(heat("0.50 (36 ns, ours 72)"), Some((true, 0.5)));
        assert_eq!(heat("1.00"), Some((false, 0.0)));
        assert_eq!(heat("16.00"), Some((false, 1.0)));
        assert_eq!((heat("ctr, kept"), heat("")), (None, None));
    }

    #[test]
    fn csv_has_both_times() {
        let csv = csv(&record()).expect("it was measured");
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[1], "aes,128,\"key\",under theirs,0,36.00,396.00,0.09");
        assert_eq!(lines[5], "aes,128,\"ctr, kept\",ours,1504,100.00,400.00,0.25");
        assert_eq!(lines.len(), 1 + 7);
    }
}
