//! SM4 sliced by bits and by bytes, one block per lane, on every instruction set.
//!
//! By bits, the S-box is a circuit and L a renaming and sums; by bytes, S-box and L are inversion between affine maps,
//! for which there are instructions. Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

mod blocks;

use cipher::{
    Array, InOutBuf,
    consts::{U16, U128},
};
use lanecrypt_core::{Chains, Direction};
use lanecrypt_slicing::{
    BitLanes, BitState, BlockLanes, ByteLanes, ByteState, Choices, Core, FieldBytes, Form,
    REGISTERS, Rounds, RunsOn, Word, chains_in_lanes, in_lanes, lanes_at_once, matrix, one_or,
    spread,
};

use crate::{
    compact,
    maps::{AFTER_0, AFTER_3, INTO, OFFSET, OUT_OF},
    sbox,
    schedule::{self, PAIRS, PerRound, RoundKeys, Steps},
};

/// SM4 sliced by bits.
#[derive(Debug)]
pub enum Bits {}

/// SM4 sliced by bytes.
#[derive(Debug)]
pub enum Bytes {}

/// SM4 on whatever CPU there is.
#[derive(Debug)]
pub enum CpuForms {}

impl Choices for CpuForms {
    type Schedule = RoundKeys;
    type Lanes = U128;
    type Fast = Bytes;
    type Plain = Bits;
}

lanecrypt_slicing::compiled_here!(fast: Bytes, plain: Bits);

/// The eight bits of a byte of every lane, lowest first.
type Byte<W> = [W; 8];

/// The steps on planes; a word has its highest byte first, as a block has.
pub(crate) struct OnBits<I>(pub(crate) I);

impl<I: BitLanes> Steps for OnBits<I> {
    type Word = [Byte<I::Word>; 4];
    /// One mask per bit.
    type Key = [[u32; 8]; 4];

    // ANCHOR: two_rounds
    #[inline(always)]
    fn two_rounds(
        &self,
        [first, second]: &mut [Self::Word; 2],
        others: &[Self::Word; 2],
        keys: &[Self::Key; 2],
    ) {
        // Both rounds take it.
        let mut sum = others[0];
        for (sum, other) in sum.as_flattened_mut().iter_mut().zip(others[1].as_flattened()) {
            *sum ^= *other;
        }
        self.round(first, second, &sum, &keys[0]);
        self.round(second, first, &sum, &keys[1]);
    }
    // ANCHOR_END: two_rounds
}

impl<I: BitLanes> OnBits<I> {
    /// Adds T of the sum of two words and a key.
    #[inline(always)]
    fn round(
        &self,
        to: &mut [Byte<I::Word>; 4],
        word: &[Byte<I::Word>; 4],
        others: &[Byte<I::Word>; 4],
        key: &[[u32; 8]; 4],
    ) {
        let mut b = *word;
        for ((byte, others), key) in b.iter_mut().zip(others).zip(key) {
            for ((plane, other), mask) in byte.iter_mut().zip(others).zip(key) {
                *plane = Word::xor3(*plane, *other, self.0.splat(*mask));
            }
            *byte = sbox::sbox(*byte);
        }
        add_linear(to, &b);
    }
}

// ANCHOR: linear
/// Adds L of the word `b`. Byte `j` of L is `b(j) + b(j + 3) + r(j) + r(j + 1) + r(j + 2)` with r the word rotated by
/// two bits, indexes modulo 4, and the last three are the sum of all of r less `r(j + 3)`.
#[inline(always)]
fn add_linear<W: Word>(to: &mut [Byte<W>; 4], b: &[Byte<W>; 4]) {
    for bit in 0..8 {
        // Bit `bit` of r is this bit of the same byte, or of the next one.
        let (from, carried) = ((bit + 6) % 8, usize::from(bit < 2));
        let all = Word::xor3(b[0][from], b[1][from], b[2][from]) ^ b[3][from];
        for j in 0..4 {
            let (before, turned) = ((j + 3) % 4, (j + 3 + carried) % 4);
            let shared = Word::xor3(to[j][bit], b[j][bit], b[before][bit]);
            to[j][bit] = Word::xor3(shared, all, b[turned][from]);
        }
    }
}
// ANCHOR_END: linear

impl Form for Bits {
    type Schedule = RoundKeys;
    type Core = Self;
    type Keys = PerRound<[[u32; 8]; 4]>;

    #[inline(always)]
    fn keys(schedule: &RoundKeys, direction: Direction) -> Self::Keys {
        schedule::map(&schedule.of(direction), |key| {
            key.to_be_bytes()
                .map(|byte| core::array::from_fn(|bit| u32::from(byte >> bit & 1).wrapping_neg()))
        })
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &[[[[u32; 8]; 4]; 2]; PAIRS] {
        keys
    }
}

impl Core for Bits {
    type BlockSize = U16;
    type Keys = [[[[u32; 8]; 4]; 2]; PAIRS];
}

impl<I: BitLanes> Rounds<I> for Bits {
    type State = BitState<I::Word, 128>;

    #[inline(always)]
    fn run<const G: usize>(keys: &<Self as Core>::Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            let words = state.0.as_chunks_mut::<8>().0.as_chunks_mut::<4>().0;
            for halves in words.as_chunks_mut::<2>().0.as_chunks_mut::<2>().0 {
                schedule::run(&OnBits(isa), keys, halves);
            }
        }
    }
}

