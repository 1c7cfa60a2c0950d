//! SM4 on a few whole blocks in lanes, and the key schedule: a register has one word of its blocks, of four blocks
//! side by side or of one block four times.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{Array, consts::U16};
use lanecrypt_core::{Direction, Secret};
use lanecrypt_slicing::{
    BlockBytes, BlockLanes, BlockRounds, FieldBytes, LanesBody, REGISTERS, Schedule, Word,
    matrix::apply, run_in_lanes,
};

use super::Bytes;
use crate::{
    compact::Circuit,
    maps::{
        AFTER_1, AFTER_3, AFTER_KEY_0, AFTER_KEY_1, AFTER_KEY_2, AFTER_KEY_3, INTO, OFFSET, OUT_OF,
    },
    schedule::{self, CK, FK, NAME, PAIRS, RoundKeys},
};

/// An order of the bytes of a block: byte `j` of a word is byte `j + by` of it, indexes modulo 4, and word `i` is word
/// `words[i]`.
const fn order(words: [usize; 4], by: usize) -> u128 {
    let mut order = [0; 16];
    let mut i = 0;
    while i < 16 {
        order[i] = (4 * words[i / 4] + (i + by) % 4) as u8;
        i += 1;
    }
    u128::from_le_bytes(order)
}

/// Every byte in place of the one before it, in words, whose highest byte is the first.
const NEXT: u128 = order([0, 1, 2, 3], 1);
/// The byte after the next.
const SECOND: u128 = order([0, 1, 2, 3], 2);
/// The one after that, which is the one before.
const THIRD: u128 = order([0, 1, 2, 3], 3);

/// Word `i` of a block in place of all four.
const fn only(i: usize) -> u128 {
    order([i; 4], 0)
}

/// The words of a block moved on by `by`, the last to the front.
const fn turned(by: usize) -> u128 {
    order([(4 - by) % 4, (5 - by) % 4, (6 - by) % 4, (7 - by) % 4], 0)
}

/// The words of a block for which a mask of four has a bit.
const fn lanes(mask: u8) -> [u8; 16] {
    let mut bytes = [0; 16];
    let mut i = 0;
    while i < 16 {
        bytes[i] = if mask >> (i / 4) & 1 == 1 { 0xff } else { 0 };
        i += 1;
    }
    bytes
}
const EVEN: [u8; 16] = lanes(0b0101);
const LOW: [u8; 16] = lanes(0b0011);
const MIDDLE: [u8; 16] = lanes(0b0110);

/// Adds T of a sum, and gives the result in two parts that are yet to be added: a sum that waits for the one has the
/// rest of its terms before. Byte `j` of L is `P0 b(j) + P1 b(j + 1) + P1 b(j + 2) + P3 b(j + 3)`, and P0 is P1 + P3.
#[inline(always)]
fn add_t<B: BlockBytes>(to: B, sum: B) -> [B; 2] {
    let p1 = sum.inverse_affine::<{ AFTER_1.0 }, { AFTER_1.1 }>();
    let p3 = sum.inverse_affine::<{ AFTER_3.0 }, { AFTER_3.1 }>();
    let others = Word::xor3(p1.shuffled::<NEXT>(), p1.shuffled::<SECOND>(), p3.shuffled::<THIRD>());
    [Word::xor3(to, p1, p3), others]
}

struct OnWords<I>(I);

impl<I: BlockLanes> OnWords<I> {
    /// A round key as it is in the basis, in every word.
    #[inline(always)]
    fn key(&self, key: u32) -> I::Bytes {
        let key: I::Bytes = self.0.splat(key.swap_bytes());
        key.affine::<INTO, 0>() ^ self.0.splat(OFFSET)
    }

