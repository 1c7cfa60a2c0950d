//! Byte lanes side by side: `u8` alone, and SIMD within `u32` and `u64`.
//!
//! ```text
//! u64   | lane 7 | lane 6 |  ...   | lane 1 | lane 0 |    lane i from bit 8i on
//! ```
//!
//! A carry or borrow would run into the next lane, so the top bit of every lane is kept out of the
//! addition and put in afterwards by XOR, which is what an addition does to a top bit.

#![allow(
    clippy::inline_always,
    reason = "an operation of a few instructions, met a thousand times a batch"
)]

use cipher::consts::{U1, U4, U8};

use super::check;
use crate::{ByteLanes, Bytes, Portable, SplatBytes, bits::Columns};

impl Bytes for u8 {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        u8::rotate_left(self, BY)
    }
}

impl SplatBytes for Portable<u8> {
    type Bytes = u8;

    #[inline(always)]
    fn splat(self, four: u32) -> u8 {
        four as u8
    }
}

impl ByteLanes for Portable<u8> {
    type Lanes = U1;

    #[inline(always)]
    fn slice(self, blocks: &[u8], bytes: &mut [u8]) {
        check(blocks.len(), bytes.len(), 1);
        bytes.copy_from_slice(blocks);
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [u8], blocks: &mut [u8]) {
        check(blocks.len(), bytes.len(), 1);
        blocks.copy_from_slice(bytes);
    }
}

macro_rules! packed {
    ($($word:ty, $lanes:ty);*) => {$(
        impl Bytes for $word {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                const TOP: $word = <$word>::MAX / 0xff * 0x80;
                ((self & !TOP) + (other & !TOP)) ^ ((self ^ other) & TOP)
            }

            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                const TOP: $word = <$word>::MAX / 0xff * 0x80;
                // The top bit is set, so that the borrow of the bits below ends in it.
                ((self | TOP) - (other & !TOP)) ^ (!(self ^ other) & TOP)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn rotate_left<const BY: u32>(self) -> Self {
                const { assert!(BY < 8, "a byte has 8 bits") };
                // What moves up, the low 8 - BY bits of a lane, and what comes round below it.
                let stays = const { <$word>::MAX / 0xff * (0xff >> BY) };
                ((self & stays) << BY) | ((self & !stays) >> (8 - BY))
            }
        }

        impl SplatBytes for Portable<$word> {
            type Bytes = $word;

            #[inline(always)]
            fn splat(self, four: u32) -> $word {
                <$word>::from(four) * (<$word>::MAX / <$word>::from(u32::MAX))
            }
        }

        impl ByteLanes for Portable<$word> {
            type Lanes = $lanes;

            #[inline(always)]
            fn slice(self, blocks: &[u8], bytes: &mut [$word]) {
                const SIDE: usize = size_of::<$word>();
                check(blocks.len(), bytes.len(), SIDE);
                let block = bytes.len();
                for (column, square) in bytes.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                    for (row, word) in square.iter_mut().enumerate() {
                        *word = <$word>::gather(blocks, block * row + SIDE * column, 0);
                    }
                    transpose(square);
                }
            }

            #[inline(always)]
            fn unslice(self, bytes: &mut [$word], blocks: &mut [u8]) {
                const SIDE: usize = size_of::<$word>();
                check(blocks.len(), bytes.len(), SIDE);
                let block = bytes.len();
                for (column, square) in bytes.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                    transpose(square);
                    for (row, word) in square.iter().enumerate() {
                        word.scatter(blocks, block * row + SIDE * column, 0);
                    }
                }
            }
        }
    )*};
}
packed!(u32, U4; u64, U8);

/// Transposes a square of bytes, one row per word.
#[inline(always)]
pub(crate) fn transpose<W: Columns>(square: &mut [W]) {
    if W::BYTES == 8 {
        exchange_rows::<W, 32>(square);
    }
    exchange_rows::<W, 16>(square);
    exchange_rows::<W, 8>(square);
}

#[inline(always)]
fn exchange_rows<W: Columns, const DISTANCE: u32>(square: &mut [W]) {
    let distance = DISTANCE as usize / 8;
    for pair in square.chunks_exact_mut(2 * distance) {
        let (low, high) = pair.split_at_mut(distance);
        for (low, high) in low.iter_mut().zip(high) {
            W::exchange::<DISTANCE>(low, high);
        }
    }
}
