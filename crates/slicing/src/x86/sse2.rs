//! SSE2: 128 bits, on every x86-64 CPU.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_and_si128, _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_loadu_si128,
    _mm_or_si128, _mm_set_epi64x, _mm_set1_epi32, _mm_sll_epi64, _mm_srl_epi64, _mm_storeu_si128,
    _mm_sub_epi8, _mm_unpackhi_epi8, _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_xor_si128,
};

use cipher::consts::{U16, U128};
use lanecrypt_core::AnyCpu;

use crate::{
    BitLanes, ByteLanes, Bytes, SplatBytes, Word,
    bits::{self, Columns, LANE_BITS},
    bytes::check,
    simd::{isa, registers, word_operators},
    wide,
};

isa!(
    /// 128 bits, without instructions for S-boxes.
    Sse2, "sse2", "no SSE2", |_| true
);

impl AnyCpu for Sse2 {
    fn get() -> Self {
        Self(())
    }
}

/// A register of 128 bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct B128(pub(super) __m128i);

impl B128 {
    /// Crate-private: safe code can make a register without the token.
    #[inline(always)]
    pub(crate) fn of(register: __m128i) -> Self {
        Self(register)
    }
}

word_operators!([] B128, _mm_xor_si128, _mm_and_si128, _mm_or_si128, _mm_set1_epi32(-1));

impl Word for B128 {
    const TERNARY: bool = false;
}

impl Columns for B128 {
    const BYTES: usize = 8;
    const COUNT: usize = 2;

    #[inline(always)]
    fn gather(bytes: &[u8], start: usize, stride: usize) -> Self {
        let [low, high] = wide::columns(bytes, start, stride);
        Self(registers!(_mm_set_epi64x(high, low)))
    }

    #[inline(always)]
    fn scatter(self, bytes: &mut [u8], start: usize, stride: usize) {
        let columns = registers! {
            [_mm_cvtsi128_si64(self.0), _mm_cvtsi128_si64(_mm_unpackhi_epi64(self.0, self.0))]
        };
        wide::put_columns(columns, bytes, start, stride);
    }

    #[inline(always)]
    fn exchange<const DISTANCE: u32>(low: &mut Self, high: &mut Self) {
        let mask = Self(registers!(_mm_set_epi64x(wide::mask(DISTANCE), wide::mask(DISTANCE))));
        let by = registers!(_mm_cvtsi32_si128(DISTANCE.cast_signed()));
        let difference = (Self(registers!(_mm_srl_epi64(low.0, by))) ^ *high) & mask;
        *high ^= difference;
        *low ^= Self(registers!(_mm_sll_epi64(difference.0, by)));
    }
}

impl BitLanes for Sse2 {
    type Word = B128;
    type Lanes = U128;

    #[inline(always)]
    fn splat(self, mask: u32) -> B128 {
        B128(registers!(_mm_set1_epi32(mask.cast_signed())))
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
        Self(registers!(_mm_add_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self(registers!(_mm_sub_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        let kept = Self(registers!(_mm_set1_epi32(wide::kept(BY))));
        let up = registers!(_mm_sll_epi64(self.0, _mm_cvtsi32_si128(BY.cast_signed())));
        let down = registers!(_mm_srl_epi64(self.0, _mm_cvtsi32_si128(8 - BY.cast_signed())));
        (Self(up) & kept) | (Self(down) & !kept)
    }
}

impl wide::Interleave for B128 {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        registers! {
            [Self(_mm_unpacklo_epi8(self.0, other.0)), Self(_mm_unpackhi_epi8(self.0, other.0))]
        }
    }
}

/// The bytes of memory as a register.
#[inline(always)]
pub(super) fn load(bytes: &[u8; 16]) -> B128 {
    // SAFETY: 16 bytes can be read; every x86-64 CPU has the instruction.
    B128(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[inline(always)]
pub(super) fn store(register: B128, bytes: &mut [u8; 16]) {
    // SAFETY: 16 bytes can be written; every x86-64 CPU has the instruction.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), register.0) }
}

impl SplatBytes for Sse2 {
    type Bytes = B128;

    #[inline(always)]
    fn splat(self, four: u32) -> B128 {
        BitLanes::splat(self, four)
    }
}

impl ByteLanes for Sse2 {
    type Lanes = U16;

    #[inline(always)]
    fn slice(self, blocks: &[u8], bytes: &mut [B128]) {
        check(blocks.len(), bytes.len(), 16);
        for (register, row) in bytes.iter_mut().zip(blocks.as_chunks::<16>().0) {
            *register = load(row);
        }
        wide::bytes_to_rows(bytes);
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [B128], blocks: &mut [u8]) {
        check(blocks.len(), bytes.len(), 16);
        wide::rows_to_bytes(bytes);
        for (register, row) in bytes.iter().zip(blocks.as_chunks_mut::<16>().0) {
            store(*register, row);
        }
    }
}
