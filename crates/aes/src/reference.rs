//! AES as FIPS 197 reads: one byte after the other, for checking, not for use.
//!
//! The state is 16 bytes in the order of the block: byte `r + 4c` is row `r` of column `c`.

use core::marker::PhantomData;

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::{
    gf256::{self, AES_MODULUS, multiply},
    sbox,
};

use crate::schedule::KeyLength;

type State = [u8; 16];
type Word = [u8; 4];

/// Words of key schedule of the longest key: Nb (Nr + 1), with 14 rounds.
const MAX_WORDS: usize = 4 * 15;

/// AES by the book. Not constant-time: its S-box and its products are tables.
#[derive(Clone)]
pub struct Reference<K> {
    /// The key schedule; word `4i + c` is added to column `c` at the end of round `i`.
    w: [Word; MAX_WORDS],
    /// Nr.
    rounds: usize,
    key_length: PhantomData<K>,
}

impl<K> Reference<K> {
    /// `KeyExpansion()` of a key of 16, 24 or 32 bytes (5.2, figure 11).
    fn expand(key: &[u8]) -> Self {
        let nk = key.len() / 4;
        let rounds = nk + 6;
        let mut w = [[0; 4]; MAX_WORDS];
        w.as_flattened_mut()[..key.len()].copy_from_slice(key);
        for i in nk..4 * (rounds + 1) {
            let mut temp = w[i - 1];
            if i % nk == 0 {
                temp = xor(sub_word(rot_word(temp)), round_constant(i / nk));
            } else if nk > 6 && i % nk == 4 {
                temp = sub_word(temp);
            }
            w[i] = xor(w[i - nk], temp);
        }
        Self { w, rounds, key_length: PhantomData }
    }

    // ANCHOR: encrypt
    /// `Cipher()` (5.1, figure 5).
    fn encrypt(&self, state: &mut State) {
        self.add_round_key(state, 0);
        for round in 1..self.rounds {
            substitute(state, &sbox::AES);
            shift_rows(state);
            mix_columns(state);
            self.add_round_key(state, round);
        }
        substitute(state, &sbox::AES);
        shift_rows(state);
        self.add_round_key(state, self.rounds);
    }
    // ANCHOR_END: encrypt

    /// `InvCipher()` (5.3, figure 12).
    fn decrypt(&self, state: &mut State) {
        self.add_round_key(state, self.rounds);
        for round in (1..self.rounds).rev() {
            inv_shift_rows(state);
            substitute(state, &sbox::AES_INVERSE);
            self.add_round_key(state, round);
            inv_mix_columns(state);
        }
        inv_shift_rows(state);
        substitute(state, &sbox::AES_INVERSE);
        self.add_round_key(state, 0);
    }

    /// `AddRoundKey()` (5.1.4), its own inverse (5.3.4).
    fn add_round_key(&self, state: &mut State, round: usize) {
        for (byte, key) in state.iter_mut().zip(self.w[4 * round..].as_flattened()) {
            *byte ^= key;
        }
    }
}

/// `SubBytes()` (5.1.1), or `InvSubBytes()` with the inverse S-box (5.3.2).
fn substitute(state: &mut [u8], sbox: &[u8; 256]) {
    for byte in state {
        *byte = sbox[usize::from(*byte)];
    }
}

/// `ShiftRows()` (5.1.2): row r moves r columns to the left.
fn shift_rows(state: &mut State) {
    let before = *state;
    for (i, byte) in state.iter_mut().enumerate() {
        let (row, column) = (i % 4, i / 4);
        *byte = before[row + 4 * ((column + row) % 4)];
    }
}

/// `InvShiftRows()` (5.3.1).
fn inv_shift_rows(state: &mut State) {
    let before = *state;
    for (i, byte) in before.iter().enumerate() {
        let (row, column) = (i % 4, i / 4);
        state[row + 4 * ((column + row) % 4)] = *byte;
    }
}

/// `MixColumns()` (5.1.3).
fn mix_columns(state: &mut State) {
    multiply_columns(state, [2, 3, 1, 1]);
}

/// `InvMixColumns()` (5.3.3).
fn inv_mix_columns(state: &mut State) {
    multiply_columns(state, [14, 11, 13, 9]);
}

/// Products of a factor of four bits and a byte.
static PRODUCTS: [[u8; 256]; 16] = {
    let mut products = [[0; 256]; 16];
    let mut i = 0;
    while i < 16 * 256 {
        products[i / 256][i % 256] = multiply((i / 256) as u8, (i % 256) as u8, AES_MODULUS);
        i += 1;
    }
    products
};

/// Multiplies every column by a circulant matrix whose first row is `factors`.
fn multiply_columns(state: &mut State, factors: [usize; 4]) {
    for column in state.as_chunks_mut::<4>().0 {
        let before = *column;
        for (row, byte) in column.iter_mut().enumerate() {
            *byte = (0..4).fold(0, |sum, i| {
                sum ^ PRODUCTS[factors[(i + 4 - row) % 4]][usize::from(before[i])]
            });
        }
    }
}

/// `SubWord()` (5.2).
fn sub_word(mut word: Word) -> Word {
    substitute(&mut word, &sbox::AES);
    word
}

/// `RotWord()` (5.2).
fn rot_word([a0, a1, a2, a3]: Word) -> Word {
    [a1, a2, a3, a0]
}

/// `Rcon[i]`: x^(i-1) in the first byte (5.2).
fn round_constant(i: usize) -> Word {
    [gf256::power(2, i as u8 - 1, AES_MODULUS), 0, 0, 0]
}

fn xor(a: Word, b: Word) -> Word {
    core::array::from_fn(|i| a[i] ^ b[i])
}

impl<K: KeyLength> OneBlock for Reference<K> {
    type BlockSize = U16;
    type KeySize = K::Size;

    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self::expand(key)
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        match direction {
            Direction::Encrypt => self.encrypt(&mut block.0),
            Direction::Decrypt => self.decrypt(&mut block.0),
        }
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
        zeroize::Zeroize::zeroize(&mut self.w);
    }
}

#[cfg(feature = "zeroize")]
impl<K> zeroize::ZeroizeOnDrop for Reference<K> {}
