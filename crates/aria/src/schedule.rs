//! Key sizes, the key schedule, and the order of the rounds (RFC 5794, sections 2.2 and 2.3).

use core::fmt;

use cipher::{
    Array,
    array::ArraySize,
    consts::{U13, U15, U16, U17, U24, U32},
    typenum::Unsigned,
};
use lanecrypt_core::Direction;

use crate::diffusion::{bytes, diffuse_words, words};

/// A block's bytes: as text, or as a round key.
pub(crate) type Bytes = [u8; 16];

/// An ARIA key size, as a type.
pub trait KeyLength: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Round keys: one more than rounds.
    type RoundKeys: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
}

/// The key size from which `ROUND_KEYS` round keys are made.
///
/// The three that there are have names: [`Key128`], [`Key192`] and [`Key256`].
#[derive(Clone, Copy, Debug)]
pub struct KeySize<const ROUND_KEYS: usize>;

macro_rules! key_length {
    ($name:ident, $size:ty, $round_keys:ty, $cipher:literal, $rounds:literal) => {
        #[doc = concat!("The key size of ", $cipher, ": ", $rounds, " rounds.")]
        pub type $name = KeySize<{ <$round_keys>::USIZE }>;

        impl KeyLength for $name {
            type Size = $size;
            type RoundKeys = $round_keys;
            const NAME: &'static str = $cipher;
        }
    };
}
key_length!(Key128, U16, U13, "Aria128", "12");
key_length!(Key192, U24, U15, "Aria192", "14");
key_length!(Key256, U32, U17, "Aria256", "16");

/// The two substitution layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// SL1, of odd rounds: S1, S2 and their inverses, by turns.
    One,
    /// SL2, of even rounds, the inverse of SL1: the inverses of S1 and S2, then S1 and S2.
    Two,
}

/// ARIA's steps on one block, or on many.
pub(crate) trait Steps {
    /// The state of every block.
    type State;
    /// A round key.
    type Key: RoundKey;
    /// Adds a round key.
    fn add(state: &mut Self::State, key: &Self::Key);
    /// A substitution layer.
    fn substitute(state: &mut Self::State, layer: Layer);
    /// A substitution layer and the diffusion layer A.
    fn substitute_and_diffuse(state: &mut Self::State, layer: Layer);
}

/// A round key in some form, by default zeros.
pub(crate) trait RoundKey: Clone + Default {}

impl RoundKey for Bytes {}

/// The round keys of one direction, in the order in which it adds them. Cleared when dropped.
#[derive(Clone)]
pub(crate) struct RoundKeys<K: KeyLength, T: RoundKey> {
    keys: Array<T, K::RoundKeys>,
}

impl<K: KeyLength, T: RoundKey> RoundKeys<K, T> {
    /// Rounds, the last one without diffusion.
    const ROUNDS: usize = K::RoundKeys::USIZE - 1;

    // ANCHOR: run
    /// Encrypts, or decrypts if these are the round keys of decryption.
    #[allow(clippy::inline_always, reason = "the steps are the whole of a cipher")]
    #[inline(always)]
    pub(crate) fn run<S: Steps<Key = T>>(&self, state: &mut S::State) {
        let mut layers = [Layer::One, Layer::Two].into_iter().cycle();
        for (key, layer) in self.keys[..Self::ROUNDS - 1].iter().zip(&mut layers) {
            S::add(state, key);
            S::substitute_and_diffuse(state, layer);
        }
        S::add(state, &self.keys[Self::ROUNDS - 1]);
        S::substitute(state, Layer::Two);
        S::add(state, &self.keys[Self::ROUNDS]);
    }
    // ANCHOR_END: run

    /// The round keys in the order in which they are added.
    #[cfg(feature = "cuda")]
    pub(crate) fn used(&self) -> &[T] {
        &self.keys
    }

    /// Another form of every round key.
    pub(crate) fn map<U: RoundKey>(&self, form: impl Fn(&T) -> U) -> RoundKeys<K, U> {
        RoundKeys { keys: Array::from_fn(|i| form(&self.keys[i])) }
    }
}

