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

use crate::{
    Bytes,
    transpose::{slice_units, unslice_units},
};

impl Bytes for u8 {
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        byte
    }

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

    #[inline(always)]
    fn slice(blocks: &[u8], bytes: &mut [Self]) {
        assert_eq!(blocks.len(), bytes.len(), "one block a lane");
        bytes.copy_from_slice(blocks);
    }

    #[inline(always)]
    fn unslice(bytes: &mut [Self], blocks: &mut [u8]) {
        assert_eq!(blocks.len(), bytes.len(), "one block a lane");
        blocks.copy_from_slice(bytes);
    }
}

macro_rules! packed {
    ($($word:ty),*) => {$(
        impl Bytes for $word {
            const LANES: usize = size_of::<$word>();

            #[inline(always)]
            fn splat(byte: u8) -> Self {
                <$word>::from_ne_bytes([byte; size_of::<$word>()])
            }

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

            #[inline(always)]
            fn slice(blocks: &[u8], bytes: &mut [Self]) {
                slice_units::<$word, 8>(blocks, bytes);
            }

            #[inline(always)]
            fn unslice(bytes: &mut [Self], blocks: &mut [u8]) {
                unslice_units::<$word, 8>(bytes, blocks);
            }
        }
    )*};
}
packed!(u32, u64);
