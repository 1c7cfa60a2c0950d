//! The papers' figures and claims, with ours beside them.

use std::{fmt, sync::LazyLock};

use lanecrypt_record::{Figure, KernelResources, Place, Record, Work};

use super::{
    roof::per_clock,
    table::{Section, throughput},
};

/// What the papers say: one row per line, with its cells between strokes.
const PAPERS: &str = include_str!("papers.txt");

static FIGURES: LazyLock<Vec<Published>> =
    LazyLock::new(|| rows("figures").map(|cells| Published::of(&cells)).collect());
static GAINS: LazyLock<Vec<Published>> =
    LazyLock::new(|| rows("gains").map(|cells| Published::of(&cells)).collect());
/// P1's Table 4, each row with the name of our kernel of the same form.
pub(crate) static RESOURCES: LazyLock<Vec<(KernelResources, &str)>> = LazyLock::new(|| {
    let number = |cell: &str| cell.parse().expect("a number");
    let row = |cells: Vec<&'static str>| {
        let theirs = KernelResources {
            kernel: cells[0].to_owned(),
            architecture: "P1, Table 4".to_owned(),
            registers: number(cells[2]),
            shared_bytes: number(cells[1]),
            local_bytes: number(cells[3]),
            spill_bytes: 0,
        };
        (theirs, cells[4])
    };
    rows("resources").map(row).collect()
});

/// The rows of a part of [`PAPERS`].
fn rows(part: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let (_, rest) = PAPERS.split_once(&format!("[{part}]")).expect("the file has this part");
    let lines = rest.lines().skip(1).take_while(|line| !line.is_empty());
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// The papers: name, title, and what a reader must know beside its figures.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    rows("papers").map(|cells| (cells[0], cells[1], cells[2]))
}

/// What a table or section of a paper says of one cipher.
#[derive(Debug)]
struct Published {
    paper: &'static str,
    cipher: &'static str,
    key_bits: usize,
    work: Work,
    what: &'static str,
    theirs: &'static str,
    /// Our backends that do the same; of a gain the faster one by the paper, and the other.
    ours: Vec<&'static str>,
    why_not: &'static str,
}

impl Published {
    fn of(cells: &[&'static str]) -> Self {
        let (cipher, bits) = cells[1].split_once(' ').expect("a cipher and bits of its key");
        Self {
            paper: cells[0],
            cipher,
            key_bits: bits.parse().expect("bits of a key"),
            work: if cells[2] == "ECB" { Work::EcbEncrypt } else { Work::Keystream },
            what: cells[3],
            theirs: cells[4],
            ours: cells[5].split(' ').collect(),
            why_not: cells.get(6).copied().unwrap_or_default(),
        }
    }

    /// The figure of a backend at its largest size, without transfers.
    fn measured<'a>(&self, backend: &str, record: &'a Record) -> Option<&'a Figure> {
        let same = |m: &&Figure| {
            (&*m.backend, &*m.cipher, m.key_bits, m.work)
                == (backend, self.cipher, self.key_bits, self.work)
                && matches!(m.place, Place::Cpu | Place::Resident)
        };
        record.measurements().iter().filter(same).max_by_key(|m| m.bytes)
    }
}

/// The papers' figures whose names begin with `paper`, or with "" all; with names of runs, whose our
/// figures are.
pub(crate) fn figures(record: &Record, paper: &str, runs: Option<&[String]>) -> Option<Section> {
    let row = |published: &Published, backend: &str| {
        let measured = published.measured(backend, record)?;
        let theirs: f64 = published.theirs.parse().expect("Gbit/s");
        let ours = measured.gbit_per_second();
        let n = per_clock(record, measured).map_or_else(String::new, |n| format!("{n:.2}"));
        let (paper, what) = (published.paper.to_owned(), published.what.to_owned());
        let ratio = format!("{:.1}", ours / theirs);
        let mut cells = vec![paper, what, theirs.to_string(), backend.to_owned()];
        cells.extend([throughput(ours), n, ratio]);
        cells.extend(runs.map(|runs| runs[measured.run].clone()));
        Some(cells)
    };
    let asked = FIGURES.iter().filter(|published| published.paper.starts_with(paper));
    let rows = asked.flat_map(|published| {
        published.ours.iter().filter_map(move |backend| row(published, backend))
    });
    let note = "Ours: the same mode, without transfers, at the largest size measured.";
    let header = ["paper", "figure", "theirs, Gbit/s", "our backend", "ours, Gbit/s", "N", "ratio"];
    let mut section = Section::of("The papers' figures and ours", note, header, rows.collect())?;
    section.header.extend(runs.map(|_| "run".to_owned()));
    Some(section)
}

/// What a paper says of the throughput of one form over another's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Claim {
    /// A ratio, by its tables.
    Times(f64),
    /// This ratio or more, by its text.
    AtLeast(f64),
    /// Less, without a figure: by its text it is slower, or not to be tried.
    Less(&'static str),
}

impl Claim {
    fn of(text: &'static str) -> Self {
        let number = |text: &str| text.parse::<f64>().expect("a number");
        match (text.split_once(" / "), text.strip_suffix(" or more")) {
            (Some((one, other)), _) => Self::Times(number(one) / number(other)),
            (None, Some(least)) => Self::AtLeast(number(least)),
            (None, None) => Self::Less(text),
        }
    }

