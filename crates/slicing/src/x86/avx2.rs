//! AVX2: 256 bits, with whatever instructions for S-boxes there are besides.
//!
//! Without GFNI an affine map is two look-ups of a nibble each, in a register, and inversion is what
//! AES instructions compute, their own affine map undone by the next one. Neither branches, nor
//! reads memory at an address that depends on data.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::{
    arch::x86_64::{
        __m128i, __m256i, _mm_aesenclast_si128, _mm_cvtsi32_si128, _mm_loadu_si128,
        _mm_setzero_si128, _mm256_add_epi8, _mm256_aesenclast_epi128, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_castsi128_si256, _mm256_castsi256_si128,
        _mm256_extract_epi64, _mm256_extracti128_si256, _mm256_gf2p8affine_epi64_epi8,
        _mm256_gf2p8affineinv_epi64_epi8, _mm256_inserti128_si256, _mm256_or_si256,
        _mm256_set_epi64x, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sll_epi64, _mm256_srl_epi64,
        _mm256_storeu2_m128i, _mm256_sub_epi8, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8,
        _mm256_xor_si256,
    },
    fmt,
    marker::PhantomData,
};

use cipher::consts::{U32, U256};

use super::{detect::Features, isa, registers, word_operators};
use crate::{
    BitLanes, ByteLanes, Bytes, FieldBytes, Isa, SplatBytes, Word,
    bits::{self, Columns, LANE_BITS},
    bytes::check,
    matrix, wide,
};

isa!(
    /// 256 bits, without instructions for S-boxes.
    Avx2, "avx2", "this CPU has no AVX2", Features::AVX2
);
isa!(
    /// 256 bits, with AES instructions on 128.
    Avx2Aes, "avx2,aes", "this CPU has no AVX2 or no AES instructions",
    Features::AVX2 | Features::AES
);
isa!(
    /// 256 bits, with AES instructions on as many.
    Avx2Vaes, "avx2,aes,vaes", "this CPU has no AVX2 or no AES instructions for it (VAES)",
    Features::AVX2 | Features::VAES
);
isa!(
    /// 256 bits, with the instructions of GFNI and AES.
    Avx2Gfni, "avx2,aes,vaes,gfni",
    "this CPU has no AVX2, or no instructions for bytes (GFNI) or AES (VAES) for it",
    Features::AVX2 | Features::VAES | Features::GFNI
);

/// Which instructions for S-boxes come with AVX2.
pub trait Kind: Isa {
    /// Affine maps and inversion.
    const GFNI: bool = false;
    /// AES on 256 bits.
    const VAES: bool = false;
}

impl Kind for Avx2 {}
impl Kind for Avx2Aes {}
impl Kind for Avx2Vaes {
    const VAES: bool = true;
}
impl Kind for Avx2Gfni {
    const GFNI: bool = true;
    const VAES: bool = true;
}

/// A register of 256 bits on a CPU with the instructions `K`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct B256<K>(pub(super) __m256i, PhantomData<K>);

impl<K> fmt::Debug for B256<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("B256 { .. }")
    }
}

impl<K> From<__m256i> for B256<K> {
    #[inline(always)]
    fn from(register: __m256i) -> Self {
        Self(register, PhantomData)
    }
}

word_operators!(
    [K: Kind] B256<K>, _mm256_xor_si256, _mm256_and_si256, _mm256_or_si256, _mm256_set1_epi32(-1)
);

impl<K: Kind> Word for B256<K> {
    const TERNARY: bool = false;
}

impl<K: Kind> Columns for B256<K> {
    const BYTES: usize = 8;
    const COUNT: usize = 4;

    #[inline(always)]
    fn gather(bytes: &[u8], start: usize, stride: usize) -> Self {
        let [a, b, c, d] = wide::columns(bytes, start, stride);
        Self::from(registers!(_mm256_set_epi64x(d, c, b, a)))
    }

    #[inline(always)]
    fn scatter(self, bytes: &mut [u8], start: usize, stride: usize) {
        let columns = registers! {
            [
                _mm256_extract_epi64::<0>(self.0),
                _mm256_extract_epi64::<1>(self.0),
                _mm256_extract_epi64::<2>(self.0),
                _mm256_extract_epi64::<3>(self.0),
            ]
        };
        wide::put_columns(columns, bytes, start, stride);
    }

