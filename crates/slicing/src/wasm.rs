//! WebAssembly's SIMD: 128 bits, in builds that have `simd128`.
//!
//! A module says as a whole whether it has the instructions, so that nothing is detected.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::arch::wasm32::{
    i8x16_add, i8x16_shl, i8x16_shuffle, i8x16_sub, i32x4_add, i32x4_shl, i32x4_shuffle,
    i32x4_splat, i32x4_sub, i64x2, i64x2_extract_lane, i64x2_shl, i64x2_splat, u8x16_shr,
    u32x4_shr, u64x2_shr, v128, v128_and, v128_or, v128_xor,
};

use cipher::consts::{U4, U16, U128};
use lanecrypt_core::AnyCpu;

use crate::{
    BitLanes, ByteLanes, Bytes, SplatBytes, Word, Words,
    bits::{self, Columns, LANE_BITS},
    bytes::check,
    simd::{isa, registers, word_operators},
    wide,
    words::{InterleaveWords, word_lanes},
};

isa!(
    /// 128 bits, without instructions for S-boxes.
    Simd128, "simd128", "this build has no simd128", |_| true
);

impl AnyCpu for Simd128 {
    fn get() -> Self {
        Self(())
    }
}

/// A register of 128 bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct B128(v128);

impl B128 {
    #[inline(always)]
    fn of(register: v128) -> Self {
        Self(register)
    }
}

word_operators!([] B128, v128_xor, v128_and, v128_or, i64x2_splat(-1));

impl Word for B128 {
    const TERNARY: bool = false;
}

impl Columns for B128 {
    const BYTES: usize = 8;
    const COUNT: usize = 2;

    #[inline(always)]
    fn gather(bytes: &[u8], start: usize, stride: usize) -> Self {
        let [low, high] = wide::columns(bytes, start, stride);
        Self(i64x2(low, high))
    }

    #[inline(always)]
    fn scatter(self, bytes: &mut [u8], start: usize, stride: usize) {
        let columns = [i64x2_extract_lane::<0>(self.0), i64x2_extract_lane::<1>(self.0)];
        wide::put_columns(columns, bytes, start, stride);
    }

    #[inline(always)]
    fn exchange<const DISTANCE: u32>(low: &mut Self, high: &mut Self) {
        let mask = Self(i64x2_splat(wide::mask(DISTANCE)));
        let difference = (Self(u64x2_shr(low.0, DISTANCE)) ^ *high) & mask;
        *high ^= difference;
        *low ^= Self(i64x2_shl(difference.0, DISTANCE));
    }
}

impl BitLanes for Simd128 {
    type Word = B128;
    type Lanes = U128;

    #[inline(always)]
    fn splat(self, mask: u32) -> B128 {
        B128(i32x4_splat(mask.cast_signed()))
    }

    #[inline(always)]
    fn lane_bit(self, bit: usize) -> B128 {
        B128::gather(&LANE_BITS[bit], 0, 8)
    }

    #[inline(always)]
    fn slice(self, blocks: &[u8], planes: &mut [B128]) {
        bits::slice(blocks, planes);
    }

    #[inline(always)]
    fn unslice(self, planes: &mut [B128], blocks: &mut [u8]) {
        bits::unslice(planes, blocks);
    }
}

impl Bytes for B128 {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(i8x16_add(self.0, other.0))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self(i8x16_sub(self.0, other.0))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        Self(i8x16_shl(self.0, BY)) | Self(u8x16_shr(self.0, 8 - BY))
    }
}

impl wide::Interleave for B128 {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        [
            Self(i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(
                self.0, other.0,
            )),
            Self(i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(
                self.0, other.0,
            )),
        ]
    }
}

impl SplatBytes for Simd128 {
    type Bytes = B128;

    #[inline(always)]
    fn splat(self, four: u32) -> B128 {
        BitLanes::splat(self, four)
    }
}

impl ByteLanes for Simd128 {
    type Lanes = U16;

    #[inline(always)]
    fn slice(self, blocks: &[u8], bytes: &mut [B128]) {
        check(blocks.len(), bytes.len(), 16);
        for (i, register) in bytes.iter_mut().enumerate() {
            *register = B128::gather(blocks, 16 * i, 8);
        }
        wide::bytes_to_rows(bytes);
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [B128], blocks: &mut [u8]) {
        check(blocks.len(), bytes.len(), 16);
        wide::rows_to_bytes(bytes);
        for (i, register) in bytes.iter().enumerate() {
            register.scatter(blocks, 16 * i, 8);
        }
    }
}

impl Words for B128 {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(i32x4_add(self.0, other.0))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self(i32x4_sub(self.0, other.0))
    }

    #[inline(always)]
    fn rotate_left<const BY: i32>(self) -> Self {
        const { assert!(0 < BY && BY < 32, "a word has 32 bits") };
        let by = BY.cast_unsigned();
        Self(i32x4_shl(self.0, by)) | Self(u32x4_shr(self.0, 32 - by))
    }
}

impl InterleaveWords for B128 {
    #[inline(always)]
    fn interleave_words(self, other: Self) -> [Self; 2] {
        [
            Self(i32x4_shuffle::<0, 4, 1, 5>(self.0, other.0)),
            Self(i32x4_shuffle::<2, 6, 3, 7>(self.0, other.0)),
        ]
    }
}

#[inline(always)]
fn load(bytes: &[u8; 16]) -> B128 {
    B128::gather(bytes, 0, 8)
}

#[inline(always)]
fn store(register: B128, bytes: &mut [u8; 16]) {
    register.scatter(bytes, 0, 8);
}

word_lanes!([] Simd128, B128, 16, U4, load, store);
