//! LEA sliced by words, one block per lane, on every instruction set: one text for all, and for a single
//! block.
//!
//! Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::{marker::PhantomData, slice};

use cipher::{
    Array, InOut, InOutBuf,
    consts::{U16, U64},
};
use lanecrypt_core::{Chains, Direction, Secret};
use lanecrypt_slicing::{
    Choices, Core, Form, Portable, Rounds, RunsOn, Word, WordLanes, WordState, Words as Lanes,
    chains_in_lanes,
};

use crate::schedule::{KeyLength, MOST_ROUNDS, RoundKey, RoundKeys};

/// LEA sliced by words, with keys of the size `K`.
#[derive(Debug)]
pub struct Words<K>(PhantomData<fn() -> K>);

/// LEA on whatever CPU there is.
#[derive(Debug)]
pub struct CpuForms<K>(PhantomData<fn() -> K>);

impl<K: KeyLength> Choices for CpuForms<K> {
    type Schedule = RoundKeys<K>;
    type Lanes = U64;
    type Fast = Words<K>;
    type Plain = Words<K>;

    #[inline]
    fn run_single(
        schedule: &RoundKeys<K>,
        direction: Direction,
        block: &mut Array<u8, U16>,
    ) -> bool {
        single(schedule, direction, block.into());
        true
    }
}

lanecrypt_slicing::compiled_here!(fast: WordRounds, plain: WordRounds);

/// The round keys, and the direction that takes them.
#[derive(Debug)]
#[repr(C)] // `ct` knows what of it is public
pub struct DirectedKeys {
    fours: Secret<[[RoundKey; 4]; MOST_ROUNDS / 4]>,
    count: usize,
    direction: Direction,
}

impl<K: KeyLength> Form for Words<K> {
    type Schedule = RoundKeys<K>;
    type Core = WordRounds;
    type Keys = DirectedKeys;

    #[inline(always)]
    fn keys(schedule: &RoundKeys<K>, direction: Direction) -> DirectedKeys {
        let mut fours = Secret::new([[[0; 6]; 4]; MOST_ROUNDS / 4]);
        let count = schedule.fours().len();
        fours[..count].copy_from_slice(schedule.fours());
        DirectedKeys { fours, count, direction }
    }

    #[inline(always)]
    fn view(keys: &DirectedKeys) -> &DirectedKeys {
        keys
    }
}

/// The rounds of [`Words`], whatever the key size.
#[derive(Debug)]
pub enum WordRounds {}

impl Core for WordRounds {
    type BlockSize = U16;
    type Keys = DirectedKeys;
}

/// A round key, in every lane.
#[inline(always)]
fn splat<I: WordLanes>(isa: I, key: &RoundKey) -> [I::Words; 6] {
    let [k0, k1, k2, k3, k4, k5] = *key;
    [isa.splat(k0), isa.splat(k1), isa.splat(k2), isa.splat(k3), isa.splat(k4), isa.splat(k5)]
}

// ANCHOR: round
/// A round of encryption, on words in these places. The first word stays and is the last of the next
/// round, so that a word only gets another name:
///
/// ```text
///                    [0]  [1]  [2]  [3]
/// before round 4i     X0   X1   X2   X3
/// before 4i + 1       X3   X0   X1   X2
/// before 4i + 2       X2   X3   X0   X1
/// before 4i + 3       X1   X2   X3   X0
/// ```
#[inline(always)]
fn round<I: WordLanes>(
    isa: I,
    [a, b, c, d]: [usize; 4],
    words: &mut [I::Words; 4],
    key: &RoundKey,
) {
    let rk = splat(isa, key);
    words[d] = (words[c] ^ rk[4]).add(words[d] ^ rk[5]).rotate_left::<29>();
    words[c] = (words[b] ^ rk[2]).add(words[c] ^ rk[3]).rotate_left::<27>();
    words[b] = (words[a] ^ rk[0]).add(words[b] ^ rk[1]).rotate_left::<9>();
}

/// Its inverse.
#[inline(always)]
fn inverse<I: WordLanes>(
    isa: I,
    [a, b, c, d]: [usize; 4],
    words: &mut [I::Words; 4],
    key: &RoundKey,
) {
    let rk = splat(isa, key);
    // A word waits for the one before it: what that is XORed with twice is one operation of three.
    let first = words[b].rotate_left::<23>().subtract(words[a] ^ rk[0]);
    let second = words[c].rotate_left::<5>().subtract(Word::xor3(first, rk[1], rk[2]));
    let third = words[d].rotate_left::<3>().subtract(Word::xor3(second, rk[3], rk[4]));
    (words[b], words[c], words[d]) = (first ^ rk[1], second ^ rk[3], third ^ rk[5]);
}
// ANCHOR_END: round

