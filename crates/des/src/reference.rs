//! DES as FIPS 46-3 reads: one permutation after the other, for checking, not for use.
//!
//! Strings of bits are numbers whose last bit is the least significant. Triple DES is three passes
//! under keys of their own (SP 800-67, section 3.1).

use core::marker::PhantomData;

use cipher::{Array, consts::U8};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::des::{E, IP, IP_INVERSE, LEFT_SHIFTS, P, PC1, PC2, SBOXES};

use crate::schedule::Keying;

/// K1 to K16.
type RoundKeys = [u64; 16];

/// DES by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference<K> {
    /// Those of each eight bytes of key.
    keys: [RoundKeys; 3],
    keying: PhantomData<K>,
}

impl<K: Keying> Reference<K> {
    /// The key schedule of every eight bytes of a key of 8, 16 or 24.
    fn expand(key: &[u8]) -> Self {
        let mut keys = [[0; 16]; 3];
        for (keys, part) in keys.iter_mut().zip(key.as_chunks::<8>().0) {
            *keys = key_schedule(u64::from_be_bytes(*part));
        }
        Self { keys, keying: PhantomData }
    }

    fn encrypt(&self, block: [u8; 8]) -> [u8; 8] {
        let passes = K::PASSES.iter();
        let run = |block, &(part, way): &(usize, _)| one_pass(block, &self.keys[part], way);
        passes.fold(u64::from_be_bytes(block), run).to_be_bytes()
    }

    /// The passes backwards, each undone.
    fn decrypt(&self, block: [u8; 8]) -> [u8; 8] {
        let passes = K::PASSES.iter().rev();
        let undo = |block, &(part, way): &(usize, _)| match way {
            Direction::Encrypt => one_pass(block, &self.keys[part], Direction::Decrypt),
            Direction::Decrypt => one_pass(block, &self.keys[part], Direction::Encrypt),
        };
        passes.fold(u64::from_be_bytes(block), undo).to_be_bytes()
    }
}

/// One pass: deciphering takes the steps of enciphering under the round keys in reverse order.
fn one_pass(block: u64, keys: &RoundKeys, way: Direction) -> u64 {
    match way {
        Direction::Encrypt => pass(block, keys.iter()),
        Direction::Decrypt => pass(block, keys.iter().rev()),
    }
}

// ANCHOR: pass
/// One pass of DES under sixteen round keys in the order given.
fn pass<'a>(block: u64, keys: impl Iterator<Item = &'a u64>) -> u64 {
    let permuted = permute(block, 64, &IP);
    let (mut left, mut right) = ((permuted >> 32) as u32, permuted as u32);
    for &key in keys {
        (left, right) = (right, left ^ f(right, key));
    }
    let preoutput = u64::from(right) << 32 | u64::from(left);
    permute(preoutput, 64, &IP_INVERSE)
}
// ANCHOR_END: pass

/// The cipher function f: 32 bits of text, 48 bits of key.
fn f(right: u32, key: u64) -> u32 {
    let expanded = permute(right.into(), 32, &E) ^ key;
    let substituted = SBOXES.iter().enumerate().fold(0, |sum, (i, sbox)| {
        let six = expanded >> (42 - 6 * i) & 0x3f;
        sum << 4 | u64::from(sbox[six as usize])
    });
    permute(substituted, 32, &P) as u32
}

/// The key schedule KS (appendix 1).
fn key_schedule(key: u64) -> RoundKeys {
    let chosen = permute(key, 64, &PC1);
    let (mut c, mut d) = (chosen >> 28, chosen & HALF);
    LEFT_SHIFTS.map(|by| {
        c = left_shift(c, by);
        d = left_shift(d, by);
        permute(c << 28 | d, 56, &PC2)
    })
}

/// The 28 bits of C or D.
const HALF: u64 = (1 << 28) - 1;

/// A rotation of C or D, which the standard calls a left shift.
fn left_shift(half: u64, by: u8) -> u64 {
    (half << by | half >> (28 - by)) & HALF
}

/// The bits of `value` that `table` names, in its order: from 1 at the left of `width` bits.
fn permute(value: u64, width: u32, table: &[u8]) -> u64 {
    table.iter().fold(0, |sum, &from| sum << 1 | value >> (width - u32::from(from)) & 1)
}

impl<K: Keying> OneBlock for Reference<K> {
    type BlockSize = U8;
    type KeySize = K::Size;

    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self::expand(key)
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U8>) {
        block.0 = match direction {
            Direction::Encrypt => self.encrypt(block.0),
            Direction::Decrypt => self.decrypt(block.0),
        };
    }
}

impl<K> core::fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K> Drop for Reference<K> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.keys);
    }
}

#[cfg(feature = "zeroize")]
impl<K> zeroize::ZeroizeOnDrop for Reference<K> {}
