//! What the times by number of blocks say: a table, cliffs, and CSV.

use std::fmt::Write as _;

use lanecrypt_record::{Figure, Part, Record};

use super::table::{Query, Section, Texts};

/// How much slower than a longer call a call may be: measurements differ by as much.
const TOLERANCE: f64 = 1.05;
/// The numbers of blocks in the table.
const COLUMNS: [usize; 5] = [1, 4, 16, 64, 1024];

/// The figures of each cipher: our default type's, then those of the table code that it replaces.
pub(crate) fn curves(record: &Record) -> impl Iterator<Item = &[Figure]> {
    record.part(Part::BlockCurves).chunk_by(|a, b| a.cipher == b.cipher)
}

/// The figures of each implementation of a curve.
pub(crate) fn lines(curve: &[Figure]) -> impl Iterator<Item = &[Figure]> {
    curve.chunk_by(|a, b| a.backend == b.backend)
}

/// The figures from which on an implementation runs a call another way than a shorter one.
pub(crate) fn switches(line: &[Figure]) -> impl Iterator<Item = &Figure> {
    line.windows(2).filter(|pair| pair[0].way != pair[1].way).map(|pair| &pair[1])
}

/// The time of a call.
pub(crate) fn nanoseconds(figure: &Figure) -> f64 {
    figure.seconds * 1e9
}

/// The first length that is slower than a longer one, and the fastest of those.
fn cliff(line: &[Figure]) -> Option<[&Figure; 2]> {
    line.iter().enumerate().find_map(|(i, shorter)| {
        let longer = line[i + 1..].iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
        (shorter.seconds > TOLERANCE * longer.seconds).then_some([shorter, longer])
    })
}

/// The time of some lengths, and in brackets how many times as long as the crate that is replaced ours takes.
const TIMES: Query = Query {
    part: Part::BlockCurves,
    table: |_, f| (!f.is_peer && COLUMNS.contains(&f.count)).then(String::new),
    texts: Texts::Fixed(
        "Time of a call by its number of blocks, nanoseconds",
        "ECB encryption by the default type, and in brackets how many times as long as the \
         crate it replaces it takes. The last column names the first length, if any, that is \
         more than 5% slower than a longer one.",
    ),
    corner: "cipher",
    row: Figure::keyed,
    column: |f| (f.count, if f.count == 1 { "1 block".into() } else { f.count.to_string() }),
    cell: |record, f| {
        let is_theirs =
            |other: &&Figure| other.is_peer && (&other.cipher, other.count) == (&f.cipher, f.count);
        let time = nanoseconds(f);
        match record.part(Part::BlockCurves).iter().find(is_theirs) {
            Some(theirs) => format!("{time:.0} ({:.2})", time / nanoseconds(theirs)),
            None => format!("{time:.0}"),
        }
    },
};

/// The same table, with what is slower than something longer.
#[must_use]
pub(crate) fn section(record: &Record) -> Option<Section> {
    let mut section = TIMES.tables(record).pop()?;
    section.header.push("cliffs".into());
    let ours = curves(record).filter_map(|curve| lines(curve).next());
    for (row, ours) in section.rows.iter_mut().zip(ours) {
        let cliff = cliff(ours)
            .map(|cliff| cliff.map(|f| format!("{} take {:.0} ns", f.count, nanoseconds(f))));
        row.push(cliff.map_or_else(|| "no cliffs".to_owned(), |cliff| cliff.join(", ")));
    }
    Some(section)
}

/// Every point of a curve; what our type does is said of its line alone.
#[must_use]
pub(crate) fn csv(curve: &[Figure]) -> String {
    let mut text = "name,blocks,nanoseconds,cycles,is_switch,way\n".to_owned();
    for line in lines(curve) {
        for figure in line {
            let Figure { backend, count, way, .. } = figure;
            let is_switch = switches(line).any(|switch| switch.count == *count);
            let nanoseconds = nanoseconds(figure);
            let cycles = nanoseconds * figure.gigahertz.unwrap_or_default();
            let _ =
                writeln!(text, "{backend},{count},{nanoseconds:.2},{cycles:.1},{is_switch},{way}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_is_the_first_length_that_a_longer_one_beats() {
        let of = |points: &[(usize, f64)]| {
            let figure = |&(count, seconds)| Figure { count, seconds, ..Figure::default() };
            let line: Vec<Figure> = points.iter().map(figure).collect();
            cliff(&line).map(|cliff| cliff.map(|f| f.count))
        };
        assert_eq!(of(&[(1, 100.0), (2, 100.0), (3, 110.0)]), None);
        // Within what measurements differ by.
        assert_eq!(of(&[(1, 104.0), (2, 100.0), (3, 110.0)]), None);
        let cliff = of(&[(1, 90.0), (2, 150.0), (3, 160.0), (4, 120.0), (6, 110.0), (8, 130.0)]);
        assert_eq!(cliff, Some([2, 6]));
    }
}
