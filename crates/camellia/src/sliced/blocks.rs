//! Camellia on a few whole blocks in lanes, in the basis of the S-boxes.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::typenum::Unsigned;
use lanecrypt_core::Direction;
use lanecrypt_reference::diffusion::CAMELLIA_P;
use lanecrypt_slicing::{
    BlockBytes, BlockLanes, BlockRounds, FieldBytes, LanesBody, NONE, Word, matrix::apply,
};

use super::Bytes;
use crate::{
    compact::Circuit,
    maps::{
        AFTER_SBOX1, AFTER_SBOX2, AFTER_SBOX3, BEFORE, BEFORE_SBOX4, CARRIED, INTO_BASIS,
        OUT_OF_BASIS, SHIFTED,
    },
    schedule::{self, GROUP, KeyLength, Keys, SIGMA, STRIDE, Subkeys},
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

/// The bytes of every half, which in a number are the highest first.
const REVERSED: u128 = u128::from_le_bytes([7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]);

/// Before SBOX4, where [`BEFORE`] was added to its bytes as well.
const TURNED: (u64, i32) = (BEFORE_SBOX4.0, BEFORE_SBOX4.1 ^ apply(BEFORE_SBOX4.0, BEFORE) as i32);

/// The subkeys of a direction.
#[derive(Debug)]
pub struct InOrder<'a, K: KeyLength> {
    subkeys: &'a Subkeys<K>,
    direction: Direction,
}

struct OnBlocks<I>(I);

impl<I: BlockLanes> OnBlocks<I> {
    /// Half of FL, and half of its inverse: adds a part AND the key's, rotated left by one bit, from
    /// where `SHIFT` has its bytes and `CARRY` the ones below, and a part OR the key's.
    #[inline(always)]
    fn half_layer<const SHIFT: u128, const CARRY: u128, const OR: u128>(
        x: I::Bytes,
        key: I::Bytes,
    ) -> I::Bytes {
        let plain = x.affine::<OUT_OF_BASIS, 0>();
        let product = plain & key;
        let shifted = product.affine::<SHIFTED, 0>().shuffled::<SHIFT>();
        let carried = product.affine::<CARRIED, 0>().shuffled::<CARRY>();
        let or = (plain | key).affine::<INTO_BASIS, 0>().shuffled::<OR>();
        Word::xor3(x ^ shifted, carried, or)
    }

    /// A subkey in both halves.
    #[inline(always)]
    fn twice(&self, subkey: u64) -> I::Bytes {
        self.0.broadcast(&twice(subkey)).shuffled::<REVERSED>()
    }

    /// A subkey in the first half and another in the second.
    #[inline(always)]
    fn both(&self, [first, second]: [u64; 2]) -> I::Bytes {
        let mask = self.0.broadcast(const { &u128::to_le_bytes(u64::MAX as u128) });
        Word::choose(mask, self.twice(first), self.twice(second))
    }

    /// FL on the first half, its inverse on the second.
    #[inline(always)]
    fn layer(&self, x: I::Bytes, keys: [u64; 2]) -> I::Bytes {
        let key = self.both(keys);
        let x =
            Self::half_layer::<{ part(0, 4, 0) }, { part(0, 4, 1) }, { part(12, 8, 0) }>(x, key);
        Self::half_layer::<{ part(8, 12, 0) }, { part(8, 12, 1) }, { part(4, 0, 0) }>(x, key)
    }

    /// What a round adds, from a block with its subkey added: F of either half in the other, which
    /// `LOW` and `HIGH` choose.
    #[inline(always)]
    fn f<const LOW: u64, const HIGH: u64>(&self, x: I::Bytes) -> I::Bytes {
        let mask = |half: &'static [u8; 16]| self.0.broadcast(half);
        let turned = x.affine::<{ TURNED.0 }, { TURNED.1 }>();
        let x = Word::choose(mask(const { &twice(SBOX4) }), turned, x);
        let others = Word::choose(
            mask(const { &twice(SBOX3) }),
            x.inverse_affine::<{ AFTER_SBOX3.0 }, { AFTER_SBOX3.1 }>(),
            x.inverse_affine::<{ AFTER_SBOX1.0 }, { AFTER_SBOX1.1 }>(),
        );
        let second = x.inverse_affine::<{ AFTER_SBOX2.0 }, { AFTER_SBOX2.1 }>();
        let images = Word::choose(mask(const { &twice(SBOX2) }), second, others);
        images.shuffled::<EXCHANGED>().mixed::<LOW, HIGH>()
    }

