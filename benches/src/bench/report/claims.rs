//! What the papers claim of one form over another, with our gains beside theirs and why some are gone.

use std::fmt;

use lanecrypt_record::{Figure, Work};

use super::papers::Group;

/// What a paper says of the throughput of one form over another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Claim {
    /// So many times, by its tables.
    Times(f64),
    /// So many times or more, by its text.
    AtLeast(f64),
    /// Less, without a figure: by its text it is slower, or not to be tried.
    Less(&'static str),
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(ratio) => write!(f, "{ratio:.2}"),
            Self::AtLeast(ratio) => write!(f, "{ratio:.0} or more"),
            Self::Less(words) => f.write_str(words),
        }
    }
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The gain is there, and half of theirs or more.
    Holds,
    /// The gain is there, and less than half of theirs.
    Less,
    /// Both are as fast, to two per cent.
    Gone,
    /// It is the other way round.
    Reversed,
}

impl Verdict {
    /// The words in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Less => "less",
            Self::Gone => "no difference",
            Self::Reversed => "the other way round",
        }
    }
}

impl Claim {
    /// What our ratio makes of it.
    fn verdict(self, ours: f64) -> Verdict {
        const AS_FAST: f64 = 0.02;
        let (ours, theirs) = match self {
            Self::Times(ratio) | Self::AtLeast(ratio) => (ours - 1.0, ratio - 1.0),
            Self::Less(_) => (1.0 / ours - 1.0, 0.0),
        };
        match ours {
            _ if ours < -AS_FAST => Verdict::Reversed,
            _ if ours <= AS_FAST => Verdict::Gone,
            _ if 2.0 * ours < theirs => Verdict::Less,
            _ => Verdict::Holds,
        }
    }
}

/// A claim, our backends for both forms, and why it is no longer so where it is not.
struct Gain {
    what: &'static str,
    claim: Claim,
    faster: &'static str,
    slower: &'static str,
    why_not: &'static str,
}

