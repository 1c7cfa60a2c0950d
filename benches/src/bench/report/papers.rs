//! The papers' figures, with ours beside them.

use lanecrypt_record::{Figure, Place, Work};

/// What a table or section of a paper says about one cipher. Their data, like ours, is where it is
/// encrypted: no transfer to a GPU is in the figures.
pub(crate) struct Group<Row: 'static> {
    pub(crate) paper: &'static str,
    pub(crate) cipher: &'static str,
    pub(crate) key_bits: usize,
    pub(crate) work: Work,
    pub(crate) rows: &'static [Row],
}

/// A throughput, and our backends that do the same.
struct Published {
    what: &'static str,
    gbit_per_second: f64,
    ours: &'static [&'static str],
}

const fn figure(
    what: &'static str,
    gbit_per_second: f64,
    ours: &'static [&'static str],
) -> Published {
    Published { what, gbit_per_second, ours }
}

/// What P1's 32-bit form became.
const P1_OURS: &[&str] = &["cuda-table-shared", "cuda-table-conflict-free", "cuda-bitslice"];

const FIGURES: &[Group<Published>] = &[
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
        paper: "P1, section 4.1",
        cipher: "aria",
        key_bits: 128,
        work: Work::EcbEncrypt,
        rows: &[figure(
            "ARIA-128 in C on a 2.4 GHz Core2 Quad",
            0.625,
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
            figure(
                "Camellia-128, merged table, global memory, RTX 3060 Mobile",
                452.16,
                &["cuda-table-global"],
            ),
            figure("Camellia-128, merged table, shared memory", 495.67, &["cuda-table-shared"]),
            figure(
                "Camellia-128, merged table, conflict-free",
                604.48,
                &["cuda-table-conflict-free-merged"],
            ),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 192,
        work: Work::Keystream,
        rows: &[
            figure(
                "Camellia-192, merged table, global memory, RTX 3060 Mobile",
                330.34,
                &["cuda-table-global"],
            ),
            figure("Camellia-192, merged table, shared memory", 364.33, &["cuda-table-shared"]),
            figure(
                "Camellia-192, merged table, conflict-free",
                456.09,
                &["cuda-table-conflict-free-merged"],
            ),
        ],
    },
    Group {
        paper: "P2, Table 2",
        cipher: "camellia",
        key_bits: 256,
        work: Work::Keystream,
        rows: &[
            figure(
                "Camellia-256, merged table, global memory, RTX 3060 Mobile",
                331.96,
                &["cuda-table-global"],
            ),
            figure("Camellia-256, merged table, shared memory", 361.3, &["cuda-table-shared"]),
            figure(
                "Camellia-256, merged table, conflict-free",
                454.54,
                &["cuda-table-conflict-free-merged"],
            ),
        ],
    },
];

/// A row of P1's Table 4.
pub(crate) struct Resources {
    pub(crate) name: &'static str,
    pub(crate) shared_bytes: u32,
    pub(crate) registers: u32,
    pub(crate) local_bytes: u32,
    /// Our kernel of the same form.
    pub(crate) ours: &'static str,
}

const fn resources(
    name: &'static str,
    [shared_bytes, registers, local_bytes]: [u32; 3],
    ours: &'static str,
) -> Resources {
    Resources { name, shared_bytes, registers, local_bytes, ours }
}

/// P1's Table 4: form, shared bytes, registers, local bytes.
pub(crate) const P1_RESOURCES: &[Resources] = &[
    resources("AES, 8-bit, on the 8800", [1016, 12, 20], "aes_bytewise_ecb_encrypt"),
    resources("AES, 32-bit, on the 8800", [5168, 63, 176], "aes_table_shared_ecb_encrypt"),
    resources("ARIA, 8-bit, on the 8800", [1332, 14, 7], "aria_bytewise_ecb"),
    resources("ARIA, 32-bit, on the 8800", [4348, 19, 0], "aria_table_shared_ecb"),
    resources("DES, 32-bit, on the 8800", [2080, 17, 128], "des_table_shared_ecb"),
];

/// A row of the comparison: paper, figure, our backend, its Gbit/s.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The paper and its table.
    pub(crate) paper: &'static str,
    /// What it measured.
    pub(crate) what: &'static str,
    /// Its Gbit/s.
    pub(crate) theirs: f64,
    /// Our backend.
    pub(crate) backend: &'static str,
    /// Ours, at the largest size.
    pub(crate) ours: Figure,
}

impl<Row> Group<Row> {
    /// The measurement of a backend at its largest size, without transfers.
    pub(crate) fn ours<'a>(&self, backend: &str, measurements: &'a [Figure]) -> Option<&'a Figure> {
        let same = |m: &&Figure| {
            m.backend == backend
                && m.cipher == self.cipher
                && m.key_bits == self.key_bits
                && m.work == self.work
                && matches!(m.place, Place::Cpu | Place::Resident)
        };
        measurements.iter().filter(same).max_by_key(|m| m.bytes)
    }
}

/// Every figure that this run has something beside.
pub(crate) fn comparisons(measurements: &[Figure]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for group in FIGURES {
        for figure in group.rows {
            comparisons.extend(figure.ours.iter().filter_map(|&backend| {
                Some(Comparison {
                    paper: group.paper,
                    what: figure.what,
                    theirs: figure.gbit_per_second,
                    backend,
                    ours: group.ours(backend, measurements)?.clone(),
                })
            }));
        }
    }
    comparisons
}

#[cfg(test)]
impl<Row> Group<Row> {
    /// That the registry has the cipher, and these backends of it.
    #[track_caller]
    pub(crate) fn check(&self, backends: &[&str]) {
        let cipher = lanecrypt::find_cipher(self.cipher).expect("the registry has the cipher");
        assert!(cipher.key_bytes.contains(&(self.key_bits / 8)), "{} bits", self.key_bits);
        for id in backends {
            assert!(cipher.backend(id).is_some(), "{} has no {id}", self.cipher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_backends_that_exist() {
        for group in FIGURES {
            group.rows.iter().for_each(|row| group.check(row.ours));
        }
    }

    fn hight(backend: &str, place: Place, bytes: usize, seconds: f64) -> Figure {
        Figure::of(("hight", backend), (Work::EcbEncrypt, place), bytes, seconds)
    }

    #[test]
    fn figures_take_the_largest_size_without_transfers() {
        let measurements = [
            hight("cuda-byteslice", Place::Resident, 1 << 30, 1e-3),
            hight("cuda-byteslice", Place::Resident, 1 << 20, 1e-3),
            hight("cuda-byteslice", Place::EndToEnd, 2 << 30, 1.0),
        ];
        let [comparison] = &comparisons(&measurements)[..] else { panic!("one figure") };
        assert!((comparison.theirs - 46.0).abs() < 1e-9, "{comparison:?}");
        assert!((comparison.ours.gbit_per_second() - 8_589.934_592).abs() < 1e-3, "{comparison:?}");
    }
}
