//! SEED by the extended S-boxes: four tables of 32-bit words that join S-box and masks (RFC 4269,
//! appendix A).
//!
//! Not constant-time: addresses depend on key and data.

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::sbox;

use crate::{
    schedule::{NAME, RoundKeys},
    words::{self, G, MASKS},
};

/// SS0 to SS3: what each byte of a word, from the least significant on, contributes to G.
static SS: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut index = 0;
    while index < 4 * 256 {
        let (i, x) = (index / 256, index % 256);
        let masks = u32::from_le_bytes(MASKS).rotate_right(8 * i as u32);
        tables[i][x] = (sbox::SEED[i % 2][x] as u32 * 0x0101_0101) & masks;
        index += 1;
    }
    tables
};

/// G by look-ups.
struct LookUps;

impl G for LookUps {
    // ANCHOR: g
    #[inline]
    fn g<const N: usize>(words: [u32; N]) -> [u32; N] {
        words.map(|word| {
            let [x0, x1, x2, x3] = word.to_le_bytes().map(usize::from);
            SS[0][x0] ^ SS[1][x1] ^ SS[2][x2] ^ SS[3][x3]
        })
    }
    // ANCHOR_END: g
}

/// SEED by tables. Not constant-time.
#[derive(Clone)]
pub struct Table32 {
    keys: RoundKeys,
}

impl OneBlock for Table32 {
    type BlockSize = U16;
    type KeySize = U16;
    const NAME: &'static str = NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, U16>) -> Self {
        Self { keys: RoundKeys::expand::<LookUps>(&key.0) }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        let keys = self.keys.of(direction);
        words::run::<LookUps, 1>(&keys, core::array::from_mut(&mut block.0));
    }
}

impl core::fmt::Debug for Table32 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table32").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for Table32 {}
