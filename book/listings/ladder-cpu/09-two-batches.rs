//! Rung 9: two batches in flight. While one waits for its maps, the other goes on.
//! Count: by words that count, on AVX-512.
use cipher::typenum::Unsigned;
use lanecrypt_slicing::{
    Avx512, Body, ByteLanes, FieldBytes, Isa, Word, matrix::apply_to_bytes, spread,
};

use crate::maps::{AFTER_0, AFTER_3, INTO, OFFSET, OUT_OF};

/// The instructions.
pub(crate) type Lanes = Avx512;

/// Adds T of the sum of the other words and the key.
#[inline(always)]
fn round<I, const R: usize>(isa: I, x: &mut [[I::Bytes; 4]; 4], key: [u32; 4])
where
    I: ByteLanes<Bytes: FieldBytes>,
{
    let (mut p0, mut p3) = (x[(R + 1) % 4], x[(R + 1) % 4]);
    for j in 0..4 {
        let sum = Word::xor3(p0[j], x[(R + 2) % 4][j], isa.splat(key[j])) ^ x[(R + 3) % 4][j];
        // The S-box, and then b + (b << 2) and b + (b >> 6), in the form that inversion takes.
        p0[j] = sum.inverse_affine::<{ AFTER_0.0 }, { AFTER_0.1 }>();
        p3[j] = sum.inverse_affine::<{ AFTER_3.0 }, { AFTER_3.1 }>();
    }
    let all = Word::xor3(p0[0], p0[1], p0[2]) ^ Word::xor3(p3[0], p3[1], p3[2]) ^ p0[3] ^ p3[3];
    for j in 0..4 {
        x[R][j] = Word::xor3(x[R][j], p3[j], p0[(j + 3) % 4]) ^ all;
    }
}

/// A round of each.
#[inline(always)]
fn rounds<I, const R: usize, const N: usize>(
    isa: I,
    states: &mut [[[I::Bytes; 4]; 4]; N],
    key: [u32; 4],
) where
    I: ByteLanes<Bytes: FieldBytes>,
{
    for x in states {
        round::<I, R>(isa, x, key);
    }
}

/// Encrypts as many blocks as a register has bytes, `N` times, a round of each in turn.
#[inline(always)]
fn encrypt_batches<I, const N: usize>(isa: I, keys: &[[u32; 4]; 32], blocks: &mut [[u8; 16]])
where
    I: ByteLanes<Bytes: FieldBytes>,
{
    let mut states = [[[isa.splat(0); 4]; 4]; N];
    for (x, blocks) in states.iter_mut().zip(blocks.chunks_exact(I::Lanes::USIZE)) {
        isa.slice(blocks.as_flattened(), x.as_flattened_mut());
        for byte in x.as_flattened_mut() {
            *byte = byte.affine::<INTO, 0>();
        }
    }
    // Four rounds at a time: what turns is the names of registers, and not what is in them.
    for keys in keys.as_chunks::<4>().0 {
        rounds::<I, 0, N>(isa, &mut states, keys[0]);
        rounds::<I, 1, N>(isa, &mut states, keys[1]);
        rounds::<I, 2, N>(isa, &mut states, keys[2]);
        rounds::<I, 3, N>(isa, &mut states, keys[3]);
    }
    for (x, blocks) in states.iter_mut().zip(blocks.chunks_exact_mut(I::Lanes::USIZE)) {
        x.reverse();
        for byte in x.as_flattened_mut() {
            *byte = byte.affine::<OUT_OF, 0>();
        }
        isa.unslice(x.as_flattened_mut(), blocks.as_flattened_mut());
    }
}

/// Blocks to encrypt, every one by itself.
pub(crate) struct Blocks<'a>(pub(crate) &'a [u32; 32], pub(crate) &'a mut [[u8; 16]]);

impl<I: ByteLanes<Bytes: FieldBytes>> Body<I> for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        // A key's byte, four times, the same for all blocks.
        let mut keys = [[0; 4]; 32];
        for (bytes, key) in keys.iter_mut().zip(self.0) {
            let key = apply_to_bytes::<INTO>(u64::from(*key)) as u32 ^ OFFSET;
            *bytes = key.to_be_bytes().map(spread);
        }
        let mut pairs = self.1.chunks_exact_mut(2 * I::Lanes::USIZE);
        for pair in &mut pairs {
            encrypt_batches::<I, 2>(isa, &keys, pair);
        }
        let mut batches = pairs.into_remainder().chunks_exact_mut(I::Lanes::USIZE);
        for batch in &mut batches {
            encrypt_batches::<I, 1>(isa, &keys, batch);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [[0; 16]; 64];
            padded[..rest.len()].copy_from_slice(rest);
            encrypt_batches::<I, 1>(isa, &keys, &mut padded[..I::Lanes::USIZE]);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

/// Encrypts every block by itself.
pub(crate) fn encrypt(isa: Lanes, keys: &[u32; 32], blocks: &mut [[u8; 16]]) {
    isa.run(Blocks(keys, blocks));
}
