//! Camellia sliced by bits and by bytes, one block per lane, on every instruction set.
//!
//! Byte 0 is the one that RFC 3713 writes first. By bits, F is eight passes of one circuit: SBOX2,
//! SBOX3 and SBOX4 differ from SBOX1 by rotations of a byte, which are names, and so are the
//! rotations of FL. By bytes, the S-boxes are inversion between affine maps, for which there are
//! instructions. P is additions. Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

mod blocks;
mod keys;

use core::marker::PhantomData;

use cipher::{
    Array, InOutBuf,
    consts::{U16, U64},
};
use lanecrypt_core::{Chains, Direction, Secret};
use lanecrypt_slicing::{
    BitLanes, BitState, BlockLanes, ByteLanes, ByteState, Choices, Core, FieldBytes, Form,
    REGISTERS, Rounds, RunsOn, SplatBytes, Word, chains_in_lanes, in_lanes, lanes_at_once, one_or,
};

pub(crate) use self::blocks::Mix;
pub use self::keys::ByteKeys;
use self::keys::{Fours, Layer};
use crate::{
    compact,
    linear::p,
    maps::{
        AFTER_SBOX1, AFTER_SBOX2, AFTER_SBOX3, BEFORE_SBOX4, CARRIED, INTO_BASIS, OUT_OF_BASIS,
        SHIFTED,
    },
    sbox,
    schedule::{self, KeyLength, PerSubkey, Steps, Subkeys},
};

/// Camellia sliced by bits.
#[derive(Debug)]
pub struct Bits<K>(PhantomData<K>);

/// Camellia sliced by bytes.
#[derive(Debug)]
pub struct Bytes<K>(PhantomData<K>);

/// Camellia on whatever CPU there is.
#[derive(Debug)]
pub struct CpuForms<K>(PhantomData<K>);

impl<K: KeyLength> Choices for CpuForms<K> {
    type Schedule = Subkeys<K>;
    type Lanes = U64;
    type Fast = Bytes<K>;
    type Plain = Bits<K>;
}

lanecrypt_slicing::compiled_here!(fast: ByteRounds, plain: BitRounds);

/// The eight bits of a byte of every lane, lowest first.
type Byte<W> = [W; 8];
/// The bytes of a half of every lane.
pub(crate) type Half<W> = [Byte<W>; 8];

/// Bits by which the S-boxes rotate SBOX1's input to the left, byte by byte of the half.
const INPUT_ROTATION: [usize; 8] = [0, 0, 0, 1, 0, 0, 1, 0];
/// Bits by which they rotate its output to the left.
const OUTPUT_ROTATION: [usize; 8] = [0, 1, 7, 0, 1, 7, 0, 0];

/// A byte rotated to the left: a renaming.
#[inline(always)]
fn rotated<W: Word>(byte: &Byte<W>, by: usize) -> Byte<W> {
    let mut image = *byte;
    for (bit, word) in image.iter_mut().enumerate() {
        *word = byte[(bit + 8 - by) % 8];
    }
    image
}

/// The steps on planes.
pub(crate) struct OnBits<I>(pub(crate) I);

impl<I: BitLanes> OnBits<I> {
    /// The bits of a byte of a key, in every lane.
    #[inline(always)]
    fn key(&self, masks: &[[u32; 8]; 8], byte: usize, bit: usize) -> I::Word {
        self.0.splat(masks[byte][bit])
    }

    /// Adds to the right part the left one AND the key's, rotated left by one bit: bit `i` of a
    /// part, from the least significant on, is bit `i % 8` of its byte `3 - i / 8`.
    #[inline(always)]
    fn add_rotated_and(&self, half: &mut Half<I::Word>, key: &[[u32; 8]; 8]) {
        for i in 0..32 {
            let from = (i + 31) % 32;
            let (byte, bit) = (3 - from / 8, from % 8);
            let product = half[byte][bit] & self.key(key, byte, bit);
            half[7 - i / 8][i % 8] ^= product;
        }
    }

    /// Adds to the left part the right one OR the key's.
    #[inline(always)]
    fn add_or(&self, half: &mut Half<I::Word>, key: &[[u32; 8]; 8]) {
        let (left, right) = half.split_at_mut(4);
        for ((left, right), masks) in left.iter_mut().zip(right).zip(&key[4..]) {
            for ((plane, other), mask) in left.iter_mut().zip(right).zip(masks) {
                *plane ^= *other | self.0.splat(*mask);
            }
        }
    }
}

impl<I: BitLanes> Steps for OnBits<I> {
    type Half = Half<I::Word>;
    /// One mask per bit, in the order of the planes.
    type Key = [[u32; 8]; 8];

    #[inline(always)]
    fn add(&self, half: &mut Half<I::Word>, key: &[[u32; 8]; 8]) {
        for (word, mask) in half.as_flattened_mut().iter_mut().zip(key.as_flattened()) {
            *word ^= self.0.splat(*mask);
        }
    }