    /// Adds F of one half to the other.
    #[inline(always)]
    fn round<const LOW: u64, const HIGH: u64>(&self, registers: &mut [I::Bytes], subkey: u64) {
        let key = self.twice(subkey).affine::<INTO_BASIS, { BEFORE as i32 }>();
        for x in registers {
            *x ^= self.f::<LOW, HIGH>(*x ^ key);
        }
    }
}

impl<K: KeyLength> BlockRounds for Bytes<K> {
    type BlockKeys<'a> = InOrder<'a, K>;

    #[inline(always)]
    fn block_keys(subkeys: &Subkeys<K>, direction: Direction) -> InOrder<'_, K> {
        InOrder { subkeys, direction }
    }

    #[inline(always)]
    fn run_blocks<I: BlockLanes, const N: usize>(
        keys: &InOrder<'_, K>,
        isa: I,
        registers: &mut [I::Bytes; N],
    ) {
        let on = OnBlocks(isa);
        let key = |i| keys.subkeys.at(keys.direction, i);
        let end = K::Subkeys::USIZE - 2;
        let start = on.both([key(0), key(1)]);
        for x in registers.iter_mut() {
            *x = (*x ^ start).affine::<INTO_BASIS, 0>();
        }
        for group in (2..end).step_by(STRIDE) {
            for i in (group..group + GROUP).step_by(2) {
                on.round::<0, P>(registers, key(i));
                on.round::<P, 0>(registers, key(i + 1));
            }
            let layer = group + GROUP;
            if layer < end {
                for x in registers.iter_mut() {
                    *x = on.layer(*x, [key(layer), key(layer + 1)]);
                }
            }
        }
        // The halves are left in the order in which they are stored.
        let last = on.both([key(end), key(end + 1)]);
        for x in registers.iter_mut() {
            *x = x.affine::<OUT_OF_BASIS, 0>().shuffled::<EXCHANGED>() ^ last;
        }
    }
}

/// KA and KB of the key schedule: what is mixed is a block in the basis of the S-boxes, under six subkeys.
pub(crate) struct Mix<'a>(pub(crate) Keys<'a>);

impl LanesBody for Mix<'_> {
    type Output = [u128; 2];

    #[inline(always)]
    fn with<I: BlockLanes>(self, isa: I) -> [u128; 2] {
        let Keys { kl, kr } = self.0;
        let on = OnBlocks(isa);
        let brought_in = |word: u128| isa.broadcast(&word.to_be_bytes()).affine::<INTO_BASIS, 0>();
        let brought_out = |x: I::Bytes| {
            let mut bytes = [0; 16];
            isa.store(x.affine::<OUT_OF_BASIS, 0>(), &mut bytes);
            u128::from_be_bytes(bytes)
        };
        let two_rounds = |x: I::Bytes, subkeys: [u64; 2]| {
            let mut registers = [x];
            on.round::<0, P>(&mut registers, subkeys[0]);
            on.round::<P, 0>(&mut registers, subkeys[1]);
            registers[0]
        };
        let [s1, s2, s3, s4, s5, s6] = SIGMA;
        let start = two_rounds(brought_in(kl ^ kr.unwrap_or(&0)), [s1, s2]);
        let ka = two_rounds(start ^ brought_in(*kl), [s3, s4]);
        let kb = kr.map(|kr| brought_out(two_rounds(ka ^ brought_in(*kr), [s5, s6])));
        [brought_out(ka), kb.unwrap_or(0)]
    }

    fn without(self) -> [u128; 2] {
        schedule::mix::<Circuit>(self.0)
    }
}
