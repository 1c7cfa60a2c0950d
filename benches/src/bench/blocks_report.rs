//! What the times by number of blocks say: a table, cliffs, and CSV.

use std::fmt::Write as _;

use super::{
    record::{BlockCurve, BlockLine},
    report::Section,
};

/// How much slower than a longer call a call may be: measurements differ by as much.
const TOLERANCE: f64 = 1.05;
/// The numbers of blocks in the table.
const COLUMNS: [usize; 5] = [1, 4, 16, 64, 1024];

impl BlockCurve {
    /// The numbers of blocks at which our type changes its way, and the way from there on.
    pub(super) fn switches(&self) -> impl Iterator<Item = &(usize, String)> {
        self.ways.iter().skip(1)
    }
}

impl BlockLine {
    /// Nanoseconds of a call with so many blocks.
    fn nanoseconds(&self, blocks: usize) -> Option<f64> {
        self.points.iter().find(|point| point.0 == blocks).map(|point| point.1)
    }

    /// The first length that is slower than a longer one, and the fastest of those.
    fn cliff(&self) -> Option<[(usize, f64); 2]> {
        self.points.iter().enumerate().find_map(|(i, &shorter)| {
            let longer = self.points[i + 1..].iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
            (shorter.1 > TOLERANCE * longer.1).then_some([shorter, *longer])
        })
    }
}

/// The table: a line a cipher, with the time of some lengths and whether there is a cliff.
#[must_use]
pub(super) fn section(curves: &[BlockCurve]) -> Option<Section> {
    let row = |curve: &BlockCurve| {
        let [ours, theirs @ ..] = &curve.lines[..] else { return None };
        let cell = |&blocks: &usize| {
            let time = ours.nanoseconds(blocks);
            let theirs = theirs.first().and_then(|line| line.nanoseconds(blocks));
            time.map_or_else(String::new, |time| match theirs {
                Some(theirs) => format!("{time:.0} ({:.2})", time / theirs),
                None => format!("{time:.0}"),
            })
        };
        let cliff = ours.cliff().map_or_else(
            || "no cliffs".to_owned(),
            |[(shorter, slow), (longer, fast)]| {
                format!("{shorter} take {slow:.0} ns, {longer} take {fast:.0} ns")
            },
        );
        let name = format!("{}-{}", curve.cipher.to_uppercase(), curve.key_bits);
        let cells = std::iter::once(name).chain(COLUMNS.iter().map(cell));
        Some(cells.chain(std::iter::once(cliff)).collect())
    };
    let rows: Vec<Vec<String>> = curves.iter().filter_map(row).collect();
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
pub(super) fn csv(curve: &BlockCurve) -> String {
    let mut text = "name,blocks,nanoseconds,cycles,is_switch,way\n".to_owned();
    for (i, line) in curve.lines.iter().enumerate() {
        for &(blocks, nanoseconds) in &line.points {
            let is_switch = i == 0 && curve.switches().any(|switch| switch.0 == blocks);
            let way = curve.ways.iter().rfind(|way| i == 0 && way.0 <= blocks);
            let way = way.map_or("", |way| &way.1);
            let cycles = nanoseconds * curve.gigahertz;
            let _ = writeln!(
                text,
                "{},{blocks},{nanoseconds:.2},{cycles:.1},{is_switch},{way}",
                line.name
            );
        }
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn curve(ours: &[(usize, f64)]) -> BlockCurve {
        let line = |name: &str, points: &[(usize, f64)]| BlockLine {
            name: name.into(),
            points: points.to_vec(),
        };
        BlockCurve {
            cipher: "aria".into(),
            key_bits: 128,
            gigahertz: 2.0,
            ways: vec![(1, "1 at once".into()), (4, "batches of 64".into())],
            lines: vec![line("default", ours), line("theirs", &[(1, 50.0), (4, 200.0)])],
        }
    }

    #[test]
    fn a_cliff_is_the_first_length_that_a_longer_one_beats() {
        let of = |points: &[(usize, f64)]| curve(points).lines[0].cliff();
        assert_eq!(of(&[(1, 100.0), (2, 100.0), (3, 110.0)]), None);
        // Within what measurements differ by.
        assert_eq!(of(&[(1, 104.0), (2, 100.0), (3, 110.0)]), None);
        let cliff = of(&[(1, 90.0), (2, 150.0), (3, 160.0), (4, 120.0), (6, 110.0), (8, 130.0)]);
        assert_eq!(cliff, Some([(2, 150.0), (6, 110.0)]));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn the_table_has_ratios_and_a_verdict() {
        let curves = [curve(&[(1, 100.0), (4, 120.0), (16, 100.0)])];
        let section = section(&curves).expect("there is a curve");
        assert_eq!(section.header[1..3], ["1 block", "4"]);
        let row = ["ARIA-128", "100 (2.00)", "120 (0.60)", "100", "", ""];
        assert_eq!(section.rows[0][..6], row);
        assert_eq!(section.rows[0][6], "4 take 120 ns, 16 take 100 ns");
        assert!(super::section(&[]).is_none());
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
