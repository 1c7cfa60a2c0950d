//! SEED as RFC 4269 reads: G one byte after the other, for checking, not for use.

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::sbox::SEED;

use crate::schedule::NAME;

/// K0 and K1 of every round.
type RoundKeys = [[u32; 2]; 16];

/// SEED by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference {
    keys: RoundKeys,
}

impl Reference {
    /// The key schedule (section 2.3).
    fn expand(key: &[u8; 16]) -> Self {
        let mut schedule = [[0; 2]; 16];
        let [mut key0, mut key1, mut key2, mut key3] = words(key);
        for (i, round_key) in (1..).zip(&mut schedule) {
            let kc = round_constant(i);
            *round_key = [
                g(key0.wrapping_add(key2).wrapping_sub(kc)),
                g(key1.wrapping_sub(key3).wrapping_add(kc)),
            ];
            if i % 2 == 1 {
                [key0, key1] = halves(joined([key0, key1]).rotate_right(8));
            } else {
                [key2, key3] = halves(joined([key2, key3]).rotate_left(8));
            }
        }
        Self { keys: schedule }
    }

    fn encrypt(&self, block: &[u8; 16]) -> [u8; 16] {
        run(block, self.keys.iter())
    }

    /// Encryption with the round keys in reverse order.
    fn decrypt(&self, block: &[u8; 16]) -> [u8; 16] {
        run(block, self.keys.iter().rev())
    }
}

/// Sixteen rounds of a Feistel network, the last without the exchange of the halves (section 2).
fn run<'a>(block: &[u8; 16], keys: impl Iterator<Item = &'a [u32; 2]>) -> [u8; 16] {
    let [l0, l1, r0, r1] = words(block);
    let (mut left, mut right) = ([l0, l1], [r0, r1]);
    for key in keys {
        let [c, d] = f(right, *key);
        (left, right) = (right, [left[0] ^ c, left[1] ^ d]);
    }
    u128::to_be_bytes(u128::from(joined(right)) << 64 | u128::from(joined(left)))
}

/// The round function F (section 2.1).
fn f([r0, r1]: [u32; 2], [k0, k1]: [u32; 2]) -> [u32; 2] {
    let c = r0 ^ k0;
    let d = r1 ^ k1;
    let first = g(c ^ d);
    let second = g(first.wrapping_add(c));
    let third = g(second.wrapping_add(first));
    [third.wrapping_add(second), third]
}

/// The function G (section 2.2).
fn g(x: u32) -> u32 {
    let [m0, m1, m2, m3] = [0xfc, 0xf3, 0xcf, 0x3f];
    let [s0, s1] = SEED.each_ref().map(|sbox| |x: u8| sbox[usize::from(x)]);
    let [x0, x1, x2, x3] = x.to_le_bytes();
    let (y0, y1, y2, y3) = (s0(x0), s1(x1), s0(x2), s1(x3));
    let z0 = (y0 & m0) ^ (y1 & m1) ^ (y2 & m2) ^ (y3 & m3);
    let z1 = (y0 & m1) ^ (y1 & m2) ^ (y2 & m3) ^ (y3 & m0);
    let z2 = (y0 & m2) ^ (y1 & m3) ^ (y2 & m0) ^ (y3 & m1);
    let z3 = (y0 & m3) ^ (y1 & m0) ^ (y2 & m1) ^ (y3 & m2);
    u32::from_le_bytes([z0, z1, z2, z3])
}

/// The constant KC of round `i`, counted from 1: a part of the golden ratio, rotated by one bit per
/// round (section 2.3).
fn round_constant(i: u32) -> u32 {
    0x9e37_79b9_u32.rotate_left(i - 1)
}

/// The words of a block, or of a key, from the left.
fn words(bytes: &[u8; 16]) -> [u32; 4] {
    let words = bytes.as_chunks::<4>().0;
    core::array::from_fn(|i| u32::from_be_bytes(words[i]))
}

fn joined([left, right]: [u32; 2]) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The inverse of [`joined`].
fn halves(pair: u64) -> [u32; 2] {
    [(pair >> 32) as u32, pair as u32]
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
