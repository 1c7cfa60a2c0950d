//! Kernels of GHASH, which GCM needs beside a cipher's: the same for every cipher of 128-bit blocks.

use crate::{
    GHASH, GHASH_MATRICES, GHASH_TABLES, GHASH_WIDE_MATRICES, Module,
    launch::{Kernel, Launch},
};

/// Words of the parameter block of every one of these kernels, of 64 bits: `HashParameters` of
/// `ghash/ghash.cuh`.
pub const PARAMETER_WORDS: usize = 27;

/// Those of them, from the first on, that are public; after these comes what a hash is masked with.
pub const PUBLIC_WORDS: usize = 25;

/// Blocks of a message's front that a parameter block has room for: `MOST_FRONT` of `ghash/ghash.cuh`.
pub const MOST_FRONT: usize = 4;

/// Blocks of a group, which [`FINISH`] leaves a sum for: `GROUP` of `ghash/ghash.cu`.
pub const GROUP: usize = 256;

/// Digits of an exponent of the hash key, to the base 256: `DIGITS` and `RADIX` of `ghash/ghash.cuh`.
const DIGITS: u32 = 4;

/// The exponents of the hash key that these kernels compute are below this.
pub const EXPONENTS: u64 = 256_u64.pow(DIGITS);

/// Powers of the hash key that [`POWERS`] writes: H^(j 256^k) at 256 k + j for every digit k, and one more
/// that its caller names.
pub const POWER_COUNT: usize = DIGITS as usize * 256 + 1;

/// 32-bit words that [`MATRIX_WORDS`] writes: as `LANE_WORDS` and `THREADS` of `ghash/matrices.cu` say.
pub const MATRIX_WORD_COUNT: usize = 68 * 128;

/// Sums that a thread block of [`MATRICES`] writes.
pub const MATRIX_ROWS: u64 = 16;

/// 32-bit words that [`WIDE_MATRIX_WORDS`] writes: `MATRICES` of `ghash/wide_matrices.cu`, each of 128
/// columns of 128 bits.
pub const WIDE_MATRIX_WORD_COUNT: usize = 17 * 128 * 4;

/// Sums that a warpgroup, 128 threads, of [`WIDE_MATRICES`] writes.
pub const WIDE_MATRIX_ROWS: u64 = 64;

/// Writes the powers of a hash key.
pub static POWERS: Kernel = kernel(&GHASH, "ghash_powers");

/// Multiplies sums by powers of the key, and adds them up over every warp.
pub static WEIGH: Kernel = kernel(&GHASH, "ghash_weigh");

/// Adds up the sums of warps, the hash and the front before them, the rest of a message or all of it, its lengths, and
/// a mask.
pub static FINISH: Kernel = kernel(&GHASH, "ghash_finish");

/// Goes through a long message by look-ups: a sum a thread.
pub static TABLES: Kernel = kernel(&GHASH_TABLES, "ghash_tables");

/// Writes the matrices of a hash key.
pub static MATRIX_WORDS: Kernel = kernel(&GHASH_MATRICES, "ghash_matrices_words");

/// Goes through a long message by matrices of bits: [`MATRIX_ROWS`] sums a thread block.
pub static MATRICES: Kernel = kernel(&GHASH_MATRICES, "ghash_matrices");

/// Writes the matrices of a hash key for [`WIDE_MATRICES`].
pub static WIDE_MATRIX_WORDS: Kernel = kernel(&GHASH_WIDE_MATRICES, "ghash_wide_matrices_words");

/// Goes through a long message by matrices of bits, on compute capability 9.0: [`WIDE_MATRIX_ROWS`]
/// sums a warpgroup.
pub static WIDE_MATRICES: Kernel = kernel(&GHASH_WIDE_MATRICES, "ghash_wide_matrices");

/// Those that every hash needs; constant-time.
pub static COMMON_KERNELS: &[&Kernel] = &[&POWERS, &WEIGH, &FINISH];

/// Those of the hash by look-ups; not constant-time.
pub static TABLE_KERNELS: &[&Kernel] = &[&TABLES];

/// Those of the hash by matrices; constant-time.
pub static MATRIX_KERNELS: &[&Kernel] = &[&MATRIX_WORDS, &MATRICES];

/// Those of the hash by wide matrices; constant-time.
pub static WIDE_MATRIX_KERNELS: &[&Kernel] = &[&WIDE_MATRIX_WORDS, &WIDE_MATRICES];

/// All of them.
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    let lists = [COMMON_KERNELS, TABLE_KERNELS, MATRIX_KERNELS, WIDE_MATRIX_KERNELS];
    lists.into_iter().flatten().copied()
}

const fn kernel(module: &'static Module, name: &'static str) -> Kernel {
    let parameter_bytes = 8 * PARAMETER_WORDS;
    Kernel { module, name, launch: Launch::of(name), parameter_bytes }
}
