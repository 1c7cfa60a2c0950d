//! The key schedule, the round function and the order of the rounds (RFC 4269, sections 2 and 2.3).

use core::fmt;

use cipher::{Array, consts::U16};
use lanecrypt_core::{Clear, Direction, Secret};
use lanecrypt_slicing::Schedule;

use crate::{compact, words::G};

/// RustCrypto's name of the cipher.
pub(crate) const NAME: &str = "Seed128";
/// Rounds, each with a key of two words.
pub(crate) const ROUNDS: usize = 16;

/// Something for both halves of every round key, in the order in which a direction adds them.
pub(crate) type PerRound<T> = Secret<[[T; 2]; ROUNDS]>;

/// The round keys of encryption; backwards they are those of decryption.
#[derive(Clone)]
pub struct RoundKeys(PerRound<u32>);

/// SEED's steps on 32-bit words, a word of one block or of many.
pub(crate) trait Steps {
    /// A word of every block.
    type Word: Clone;
    /// Half of a round key.
    type Key;
    /// XORs half of a round key.
    fn xor_key(&self, word: &mut Self::Word, key: &Self::Key);
    /// XORs a word.
    fn xor(&self, word: &mut Self::Word, other: &Self::Word);
    /// Adds a word modulo 2^32.
    fn add(&self, word: &mut Self::Word, other: &Self::Word);
    /// G.
    fn g(&self, word: &mut Self::Word);
}

/// XORs F of the other half (section 2.1).
#[allow(clippy::inline_always, reason = "the whole of a cipher")]
#[inline(always)]
pub(crate) fn xor_f<S: Steps>(
    steps: &S,
    to: &mut [S::Word; 2],
    [c, d]: &[S::Word; 2],
    key: &[S::Key; 2],
) {
    let (mut c, mut d) = (c.clone(), d.clone());
    steps.xor_key(&mut c, &key[0]);
    steps.xor_key(&mut d, &key[1]);
    steps.xor(&mut d, &c);
    steps.g(&mut d);
    steps.add(&mut c, &d);
    steps.g(&mut c);
    steps.add(&mut d, &c);
    steps.g(&mut d);
    steps.add(&mut c, &d);
    steps.xor(&mut to[0], &c);
    steps.xor(&mut to[1], &d);
}

// ANCHOR: run
/// Runs the halves of a block, which are left in the order in which they are stored.
#[allow(clippy::inline_always, reason = "the steps are the whole of a cipher")]
#[inline(always)]
pub(crate) fn run<S: Steps>(
    steps: &S,
    keys: &[[S::Key; 2]; ROUNDS],
    [left, right]: &mut [[S::Word; 2]; 2],
) {
    for [first, second] in keys.as_chunks::<2>().0 {
        xor_f(steps, left, right, first);
        xor_f(steps, right, left, second);
    }
    core::mem::swap(left, right);
}
// ANCHOR_END: run

impl RoundKeys {
    /// The round keys in the order in which a direction takes them.
    pub(crate) fn of(&self, direction: Direction) -> PerRound<u32> {
        let mut keys = self.0.clone();
        if direction == Direction::Decrypt {
            keys.reverse();
        }
        keys
    }

    /// Round key `i` in the order of a direction.
    #[allow(clippy::inline_always, reason = "an index, met for every round")]
    #[inline(always)]
    pub(crate) fn at(&self, direction: Direction, i: usize) -> [u32; 2] {
        match direction {
            Direction::Encrypt => self.0[i],
            Direction::Decrypt => self.0[ROUNDS - 1 - i],
        }
    }
}

/// Another form of the round keys.
#[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
#[inline(always)]
pub(crate) fn map<T: Clear + Copy + Default>(
    keys: &PerRound<u32>,
    form: impl Fn(u32) -> T,
) -> PerRound<T> {
    let mut mapped = Secret::new([[T::default(); 2]; ROUNDS]);
    for (mapped, key) in mapped.as_flattened_mut().iter_mut().zip(keys.as_flattened()) {
        *mapped = form(*key);
    }
    mapped
}

impl Schedule for RoundKeys {
    type BlockSize = U16;
    type KeySize = U16;
    const NAME: &'static str = NAME;

    fn new(key: &Array<u8, U16>) -> Self {
        Self::expand::<compact::Circuits>(&key.0)
    }
}

/// KC0, a part of the golden ratio; the other constants are its rotations.
const GOLDEN_RATIO: u32 = 0x9e37_79b9;

impl RoundKeys {
    /// The round keys of a key. `F` is G in the implementation's own way: a table is fast, the
    /// circuit is constant-time.
    pub(crate) fn expand<F: G>(key: &[u8; 16]) -> Self {
        let mut keys = Secret::new([[0; 2]; ROUNDS]);
        let mut halves = key.as_chunks::<8>().0.iter().map(|half| u64::from_be_bytes(*half));
        let (mut ab, mut cd) = (halves.next().unwrap_or(0), halves.next().unwrap_or(0));
        for (i, key) in (0..).zip(keys.iter_mut()) {
            let constant = GOLDEN_RATIO.rotate_left(i);
            let [a, b, c, d] = [(ab >> 32) as u32, ab as u32, (cd >> 32) as u32, cd as u32];
            *key = [
                a.wrapping_add(c).wrapping_sub(constant),
                b.wrapping_sub(d).wrapping_add(constant),
            ];
            if i % 2 == 0 {
                ab = ab.rotate_right(8);
            } else {
                cd = cd.rotate_left(8);
            }
        }
        // Nothing above depends on G, so that it can take many words at once.
        for words in keys.as_flattened_mut().as_chunks_mut::<ROUNDS>().0 {
            *words = F::g(*words);
        }
        Self(keys)
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for RoundKeys {}

impl fmt::Debug for RoundKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").finish_non_exhaustive()
    }
}