    /// Two rounds, each of `N` registers side by side. `latest` is the last of the words that the second of `others` is
    /// the sum of, and is left as that of the second of `words`.
    #[inline(always)]
    fn two_rounds<const N: usize>(
        &self,
        [first, second]: &mut [[I::Bytes; N]; 2],
        others: &[[I::Bytes; N]; 2],
        latest: &mut [[I::Bytes; 2]; N],
        keys: [u32; 2],
    ) {
        let keys = [self.key(keys[0]), self.key(keys[1])];
        for n in 0..N {
            let rest = Word::xor3(second[n], others[0][n], keys[0]);
            latest[n] = add_t(first[n], Word::xor3(rest, latest[n][0], latest[n][1]));
            first[n] = latest[n][0] ^ latest[n][1];
        }
        for n in 0..N {
            let rest = Word::xor3(others[0][n], others[1][n], keys[1]);
            latest[n] = add_t(second[n], Word::xor3(rest, latest[n][0], latest[n][1]));
            second[n] = latest[n][0] ^ latest[n][1];
        }
    }

    /// All rounds; the words are left in the opposite order.
    #[inline(always)]
    fn run<const N: usize>(
        &self,
        (keys, direction): (&RoundKeys, Direction),
        [first, second]: &mut [[[I::Bytes; N]; 2]; 2],
    ) {
        let mut latest = [[second[1][0], self.0.splat(0)]; N];
        for n in 0..N {
            latest[n][0] = second[1][n];
        }
        for i in (0..PAIRS).step_by(2) {
            self.two_rounds(first, second, &mut latest, keys.at(direction, i));
            self.two_rounds(second, first, &mut latest, keys.at(direction, i + 1));
        }
    }

    /// Word `i` of register `i`.
    #[inline(always)]
    fn joined(&self, [a, b, c, d]: [I::Bytes; 4]) -> I::Bytes {
        let choose = <I::Bytes as Word>::choose;
        let (even, low) = (self.0.broadcast(&EVEN), self.0.broadcast(&LOW));
        choose(low, choose(even, a, b), choose(even, c, d))
    }

    /// Word `i` of four registers, that of each in its own place, in register `i`: rows and columns exchanged.
    #[inline(always)]
    fn transposed(&self, [a, b, c, d]: [I::Bytes; 4]) -> [I::Bytes; 4] {
        let choose = <I::Bytes as Word>::choose;
        let (even, low) = (self.0.broadcast(&EVEN), self.0.broadcast(&LOW));
        let middle = self.0.broadcast(&MIDDLE);
        // Register `k` moved on by `k`, so that what meets in a register lies in different places.
        let b = b.shuffled::<{ turned(1) }>();
        let c = c.shuffled::<{ turned(2) }>();
        let d = d.shuffled::<{ turned(3) }>();
        let (even_ab, odd_ab) = (choose(even, a, b), choose(even, b, a));
        let (even_cd, odd_cd) = (choose(even, c, d), choose(even, d, c));
        [
            choose(low, even_ab, even_cd),
            choose(middle, odd_ab, odd_cd).shuffled::<{ turned(3) }>(),
            choose(low, even_cd, even_ab).shuffled::<{ turned(2) }>(),
            choose(middle, odd_cd, odd_ab).shuffled::<{ turned(1) }>(),
        ]
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
        &keys: &(&RoundKeys, Direction),
        isa: I,
        registers: &mut [I::Bytes; N],
    ) {
        let on = OnWords(isa);
        for register in registers.iter_mut() {
            *register = register.affine::<INTO, 0>();
        }
        if let [four] = registers.as_chunks_mut::<REGISTERS>().0 {
            let [a, b, c, d] = on.transposed(*four);
            let mut words = [[[a], [b]], [[c], [d]]];
            on.run(keys, &mut words);
            let [[[a], [b]], [[c], [d]]] = words;
            *four = on.transposed([d, c, b, a]);
        } else {
            let mut words = [[*registers; 2]; 2];
            for n in 0..N {
                words[0][0][n] = registers[n].shuffled::<{ only(0) }>();
                words[0][1][n] = registers[n].shuffled::<{ only(1) }>();
                words[1][0][n] = registers[n].shuffled::<{ only(2) }>();
                words[1][1][n] = registers[n].shuffled::<{ only(3) }>();
            }
            on.run(keys, &mut words);
            let [[a, b], [c, d]] = words;
            for n in 0..N {
                registers[n] = on.joined([d[n], c[n], b[n], a[n]]);
            }
        }
        for register in registers.iter_mut() {
            *register = register.affine::<OUT_OF, 0>();
        }
    }
}

