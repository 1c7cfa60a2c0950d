//! Rung 11: four groups in flight. While one waits for its maps, the others go on.
//! Count: by words that count, on AVX-512.
use cipher::typenum::Unsigned;
use lanecrypt_slicing::{
    Avx512, Body, FieldBytes, Isa, Word, WordLanes, Words, matrix::apply_to_bytes,
};

use crate::maps::{AFTER_0, AFTER_3, INTO, OFFSET, OUT_OF};

/// The instructions.
pub(crate) type Lanes = Avx512;

/// Adds T of the sum of the other words and the key. A lane's lowest byte is the word's first, its highest.
#[inline(always)]
fn round<I, const R: usize>(isa: I, x: &mut [I::Words; 4], key: u32)
where
    I: WordLanes<Words: FieldBytes>,
{
    // The word that the round before has changed comes last: all else is ready by then.
    let others = Word::xor3(x[(R + 1) % 4], x[(R + 2) % 4], isa.splat(key));
    let sum = others ^ x[(R + 3) % 4];
    // What a byte gives to its own place in L, to the one behind it, and to the two before it.
    let own = sum.inverse_affine::<{ AFTER_0.0 }, { AFTER_0.1 }>();
    let behind = sum.inverse_affine::<{ AFTER_3.0 }, { AFTER_3.1 }>();
    let before = own ^ behind;
    let (first, second) = (Words::rotate_left::<24>(before), Words::rotate_left::<16>(before));
    let sum = Word::xor3(x[R], own, Words::rotate_left::<8>(behind));
    x[R] = Word::xor3(sum, first, second);
}

/// A round of each group.
#[inline(always)]
fn rounds<I, const R: usize, const N: usize>(isa: I, groups: &mut [[I::Words; 4]; N], key: u32)
where
    I: WordLanes<Words: FieldBytes>,
{
    for x in groups {
        round::<I, R>(isa, x, key);
    }
}

/// Encrypts as many blocks as a register has words, `N` times, a round of each in turn.
#[inline(always)]
fn encrypt_groups<I, const N: usize>(isa: I, keys: &[u32; 32], blocks: &mut [[u8; 16]])
where
    I: WordLanes<Words: FieldBytes>,
{
    let mut groups = [[isa.splat(0); 4]; N];
    for (x, blocks) in groups.iter_mut().zip(blocks.chunks_exact(I::Lanes::USIZE)) {
        isa.slice(blocks.as_flattened(), x);
        for word in x {
            *word = word.affine::<INTO, 0>();
        }
    }
    // Four rounds at a time: what turns is the names of registers, and not what is in them.
    for keys in keys.as_chunks::<4>().0 {
        rounds::<I, 0, N>(isa, &mut groups, keys[0]);
        rounds::<I, 1, N>(isa, &mut groups, keys[1]);
        rounds::<I, 2, N>(isa, &mut groups, keys[2]);
        rounds::<I, 3, N>(isa, &mut groups, keys[3]);
    }
    for (x, blocks) in groups.iter_mut().zip(blocks.chunks_exact_mut(I::Lanes::USIZE)) {
        x.reverse();
        for word in x.iter_mut() {
            *word = word.affine::<OUT_OF, 0>();
        }
        isa.unslice(*x, blocks.as_flattened_mut());
    }
}

/// Blocks to encrypt, every one by itself.
pub(crate) struct Blocks<'a>(pub(crate) &'a [u32; 32], pub(crate) &'a mut [[u8; 16]]);

impl<I: WordLanes<Words: FieldBytes>> Body<I> for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let mut keys = *self.0;
        for key in &mut keys {
            *key = (apply_to_bytes::<INTO>(u64::from(*key)) as u32 ^ OFFSET).swap_bytes();
        }
        let mut groups = self.1.chunks_exact_mut(4 * I::Lanes::USIZE);
        for group in &mut groups {
            encrypt_groups::<I, 4>(isa, &keys, group);
        }
        let mut batches = groups.into_remainder().chunks_exact_mut(I::Lanes::USIZE);
        for batch in &mut batches {
            encrypt_groups::<I, 1>(isa, &keys, batch);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [[0; 16]; 16];
            padded[..rest.len()].copy_from_slice(rest);
            encrypt_groups::<I, 1>(isa, &keys, &mut padded[..I::Lanes::USIZE]);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

/// Encrypts every block by itself.
pub(crate) fn encrypt(isa: Lanes, keys: &[u32; 32], blocks: &mut [[u8; 16]]) {
    isa.run(Blocks(keys, blocks));
}
