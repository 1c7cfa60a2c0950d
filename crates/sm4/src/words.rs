//! The steps on 32-bit words, for every implementation that is not sliced.

use core::marker::PhantomData;

use crate::schedule::{self, PAIRS, Sboxes, Steps};

/// `N` blocks at once, a word of each in an array, with T computed by `F`.
struct Words<F, const N: usize>(PhantomData<F>);

impl<F: Sboxes, const N: usize> Steps for Words<F, N> {
    type Word = [u32; N];
    type Key = u32;

    fn two_rounds(&self, words: &mut [[u32; N]; 2], others: &[[u32; N]; 2], keys: &[u32; 2]) {
        let [first, second] = words;
        let round = |to: &mut [u32; N], from: &[u32; N], key: u32| {
            let sum = |i| from[i] ^ others[0][i] ^ others[1][i] ^ key;
            let image: [u32; N] = F::t(core::array::from_fn(sum));
            for (to, image) in to.iter_mut().zip(image) {
                *to ^= image;
            }
        };
        round(first, second, keys[0]);
        round(second, first, keys[1]);
    }
}

/// Runs `N` blocks under the round keys of a direction.
pub(crate) fn run<F: Sboxes, const N: usize>(keys: &[[u32; 2]; PAIRS], blocks: &mut [[u8; 16]; N]) {
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
