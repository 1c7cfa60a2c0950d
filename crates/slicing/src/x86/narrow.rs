//! AVX-512 on registers of 256 and 128 bits, for fewer blocks than a register of 512 bits has lanes:
//! the same instructions, on more ports, and less to transpose.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::arch::x86_64::{
    __m128i, __m256i, _mm_and_si128, _mm_loadu_si128, _mm_or_si128, _mm_set1_epi32,
    _mm_ternarylogic_epi32, _mm_xor_si128, _mm256_and_si256, _mm256_loadu_si256, _mm256_or_si256,
    _mm256_set1_epi32, _mm256_ternarylogic_epi32, _mm256_xor_si256, _mm512_loadu_si512,
    _mm512_permutex2var_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
};

use cipher::consts::{U128, U256};

use super::{
    Avx512, B512,
    avx512::{avx512, from_squares, to_squares},
};
use crate::{
    BitLanes, Word,
    bits::{self, LANE_BITS},
    simd::{registers, word_operators},
};

avx512!(
    /// AVX-512 on 256 bits.
    Avx512Ymm
);
avx512!(
    /// AVX-512 on 128 bits.
    Avx512Xmm
);

impl From<Avx512> for Avx512Ymm {
    #[inline(always)]
    fn from(_: Avx512) -> Self {
        Self(())
    }
}

impl From<Avx512> for Avx512Xmm {
    #[inline(always)]
    fn from(_: Avx512) -> Self {
        Self(())
    }
}

/// Where each 64-bit part of two registers comes from, the parts of the second numbered from 8.
type Parts = [[u64; 8]; 2];

/// Runs of `run` parts of one register and of the other by turns.
const fn zipped(run: u64) -> Parts {
    let mut parts = [[0; 8]; 2];
    let mut to = 0;
    while to < 16 {
        let (number, within) = (to / run, to % run);
        parts[(to / 8) as usize][(to % 8) as usize] = number % 2 * 8 + number / 2 * run + within;
        to += 1;
    }
    parts
}

/// The inverse of `zipped`.
const fn unzipped(run: u64) -> Parts {
    let (zipped, mut parts) = (zipped(run), [[0; 8]; 2]);
    let mut to = 0;
    while to < 16 {
        let from = zipped[to / 8][to % 8] as usize;
        parts[from / 8][from % 8] = to as u64;
        to += 1;
    }
    parts
}

static ZIPPED: [Parts; 2] = [zipped(1), zipped(2)];
static UNZIPPED: [Parts; 2] = [unzipped(1), unzipped(2)];

#[inline(always)]
fn permute_two(low: B512, high: B512, parts: &Parts) -> [B512; 2] {
    let load = |order: &[u64; 8]| {
        // SAFETY: 64 bytes can be read; the values prove that there is AVX-512.
        unsafe { _mm512_loadu_si512(order.as_ptr().cast()) }
    };
    let orders = [load(&parts[0]), load(&parts[1])];
    registers! {
        [
            B512::of(_mm512_permutex2var_epi64(low.0, orders[0], high.0)),
            B512::of(_mm512_permutex2var_epi64(low.0, orders[1], high.0)),
        ]
    }
}

/// Squares of 64 blocks each, whose parts are eight planes, to the planes of all of them in turn.
#[inline(always)]
fn zip<const H: usize>(mut rows: [B512; H]) -> [B512; H] {
    if H == 4 {
        let [a, b] = permute_two(rows[0], rows[1], &ZIPPED[0]);
        let [c, d] = permute_two(rows[2], rows[3], &ZIPPED[0]);
        [rows[0], rows[1]] = permute_two(a, c, &ZIPPED[1]);
        [rows[2], rows[3]] = permute_two(b, d, &ZIPPED[1]);
    } else {
        [rows[0], rows[1]] = permute_two(rows[0], rows[1], &ZIPPED[0]);
    }
    rows
}

/// The inverse of [`zip`].
#[inline(always)]
fn unzip<const H: usize>(mut rows: [B512; H]) -> [B512; H] {
    if H == 4 {
        let [a, c] = permute_two(rows[0], rows[1], &UNZIPPED[1]);
        let [b, d] = permute_two(rows[2], rows[3], &UNZIPPED[1]);
        [rows[0], rows[1]] = permute_two(a, b, &UNZIPPED[0]);
        [rows[2], rows[3]] = permute_two(c, d, &UNZIPPED[0]);
    } else {
        [rows[0], rows[1]] = permute_two(rows[0], rows[1], &UNZIPPED[0]);
    }
    rows
}

