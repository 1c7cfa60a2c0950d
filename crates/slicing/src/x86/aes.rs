//! AES instructions on 128, 256 and 512 bits.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_aesdec_si128, _mm_aesdeclast_si128, _mm_aesenc_si128,
    _mm_aesenclast_si128, _mm_aesimc_si128, _mm_bslli_si128, _mm_bsrli_si128, _mm_clmulepi64_si128,
    _mm_set_epi8, _mm_set_epi64x, _mm_set1_epi64x, _mm_shuffle_epi8, _mm256_add_epi32,
    _mm256_add_epi64, _mm256_aesdec_epi128, _mm256_aesdeclast_epi128, _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128, _mm256_broadcastsi128_si256, _mm256_bslli_epi128,
    _mm256_bsrli_epi128, _mm256_castsi128_si256, _mm256_castsi256_si128, _mm256_clmulepi64_epi128,
    _mm256_extracti128_si256, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_set_epi64x,
    _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_storeu_si256, _mm512_add_epi32,
    _mm512_add_epi64, _mm512_aesdec_epi128, _mm512_aesdeclast_epi128, _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128, _mm512_broadcast_i32x4, _mm512_bslli_epi128, _mm512_bsrli_epi128,
    _mm512_castsi128_si512, _mm512_castsi512_si128, _mm512_clmulepi64_epi128,
    _mm512_extracti32x4_epi32, _mm512_inserti32x4, _mm512_set_epi64, _mm512_set1_epi64,
    _mm512_shuffle_epi8,
};

use cipher::consts::{U1, U2, U4};

use super::{
    Avx2Aes, Avx2Gfni, Avx2Vaes, Avx512, B256, B512,
    avx2::Kind,
    avx512,
    detect::Features,
    sse2::{self, Block},
};
use crate::{
    AesBlocks, AesKeySteps,
    simd::{isa, registers},
};

isa!(
    /// 128 bits, with AES instructions.
    AesNi, "aes,ssse3,pclmulqdq", "this CPU has no AES instructions",
    |found| found.has(Features::AES)
);

/// x^7 + x^2 + x + 1: what x^128 is.
const REDUCTION: i64 = 0x87;

/// The order that reverses the bytes of a block.
#[inline(always)]
pub(super) fn reversed() -> __m128i {
    registers!(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
}

/// A counter as a register, least significant byte first.
#[inline(always)]
fn counter(value: u128) -> __m128i {
    registers!(_mm_set_epi64x((value >> 64) as i64, value as i64))
}

/// Counter blocks where the low half of a counter wraps among them: one by one.
#[inline(always)]
fn count_slowly<const BYTES: usize>(first: u128) -> [u8; BYTES] {
    let mut blocks = [0; BYTES];
    for (i, block) in blocks.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        *block = first.wrapping_add(i as u128).to_be_bytes();
    }
    blocks
}

macro_rules! single_blocks {
    ($($isa:ident)*) => {$(
        impl AesBlocks for $isa {
            type Blocks = Block;
            type Lanes = U1;
            type Single = AesNi;

            #[inline(always)]
            fn single(self) -> AesNi {
                AesNi(())
            }

            #[inline(always)]
            fn join(self, [block, ..]: [Block; 4]) -> Block {
                block
            }

            #[inline(always)]
            fn split(self, register: Block) -> [Block; 4] {
                [register; 4]
            }

            #[inline(always)]
            fn broadcast(self, block: &[u8; 16]) -> Block {
                sse2::load(block)
            }

            #[inline(always)]
            fn load(self, blocks: &[u8]) -> Block {
                sse2::load(whole(blocks))
            }

            #[inline(always)]
            fn store(self, register: Block, blocks: &mut [u8]) {
                sse2::store(register, whole_mut(blocks));
            }

            #[inline(always)]
            fn add32(self, a: Block, b: Block) -> Block {
                Block::of(registers!(_mm_add_epi32(a.0, b.0)))
            }

            #[inline(always)]
            fn count(self, first: u128) -> Block {
                Block::of(registers!(_mm_shuffle_epi8(counter(first), reversed())))
            }

            #[inline(always)]
            fn times_x8(self, masks: Block) -> Block {
                Block::of(registers! {
                    let top = _mm_bsrli_si128::<15>(masks.0);
                    _mm_clmulepi64_si128::<0>(top, _mm_set1_epi64x(REDUCTION))
                }) ^ Block::of(registers!(_mm_bslli_si128::<1>(masks.0)))
            }

            #[inline(always)]
            fn encrypt_round(self, state: Block, key: Block) -> Block {
                Block::of(registers!(_mm_aesenc_si128(state.0, key.0)))
            }

            #[inline(always)]
            fn encrypt_last(self, state: Block, key: Block) -> Block {
                Block::of(registers!(_mm_aesenclast_si128(state.0, key.0)))
            }

            #[inline(always)]
            fn decrypt_round(self, state: Block, key: Block) -> Block {
                Block::of(registers!(_mm_aesdec_si128(state.0, key.0)))
            }

            #[inline(always)]
            fn decrypt_last(self, state: Block, key: Block) -> Block {
                Block::of(registers!(_mm_aesdeclast_si128(state.0, key.0)))
            }
        }
    )*};
}
single_blocks!(AesNi Avx2Aes);

