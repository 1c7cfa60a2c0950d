//! LEA sliced by words, a block a lane, on every instruction set: one text for all, and for a single
//! block.
//!
//! Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::marker::PhantomData;

use cipher::{
    Array, InOutBuf,
    consts::{U16, U64},
};
use lanecrypt_core::{Direction, Secret};
use lanecrypt_slicing::{
    Choices, Core, Form, Portable, Rounds, RunsOn, WordLanes, WordState, Words as Lanes, padded,
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
}

/// The round keys in the order of a direction.
#[derive(Debug)]
pub struct DirectedKeys {
    keys: Secret<[RoundKey; MOST_ROUNDS]>,
    rounds: usize,
    direction: Direction,
}

impl<K: KeyLength> Form for Words<K> {
    type Schedule = RoundKeys<K>;
    type Core = WordRounds;
    type Keys = DirectedKeys;

    #[inline(always)]
    fn keys(schedule: &RoundKeys<K>, direction: Direction) -> DirectedKeys {
        let (keys, rounds) = schedule.of(direction);
        DirectedKeys { keys, rounds, direction }
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
    words[b] = words[b].rotate_left::<23>().subtract(words[a] ^ rk[0]) ^ rk[1];
    words[c] = words[c].rotate_left::<5>().subtract(words[b] ^ rk[2]) ^ rk[3];
    words[d] = words[d].rotate_left::<3>().subtract(words[c] ^ rk[4]) ^ rk[5];
}
// ANCHOR_END: round

impl<I: WordLanes> Rounds<I> for WordRounds {
    type State = WordState<I::Words>;

    /// Two share the broadcasts of round keys.
    const GROUPS: usize = 2;

    #[inline(always)]
    fn run<const G: usize>(keys: &DirectedKeys, isa: I, states: &mut [Self::State; G]) {
        // After four rounds every word has its old name again.
        let fours = keys.keys[..keys.rounds].as_chunks::<4>().0;
        match keys.direction {
            Direction::Encrypt => {
                for [k0, k1, k2, k3] in fours {
                    for x in states.iter_mut() {
                        round(isa, [0, 1, 2, 3], &mut x.0, k0);
                        round(isa, [1, 2, 3, 0], &mut x.0, k1);
                        round(isa, [2, 3, 0, 1], &mut x.0, k2);
                        round(isa, [3, 0, 1, 2], &mut x.0, k3);
                    }
                }
            }
            Direction::Decrypt => {
                for [k0, k1, k2, k3] in fours {
                    for x in states.iter_mut() {
                        inverse(isa, [3, 0, 1, 2], &mut x.0, k0);
                        inverse(isa, [2, 3, 0, 1], &mut x.0, k1);
                        inverse(isa, [1, 2, 3, 0], &mut x.0, k2);
                        inverse(isa, [0, 1, 2, 3], &mut x.0, k3);
                    }
                }
            }
        }
    }
}

impl<K: KeyLength, I: WordLanes> RunsOn<I> for Words<K> {
    /// A block alone needs no register of lanes.
    fn short_at_once(blocks: usize) -> Option<usize> {
        (blocks == 1).then_some(1)
    }

    fn run_short(
        schedule: &RoundKeys<K>,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        padded::<Self, _>(schedule, Portable::<u32>::new(), direction, blocks);
    }
}
