//! The S-boxes that the workspace has circuits of, and where each circuit comes from.

use crate::lut;
use crate::{Error, Program};

/// How the circuits of a target are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Derivation {
    /// From the inversion in GF(2^8), to which the S-box is affine-equivalent.
    Inversion {
        /// Carries the S-box's input to the inversion's.
        top: fn(u8) -> u8,
        /// What `top` is, in words.
        top_text: &'static str,
        /// The search for lookups: which of the derived circuits it starts from (all were tried
        /// with few steps), and how it goes on.
        start: usize,
        /// How long, and from which seed.
        effort: lut::Effort,
    },
    /// By a search from the table alone; seed and steps are in the data file.
    Search {
        /// Bits of an output.
        outputs: usize,
    },
}

/// An S-box for which the workspace has circuits.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the circuit and stem of its data files, `aes_inv_sbox`.
    pub name: &'static str,
    /// The cipher: the folder under `crates/` and `kernels/`.
    pub cipher: &'static str,
    /// Name of the Rust function in `crates/<cipher>/src/sbox.rs`.
    pub rust_function: &'static str,
    /// What the functions do, for their documentation.
    pub doc: &'static str,
    /// How the circuits are found.
    pub(crate) derivation: Derivation,
    /// The two-input circuit.
    two_input: &'static str,
    /// The circuit of three-input lookups.
    lookups: &'static str,
}

/// The target of a number of DES's S-boxes.
macro_rules! des_sbox {
    ($number:literal) => {
        Target {
            name: concat!("des_sbox", $number),
            cipher: "des",
            rust_function: concat!("sbox", $number),
            doc: concat!(
                "S",
                $number,
                " of DES. Index 0 is the last of the six input bits, and of the four output bits, ",
                "as\nFIPS 46-3 writes them."
            ),
            derivation: Derivation::Search { outputs: 4 },
            two_input: include_str!(concat!("../data/des_sbox", $number, ".slp")),
            lookups: include_str!(concat!("../data/des_sbox", $number, ".lut")),
        }
    };
}

/// Every S-box with circuits.
pub const TARGETS: &[Target] = &[
    Target {
        name: "aes_sbox",
        cipher: "aes",
        rust_function: "sbox",
        doc: "The AES S-box on eight words, word `i` holding bit `i` of every byte.",
        derivation: Derivation::Inversion {
            top: |input| input,
            top_text: "the input",
            start: 67,
            effort: lut::Effort { seed: 1, steps: 2_500_000 },
        },
        two_input: include_str!("../data/aes_sbox.slp"),
        lookups: include_str!("../data/aes_sbox.lut"),
    },
    Target {
        name: "aes_inv_sbox",
        cipher: "aes",
        rust_function: "inv_sbox",
        doc: "The inverse AES S-box on eight words, word `i` holding bit `i` of every byte.",
        derivation: Derivation::Inversion {
            top: |input| input.rotate_left(1) ^ input.rotate_left(3) ^ input.rotate_left(6) ^ 0x05,
            top_text: "the inverse of the affine map of FIPS 197, 5.1.1",
            start: 1,
            effort: lut::Effort { seed: 1, steps: 2_500_000 },
        },
        two_input: include_str!("../data/aes_inv_sbox.slp"),
        lookups: include_str!("../data/aes_inv_sbox.lut"),
    },
    des_sbox!(1),
    des_sbox!(2),
    des_sbox!(3),
    des_sbox!(4),
    des_sbox!(5),
    des_sbox!(6),
    des_sbox!(7),
    des_sbox!(8),
];

impl Target {
    /// The committed two-input circuit.
    ///
    /// # Errors
    /// What is wrong with the data file.
    pub fn two_input(&self) -> Result<Program, Error> {
        self.two_input.parse()
    }

    /// The committed circuit of three-input lookups.
    ///
    /// # Errors
    /// What is wrong with the data file.
    pub fn lookups(&self) -> Result<Program, Error> {
        self.lookups.parse()
    }
}
