//! SEED sliced by bits and by bytes, one block per lane, on every instruction set.
//!
//! By bits, the S-boxes are circuits and additions modulo 2^32 ripple through 32 planes; by bytes,
//! S-boxes are inversion between affine maps, for which there are instructions, and additions are
//! those of bytes with three carries. Every mask of G drops one of the four S-box outputs.
//! Constant-time: no branch and no address depends on key or data.

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
    BitLanes, BitState, BlockLanes, ByteLanes, ByteState, Bytes as _, Choices, Core, FieldBytes,
    Form, REGISTERS, Rounds, RunsOn, Word, chains_in_lanes, in_lanes, lanes_at_once, one_or,
    spread,
};

use crate::{
    compact,
    maps::{AFTER_S0, AFTER_S1, BEFORE},
    sbox,
    schedule::{self, PerRound, ROUNDS, RoundKeys, Steps},
};

/// SEED sliced by bits.
#[derive(Debug)]
pub enum Bits {}

/// SEED sliced by bytes.
#[derive(Debug)]
pub enum Bytes {}

/// SEED on whatever CPU there is.
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

/// The steps on planes; a word has its lowest byte first.
pub(crate) struct OnBits<I>(pub(crate) I);

impl<I: BitLanes> Steps for OnBits<I> {
    type Word = [Byte<I::Word>; 4];
    /// One mask per bit.
    type Key = [[u32; 8]; 4];

    #[inline(always)]
    fn xor_key(&self, word: &mut Self::Word, key: &Self::Key) {
        for (plane, mask) in word.as_flattened_mut().iter_mut().zip(key.as_flattened()) {
            *plane ^= self.0.splat(*mask);
        }
    }

    #[inline(always)]
    fn xor(&self, word: &mut Self::Word, other: &Self::Word) {
        for (plane, other) in word.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
            *plane ^= *other;
        }
    }

    // ANCHOR: add
    /// Five operations a bit, two of them between one carry and the next.
    #[inline(always)]
    fn add(&self, word: &mut Self::Word, other: &Self::Word) {
        let mut carry = self.0.splat(0);
        for (plane, b) in word.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
            let a = *plane;
            let differ = a ^ *b;
            *plane = differ ^ carry;
            carry = a & *b ^ differ & carry;
        }
    }
    // ANCHOR_END: add

    // ANCHOR: g
    #[inline(always)]
    fn g(&self, word: &mut Self::Word) {
        for [even, odd] in word.as_chunks_mut::<2>().0 {
            *even = sbox::sbox0(*even);
            *odd = sbox::sbox1(*odd);
        }
        for bit in 0..8 {
            let image = diffuse([word[0][bit], word[1][bit], word[2][bit], word[3][bit]], bit / 2);
            for (byte, image) in word.iter_mut().zip(image) {
                byte[bit] = image;
            }
        }
    }
    // ANCHOR_END: g
}

/// One bit of every byte of G's result. Mask `pair` drops it, and byte `j` has the output of byte
/// `i` under mask `(i + j) % 4`: the sum of all outputs but that of byte `(pair - j) % 4`.
#[inline(always)]
fn diffuse<W: Word>([y0, y1, y2, y3]: [W; 4], pair: usize) -> [W; 4] {
    let (y01, y23) = (y0 ^ y1, y2 ^ y3);
    // `without[i]` is the sum of all but the output of byte `i`.
    let without = [y1 ^ y23, y0 ^ y23, y01 ^ y3, y01 ^ y2];
    [without[pair % 4], without[(pair + 3) % 4], without[(pair + 2) % 4], without[(pair + 1) % 4]]
}

impl Form for Bits {
    type Schedule = RoundKeys;
    type Core = Self;
    type Keys = PerRound<[[u32; 8]; 4]>;

    #[inline(always)]
    fn keys(schedule: &RoundKeys, direction: Direction) -> Self::Keys {
        schedule::map(&schedule.of(direction), |key| {
            let mut masks = [[0; 8]; 4];
            for (i, mask) in masks.as_flattened_mut().iter_mut().enumerate() {
                *mask = (key >> i & 1).wrapping_neg();
            }
            masks
        })
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &[[[[u32; 8]; 4]; 2]; ROUNDS] {
        keys
    }
}

impl Core for Bits {
    type BlockSize = U16;
    type Keys = [[[[u32; 8]; 4]; 2]; ROUNDS];
}

impl<I: BitLanes> Rounds<I> for Bits {
    type State = BitState<I::Word, 128>;

