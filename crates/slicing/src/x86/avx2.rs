//! AVX2: 256 bits, with whatever instructions for S-boxes there are besides.
//!
//! Without GFNI an affine map is two look-ups of a nibble each, in a register, and inversion is what
//! AES instructions compute, their own affine map undone by the next one. Neither branches, nor
//! reads memory at an address that depends on data.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::{
    arch::x86_64::{
        __m128i, __m256i, _mm_aesdeclast_si128, _mm_aesenclast_si128, _mm_cvtsi32_si128,
        _mm_loadu_si128, _mm_setzero_si128, _mm_storeu_si128, _mm256_add_epi8, _mm256_add_epi32,
        _mm256_aesdeclast_epi128, _mm256_aesenclast_epi128, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_castsi128_si256, _mm256_castsi256_si128,
        _mm256_cmpgt_epi8, _mm256_extract_epi64, _mm256_extracti128_si256,
        _mm256_gf2p8affine_epi64_epi8, _mm256_gf2p8affineinv_epi64_epi8, _mm256_inserti128_si256,
        _mm256_loadu_si256, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8,
        _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8,
        _mm256_sll_epi64, _mm256_srl_epi64, _mm256_storeu_si256, _mm256_sub_epi8,
        _mm256_unpackhi_epi8, _mm256_unpacklo_epi8, _mm256_xor_si256, _mm256_zextsi128_si256,
    },
    marker::PhantomData,
};

use cipher::{
    Array, InOutBuf,
    array::ArraySize,
    consts::{U32, U256},
};

use super::detect::Features;
use crate::{
    BitLanes, BlockBytes, BlockLanes, ByteLanes, Bytes, FieldBytes, Isa, SplatBytes, Word,
    bits::{self, Columns, LANE_BITS},
    bytes::check,
    matrix, short,
    simd::{isa, registers, word_operators},
    wide::{self, Affine, Nibbles, Rotations, SHIFTED, Summands, UNSHIFTED},
};

