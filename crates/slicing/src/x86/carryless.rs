//! Products of polynomials over GF(2) on 128, 256 and 512 bits.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::arch::x86_64::{
    _mm_bslli_si128, _mm_bsrli_si128, _mm_clmulepi64_si128, _mm_shuffle_epi8, _mm_shuffle_epi32,
    _mm_xor_si128, _mm256_broadcastsi128_si256, _mm256_bslli_epi128, _mm256_bsrli_epi128,
    _mm256_castsi256_si128, _mm256_clmulepi64_epi128, _mm256_extracti128_si256,
    _mm256_shuffle_epi8, _mm256_shuffle_epi32, _mm256_xor_si256, _mm256_zextsi128_si256,
    _mm512_broadcast_i32x4, _mm512_bslli_epi128, _mm512_bsrli_epi128, _mm512_castsi512_si256,
    _mm512_clmulepi64_epi128, _mm512_extracti64x4_epi64, _mm512_shuffle_epi8, _mm512_shuffle_epi32,
    _mm512_zextsi128_si512,
};

use super::{AesNi, Avx2Aes, Avx2Gfni, Avx2Vaes, Avx512, B256, B512, aes::reversed, sse2::Block};
use crate::{AesBlocks, Carryless, simd::registers};

/// Parts of 32 bits in the order 2, 3, 0, 1.
const EXCHANGED: i32 = 0x4e;

/// The operations that have the same shape at every width.
macro_rules! at_every_width {
    (
        $register:ident: $shuffle8:ident $shuffle32:ident $up:ident $down:ident $multiply:ident
        |$order:ident| $wide_order:expr
    ) => {
        #[inline(always)]
        fn reverse(self, blocks: Self::Blocks) -> Self::Blocks {
            $register::of(registers! {
                let $order = reversed();
                $shuffle8(blocks.0, $wide_order)
            })
        }

        #[inline(always)]
        fn exchange(self, blocks: Self::Blocks) -> Self::Blocks {
            $register::of(registers!($shuffle32::<EXCHANGED>(blocks.0)))
        }

        #[inline(always)]
        fn low_up(self, blocks: Self::Blocks) -> Self::Blocks {
            $register::of(registers!($up::<8>(blocks.0)))
        }

        #[inline(always)]
        fn high_down(self, blocks: Self::Blocks) -> Self::Blocks {
            $register::of(registers!($down::<8>(blocks.0)))
        }

        #[inline(always)]
        fn multiply<const HALVES: i32>(self, a: Self::Blocks, b: Self::Blocks) -> Self::Blocks {
            $register::of(registers!($multiply::<HALVES>(a.0, b.0)))
        }
    };
}

macro_rules! single_blocks {
    ($($isa:ident)*) => {$(
        impl Carryless for $isa {
            type One = AesNi;

            #[inline(always)]
            fn one(self) -> AesNi {
                self.single()
            }

            #[inline(always)]
            fn widen(self, block: Block) -> Block {
                block
            }

            #[inline(always)]
            fn sum(self, block: Block) -> Block {
                block
            }

            at_every_width!(
                Block: _mm_shuffle_epi8 _mm_shuffle_epi32 _mm_bslli_si128 _mm_bsrli_si128
                _mm_clmulepi64_si128 |order| order
            );
        }
    )*};
}
single_blocks!(AesNi Avx2Aes);

macro_rules! pairs_of_blocks {
    ($($isa:ident)*) => {$(
        impl Carryless for $isa {
            type One = AesNi;

            #[inline(always)]
            fn one(self) -> AesNi {
                self.single()
            }

            #[inline(always)]
            fn widen(self, block: Block) -> Self::Blocks {
                B256::of(registers!(_mm256_zextsi128_si256(block.0)))
            }

            #[inline(always)]
            fn sum(self, blocks: Self::Blocks) -> Block {
                Block::of(registers! {
                    let high = _mm256_extracti128_si256::<1>(blocks.0);
                    _mm_xor_si128(_mm256_castsi256_si128(blocks.0), high)
                })
            }

            at_every_width!(
                B256: _mm256_shuffle_epi8 _mm256_shuffle_epi32 _mm256_bslli_epi128
                _mm256_bsrli_epi128 _mm256_clmulepi64_epi128
                |order| _mm256_broadcastsi128_si256(order)
            );
        }
    )*};
}
pairs_of_blocks!(Avx2Vaes Avx2Gfni);

impl Carryless for Avx512 {
    type One = AesNi;

    #[inline(always)]
    fn one(self) -> AesNi {
        self.single()
    }

    #[inline(always)]
    fn widen(self, block: Block) -> B512 {
        B512::of(registers!(_mm512_zextsi128_si512(block.0)))
    }

    #[inline(always)]
    fn sum(self, blocks: B512) -> Block {
        Block::of(registers! {
            let high = _mm512_extracti64x4_epi64::<1>(blocks.0);
            let sum = _mm256_xor_si256(_mm512_castsi512_si256(blocks.0), high);
            _mm_xor_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum))
        })
    }

    at_every_width!(
        B512: _mm512_shuffle_epi8 _mm512_shuffle_epi32 _mm512_bslli_epi128 _mm512_bsrli_epi128
        _mm512_clmulepi64_epi128 |order| _mm512_broadcast_i32x4(order)
    );
}
