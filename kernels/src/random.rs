//! Kernels that store AES's key stream as the numbers that people draw.

use crate::{
    AES_RANDOM, Module,
    launch::{HEADER_WORDS, Kernel, KeyLayout, Launch},
    programs,
};

/// What the words of a key stream become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// The key stream itself, in words of 8 bytes.
    Bytes,
    /// Integers of 4 bytes from a range, each as likely.
    Integers32,
    /// Integers of 8 bytes from a range, each as likely.
    Integers64,
    /// `f32` in [0, 1), multiples of 2^-24.
    Units32,
    /// `f64` in [0, 1), multiples of 2^-53.
    Units64,
    /// `f32` of the standard normal distribution.
    Normals32,
    /// `f64` of the standard normal distribution.
    Normals64,
}

impl Draw {
    /// Every one.
    pub const ALL: [Self; 7] = [
        Self::Bytes,
        Self::Integers32,
        Self::Integers64,
        Self::Units32,
        Self::Units64,
        Self::Normals32,
        Self::Normals64,
    ];

    /// Its kernel.
    #[must_use]
    pub fn kernel(self) -> &'static Kernel {
        KERNELS[self as usize]
    }

    /// Bytes of a number; 1 of [`Bytes`](Self::Bytes).
    #[must_use]
    pub const fn number_bytes(self) -> usize {
        match self {
            Self::Bytes => 1,
            Self::Integers32 | Self::Units32 | Self::Normals32 => 4,
            Self::Integers64 | Self::Units64 | Self::Normals64 => 8,
        }
    }
}

/// The keys that the kernels take: those of every program of AES.
pub static KEYS: &KeyLayout = programs::AES_TABLE_GLOBAL.keys();

/// The kernels, in the order of [`Draw::ALL`].
pub static KERNELS: &[&Kernel; Draw::ALL.len()] = &[
    &kernel("aes_random_bytes"),
    &kernel("aes_random_integers_32"),
    &kernel("aes_random_integers_64"),
    &kernel("aes_random_units_32"),
    &kernel("aes_random_units_64"),
    &kernel("aes_random_normals_32"),
    &kernel("aes_random_normals_64"),
];

const fn kernel(name: &'static str) -> Kernel {
    static MODULE: Module = AES_RANDOM;
    let parameter_bytes = 4 * (HEADER_WORDS + programs::AES_KEY_WORDS);
    Kernel { module: &MODULE, name, launch: Launch::of(name), parameter_bytes }
}
