//! Rung 4: bits in words. Plane p has bit p of 64 blocks, and the S-box is a circuit of gates.
//! Count: by words that count, on u64.
use cipher::typenum::Unsigned;
use lanecrypt_slicing::{BitLanes, Body, Isa, Portable, Word};

use crate::sbox::sbox;

/// The instructions.
pub(crate) type Lanes = Portable<u64>;

/// A word of every block: four bytes, the highest first, of eight planes, the lowest bit first.
type Planes<W> = [[W; 8]; 4];

/// Adds T of the sum of the other words and the key.
#[inline(always)]
fn round<I: BitLanes>(isa: I, x: &mut [Planes<I::Word>; 4], r: usize, key: &[[u32; 8]; 4]) {
    let mut b = x[(r + 1) % 4];
    for j in 0..4 {
        for bit in 0..8 {
            let sum = Word::xor3(b[j][bit], x[(r + 2) % 4][j][bit], x[(r + 3) % 4][j][bit]);
            b[j][bit] = sum ^ isa.splat(key[j][bit]);
        }
        b[j] = sbox(b[j]);
    }
    let x = &mut x[r % 4];
    for bit in 0..8 {
        // Rotated by two, it is this bit of the same byte, or of the next one.
        let (from, carried) = ((bit + 6) % 8, usize::from(bit < 2));
        let all = Word::xor3(b[0][from], b[1][from], b[2][from]) ^ b[3][from];
        for j in 0..4 {
            // L has three of the four rotated by 2, 10, 18 and 26.
            let (before, fourth) = (b[(j + 3) % 4][bit], b[(j + 3 + carried) % 4][from]);
            x[j][bit] = Word::xor3(Word::xor3(x[j][bit], b[j][bit], before), all, fourth);
        }
    }
}

/// Encrypts as many blocks as a word has bits.
#[inline(always)]
fn encrypt_batch<I: BitLanes>(isa: I, keys: &[[[u32; 8]; 4]; 32], blocks: &mut [[u8; 16]]) {
    let mut x = [[[isa.splat(0); 8]; 4]; 4];
    isa.slice(blocks.as_flattened(), x.as_flattened_mut().as_flattened_mut());
    for (r, key) in keys.iter().enumerate() {
        round(isa, &mut x, r, key);
    }
    x.reverse();
    isa.unslice(x.as_flattened_mut().as_flattened_mut(), blocks.as_flattened_mut());
}

/// Blocks to encrypt, every one by itself.
pub(crate) struct Blocks<'a>(pub(crate) &'a [u32; 32], pub(crate) &'a mut [[u8; 16]]);

impl<I: BitLanes> Body<I> for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        // A key's bit is a mask, the same for all blocks.
        let mut keys = [[[0; 8]; 4]; 32];
        for (planes, key) in keys.iter_mut().zip(self.0) {
            for (i, mask) in planes.as_flattened_mut().iter_mut().enumerate() {
                *mask = (key >> (24 - i / 8 * 8 + i % 8) & 1).wrapping_neg();
            }
        }
        let mut batches = self.1.chunks_exact_mut(I::Lanes::USIZE);
        for batch in &mut batches {
            encrypt_batch(isa, &keys, batch);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [[0; 16]; 512];
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
