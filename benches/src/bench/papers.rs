//! The papers' figures and the gains they claim, with ours beside them.

use super::{
    plan::Work,
    record::{Measurement, Place},
};

/// What a table or section of a paper says about one cipher. Their data, like ours, is where it is
/// encrypted: no transfer to a GPU is in the figures.
struct Group<Row: 'static> {
    paper: &'static str,
    cipher: &'static str,
    key_bits: usize,
    work: Work,
    rows: &'static [Row],
}

/// A throughput, and our backends that do the same.
struct Figure {
    what: &'static str,
    gbit_per_second: f64,
    ours: &'static [&'static str],
}

const fn figure(what: &'static str, gbit_per_second: f64, ours: &'static [&'static str]) -> Figure {
    Figure { what, gbit_per_second, ours }
}

/// How many times the throughput of a slower way a faster one has, and our backends for both.
struct Gain {
    what: &'static str,
    ratio: f64,
    faster: &'static str,
    slower: &'static str,
}

const fn gain(what: &'static str, ratio: f64, faster: &'static str, slower: &'static str) -> Gain {
    Gain { what, ratio, faster, slower }
}

/// What P1's 32-bit form became.
const P1_OURS: &[&str] = &["cuda-table-shared", "cuda-table-conflict-free", "cuda-bitslice"];

const FIGURES: &[Group<Figure>] = &[
    Group {
        paper: "P1, Table 3",
        cipher: "aes",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            figure("AES-128 on the 8800 GTS", 3.1, P1_OURS),
            figure("AES-128 on the 8800 GTX", 4.5, P1_OURS),
        ],
    },
    Group {
        paper: "P1, section 4.1",
        cipher: "aes",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[figure(
            "AES-128 in C on a 2.4 GHz Core2 Quad",
            1.1,
            &["table32", "bitslice-u64", "default"],
        )],
    },
    Group {
        paper: "P1, Table 3",
        cipher: "des",
        key_bits: 64,
        work: Work::EcbEncrypt,
        rows: &[
            figure("DES on the 8800 GTS", 1.6, P1_OURS),
            figure("DES on the 8800 GTX", 2.8, P1_OURS),
        ],
    },
    Group {
        paper: "P3, Table 1",
        cipher: "hight",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            figure("KISA's HIGHT, 32-bit Core i7 920", 0.38, &["table"]),
            figure("bit-sliced HIGHT, 32-bit", 0.66, &["bitslice-u32"]),
            figure("byte-sliced HIGHT, 32-bit", 0.59, &["byteslice-u32-gap"]),
            figure("KISA's HIGHT, 64-bit Core i7 920", 0.62, &["table"]),
            figure("bit-sliced HIGHT, 64-bit", 1.48, &["bitslice-u64"]),
            figure("byte-sliced HIGHT, 64-bit", 0.98, &["byteslice-u64-gap"]),
        ],
    },
    Group {
        paper: "P3, Table 2",
        cipher: "hight",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            figure("KISA's HIGHT on a GTX 470", 36.0, &["cuda-table-shared-uncoalesced"]),
            figure("KISA's HIGHT, coalesced", 38.0, &["cuda-table-shared"]),
            figure("byte-sliced HIGHT", 40.0, &["cuda-byteslice-uncoalesced"]),
            figure("byte-sliced HIGHT, coalesced", 46.0, &["cuda-byteslice"]),
        ],
    },
    Group {
        paper: "P1, Table 3",
        cipher: "aria",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            figure("ARIA-128 on the 8800 GTS", 4.8, P1_OURS),
            figure("ARIA-128 on the 8800 GTX", 7.0, P1_OURS),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 128,
        work: Work::Keystream,
        rows: &[
            figure("merged table, global memory, RTX 3060 Mobile", 452.16, &["cuda-table-global"]),
            figure("merged table, shared memory", 495.67, &["cuda-table-shared"]),
            figure("merged table, conflict-free", 604.48, &["cuda-table-conflict-free-merged"]),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 192,
        work: Work::Keystream,
        rows: &[
            figure("merged table, global memory, RTX 3060 Mobile", 330.34, &["cuda-table-global"]),
            figure("merged table, shared memory", 364.33, &["cuda-table-shared"]),
            figure("merged table, conflict-free", 456.09, &["cuda-table-conflict-free-merged"]),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 256,
        work: Work::Keystream,
        rows: &[
            figure("merged table, global memory, RTX 3060 Mobile", 331.96, &["cuda-table-global"]),
            figure("merged table, shared memory", 361.3, &["cuda-table-shared"]),
            figure("merged table, conflict-free", 454.54, &["cuda-table-conflict-free-merged"]),
        ],
    },
];

const GAINS: &[Group<Gain>] = &[
    Group {
        paper: "P1, section 3.2",
        cipher: "aes",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[gain("AES, GPU over CPU, at least", 5.0, "cuda-table-shared", "table32")],
    },
    Group {
        paper: "P1, section 3.2",
        cipher: "des",
        key_bits: 64,
        work: Work::EcbEncrypt,
        rows: &[gain("DES, GPU over CPU, at least", 5.0, "cuda-table-shared", "table32")],
    },
    Group {
        paper: "P3, Table 1",
        cipher: "hight",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[
            gain("bit slicing over KISA's, 32-bit", 0.66 / 0.38, "bitslice-u32", "table"),
            gain("byte slicing over KISA's, 32-bit", 0.59 / 0.38, "byteslice-u32-gap", "table"),
            gain("bit slicing over KISA's, 64-bit", 1.48 / 0.62, "bitslice-u64", "table"),
            gain("byte slicing over KISA's, 64-bit", 0.98 / 0.62, "byteslice-u64-gap", "table"),
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
                38.0 / 36.0,
                "cuda-table-shared",
                "cuda-table-shared-uncoalesced",
            ),
            gain(
                "coalesced over uncoalesced, byte slicing",
                46.0 / 40.0,
                "cuda-byteslice",
                "cuda-byteslice-uncoalesced",
            ),
            gain(
                "byte slicing over KISA's, coalesced",
                46.0 / 38.0,
                "cuda-byteslice",
                "cuda-table-shared",
            ),
            gain(
                "best on the GPU over best on the CPU",
                46.0 / 1.48,
                "cuda-byteslice",
                "bitslice-u64",
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
                495.67 / 452.16,
                "cuda-table-shared",
                "cuda-table-global",
            ),
            gain(
                "Camellia-128, conflict-free over global",
                604.48 / 452.16,
                "cuda-table-conflict-free-merged",
                "cuda-table-global",
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
                364.33 / 330.34,
                "cuda-table-shared",
                "cuda-table-global",
            ),
            gain(
                "Camellia-192, conflict-free over global",
                456.09 / 330.34,
                "cuda-table-conflict-free-merged",
                "cuda-table-global",
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
                361.30 / 331.96,
                "cuda-table-shared",
                "cuda-table-global",
            ),
            gain(
                "Camellia-256, conflict-free over global",
                454.54 / 331.96,
                "cuda-table-conflict-free-merged",
                "cuda-table-global",
            ),
        ],
    },
];

