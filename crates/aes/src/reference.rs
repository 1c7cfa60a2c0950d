//! AES as FIPS 197 reads: one byte after the other, for checking, not for use.
//!
//! The state is 16 bytes in the order of the block: byte `r + 4c` is row `r` of column `c`.

use core::marker::PhantomData;

use cipher::{Array, consts::U1};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_reference::{
    gf256::{AES_MODULUS, multiply},
    sbox,
};

use crate::schedule::{KeyLength, RoundKeys};

type State = [u8; 16];

fn add_round_key(state: &mut State, key: &State) {
    for (byte, key) in state.iter_mut().zip(key) {
        *byte ^= key;
    }
}

fn substitute(state: &mut [u8], sbox: &[u8; 256]) {
    for byte in state {
        *byte = sbox[usize::from(*byte)];
    }
}

/// Row r moves r columns to the left.
fn shift_rows(state: &mut State) {
    let before = *state;
    for (i, byte) in state.iter_mut().enumerate() {
        let (row, column) = (i % 4, i / 4);
        *byte = before[row + 4 * ((column + row) % 4)];
    }
}

fn inv_shift_rows(state: &mut State) {
    let before = *state;
    for (i, byte) in before.iter().enumerate() {
        let (row, column) = (i % 4, i / 4);
        state[row + 4 * ((column + row) % 4)] = *byte;
    }
}

/// Multiplies every column by a circulant matrix whose first row is `factors`.
fn multiply_columns(state: &mut State, factors: [u8; 4]) {
    for column in state.as_chunks_mut::<4>().0 {
        let before = *column;
        for (row, byte) in column.iter_mut().enumerate() {
            *byte = (0..4).fold(0, |sum, i| {
                sum ^ multiply(before[i], factors[(i + 4 - row) % 4], AES_MODULUS)
            });
        }
    }
}

fn mix_columns(state: &mut State) {
    multiply_columns(state, [2, 3, 1, 1]);
}

pub(crate) fn inv_mix_columns(state: &mut State) {
    multiply_columns(state, [14, 11, 13, 9]);
}

// ANCHOR: encrypt
/// `Cipher()`, FIPS 197 figure 5.
fn encrypt(state: &mut State, keys: &RoundKeys) {
    let [first, middle @ .., last] = keys.blocks() else {
        return;
    };
    add_round_key(state, first);
    for key in middle {
        substitute(state, &sbox::AES);
        shift_rows(state);
        mix_columns(state);
        add_round_key(state, key);
    }
    substitute(state, &sbox::AES);
    shift_rows(state);
    add_round_key(state, last);
}
// ANCHOR_END: encrypt

/// `InvCipher()`, FIPS 197 figure 12.
fn decrypt(state: &mut State, keys: &RoundKeys) {
    let [last, middle @ .., first] = keys.blocks() else {
        return;
    };
    add_round_key(state, first);
    for key in middle.iter().rev() {
        inv_shift_rows(state);
        substitute(state, &sbox::AES_INVERSE);
        add_round_key(state, key);
        inv_mix_columns(state);
    }
    inv_shift_rows(state);
    substitute(state, &sbox::AES_INVERSE);
    add_round_key(state, last);
}

/// `SubWord()` by the S-box's table.
pub(crate) fn sub_word(mut word: [u8; 4]) -> [u8; 4] {
    substitute(&mut word, &sbox::AES);
    word
}

/// AES by the book. Not constant-time: its S-box is a table.
#[derive(Clone)]
pub struct Reference<K> {
    keys: RoundKeys,
    key_length: PhantomData<K>,
}

impl<K: KeyLength> Implementation for Reference<K> {
    type BlockSize = cipher::consts::U16;
    type KeySize = K::Size;
    type Lanes = U1;
    type BatchKeys = ();

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self { keys: RoundKeys::expand(key, sub_word), key_length: PhantomData }
    }

    fn batch_keys(&self) {}

    fn batch(&self, (): &(), direction: Direction, blocks: &mut Array<Block<Self>, U1>) {
        self.few(direction, blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        for block in blocks {
            match direction {
                Direction::Encrypt => encrypt(&mut block.0, &self.keys),
                Direction::Decrypt => decrypt(&mut block.0, &self.keys),
            }
        }
    }
}

impl<K> core::fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K> zeroize::ZeroizeOnDrop for Reference<K> {}
