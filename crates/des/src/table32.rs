//! DES by tables of 32-bit words that join S-box and permutation P.
//!
//! A half is kept rotated left by one bit. Then the six input bits of S8, S6, S4 and S2 end its
//! bytes 0 to 3, and, rotated left by four more, those of S1, S7, S5 and S3. Not constant-time:
//! addresses depend on key and data.

use cipher::{Array, consts::U8};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::des::{P, SBOXES};

use crate::{
    halves,
    schedule::{self, Keying, PerRound},
};

/// The S-boxes in the order in which the halves' bytes need them, counted from 0.
const ORDER: [[usize; 4]; 2] = [[7, 5, 3, 1], [0, 6, 4, 2]];

/// `SP[i][j][x]` is what S-box `ORDER[i][j]` contributes to f for input `x`, rotated left by one.
static SP: [[[u32; 64]; 4]; 2] = sp_tables();

const fn sp_tables() -> [[[u32; 64]; 4]; 2] {
    let mut tables = [[[0; 64]; 4]; 2];
    let mut index = 0;
    while index < 8 * 64 {
        let (word, byte, x) = (index / 256, index / 64 % 4, index % 64);
        let sbox = ORDER[word][byte];
        let substituted = (SBOXES[sbox][x] as u32) << (28 - 4 * sbox);
        tables[word][byte][x] = permuted(substituted).rotate_left(1);
        index += 1;
    }
    tables
}

/// The permutation P, for the compiler to run.
const fn permuted(word: u32) -> u32 {
    let (mut result, mut i) = (0, 0);
    while i < 32 {
        result = result << 1 | word >> (32 - P[i] as u32) & 1;
        i += 1;
    }
    result
}

/// A round key as two words, each byte the key of the S-box that the same byte of a half goes to.
type WordKey = [u32; 2];

pub(crate) fn word_key(round_key: u64) -> WordKey {
    ORDER.map(|order| {
        u32::from_le_bytes(order.map(|sbox| (round_key >> (42 - 6 * sbox) & 0x3f) as u8))
    })
}

// ANCHOR: round
/// f of a half that is kept rotated.
fn f(right: u32, key: WordKey) -> u32 {
    let words = [right ^ key[0], right.rotate_left(4) ^ key[1]];
    let mut sum = 0;
    for (word, tables) in words.iter().zip(&SP) {
        for (byte, table) in word.to_le_bytes().iter().zip(tables) {
            sum ^= table[usize::from(byte & 0x3f)];
        }
    }
    sum
}
// ANCHOR_END: round

/// DES by tables. Not constant-time.
#[derive(Clone)]
pub struct Table32<K: Keying> {
    keys: PerRound<K, WordKey>,
}

impl<K: Keying> OneBlock for Table32<K> {
    type BlockSize = U8;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self { keys: schedule::expand::<K, _>(key, word_key) }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U8>) {
        let mut halves = halves::load(block.0).map(|half| half.rotate_left(1));
        schedule::run::<K, _>(&self.keys, direction, &mut halves, f);
        block.0 = halves::store(halves.map(|half| half.rotate_right(1)));
    }
}

impl<K: Keying> core::fmt::Debug for Table32<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table32").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: Keying> zeroize::ZeroizeOnDrop for Table32<K> {}
