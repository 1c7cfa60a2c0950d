//! The steps on 32-bit words, for every implementation that is not bit-sliced, and the masks of G.

use core::marker::PhantomData;

use crate::schedule::{self, ROUNDS, Steps};

/// m0 to m3 (RFC 4269, section 2.2): each drops two bits. Byte `j` of G's result is the XOR over `i`
/// of the output of byte `i`'s S-box under mask `(i + j) % 4`, bytes counted from the least
/// significant.
pub(crate) const MASKS: [u8; 4] = [0xfc, 0xf3, 0xcf, 0x3f];

/// G in some way, on `N` words at once.
pub(crate) trait G {
    /// G of every word, of at most [`ROUNDS`](crate::schedule::ROUNDS).
    fn g<const N: usize>(words: [u32; N]) -> [u32; N];
}

/// `N` blocks at once, a word of each in an array, with G computed by `F`.
struct Words<F, const N: usize>(PhantomData<F>);

impl<F: G, const N: usize> Steps for Words<F, N> {
    type Word = [u32; N];
    type Key = u32;

    fn xor_key(&self, word: &mut [u32; N], key: &u32) {
        for word in word {
            *word ^= key;
        }
    }

    fn xor(&self, word: &mut [u32; N], other: &[u32; N]) {
        for (word, other) in word.iter_mut().zip(other) {
            *word ^= other;
        }
    }

    fn add(&self, word: &mut [u32; N], other: &[u32; N]) {
        for (word, other) in word.iter_mut().zip(other) {
            *word = word.wrapping_add(*other);
        }
    }

    fn g(&self, word: &mut [u32; N]) {
        *word = F::g(*word);
    }
}

/// Runs `N` blocks under the round keys of a direction.
pub(crate) fn run<F: G, const N: usize>(keys: &[[u32; 2]; ROUNDS], blocks: &mut [[u8; 16]; N]) {
    let word = |block: &[u8; 16], i| u32::from_be_bytes(block.as_chunks::<4>().0[i]);
    let words = |i| blocks.each_ref().map(|block| word(block, i));
    let mut halves = [[words(0), words(1)], [words(2), words(3)]];
    schedule::run(&Words::<F, N>(PhantomData), keys, &mut halves);
    for (i, words) in halves.as_flattened().iter().enumerate() {
        for (block, word) in blocks.iter_mut().zip(words) {
            block.as_chunks_mut::<4>().0[i] = word.to_be_bytes();
        }
    }
}