/// The constants C1 to C3: digits of the inverse of pi.
const CONSTANTS: [u128; 3] = [
    0x517c_c1b7_2722_0a94_fe13_abe8_fa9a_6ee0,
    0x6db1_4acc_9e21_c820_ff28_b1d5_ef5d_e2b0,
    0xdb92_371d_2126_e970_0324_9775_04e8_c90e,
];

/// Places to the right by which ek1 to ek4, ek5 to ek8 and so on rotate the word after theirs.
const ROTATIONS: [u32; 5] = [19, 31, 128 - 61, 128 - 31, 128 - 19];

impl<K: KeyLength> RoundKeys<K, Bytes> {
    /// The round keys of encryption.
    fn expand(key: &Array<u8, K::Size>, round: impl Fn(Bytes, Layer) -> Bytes) -> Self {
        let words = source_words(key, round);
        let round_key = |i: usize| {
            let rotated: u128 = words[(i + 1) % 4].rotate_right(ROTATIONS[i / 4]);
            (words[i % 4] ^ rotated).to_be_bytes()
        };
        Self { keys: Array::from_fn(round_key) }
    }

    /// The round keys of decryption: backwards, all but the first and the last through A.
    fn inverse(&self) -> Self {
        let mut inverse = self.clone();
        inverse.keys.reverse();
        for key in &mut inverse.keys[1..Self::ROUNDS] {
            *key = bytes(diffuse_words(words(key)));
        }
        inverse
    }
}

/// W0 to W3 of the key schedule.
fn source_words(key: &[u8], round: impl Fn(Bytes, Layer) -> Bytes) -> [u128; 4] {
    let mut bytes = [0; 32];
    bytes[..key.len()].copy_from_slice(key);
    let [left, right] = [0, 16].map(|at| {
        let half = bytes[at..].first_chunk::<16>();
        half.map_or(0, |half| u128::from_be_bytes(*half))
    });
    let constants: [u128; 3] = core::array::from_fn(|i| CONSTANTS[(key.len() / 8 - 2 + i) % 3]);
    // FO and FE: a round under a constant.
    let round = |word: u128, i: usize, layer| {
        u128::from_be_bytes(round((word ^ constants[i]).to_be_bytes(), layer))
    };
    let first = round(left, 0, Layer::One) ^ right;
    let second = round(first, 1, Layer::Two) ^ left;
    let third = round(second, 2, Layer::One) ^ first;
    [left, first, second, third]
}

/// The round keys of both directions.
#[derive(Clone)]
pub(crate) struct BothKeys<K: KeyLength, T: RoundKey> {
    encrypt: RoundKeys<K, T>,
    decrypt: RoundKeys<K, T>,
}

impl<K: KeyLength> BothKeys<K, Bytes> {
    /// The round keys of a key. `round` is a substitution layer and A of the
    /// implementation's own: a table is fast, the circuit is constant-time.
    pub(crate) fn expand(key: &Array<u8, K::Size>, round: impl Fn(Bytes, Layer) -> Bytes) -> Self {
        let encrypt = RoundKeys::expand(key, round);
        let decrypt = encrypt.inverse();
        Self { encrypt, decrypt }
    }
}

impl<K: KeyLength, T: RoundKey> BothKeys<K, T> {
    /// Another form of every round key.
    pub(crate) fn map<U: RoundKey>(&self, form: impl Fn(&T) -> U) -> BothKeys<K, U> {
        BothKeys { encrypt: self.encrypt.map(&form), decrypt: self.decrypt.map(&form) }
    }

    /// The round keys of a direction.
    pub(crate) fn of(&self, direction: Direction) -> &RoundKeys<K, T> {
        match direction {
            Direction::Encrypt => &self.encrypt,
            Direction::Decrypt => &self.decrypt,
        }
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength, T: RoundKey> Drop for RoundKeys<K, T> {
    fn drop(&mut self) {
        self.keys.fill(T::default());
        // Keeps the writes above from being optimised away: the keys are used afterwards.
        core::hint::black_box(&mut self.keys);
    }
}
