//! NEON: 128 bits, on every 64-bit ARM CPU, and with AES instructions where there are.
//!
//! As with AVX2, an affine map is two look-ups of a nibble each, in a register, and inversion is what
//! the AES instruction computes, its own affine map undone by the next one.

#![allow(
    clippy::inline_always,
    inline_always_mismatching_target_features,
    reason = "an operation is an instruction, inlined into the region that has it"
)]

use core::{
    arch::aarch64::{
        uint8x16_t, vaddq_u8, vaddq_u32, vaesdq_u8, vaeseq_u8, vaesimcq_u8, vaesmcq_u8, vandq_u8,
        vcombine_u64, vcreate_u64, vdup_n_p8, vdupq_n_s8, vdupq_n_s64, vdupq_n_u8, vdupq_n_u32,
        veorq_u8, vextq_u8, vget_low_u8, vgetq_lane_u64, vld1q_u8, vmull_p8, vmull_p64, vorrq_u8,
        vqtbl1q_u8, vreinterpret_p8_u8, vreinterpretq_u8_p16, vreinterpretq_u8_p128,
        vreinterpretq_u8_u32, vreinterpretq_u8_u64, vreinterpretq_u32_u8, vreinterpretq_u64_u8,
        vshlq_u8, vshlq_u64, vsraq_n_u8, vst1q_u8, vsubq_u8, vzip1q_u8, vzip2q_u8,
    },
    marker::PhantomData,
};

use cipher::consts::{U1, U16, U128};

use crate::{
    AesBlocks, AesKeySteps, BitLanes, BlockBytes, BlockLanes, ByteLanes, Bytes, Carryless,
    FieldBytes, Isa, SplatBytes, Word,
    bits::{self, Columns, LANE_BITS},
    bytes::check,
    short,
    simd::{isa, registers, word_operators},
    wide::{self, Affine, Nibbles, Rotations, SHIFTED, Summands, UNSHIFTED},
};

mod words;

cpufeatures::new!(aes_instructions, "aes");

isa!(
    /// 128 bits, without instructions for S-boxes.
    Neon, "neon", "this target has no NEON", |_| cfg!(target_feature = "neon")
);
isa!(
    /// 128 bits, with AES instructions.
    NeonAes, "neon,aes", "this CPU has no AES instructions",
    |_| cfg!(target_feature = "neon") && aes_instructions::get()
);

/// Which instructions for S-boxes come with NEON.
pub trait Kind: Isa {}
impl Kind for Neon {}
impl Kind for NeonAes {}

/// A register of 128 bits on a CPU with the instructions `K`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct B128<K>(uint8x16_t, PhantomData<K>);

impl<K> B128<K> {
    /// Crate-private: safe code can make a register without the token.
    #[inline(always)]
    pub(crate) fn of(register: uint8x16_t) -> Self {
        Self(register, PhantomData)
    }
}

word_operators!([K: Kind] B128<K>, veorq_u8, vandq_u8, vorrq_u8, vdupq_n_u8(0xff));

impl<K: Kind> Word for B128<K> {
    const TERNARY: bool = false;
}

impl<K: Kind> Columns for B128<K> {
    const BYTES: usize = 8;
    const COUNT: usize = 2;

    #[inline(always)]
    fn gather(bytes: &[u8], start: usize, stride: usize) -> Self {
        let [low, high] = wide::columns(bytes, start, stride).map(i64::cast_unsigned);
        Self::of(registers! {
            vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)))
        })
    }

    #[inline(always)]
    fn scatter(self, bytes: &mut [u8], start: usize, stride: usize) {
        let [low, high] = registers! {
            let pair = vreinterpretq_u64_u8(self.0);
            [vgetq_lane_u64::<0>(pair), vgetq_lane_u64::<1>(pair)]
        };
        wide::put_columns([low.cast_signed(), high.cast_signed()], bytes, start, stride);
    }

    #[inline(always)]
    fn exchange<const DISTANCE: u32>(low: &mut Self, high: &mut Self) {
        let mask = Self::of(registers! {
            vreinterpretq_u8_u64(vcombine_u64(
                vcreate_u64(wide::mask(DISTANCE).cast_unsigned()),
                vcreate_u64(wide::mask(DISTANCE).cast_unsigned()),
            ))
        });
        let by = i64::from(DISTANCE);
        let difference = (shifted_columns(*low, -by) ^ *high) & mask;
        *high ^= difference;
        *low ^= shifted_columns(difference, by);
    }
}

