//! SEED as RFC 4269 reads: G one byte after the other, for checking, not for use.

use cipher::{
    Array,
    consts::{U1, U16},
};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_reference::sbox;

use crate::{
    schedule::{NAME, RoundKeys},
    words::{self, G, MASKS},
};

/// G as section 2.2 has it.
struct Bytewise;

impl G for Bytewise {
    fn g<const N: usize>(words: [u32; N]) -> [u32; N] {
        let [s0, s1] = sbox::SEED.each_ref().map(|sbox| |x: u8| sbox[usize::from(x)]);
        let [m0, m1, m2, m3] = MASKS;
        words.map(|word| {
            let [x0, x1, x2, x3] = word.to_le_bytes();
            let (y0, y1, y2, y3) = (s0(x0), s1(x1), s0(x2), s1(x3));
            let z0 = (y0 & m0) ^ (y1 & m1) ^ (y2 & m2) ^ (y3 & m3);
            let z1 = (y0 & m1) ^ (y1 & m2) ^ (y2 & m3) ^ (y3 & m0);
            let z2 = (y0 & m2) ^ (y1 & m3) ^ (y2 & m0) ^ (y3 & m1);
            let z3 = (y0 & m3) ^ (y1 & m0) ^ (y2 & m1) ^ (y3 & m2);
            u32::from_le_bytes([z0, z1, z2, z3])
        })
    }
}

/// SEED by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference {
    keys: RoundKeys<u32>,
}

impl Implementation for Reference {
    type BlockSize = U16;
    type KeySize = U16;
    type Lanes = U1;
    type BatchKeys = ();

    const NAME: &'static str = NAME;

    fn new(key: &Array<u8, U16>) -> Self {
        Self { keys: RoundKeys::expand::<Bytewise>(&key.0) }
    }

    fn batch_keys(&self) {}

    fn batch(&self, (): &(), direction: Direction, blocks: &mut Array<Block<Self>, U1>) {
        self.few(direction, blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        for block in blocks {
            words::run::<Bytewise, 1>(&self.keys, direction, core::array::from_mut(&mut block.0));
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
