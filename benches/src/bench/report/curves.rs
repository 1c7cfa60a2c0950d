//! What the times by number of blocks say: a table, cliffs, and CSV.

use std::fmt::Write as _;

use lanecrypt_record::{Figure, Part, Record};

use super::table::Section;

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

/// The table: a line a cipher, with the time of some lengths and whether there is a cliff.
#[must_use]
pub(crate) fn section(record: &Record) -> Option<Section> {
    let row = |curve: &[Figure]| {
        let mut lines = lines(curve);
        let (ours, theirs) = (lines.next()?, lines.next());
        let time = |line: &[Figure], blocks| {
            line.iter().find(|figure| figure.count == blocks).map(nanoseconds)
        };
        let cell = |&blocks: &usize| {
            let theirs = theirs.and_then(|line| time(line, blocks));
            time(ours, blocks).map_or_else(String::new, |time| match theirs {
                Some(theirs) => format!("{time:.0} ({:.2})", time / theirs),
                None => format!("{time:.0}"),
            })
        };
        let cliff = cliff(ours).map_or_else(
            || "no cliffs".to_owned(),
            |cliff| {
                let [shorter, longer] =
                    cliff.map(|f| format!("{} take {:.0} ns", f.count, nanoseconds(f)));
                format!("{shorter}, {longer}")
            },
        );
        let cells = std::iter::once(curve[0].keyed()).chain(COLUMNS.iter().map(cell));
        Some(cells.chain(std::iter::once(cliff)).collect())
    };
    let rows: Vec<Vec<String>> = curves(record).filter_map(row).collect();
    let header = ["cipher".to_owned()].into_iter();
    let lengths =
        COLUMNS.map(|blocks| if blocks == 1 { "1 block".into() } else { blocks.to_string() });
    (!rows.is_empty()).then(|| Section {
        title: "Time of a call by its number of blocks, nanoseconds".into(),
        note: "ECB encryption by the default type, and in brackets how many times as long as the \
               crate it replaces it takes. The last column names the first length, if any, that is \
               more than 5% slower than a longer one."
            .into(),
        header: header.chain(lengths).chain(["cliffs".to_owned()]).collect(),
        rows,
    })
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
pub(crate) mod tests {
    use super::*;

    /// Ours by blocks and nanoseconds, which from four blocks on runs another way, and theirs.
    pub(crate) fn curve(ours: &[(usize, f64)]) -> Vec<Figure> {
        let figure = |backend: &str, (count, nanoseconds): (usize, f64)| Figure {
            cipher: "aria".into(),
            key_bits: 128,
            backend: backend.into(),
            count,
            way: match (backend, count) {
                ("theirs", _) => String::new(),
                (_, ..4) => "1 at once".into(),
                _ => "batches of 64".into(),
            },
            seconds: nanoseconds / 1e9,
            gigahertz: Some(2.0),
            ..Figure::default()
        };
        let ours = ours.iter().map(|&point| figure("default", point));
        ours.chain([(1, 50.0), (4, 200.0)].map(|point| figure("theirs", point))).collect()
    }

    #[test]
    fn a_cliff_is_the_first_length_that_a_longer_one_beats() {
        let of = |points: &[(usize, f64)]| {
            let curve = curve(points);
            cliff(lines(&curve).next().expect("a line")).map(|cliff| cliff.map(|f| f.count))
        };
        assert_eq!(of(&[(1, 100.0), (2, 100.0), (3, 110.0)]), None);
        // Within what measurements differ by.
        assert_eq!(of(&[(1, 104.0), (2, 100.0), (3, 110.0)]), None);
        let cliff = of(&[(1, 90.0), (2, 150.0), (3, 160.0), (4, 120.0), (6, 110.0), (8, 130.0)]);
        assert_eq!(cliff, Some([2, 6]));
    }

    #[test]
    fn the_table_has_ratios_and_a_verdict() {
        let mut record = Record::default();
        assert!(section(&record).is_none());
        record.add(Part::BlockCurves, curve(&[(1, 100.0), (4, 120.0), (16, 100.0)]));
        let section = section(&record).expect("there is a curve");
        assert_eq!(section.header[1..3], ["1 block", "4"]);
        let row = ["ARIA-128", "100 (2.00)", "120 (0.60)", "100", "", ""];
        assert_eq!(section.rows[0][..6], row);
        assert_eq!(section.rows[0][6], "4 take 120 ns, 16 take 100 ns");
    }

    #[test]
    fn csv_has_cycles_and_switches() {
        let text = csv(&curve(&[(1, 100.0), (4, 120.0)]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1..3],
            ["default,1,100.00,200.0,false,1 at once", "default,4,120.00,240.0,true,batches of 64"]
        );
        assert_eq!(lines[3..], ["theirs,1,50.00,100.0,false,", "theirs,4,200.00,400.0,false,"]);
    }
}