/// Every 64 bits shifted upwards, or downwards by a negative number.
#[inline(always)]
fn shifted_columns<K: Kind>(register: B128<K>, by: i64) -> B128<K> {
    B128::of(registers! {
        vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(register.0), vdupq_n_s64(by)))
    })
}

/// Every byte shifted upwards, or downwards by a negative number.
#[inline(always)]
fn shifted_bytes<K: Kind>(register: B128<K>, by: i8) -> B128<K> {
    B128::of(registers!(vshlq_u8(register.0, vdupq_n_s8(by))))
}

impl<K: Kind> BitLanes for K {
    type Word = B128<K>;
    type Lanes = U128;

    #[inline(always)]
    fn splat(self, mask: u32) -> B128<K> {
        B128::of(registers!(vreinterpretq_u8_u32(vdupq_n_u32(mask))))
    }

    #[inline(always)]
    fn lane_bit(self, bit: usize) -> B128<K> {
        B128::gather(&LANE_BITS[bit], 0, 8)
    }

    #[inline(always)]
    fn slice(self, blocks: &[u8], planes: &mut [B128<K>]) {
        bits::slice(blocks, planes);
    }

    #[inline(always)]
    fn unslice(self, planes: &mut [B128<K>], blocks: &mut [u8]) {
        bits::unslice(planes, blocks);
    }
}

impl<K: Kind> Bytes for B128<K> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::of(registers!(vaddq_u8(self.0, other.0)))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self::of(registers!(vsubq_u8(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        let by = (BY as u8).cast_signed();
        shifted_bytes(self, by) | shifted_bytes(self, by - 8)
    }

    #[inline(always)]
    fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
        // Two look-ups cost less than three rotations.
        look_up(const { &Nibbles::new(Rotations::<A, B, C>::MATRIX, 0) }, self)
    }
}

/// An affine map of every byte, by two look-ups in a register.
#[inline(always)]
fn look_up<K: Kind>(map: &Nibbles, bytes: B128<K>) -> B128<K> {
    if map.is_identity {
        return bytes;
    }
    let low = bytes & B128::of(registers!(vdupq_n_u8(0xf)));
    let high = shifted_bytes(bytes, -4);
    B128::of(registers!(vqtbl1q_u8(load(&map.low), low.0)))
        ^ B128::of(registers!(vqtbl1q_u8(load(&map.high), high.0)))
}

impl FieldBytes for B128<NeonAes> {
    #[inline(always)]
    fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        look_up(const { &Affine::<MATRIX, CONSTANT>::ALONE }, self)
    }

    #[inline(always)]
    fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let after = const { &Affine::<MATRIX, CONSTANT>::AFTER_AES };
        look_up(after, encrypted(shuffle(self, &UNSHIFTED)))
    }

    #[inline(always)]
    fn affine_inverse<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let before = const { &Affine::<MATRIX, CONSTANT>::BEFORE_AES };
        decrypted(shuffle(look_up(before, self), &SHIFTED))
    }

    #[inline(always)]
    fn add_top_bit(self, carry: Self) -> Self {
        Self::of(registers!(vsraq_n_u8::<7>(self.0, carry.0)))
    }
}

/// `SubBytes` and `ShiftRows` of AES.
#[inline(always)]
fn encrypted(state: B128<NeonAes>) -> B128<NeonAes> {
    B128::of(registers!(vaeseq_u8(state.0, vdupq_n_u8(0))))
}

