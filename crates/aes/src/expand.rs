//! The key schedule by AES instructions, of which one follows another with nothing between.
//!
//! What waits in the key schedule are the last words of four at a time: let `x(i)` be that of round key `i` of AES-128
//! (FIPS 197, 5.2: w[4i + 3]). The words before it are sums, `x(i) + x(i-1)`, `x(i) + x(i-2)` and all four of `x(i)`
//! to `x(i-3)`: since `(1 + d)^4 = 1 + d^4` over GF(2), where `d` is the step back. By the same token
//!
//! ```text
//! x(i+1) = x(i-3) + SubWord(RotWord(x(i))) + Rcon
//! ```
//!
//! The last round of AES is `SubBytes`, `ShiftRows`, and an addition. `ShiftRows` moves row 1 by one column: where `x(i)`
//! lies along row 1, that is `RotWord`, and the instruction does all of it. So a round key takes the latency of
//! one instruction, 4 cycles, where shuffling `x(i)` for it and adding words up took 6.
//!
//! AES-256 has two such words by turns, and between them no `RotWord`: there the next word lies along the row from
//! another column on. After four of each it is the first column again, and so the words that are added lie alike.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use lanecrypt_core::{Direction, Secret};
use lanecrypt_slicing::AesKeySteps;

use crate::schedule::{AesSchedule, Block, KeyLength, PerRound, multiply_by_x, room};

/// An order of bytes that puts a zero.
const ZERO: u8 = 0x80;

/// The order that puts word 3 along row 1, its first byte in column `-turn`.
const fn along_row(turn: usize) -> Block {
    let mut order = [ZERO; 16];
    let mut column = 0;
    while column < 4 {
        order[4 * column + 1] = 12 + ((column + turn) % 4) as u8;
        column += 1;
    }
    order
}

/// The order that makes of such a row the word, in all places.
const fn in_words(turn: usize) -> Block {
    let mut order = [0; 16];
    let mut at = 0;
    while at < 16 {
        order[at] = 4 * ((at + 4 - turn) % 4) as u8 + 1;
        at += 1;
    }
    order
}

/// Those orders by how far a row is turned.
const ALONG_ROW: [Block; 4] = [along_row(0), along_row(1), along_row(2), along_row(3)];
const IN_WORDS: [Block; 4] = [in_words(0), in_words(1), in_words(2), in_words(3)];

/// `Rcon` along a row, of which the first one is turned by `step` and each one after it by so much more.
const fn constants<const COUNT: usize>(step: usize) -> [Block; COUNT] {
    let mut rows = [[0; 16]; COUNT];
    let (mut constant, mut i) = (1, 0);
    while i < COUNT {
        let turn = (i + 1) * step % 4;
        rows[i][4 * ((4 - turn) % 4) + 1] = constant;
        constant = multiply_by_x(constant);
        i += 1;
    }
    rows
}