macro_rules! narrow {
    (
        $(#[$doc:meta])* $word:ident($register:ty): $xor:ident $and:ident $or:ident $set1:ident
        $ternary:ident $load:ident; $isa:ident, $lanes:ty,
        squares: $squares:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $word($register);

        impl $word {
            /// Crate-private: safe code can make a register without the token.
            #[inline(always)]
            pub(crate) fn of(register: $register) -> Self {
                Self(register)
            }
        }

        word_operators!([] $word, $xor, $and, $or, $set1(-1));

        impl Word for $word {
            const TERNARY: bool = true;

            #[inline(always)]
            fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
                Self(registers!($ternary::<TABLE>(a.0, b.0, c.0)))
            }
        }

        impl $word {
            /// This number of them are a register of 512 bits.
            const OF_512: usize = 8 / $squares;

            #[inline(always)]
            fn join(parts: &[Self; Self::OF_512]) -> B512 {
                // SAFETY: together they have 64 bytes; the values prove that there is AVX-512.
                B512::of(unsafe { _mm512_loadu_si512(parts.as_ptr().cast()) })
            }

            #[inline(always)]
            fn part(whole: B512, parts: &mut [Self; Self::OF_512]) {
                // SAFETY: together they have 64 bytes; the value proves that there is AVX-512.
                unsafe { _mm512_storeu_si512(parts.as_mut_ptr().cast(), whole.0) }
            }
        }

        impl BitLanes for $isa {
            type Word = $word;
            type Lanes = $lanes;

            #[inline(always)]
            fn splat(self, mask: u32) -> $word {
                $word(registers!($set1(mask.cast_signed())))
            }

            #[inline(always)]
            fn lane_bit(self, bit: usize) -> $word {
                // SAFETY: a row has 64 bytes; the token proves that there is AVX-512.
                $word(unsafe { $load(LANE_BITS[bit].as_ptr().cast()) })
            }

            #[inline(always)]
            fn slice(self, blocks: &[u8], planes: &mut [$word]) {
                let block = bits::check(blocks.len(), planes.len(), 64 * $squares);
                let zero = B512::of(registers!(_mm512_setzero_si512()));
                for (part, planes) in planes.as_chunks_mut::<64>().0.iter_mut().enumerate() {
                    let mut squares = [[zero; $squares]; 8];
                    for h in 0..$squares {
                        let rows = to_squares(blocks, block, 64 * h, part);
                        for (squares, row) in squares.iter_mut().zip(rows) {
                            squares[h] = row;
                        }
                    }
                    let (wholes, _) = planes.as_chunks_mut::<{ $word::OF_512 }>();
                    for (j, squares) in squares.into_iter().enumerate() {
                        for (i, whole) in zip(squares).into_iter().enumerate() {
                            $word::part(whole, &mut wholes[$squares * j + i]);
                        }
                    }
                }
            }

            #[inline(always)]
            fn unslice(self, planes: &mut [$word], blocks: &mut [u8]) {
                let block = bits::check(blocks.len(), planes.len(), 64 * $squares);
                let zero = B512::of(registers!(_mm512_setzero_si512()));
                for (part, planes) in planes.as_chunks::<64>().0.iter().enumerate() {
                    let mut squares = [[zero; $squares]; 8];
                    let (wholes, _) = planes.as_chunks::<{ $word::OF_512 }>();
                    for (j, squares) in squares.iter_mut().enumerate() {
                        for (i, square) in squares.iter_mut().enumerate() {
                            *square = $word::join(&wholes[$squares * j + i]);
                        }
                        *squares = unzip(*squares);
                    }
                    for h in 0..$squares {
                        let mut rows = [zero; 8];
                        for (row, squares) in rows.iter_mut().zip(&squares) {
                            *row = squares[h];
                        }
                        from_squares(rows, blocks, block, 64 * h, part);
                    }
                }
            }
        }
    };
}
narrow!(
    /// A register of 256 bits on a CPU with AVX-512.
    Ymm(__m256i): _mm256_xor_si256 _mm256_and_si256 _mm256_or_si256 _mm256_set1_epi32
    _mm256_ternarylogic_epi32 _mm256_loadu_si256; Avx512Ymm, U256, squares: 4
);
narrow!(
    /// A register of 128 bits on a CPU with AVX-512.
    Xmm(__m128i): _mm_xor_si128 _mm_and_si128 _mm_or_si128 _mm_set1_epi32
    _mm_ternarylogic_epi32 _mm_loadu_si128; Avx512Xmm, U128, squares: 2
);