    // ANCHOR: f
    #[inline(always)]
    fn add_f(&self, half: &mut Half<I::Word>, other: &Half<I::Word>, key: &[[u32; 8]; 8]) {
        let mut sums = *other;
        self.add(&mut sums, key);
        for (i, byte) in sums.iter_mut().enumerate() {
            let image = sbox::sbox(rotated(byte, INPUT_ROTATION[i]));
            *byte = rotated(&image, OUTPUT_ROTATION[i]);
        }
        for bit in 0..8 {
            let mut row = [sums[0][bit]; 8];
            for (word, byte) in row.iter_mut().zip(&sums) {
                *word = byte[bit];
            }
            for (byte, sum) in half.iter_mut().zip(p(row)) {
                byte[bit] ^= sum;
            }
        }
    }
    // ANCHOR_END: f

    #[inline(always)]
    fn fl(&self, half: &mut Half<I::Word>, key: &[[u32; 8]; 8]) {
        self.add_rotated_and(half, key);
        self.add_or(half, key);
    }

    #[inline(always)]
    fn fl_inverse(&self, half: &mut Half<I::Word>, key: &[[u32; 8]; 8]) {
        self.add_or(half, key);
        self.add_rotated_and(half, key);
    }
}

impl<K: KeyLength> Form for Bits<K> {
    type Schedule = Subkeys<K>;
    type Core = BitRounds;
    type Keys = PerSubkey<K, [[u32; 8]; 8]>;

    #[inline(always)]
    fn keys(schedule: &Subkeys<K>, direction: Direction) -> Self::Keys {
        schedule::map::<K, _>(&schedule.of(direction), |key| {
            let mut masks = [[0; 8]; 8];
            for (bits, byte) in masks.iter_mut().zip(key.to_be_bytes()) {
                *bits = lanecrypt_slicing::masks(byte);
            }
            masks
        })
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &[[[u32; 8]; 8]] {
        keys
    }
}

/// The rounds of [`Bits`], whatever the key size.
#[derive(Debug)]
pub enum BitRounds {}

impl Core for BitRounds {
    type BlockSize = U16;
    type Keys = [[[u32; 8]; 8]];
}

impl<I: BitLanes> Rounds<I> for BitRounds {
    type State = BitState<I::Word, 128>;

    #[inline(always)]
    fn run<const G: usize>(keys: &Self::Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            let planes = state.0.as_chunks_mut::<8>().0.as_chunks_mut::<8>().0;
            for halves in planes.as_chunks_mut::<2>().0 {
                schedule::run(&OnBits(isa), keys, halves);
            }
        }
    }
}

impl<K: KeyLength, I: BitLanes> RunsOn<I> for Bits<K> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        one_or(compact::BLOCKS, blocks)
    }

    fn run_short(
        schedule: &Subkeys<K>,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        let blocks = Array::cast_slice_to_core_mut(blocks.into_out_with_copied_in());
        compact::run(&schedule.of(direction), blocks);
    }
}

/// The rounds on rows of bytes.
struct OnBytes<I>(I);

type Row<I> = [<I as SplatBytes>::Bytes; 8];

impl<I: ByteLanes<Bytes: FieldBytes>> OnBytes<I> {
    #[inline(always)]
    fn add_f(&self, half: &mut Row<I>, other: &Row<I>, key: &Fours) {
        let xor3 = <I::Bytes as Word>::xor3;
        let [x1, x2, x3, x4, x5, x6, x7, x8] = *other;
        let x4 = x4.affine::<{ BEFORE_SBOX4.0 }, { BEFORE_SBOX4.1 }>();
        let x7 = x7.affine::<{ BEFORE_SBOX4.0 }, { BEFORE_SBOX4.1 }>();
        let mut z1 = x1.inverse_affine::<{ AFTER_SBOX1.0 }, { AFTER_SBOX1.1 }>();
        let mut z2 = x2.inverse_affine::<{ AFTER_SBOX2.0 }, { AFTER_SBOX2.1 }>();
        let mut z3 = x3.inverse_affine::<{ AFTER_SBOX3.0 }, { AFTER_SBOX3.1 }>();
        let mut z4 = x4.inverse_affine::<{ AFTER_SBOX1.0 }, { AFTER_SBOX1.1 }>();
        let mut z5 = x5.inverse_affine::<{ AFTER_SBOX2.0 }, { AFTER_SBOX2.1 }>();
        let mut z6 = x6.inverse_affine::<{ AFTER_SBOX3.0 }, { AFTER_SBOX3.1 }>();
        let mut z7 = x7.inverse_affine::<{ AFTER_SBOX1.0 }, { AFTER_SBOX1.1 }>();
        let mut z8 = x8.inverse_affine::<{ AFTER_SBOX1.0 }, { AFTER_SBOX1.1 }>();
        z1 ^= z6;
        z2 ^= z7;
        z3 ^= z8;
        z4 ^= z5;
        z5 = xor3(z5, z3, self.0.splat(key[0]));
        z6 = xor3(z6, z4, self.0.splat(key[1]));
        z7 = xor3(z7, z1, self.0.splat(key[2]));
        z8 = xor3(z8, z2, self.0.splat(key[3]));
        z1 = xor3(z1, z8, self.0.splat(key[4]));
        z2 = xor3(z2, z5, self.0.splat(key[5]));
        z3 = xor3(z3, z6, self.0.splat(key[6]));
        z4 = xor3(z4, z7, self.0.splat(key[7]));
        half[4] ^= z1;
        half[5] ^= z2;
        half[6] ^= z3;
        half[7] ^= z4;
        half[0] = xor3(half[0], z5, z4);
        half[1] = xor3(half[1], z6, z1);
        half[2] = xor3(half[2], z7, z2);
        half[3] = xor3(half[3], z8, z3);
    }