impl<I: BitLanes> RunsOn<I> for Bits {
    fn short_at_once(blocks: usize) -> Option<usize> {
        one_or(compact::BLOCKS, blocks)
    }

    fn run_short(
        schedule: &RoundKeys,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        let blocks = Array::cast_slice_to_core_mut(blocks.into_out_with_copied_in());
        compact::run(&schedule.of(direction), blocks);
    }
}

/// The steps on rows of bytes, of `G` batches side by side, in the basis of [`maps`](crate::maps); a word has its
/// highest byte first.
struct OnBytes<I, const G: usize>(I);

impl<I: ByteLanes<Bytes: FieldBytes>, const G: usize> Steps for OnBytes<I, G> {
    type Word = [[I::Bytes; 4]; G];
    /// Every byte four times.
    type Key = [u32; 4];

    #[inline(always)]
    fn two_rounds(
        &self,
        [first, second]: &mut [Self::Word; 2],
        others: &[Self::Word; 2],
        keys: &[[u32; 4]; 2],
    ) {
        for g in 0..G {
            // Both rounds take it.
            let mut sum = others[0][g];
            for (sum, other) in sum.iter_mut().zip(&others[1][g]) {
                *sum ^= *other;
            }
            self.round(&mut first[g], &second[g], &sum, &keys[0]);
            self.round(&mut second[g], &first[g], &sum, &keys[1]);
        }
    }
}

impl<I: ByteLanes<Bytes: FieldBytes>, const G: usize> OnBytes<I, G> {
    // ANCHOR: round
    /// Adds T of the sum of two words and a key. With `p = P0 b + P3 b = P1 b`, byte `j` of L is the sum of all `p` and
    /// `P3 b(j) + P0 b(j + 3)`.
    #[inline(always)]
    fn round(
        &self,
        to: &mut [I::Bytes; 4],
        word: &[I::Bytes; 4],
        others: &[I::Bytes; 4],
        key: &[u32; 4],
    ) {
        let (mut p0, mut p3) = (*word, *word);
        for j in 0..4 {
            let sum = Word::xor3(word[j], others[j], self.0.splat(key[j]));
            p0[j] = sum.inverse_affine::<{ AFTER_0.0 }, { AFTER_0.1 }>();
            p3[j] = sum.inverse_affine::<{ AFTER_3.0 }, { AFTER_3.1 }>();
        }
        let left = Word::xor3(p0[0], p0[1], p0[2]);
        let right = Word::xor3(p3[0], p3[1], p3[2]);
        let all = Word::xor3(left, right, p0[3] ^ p3[3]);
        for j in 0..4 {
            to[j] = Word::xor3(to[j], p3[j], p0[(j + 3) % 4]) ^ all;
        }
    }
    // ANCHOR_END: round
}

impl Form for Bytes {
    type Schedule = RoundKeys;
    type Core = Self;
    type Keys = PerRound<[u32; 4]>;

    #[inline(always)]
    fn keys(schedule: &RoundKeys, direction: Direction) -> Self::Keys {
        schedule::map(&schedule.of(direction), |key| {
            let key = matrix::apply_to_bytes::<INTO>(key.into()) as u32 ^ OFFSET;
            key.to_be_bytes().map(spread)
        })
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &[[[u32; 4]; 2]; PAIRS] {
        keys
    }
}

impl Core for Bytes {
    type BlockSize = U16;
    type Keys = [[[u32; 4]; 2]; PAIRS];
}

/// Word `i` of every batch, in the basis.
#[inline(always)]
fn word<B: FieldBytes, const G: usize>(states: &[ByteState<B, 16>; G], i: usize) -> [[B; 4]; G] {
    let mut words = [[states[0].0[0]; 4]; G];
    for (word, state) in words.iter_mut().zip(states) {
        for (byte, row) in word.iter_mut().zip(&state.0[4 * i..]) {
            *byte = row.affine::<INTO, 0>();
        }
    }
    words
}

impl<I: BlockLanes> Rounds<I> for Bytes {
    type State = ByteState<I::Bytes, 16>;

    #[inline(always)]
    fn run<const G: usize>(keys: &<Self as Core>::Keys, isa: I, states: &mut [Self::State; G]) {
        let mut halves = [[word(states, 0), word(states, 1)], [word(states, 2), word(states, 3)]];
        schedule::run(&OnBytes::<I, G>(isa), keys, &mut halves);
        for (i, words) in halves.as_flattened().iter().enumerate() {
            for (word, state) in words.iter().zip(states.iter_mut()) {
                for (byte, row) in word.iter().zip(&mut state.0[4 * i..]) {
                    *row = byte.affine::<OUT_OF, 0>();
                }
            }
        }
    }
}

impl<I: BlockLanes> RunsOn<I> for Bytes {
    fn short_at_once(blocks: usize) -> Option<usize> {
        lanes_at_once::<I>(REGISTERS, blocks)
    }

    fn run_short(
        schedule: &RoundKeys,
        isa: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        in_lanes::<Self, I>(schedule, isa, direction, blocks);
    }

    fn run_chains(schedule: &RoundKeys, isa: I, chains: &mut Chains<'_, '_, '_>) -> bool {
        chains_in_lanes::<Self, I>(schedule, isa, chains)
    }
}
