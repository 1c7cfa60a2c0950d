//! 32-bit lanes of SSE2, AVX2 and AVX-512.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::arch::x86_64::{
    _mm_add_epi32, _mm_cvtsi32_si128, _mm_sll_epi32, _mm_srl_epi32, _mm_sub_epi32,
    _mm_unpackhi_epi32, _mm_unpacklo_epi32, _mm256_add_epi32, _mm256_loadu_si256, _mm256_sll_epi32,
    _mm256_srl_epi32, _mm256_storeu_si256, _mm256_sub_epi32, _mm256_unpackhi_epi32,
    _mm256_unpacklo_epi32, _mm512_add_epi32, _mm512_rol_epi32, _mm512_sub_epi32,
    _mm512_unpackhi_epi32, _mm512_unpacklo_epi32,
};

use cipher::consts::{U4, U8, U16};

use super::{
    AesNi,
    avx2::{B256, Kind},
    avx512::{self, Avx512, B512},
    sse2::{self, B128, Kind as Kind128, Sse2},
};
use crate::{
    Words,
    simd::registers,
    words::{InterleaveWords, word_lanes},
};

/// What the registers' additions, interleavings and rotations are by: `$rotate` is an expression of
/// `$register`, a register, and `$by`, a constant.
macro_rules! words {
    (
        [$($generics:tt)*] $type:ty, $add:ident, $subtract:ident, $low:ident, $high:ident,
        |$register:ident, $by:ident| $rotate:expr
    ) => {
        impl<$($generics)*> Words for $type {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::of(registers!($add(self.0, other.0)))
            }

            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                Self::of(registers!($subtract(self.0, other.0)))
            }

            #[inline(always)]
            fn rotate_left<const $by: i32>(self) -> Self {
                const { assert!(0 < $by && $by < 32, "a word has 32 bits") };
                let $register = self;
                $rotate
            }
        }

        impl<$($generics)*> InterleaveWords for $type {
            #[inline(always)]
            fn interleave_words(self, other: Self) -> [Self; 2] {
                let both = registers!([$low(self.0, other.0), $high(self.0, other.0)]);
                [Self::of(both[0]), Self::of(both[1])]
            }
        }
    };
}

words!(
    [K: Kind128] B128<K>, _mm_add_epi32, _mm_sub_epi32, _mm_unpacklo_epi32, _mm_unpackhi_epi32,
    |register, BY| {
        let up = registers!(_mm_sll_epi32(register.0, _mm_cvtsi32_si128(BY)));
        let down = registers!(_mm_srl_epi32(register.0, _mm_cvtsi32_si128(32 - BY)));
        B128::of(up) | B128::of(down)
    }
);
words!(
    [K: Kind] B256<K>, _mm256_add_epi32, _mm256_sub_epi32, _mm256_unpacklo_epi32,
    _mm256_unpackhi_epi32,
    |register, BY| {
        let up = registers!(_mm256_sll_epi32(register.0, _mm_cvtsi32_si128(BY)));
        let down = registers!(_mm256_srl_epi32(register.0, _mm_cvtsi32_si128(32 - BY)));
        B256::of(up) | B256::of(down)
    }
);
words!(
    [] B512, _mm512_add_epi32, _mm512_sub_epi32, _mm512_unpacklo_epi32, _mm512_unpackhi_epi32,
    |register, BY| B512::of(registers!(_mm512_rol_epi32::<BY>(register.0)))
);

#[inline(always)]
fn load<K: Kind>(bytes: &[u8; 32]) -> B256<K> {
    // SAFETY: 32 bytes can be read; every caller has the token.
    B256::of(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
}

#[inline(always)]
fn store<K: Kind>(register: B256<K>, bytes: &mut [u8; 32]) {
    // SAFETY: 32 bytes can be written; the value proves that there is AVX2.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), register.0) }
}

word_lanes!([] Sse2, B128<Sse2>, 16, U4, sse2::load, sse2::store);
word_lanes!([] AesNi, B128<AesNi>, 16, U4, sse2::load, sse2::store);
word_lanes!([K: Kind] K, B256<K>, 32, U8, load, store);
word_lanes!([] Avx512, B512, 64, U16, avx512::load, avx512::store);