    /// Adds to the right part the left one AND the key's, rotated left by one bit.
    #[inline(always)]
    fn add_rotated_and(&self, half: &mut Row<I>, layer: &Layer) {
        for i in 0..4 {
            let next = (i + 1) % 4;
            let (mask, of_next) = (self.0.splat(layer.masks[i]), self.0.splat(layer.masks[next]));
            let shifted = half[i].masked::<OUT_OF_BASIS, SHIFTED>(mask, layer.shifted[i]);
            let carried = half[next].masked::<OUT_OF_BASIS, CARRIED>(of_next, layer.carried[next]);
            let sum = Word::xor3(half[4 + i], shifted, carried);
            half[4 + i] = sum ^ self.0.splat(layer.added[4 + i]);
        }
    }

    /// Adds to the left part the right one OR the key's.
    #[inline(always)]
    fn add_or(&self, half: &mut Row<I>, layer: &Layer) {
        for i in 0..4 {
            let mask = self.0.splat(layer.masks[4 + i]);
            let kept = half[4 + i].masked::<OUT_OF_BASIS, INTO_BASIS>(mask, layer.kept[i]);
            half[i] = Word::xor3(half[i], kept, self.0.splat(layer.added[i]));
        }
    }

    /// Brings a half into the basis or out of it, then adds.
    #[inline(always)]
    fn change_basis<const MATRIX: u64>(&self, half: &mut Row<I>, added: &Fours) {
        for (byte, four) in half.iter_mut().zip(added) {
            *byte = byte.affine::<MATRIX, 0>() ^ self.0.splat(*four);
        }
    }

    #[inline(always)]
    fn run(&self, keys: &ByteKeys, [left, right]: &mut [Row<I>; 2]) {
        self.change_basis::<INTO_BASIS>(left, &keys.start()[0]);
        self.change_basis::<INTO_BASIS>(right, &keys.start()[1]);
        for (group, rounds) in keys.groups().iter().enumerate() {
            if group > 0 {
                let [fl, fl_inverse] = &keys.layers()[group - 1];
                self.add_rotated_and(left, fl);
                self.add_or(left, fl);
                self.add_or(right, fl_inverse);
                self.add_rotated_and(right, fl_inverse);
            }
            for [first, second] in rounds.as_chunks::<2>().0 {
                self.add_f(right, left, first);
                self.add_f(left, right, second);
            }
        }
        self.change_basis::<OUT_OF_BASIS>(right, &keys.end()[0]);
        self.change_basis::<OUT_OF_BASIS>(left, &keys.end()[1]);
        core::mem::swap(left, right);
    }
}

impl<K: KeyLength> Form for Bytes<K> {
    type Schedule = Subkeys<K>;
    type Core = ByteRounds;
    type Keys = Secret<ByteKeys>;

    #[inline(always)]
    fn keys(schedule: &Subkeys<K>, direction: Direction) -> Self::Keys {
        Secret::new(ByteKeys::new(schedule, direction))
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &ByteKeys {
        keys
    }
}

/// The rounds of [`Bytes`], whatever the key size.
#[derive(Debug)]
pub enum ByteRounds {}

impl Core for ByteRounds {
    type BlockSize = U16;
    type Keys = ByteKeys;
}

impl<I: BlockLanes> Rounds<I> for ByteRounds {
    type State = ByteState<I::Bytes, 16>;

    #[inline(always)]
    fn run<const G: usize>(keys: &Self::Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            for halves in state.0.as_chunks_mut::<8>().0.as_chunks_mut::<2>().0 {
                OnBytes(isa).run(keys, halves);
            }
        }
    }
}

impl<K: KeyLength, I: BlockLanes> RunsOn<I> for Bytes<K> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        lanes_at_once::<I>(REGISTERS, blocks)
    }

    fn run_short(
        schedule: &Subkeys<K>,
        isa: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        in_lanes::<Self, I>(schedule, isa, direction, blocks);
    }

    fn run_chains(schedule: &Subkeys<K>, isa: I, chains: &mut Chains<'_, '_, '_>) -> bool {
        chains_in_lanes::<Self, I>(schedule, isa, chains)
    }
}
