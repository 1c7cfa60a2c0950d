//! HIGHT as the standard reads: one byte after the other, for checking, not for use.
//!
//! Bytes are numbered as the standard numbers them, so `X[0]` is the last byte of the block.

use cipher::{
    Array,
    consts::{U1, U8, U16},
};
use lanecrypt_core::{Block, Direction, Implementation};

use crate::schedule::{ROUNDS, Subkeys};

/// `X[0]` to `X[7]`.
type State = [u8; 8];

pub(crate) const fn f0(x: u8) -> u8 {
    x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(7)
}

pub(crate) const fn f1(x: u8) -> u8 {
    x.rotate_left(3) ^ x.rotate_left(4) ^ x.rotate_left(6)
}

/// The initial and the final transformation, with their four whitening keys.
fn whiten(x: State, wk: &[u8]) -> State {
    [
        x[0].wrapping_add(wk[0]),
        x[1],
        x[2] ^ wk[1],
        x[3],
        x[4].wrapping_add(wk[2]),
        x[5],
        x[6] ^ wk[3],
        x[7],
    ]
}

fn inv_whiten(x: State, wk: &[u8]) -> State {
    [
        x[0].wrapping_sub(wk[0]),
        x[1],
        x[2] ^ wk[1],
        x[3],
        x[4].wrapping_sub(wk[2]),
        x[5],
        x[6] ^ wk[3],
        x[7],
    ]
}

/// A round without its permutation of bytes, which the last round does not have.
fn mix(x: State, sk: [u8; 4]) -> State {
    [
        x[0],
        x[1].wrapping_add(f1(x[0]) ^ sk[0]),
        x[2],
        x[3] ^ f0(x[2]).wrapping_add(sk[1]),
        x[4],
        x[5].wrapping_add(f1(x[4]) ^ sk[2]),
        x[6],
        x[7] ^ f0(x[6]).wrapping_add(sk[3]),
    ]
}

fn inv_mix(x: State, sk: [u8; 4]) -> State {
    [
        x[0],
        x[1].wrapping_sub(f1(x[0]) ^ sk[0]),
        x[2],
        x[3] ^ f0(x[2]).wrapping_add(sk[1]),
        x[4],
        x[5].wrapping_sub(f1(x[4]) ^ sk[2]),
        x[6],
        x[7] ^ f0(x[6]).wrapping_add(sk[3]),
    ]
}

/// Byte `i` becomes byte `i + 1`, the last one byte 0.
fn permute(x: State) -> State {
    core::array::from_fn(|i| x[(i + 7) % 8])
}

fn inv_permute(x: State) -> State {
    core::array::from_fn(|i| x[(i + 1) % 8])
}

// ANCHOR: encrypt
fn encrypt(plaintext: State, keys: &Subkeys<u8>) -> State {
    let mut x = whiten(plaintext, &keys.whitening[..4]);
    for round in &keys.rounds[..ROUNDS - 1] {
        x = permute(mix(x, *round));
    }
    x = mix(x, keys.rounds[ROUNDS - 1]);
    whiten(x, &keys.whitening[4..])
}
// ANCHOR_END: encrypt

fn decrypt(ciphertext: State, keys: &Subkeys<u8>) -> State {
    let mut x = inv_whiten(ciphertext, &keys.whitening[4..]);
    x = inv_mix(x, keys.rounds[ROUNDS - 1]);
    for round in keys.rounds[..ROUNDS - 1].iter().rev() {
        x = inv_mix(inv_permute(x), *round);
    }
    inv_whiten(x, &keys.whitening[..4])
}

/// HIGHT by the book: a block at a time, constant-time since it looks nothing up.
#[derive(Clone)]
pub struct Reference {
    keys: Subkeys<u8>,
}

impl Implementation for Reference {
    type BlockSize = U8;
    type KeySize = U16;
    type Lanes = U1;
    type BatchKeys = ();

    const NAME: &'static str = "Hight";

    fn new(key: &Array<u8, U16>) -> Self {
        Self { keys: Subkeys::expand(&key.0) }
    }

    fn batch_keys(&self) {}

    fn batch(&self, (): &(), direction: Direction, blocks: &mut Array<Block<Self>, U1>) {
        self.few(direction, blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        for block in blocks {
            block.reverse();
            block.0 = match direction {
                Direction::Encrypt => encrypt(block.0, &self.keys),
                Direction::Decrypt => decrypt(block.0, &self.keys),
            };
            block.reverse();
        }
    }
}

impl core::fmt::Debug for Reference {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for Reference {}
