//! DES as FIPS 46-3 reads: one permutation after the other, for checking, not for use.

use cipher::{
    Array,
    consts::{U1, U8},
};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_reference::des::{E, IP, IP_INVERSE, P, SBOXES};

use crate::schedule::{Keying, ROUNDS, Rounds, permute};

/// The cipher function f: 32 bits of text, 48 bits of key.
fn f(right: u32, key: u64) -> u32 {
    let expanded = permute(right.into(), 32, &E) ^ key;
    let substituted = SBOXES.iter().enumerate().fold(0, |sum, (i, sbox)| {
        let six = expanded >> (42 - 6 * i) & 0x3f;
        sum << 4 | u64::from(sbox[six as usize])
    });
    permute(substituted, 32, &P) as u32
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

/// DES by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference<K: Keying> {
    keys: Rounds<K, u64>,
}

impl<K: Keying> Implementation for Reference<K> {
    type BlockSize = U8;
    type KeySize = K::Size;
    type Lanes = U1;
    type BatchKeys = ();

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self { keys: Rounds::expand(key) }
    }

    fn batch_keys(&self) {}

    fn batch(&self, (): &(), direction: Direction, blocks: &mut Array<Block<Self>, U1>) {
        self.few(direction, blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        for block in blocks {
            let mut keys = self.keys.in_order(direction);
            let mut value = u64::from_be_bytes(block.0);
            for _ in K::PASSES {
                value = pass(value, keys.by_ref().take(ROUNDS));
            }
            block.0 = value.to_be_bytes();
        }
    }
}

impl<K: Keying> core::fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: Keying> zeroize::ZeroizeOnDrop for Reference<K> {}