    #[inline(always)]
    fn exchange<const DISTANCE: u32>(low: &mut Self, high: &mut Self) {
        let mask = Self::from(registers!(_mm256_set1_epi64x(wide::mask(DISTANCE))));
        let by = registers!(_mm_cvtsi32_si128(DISTANCE as i32));
        let difference = (Self::from(registers!(_mm256_srl_epi64(low.0, by))) ^ *high) & mask;
        *high ^= difference;
        *low ^= Self::from(registers!(_mm256_sll_epi64(difference.0, by)));
    }
}

impl<K: Kind> BitLanes for K {
    type Word = B256<K>;
    type Lanes = U256;

    #[inline(always)]
    fn splat(self, mask: u32) -> B256<K> {
        B256::from(registers!(_mm256_set1_epi32(mask.cast_signed())))
    }

    #[inline(always)]
    fn lane_bit(self, bit: usize) -> B256<K> {
        B256::gather(&LANE_BITS[bit], 0, 8)
    }

    #[inline(always)]
    fn slice(self, blocks: &[u8], planes: &mut [B256<K>]) {
        bits::slice(blocks, planes);
    }

    #[inline(always)]
    fn unslice(self, planes: &mut [B256<K>], blocks: &mut [u8]) {
        bits::unslice(planes, blocks);
    }
}

/// The sum of three rotations, as a matrix.
struct Rotations<const A: u32, const B: u32, const C: u32>;

impl<const A: u32, const B: u32, const C: u32> Rotations<A, B, C> {
    const MATRIX: u64 = matrix::rotation(A) ^ matrix::rotation(B) ^ matrix::rotation(C);
}

impl<K: Kind> Bytes for B256<K> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::from(registers!(_mm256_add_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self::from(registers!(_mm256_sub_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        let kept = Self::from(registers!(_mm256_set1_epi32(wide::kept(BY))));
        let up = registers!(_mm256_sll_epi64(self.0, _mm_cvtsi32_si128(BY as i32)));
        let down = registers!(_mm256_srl_epi64(self.0, _mm_cvtsi32_si128(8 - BY as i32)));
        (Self::from(up) & kept) | (Self::from(down) & !kept)
    }

    #[inline(always)]
    fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
        if K::GFNI {
            let matrix = Rotations::<A, B, C>::MATRIX.cast_signed();
            Self::from(registers! {
                _mm256_gf2p8affine_epi64_epi8::<0>(self.0, _mm256_set1_epi64x(matrix))
            })
        } else {
            // Two look-ups cost less than three rotations.
            const { &Nibbles::new(Rotations::<A, B, C>::MATRIX, 0) }.look_up(self)
        }
    }
}

/// An affine map as its values on the lower nibble and on the upper one.
struct Nibbles {
    low: [u8; 16],
    high: [u8; 16],
}

impl Nibbles {
    const fn new(matrix: u64, constant: u8) -> Self {
        let mut tables = Self { low: [0; 16], high: [0; 16] };
        let mut nibble = 0;
        while nibble < 16 {
            tables.low[nibble] = matrix::apply(matrix, nibble as u8) ^ constant;
            tables.high[nibble] = matrix::apply(matrix, (nibble as u8) << 4);
            nibble += 1;
        }
        tables
    }

    #[inline(always)]
    fn look_up<K: Kind>(&self, bytes: B256<K>) -> B256<K> {
        let nibble = B256::from(registers!(_mm256_set1_epi8(0xf)));
        let by = registers!(_mm_cvtsi32_si128(4));
        let high = B256::<K>::from(registers!(_mm256_srl_epi64(bytes.0, by))) & nibble;
        let low = bytes & nibble;
        let table = |entries| registers!(_mm256_broadcastsi128_si256(load128(entries)));
        B256::from(registers!(_mm256_shuffle_epi8(table(&self.low), low.0)))
            ^ B256::from(registers!(_mm256_shuffle_epi8(table(&self.high), high.0)))
    }
}

#[inline(always)]
fn load128(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes can be read; every x86-64 CPU has the instruction.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// An affine map in the forms that GFNI and look-ups want; `AFTER_AES` has the affine map of the
/// AES S-box undone before.
struct Affine<const MATRIX: u64, const CONSTANT: i32>;

impl<const MATRIX: u64, const CONSTANT: i32> Affine<MATRIX, CONSTANT> {
    const ALONE: Nibbles = Nibbles::new(MATRIX, CONSTANT as u8);
    const AFTER_AES: Nibbles = {
        // FIPS 197, 5.1.1: inversion, then this matrix and 0x63.
        let undone = matrix::compose(MATRIX, matrix::inverse(0xf1e3_c78f_1f3e_7cf8));
        Nibbles::new(undone, matrix::apply(undone, 0x63) ^ CONSTANT as u8)
    };
}

/// The inverse of every byte under the affine map of the AES S-box.
#[inline(always)]
fn aes_sbox<K: Kind>(bytes: B256<K>) -> B256<K> {
    // The last round of AES with a key of zeros shifts rows, which is undone before.
    const UNSHIFTED: [u8; 16] = [0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3];
    let order = registers!(_mm256_broadcastsi128_si256(load128(&UNSHIFTED)));
    let bytes = registers!(_mm256_shuffle_epi8(bytes.0, order));
    B256::from(if K::VAES {
        registers!(_mm256_aesenclast_epi128(bytes, _mm256_setzero_si256()))
    } else {
        let half = |half| registers!(_mm_aesenclast_si128(half, _mm_setzero_si128()));
        let low = half(registers!(_mm256_castsi256_si128(bytes)));
        let high = half(registers!(_mm256_extracti128_si256::<1>(bytes)));
        registers!(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
    })
}

macro_rules! field_bytes {
    ($($by_aes:ident)*) => {$(
        impl FieldBytes for B256<$by_aes> {
            #[inline(always)]
            fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
                const { &Affine::<MATRIX, CONSTANT>::ALONE }.look_up(self)
            }

            #[inline(always)]
            fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
                const { &Affine::<MATRIX, CONSTANT>::AFTER_AES }.look_up(aes_sbox(self))
            }
        }
    )*};
}
field_bytes!(Avx2Aes Avx2Vaes);

impl FieldBytes for B256<Avx2Gfni> {
    #[inline(always)]
    fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let matrix = registers!(_mm256_set1_epi64x(MATRIX.cast_signed()));
        Self::from(registers!(_mm256_gf2p8affine_epi64_epi8::<CONSTANT>(self.0, matrix)))
    }

    #[inline(always)]
    fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let matrix = registers!(_mm256_set1_epi64x(MATRIX.cast_signed()));
        Self::from(registers!(_mm256_gf2p8affineinv_epi64_epi8::<CONSTANT>(self.0, matrix)))
    }
}