    #[inline(always)]
    fn run<const G: usize>(keys: &<Self as Core>::Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            // Words are stored with their highest byte first.
            let words = state.0.as_chunks_mut::<8>().0.as_chunks_mut::<4>().0;
            for word in words.iter_mut() {
                word.reverse();
            }
            for halves in words.as_chunks_mut::<2>().0.as_chunks_mut::<2>().0 {
                schedule::run(&OnBits(isa), keys, halves);
            }
            for word in words.iter_mut() {
                word.reverse();
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

/// The steps on rows of bytes, of `G` batches side by side; a word has its lowest byte first.
struct OnBytes<I, const G: usize>(I);

impl<I: ByteLanes<Bytes: FieldBytes>, const G: usize> Steps for OnBytes<I, G> {
    type Word = [[I::Bytes; 4]; G];
    /// Every byte four times.
    type Key = [u32; 4];

    #[inline(always)]
    fn xor_key(&self, word: &mut Self::Word, key: &[u32; 4]) {
        for word in word {
            for (byte, four) in word.iter_mut().zip(key) {
                *byte ^= self.0.splat(*four);
            }
        }
    }

    #[inline(always)]
    fn xor(&self, word: &mut Self::Word, other: &Self::Word) {
        for (byte, other) in word.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
            *byte ^= *other;
        }
    }

    /// A carry is the top bit of the majority of both bytes and the inverted sum.
    #[inline(always)]
    fn add(&self, word: &mut Self::Word, other: &Self::Word) {
        for (word, other) in word.iter_mut().zip(other) {
            let before = *word;
            word[0] = before[0].add(other[0]);
            for i in 1..4 {
                let carry = Word::lut3::<0xd4>(before[i - 1], other[i - 1], word[i - 1]);
                word[i] = before[i].add(other[i]).add_top_bit(carry);
            }
        }
    }

    #[inline(always)]
    fn g(&self, word: &mut Self::Word) {
        for word in word {
            *word = self.diffuse(substitute(*word));
        }
    }
}

#[inline(always)]
fn substitute<B: FieldBytes>([x0, x1, x2, x3]: [B; 4]) -> [B; 4] {
    [
        x0.affine::<BEFORE, 0>().inverse_affine::<{ AFTER_S0.0 }, { AFTER_S0.1 }>(),
        x1.affine::<BEFORE, 0>().inverse_affine::<{ AFTER_S1.0 }, { AFTER_S1.1 }>(),
        x2.affine::<BEFORE, 0>().inverse_affine::<{ AFTER_S0.0 }, { AFTER_S0.1 }>(),
        x3.affine::<BEFORE, 0>().inverse_affine::<{ AFTER_S1.0 }, { AFTER_S1.1 }>(),
    ]
}

impl<I: ByteLanes<Bytes: FieldBytes>, const G: usize> OnBytes<I, G> {
    /// What is left of G after the S-boxes: byte `j` is the sum of all, less bits 0 and 1 of the
    /// output of byte `-j`, bits 2 and 3 of the next, and so on: a choice among choices.
    #[inline(always)]
    fn diffuse(&self, [y0, y1, y2, y3]: [I::Bytes; 4]) -> [I::Bytes; 4] {
        let choose = <I::Bytes as Word>::choose;
        let low = self.0.splat(spread(0x0f));
        let even = self.0.splat(spread(0x33));
        let sum = Word::xor3(y0, y1, y2) ^ y3;
        let (v0, v1) = (choose(even, y0, y1), choose(even, y1, y2));
        let (v2, v3) = (choose(even, y2, y3), choose(even, y3, y0));
        [
            sum ^ choose(low, v0, v2),
            sum ^ choose(low, v3, v1),
            sum ^ choose(low, v2, v0),
            sum ^ choose(low, v1, v3),
        ]
    }
}

impl Form for Bytes {
    type Schedule = RoundKeys;
    type Core = Self;
    type Keys = PerRound<[u32; 4]>;

    #[inline(always)]
    fn keys(schedule: &RoundKeys, direction: Direction) -> Self::Keys {
        schedule::map(&schedule.of(direction), |key| {
            let mut fours = [0; 4];
            for (four, byte) in fours.iter_mut().zip(key.to_le_bytes()) {
                *four = spread(byte);
            }
            fours
        })
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &[[[u32; 4]; 2]; ROUNDS] {
        keys
    }
}

impl Core for Bytes {
    type BlockSize = U16;
    type Keys = [[[u32; 4]; 2]; ROUNDS];
}

/// Word `i` of every batch, lowest byte first; `i` counts as the words lie in a block.
#[inline(always)]
fn word<B: Copy, const G: usize>(states: &[ByteState<B, 16>; G], i: usize) -> [[B; 4]; G] {
    let mut words = [[states[0].0[0]; 4]; G];
    for (word, state) in words.iter_mut().zip(states) {
        for (j, byte) in word.iter_mut().enumerate() {
            *byte = state.0[4 * i + 3 - j];
        }
    }
    words
}

impl<I: BlockLanes> Rounds<I> for Bytes {
    type State = ByteState<I::Bytes, 16>;

    const GROUPS: usize = 2;

    #[inline(always)]
    fn run<const G: usize>(keys: &<Self as Core>::Keys, isa: I, states: &mut [Self::State; G]) {
        let mut halves = [[word(states, 0), word(states, 1)], [word(states, 2), word(states, 3)]];
        schedule::run(&OnBytes::<I, G>(isa), keys, &mut halves);
        for (i, words) in halves.as_flattened().iter().enumerate() {
            for (word, state) in words.iter().zip(states.iter_mut()) {
                for (j, byte) in word.iter().enumerate() {
                    state.0[4 * i + 3 - j] = *byte;
                }
            }
        }
    }
}

impl<I: BlockLanes> RunsOn<I> for Bytes {
    fn short_at_once(blocks: usize) -> Option<usize> {
        // Without an instruction for maps of bytes, two registers keep a core busy.
        let registers = if I::MATRICES { REGISTERS } else { REGISTERS / 2 };
        lanes_at_once::<I>(registers, blocks)
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
