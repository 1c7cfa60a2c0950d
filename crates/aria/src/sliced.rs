//! ARIA sliced by bits and by bytes, one block per lane, on every instruction set.
//!
//! By bits, the S-boxes are circuits; by bytes they are inversion between affine maps, for which
//! there are instructions. The diffusion layer is additions, and nothing is ever shifted.
//! Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

mod blocks;

use core::marker::PhantomData;

use cipher::{
    Array, InOutBuf,
    consts::{U16, U64},
    typenum::Unsigned,
};
use lanecrypt_core::{Chains, Direction, Secret};
use lanecrypt_slicing::{
    BitLanes, BitState, BlockLanes, ByteLanes, ByteState, Choices, Core, FieldBytes, Form,
    REGISTERS, Rounds, RunsOn, Word, chains_in_lanes, in_lanes, lanes_at_once, one_or, spread,
};

pub(crate) use self::blocks::Expand;
use crate::{
    compact,
    diffusion::diffuse,
    maps::{AFTER_S1, AFTER_S2, BEFORE_S1_INVERSE, BEFORE_S2_INVERSE},
    sbox,
    schedule::{self, KeyLength, Layer, MAX_ROUND_KEYS, PerRound, RoundKeys, Steps},
};

/// ARIA sliced by bits.
#[derive(Debug)]
pub struct Bits<K>(PhantomData<K>);

/// ARIA sliced by bytes.
#[derive(Debug)]
pub struct Bytes<K>(PhantomData<K>);

// ANCHOR: steps
/// The steps on planes: byte `i` in words `8i` to `8i + 7`, lowest bit first.
pub(crate) struct OnBits<I>(pub(crate) I);

impl<I: BitLanes> Steps for OnBits<I> {
    type State = BitState<I::Word, 128>;
    type Key = [[u32; 8]; 16];

    #[inline(always)]
    fn add(&self, state: &mut Self::State, key: &Self::Key) {
        for (word, mask) in state.0.iter_mut().zip(key.as_flattened()) {
            *word ^= self.0.splat(*mask);
        }
    }

    #[inline(always)]
    fn substitute(&self, state: &mut Self::State, layer: Layer) {
        for group in state.0.as_chunks_mut::<8>().0.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = in_order(group, layer);
            *a = circuit::<0, _>(*a);
            *b = circuit::<1, _>(*b);
            *c = circuit::<2, _>(*c);
            *d = circuit::<3, _>(*d);
        }
    }

    /// With bytes `i` and `i ^ 2` exchanged, layer two is layer one, and the diffusion is what it was. So both kinds
    /// of rounds are the same text under other names.
    #[inline(always)]
    fn substitute_and_diffuse(&self, state: &mut Self::State, layer: Layer) {
        self.substitute(state, layer);
        let exchange = match layer {
            Layer::One => 0,
            Layer::Two => 2,
        };
        for bit in 0..8 {
            let mut row = [state.0[0]; 16];
            for (i, word) in row.iter_mut().enumerate() {
                *word = state.0[8 * (i ^ exchange) + bit];
            }
            for (i, sum) in diffuse(row).into_iter().enumerate() {
                state.0[8 * (i ^ exchange) + bit] = sum;
            }
        }
    }
}
// ANCHOR_END: steps

/// What the numbers of bytes of round key `i`, counted from 0, differ by from those that steps of the plan give them.
#[cfg(any(feature = "record", feature = "wgpu"))]
pub(crate) const fn exchange(i: usize, rounds: usize) -> usize {
    if i % 2 == 1 && i < rounds - 1 { 2 } else { 0 }
}

/// The bytes of a group that go through S1, S2 and their inverses, in this order.
#[inline(always)]
fn in_order<T>([a, b, c, d]: &mut [T; 4], layer: Layer) -> [&mut T; 4] {
    match layer {
        Layer::One => [a, b, c, d],
        Layer::Two => [c, d, a, b],
    }
}

/// The circuit of an S-box, 0 to 3 in the order of SL1.
#[inline(always)]
pub(crate) fn circuit<const SBOX: usize, W: Word>(byte: [W; 8]) -> [W; 8] {
    match SBOX {
        0 => sbox::sbox1(byte),
        1 => sbox::sbox2(byte),
        2 => sbox::inv_sbox1(byte),
        _ => sbox::inv_sbox2(byte),
    }
}

/// The steps on rows of bytes.
struct OnBytes<I>(I);

impl<I: ByteLanes<Bytes: FieldBytes>> Steps for OnBytes<I> {
    type State = ByteState<I::Bytes, 16>;
    type Key = [u32; 16];

    #[inline(always)]
    fn add(&self, state: &mut Self::State, key: &Self::Key) {
        for (byte, four) in state.0.iter_mut().zip(key) {
            *byte ^= self.0.splat(*four);
        }
    }

