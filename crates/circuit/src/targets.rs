//! The S-boxes that the workspace has circuits of, and where each circuit comes from.

use lanecrypt_reference::{gf256, sbox};

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
    /// The circuits of another target, which computes the same S-box.
    Shared {
        /// The other target's name.
        with: &'static str,
    },
}

/// An S-box for which the workspace has circuits.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the circuit, `aes_inv_sbox`.
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

/// A target whose circuits are derived from inversion, both searches from seed 1.
macro_rules! image_of_inversion {
    (
        $name:literal, $cipher:literal, $rust_function:literal, $doc:literal,
        $top:expr, $top_text:literal, start $start:literal, steps $steps:literal
    ) => {
        Target {
            name: $name,
            cipher: $cipher,
            rust_function: $rust_function,
            doc: concat!($doc, " on eight words, word `i` holding bit `i` of every byte."),
            derivation: Derivation::Inversion {
                top: $top,
                top_text: $top_text,
                start: $start,
                effort: lut::Effort { seed: 1, steps: $steps },
            },
            two_input: include_str!(concat!("../data/", $name, ".slp")),
            lookups: include_str!(concat!("../data/", $name, ".lut")),
        }
    };
}

/// A target of ARIA that is an S-box of AES under another name.
macro_rules! shared_with_aes {
    ($name:literal, $rust_function:literal, $with:literal, $doc:literal) => {
        Target {
            name: $name,
            cipher: "aria",
            rust_function: $rust_function,
            doc: concat!($doc, ", AES's, on eight words, word `i` holding bit `i` of every byte."),
            derivation: Derivation::Shared { with: $with },
            two_input: include_str!(concat!("../data/", $with, ".slp")),
            lookups: include_str!(concat!("../data/", $with, ".lut")),
        }
    };
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
    image_of_inversion!(
        "aes_sbox", "aes", "sbox", "The AES S-box",
        |input| input, "the input", start 67, steps 2_500_000
    ),
    image_of_inversion!(
        "aes_inv_sbox", "aes", "inv_sbox", "The inverse AES S-box",
        |input| preimage(&sbox::AES_AFFINE, input),
        "the inverse of the affine map of FIPS 197, 5.1.1", start 1, steps 2_500_000
    ),
    shared_with_aes!("aria_sbox1", "sbox1", "aes_sbox", "ARIA's S1"),
    shared_with_aes!("aria_inv_sbox1", "inv_sbox1", "aes_inv_sbox", "The inverse of ARIA's S1"),
    image_of_inversion!(
        "aria_sbox2", "aria", "sbox2", "ARIA's S2",
        |input| input, "the input", start 44, steps 2_500_000
    ),
    image_of_inversion!(
        "aria_inv_sbox2", "aria", "inv_sbox2", "The inverse of ARIA's S2",
        |input| preimage(&sbox::ARIA_AFFINE, input),
        "the inverse of the affine map of ARIA's S2", start 25, steps 2_500_000
    ),
    image_of_inversion!(
        "camellia_sbox", "camellia", "sbox", "Camellia's SBOX1",
        |input| core_element(sbox::camellia_inverted(input), gf256::CAMELLIA_MODULUS),
        "the element that SBOX1 inverts, carried from Camellia's field", start 128, steps 2_500_000
    ),
    image_of_inversion!(
        "seed_sbox0", "seed", "sbox0", "SEED's S0",
        |input| core_element(input, gf256::SEED_MODULUS),
        "the input, carried from SEED's field", start 7, steps 2_500_000
    ),
    image_of_inversion!(
        "seed_sbox1", "seed", "sbox1", "SEED's S1",
        |input| core_element(input, gf256::SEED_MODULUS),
        "the input, carried from SEED's field", start 1, steps 2_500_000
    ),
    // ANCHOR: sm4
    image_of_inversion!(
        "sm4_sbox", "sm4", "sbox", "SM4's S-box",
        |input| core_element(sbox::SM4_AFFINE.apply(input), gf256::SM4_MODULUS),
        "the image of the affine map of SM4's S-box, carried from SM4's field", start 1, steps 2_500_000
    ),
    // ANCHOR_END: sm4
    des_sbox!(1),
    des_sbox!(2),
    des_sbox!(3),
    des_sbox!(4),
    des_sbox!(5),
    des_sbox!(6),
    des_sbox!(7),
    des_sbox!(8),
];

/// The byte that a one-to-one affine map carries to `image`.
fn preimage(map: &sbox::AffineMap, image: u8) -> u8 {
    (0..=255).find(|&input| map.apply(input) == image).unwrap_or(0)
}

/// The image of an element of the field of `modulus` in that of the core, under the isomorphism that
/// carries x to the smallest root of `modulus` there. The others follow by squaring.
fn core_element(element: u8, modulus: u16) -> u8 {
    let power = |root, exponent| gf256::power(root, exponent, gf256::AES_MODULUS);
    let value = |coefficients: u16, root| {
        let terms = (0..=8u8).filter(|bit| coefficients >> bit & 1 == 1);
        terms.fold(0, |sum, exponent| sum ^ power(root, exponent))
    };
    let root = (2..=255).find(|&root| value(modulus, root) == 0).unwrap_or(0);
    value(element.into(), root)
}

impl Target {
    /// Stem of its data files, which another target may share.
    #[must_use]
    pub fn data(&self) -> &'static str {
        match self.derivation {
            Derivation::Shared { with } => with,
            Derivation::Inversion { .. } | Derivation::Search { .. } => self.name,
        }
    }

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
