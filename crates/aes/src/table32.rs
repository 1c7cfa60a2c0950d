//! AES by T-tables on 32-bit words (Rijndael's AES proposal, 5.2.1; P1's 32-bit form).
//!
//! A column is a little-endian word: row `r` is byte `r`. `T[r][x]` is the column that byte `x` in
//! row `r` contributes to after SubBytes and MixColumns, so a round of a column is four look-ups
//! and four XORs. Decryption is the equivalent inverse cipher, the same round over other tables,
//! with the rows shifted the other way. Not constant-time: addresses depend on key and data.

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock, Secret};
use lanecrypt_reference::{
    gf256::{AES_MODULUS, multiply},
    sbox,
};

use crate::schedule::{self, Block, KeyLength, KeySteps, PerRound};

/// The tables of one direction.
struct Tables {
    /// SubBytes and MixColumns of a byte in row `r`.
    rounds: [[u32; 256]; 4],
    /// SubBytes alone, for the last round.
    last: [u8; 256],
    /// Columns that row 1 moves by: 1 for ShiftRows, 3 for InvShiftRows.
    shift: usize,
}

static ENCRYPT: Tables = Tables::new(sbox::AES, [2, 1, 1, 3], 1);
static DECRYPT: Tables = Tables::new(sbox::AES_INVERSE, [14, 9, 13, 11], 3);

impl Tables {
    /// `column` is the first column of the MixColumns matrix.
    const fn new(sbox: [u8; 256], column: [u8; 4], shift: usize) -> Self {
        let mut rounds = [[0; 256]; 4];
        let mut x = 0;
        while x < 256 {
            let s = sbox[x];
            let word = u32::from_le_bytes([
                multiply(s, column[0], AES_MODULUS),
                multiply(s, column[1], AES_MODULUS),
                multiply(s, column[2], AES_MODULUS),
                multiply(s, column[3], AES_MODULUS),
            ]);
            let mut row = 0;
            while row < 4 {
                rounds[row][x] = word.rotate_left(8 * row as u32);
                row += 1;
            }
            x += 1;
        }
        Self { rounds, last: sbox, shift }
    }

    /// The byte of row `row` that (Inv)ShiftRows brings into column `column`.
    fn shifted(&self, state: &[u32; 4], column: usize, row: usize) -> usize {
        let word = state[(column + row * self.shift) % 4];
        usize::from(word.to_le_bytes()[row])
    }

    fn round(&self, state: &[u32; 4], key: &[u32; 4]) -> [u32; 4] {
        core::array::from_fn(|column| {
            (0..4).fold(key[column], |sum, row| {
                sum ^ self.rounds[row][self.shifted(state, column, row)]
            })
        })
    }

    fn last_round(&self, state: &[u32; 4], key: &[u32; 4]) -> [u32; 4] {
        core::array::from_fn(|column| {
            let bytes = core::array::from_fn(|row| self.last[self.shifted(state, column, row)]);
            u32::from_le_bytes(bytes) ^ key[column]
        })
    }

    fn run(&self, block: &mut [u8; 16], keys: &[[u32; 4]]) {
        let [first, middle @ .., last] = keys else {
            return;
        };
        let mut state = words(block);
        for (word, key) in state.iter_mut().zip(first) {
            *word ^= key;
        }
        for key in middle {
            state = self.round(&state, key);
        }
        state = self.last_round(&state, last);
        for (bytes, word) in block.as_chunks_mut::<4>().0.iter_mut().zip(state) {
            *bytes = word.to_le_bytes();
        }
    }
}

fn words(block: &[u8; 16]) -> [u32; 4] {
    let bytes = block.as_chunks::<4>().0;
    core::array::from_fn(|column| u32::from_le_bytes(bytes[column]))
}

/// The steps of the key schedule by look-ups.
struct LookUps;

impl KeySteps for LookUps {
    fn sub_word(&self, word: [u8; 4]) -> [u8; 4] {
        word.map(|byte| ENCRYPT.last[usize::from(byte)])
    }

    /// The tables of decryption begin with the inverse S-box, which the S-box undoes.
    fn inv_mix_columns(&self, block: Block) -> Block {
        mixed(block, &DECRYPT, |column| self.sub_word(column))
    }

    fn mix_columns(&self, block: Block) -> Block {
        mixed(block, &ENCRYPT, |column| column.map(|byte| DECRYPT.last[usize::from(byte)]))
    }
}

/// What `tables` make of every column after `before`.
fn mixed(mut block: Block, tables: &Tables, before: impl Fn([u8; 4]) -> [u8; 4]) -> Block {
    for column in block.as_chunks_mut::<4>().0 {
        let look_up = |(row, byte): (usize, u8)| tables.rounds[row][usize::from(byte)];
        let sums = (0..).zip(before(*column)).map(look_up);
        *column = sums.fold(0, |sum, word| sum ^ word).to_le_bytes();
    }
    block
}

/// AES by T-tables. Not constant-time.
#[derive(Clone)]
pub struct Table32<K: KeyLength> {
    encrypt: PerRound<K, [u32; 4]>,
    decrypt: PerRound<K, [u32; 4]>,
}

impl<K: KeyLength> OneBlock for Table32<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, K::Size>) -> Self {
        let encrypt = schedule::expand::<K>(&LookUps, key);
        let decrypt = schedule::inverse::<K>(&encrypt, |block| LookUps.inv_mix_columns(block));
        let as_words = |keys: PerRound<K, Block>| Secret::new(Array::from_fn(|i| words(&keys[i])));
        Self { encrypt: as_words(encrypt), decrypt: as_words(decrypt) }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        match direction {
            Direction::Encrypt => ENCRYPT.run(&mut block.0, &self.encrypt),
            Direction::Decrypt => DECRYPT.run(&mut block.0, &self.decrypt),
        }
    }
}

impl<K: KeyLength> core::fmt::Debug for Table32<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table32").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for Table32<K> {}