isa!(
    /// 256 bits, without instructions for S-boxes.
    Avx2, "avx2", "this CPU has no AVX2", |found| found.has(Features::AVX2)
);
isa!(
    /// 256 bits, with AES instructions on 128.
    Avx2Aes, "avx2,aes,pclmulqdq", "this CPU has no AVX2 or no AES instructions",
    |found| found.has(Features::AVX2 | Features::AES)
);
isa!(
    /// 256 bits, with AES instructions on as many.
    Avx2Vaes, "avx2,aes,vaes,pclmulqdq,vpclmulqdq", "this CPU has no AVX2 or no AES instructions for it (VAES)",
    |found| found.has(Features::AVX2 | Features::VAES)
);
isa!(
    /// 256 bits, with the instructions of GFNI and AES.
    Avx2Gfni, "avx2,aes,vaes,pclmulqdq,vpclmulqdq,gfni",
    "this CPU has no AVX2, or no instructions for bytes (GFNI) or AES (VAES) for it",
    |found| found.has(Features::AVX2 | Features::VAES | Features::GFNI)
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

impl<K> B256<K> {
    /// Crate-private: safe code can make a register without the token.
    #[inline(always)]
    pub(crate) fn of(register: __m256i) -> Self {
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
        Self::of(registers!(_mm256_set_epi64x(d, c, b, a)))
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
        let mask = Self::of(registers!(_mm256_set1_epi64x(wide::mask(DISTANCE))));
        let by = registers!(_mm_cvtsi32_si128(DISTANCE.cast_signed()));
        let difference = (Self::of(registers!(_mm256_srl_epi64(low.0, by))) ^ *high) & mask;
        *high ^= difference;
        *low ^= Self::of(registers!(_mm256_sll_epi64(difference.0, by)));
    }
}

impl<K: Kind> BitLanes for K {
    type Word = B256<K>;
    type Lanes = U256;

    #[inline(always)]
    fn splat(self, mask: u32) -> B256<K> {
        B256::of(registers!(_mm256_set1_epi32(mask.cast_signed())))
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

impl<K: Kind> Bytes for B256<K> {
    const ROTATIONS_AT_ONCE: bool = K::GFNI;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::of(registers!(_mm256_add_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self::of(registers!(_mm256_sub_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        let kept = Self::of(registers!(_mm256_set1_epi32(wide::kept(BY))));
        let up = registers!(_mm256_sll_epi64(self.0, _mm_cvtsi32_si128(BY.cast_signed())));
        let down = registers!(_mm256_srl_epi64(self.0, _mm_cvtsi32_si128(8 - BY.cast_signed())));
        (Self::of(up) & kept) | (Self::of(down) & !kept)
    }

    #[inline(always)]
    fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
        if K::GFNI {
            let matrix = Rotations::<A, B, C>::MATRIX.cast_signed();
            Self::of(registers! {
                _mm256_gf2p8affine_epi64_epi8::<0>(self.0, _mm256_set1_epi64x(matrix))
            })
        } else {
            // Two look-ups cost less than three rotations.
            look_up(const { &Nibbles::new(Rotations::<A, B, C>::MATRIX, 0) }, self)
        }
    }
}

/// An affine map of every byte, by two look-ups in a register.
#[inline(always)]
fn look_up<K: Kind>(map: &Nibbles, bytes: B256<K>) -> B256<K> {
    if map.is_identity {
        return bytes;
    }
    let nibble = B256::of(registers!(_mm256_set1_epi8(0xf)));
    let by = registers!(_mm_cvtsi32_si128(4));
    let high = B256::<K>::of(registers!(_mm256_srl_epi64(bytes.0, by))) & nibble;
    let low = bytes & nibble;
    let table = |entries| registers!(_mm256_broadcastsi128_si256(load128(entries)));
    B256::of(registers!(_mm256_shuffle_epi8(table(&map.low), low.0)))
        ^ B256::of(registers!(_mm256_shuffle_epi8(table(&map.high), high.0)))
}

#[inline(always)]
fn load128(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes can be read; every x86-64 CPU has the instruction.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The S-box of AES, or its inverse, by the instruction for a last round.
macro_rules! aes_sbox {
    ($name:ident, $unshifted:ident, $wide:ident, $half:ident) => {
        #[inline(always)]
        fn $name<K: Kind>(bytes: B256<K>) -> B256<K> {
            let bytes = shuffle(bytes, &$unshifted).0;
            B256::of(if K::VAES {
                registers!($wide(bytes, _mm256_setzero_si256()))
            } else {
                let half = |half| registers!($half(half, _mm_setzero_si128()));
                let low = half(registers!(_mm256_castsi256_si128(bytes)));
                let high = half(registers!(_mm256_extracti128_si256::<1>(bytes)));
                registers!(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
            })
        }
    };
}
aes_sbox!(aes_sbox, UNSHIFTED, _mm256_aesenclast_epi128, _mm_aesenclast_si128);
aes_sbox!(aes_sbox_inverse, SHIFTED, _mm256_aesdeclast_epi128, _mm_aesdeclast_si128);

/// A comparison says minus one, where a map would take six operations.
#[inline(always)]
fn add_top_bit<K: Kind>(bytes: B256<K>, carry: B256<K>) -> B256<K> {
    let minus_one = registers!(_mm256_cmpgt_epi8(_mm256_setzero_si256(), carry.0));
    bytes.subtract(B256::of(minus_one))
}

macro_rules! field_bytes {
    ($($by_aes:ident)*) => {$(
        impl FieldBytes for B256<$by_aes> {
            #[inline(always)]
            fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
                look_up(const { &Affine::<MATRIX, CONSTANT>::ALONE }, self)
            }

            #[inline(always)]
            fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
                let after = const { &Affine::<MATRIX, CONSTANT>::AFTER_AES };
                look_up(after, aes_sbox(self))
            }

            #[inline(always)]
            fn affine_inverse<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
                let before = const { &Affine::<MATRIX, CONSTANT>::BEFORE_AES };
                aes_sbox_inverse(look_up(before, self))
            }

            #[inline(always)]
            fn add_top_bit(self, carry: Self) -> Self {
                add_top_bit(self, carry)
            }
        }
    )*};
}
field_bytes!(Avx2Aes Avx2Vaes);

impl FieldBytes for B256<Avx2Gfni> {
    #[inline(always)]
    fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let matrix = registers!(_mm256_set1_epi64x(MATRIX.cast_signed()));
        Self::of(registers!(_mm256_gf2p8affine_epi64_epi8::<CONSTANT>(self.0, matrix)))
    }

    #[inline(always)]
    fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let matrix = registers!(_mm256_set1_epi64x(MATRIX.cast_signed()));
        Self::of(registers!(_mm256_gf2p8affineinv_epi64_epi8::<CONSTANT>(self.0, matrix)))
    }

    #[inline(always)]
    fn add_top_bit(self, carry: Self) -> Self {
        add_top_bit(self, carry)
    }

    #[inline(always)]
    fn masked<const BEFORE: u64, const AFTER: u64>(self, _mask: Self, matrix: u64) -> Self {
        let matrix = registers!(_mm256_set1_epi64x(matrix.cast_signed()));
        Self::of(registers!(_mm256_gf2p8affine_epi64_epi8::<0>(self.0, matrix)))
    }
}

#[inline(always)]
fn shuffle<K: Kind>(bytes: B256<K>, order: &[u8; 16]) -> B256<K> {
    let order = registers!(_mm256_broadcastsi128_si256(load128(order)));
    B256::of(registers!(_mm256_shuffle_epi8(bytes.0, order)))
}

impl<K: Kind> BlockBytes for B256<K>
where
    Self: FieldBytes,
{
    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        Self::of(registers!(_mm256_add_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn shuffled<const ORDER: u128>(self) -> Self {
        shuffle(self, const { &ORDER.to_le_bytes() })
    }

    #[inline(always)]
    fn mixed<const LOW: u64, const HIGH: u64>(self) -> Self {
        if K::GFNI {
            // As in `avx512`.
            let (low, high) =
                const { (matrix::rows(LOW).cast_signed(), matrix::rows(HIGH).cast_signed()) };
            let units = registers!(_mm256_set1_epi64x(matrix::UNITS.cast_signed()));
            let rows = registers!(_mm256_set_epi64x(high, low, high, low));
            let columns = registers!(_mm256_gf2p8affine_epi64_epi8::<0>(units, self.0));
            return Self::of(registers!(_mm256_gf2p8affine_epi64_epi8::<0>(rows, columns)));
        }
        let orders = const { &Summands::<LOW, HIGH>::ORDERS };
        let mut sums = shuffle(self, &orders[0]);
        for order in &orders[1..Summands::<LOW, HIGH>::COUNT] {
            sums ^= shuffle(self, order);
        }
        sums
    }
}

impl<K: Kind> BlockLanes for K
where
    B256<K>: FieldBytes,
{
    const BLOCKS: usize = 2;
    const MATRICES: bool = K::GFNI;

    #[inline(always)]
    fn broadcast(self, block: &[u8; 16]) -> B256<K> {
        B256::of(registers!(_mm256_broadcastsi128_si256(load128(block))))
    }

    #[inline(always)]
    fn load(self, blocks: &[u8]) -> B256<K> {
        short::check(blocks.len(), Self::BLOCKS);
        B256::of(match blocks.as_chunks::<16>().0 {
            // SAFETY: 32 bytes can be read; the token proves that there is AVX2.
            [_, _] => unsafe { _mm256_loadu_si256(blocks.as_ptr().cast()) },
            [block] => registers!(_mm256_zextsi128_si256(load128(block))),
            _ => registers!(_mm256_setzero_si256()),
        })
    }

    #[inline(always)]
    fn store(self, register: B256<K>, blocks: &mut [u8]) {
        short::check(blocks.len(), Self::BLOCKS);
        match blocks.as_chunks_mut::<16>().0 {
            // SAFETY: 32 bytes can be written; the value proves that there is AVX2.
            [_, _] => unsafe { _mm256_storeu_si256(blocks.as_mut_ptr().cast(), register.0) },
            [block] => store128(registers!(_mm256_castsi256_si128(register.0)), block),
            _ => {}
        }
    }
}

impl<K: Kind> wide::Interleave for B256<K> {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        registers! {
            [
                Self::of(_mm256_unpacklo_epi8(self.0, other.0)),
                Self::of(_mm256_unpackhi_epi8(self.0, other.0)),
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
        let [low, high] = [low.as_chunks::<16>().0, high.as_chunks::<16>().0];
        for (i, register) in bytes.iter_mut().enumerate() {
            *register = join([&low[i], &high[i]]);
        }
        wide::bytes_to_rows(bytes);
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [B256<K>], blocks: &mut [u8]) {
        check(blocks.len(), bytes.len(), 32);
        wide::rows_to_bytes(bytes);
        let (low, high) = blocks.split_at_mut(blocks.len() / 2);
        let [low, high] = [low.as_chunks_mut::<16>().0, high.as_chunks_mut::<16>().0];
        for (i, register) in bytes.iter().enumerate() {
            store128(registers!(_mm256_castsi256_si128(register.0)), &mut low[i]);
            store128(registers!(_mm256_extracti128_si256::<1>(register.0)), &mut high[i]);
        }
    }

    #[inline(always)]
    fn add_unsliced<N: ArraySize>(
        self,
        bytes: &mut [B256<K>],
        blocks: &mut InOutBuf<'_, '_, Array<u8, N>>,
    ) -> bool {
        check(N::USIZE * blocks.len(), bytes.len(), 32);
        wide::rows_to_bytes(bytes);
        for (i, register) in bytes.iter().enumerate() {
            let rows = [i, i + bytes.len()];
            let input = Array::slice_as_flattened(blocks.get_in()).as_chunks().0;
            let sum = *register ^ join([&input[rows[0]], &input[rows[1]]]);
            let output = Array::slice_as_flattened_mut(blocks.get_out()).as_chunks_mut().0;
            let halves = registers! {
                [_mm256_castsi256_si128(sum.0), _mm256_extracti128_si256::<1>(sum.0)]
            };
            for (row, half) in rows.into_iter().zip(halves) {
                store128(half, &mut output[row]);
            }
        }
        true
    }

    #[inline(always)]
    fn count(self, first: u128, bytes: &mut [B256<K>]) -> bool {
        let digits = first.to_be_bytes();
        let digits = &digits[16 - bytes.len()..];
        for (register, digit) in bytes.iter_mut().zip(digits) {
            *register = B256::of(registers!(_mm256_set1_epi8(digit.cast_signed())));
        }
        let last = bytes.len() - 1;
        let lanes = join([&LANE_NUMBERS[0], &LANE_NUMBERS[1]]);
        bytes[last] = bytes[last].add(lanes);
        // Lanes whose last byte has wrapped carry into the byte before, and on where that is full.
        // A counter is public, so that a branch on it is none on a secret.
        let unwrapped = (255 - digits[last]).cast_signed();
        if digits[last] < 128 {
            return true;
        }
        let carry = B256::of(registers! {
            _mm256_cmpgt_epi8(lanes.0, _mm256_set1_epi8(unwrapped))
        });
        for j in (0..last).rev() {
            bytes[j] = bytes[j].subtract(carry);
            if digits[j] != 0xff {
                break;
            }
        }
        true
    }
}

static LANE_NUMBERS: [[u8; 16]; 2] = {
    let mut numbers = [[0; 16]; 2];
    let mut i = 0;
    while i < 32 {
        numbers[i / 16][i % 16] = i as u8;
        i += 1;
    }
    numbers
};

/// A lower and an upper half.
#[inline(always)]
fn join<K: Kind>([low, high]: [&[u8; 16]; 2]) -> B256<K> {
    let [low, high] = [load128(low), load128(high)];
    B256::of(registers!(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)))
}

#[inline(always)]
fn store128(register: __m128i, bytes: &mut [u8; 16]) {
    // SAFETY: 16 bytes can be written; every x86-64 CPU has the instruction.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), register) }
}
