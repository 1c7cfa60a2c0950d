//! The key schedule by AES instructions: words four at a time, in a register.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::Array;
use lanecrypt_core::{Direction, Secret};
use lanecrypt_slicing::AesKeySteps;

use crate::schedule::{Block, KeyLength, PerRound, multiply_by_x};

/// `Rcon`, in the first byte of every word.
const CONSTANTS: [Block; 10] = {
    let mut constants = [[0; 16]; 10];
    let (mut constant, mut i) = (1, 0);
    while i < constants.len() {
        constants[i] = [constant, 0, 0, 0, constant, 0, 0, 0, constant, 0, 0, 0, constant, 0, 0, 0];
        constant = multiply_by_x(constant);
        i += 1;
    }
    constants
};

/// The round keys of encryption.
#[inline(always)]
pub(crate) fn expand<I: AesKeySteps, K: KeyLength>(
    isa: I,
    key: &Array<u8, K::Size>,
) -> PerRound<K, Block> {
    let mut keys: PerRound<K, Block> = Secret::new(Array::default());
    let bytes = keys.as_flattened_mut();
    match key.len() {
        16 => four_words(isa, key, bytes),
        24 => six_words(isa, key, bytes),
        _ => eight_words(isa, key, bytes),
    }
    keys
}

#[inline(always)]
fn four_words<I: AesKeySteps>(isa: I, key: &[u8], keys: &mut [u8]) {
    let mut words = isa.load(key);
    isa.store(words, &mut keys[..16]);
    for (constant, block) in CONSTANTS.iter().zip(keys[16..].chunks_exact_mut(16)) {
        words = isa.sums(words) ^ sub(isa, isa.last_word::<true>(words), constant);
        isa.store(words, block);
    }
}

/// Six words are a register, and two in the next, of which what is stored behind them is overwritten.
#[inline(always)]
fn six_words<I: AesKeySteps>(isa: I, key: &[u8], keys: &mut [u8]) {
    let mut rest = [0; 16];
    rest[..8].copy_from_slice(&key[16..]);
    let (mut low, mut high) = (isa.load(&key[..16]), isa.load(&rest));
    isa.store(low, &mut keys[..16]);
    isa.store(high, &mut keys[16..32]);
    for (constant, at) in CONSTANTS[..8].iter().zip((24..).step_by(24)) {
        low = isa.sums(low) ^ sub(isa, isa.second_word(high), constant);
        isa.store(low, &mut keys[at..at + 16]);
        if at + 32 <= keys.len() {
            high = isa.sums(high) ^ isa.last_word::<false>(low);
            isa.store(high, &mut keys[at + 16..at + 32]);
        }
    }
}

#[inline(always)]
fn eight_words<I: AesKeySteps>(isa: I, key: &[u8], keys: &mut [u8]) {
    let (mut low, mut high) = (isa.load(&key[..16]), isa.load(&key[16..]));
    isa.store(low, &mut keys[..16]);
    isa.store(high, &mut keys[16..32]);
    for (constant, at) in CONSTANTS[..7].iter().zip((32..).step_by(32)) {
        low = isa.sums(low) ^ sub(isa, isa.last_word::<true>(high), constant);
        isa.store(low, &mut keys[at..at + 16]);
        if at + 32 <= keys.len() {
            high = isa.sums(high) ^ sub(isa, isa.last_word::<false>(low), &[0; 16]);
            isa.store(high, &mut keys[at + 16..at + 32]);
        }
    }
}

/// `SubWord` of a word that is in all columns, and a constant added: the last round, whose `ShiftRows` moves
/// nothing then.
#[inline(always)]
fn sub<I: AesKeySteps>(isa: I, words: I::Blocks, constant: &Block) -> I::Blocks {
    isa.encrypt_last(words, isa.broadcast(constant))
}

/// The round keys of the other direction than `of`, whose these are; see [`inverse`](crate::schedule::inverse).
#[inline(always)]
pub(crate) fn turn<I: AesKeySteps, K: KeyLength>(
    isa: I,
    keys: &PerRound<K, Block>,
    of: Direction,
) -> PerRound<K, Block> {
    let mut turned: PerRound<K, Block> = Secret::new(Array::default());
    let zero = isa.broadcast(&[0; 16]);
    let last = keys.len() - 1;
    for (i, block) in turned.iter_mut().enumerate() {
        let mut key = isa.load(&keys[last - i]);
        if i > 0 && i < last {
            // The first step undoes all of a round but the mixing of columns.
            key = match of {
                Direction::Encrypt => isa.decrypt_round(isa.encrypt_last(key, zero), zero),
                Direction::Decrypt => isa.encrypt_round(isa.decrypt_last(key, zero), zero),
            };
        }
        isa.store(key, block);
    }
    turned
}