/// The inverse of [`encrypted`].
#[inline(always)]
fn decrypted(state: B128<NeonAes>) -> B128<NeonAes> {
    B128::of(registers!(vaesdq_u8(state.0, vdupq_n_u8(0))))
}

#[inline(always)]
fn shuffle<K: Kind>(bytes: B128<K>, order: &[u8; 16]) -> B128<K> {
    B128::of(registers!(vqtbl1q_u8(bytes.0, load(order))))
}

impl BlockBytes for B128<NeonAes> {
    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        Self::of(registers! {
            vreinterpretq_u8_u32(vaddq_u32(
                vreinterpretq_u32_u8(self.0),
                vreinterpretq_u32_u8(other.0),
            ))
        })
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

impl BlockLanes for NeonAes {
    const BLOCKS: usize = 1;
    const MATRICES: bool = false;

    #[inline(always)]
    fn broadcast(self, block: &[u8; 16]) -> B128<Self> {
        B128::of(load(block))
    }

    #[inline(always)]
    fn load(self, blocks: &[u8]) -> B128<Self> {
        short::check(blocks.len(), Self::BLOCKS);
        match blocks.as_chunks::<16>().0 {
            [block] => B128::of(load(block)),
            _ => BitLanes::splat(self, 0),
        }
    }

    #[inline(always)]
    fn store(self, register: B128<Self>, blocks: &mut [u8]) {
        short::check(blocks.len(), Self::BLOCKS);
        if let [block] = blocks.as_chunks_mut::<16>().0 {
            store(register, block);
        }
    }
}

impl AesBlocks for NeonAes {
    type Blocks = B128<Self>;
    type Lanes = U1;
    type Single = Self;

    #[inline(always)]
    fn single(self) -> Self {
        self
    }

    #[inline(always)]
    fn join(self, [block, ..]: [Self::Blocks; 4]) -> Self::Blocks {
        block
    }

    #[inline(always)]
    fn split(self, register: Self::Blocks) -> [Self::Blocks; 4] {
        [register; 4]
    }

    #[inline(always)]
    fn broadcast(self, block: &[u8; 16]) -> Self::Blocks {
        B128::of(load(block))
    }

    #[inline(always)]
    fn load(self, blocks: &[u8]) -> Self::Blocks {
        assert_eq!(blocks.len(), 16, "a block");
        BlockLanes::load(self, blocks)
    }

    #[inline(always)]
    fn store(self, register: Self::Blocks, blocks: &mut [u8]) {
        assert_eq!(blocks.len(), 16, "a block");
        BlockLanes::store(self, register, blocks);
    }

    #[inline(always)]
    fn add32(self, a: Self::Blocks, b: Self::Blocks) -> Self::Blocks {
        B128::of(registers! {
            vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a.0), vreinterpretq_u32_u8(b.0)))
        })
    }

    #[inline(always)]
    fn count(self, first: u128) -> Self::Blocks {
        B128::of(load(&first.to_be_bytes()))
    }

    #[inline(always)]
    fn times_x8(self, masks: Self::Blocks) -> Self::Blocks {
        // x^128 is x^7 + x^2 + x + 1.
        registers! {
            let zero = vdupq_n_u8(0);
            let top = vget_low_u8(vextq_u8::<15>(masks.0, zero));
            let reduced = vmull_p8(vreinterpret_p8_u8(top), vdup_n_p8(0x87));
            let moved = vextq_u8::<15>(zero, masks.0);
            B128::of(veorq_u8(moved, vreinterpretq_u8_p16(reduced)))
        }
    }

    #[inline(always)]
    fn encrypt_round(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
        B128::of(registers!(vaesmcq_u8(encrypted(state).0))) ^ key
    }

    #[inline(always)]
    fn encrypt_last(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
        encrypted(state) ^ key
    }

    #[inline(always)]
    fn decrypt_round(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
        B128::of(registers!(vaesimcq_u8(decrypted(state).0))) ^ key
    }

    #[inline(always)]
    fn decrypt_last(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks {
        decrypted(state) ^ key
    }
}

