//! SEED on a few whole blocks in lanes: F runs on words, each four times in its block.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use lanecrypt_core::Direction;
use lanecrypt_slicing::{BlockBytes, BlockLanes, BlockRounds, FieldBytes, Word};

use super::Bytes;
use crate::{
    compact::masks,
    maps::{AFTER_S0, AFTER_S1, BEFORE},
    schedule::{ROUNDS, RoundKeys},
};

/// The bytes of every word from those `BY[j]` further on in the block, for byte `j` of a word.
const fn words(by: [u8; 4]) -> u128 {
    let mut order = [0; 16];
    let mut i = 0;
    while i < 16 {
        order[i] = (i / 4 * 4) as u8 + by[i % 4];
        i += 1;
    }
    u128::from_le_bytes(order)
}

/// Words are stored with their highest byte first.
const REVERSED: u128 = words([3, 2, 1, 0]);
/// Words rotated towards the highest byte.
const TURNED: [u128; 3] = [words([3, 0, 1, 2]), words([2, 3, 0, 1]), words([1, 2, 3, 0])];
/// The same, with the halves of the block exchanged.
const STORED: u128 = REVERSED.rotate_left(64);

/// Word `i` of the block in place of all four.
const fn word(i: u8) -> u128 {
    let mut order = [0; 16];
    let mut j = 0;
    while j < 16 {
        order[j] = 4 * i + j as u8 % 4;
        j += 1;
    }
    u128::from_le_bytes(order)
}

/// The lane of a word, as a mask of a block.
const fn lane(i: usize) -> [u8; 16] {
    (0xffff_ffff_u128 << (32 * i)).to_le_bytes()
}

/// `a` XOR `b` AND `c`.
const XOR_AND: i32 = 0x78;

struct OnBlocks<I>(I);

impl<I: BlockLanes> OnBlocks<I> {
    #[inline(always)]
    fn g(&self, x: I::Bytes) -> I::Bytes {
        let x = x.affine::<BEFORE, 0>();
        let even = x.inverse_affine::<{ AFTER_S0.0 }, { AFTER_S0.1 }>();
        let odd = x.inverse_affine::<{ AFTER_S1.0 }, { AFTER_S1.1 }>();
        let y = Word::choose(self.0.splat(0x00ff_00ff), even, odd);
        let mask = |turn| self.0.splat(turn);
        let [m0, m1, m2, m3] = const { [masks(0), masks(1), masks(2), masks(3)] };
        let low = <I::Bytes as Word>::lut3::<XOR_AND>(
            y & mask(m0),
            y.shuffled::<{ TURNED[0] }>(),
            mask(m1),
        );
        let high = <I::Bytes as Word>::lut3::<XOR_AND>(
            y.shuffled::<{ TURNED[1] }>() & mask(m2),
            y.shuffled::<{ TURNED[2] }>(),
            mask(m3),
        );
        low ^ high
    }

    /// XORs F of the words of which `C` and `D` make blocks to word `to` and the one after it.
    #[inline(always)]
    fn add_f<const C: u128, const D: u128>(&self, block: &mut I::Bytes, to: usize, key: [u32; 2]) {
        let c = block.shuffled::<C>() ^ self.0.splat(key[0]);
        let d = Word::xor3(block.shuffled::<D>(), c, self.0.splat(key[1]));
        let d = self.g(d);
        let c = self.g(c.add32(d));
        let d = self.g(d.add32(c));
        let [first, second] = [lane(to), lane(to + 1)];
        let sum = <I::Bytes as Word>::lut3::<XOR_AND>(*block, d, self.0.broadcast(&second));
        *block = <I::Bytes as Word>::lut3::<XOR_AND>(sum, c.add32(d), self.0.broadcast(&first));
    }
}

impl BlockRounds for Bytes {
    type BlockKeys<'a> = (&'a RoundKeys, Direction);

    #[inline(always)]
    fn block_keys(keys: &RoundKeys, direction: Direction) -> (&RoundKeys, Direction) {
        (keys, direction)
    }

    #[inline(always)]
    fn run_blocks<I: BlockLanes, const N: usize>(
        &(keys, direction): &(&RoundKeys, Direction),
        isa: I,
        registers: &mut [I::Bytes; N],
    ) {
        for register in registers.iter_mut() {
            *register = register.shuffled::<REVERSED>();
        }
        for i in (0..ROUNDS).step_by(2) {
            let (first, second) = (keys.at(direction, i), keys.at(direction, i + 1));
            for register in registers.iter_mut() {
                OnBlocks(isa).add_f::<{ word(2) }, { word(3) }>(register, 0, first);
            }
            for register in registers.iter_mut() {
                OnBlocks(isa).add_f::<{ word(0) }, { word(1) }>(register, 2, second);
            }
        }
        // Halves are left in the order in which they are stored.
        for register in registers.iter_mut() {
            *register = register.shuffled::<STORED>();
        }
    }
}
