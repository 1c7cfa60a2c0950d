//! SM4 as GB/T 32907 reads: for checking, not for use.

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::sbox::SM4;

use crate::schedule::{CK, FK, NAME};

/// SM4 by the book. Not constant-time: its S-box is a table.
#[derive(Clone)]
pub struct Reference {
    keys: [u32; 32],
}

impl Reference {
    /// The key expansion (section 7.3.1).
    fn expand(key: &[u8; 16]) -> Self {
        let mk = words(key);
        let mut k: [u32; 4] = core::array::from_fn(|i| mk[i] ^ FK[i]);
        let keys = CK.map(|ck| {
            let [k0, k1, k2, k3] = k;
            let rk = k0 ^ linear_of_keys(tau(k1 ^ k2 ^ k3 ^ ck));
            k = [k1, k2, k3, rk];
            rk
        });
        Self { keys }
    }

    fn encrypt(&self, block: &[u8; 16]) -> [u8; 16] {
        run(block, self.keys.iter())
    }

    /// Encryption with the round keys in reverse order (section 7.2).
    fn decrypt(&self, block: &[u8; 16]) -> [u8; 16] {
        run(block, self.keys.iter().rev())
    }
}

/// Thirty-two rounds, and the words in reverse order (section 7.1).
fn run<'a>(block: &[u8; 16], keys: impl Iterator<Item = &'a u32>) -> [u8; 16] {
    let [mut x0, mut x1, mut x2, mut x3] = words(block);
    for rk in keys {
        (x0, x1, x2, x3) = (x1, x2, x3, x0 ^ linear(tau(x1 ^ x2 ^ x3 ^ rk)));
    }
    let mut reversed = [0; 16];
    for (bytes, word) in reversed.as_chunks_mut::<4>().0.iter_mut().zip([x3, x2, x1, x0]) {
        *bytes = word.to_be_bytes();
    }
    reversed
}

/// The S-box on every byte (section 6.2).
fn tau(a: u32) -> u32 {
    u32::from_be_bytes(a.to_be_bytes().map(|byte| SM4[usize::from(byte)]))
}

/// L (section 6.2).
fn linear(b: u32) -> u32 {
    b ^ b.rotate_left(2) ^ b.rotate_left(10) ^ b.rotate_left(18) ^ b.rotate_left(24)
}

/// L' (section 7.3.1).
fn linear_of_keys(b: u32) -> u32 {
    b ^ b.rotate_left(13) ^ b.rotate_left(23)
}

/// The words of a block, or of a key, from the left.
fn words(bytes: &[u8; 16]) -> [u32; 4] {
    let words = bytes.as_chunks::<4>().0;
    core::array::from_fn(|i| u32::from_be_bytes(words[i]))
}

impl OneBlock for Reference {
    type BlockSize = U16;
    type KeySize = U16;

    const NAME: &'static str = NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, U16>) -> Self {
        Self::expand(&key.0)
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        block.0 = match direction {
            Direction::Encrypt => self.encrypt(&block.0),
            Direction::Decrypt => self.decrypt(&block.0),
        };
    }
}

impl core::fmt::Debug for Reference {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl Drop for Reference {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.keys);
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for Reference {}
