//! The papers' figures, with ours and the ratio beside them.

use super::{
    plan::Work,
    record::{Measurement, Place},
};

/// A figure of a paper and what it is compared with.
struct Figure {
    paper: &'static str,
    what: &'static str,
    gbit_per_second: f64,
    /// Our backends that do the same.
    backends: &'static [&'static str],
    cipher: &'static str,
    key_bits: usize,
    place: Place,
}

/// P1's Table 3: data already in device memory.
const FIGURES: &[Figure] = &[
    Figure {
        paper: "P1, Table 3",
        what: "AES-128 on the 8800 GTS",
        gbit_per_second: 3.1,
        backends: &["cuda-table-shared", "cuda-table-conflict-free", "cuda-bitslice"],
        cipher: "aes",
        key_bits: 128,
        place: Place::Resident,
    },
    Figure {
        paper: "P1, Table 3",
        what: "AES-128 on the 8800 GTX",
        gbit_per_second: 4.5,
        backends: &["cuda-table-shared", "cuda-table-conflict-free", "cuda-bitslice"],
        cipher: "aes",
        key_bits: 128,
        place: Place::Resident,
    },
    Figure {
        paper: "P1, section 4.1",
        what: "AES-128 in C on a 2.4 GHz Core2 Quad",
        gbit_per_second: 1.1,
        backends: &["table32", "bitslice-u64", "hardware"],
        cipher: "aes",
        key_bits: 128,
        place: Place::Cpu,
    },
];

/// P1's Table 4 for AES: form, shared bytes, registers, local bytes.
pub(super) const P1_RESOURCES: &[(&str, u32, u32, u32)] =
    &[("8-bit AES on the 8800", 1016, 12, 20), ("32-bit AES on the 8800", 5168, 63, 176)];

/// A row of the comparison: paper, figure, our backend, its Gbit/s.
pub(super) struct Comparison {
    /// The paper and its table.
    pub(super) paper: &'static str,
    /// What it measured.
    pub(super) what: &'static str,
    /// Its Gbit/s.
    pub(super) theirs: f64,
    /// Our backend.
    pub(super) backend: String,
    /// Our Gbit/s, ECB encryption at the largest size.
    pub(super) ours: f64,
}

/// Every figure that this run has something beside.
pub(super) fn comparisons(measurements: &[Measurement]) -> Vec<Comparison> {
    let of = |figure: &'static Figure| {
        figure.backends.iter().filter_map(|&backend| {
            let same = |m: &&Measurement| {
                m.backend == backend
                    && m.cipher == figure.cipher
                    && m.key_bits == figure.key_bits
                    && m.place == figure.place
                    && m.work == Work::EcbEncrypt
            };
            let ours = measurements.iter().filter(same).max_by_key(|m| m.bytes)?;
            Some(Comparison {
                paper: figure.paper,
                what: figure.what,
                theirs: figure.gbit_per_second,
                backend: backend.to_owned(),
                ours: ours.gbit_per_second(),
            })
        })
    };
    FIGURES.iter().flat_map(of).collect()
}
