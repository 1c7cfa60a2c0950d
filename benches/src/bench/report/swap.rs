//! The table of the swap: how much faster or slower a call is once our cipher has replaced RustCrypto's.

use std::fmt::Write as _;

use lanecrypt_record::{Figure, Part, Record, Step, title};

use super::table::{Query, Section, Texts, by_size};
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

impl<'a> Cell<'a> {
    /// The cell of one of ours, where theirs was measured too.
    fn of(record: &'a Record, ours: &'a Figure) -> Option<Self> {
        let is_theirs = |f: &&Figure| {
            f.step == Step::Theirs
                && (f.bytes, f.key_bits) == (ours.bytes, ours.key_bits)
                && (&f.call, &f.cipher) == (&ours.call, &ours.cipher)
        };
        let mut all = record.part(Part::Swap).iter().filter(|_| ours.step != Step::Theirs);
        all.find(is_theirs).map(|theirs| Self { theirs, ours })
    }

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

/// Every cell of a record, in its order.
fn cells(record: &Record) -> impl Iterator<Item = Cell<'_>> {
    record.part(Part::Swap).iter().filter_map(|ours| Cell::of(record, ours))
}

/// What the tables say.
pub(crate) const NOTE: &str = "Time of RustCrypto's crates over the time of ours: below 1 the user \
    loses. A row is our cipher under their mode crate, or, where it says \"ours\", under our mode or in \
    our own call for many blocks. One core, a user's default release build, the fastest of up to 41 \
    rounds. The key is set before, unless the row's name says that it is new.";

/// A table for each type: calls down, sizes across. Keys and single blocks have no size.
const TYPES: Query = Query {
    part: Part::Swap,
    table: |record, f| Cell::of(record, f).map(|_| keyed(f)),
    texts: Texts::Of(|figures| (format!("The swap, {}", keyed(figures[0])), NOTE.into())),
    corner: "call",
    row,
    column: |f| if f.bytes == 0 { (0, "by itself".into()) } else { by_size(f) },
    cell: |record, ours| Cell::of(record, ours).map_or_else(String::new, |cell| cell.text()),
};

/// The tables; the first has the note.
pub(crate) fn sections(record: &Record) -> Vec<Section> {
    let mut tables = TYPES.tables(record);
    tables.iter_mut().skip(1).for_each(|table| table.note.clear());
    tables
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
mod tests {
    use super::*;
    use crate::bench::report::tests::record;

    #[test]
    fn of_many_losing_cells_the_worst_are_named_and_the_rest_counted() {
        let mut many = Record::default();
        for bytes in 1..=25 {
            let of_call =
                record().part(Part::Swap).to_vec().into_iter().filter(|f| f.call == "key");
            many.add(Part::Swap, of_call.map(|f| Figure { bytes: 16 * bytes, ..f }));
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
}
