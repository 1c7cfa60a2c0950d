//! DES sliced by bits, one block per lane, on every instruction set.
//!
//! A word holds the same bit of every block. The permutations are names, the S-boxes circuits, and
//! nothing is ever shifted. Constant-time: no branch and no address depends on key or data.
//!
//! Key bits are folded into the additions of what the S-boxes give, where a look-up of three bits
//! takes them for nothing. The words of a half hold its bits plus an *offset*, the bits of the round
//! key that the inner inputs of the S-boxes want next, which the addition before has put there.
//! Only the outer inputs, bits that another S-box has as inner ones, take an addition of their own.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::marker::PhantomData;

use cipher::{
    Array, InOutBuf,
    consts::{U8, U64},
};
use lanecrypt_core::{Clear, Direction, Secret};
use lanecrypt_reference::des::{E, P};
use lanecrypt_slicing::{
    BitLanes, BitState, Choices, Core, Form, OnBitLanes, Rest, Rounds, RunsOn, Word,
};

use crate::{
    compact, sbox,
    schedule::{self, Keying, ROUNDS, RoundKey, RoundKeys},
};

/// DES sliced by bits.
#[derive(Debug)]
pub struct Bits<K>(PhantomData<K>);

/// DES on whatever CPU there is.
#[derive(Debug)]
pub struct CpuForms<K>(PhantomData<K>);

impl<K: Keying> Choices for CpuForms<K> {
    type Schedule = RoundKeys<K>;
    type Lanes = U64;
    type Fast = Bits<K>;
    type Plain = Bits<K>;
}

lanecrypt_slicing::compiled_here!(fast: BitRounds, plain: BitRounds);

/// The bit of a half that each S-box output goes to, both from the left: the inverse of P.
const AFTER_P: [usize; 32] = {
    let mut to = [0; 32];
    let mut i = 0;
    while i < 32 {
        to[P[i] as usize - 1] = i;
        i += 1;
    }
    to
};

/// The halves after the initial permutation, which takes a column of the block's 8x8 bits after the
/// other, each from the last byte to the first: the planes of the blocks by twos. In each pair, the
/// first is a bit of the left half and the second the same bit of the right one.
pub(crate) type Halves<W> = [[W; 2]; 32];

/// The pair that has bit `bit` of the halves.
const fn pair_of(bit: usize) -> usize {
    4 * (7 - bit % 8) + 3 - bit / 8
}

/// The pair that has what E makes input `bit`, from the lowest on, of S-box `number`.
const fn input_of(number: usize, bit: usize) -> usize {
    pair_of(E[6 * number + 5 - bit] as usize - 1)
}

/// A mask of ones for every bit of a half that is one, in the order of the pairs.
pub(crate) type HalfMasks = [u32; 32];

#[inline(always)]
fn half_masks(half: u32) -> HalfMasks {
    let mut masks = [0; 32];
    // Pair 4a + b has bit 7 - a of byte 3 - b from the left.
    for (pair, mask) in masks.iter_mut().enumerate() {
        *mask = (half >> (8 * (pair % 4) + pair / 4) & 1).wrapping_neg();
    }
    masks
}

/// The masks of a round.
#[derive(Clone, Copy, Default)]
pub(crate) struct RoundMasks {
    /// What is added with the S-boxes' outputs: the offset that the half has, and the next one.
    pub(crate) offsets: HalfMasks,
    /// What is added to the first and the last input of every S-box.
    pub(crate) outer: [[u32; 2]; 8],
}

/// The masks of a pass.
#[derive(Clone, Copy, Default)]
pub(crate) struct PassMasks {
    /// What is added to the half that the first round reads.
    pub(crate) first: HalfMasks,
    pub(crate) rounds: [RoundMasks; ROUNDS],
}

/// Passes of triple DES.
pub(crate) const MAX_PASSES: usize = 3;

/// The masks of a direction: every key bit as a word of 32 of it, to be broadcast on use.
#[derive(Clone)]
pub struct Masks {
    /// As many as the keying has.
    pub(crate) passes: [PassMasks; MAX_PASSES],
    pub(crate) count: usize,
    /// What is added in the end to the half that the last round has read.
    pub(crate) last: HalfMasks,
}

impl Clear for Masks {
    fn clear(&mut self) {
        for pass in &mut self.passes {
            pass.first.clear();
            for round in &mut pass.rounds {
                round.offsets.clear();
                round.outer.clear();
            }
        }
        self.last.clear();
    }
}

impl core::fmt::Debug for Masks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Masks").finish_non_exhaustive()
    }
}

impl PassMasks {
    /// From the round keys in the order of their addition; `before` is the offset of the half that
    /// the first round reads.
    #[inline(always)]
    fn fill(&mut self, keys: &[RoundKey; ROUNDS], before: u32) {
        self.first = half_masks(before ^ keys[0].inner);
        for (round, masks) in self.rounds.iter_mut().enumerate() {
            // The half that is written was read in the round before and is read in the next one.
            let had = if round == 0 { 0 } else { keys[round - 1].inner };
            let next = if round == ROUNDS - 1 { 0 } else { keys[round + 1].inner };
            masks.offsets = half_masks(had ^ next);
            // The bits on either side of an S-box's own have the offset of their own S-box.
            let first = keys[round].outer ^ keys[round].inner.rotate_right(4);
            let last = keys[round].outer >> 1 ^ keys[round].inner.rotate_left(1);
            for (sbox, masks) in masks.outer.iter_mut().enumerate() {
                let lowest = 28 - 4 * sbox;
                *masks =
                    [(first >> lowest & 1).wrapping_neg(), (last >> lowest & 1).wrapping_neg()];
            }
        }
    }
}