impl<K: Kind> wide::Interleave for B256<K> {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        registers! {
            [
                Self::from(_mm256_unpacklo_epi8(self.0, other.0)),
                Self::from(_mm256_unpackhi_epi8(self.0, other.0)),
            ]
        }
    }
}

impl<K: Kind> SplatBytes for K {
    type Bytes = B256<K>;

    #[inline(always)]
    fn splat(self, four: u32) -> B256<K> {
        BitLanes::splat(self, four)
    }
}

impl<K: Kind> ByteLanes for K {
    type Lanes = U32;

    #[inline(always)]
    fn slice(self, blocks: &[u8], bytes: &mut [B256<K>]) {
        check(blocks.len(), bytes.len(), 32);
        // Both halves of a register by themselves: block i in the lower, block i + 16 in the upper.
        let (low, high) = blocks.split_at(blocks.len() / 2);
        let rows = low.as_chunks::<16>().0.iter().zip(high.as_chunks::<16>().0);
        for (register, (low, high)) in bytes.iter_mut().zip(rows) {
            let [low, high] = [load128(low), load128(high)];
            *register = B256::from(registers! {
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
            });
        }
        wide::bytes_to_rows(bytes);
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [B256<K>], blocks: &mut [u8]) {
        check(blocks.len(), bytes.len(), 32);
        wide::rows_to_bytes(bytes);
        let (low, high) = blocks.split_at_mut(blocks.len() / 2);
        let rows = low.as_chunks_mut::<16>().0.iter_mut().zip(high.as_chunks_mut::<16>().0);
        for (register, (low, high)) in bytes.iter().zip(rows) {
            // SAFETY: 16 bytes can be written at both places; the value proves that there is AVX2.
            unsafe {
                _mm256_storeu2_m128i(high.as_mut_ptr().cast(), low.as_mut_ptr().cast(), register.0);
            }
        }
    }
}