/// The order that moves words 0 to 2 up by one.
const UP_ONE: Block = [ZERO, ZERO, ZERO, ZERO, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
/// Words 0 and 2.
const EVEN: Block = 0xffff_ffff_0000_0000_ffff_ffff_u128.to_le_bytes();
/// Words 0 and 1.
const LOWER: Block = 0xffff_ffff_ffff_ffff_u128.to_le_bytes();

/// Four words at a time, by `x(i)`, the last of them.
struct Chain<I: AesKeySteps> {
    isa: I,
    /// `x(i-3)` to `x(i)`, along row 1.
    rows: [I::Blocks; 4],
    /// `x(i)` in all words.
    last: I::Blocks,
    /// That and the one before it, with `x(i-1)`, or `x(i-2)`, added to words 0 and 2.
    pairs: [I::Blocks; 2],
}

impl<I: AesKeySteps> Chain<I> {
    /// From the first four words; `turns` is how the rows are turned.
    #[inline(always)]
    fn new(isa: I, words: I::Blocks, turns: [usize; 4]) -> Self {
        // As if the words before had been expanded, too: their last words.
        let back_one = words ^ isa.shuffle(words, &UP_ONE);
        let back_two = words ^ isa.low_up(words);
        let back_three = back_one ^ isa.low_up(back_one);
        let mut rows = [back_three, back_two, back_one, words];
        let mut all = rows;
        for ((row, all), turn) in rows.iter_mut().zip(&mut all).zip(turns) {
            *row = isa.shuffle(*row, &ALONG_ROW[turn]);
            *all = isa.shuffle(*row, &IN_WORDS[turn]);
        }
        let [_, second, third, last] = all;
        let even = isa.broadcast(&EVEN);
        Self { isa, rows, last, pairs: [third ^ (second & even), last ^ (third & even)] }
    }

    /// The next four words, by a word along a row, and what is added to it; `turn` is how the next one is turned.
    #[inline(always)]
    fn next(&mut self, word: I::Blocks, constant: &Block, turn: usize) -> I::Blocks {
        let Self { isa, rows: [oldest, second, third, fourth], last, pairs: [before, pair] } =
            *self;
        let row = isa.encrypt_last(word, oldest ^ isa.broadcast(constant));
        let next = isa.shuffle(row, &IN_WORDS[turn]);
        let next_pair = next ^ (last & isa.broadcast(&EVEN));
        self.rows = [second, third, fourth, row];
        (self.last, self.pairs) = (next, [pair, next_pair]);
        next_pair ^ (before & isa.broadcast(&LOWER))
    }

    /// `x(i)` along its row.
    #[inline(always)]
    fn row(&self) -> I::Blocks {
        self.rows[3]
    }
}

/// A key schedule from a key: each round key is put where it belongs as soon as it is there.
#[inline(always)]
pub(crate) fn expand<I: AesKeySteps, S: AesSchedule>(isa: I, key: &[u8]) -> S {
    let mut schedule = S::empty();
    match key.len() {
        16 => four_words(isa, key, &mut schedule),
        24 => six_words(isa, key, &mut schedule),
        _ => eight_words(isa, key, &mut schedule),
    }
    schedule
}

#[inline(always)]
fn four_words<I: AesKeySteps, S: AesSchedule>(isa: I, key: &[u8], schedule: &mut S) {
    const CONSTANTS: [Block; 10] = constants(0);
    let words = isa.load(key);
    schedule.put(isa, 0, words);
    let mut chain = Chain::new(isa, words, [0; 4]);
    for (number, constant) in (1..).zip(&CONSTANTS) {
        let words = chain.next(chain.row(), constant, 0);
        schedule.put(isa, number, words);
    }
}

#[inline(always)]
fn eight_words<I: AesKeySteps, S: AesSchedule>(isa: I, key: &[u8], schedule: &mut S) {
    const CONSTANTS: [Block; 7] = constants(1);
    let (low, high) = (isa.load(&key[..16]), isa.load(&key[16..]));
    schedule.put(isa, 0, low);
    schedule.put(isa, 1, high);
    let mut lows = Chain::new(isa, low, [1, 2, 3, 0]);
    let mut highs = Chain::new(isa, high, [2, 3, 0, 1]);
    for (i, constant) in (1..).zip(&CONSTANTS) {
        let low = lows.next(highs.row(), constant, i % 4);
        schedule.put(isa, 2 * i, low);
        if i < CONSTANTS.len() {
            let high = highs.next(lows.row(), &[0; 16], (i + 1) % 4);
            schedule.put(isa, 2 * i + 1, high);
        }
    }
}

/// Six words are a register and a half, whose other half counts for nothing. Rarely used: each is added to the one
/// before it, as the standard says.
#[inline(always)]
fn six_words<I: AesKeySteps, S: AesSchedule>(isa: I, key: &[u8], schedule: &mut S) {
    const CONSTANTS: [Block; 8] = constants(0);
    let mut rest = Secret::new([0; 16]);
    rest[..8].copy_from_slice(&key[16..]);
    let (mut low, mut high) = (isa.load(&key[..16]), isa.load(&*rest));
    // Twice six words are three round keys.
    let (pairs, _) = CONSTANTS.as_chunks::<2>();
    for (number, [first, second]) in (0..).step_by(3).zip(pairs) {
        schedule.put(isa, number, low);
        let lower_half = isa.high_down(isa.low_up(high));
        [low, high] = next_six(isa, [low, high], first);
        schedule.put(isa, number + 1, lower_half ^ isa.low_up(low));
        let upper_half = isa.high_down(low);
        schedule.put(isa, number + 2, upper_half ^ isa.low_up(high));
        [low, high] = next_six(isa, [low, high], second);
    }
    schedule.put(isa, 12, low);
}

#[inline(always)]
fn next_six<I: AesKeySteps>(
    isa: I,
    [low, high]: [I::Blocks; 2],
    constant: &Block,
) -> [I::Blocks; 2] {
    const LAST: Block = [12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15];
    let row = isa.shuffle(isa.low_up(high), &ALONG_ROW[0]);
    let row = isa.encrypt_last(row, isa.broadcast(constant));
    let low = sums(isa, low) ^ isa.shuffle(row, &IN_WORDS[0]);
    [low, sums(isa, high) ^ isa.shuffle(low, &LAST)]
}

/// Every word plus all before it.
#[inline(always)]
fn sums<I: AesKeySteps>(isa: I, words: I::Blocks) -> I::Blocks {
    let pairs = words ^ isa.shuffle(words, &UP_ONE);
    pairs ^ isa.low_up(pairs)
}

/// The round keys of the other direction than `of`, whose these are; see [`inverse`](crate::schedule::inverse).
#[inline(always)]
pub(crate) fn turn<I: AesKeySteps, K: KeyLength>(
    isa: I,
    keys: &PerRound<K, Block>,
    of: Direction,
) -> PerRound<K, Block> {
    let mut turned = room::<K>();
    let zero = isa.broadcast(&[0; 16]);
    let last = keys.len() - 1;
    for (i, block) in turned.iter_mut().enumerate() {
        let mut key = isa.load(&keys[last - i]);
        if i > 0 && i < last {
            key = match of {
                Direction::Encrypt => isa.inv_mix_columns(key),
                // The first step undoes all of a round but the mixing of columns.
                Direction::Decrypt => isa.encrypt_round(isa.decrypt_last(key, zero), zero),
            };
        }
        isa.store(key, block);
    }
    turned
}
