//! Rung 11: by length. Whole batches go by bytes, and what is left over by words.
//! Count: by words that count, on AVX-512.
use cipher::typenum::Unsigned;
use lanecrypt_slicing::{Avx512, Body, ByteLanes, FieldBytes, Isa, WordLanes};

use crate::{rung_09, rung_10};

/// The instructions.
pub type Lanes = Avx512;

/// From this number of blocks on, a batch that is not full is faster than batches of words.
const FEWEST: usize = 33;

/// Blocks to encrypt, every one by itself.
pub(crate) struct Blocks<'a>(pub(crate) &'a [u32; 32], pub(crate) &'a mut [[u8; 16]]);

impl<I> Body<I> for Blocks<'_>
where
    I: ByteLanes<Bytes: FieldBytes> + WordLanes<Words: FieldBytes>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self(keys, blocks) = self;
        let left = blocks.len() % <I as ByteLanes>::Lanes::USIZE;
        let by_words = if left < FEWEST { left } else { 0 };
        let (batches, rest) = blocks.split_at_mut(blocks.len() - by_words);
        if !batches.is_empty() {
            rung_09::Blocks(keys, batches).run(isa);
        }
        if !rest.is_empty() {
            rung_10::Blocks(keys, rest).run(isa);
        }
    }
}

/// Encrypts every block by itself.
pub fn encrypt(isa: Lanes, keys: &[u32; 32], blocks: &mut [[u8; 16]]) {
    isa.run(Blocks(keys, blocks));
}
