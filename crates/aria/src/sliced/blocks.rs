//! ARIA on a few whole blocks in lanes.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::Array;
use lanecrypt_core::Direction;
use lanecrypt_reference::diffusion::ARIA_A;
use lanecrypt_slicing::{
    BlockBytes, BlockLanes, BlockRounds, FieldBytes, LanesBody, Word, matrix::IDENTITY,
};

use super::Bytes;
use crate::{
    compact::KeyCircuits,
    maps::{AFTER_S1, AFTER_S2, BEFORE_S1_INVERSE, BEFORE_S2_INVERSE},
    schedule::{self, Block, KeyLength, KeySteps, Layer, PerRound, RoundKeys, Steps},
};

/// The part of A that makes bytes `8 * to` to `8 * to + 7` from bytes `8 * from` and on, as
/// [`BlockBytes::mixed`] wants it.
const fn part(to: usize, from: usize) -> u64 {
    let mut rows = [0; 8];
    let mut i = 0;
    while i < 8 {
        let summands = ARIA_A[8 * to + i];
        let mut k = 0;
        while k < summands.len() {
            if summands[k] as usize / 8 == from {
                rows[i] |= 1 << (summands[k] % 8);
            }
            k += 1;
        }
        i += 1;
    }
    u64::from_le_bytes(rows)
}

/// The halves of a block exchanged.
const EXCHANGED: u128 = u128::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]);

/// The bytes of a group that go through S2 or its inverse.
const SECOND: u32 = 0xff00_ff00;
/// The bytes of a group that go through the inverses in SL1.
const INVERSES: u32 = 0xffff_0000;

/// The steps on `N` registers of blocks.
struct OnBlocks<I, const N: usize>(I);

impl<I: BlockLanes, const N: usize> OnBlocks<I, N> {
    #[inline(always)]
    fn sboxes(&self, x: I::Bytes, layer: Layer) -> I::Bytes {
        let choose = <I::Bytes as Word>::choose;
        let second = self.0.splat(SECOND);
        let inverses = self.0.splat(match layer {
            Layer::One => INVERSES,
            Layer::Two => !INVERSES,
        });
        let before = choose(
            second,
            x.affine::<{ BEFORE_S2_INVERSE.0 }, { BEFORE_S2_INVERSE.1 }>(),
            x.affine::<{ BEFORE_S1_INVERSE.0 }, { BEFORE_S1_INVERSE.1 }>(),
        );
        let straight = choose(
            second,
            x.inverse_affine::<{ AFTER_S2.0 }, { AFTER_S2.1 }>(),
            x.inverse_affine::<{ AFTER_S1.0 }, { AFTER_S1.1 }>(),
        );
        choose(inverses, before.inverse_affine::<IDENTITY, 0>(), straight)
    }
}

/// The diffusion layer A.
#[inline(always)]
fn diffuse<I: BlockLanes>(register: I::Bytes) -> I::Bytes {
    let own = register.mixed::<{ part(0, 0) }, { part(1, 1) }>();
    let exchanged = register.shuffled::<EXCHANGED>();
    own ^ exchanged.mixed::<{ part(0, 1) }, { part(1, 0) }>()
}

impl<I: BlockLanes, const N: usize> Steps for OnBlocks<I, N> {
    type State = [I::Bytes; N];
    type Key = Block;

    #[inline(always)]
    fn add(&self, state: &mut Self::State, key: &Block) {
        let key = self.0.broadcast(key);
        for register in state {
            *register ^= key;
        }
    }

    #[inline(always)]
    fn substitute(&self, state: &mut Self::State, layer: Layer) {
        for register in state {
            *register = self.sboxes(*register, layer);
        }
    }

    #[inline(always)]
    fn substitute_and_diffuse(&self, state: &mut Self::State, layer: Layer) {
        self.substitute(state, layer);
        for register in state {
            *register = diffuse::<I>(*register);
        }
    }
}

impl<K: KeyLength> BlockRounds for Bytes<K> {
    type BlockKeys<'a> = &'a PerRound<K, Block>;

    #[inline(always)]
    fn block_keys(schedule: &RoundKeys<K>, direction: Direction) -> &PerRound<K, Block> {
        schedule.of(direction)
    }

    #[inline(always)]
    fn run_blocks<I: BlockLanes, const N: usize>(
        keys: &Self::BlockKeys<'_>,
        isa: I,
        registers: &mut [I::Bytes; N],
    ) {
        schedule::run(&OnBlocks::<I, N>(isa), keys, registers);
    }
}

impl<I: BlockLanes> KeySteps for OnBlocks<I, 1> {
    #[inline(always)]
    fn round(&self, mut block: Block, layer: Layer) -> Block {
        let mut state = [self.0.load(&block)];
        self.substitute_and_diffuse(&mut state, layer);
        self.0.store(state[0], &mut block);
        block
    }

    #[inline(always)]
    fn diffuse(&self, blocks: &mut [Block]) {
        for blocks in blocks.chunks_mut(I::BLOCKS) {
            let bytes = blocks.as_flattened_mut();
            self.0.store(diffuse::<I>(self.0.load(bytes)), bytes);
        }
    }
}

/// The key schedule.
pub(crate) struct Expand<'a, K: KeyLength>(pub(crate) &'a Array<u8, K::Size>);

impl<K: KeyLength> LanesBody for Expand<'_, K> {
    type Output = RoundKeys<K>;

    #[inline(always)]
    fn with<I: BlockLanes>(self, isa: I) -> RoundKeys<K> {
        RoundKeys::expand(self.0, &OnBlocks::<I, 1>(isa))
    }

    fn without(self) -> RoundKeys<K> {
        RoundKeys::expand(self.0, &KeyCircuits)
    }
}
