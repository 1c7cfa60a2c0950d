//! Camellia as RFC 3713 reads: one byte after the other, for checking, not for use.

use cipher::{Array, consts::U1};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_reference::sbox::CAMELLIA;

use crate::{
    schedule::{KeyLength, RoundFunction, Subkeys},
    words,
};

/// F as section 2.4.1 has it, its subkey added already.
struct Bytewise;

impl RoundFunction for Bytewise {
    fn f<const N: usize>(halves: [u64; N]) -> [u64; N] {
        halves.map(|half| u64::from_be_bytes(p(s(half.to_be_bytes()))))
    }
}

/// The S-boxes.
fn s(x: [u8; 8]) -> [u8; 8] {
    let [sbox1, sbox2, sbox3, sbox4] = &CAMELLIA;
    let sboxes = [sbox1, sbox2, sbox3, sbox4, sbox2, sbox3, sbox4, sbox1];
    core::array::from_fn(|i| sboxes[i][usize::from(x[i])])
}

/// The permutation P.
fn p([t1, t2, t3, t4, t5, t6, t7, t8]: [u8; 8]) -> [u8; 8] {
    [
        t1 ^ t3 ^ t4 ^ t6 ^ t7 ^ t8,
        t1 ^ t2 ^ t4 ^ t5 ^ t7 ^ t8,
        t1 ^ t2 ^ t3 ^ t5 ^ t6 ^ t8,
        t2 ^ t3 ^ t4 ^ t5 ^ t6 ^ t7,
        t1 ^ t2 ^ t6 ^ t7 ^ t8,
        t2 ^ t3 ^ t5 ^ t7 ^ t8,
        t3 ^ t4 ^ t5 ^ t6 ^ t8,
        t1 ^ t4 ^ t5 ^ t6 ^ t7,
    ]
}

/// Camellia by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference<K: KeyLength> {
    keys: Subkeys<K, u64>,
}

impl<K: KeyLength> Implementation for Reference<K> {
    type BlockSize = cipher::consts::U16;
    type KeySize = K::Size;
    type Lanes = U1;
    type BatchKeys = ();

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self { keys: Subkeys::expand::<Bytewise>(key) }
    }

    fn batch_keys(&self) {}

    fn batch(&self, (): &(), direction: Direction, blocks: &mut Array<Block<Self>, U1>) {
        self.few(direction, blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        for block in blocks {
            words::run::<K, Bytewise, 1>(
                &self.keys,
                direction,
                core::array::from_mut(&mut block.0),
            );
        }
    }
}

impl<K: KeyLength> core::fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for Reference<K> {}