const fn gain(
    what: &'static str,
    claim: Claim,
    [faster, slower]: [&'static str; 2],
    why_not: &'static str,
) -> Gain {
    Gain { what, claim, faster, slower, why_not }
}

/// Why P2's shared memory gains little.
const CACHED: &str = "the table in global memory stays in the L1 cache, which is the same memory";
/// Why P3's coalesced access gains little.
const ONE_SECTOR: &str = "a thread's four blocks are one sector of the cache: its first load brings in what \
    the next three want, and these kernels do not wait for memory";
/// Why P3's three lanes of 32 bits gain little.
const TAKEN_APART: &str = "its three lanes are taken apart and put together for every look-up, and a CPU with \
    64-bit registers runs the plain table form as if it were made for it";

/// Why P1's 8-bit form passes a CPU.
const MANY_MORE: &str = "a card has many times the multiprocessors of the 8800, which had 12 or 16; against \
    the 32-bit form it is still the slower one";
/// Why P3's reason against bit slicing on GPUs is gone.
const REGISTERS: &str =
    "P3 had too few registers for it; a thread may have 255 today, and the kernel fits";

const GAINS: &[Group<Gain>] = &[
    Group {
        paper: "P1, section 3.2",
        cipher: "aes",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            gain(
                "AES, 32-bit form on the GPU over the CPU",
                Claim::AtLeast(5.0),
                ["cuda-table-shared", "table32"],
                "",
            ),
            gain(
                "AES, 8-bit form on the GPU over the CPU",
                Claim::Less("slower"),
                ["cuda-bytewise", "table32"],
                MANY_MORE,
            ),
            gain(
                "AES, 8-bit form over the 32-bit form",
                Claim::Less("slower"),
                ["cuda-bytewise", "cuda-table-shared"],
                "",
            ),
        ],
    },
    Group {
        paper: "P1, section 3.2",
        cipher: "des",
        key_bits: 64,
        work: Work::EcbEncrypt,
        rows: &[gain(
            "DES, 32-bit form on the GPU over the CPU",
            Claim::AtLeast(5.0),
            ["cuda-table-shared", "table32"],
            "",
        )],
    },
    Group {
        paper: "P3, Table 1",
        cipher: "hight",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            gain(
                "bit slicing over KISA's, 32-bit",
                Claim::Times(0.66 / 0.38),
                ["bitslice-u32", "table"],
                "",
            ),
            gain(
                "byte slicing over KISA's, 32-bit",
                Claim::Times(0.59 / 0.38),
                ["byteslice-u32-gap", "table"],
                TAKEN_APART,
            ),
            gain(
                "bit slicing over KISA's, 64-bit",
                Claim::Times(1.48 / 0.62),
                ["bitslice-u64", "table"],
                "",
            ),
            gain(
                "byte slicing over KISA's, 64-bit",
                Claim::Times(0.98 / 0.62),
                ["byteslice-u64-gap", "table"],
                "",
            ),
        ],
    },
    Group {
        paper: "P3, Table 2",
        cipher: "hight",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            gain(
                "coalesced over uncoalesced, KISA's",
                Claim::Times(38.0 / 36.0),
                ["cuda-table-shared", "cuda-table-shared-uncoalesced"],
                ONE_SECTOR,
            ),
            gain(
                "coalesced over uncoalesced, byte slicing",
                Claim::Times(46.0 / 40.0),
                ["cuda-byteslice", "cuda-byteslice-uncoalesced"],
                ONE_SECTOR,
            ),
            gain(
                "byte slicing over KISA's, coalesced",
                Claim::Times(46.0 / 38.0),
                ["cuda-byteslice", "cuda-table-shared"],
                "",
            ),
            gain(
                "bit slicing over byte slicing, GPU",
                Claim::Less("ruled out"),
                ["cuda-bitslice", "cuda-byteslice"],
                REGISTERS,
            ),
            gain(
                "best on the GPU over best on the CPU",
                Claim::Times(46.0 / 1.48),
                ["cuda-byteslice", "bitslice-u64"],
                "",
            ),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 128,
        work: Work::Keystream,
        rows: &[
            gain(
                "Camellia-128, shared over global memory",
                Claim::Times(495.67 / 452.16),
                ["cuda-table-shared", "cuda-table-global"],
                CACHED,
            ),
            gain(
                "Camellia-128, conflict-free over global",
                Claim::Times(604.48 / 452.16),
                ["cuda-table-conflict-free-merged", "cuda-table-global"],
                "",
            ),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 192,
        work: Work::Keystream,
        rows: &[
            gain(
                "Camellia-192, shared over global memory",
                Claim::Times(364.33 / 330.34),
                ["cuda-table-shared", "cuda-table-global"],
                CACHED,
            ),
            gain(
                "Camellia-192, conflict-free over global",
                Claim::Times(456.09 / 330.34),
                ["cuda-table-conflict-free-merged", "cuda-table-global"],
                "",
            ),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 256,
        work: Work::Keystream,
        rows: &[
            gain(
                "Camellia-256, shared over global memory",
                Claim::Times(361.30 / 331.96),
                ["cuda-table-shared", "cuda-table-global"],
                CACHED,
            ),
            gain(
                "Camellia-256, conflict-free over global",
                Claim::Times(454.54 / 331.96),
                ["cuda-table-conflict-free-merged", "cuda-table-global"],
                "",
            ),
        ],
    },
];

/// A row of the gains: two ratios of throughputs.
#[derive(Debug)]
pub(crate) struct GainComparison {
    /// The paper and where in it.
    pub(crate) paper: &'static str,
    /// What is compared with what.
    pub(crate) what: &'static str,
    /// Their ratio, or words.
    pub(crate) claim: Claim,
    /// Our backends: the faster one by the paper, and the other.
    pub(crate) backends: [&'static str; 2],
    /// Our ratio, each backend at its largest size.
    pub(crate) ours: f64,
    /// What became of the claim.
    pub(crate) verdict: Verdict,
    /// Why, where it does not hold and that is known.
    pub(crate) why_not: Option<&'static str>,
}

/// Every gain of which this run measured both sides.
pub(crate) fn gains(measurements: &[Figure]) -> Vec<GainComparison> {
    let mut gains = Vec::new();
    for group in GAINS {
        gains.extend(group.rows.iter().filter_map(|gain| {
            let rate = |backend| group.ours(backend, measurements).map(Figure::gbit_per_second);
            let ours = rate(gain.faster)? / rate(gain.slower)?;
            let verdict = gain.claim.verdict(ours);
            let is_explained = verdict != Verdict::Holds && !gain.why_not.is_empty();
            Some(GainComparison {
                paper: group.paper,
                what: gain.what,
                claim: gain.claim,
                backends: [gain.faster, gain.slower],
                ours,
                verdict,
                why_not: is_explained.then_some(gain.why_not),
            })
        }));
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecrypt_record::Place;

    #[test]
    fn every_row_names_backends_that_exist() {
        for group in GAINS {
            group.rows.iter().for_each(|row| group.check(&[row.faster, row.slower]));
        }
    }

    #[test]
    fn a_claim_holds_shrinks_vanishes_or_turns_round() {
        for (claim, ours, verdict) in [
            (Claim::Times(1.4), 1.6, Verdict::Holds),
            (Claim::Times(1.4), 1.2, Verdict::Holds),
            (Claim::Times(1.4), 1.19, Verdict::Less),
            (Claim::Times(1.4), 1.01, Verdict::Gone),
            (Claim::Times(1.4), 0.9, Verdict::Reversed),
            (Claim::AtLeast(5.0), 100.0, Verdict::Holds),
            (Claim::AtLeast(5.0), 1.5, Verdict::Less),
            (Claim::Less("slower"), 0.2, Verdict::Holds),
            (Claim::Less("ruled out"), 2.0, Verdict::Reversed),
        ] {
            assert_eq!(claim.verdict(ours), verdict, "{claim:?} {ours}");
        }
    }

    #[test]
    fn both_sides_must_be_measured_and_reasons_stand_where_a_claim_does_not_hold() {
        let hight = |backend, place, bytes, seconds| {
            Figure::of(("hight", backend), (Work::EcbEncrypt, place), bytes, seconds)
        };
        let mut measurements = vec![
            hight("cuda-byteslice", Place::Resident, 1 << 30, 1e-3),
            hight("cuda-byteslice", Place::EndToEnd, 2 << 30, 1.0),
            hight("cuda-byteslice-uncoalesced", Place::Resident, 1 << 30, 4e-3),
        ];
        let found = gains(&measurements);
        let [gain] = &found[..] else { panic!("{found:?}") };
        assert_eq!(gain.what, "coalesced over uncoalesced, byte slicing");
        assert_eq!(gain.claim.to_string(), "1.15");
        assert!((gain.ours - 4.0).abs() < 1e-9, "{gain:?}");
        assert_eq!((gain.verdict, gain.why_not), (Verdict::Holds, None));
        measurements[2].seconds = 1e-3;
        assert_eq!(gains(&measurements)[0].why_not, Some(ONE_SECTOR));
    }
}
