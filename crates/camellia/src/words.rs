//! The steps on halves as 64-bit words, for every implementation that is not bit-sliced.
//!
//! A half is eight bytes, the first the most significant, as RFC 3713 writes them.

use core::marker::PhantomData;

use crate::schedule::{self, RoundFunction, Steps};

/// `N` blocks at once, a word a half of each, with the round function `F`.
struct Words<F, const N: usize>(PhantomData<F>);

impl<F: RoundFunction, const N: usize> Steps for Words<F, N> {
    type Half = [u64; N];
    type Key = u64;

    fn add(&self, half: &mut [u64; N], key: &u64) {
        for word in half {
            *word ^= key;
        }
    }

    fn add_f(&self, half: &mut [u64; N], other: &[u64; N], key: &u64) {
        for (word, image) in half.iter_mut().zip(F::f(other.map(|word| word ^ key))) {
            *word ^= image;
        }
    }

    fn fl(&self, half: &mut [u64; N], key: &u64) {
        let [k1, k2] = parts(*key);
        for word in half {
            let [mut x1, mut x2] = parts(*word);
            x2 ^= (x1 & k1).rotate_left(1);
            x1 ^= x2 | k2;
            *word = join([x1, x2]);
        }
    }

    fn fl_inverse(&self, half: &mut [u64; N], key: &u64) {
        let [k1, k2] = parts(*key);
        for word in half {
            let [mut y1, mut y2] = parts(*word);
            y1 ^= y2 | k2;
            y2 ^= (y1 & k1).rotate_left(1);
            *word = join([y1, y2]);
        }
    }
}

/// The left and the right 32 bits.
pub(crate) fn parts(word: u64) -> [u32; 2] {
    [(word >> 32) as u32, word as u32]
}

/// The inverse of [`parts`].
pub(crate) fn join([left, right]: [u32; 2]) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Runs `N` blocks under the subkeys of a direction.
pub(crate) fn run<F: RoundFunction, const N: usize>(keys: &[u64], blocks: &mut [[u8; 16]; N]) {
    let half = |block: &[u8; 16], i| u64::from_be_bytes(block.as_chunks::<8>().0[i]);
    let mut halves = [0, 1].map(|i| blocks.each_ref().map(|block| half(block, i)));
    schedule::run(&Words::<F, N>(PhantomData), keys, &mut halves);
    for (i, words) in halves.iter().enumerate() {
        for (block, word) in blocks.iter_mut().zip(words) {
            block.as_chunks_mut::<8>().0[i] = word.to_be_bytes();
        }
    }
}
