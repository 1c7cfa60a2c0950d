//! SM4 by four tables of 32-bit words that join S-box and linear layer.
//!
//! Not constant-time: addresses depend on key and data.

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::sbox::SM4;

use crate::{
    schedule::{self, NAME, RoundKeys, Sboxes},
    words,
};

/// What each byte of a word, from the highest on, contributes to T.
static TABLES: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut index = 0;
    while index < 4 * 256 {
        let (i, x) = (index / 256, index % 256);
        let image = (SM4[x] as u32).rotate_right(8 * (i as u32 + 1));
        tables[i][x] = image
            ^ image.rotate_left(2)
            ^ image.rotate_left(10)
            ^ image.rotate_left(18)
            ^ image.rotate_left(24);
        index += 1;
    }
    tables
};

/// The S-boxes by look-ups.
struct LookUps;

impl Sboxes for LookUps {
    fn tau<const N: usize>(words: [u32; N]) -> [u32; N] {
        words.map(|word| u32::from_be_bytes(word.to_be_bytes().map(|x| SM4[usize::from(x)])))
    }

    // ANCHOR: t
    #[inline]
    fn t<const N: usize>(words: [u32; N]) -> [u32; N] {
        words.map(|word| {
            let [x0, x1, x2, x3] = word.to_be_bytes().map(usize::from);
            TABLES[0][x0] ^ TABLES[1][x1] ^ TABLES[2][x2] ^ TABLES[3][x3]
        })
    }
    // ANCHOR_END: t
}

/// SM4 by tables. Not constant-time.
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
        Self { keys: RoundKeys::expanded(|keys| schedule::expand::<LookUps>(&key.0, keys)) }
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