impl AesKeySteps for AesNi {
    #[inline(always)]
    fn shuffle(self, block: Block, order: &[u8; 16]) -> Block {
        Block::of(registers!(_mm_shuffle_epi8(block.0, sse2::load::<AesNi>(order).0)))
    }

    #[inline(always)]
    fn inv_mix_columns(self, block: Block) -> Block {
        Block::of(registers!(_mm_aesimc_si128(block.0)))
    }
}

/// As many bytes as an array has.
#[inline(always)]
fn whole<const N: usize>(blocks: &[u8]) -> &[u8; N] {
    let Ok(array) = blocks.try_into() else { panic!("{} bytes for {N}", blocks.len()) };
    array
}

#[inline(always)]
fn whole_mut<const N: usize>(blocks: &mut [u8]) -> &mut [u8; N] {
    let length = blocks.len();
    let Ok(array) = blocks.try_into() else { panic!("{length} bytes for {N}") };
    array
}

#[inline(always)]
fn load256<K: Kind>(bytes: &[u8; 32]) -> B256<K> {
    // SAFETY: 32 bytes can be read; every caller has a token of AVX2.
    B256::of(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
}

macro_rules! pairs_of_blocks {
    ($($isa:ident)*) => {$(
        impl AesBlocks for $isa {
            type Blocks = B256<$isa>;
            type Lanes = U2;
            type Single = AesNi;

            #[inline(always)]
            fn single(self) -> AesNi {
                AesNi(()) // VAES comes with it
            }

            #[inline(always)]
            fn join(self, [low, high, ..]: [Block; 4]) -> Self::Blocks {
                B256::of(registers! {
                    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low.0), high.0)
                })
            }

            #[inline(always)]
            fn split(self, register: Self::Blocks) -> [Block; 4] {
                let low = Block::of(registers!(_mm256_castsi256_si128(register.0)));
                let high = Block::of(registers!(_mm256_extracti128_si256::<1>(register.0)));
                [low, high, low, low]
            }

            #[inline(always)]
            fn broadcast(self, block: &[u8; 16]) -> Self::Blocks {
                B256::of(registers!(_mm256_broadcastsi128_si256(sse2::load::<AesNi>(block).0)))
            }

            #[inline(always)]
            fn load(self, blocks: &[u8]) -> Self::Blocks {
                load256(whole(blocks))
            }

            #[inline(always)]
            fn store(self, register: Self::Blocks, blocks: &mut [u8]) {
                let blocks: &mut [u8; 32] = whole_mut(blocks);
                // SAFETY: 32 bytes can be written; the value proves that there is AVX2.
                unsafe { _mm256_storeu_si256(blocks.as_mut_ptr().cast(), register.0) }
            }

            #[inline(always)]
            fn add32(self, a: Self::Blocks, b: Self::Blocks) -> Self::Blocks {
                B256::of(registers!(_mm256_add_epi32(a.0, b.0)))
            }

            #[inline(always)]
            fn count(self, first: u128) -> Self::Blocks {
                // A counter is public, so that a branch on it is none on a secret.
                if first as u64 == u64::MAX {
                    return load256(&count_slowly(first));
                }
                B256::of(registers! {
                    let first = _mm256_broadcastsi128_si256(counter(first));
                    let counters = _mm256_add_epi64(first, _mm256_set_epi64x(0, 1, 0, 0));
                    _mm256_shuffle_epi8(counters, _mm256_broadcastsi128_si256(reversed()))
                })
            }

            #[inline(always)]
            fn times_x8(self, masks: Self::Blocks) -> Self::Blocks {
                B256::of(registers! {
                    let top = _mm256_bsrli_epi128::<15>(masks.0);
                    _mm256_clmulepi64_epi128::<0>(top, _mm256_set1_epi64x(REDUCTION))
                }) ^ B256::of(registers!(_mm256_bslli_epi128::<1>(masks.0)))
            }

            #[inline(always)]
            fn encrypt_round(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
                B256::of(registers!(_mm256_aesenc_epi128(state.0, key.0)))
            }

            #[inline(always)]
            fn encrypt_last(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
                B256::of(registers!(_mm256_aesenclast_epi128(state.0, key.0)))
            }

            #[inline(always)]
            fn decrypt_round(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
                B256::of(registers!(_mm256_aesdec_epi128(state.0, key.0)))
            }

            #[inline(always)]
            fn decrypt_last(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
                B256::of(registers!(_mm256_aesdeclast_epi128(state.0, key.0)))
            }
        }
    )*};
}
pairs_of_blocks!(Avx2Vaes Avx2Gfni);

