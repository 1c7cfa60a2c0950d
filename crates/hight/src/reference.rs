//! HIGHT as the standard reads: one byte after the other, for checking, not for use.
//!
//! Bytes are numbered as the standard numbers them, so `X[0]` is the last byte of the block.

use core::marker::PhantomData;

use cipher::{
    Array,
    consts::{U8, U16},
};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::hight::{f0, f1};

use crate::schedule::ByteOrder;

/// `X[0]` to `X[7]`.
type State = [u8; 8];

const ROUNDS: usize = 32;

/// HIGHT by the book, bytes in the order `O`: a block at a time, constant-time since it looks nothing up.
#[derive(Clone)]
pub struct Reference<O> {
    order: PhantomData<O>,
    /// WK0 to WK7.
    whitening: [u8; 8],
    /// SK0 to SK127, the four of every round.
    subkeys: [[u8; 4]; ROUNDS],
}

impl<O> Reference<O> {
    /// `KeySchedule` of MK0 to MK15.
    fn expand(mk: &[u8; 16]) -> Self {
        Self { order: PhantomData, whitening: whitening_keys(mk), subkeys: subkeys(mk) }
    }

    // ANCHOR: encrypt
    fn encrypt(&self, plaintext: State) -> State {
        let mut x = whiten(plaintext, &self.whitening[..4]);
        for round in &self.subkeys[..ROUNDS - 1] {
            x = permute(mix(x, *round));
        }
        x = mix(x, self.subkeys[ROUNDS - 1]);
        whiten(x, &self.whitening[4..])
    }
    // ANCHOR_END: encrypt

    fn decrypt(&self, ciphertext: State) -> State {
        let mut x = inv_whiten(ciphertext, &self.whitening[4..]);
        x = inv_mix(x, self.subkeys[ROUNDS - 1]);
        for round in self.subkeys[..ROUNDS - 1].iter().rev() {
            x = inv_mix(inv_permute(x), *round);
        }
        inv_whiten(x, &self.whitening[..4])
    }
}

/// `WhiteningKeyGeneration`: WK0 to WK3 are MK12 to MK15, WK4 to WK7 are MK0 to MK3.
fn whitening_keys(mk: &[u8; 16]) -> [u8; 8] {
    [mk[12], mk[13], mk[14], mk[15], mk[0], mk[1], mk[2], mk[3]]
}

/// `SubkeyGeneration`.
fn subkeys(mk: &[u8; 16]) -> [[u8; 4]; ROUNDS] {
    let delta = constants();
    let mut subkeys = [[0; 4]; ROUNDS];
    let sk = subkeys.as_flattened_mut();
    for i in 0..8 {
        for j in 0..8 {
            sk[16 * i + j] = mk[(j + 8 - i) % 8].wrapping_add(delta[16 * i + j]);
        }
        for j in 0..8 {
            sk[16 * i + j + 8] = mk[(j + 8 - i) % 8 + 8].wrapping_add(delta[16 * i + j + 8]);
        }
    }
    subkeys
}

/// `ConstantGeneration`: delta `i` is the bits s(i) to s(i + 6) of an LFSR, the first the least
/// significant. It starts from 0, 1, 0, 1, 1, 0, 1 and has connection polynomial x^7 + x^3 + 1.
fn constants() -> [u8; 4 * ROUNDS] {
    let mut s = [0; 4 * ROUNDS + 6];
    s[..7].copy_from_slice(&[0, 1, 0, 1, 1, 0, 1]);
    for i in 1..4 * ROUNDS {
        s[i + 6] = s[i + 2] ^ s[i - 1];
    }
    core::array::from_fn(|i| (0..7).fold(0, |delta, bit| delta | s[i + bit] << bit))
}

/// `InitialTransformation` and `FinalTransformation`, with their four whitening keys.
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

impl<O: ByteOrder> OneBlock for Reference<O> {
    type BlockSize = U8;
    type KeySize = U16;

    const NAME: &'static str = O::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    fn new(key: &Array<u8, U16>) -> Self {
        let mut mk = key.0;
        if !O::IS_REVERSED {
            mk.reverse(); // MK15 comes first
        }
        let expanded = Self::expand(&mk);
        #[cfg(feature = "zeroize")]
        zeroize::Zeroize::zeroize(&mut mk);
        expanded
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U8>) {
        if !O::IS_REVERSED {
            block.reverse();
        }
        block.0 = match direction {
            Direction::Encrypt => self.encrypt(block.0),
            Direction::Decrypt => self.decrypt(block.0),
        };
        if !O::IS_REVERSED {
            block.reverse();
        }
    }
}

impl<O> core::fmt::Debug for Reference<O> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<O> Drop for Reference<O> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.whitening);
        zeroize::Zeroize::zeroize(&mut self.subkeys);
    }
}

#[cfg(feature = "zeroize")]
impl<O> zeroize::ZeroizeOnDrop for Reference<O> {}
