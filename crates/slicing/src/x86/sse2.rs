//! 128 bits: SSE2, on every x86-64 CPU, and AES instructions where there are, without AVX2.
//!
//! Of the CPUs that have AES instructions, Atoms, Celerons and what came before 2013 have no AVX2. As with it, an affine
//! map is two look-ups of a nibble each, in a register, and inversion is what AES instructions compute, their own
//! affine map undone by the next one.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::{
    arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_add_epi32, _mm_aesdeclast_si128, _mm_aesenclast_si128,
        _mm_and_si128, _mm_cmpgt_epi8, _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_loadu_si128,
        _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi32, _mm_setzero_si128,
        _mm_shuffle_epi8, _mm_sll_epi64, _mm_srl_epi64, _mm_storeu_si128, _mm_sub_epi8,
        _mm_unpackhi_epi8, _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_xor_si128,
    },
    marker::PhantomData,
};

use cipher::consts::{U16, U128};
#[cfg(target_feature = "sse2")]
use lanecrypt_core::AnyCpu;

use super::AesNi;
use crate::{
    BitLanes, BlockBytes, BlockLanes, ByteLanes, Bytes, FieldBytes, Isa, SplatBytes, Word,
    bits::{self, Columns, LANE_BITS},
    bytes::check,
    short,
    simd::{isa, registers, word_operators},
    wide::{self, Affine, Nibbles, Rotations, SHIFTED, Summands, UNSHIFTED},
};

isa!(
    /// 128 bits, without instructions for S-boxes.
    Sse2, "sse2", "no SSE2", |_| cfg!(target_feature = "sse2")
);

// A kernel may be built without.
#[cfg(target_feature = "sse2")]
impl AnyCpu for Sse2 {
    fn get() -> Self {
        Self(())
    }
}

/// Which instructions come with 128 bits.
pub trait Kind: Isa {
    /// Those of `AesNi`: bytes are shuffled, and AES.
    const AES: bool = false;
}

impl Kind for Sse2 {}
impl Kind for AesNi {
    const AES: bool = true;
}

/// A register of 128 bits on a CPU with the instructions `K`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct B128<K>(pub(super) __m128i, PhantomData<K>);

/// A block in a register, where there are AES instructions.
pub(super) type Block = B128<AesNi>;

impl<K> B128<K> {
    /// Crate-private: safe code can make a register without the token.
    #[inline(always)]
    pub(crate) fn of(register: __m128i) -> Self {
        Self(register, PhantomData)
    }
}

word_operators!([K: Kind] B128<K>, _mm_xor_si128, _mm_and_si128, _mm_or_si128, _mm_set1_epi32(-1));

impl<K: Kind> Word for B128<K> {
    const TERNARY: bool = false;
}

impl<K: Kind> Columns for B128<K> {
    const BYTES: usize = 8;
    const COUNT: usize = 2;

    #[inline(always)]
    fn gather(bytes: &[u8], start: usize, stride: usize) -> Self {
        let [low, high] = wide::columns(bytes, start, stride);
        Self::of(registers!(_mm_set_epi64x(high, low)))
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
        let mask = Self::of(registers!(_mm_set_epi64x(wide::mask(DISTANCE), wide::mask(DISTANCE))));
        let by = registers!(_mm_cvtsi32_si128(DISTANCE.cast_signed()));
        let difference = (Self::of(registers!(_mm_srl_epi64(low.0, by))) ^ *high) & mask;
        *high ^= difference;
        *low ^= Self::of(registers!(_mm_sll_epi64(difference.0, by)));
    }
}

impl<K: Kind> Bytes for B128<K> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::of(registers!(_mm_add_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self::of(registers!(_mm_sub_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        let kept = Self::of(registers!(_mm_set1_epi32(wide::kept(BY))));
        let up = registers!(_mm_sll_epi64(self.0, _mm_cvtsi32_si128(BY.cast_signed())));
        let down = registers!(_mm_srl_epi64(self.0, _mm_cvtsi32_si128(8 - BY.cast_signed())));
        (Self::of(up) & kept) | (Self::of(down) & !kept)
    }

    #[inline(always)]
    fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
        if K::AES {
            // Two look-ups cost less than three rotations.
            look_up(const { &Nibbles::new(Rotations::<A, B, C>::MATRIX, 0) }, self)
        } else {
            self.rotate_left::<A>() ^ self.rotate_left::<B>() ^ self.rotate_left::<C>()
        }
    }
}

/// An affine map of every byte, by two look-ups in a register.
#[inline(always)]
fn look_up<K: Kind>(map: &Nibbles, bytes: B128<K>) -> B128<K> {
    assert!(K::AES, "it shuffles bytes");
    if map.is_identity {
        return bytes;
    }
    let nibble = B128::of(registers!(_mm_set1_epi8(0xf)));
    let by = registers!(_mm_cvtsi32_si128(4));
    let high = B128::<K>::of(registers!(_mm_srl_epi64(bytes.0, by))) & nibble;
    let low = bytes & nibble;
    B128::of(registers!(_mm_shuffle_epi8(load::<K>(&map.low).0, low.0)))
        ^ B128::of(registers!(_mm_shuffle_epi8(load::<K>(&map.high).0, high.0)))
}

#[inline(always)]
fn shuffle(bytes: Block, order: &[u8; 16]) -> Block {
    B128::of(registers!(_mm_shuffle_epi8(bytes.0, load::<AesNi>(order).0)))
}

impl FieldBytes for Block {
    #[inline(always)]
    fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        look_up(const { &Affine::<MATRIX, CONSTANT>::ALONE }, self)
    }

    #[inline(always)]
    fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let after = const { &Affine::<MATRIX, CONSTANT>::AFTER_AES };
        let bytes = shuffle(self, &UNSHIFTED).0;
        look_up(after, Self::of(registers!(_mm_aesenclast_si128(bytes, _mm_setzero_si128()))))
    }

    #[inline(always)]
    fn affine_inverse<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let before = const { &Affine::<MATRIX, CONSTANT>::BEFORE_AES };
        let bytes = shuffle(look_up(before, self), &SHIFTED).0;
        Self::of(registers!(_mm_aesdeclast_si128(bytes, _mm_setzero_si128())))
    }

    /// A comparison says minus one, where a map would take six operations.
    #[inline(always)]
    fn add_top_bit(self, carry: Self) -> Self {
        self.subtract(Self::of(registers!(_mm_cmpgt_epi8(_mm_setzero_si128(), carry.0))))
    }
}