/// P1's Table 4: form, shared bytes, registers, local bytes.
pub(super) const P1_RESOURCES: &[(&str, u32, u32, u32)] = &[
    ("AES, 8-bit, on the 8800", 1016, 12, 20),
    ("AES, 32-bit, on the 8800", 5168, 63, 176),
    ("ARIA, 8-bit, on the 8800", 1332, 14, 7),
    ("ARIA, 32-bit, on the 8800", 4348, 19, 0),
    ("DES, 32-bit, on the 8800", 2080, 17, 128),
];

/// A row of the comparison: paper, figure, our backend, its Gbit/s.
#[derive(Debug)]
pub(super) struct Comparison {
    /// The paper and its table.
    pub(super) paper: &'static str,
    /// What it measured.
    pub(super) what: &'static str,
    /// Its Gbit/s.
    pub(super) theirs: f64,
    /// Our backend.
    pub(super) backend: &'static str,
    /// Our Gbit/s at the largest size.
    pub(super) ours: f64,
}

/// A row of the gains: two ratios of throughputs.
#[derive(Debug)]
pub(super) struct GainComparison {
    /// The paper and where in it.
    pub(super) paper: &'static str,
    /// What is compared with what.
    pub(super) what: &'static str,
    /// Their ratio.
    pub(super) theirs: f64,
    /// Our backends: the faster one by the paper, and the other.
    pub(super) backends: [&'static str; 2],
    /// Our ratio, each backend at its largest size.
    pub(super) ours: f64,
}

impl<Row> Group<Row> {
    /// Our Gbit/s at the largest size that a backend was measured with, without transfers.
    fn gbit_per_second(&self, backend: &str, measurements: &[Measurement]) -> Option<f64> {
        let same = |m: &&Measurement| {
            m.backend == backend
                && m.cipher == self.cipher
                && m.key_bits == self.key_bits
                && m.work == self.work
                && matches!(m.place, Place::Cpu | Place::Resident)
        };
        let largest = measurements.iter().filter(same).max_by_key(|m| m.bytes);
        largest.map(Measurement::gbit_per_second)
    }
}

/// Every figure that this run has something beside.
pub(super) fn comparisons(measurements: &[Measurement]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for group in FIGURES {
        for figure in group.rows {
            comparisons.extend(figure.ours.iter().filter_map(|&backend| {
                Some(Comparison {
                    paper: group.paper,
                    what: figure.what,
                    theirs: figure.gbit_per_second,
                    backend,
                    ours: group.gbit_per_second(backend, measurements)?,
                })
            }));
        }
    }
    comparisons
}

/// Every gain of which this run measured both sides.
pub(super) fn gains(measurements: &[Measurement]) -> Vec<GainComparison> {
    let mut gains = Vec::new();
    for group in GAINS {
        gains.extend(group.rows.iter().filter_map(|gain| {
            let ours = |backend| group.gbit_per_second(backend, measurements);
            Some(GainComparison {
                paper: group.paper,
                what: gain.what,
                theirs: gain.ratio,
                backends: [gain.faster, gain.slower],
                ours: ours(gain.faster)? / ours(gain.slower)?,
            })
        }));
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group whose rows name these backends.
    #[track_caller]
    fn is_in_the_registry<Row>(group: &Group<Row>, backends: &[&str]) {
        let cipher = lanecrypt::find_cipher(group.cipher).expect("the registry has the cipher");
        assert!(cipher.key_bytes.contains(&(group.key_bits / 8)), "{} bits", group.key_bits);
        for id in backends {
            let is_there = cipher.backends.iter().any(|backend| backend.id == *id);
            assert!(is_there, "{} has no {id}", group.cipher);
        }
    }

    #[test]
    fn every_row_names_backends_that_exist() {
        for group in FIGURES {
            group.rows.iter().for_each(|row| is_in_the_registry(group, row.ours));
        }
        for group in GAINS {
            group.rows.iter().for_each(|row| is_in_the_registry(group, &[row.faster, row.slower]));
        }
    }

    fn hight(backend: &str, place: Place, bytes: usize, seconds: f64) -> Measurement {
        Measurement {
            cipher: "hight".into(),
            key_bits: 128,
            backend: backend.into(),
            work: Work::EcbEncrypt,
            place,
            bytes,
            seconds,
            samples: 1,
            fastest_seconds: None,
            gigahertz: None,
            is_peer: false,
        }
    }

    #[test]
    fn figures_and_gains_take_the_largest_size_without_transfers() {
        let measurements = [
            hight("cuda-byteslice", Place::Resident, 1 << 30, 1e-3),
            hight("cuda-byteslice", Place::Resident, 1 << 20, 1e-3),
            hight("cuda-byteslice", Place::EndToEnd, 2 << 30, 1.0),
            hight("cuda-byteslice-uncoalesced", Place::Resident, 1 << 30, 4e-3),
        ];
        let gains = gains(&measurements);
        let [gain] = &gains[..] else { panic!("{gains:?}") };
        assert_eq!(gain.what, "coalesced over uncoalesced, byte slicing");
        assert!((gain.ours - 4.0).abs() < 1e-9 && (gain.theirs - 1.15).abs() < 1e-9, "{gain:?}");
        let comparisons = comparisons(&measurements);
        let theirs: Vec<f64> = comparisons.iter().map(|comparison| comparison.theirs).collect();
        assert_eq!(theirs, [40.0, 46.0]);
        assert!((comparisons[1].ours - 8_589.934_592).abs() < 1e-3, "{comparisons:?}");
    }
}