impl AesKeySteps for NeonAes {
    #[inline(always)]
    fn shuffle(self, block: Self::Blocks, order: &[u8; 16]) -> Self::Blocks {
        B128::of(registers!(vqtbl1q_u8(block.0, AesBlocks::broadcast(self, order).0)))
    }

    #[inline(always)]
    fn inv_mix_columns(self, block: Self::Blocks) -> Self::Blocks {
        B128::of(registers!(vaesimcq_u8(block.0)))
    }
}

impl Carryless for NeonAes {
    type One = Self;

    #[inline(always)]
    fn one(self) -> Self {
        self
    }

    #[inline(always)]
    fn widen(self, block: B128<Self>) -> B128<Self> {
        block
    }

    #[inline(always)]
    fn sum(self, block: B128<Self>) -> B128<Self> {
        block
    }

    #[inline(always)]
    fn reverse(self, blocks: B128<Self>) -> B128<Self> {
        shuffle(blocks, &[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    }

    #[inline(always)]
    fn exchange(self, blocks: B128<Self>) -> B128<Self> {
        B128::of(registers!(vextq_u8::<8>(blocks.0, blocks.0)))
    }

    #[inline(always)]
    fn low_up(self, blocks: B128<Self>) -> B128<Self> {
        B128::of(registers!(vextq_u8::<8>(vdupq_n_u8(0), blocks.0)))
    }

    #[inline(always)]
    fn high_down(self, blocks: B128<Self>) -> B128<Self> {
        B128::of(registers!(vextq_u8::<8>(blocks.0, vdupq_n_u8(0))))
    }

    #[inline(always)]
    fn multiply<const HALVES: i32>(self, a: B128<Self>, b: B128<Self>) -> B128<Self> {
        B128::of(registers! {
            let a = vreinterpretq_u64_u8(a.0);
            let b = vreinterpretq_u64_u8(b.0);
            let a = if HALVES & 0x01 == 0 { vgetq_lane_u64::<0>(a) } else { vgetq_lane_u64::<1>(a) };
            let b = if HALVES & 0x10 == 0 { vgetq_lane_u64::<0>(b) } else { vgetq_lane_u64::<1>(b) };
            vreinterpretq_u8_p128(vmull_p64(a, b))
        })
    }
}

impl<K: Kind> wide::Interleave for B128<K> {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        registers! {
            [Self::of(vzip1q_u8(self.0, other.0)), Self::of(vzip2q_u8(self.0, other.0))]
        }
    }
}

#[inline(always)]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: 16 bytes can be read; every caller has a token or a value that proves NEON.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline(always)]
fn store<K: Kind>(register: B128<K>, bytes: &mut [u8; 16]) {
    // SAFETY: 16 bytes can be written; the value proves that there is NEON.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), register.0) }
}

impl<K: Kind> SplatBytes for K {
    type Bytes = B128<K>;

    #[inline(always)]
    fn splat(self, four: u32) -> B128<K> {
        BitLanes::splat(self, four)
    }
}

impl<K: Kind> ByteLanes for K {
    type Lanes = U16;

    #[inline(always)]
    fn slice(self, blocks: &[u8], bytes: &mut [B128<K>]) {
        check(blocks.len(), bytes.len(), 16);
        for (register, row) in bytes.iter_mut().zip(blocks.as_chunks::<16>().0) {
            *register = B128::of(load(row));
        }
        wide::bytes_to_rows(bytes);
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [B128<K>], blocks: &mut [u8]) {
        check(blocks.len(), bytes.len(), 16);
        wide::rows_to_bytes(bytes);
        for (register, row) in bytes.iter().zip(blocks.as_chunks_mut::<16>().0) {
            store(*register, row);
        }
    }
}