    #[inline(always)]
    fn substitute(&self, state: &mut Self::State, layer: Layer) {
        for group in state.0.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = in_order(group, layer);
            *a = a.inverse_affine::<{ AFTER_S1.0 }, { AFTER_S1.1 }>();
            *b = b.inverse_affine::<{ AFTER_S2.0 }, { AFTER_S2.1 }>();
            *c = c.affine_inverse::<{ BEFORE_S1_INVERSE.0 }, { BEFORE_S1_INVERSE.1 }>();
            *d = d.affine_inverse::<{ BEFORE_S2_INVERSE.0 }, { BEFORE_S2_INVERSE.1 }>();
        }
    }

    #[inline(always)]
    fn substitute_and_diffuse(&self, state: &mut Self::State, layer: Layer) {
        self.substitute(state, layer);
        state.0 = diffuse(state.0);
    }
}

impl<K: KeyLength> Form for Bits<K> {
    type Schedule = RoundKeys<K>;
    type Core = BitRounds;
    type Keys = PerRound<K, [[u32; 8]; 16]>;

    #[inline(always)]
    fn keys(schedule: &RoundKeys<K>, direction: Direction) -> Self::Keys {
        schedule::map::<K, _>(schedule.of(direction), |key| {
            let mut masks = [[0; 8]; 16];
            for (bits, byte) in masks.iter_mut().zip(key) {
                *bits = lanecrypt_slicing::masks(*byte);
            }
            masks
        })
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &[[[u32; 8]; 16]] {
        keys
    }
}

/// The rounds of [`Bits`], whatever the key size.
#[derive(Debug)]
pub enum BitRounds {}

impl Core for BitRounds {
    type BlockSize = U16;
    type Keys = [[[u32; 8]; 16]];
}

impl<I: BitLanes> Rounds<I> for BitRounds {
    type State = BitState<I::Word, 128>;

    #[inline(always)]
    fn run<const G: usize>(keys: &Self::Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            schedule::run(&OnBits(isa), keys, state);
        }
    }
}

impl<K: KeyLength, I: BitLanes> RunsOn<I> for Bits<K> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        one_or(compact::BLOCKS, blocks)
    }

    fn run_short(
        schedule: &RoundKeys<K>,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        let blocks = Array::cast_slice_to_core_mut(blocks.into_out_with_copied_in());
        compact::run(schedule.of(direction), blocks);
    }
}

impl<K: KeyLength> Form for Bytes<K> {
    type Schedule = RoundKeys<K>;
    type Core = ByteRounds;
    /// As many as the cipher has round keys; an array of one size is made without a call.
    type Keys = Secret<[[u32; 16]; MAX_ROUND_KEYS]>;

    #[inline(always)]
    fn keys(schedule: &RoundKeys<K>, direction: Direction) -> Self::Keys {
        let mut keys = Secret::new([[0; 16]; MAX_ROUND_KEYS]);
        for (fours, key) in keys.iter_mut().zip(schedule.of(direction).iter()) {
            for (four, byte) in fours.iter_mut().zip(key) {
                *four = spread(*byte);
            }
        }
        keys
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &[[u32; 16]] {
        &keys[..K::RoundKeys::USIZE]
    }
}

/// The rounds of [`Bytes`], whatever the key size.
#[derive(Debug)]
pub enum ByteRounds {}

impl Core for ByteRounds {
    type BlockSize = U16;
    type Keys = [[u32; 16]];
}

impl<I: BlockLanes> Rounds<I> for ByteRounds {
    type State = ByteState<I::Bytes, 16>;

    #[inline(always)]
    fn run<const G: usize>(keys: &Self::Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            schedule::run(&OnBytes(isa), keys, state);
        }
    }
}

impl<K: KeyLength, I: BlockLanes> RunsOn<I> for Bytes<K> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        lanes_at_once::<I>(REGISTERS, blocks)
    }

    fn run_short(
        schedule: &RoundKeys<K>,
        isa: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        in_lanes::<Self, I>(schedule, isa, direction, blocks);
    }

    fn run_chains(schedule: &RoundKeys<K>, isa: I, chains: &mut Chains<'_, '_, '_>) -> bool {
        chains_in_lanes::<Self, I>(schedule, isa, chains)
    }
}

/// ARIA on whatever CPU there is.
#[derive(Debug)]
pub struct CpuForms<K>(PhantomData<K>);

impl<K: KeyLength> Choices for CpuForms<K> {
    type Schedule = RoundKeys<K>;
    type Lanes = U64;
    type Fast = Bytes<K>;
    type Plain = Bits<K>;
}

lanecrypt_slicing::compiled_here!(fast: ByteRounds, plain: BitRounds);
