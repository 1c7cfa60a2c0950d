//! The key schedule, the round function and the order of the rounds (RFC 4269, sections 2 and 2.3).

use lanecrypt_core::Direction;

use crate::words::G;

/// RustCrypto's name of the cipher.
pub(crate) const NAME: &str = "Seed128";
/// Rounds, each with a key of two words.
pub(crate) const ROUNDS: usize = 16;

/// The round keys of encryption in its order, in a form that suits an implementation; backwards
/// they are those of decryption. Cleared when dropped.
#[derive(Clone)]
pub(crate) struct RoundKeys<T: KeyWord> {
    keys: [[T; 2]; ROUNDS],
}

/// Half of a round key in some form, by default zeros.
pub(crate) trait KeyWord: Clone + Default {}

impl KeyWord for u32 {}

/// SEED's steps on 32-bit words, a word of one block or of many.
pub(crate) trait Steps {
    /// A word of every block.
    type Word: Clone;
    /// Half of a round key.
    type Key: KeyWord;
    /// XORs half of a round key.
    fn xor_key(word: &mut Self::Word, key: &Self::Key);
    /// XORs a word.
    fn xor(word: &mut Self::Word, other: &Self::Word);
    /// Adds a word modulo 2^32.
    fn add(word: &mut Self::Word, other: &Self::Word);
    /// G.
    fn g(word: &mut Self::Word);
}

/// XORs F of the other half (section 2.1).
#[allow(clippy::inline_always, reason = "the whole of a cipher")]
#[inline(always)]
fn xor_f<S: Steps>(to: &mut [S::Word; 2], half: &[S::Word; 2], key: &[S::Key; 2]) {
    let [mut c, mut d] = half.clone();
    S::xor_key(&mut c, &key[0]);
    S::xor_key(&mut d, &key[1]);
    S::xor(&mut d, &c);
    S::g(&mut d);
    S::add(&mut c, &d);
    S::g(&mut c);
    S::add(&mut d, &c);
    S::g(&mut d);
    S::add(&mut c, &d);
    S::xor(&mut to[0], &c);
    S::xor(&mut to[1], &d);
}

impl<T: KeyWord> RoundKeys<T> {
    // ANCHOR: run
    /// Runs the halves of a block, which are left in the order in which they are stored.
    #[allow(clippy::inline_always, reason = "the steps are the whole of a cipher")]
    #[inline(always)]
    pub(crate) fn run<S: Steps<Key = T>>(
        &self,
        direction: Direction,
        [left, right]: &mut [[S::Word; 2]; 2],
    ) {
        for [first, second] in self.in_order(direction).as_chunks::<2>().0 {
            xor_f::<S>(left, right, first);
            xor_f::<S>(right, left, second);
        }
        core::mem::swap(left, right);
    }
    // ANCHOR_END: run

    /// The round keys in the order in which `direction` takes them.
    pub(crate) fn in_order(&self, direction: Direction) -> [&[T; 2]; ROUNDS] {
        let mut keys = self.keys.each_ref();
        if direction == Direction::Decrypt {
            keys.reverse();
        }
        keys
    }

    /// Another form of every round key.
    pub(crate) fn map<U: KeyWord>(&self, form: impl Fn(&T) -> U) -> RoundKeys<U> {
        RoundKeys { keys: self.keys.each_ref().map(|key| key.each_ref().map(&form)) }
    }
}

/// KC0, a part of the golden ratio; the other constants are its rotations.
const GOLDEN_RATIO: u32 = 0x9e37_79b9;

impl RoundKeys<u32> {
    /// The round keys of a key. `F` is G in the implementation's own way: a table is fast, the
    /// circuit is constant-time.
    pub(crate) fn expand<F: G>(key: &[u8; 16]) -> Self {
        let mut keys = [[0; 2]; ROUNDS];
        let mut halves = key.as_chunks::<8>().0.iter().map(|half| u64::from_be_bytes(*half));
        let (mut ab, mut cd) = (halves.next().unwrap_or(0), halves.next().unwrap_or(0));
        for (i, key) in (0..).zip(&mut keys) {
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
        Self { keys }
    }
}

#[cfg(feature = "zeroize")]
impl<T: KeyWord> Drop for RoundKeys<T> {
    fn drop(&mut self) {
        self.keys.as_flattened_mut().fill(T::default());
        // Keeps the writes above from being optimised away: the keys are used afterwards.
        core::hint::black_box(&mut self.keys);
    }
}
