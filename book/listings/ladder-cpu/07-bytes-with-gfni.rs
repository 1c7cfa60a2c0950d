//! Rung 7: bytes with GFNI. A register has a byte of 64 blocks, and maps of bytes do the S-box.
//! Count: by words that count, on AVX-512.
use cipher::typenum::Unsigned;
use lanecrypt_slicing::{
    Avx512, Body, ByteLanes, FieldBytes, Isa, Word,
    matrix::{apply, compose, from_columns},
    spread,
};

use crate::maps::{AFTER_KEY_0, INTO, OFFSET, OUT_OF};

/// The instructions.
pub(crate) type Lanes = Avx512;

/// What the S-box does after inversion, in the field of the instructions; `INTO` and `OFFSET` are before it.
const AFTER: (u64, i32) =
    (compose(OUT_OF, AFTER_KEY_0.0), apply(OUT_OF, AFTER_KEY_0.1.cast_unsigned() as u8) as i32);
/// What stays in a byte when its word is rotated by two bits, and what the byte before it gets.
const STAYS: u64 = from_columns([4, 8, 16, 32, 64, 128, 0, 0]);
const CARRIED: u64 = from_columns([0, 0, 0, 0, 0, 0, 1, 2]);

/// Adds T of the sum of the other words and the key.
#[inline(always)]
fn round<I, const R: usize>(isa: I, x: &mut [[I::Bytes; 4]; 4], key: [u32; 4])
where
    I: ByteLanes<Bytes: FieldBytes>,
{
    let (mut b, mut rotated) = (x[(R + 1) % 4], x[(R + 1) % 4]);
    for j in 0..4 {
        let sum = Word::xor3(b[j], x[(R + 2) % 4][j], isa.splat(key[j])) ^ x[(R + 3) % 4][j];
        let sum = sum.affine::<INTO, { OFFSET as u8 as i32 }>();
        b[j] = sum.inverse_affine::<{ AFTER.0 }, { AFTER.1 }>();
    }
    for j in 0..4 {
        rotated[j] = b[j].affine::<STAYS, 0>() ^ b[(j + 1) % 4].affine::<CARRIED, 0>();
    }
    let all = Word::xor3(rotated[0], rotated[1], rotated[2]) ^ rotated[3];
    for j in 0..4 {
        // L has three of the four rotated by 2, 10, 18 and 26.
        let (before, fourth) = (b[(j + 3) % 4], rotated[(j + 3) % 4]);
        x[R][j] = Word::xor3(Word::xor3(x[R][j], b[j], before), all, fourth);
    }
}

/// Encrypts as many blocks as a register has bytes.
#[inline(always)]
fn encrypt_batch<I>(isa: I, keys: &[[u32; 4]; 32], blocks: &mut [[u8; 16]])
where
    I: ByteLanes<Bytes: FieldBytes>,
{
    let mut x = [[isa.splat(0); 4]; 4];
    isa.slice(blocks.as_flattened(), x.as_flattened_mut());
    // Four rounds at a time: what turns is the names of registers, and not what is in them.
    for keys in keys.as_chunks::<4>().0 {
        round::<I, 0>(isa, &mut x, keys[0]);
        round::<I, 1>(isa, &mut x, keys[1]);
        round::<I, 2>(isa, &mut x, keys[2]);
        round::<I, 3>(isa, &mut x, keys[3]);
    }
    x.reverse();
    isa.unslice(x.as_flattened_mut(), blocks.as_flattened_mut());
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
            *bytes = key.to_be_bytes().map(spread);
        }
        let mut batches = self.1.chunks_exact_mut(I::Lanes::USIZE);
        for batch in &mut batches {
            encrypt_batch(isa, &keys, batch);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [[0; 16]; 64];
            padded[..rest.len()].copy_from_slice(rest);
            encrypt_batch(isa, &keys, &mut padded[..I::Lanes::USIZE]);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

/// Encrypts every block by itself.
pub(crate) fn encrypt(isa: Lanes, keys: &[u32; 32], blocks: &mut [[u8; 16]]) {
    isa.run(Blocks(keys, blocks));
}
