//! 32-bit lanes of NEON.

use core::arch::aarch64::{
    vaddq_u32, vdupq_n_s32, vreinterpretq_u8_u32, vreinterpretq_u32_u8, vshlq_u32, vsubq_u32,
    vzip1q_u32, vzip2q_u32,
};

use cipher::consts::U4;

use super::{B128, Kind, load as load_bytes, store};
use crate::{
    Words,
    simd::registers,
    words::{InterleaveWords, word_lanes},
};

/// An instruction on the 32-bit lanes of two registers of bytes.
macro_rules! on_words {
    ($by:ident, $left:expr, $right:expr) => {
        B128::of(registers! {
            vreinterpretq_u8_u32($by(vreinterpretq_u32_u8($left.0), vreinterpretq_u32_u8($right.0)))
        })
    };
}

impl<K: Kind> Words for B128<K> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        on_words!(vaddq_u32, self, other)
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        on_words!(vsubq_u32, self, other)
    }

    #[inline(always)]
    fn rotate_left<const BY: i32>(self) -> Self {
        const { assert!(0 < BY && BY < 32, "a word has 32 bits") };
        // Negative numbers shift to the right.
        let up = registers!(vshlq_u32(vreinterpretq_u32_u8(self.0), vdupq_n_s32(BY)));
        let down = registers!(vshlq_u32(vreinterpretq_u32_u8(self.0), vdupq_n_s32(BY - 32)));
        Self::of(registers!(vreinterpretq_u8_u32(up)))
            | Self::of(registers!(vreinterpretq_u8_u32(down)))
    }
}

impl<K: Kind> InterleaveWords for B128<K> {
    #[inline(always)]
    fn interleave_words(self, other: Self) -> [Self; 2] {
        [on_words!(vzip1q_u32, self, other), on_words!(vzip2q_u32, self, other)]
    }
}

#[inline(always)]
fn load<K: Kind>(bytes: &[u8; 16]) -> B128<K> {
    B128::of(load_bytes(bytes))
}

word_lanes!([K: Kind] K, B128<K>, 16, U4, load, store);