impl BlockBytes for Block {
    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        Self::of(registers!(_mm_add_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn shuffled<const ORDER: u128>(self) -> Self {
        shuffle(self, const { &ORDER.to_le_bytes() })
    }

    #[inline(always)]
    fn mixed<const LOW: u64, const HIGH: u64>(self) -> Self {
        let orders = const { &Summands::<LOW, HIGH>::ORDERS };
        let mut sums = shuffle(self, &orders[0]);
        for order in &orders[1..Summands::<LOW, HIGH>::COUNT] {
            sums ^= shuffle(self, order);
        }
        sums
    }
}

impl BlockLanes for AesNi {
    const BLOCKS: usize = 1;
    const MATRICES: bool = false;

    #[inline(always)]
    fn broadcast(self, block: &[u8; 16]) -> Block {
        load(block)
    }

    #[inline(always)]
    fn load(self, blocks: &[u8]) -> Block {
        short::check(blocks.len(), Self::BLOCKS);
        match blocks.as_chunks::<16>().0 {
            [block] => load(block),
            _ => B128::of(registers!(_mm_setzero_si128())),
        }
    }

    #[inline(always)]
    fn store(self, register: Block, blocks: &mut [u8]) {
        short::check(blocks.len(), Self::BLOCKS);
        if let [block] = blocks.as_chunks_mut::<16>().0 {
            store(register, block);
        }
    }
}

impl<K: Kind> wide::Interleave for B128<K> {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        registers! {
            [Self::of(_mm_unpacklo_epi8(self.0, other.0)), Self::of(_mm_unpackhi_epi8(self.0, other.0))]
        }
    }
}

/// The bytes of memory as a register.
#[inline(always)]
pub(super) fn load<K>(bytes: &[u8; 16]) -> B128<K> {
    // SAFETY: 16 bytes can be read; every x86-64 CPU has the instruction.
    B128::of(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[inline(always)]
pub(super) fn store<K: Kind>(register: B128<K>, bytes: &mut [u8; 16]) {
    // SAFETY: 16 bytes can be written; every x86-64 CPU has the instruction.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), register.0) }
}

macro_rules! lanes {
    ($($isa:ident)*) => {$(
        impl BitLanes for $isa {
            type Word = B128<$isa>;
            type Lanes = U128;

            #[inline(always)]
            fn splat(self, mask: u32) -> B128<$isa> {
                B128::of(registers!(_mm_set1_epi32(mask.cast_signed())))
            }

            #[inline(always)]
            fn lane_bit(self, bit: usize) -> B128<$isa> {
                <B128<$isa>>::gather(&LANE_BITS[bit], 0, 8)
            }

            #[inline(always)]
            fn slice(self, blocks: &[u8], planes: &mut [B128<$isa>]) {
                bits::slice(blocks, planes);
            }

            #[inline(always)]
            fn unslice(self, planes: &mut [B128<$isa>], blocks: &mut [u8]) {
                bits::unslice(planes, blocks);
            }
        }

        impl SplatBytes for $isa {
            type Bytes = B128<$isa>;

            #[inline(always)]
            fn splat(self, four: u32) -> B128<$isa> {
                BitLanes::splat(self, four)
            }
        }

        impl ByteLanes for $isa {
            type Lanes = U16;

            #[inline(always)]
            fn slice(self, blocks: &[u8], bytes: &mut [B128<$isa>]) {
                check(blocks.len(), bytes.len(), 16);
                for (register, row) in bytes.iter_mut().zip(blocks.as_chunks::<16>().0) {
                    *register = load(row);
                }
                wide::bytes_to_rows(bytes);
            }

            #[inline(always)]
            fn unslice(self, bytes: &mut [B128<$isa>], blocks: &mut [u8]) {
                check(blocks.len(), bytes.len(), 16);
                wide::rows_to_bytes(bytes);
                for (register, row) in bytes.iter().zip(blocks.as_chunks_mut::<16>().0) {
                    store(*register, row);
                }
            }
        }
    )*};
}
lanes!(Sse2 AesNi);
