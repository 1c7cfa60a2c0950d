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
use lanecrypt_slicing::{
    matrix::{apply_to_bytes, masked, transposed},
    spread,
};

use crate::{
    maps::{BEFORE, CARRIED, INTO_BASIS, OUT_OF_BASIS, SHIFTED},
    schedule::{GROUP, KeyLength, MAX_GROUPS, STRIDE, Subkeys},
};

/// Eight bytes, each four times.
pub(super) type Fours = [u32; 8];

/// The most rounds that there are.
const ROUNDS: usize = GROUP * MAX_GROUPS;
/// Where the words of the end start: after two and those of the rounds.
const END: usize = 2 + ROUNDS;
const WORDS: usize = END + 2;

/// The subkeys of a direction for rows of bytes.
#[derive(Clone, Copy)]
pub struct ByteKeys {
    fours: [Fours; WORDS],
    layers: [[Layer; 2]; MAX_GROUPS - 1],
    /// Groups of rounds.
    groups: usize,
}

impl Clear for ByteKeys {
    fn clear(&mut self) {
        self.fours.clear();
        self.layers.clear();
    }
}

impl core::fmt::Debug for ByteKeys {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ByteKeys").finish_non_exhaustive()
    }
}

/// `BEFORE` in the bytes that do not go through SBOX4.
const BEFORE_ALL: u64 = BEFORE as u64 * 0x0100_0101_0001_0101;
/// The same out of the basis.
const BEFORE_OUT: u64 = apply_to_bytes::<OUT_OF_BASIS>(BEFORE_ALL);

impl ByteKeys {
    #[inline(always)]
    pub(super) fn new<K: KeyLength>(subkeys: &Subkeys<K>, direction: Direction) -> Self {
        let mut words = words(subkeys, direction);
        for word in &mut words[..END] {
            *word = apply_to_bytes::<INTO_BASIS>(*word);
        }
        for word in &mut words[2..END] {
            *word = inside_p(*word);
        }
        let mut fours = [[0; 8]; WORDS];
        for (fours, word) in fours.iter_mut().zip(&words) {
            *fours = spread_all(*word);
        }
        Self { fours, layers: layers(subkeys, direction), groups: groups::<K>() }
    }

    /// Added to the halves, in the basis.
    #[inline(always)]
    pub(super) fn start(&self) -> &[Fours] {
        &self.fours[..2]
    }

    /// Added to P of a round: to its second part before the first sums, to its first part after.
    #[inline(always)]
    pub(super) fn groups(&self) -> &[[Fours; GROUP]] {
        &self.fours[2..END].as_chunks().0[..self.groups]
    }

    /// FL and its inverse, between the groups.
    #[inline(always)]
    pub(super) fn layers(&self) -> &[[Layer; 2]] {
        &self.layers[..self.groups - 1]
    }

    /// Added to the halves, the second first, out of the basis.
    #[inline(always)]
    pub(super) fn end(&self) -> &[Fours] {
        &self.fours[END..]
    }
}

/// What is added where, out of the basis, in the order of [`ByteKeys`]; words have the first byte
/// of a half lowest.
#[inline(always)]
fn words<K: KeyLength>(subkeys: &Subkeys<K>, direction: Direction) -> [u64; WORDS] {
    let subkey = |i| subkeys.at(direction, i).swap_bytes();
    let last = K::Subkeys::USIZE - 2;
    let rounds = GROUP * groups::<K>();
    // Those of rounds, and one that is never read.
    let mut of_rounds = [0; ROUNDS + 1];
    for (i, word) in of_rounds[..rounds].iter_mut().enumerate() {
        *word = subkey(2 + STRIDE * (i / GROUP) + i % GROUP);
    }
    // What a half has added when round `i` reads it.
    let offset = |i: usize| of_rounds[i] ^ BEFORE_OUT;
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
    words
}

/// FL or its inverse on rows of bytes. What AND and OR make of a key is a mask and a sum:
///
/// ```text
/// rotated(x & k)       x & k, rotated
/// x | k                x & !k, plus k
/// ```
///
/// so that with the maps into the basis and out of it every step is a matrix of the key's, and a sum
/// to which the steps before have added what the half has added.
#[derive(Clone, Copy)]
pub(super) struct Layer {
    /// What is left of the first part, out of the basis, and of the second.
    pub(super) masks: Fours,
    /// By bytes of the first part: into the byte itself, and into the one above.
    pub(super) shifted: [u64; 4],
    pub(super) carried: [u64; 4],
    /// By bytes of the second part: into the first.
    pub(super) kept: [u64; 4],
    /// Added to the parts, in the basis.
    pub(super) added: Fours,
}

impl Layer {
    const NONE: Self =
        Self { masks: [0; 8], shifted: [0; 4], carried: [0; 4], kept: [0; 4], added: [0; 8] };

    /// From a subkey, and what the half has added out of the basis.
    #[inline(always)]
    fn new(key: u64, offset: u64) -> Self {
        let masks = key ^ 0xffff_ffff_0000_0000;
        let mut layer = Self { masks: spread_all(masks), ..Self::NONE };
        let [first, second] = [masks.to_le_bytes(), (masks >> 32).to_le_bytes()];
        for i in 0..4 {
            layer.shifted[i] = masked::<OUT_TRANSPOSED>(SHIFTED, first[i]);
            layer.carried[i] = masked::<OUT_TRANSPOSED>(CARRIED, first[i]);
            layer.kept[i] = masked::<OUT_TRANSPOSED>(INTO_BASIS, second[i]);
        }
        let product = ((key & offset) as u32).swap_bytes().rotate_left(1).swap_bytes();
        let added = (key | offset) >> 32 | u64::from(product) << 32;
        layer.added = spread_all(apply_to_bytes::<INTO_BASIS>(added));
        layer
    }
}

const OUT_TRANSPOSED: u64 = transposed(OUT_OF_BASIS);

impl Clear for Layer {
    fn clear(&mut self) {
        *self = Self::NONE;
    }
}

#[inline(always)]
fn layers<K: KeyLength>(
    subkeys: &Subkeys<K>,
    direction: Direction,
) -> [[Layer; 2]; MAX_GROUPS - 1] {
    let subkey = |i| subkeys.at(direction, i).swap_bytes();
    let mut layers = [[Layer::NONE; 2]; MAX_GROUPS - 1];
    for (group, layers) in layers[..groups::<K>() - 1].iter_mut().enumerate() {
        let key = 2 + STRIDE * group + GROUP;
        // The first half is read by the round after the layer, the second was by the one before.
        let offsets = [subkey(key + 2), subkey(key - 1)];
        for (i, layer) in layers.iter_mut().enumerate() {
            *layer = Layer::new(subkey(key + i), offsets[i] ^ BEFORE_OUT);
        }
    }
    layers
}

/// Every byte of a word four times.
#[inline(always)]
fn spread_all(word: u64) -> Fours {
    let mut fours = [0; 8];
    for (four, byte) in fours.iter_mut().zip(word.to_le_bytes()) {
        *four = spread(byte);
    }
    fours
}

/// Groups of rounds.
const fn groups<K: KeyLength>() -> usize {
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