impl<K: Keying> Form for Bits<K> {
    type Schedule = RoundKeys<K>;
    type Core = BitRounds;
    type Keys = Secret<Masks>;

    #[inline(always)]
    fn keys(schedule: &RoundKeys<K>, direction: Direction) -> Self::Keys {
        let mut masks = Secret::new(Masks {
            passes: [PassMasks::default(); MAX_PASSES],
            count: K::PASSES.len(),
            last: [0; 32],
        });
        let mut offset = 0;
        for (number, pass) in masks.passes[..K::PASSES.len()].iter_mut().enumerate() {
            let mut keys = Secret::new([RoundKey::default(); ROUNDS]);
            for (round, key) in keys.iter_mut().enumerate() {
                *key = schedule.get()[schedule::number::<K>(direction, number, round)];
            }
            pass.fill(&keys, offset);
            offset = keys[ROUNDS - 1].inner;
        }
        masks.last = half_masks(offset);
        masks
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &Masks {
        keys
    }
}

// ANCHOR: add_f
/// Adds f of half `from` (0 left, 1 right) to the other one.
#[inline(always)]
pub(crate) fn add_f<I: BitLanes>(
    isa: I,
    halves: &mut Halves<I::Word>,
    from: usize,
    masks: &RoundMasks,
) {
    let (from, to) = (from & 1, from & 1 ^ 1);
    macro_rules! add_sboxes {
        ($($number:literal $sbox:ident),*) => {$({
            // The outer two are inner inputs of the S-boxes on either side.
            let x = [
                halves[const { input_of($number, 0) }][from]
                    ^ isa.splat(masks.outer[$number][1]),
                halves[const { input_of($number, 1) }][from],
                halves[const { input_of($number, 2) }][from],
                halves[const { input_of($number, 3) }][from],
                halves[const { input_of($number, 4) }][from],
                halves[const { input_of($number, 5) }][from]
                    ^ isa.splat(masks.outer[$number][0]),
            ];
            let outputs = sbox::$sbox(x);
            for i in 0..4 {
                let pair = pair_of(AFTER_P[4 * $number + 3 - i]);
                let offset = isa.splat(masks.offsets[pair]);
                halves[pair][to] = Word::xor3(halves[pair][to], outputs[i], offset);
            }
        })*};
    }
    add_sboxes!(0 sbox1, 1 sbox2, 2 sbox3, 3 sbox4, 4 sbox5, 5 sbox6, 6 sbox7, 7 sbox8);
}
// ANCHOR_END: add_f

/// Runs every pass. The halves are named by a number that changes from round to round, so that they
/// stay in memory, where the compiler would else move all of them through registers.
#[inline(always)]
fn run<I: BitLanes>(isa: I, masks: &Masks, halves: &mut Halves<I::Word>) {
    let mut from = 1;
    for pass in &masks.passes[..masks.count] {
        for (pair, mask) in halves.iter_mut().zip(&pass.first) {
            pair[from & 1] ^= isa.splat(*mask);
        }
        for round in &pass.rounds {
            add_f(isa, halves, from, round);
            from ^= 1;
        }
        // Between two passes the halves are exchanged.
        from ^= 1;
    }
    // Before the final permutation they are as well.
    for (pair, mask) in halves.iter_mut().zip(&masks.last) {
        pair[from & 1] ^= isa.splat(*mask);
        pair.swap(0, 1);
    }
}

/// What is left over, on lanes that suit it.
struct Padded<R>(R);

impl<R: Rest<BitRounds>> OnBitLanes for Padded<R> {
    #[inline(always)]
    fn run<I: BitLanes>(self, isa: I) {
        self.0.pad(isa);
    }
}

/// Up to this number of blocks run faster one by one than as a batch.
const SINGLES: usize = 1;

/// The rounds of [`Bits`], whatever the keying.
#[derive(Debug)]
pub enum BitRounds {}

impl Core for BitRounds {
    type BlockSize = U8;
    type Keys = Masks;
}

impl<I: BitLanes> Rounds<I> for BitRounds {
    type State = BitState<I::Word, 64>;

    #[inline(always)]
    fn run<const G: usize>(masks: &Masks, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            for halves in state.0.as_chunks_mut::<2>().0.as_chunks_mut::<32>().0 {
                run(isa, masks, halves);
            }
        }
    }

    #[inline(always)]
    fn rest(isa: I, blocks: usize, rest: impl Rest<Self>) {
        isa.suited(blocks, Padded(rest));
    }
}

impl<K: Keying, I: BitLanes> RunsOn<I> for Bits<K> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        (blocks <= SINGLES).then_some(1)
    }

    fn run_short(
        schedule: &RoundKeys<K>,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U8>>,
    ) {
        for block in blocks.into_out_with_copied_in() {
            compact::run::<K>(schedule.get(), direction, &mut block.0);
        }
    }
}
