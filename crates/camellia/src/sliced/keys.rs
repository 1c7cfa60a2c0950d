//! Subkeys for rows of bytes.
//!
//! A half is kept in the basis of the S-boxes and with the subkey added under which F reads it next,
//! so that F adds none; what is added to a half in a round takes one subkey away and brings the next.

#![allow(
    clippy::inline_always,
    reason = "to be compiled with an instruction set, whose registers hold many words"
)]

use cipher::typenum::Unsigned;
use lanecrypt_core::{Clear, Direction};
use lanecrypt_slicing::{matrix::apply_to_bytes, spread};

use crate::{
    maps::{BEFORE, INTO_BASIS, OUT_OF_BASIS},
    schedule::{GROUP, KeyLength, MAX_GROUPS, STRIDE, Subkeys},
};

/// Eight bytes, each four times.
pub(super) type Fours = [u32; 8];

/// The most rounds that there are.
const ROUNDS: usize = GROUP * MAX_GROUPS;
/// Where the words of layers start, and those of the end: after two and those of the rounds.
const LAYERS: usize = 2 + ROUNDS;
const END: usize = LAYERS + 4 * (MAX_GROUPS - 1);
const WORDS: usize = END + 2;

/// The subkeys of a direction for rows of bytes.
#[derive(Clone, Copy, Debug)]
pub struct ByteKeys([Fours; WORDS]);

impl Clear for ByteKeys {
    fn clear(&mut self) {
        self.0.clear();
    }
}

/// `BEFORE` in the bytes that do not go through SBOX4.
const BEFORE_ALL: u64 = BEFORE as u64 * 0x0100_0101_0001_0101;

impl ByteKeys {
    #[inline(always)]
    pub(super) fn new<K: KeyLength>(subkeys: &Subkeys<K>, direction: Direction) -> Self {
        let mut words = words(subkeys, direction);
        for word in &mut words[..LAYERS] {
            *word = apply_to_bytes::<INTO_BASIS>(*word);
        }
        for word in &mut words[2..LAYERS] {
            *word = inside_p(*word);
        }
        let mut fours = [[0; 8]; WORDS];
        for (fours, word) in fours.iter_mut().zip(&words) {
            for (four, byte) in fours.iter_mut().zip(word.to_le_bytes()) {
                *four = spread(byte);
            }
        }
        Self(fours)
    }

    /// Added to the halves, in the basis.
    #[inline(always)]
    pub(super) fn start(&self) -> &[Fours] {
        &self.0[..2]
    }

    /// Added to P of a round: to its second part before the first sums, to its first part after.
    #[inline(always)]
    pub(super) fn groups(&self) -> &[[Fours; GROUP]] {
        self.0[2..LAYERS].as_chunks().0
    }

    /// FL and its inverse by turns: the key, and what the half has added, out of the basis.
    #[inline(always)]
    pub(super) fn layers(&self) -> &[[[Fours; 2]; 2]] {
        self.0[LAYERS..END].as_chunks().0.as_chunks().0
    }

    /// Added to the halves, the second first, out of the basis.
    #[inline(always)]
    pub(super) fn end(&self) -> &[Fours] {
        &self.0[END..]
    }
}

/// What is added where, out of the basis, in the order of [`ByteKeys`]; words have the first byte
/// of a half lowest.
#[inline(always)]
fn words<K: KeyLength>(subkeys: &Subkeys<K>, direction: Direction) -> [u64; WORDS] {
    let subkey = |i| subkeys.at(direction, i).swap_bytes();
    let last = K::Subkeys::USIZE - 2;
    let rounds = GROUP * groups::<K>();
    // Those of rounds, and one that nobody reads.
    let mut of_rounds = [0; ROUNDS + 1];
    for (i, word) in of_rounds[..rounds].iter_mut().enumerate() {
        *word = subkey(2 + STRIDE * (i / GROUP) + i % GROUP);
    }
    let before = const { apply_to_bytes::<OUT_OF_BASIS>(BEFORE_ALL) };
    // What a half has added when round `i` reads it.
    let offset = |i: usize| of_rounds[i] ^ before;
    let mut words = [0; WORDS];
    for i in 0..2 {
        words[i] = subkey(i) ^ offset(i);
        // The halves are exchanged in the end: the last round read the first of them.
        words[END + i] = subkey(last + i) ^ offset(rounds - 1 + i);
    }
    // The half that a round changes was read by the round before, and is by the one after; the
    // first round's was read by none.
    for i in 1..ROUNDS {
        words[2 + i] = of_rounds[i - 1] ^ of_rounds[i + 1];
    }
    for i in 0..2 * (groups::<K>() - 1) {
        words[LAYERS + 2 * i] = subkey(2 + STRIDE * (i / 2) + GROUP + i % 2);
        words[LAYERS + 2 * i + 1] = offset(GROUP * (i / 2 + 1) - i % 2);
    }
    words
}

/// Groups of rounds.
pub(super) const fn groups<K: KeyLength>() -> usize {
    K::Subkeys::USIZE / STRIDE
}

/// Where P takes up what is added to its result: with `e` added to the second part before the first
/// part is made of it, the sum of both comes out as `k`.
#[inline(always)]
fn inside_p(k: u64) -> u64 {
    let (first, second) = (k as u32, (k >> 32) as u32);
    let e = first ^ second.rotate_left(8);
    let d = second ^ e.rotate_left(8);
    u64::from(e) | u64::from(d) << 32
}