    /// What our ratio makes of it: the gain is there and half of theirs or more, it is there and less than
    /// that, both are as fast to two per cent, or it is the other way round.
    fn verdict(self, ours: f64) -> &'static str {
        const AS_FAST: f64 = 0.02;
        let (ours, theirs) = match self {
            Self::Times(ratio) | Self::AtLeast(ratio) => (ours - 1.0, ratio - 1.0),
            Self::Less(_) => (1.0 / ours - 1.0, 0.0),
        };
        match ours {
            _ if ours < -AS_FAST => "the other way round",
            _ if ours <= AS_FAST => "no difference",
            _ if 2.0 * ours < theirs => "less",
            _ => HOLDS,
        }
    }
}

/// The verdict on a claim that needs no reason.
const HOLDS: &str = "holds";

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(ratio) => write!(f, "{ratio:.2}"),
            Self::AtLeast(ratio) => write!(f, "{ratio:.0} or more"),
            Self::Less(words) => f.write_str(words),
        }
    }
}

/// The papers' claims whose names begin with `paper`, or with "" all, of which this run measured both sides.
pub(crate) fn gains(record: &Record, paper: &str) -> Option<Section> {
    let row = |published: &Published| {
        let rate = |backend| published.measured(backend, record).map(Figure::gbit_per_second);
        let ours = rate(published.ours[0])? / rate(published.ours[1])?;
        let claim = Claim::of(published.theirs);
        let verdict = claim.verdict(ours);
        Some(vec![
            published.paper.to_owned(),
            published.what.to_owned(),
            claim.to_string(),
            published.ours.join(" / "),
            format!("{ours:.2}"),
            verdict.to_owned(),
            if verdict == HOLDS { String::new() } else { published.why_not.to_owned() },
        ])
    };
    let asked = GAINS.iter().filter(|published| published.paper.starts_with(paper));
    let header = ["paper", "comparison", "theirs", "our backends", "ours", "claim", "why"];
    let note = "How many times the throughput of the one the other has; from their tables, where \
                they give no ratio.";
    Section::of("The papers' gains and ours", note, header, asked.filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_cipher_and_backends_that_exist() {
        let counts = (all().count(), FIGURES.len(), GAINS.len(), RESOURCES.len());
        assert_eq!(counts, (5, 27, 19, 5));
        for published in FIGURES.iter().chain(&*GAINS) {
            let cipher = lanecrypt::find_cipher(published.cipher).expect("it is in the registry");
            assert!(cipher.key_bytes.contains(&(published.key_bits / 8)), "{published:?}");
            for id in &published.ours {
                assert!(cipher.backend(id).is_some(), "{} has no {id}", cipher.name);
            }
        }
        assert!(FIGURES.iter().all(|published| published.theirs.parse::<f64>().is_ok()));
        assert!(GAINS.iter().all(|published| published.ours.len() == 2));
        let kernels = crate::bench::measure::kernels::compiled("sm_90");
        for (_, ours) in &*RESOURCES {
            assert!(kernels.iter().any(|kernel| kernel.kernel == *ours), "{ours}");
        }
    }

    #[test]
    fn a_claim_holds_shrinks_vanishes_or_turns_round() {
        for (claim, ours, verdict) in [
            ("1.4 / 1", 1.6, "holds"),
            ("1.4 / 1", 1.2, "holds"),
            ("1.4 / 1", 1.19, "less"),
            ("1.4 / 1", 1.01, "no difference"),
            ("1.4 / 1", 0.9, "the other way round"),
            ("5 or more", 100.0, "holds"),
            ("5 or more", 1.5, "less"),
            ("slower", 0.2, "holds"),
            ("ruled out", 2.0, "the other way round"),
        ] {
            assert_eq!(Claim::of(claim).verdict(ours), verdict, "{claim:?} {ours}");
        }
    }

    fn hight(backend: &str, place: Place, bytes: usize, seconds: f64) -> Figure {
        Figure::of(("hight", backend), (Work::EcbEncrypt, place), bytes, seconds)
    }

    /// A claim needs both its sides, each at the largest size without transfers, and a reason where it does
    /// not hold.
    #[test]
    fn ours_stand_beside_theirs() {
        let mut measurements = vec![
            hight("cuda-byteslice", Place::Resident, 1 << 30, 1e-3),
            hight("cuda-byteslice", Place::Resident, 1 << 20, 1e-3),
            hight("cuda-byteslice", Place::EndToEnd, 2 << 30, 1.0),
            hight("cuda-byteslice-uncoalesced", Place::Resident, 1 << 30, 4e-3),
        ];
        let record = |measurements: &[Figure]| {
            Record::of(lanecrypt_record::Environment::default(), measurements.to_vec())
        };
        let section = figures(&record(&measurements[..3]), "P3", None).expect("a figure");
        let row = ["byte-sliced HIGHT, coalesced", "46", "cuda-byteslice", "8590", "", "186.7"];
        assert_eq!(section.rows, [[&["P3, Table 2"], &row[..]].concat()]);
        let what = "coalesced over uncoalesced, byte slicing";
        let backends = "cuda-byteslice / cuda-byteslice-uncoalesced";
        let section = gains(&record(&measurements), "P3").expect("a gain");
        assert_eq!(section.rows, [["P3, Table 2", what, "1.15", backends, "4.00", "holds", ""]]);
        assert!(gains(&record(&measurements), "P1").is_none());
        measurements[3].seconds = 1e-3;
        let section = gains(&record(&measurements), "P3").expect("a gain");
        assert!(section.rows[0][5] == "no difference" && section.rows[0][6].contains("sector"));
    }
}
