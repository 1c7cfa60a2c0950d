//! Key sizes, the key schedule, and the order of the rounds (RFC 5794, sections 2.2 and 2.3).

use core::fmt;

use cipher::{
    Array,
    array::ArraySize,
    consts::{U13, U15, U16, U17, U24, U32},
    typenum::Unsigned,
};
use lanecrypt_core::{Clear, Direction, Secret};
use lanecrypt_slicing::{Schedule, run_in_lanes};

use crate::{
    diffusion::{bytes, diffuse_words, words},
    sliced::Expand,
};

/// A block's bytes: as text, or as a round key.
pub(crate) type Block = [u8; 16];

/// An ARIA key size, as a type.
pub trait KeyLength: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Block of the key.
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

/// The most round keys that there are.
pub(crate) const MAX_ROUND_KEYS: usize = 17;

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
    type Key;
    /// Adds a round key.
    fn add(&self, state: &mut Self::State, key: &Self::Key);
    /// A substitution layer.
    fn substitute(&self, state: &mut Self::State, layer: Layer);
    /// A substitution layer and the diffusion layer A.
    fn substitute_and_diffuse(&self, state: &mut Self::State, layer: Layer);
}

// ANCHOR: run
/// Encrypts, or decrypts if these are the round keys of decryption.
#[allow(clippy::inline_always, reason = "the steps are the whole of a cipher")]
#[inline(always)]
pub(crate) fn run<S: Steps>(steps: &S, keys: &[S::Key], state: &mut S::State) {
    let [pairs @ .., last_odd, last_even, last] = keys else {
        return;
    };
    for [odd, even] in pairs.as_chunks::<2>().0 {
        steps.add(state, odd);
        steps.substitute_and_diffuse(state, Layer::One);
        steps.add(state, even);
        steps.substitute_and_diffuse(state, Layer::Two);
    }
    steps.add(state, last_odd);
    steps.substitute_and_diffuse(state, Layer::One);
    steps.add(state, last_even);
    steps.substitute(state, Layer::Two);
    steps.add(state, last);
}
// ANCHOR_END: run

/// The steps of the key schedule.
pub(crate) trait KeySteps {
    /// A substitution layer and the diffusion layer A.
    fn round(&self, block: Block, layer: Layer) -> Block;

    /// The diffusion layer A of each block.
    fn diffuse(&self, blocks: &mut [Block]) {
        for block in blocks {
            *block = bytes(diffuse_words(words(block)));
        }
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

/// Something for every round key of a direction, in the order in which they are added.
pub(crate) type PerRound<K, T> = Secret<Array<T, <K as KeyLength>::RoundKeys>>;

/// The round keys of both directions.
#[derive(Clone)]
pub struct RoundKeys<K: KeyLength> {
    encrypt: PerRound<K, Block>,
    decrypt: PerRound<K, Block>,
}

impl<K: KeyLength> RoundKeys<K> {
    /// The round keys of a key by the implementation's own steps: tables are fast, instructions and the
    /// circuits are constant-time.
    #[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
    #[inline(always)]
    pub(crate) fn expand(key: &Array<u8, K::Size>, steps: &impl KeySteps) -> Self {
        let words = source_words(key, steps);
        let encrypt = Secret::new(Array::from_fn(|i| {
            let rotated: u128 = words[(i + 1) % 4].rotate_right(ROTATIONS[i / 4]);
            (words[i % 4] ^ rotated).to_be_bytes()
        }));
        // Backwards, all but the first and the last through A.
        let mut decrypt: PerRound<K, Block> = encrypt.clone();
        decrypt.reverse();
        let last = decrypt.len() - 1;
        steps.diffuse(&mut decrypt[1..last]);
        Self { encrypt, decrypt }
    }

    /// The round keys of a direction.
    pub(crate) fn of(&self, direction: Direction) -> &PerRound<K, Block> {
        match direction {
            Direction::Encrypt => &self.encrypt,
            Direction::Decrypt => &self.decrypt,
        }
    }
}

/// Another form of the round keys of a direction.
#[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
#[inline(always)]
pub(crate) fn map<K: KeyLength, T: Clear + Default>(
    keys: &PerRound<K, Block>,
    form: impl Fn(&Block) -> T,
) -> PerRound<K, T> {
    let mut mapped = Secret::new(Array::default());
    for (mapped, key) in mapped.iter_mut().zip(keys.iter()) {
        *mapped = form(key);
    }
    mapped
}

impl<K: KeyLength> Schedule for RoundKeys<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        run_in_lanes(Expand::<K>(key))
    }
}

/// W0 to W3 of the key schedule.
#[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
#[inline(always)]
fn source_words(key: &[u8], steps: &impl KeySteps) -> [u128; 4] {
    let mut bytes = [0; 32];
    bytes[..key.len()].copy_from_slice(key);
    let [left, right] = [0, 16].map(|at| {
        let half = bytes[at..].first_chunk::<16>();
        half.map_or(0, |half| u128::from_be_bytes(*half))
    });
    let constants: [u128; 3] = core::array::from_fn(|i| CONSTANTS[(key.len() / 8 - 2 + i) % 3]);
    // FO and FE: a round under a constant.
    let round = |word: u128, i: usize, layer| {
        u128::from_be_bytes(steps.round((word ^ constants[i]).to_be_bytes(), layer))
    };
    let first = round(left, 0, Layer::One) ^ right;
    let second = round(first, 1, Layer::Two) ^ left;
    let third = round(second, 2, Layer::One) ^ first;
    [left, first, second, third]
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for RoundKeys<K> {}

impl<K: KeyLength> fmt::Debug for RoundKeys<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").finish_non_exhaustive()
    }
}