impl Schedule for RoundKeys {
    type BlockSize = U16;
    type KeySize = U16;
    const NAME: &'static str = NAME;

    fn new(key: &Array<u8, U16>) -> Self {
        Self::expanded(|keys| run_in_lanes(Expand { key: &key.0, keys }))
    }
}

/// The key schedule (GB/T 32907, section 7.3), with every word four times.
struct Expand<'a> {
    key: &'a [u8; 16],
    keys: &'a mut [[u32; 2]; PAIRS],
}

/// FK as bytes.
const PARAMETER: [u8; 16] = {
    let mut bytes = [0; 16];
    let mut i = 0;
    while i < 16 {
        bytes[i] = FK[i / 4].to_be_bytes()[i % 4];
        i += 1;
    }
    bytes
};

/// CK in the basis, the first byte lowest.
const CONSTANTS: [u32; 2 * PAIRS] = {
    let mut constants = [0; 2 * PAIRS];
    let mut i = 0;
    while i < constants.len() {
        let bytes = CK[i].to_be_bytes();
        constants[i] = OFFSET
            ^ u32::from_le_bytes([
                apply(INTO, bytes[0]),
                apply(INTO, bytes[1]),
                apply(INTO, bytes[2]),
                apply(INTO, bytes[3]),
            ]);
        i += 1;
    }
    constants
};

impl LanesBody for Expand<'_> {
    type Output = ();

    #[inline(always)]
    fn with<I: BlockLanes>(self, isa: I) {
        let key = (isa.broadcast(self.key) ^ isa.broadcast(&PARAMETER)).affine::<INTO, 0>();
        let mut words = [
            key.shuffled::<{ only(0) }>(),
            key.shuffled::<{ only(1) }>(),
            key.shuffled::<{ only(2) }>(),
            key.shuffled::<{ only(3) }>(),
        ];
        let on = OnWords(isa);
        let mut bytes = Secret::new([0; 16]);
        for (keys, constants) in
            self.keys.as_chunks_mut::<2>().0.iter_mut().zip(CONSTANTS.as_chunks::<4>().0)
        {
            for (i, constant) in constants.iter().enumerate() {
                let sum = Word::xor3(words[(i + 1) % 4], words[(i + 2) % 4], words[(i + 3) % 4])
                    ^ isa.splat(*constant);
                let own = sum.inverse_affine::<{ AFTER_KEY_0.0 }, { AFTER_KEY_0.1 }>();
                let next = sum.inverse_affine::<{ AFTER_KEY_1.0 }, { AFTER_KEY_1.1 }>();
                let second = sum.inverse_affine::<{ AFTER_KEY_2.0 }, { AFTER_KEY_2.1 }>();
                let third = sum.inverse_affine::<{ AFTER_KEY_3.0 }, { AFTER_KEY_3.1 }>();
                let turned = Word::xor3(
                    next.shuffled::<NEXT>(),
                    second.shuffled::<SECOND>(),
                    third.shuffled::<THIRD>(),
                );
                words[i] = Word::xor3(words[i], own, turned);
            }
            isa.store(on.joined(words).affine::<OUT_OF, 0>(), &mut bytes[..]);
            for (key, bytes) in keys.as_flattened_mut().iter_mut().zip(bytes.as_chunks::<4>().0) {
                *key = u32::from_be_bytes(*bytes);
            }
        }
    }

    fn without(self) {
        schedule::expand::<Circuit>(self.key, self.keys);
    }
}