// ANCHOR: rounds
/// All rounds of encryption. After four of them every word has its old name again.
#[inline(always)]
fn encrypt<I: WordLanes>(isa: I, fours: &[[RoundKey; 4]], states: &mut [WordState<I::Words>]) {
    for [k0, k1, k2, k3] in fours {
        for x in states.iter_mut() {
            round(isa, [0, 1, 2, 3], &mut x.0, k0);
            round(isa, [1, 2, 3, 0], &mut x.0, k1);
            round(isa, [2, 3, 0, 1], &mut x.0, k2);
            round(isa, [3, 0, 1, 2], &mut x.0, k3);
        }
    }
}

/// All rounds of decryption.
#[inline(always)]
fn decrypt<I: WordLanes>(isa: I, fours: &[[RoundKey; 4]], states: &mut [WordState<I::Words>]) {
    for [k0, k1, k2, k3] in fours.iter().rev() {
        for x in states.iter_mut() {
            inverse(isa, [3, 0, 1, 2], &mut x.0, k3);
            inverse(isa, [2, 3, 0, 1], &mut x.0, k2);
            inverse(isa, [1, 2, 3, 0], &mut x.0, k1);
            inverse(isa, [0, 1, 2, 3], &mut x.0, k0);
        }
    }
}
// ANCHOR_END: rounds

impl<I: WordLanes> Rounds<I> for WordRounds {
    type State = WordState<I::Words>;

    /// Two share the broadcasts of round keys.
    const GROUPS: usize = 2;

    #[inline(always)]
    fn run<const G: usize>(keys: &DirectedKeys, isa: I, states: &mut [Self::State; G]) {
        let fours = &keys.fours[..keys.count];
        match keys.direction {
            Direction::Encrypt => encrypt(isa, fours, states),
            Direction::Decrypt => decrypt(isa, fours, states),
        }
    }
}

// ANCHOR: single
/// Runs a block, with round keys from where they are, where a batch has a copy of its own.
#[inline]
fn single<K: KeyLength>(
    keys: &RoundKeys<K>,
    direction: Direction,
    block: InOut<'_, '_, Array<u8, U16>>,
) {
    match direction {
        Direction::Encrypt => single_encrypted(keys.fours(), block),
        Direction::Decrypt => single_decrypted(keys.fours(), block),
    }
}

/// A block encrypted. Each direction is a function of its own, which a caller that knows the direction calls at once.
fn single_encrypted(fours: &[[RoundKey; 4]], mut block: InOut<'_, '_, Array<u8, U16>>) {
    let isa = Portable::<u32>::new();
    let mut state = [WordState([0; 4])];
    isa.slice(block.get_in(), &mut state[0].0);
    // The 24 rounds that every key size has are written out: a loop takes a fifth longer.
    let (first, rest) = fours.as_chunks();
    for [k0, k1, k2, k3, k4, k5] in first {
        encrypt(isa, slice::from_ref(k0), &mut state);
        encrypt(isa, slice::from_ref(k1), &mut state);
        encrypt(isa, slice::from_ref(k2), &mut state);
        encrypt(isa, slice::from_ref(k3), &mut state);
        encrypt(isa, slice::from_ref(k4), &mut state);
        encrypt(isa, slice::from_ref(k5), &mut state);
    }
    encrypt(isa, rest, &mut state);
    isa.unslice(state[0].0, block.get_out());
}

/// A block decrypted.
fn single_decrypted(fours: &[[RoundKey; 4]], mut block: InOut<'_, '_, Array<u8, U16>>) {
    let isa = Portable::<u32>::new();
    let mut state = [WordState([0; 4])];
    isa.slice(block.get_in(), &mut state[0].0);
    decrypt(isa, fours, &mut state);
    isa.unslice(state[0].0, block.get_out());
}
// ANCHOR_END: single

/// Blocks up to which one after the other is faster than a batch.
const FEW: usize = 3;

impl<K: KeyLength, I: WordLanes> RunsOn<I> for Words<K> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        (blocks <= FEW).then_some(1)
    }

    fn run_short(
        schedule: &RoundKeys<K>,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        for block in blocks {
            single(schedule, direction, block);
        }
    }

    fn run_chains(schedule: &RoundKeys<K>, isa: I, chains: &mut Chains<'_, '_, '_>) -> bool {
        chains_in_lanes::<Self, I>(schedule, isa, chains)
    }
}
