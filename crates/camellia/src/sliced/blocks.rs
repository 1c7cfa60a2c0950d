//! Camellia on a few whole blocks in lanes, halves as [`Offsets`] has them.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use lanecrypt_core::{Direction, Secret};
use lanecrypt_reference::diffusion::CAMELLIA_P;
use lanecrypt_slicing::{BlockBytes, BlockLanes, BlockRounds, FieldBytes, NONE, Word};

use super::{
    Bytes,
    offsets::{Layer, Offsets},
};
use crate::{
    maps::{
        AFTER_SBOX1, AFTER_SBOX2, AFTER_SBOX3, BEFORE_SBOX4, CARRIED, INTO_BASIS, OUT_OF_BASIS,
        SHIFTED,
    },
    schedule::{GROUP, KeyLength, Subkeys},
};

/// P, as [`BlockBytes::mixed`] wants it.
const P: u64 = {
    let mut rows = [0; 8];
    let mut i = 0;
    while i < 8 {
        let mut k = 0;
        while k < CAMELLIA_P[i].len() {
            rows[i] |= 1 << (CAMELLIA_P[i][k] - 1);
            k += 1;
        }
        i += 1;
    }
    u64::from_le_bytes(rows)
};

/// The bytes of a half that go through SBOX2, SBOX3 and SBOX4.
const SBOX2: u64 = 0x0000_00ff_0000_ff00;
const SBOX3: u64 = 0x0000_ff00_00ff_0000;
const SBOX4: u64 = 0x00ff_0000_ff00_0000;

/// The halves of a block exchanged.
const EXCHANGED: u128 = u128::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]);

/// Four bytes from `from` on to the place `to`, turned by `by`; the others zero.
const fn part(from: usize, to: usize, by: usize) -> u128 {
    let mut order = [NONE; 16];
    let mut i = 0;
    while i < 4 {
        order[to + i] = (from + (i + by) % 4) as u8;
        i += 1;
    }
    u128::from_le_bytes(order)
}

/// The same 64 bits in both halves of a mask of a block.
const fn twice(half: u64) -> [u8; 16] {
    (half as u128 | (half as u128) << 64).to_le_bytes()
}

/// Two halves as a block.
#[inline(always)]
fn block([first, second]: [u64; 2]) -> [u8; 16] {
    (u128::from(first) | u128::from(second) << 64).to_le_bytes()
}

struct OnBlocks<I>(I);

impl<I: BlockLanes> OnBlocks<I> {
    /// The S-boxes on both halves.
    #[inline(always)]
    fn sboxes(&self, x: I::Bytes) -> I::Bytes {
        let choose = <I::Bytes as Word>::lut3::<0xca>; // by the mask, the first or the second
        let mask = |half: &'static [u8; 16]| self.0.broadcast(half);
        let turned = x.affine::<{ BEFORE_SBOX4.0 }, { BEFORE_SBOX4.1 }>();
        let x = choose(mask(const { &twice(SBOX4) }), turned, x);
        let others = choose(
            mask(const { &twice(SBOX3) }),
            x.inverse_affine::<{ AFTER_SBOX3.0 }, { AFTER_SBOX3.1 }>(),
            x.inverse_affine::<{ AFTER_SBOX1.0 }, { AFTER_SBOX1.1 }>(),
        );
        let second = x.inverse_affine::<{ AFTER_SBOX2.0 }, { AFTER_SBOX2.1 }>();
        choose(mask(const { &twice(SBOX2) }), second, others)
    }

    /// Half of FL, and half of its inverse: adds a part AND the key's, rotated left by one bit, from
    /// where `SHIFT` has its bytes and `CARRY` the ones below, and a part OR the key's.
    #[inline(always)]
    fn half_layer<const SHIFT: u128, const CARRY: u128, const OR: u128>(
        &self,
        x: I::Bytes,
        layer: &[Layer; 2],
    ) -> I::Bytes {
        let [fl, fl_inverse] = layer;
        let key = self.0.broadcast(&block([fl.key, fl_inverse.key]));
        let offset = self.0.broadcast(&block([fl.offset, fl_inverse.offset]));
        let plain = x.affine::<OUT_OF_BASIS, 0>() ^ offset;
        let product = plain & key;
        let shifted = product.affine::<SHIFTED, 0>().shuffled::<SHIFT>();
        let carried = product.affine::<CARRIED, 0>().shuffled::<CARRY>();
        let or = (plain | key).affine::<INTO_BASIS, 0>().shuffled::<OR>();
        Word::xor3(x ^ shifted, carried, or)
    }

    /// FL on the first half, its inverse on the second.
    #[inline(always)]
    fn layer(&self, x: I::Bytes, keys: &[Layer; 2]) -> I::Bytes {
        let x =
            self.half_layer::<{ part(0, 4, 0) }, { part(0, 4, 1) }, { part(12, 8, 0) }>(x, keys);
        self.half_layer::<{ part(8, 12, 0) }, { part(8, 12, 1) }, { part(4, 0, 0) }>(x, keys)
    }
}

impl<K: KeyLength> BlockRounds for Bytes<K> {
    type BlockKeys<'a> = Secret<Offsets>;

    #[inline(always)]
    fn block_keys(schedule: &Subkeys<K>, direction: Direction) -> Secret<Offsets> {
        Secret::new(Offsets::new(&schedule.of(direction)))
    }

    #[inline(always)]
    fn run_blocks<I: BlockLanes, const N: usize>(
        keys: &Secret<Offsets>,
        isa: I,
        registers: &mut [I::Bytes; N],
    ) {
        let on = OnBlocks(isa);
        for x in registers.iter_mut() {
            *x = x.affine::<INTO_BASIS, 0>() ^ isa.broadcast(&block(keys.start));
        }
        for (group, rounds) in keys.rounds.as_chunks::<GROUP>().0[..keys.groups].iter().enumerate()
        {
            if group > 0 {
                for x in registers.iter_mut() {
                    *x = on.layer(*x, &keys.layers[group - 1]);
                }
            }
            for [first, second] in rounds.as_chunks::<2>().0 {
                for x in registers.iter_mut() {
                    let f = on.sboxes(*x).shuffled::<EXCHANGED>().mixed::<0, P>();
                    *x = Word::xor3(*x, isa.broadcast(&block([0, *first])), f);
                }
                for x in registers.iter_mut() {
                    let f = on.sboxes(*x).shuffled::<EXCHANGED>().mixed::<P, 0>();
                    *x = Word::xor3(*x, isa.broadcast(&block([*second, 0])), f);
                }
            }
        }
        let [first, second] = keys.end;
        for x in registers.iter_mut() {
            let plain = x.affine::<OUT_OF_BASIS, 0>() ^ isa.broadcast(&block([second, first]));
            *x = plain.shuffled::<EXCHANGED>();
        }
    }
}