impl AesBlocks for Avx512 {
    type Blocks = B512;
    type Lanes = U4;
    type Single = AesNi;

    #[inline(always)]
    fn single(self) -> AesNi {
        AesNi(()) // VAES comes with it
    }

    #[inline(always)]
    fn join(self, [a, b, c, d]: [Block; 4]) -> B512 {
        B512(registers! {
            let register = _mm512_castsi128_si512(a.0);
            let register = _mm512_inserti32x4::<1>(register, b.0);
            let register = _mm512_inserti32x4::<2>(register, c.0);
            _mm512_inserti32x4::<3>(register, d.0)
        })
    }

    #[inline(always)]
    fn split(self, register: B512) -> [Block; 4] {
        [
            Block::of(registers!(_mm512_castsi512_si128(register.0))),
            Block::of(registers!(_mm512_extracti32x4_epi32::<1>(register.0))),
            Block::of(registers!(_mm512_extracti32x4_epi32::<2>(register.0))),
            Block::of(registers!(_mm512_extracti32x4_epi32::<3>(register.0))),
        ]
    }

    #[inline(always)]
    fn broadcast(self, block: &[u8; 16]) -> B512 {
        B512(registers!(_mm512_broadcast_i32x4(sse2::load::<AesNi>(block).0)))
    }

    #[inline(always)]
    fn load(self, blocks: &[u8]) -> B512 {
        avx512::load(whole(blocks))
    }

    #[inline(always)]
    fn store(self, register: B512, blocks: &mut [u8]) {
        avx512::store(register, whole_mut(blocks));
    }

    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> B512 {
        avx512::load_part(bytes)
    }

    #[inline(always)]
    fn store_part(self, register: B512, bytes: &mut [u8]) {
        avx512::store_part(register, bytes);
    }

    #[inline(always)]
    fn add32(self, a: B512, b: B512) -> B512 {
        B512(registers!(_mm512_add_epi32(a.0, b.0)))
    }

    #[inline(always)]
    fn count(self, first: u128) -> B512 {
        // A counter is public, so that a branch on it is none on a secret.
        if first as u64 > u64::MAX - 3 {
            return avx512::load(&count_slowly(first));
        }
        B512(registers! {
            let first = _mm512_broadcast_i32x4(counter(first));
            let counters = _mm512_add_epi64(first, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
            _mm512_shuffle_epi8(counters, _mm512_broadcast_i32x4(reversed()))
        })
    }

    #[inline(always)]
    fn times_x8(self, masks: B512) -> B512 {
        B512(registers! {
            let top = _mm512_bsrli_epi128::<15>(masks.0);
            _mm512_clmulepi64_epi128::<0>(top, _mm512_set1_epi64(REDUCTION))
        }) ^ B512(registers!(_mm512_bslli_epi128::<1>(masks.0)))
    }

    #[inline(always)]
    fn encrypt_round(self, state: B512, key: B512) -> B512 {
        B512(registers!(_mm512_aesenc_epi128(state.0, key.0)))
    }

    #[inline(always)]
    fn encrypt_last(self, state: B512, key: B512) -> B512 {
        B512(registers!(_mm512_aesenclast_epi128(state.0, key.0)))
    }

    #[inline(always)]
    fn decrypt_round(self, state: B512, key: B512) -> B512 {
        B512(registers!(_mm512_aesdec_epi128(state.0, key.0)))
    }

    #[inline(always)]
    fn decrypt_last(self, state: B512, key: B512) -> B512 {
        B512(registers!(_mm512_aesdeclast_epi128(state.0, key.0)))
    }
}
