//! Key sizes, and the round keys for all forms.

use core::fmt;

use cipher::{
    Array,
    array::ArraySize,
    consts::{U16, U24, U28, U32},
};
use lanecrypt_core::Secret;
use lanecrypt_slicing::Schedule;

/// A key size of LEA, as a type.
pub trait KeyLength: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Rounds.
    type Rounds: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;

    /// Writes the round keys of a key.
    fn expand(key: &Array<u8, Self::Size>, keys: &mut Array<RoundKey, Self::Rounds>);
}

/// The key size `$key`, of `$words` words, of which each round takes the next `$taken`.
macro_rules! key_length {
    ($key:ident, $size:ty, $rounds:ty, $name:literal, $words:literal, $taken:literal) => {
        #[doc = concat!("The key size of ", $name, ".")]
        #[derive(Clone, Copy, Debug)]
        pub enum $key {}

        impl KeyLength for $key {
            type Size = $size;
            type Rounds = $rounds;
            const NAME: &'static str = $name;

            fn expand(key: &Array<u8, $size>, keys: &mut Array<RoundKey, $rounds>) {
                expand::<$words, $taken>(key, keys);
            }
        }
    };
}
key_length!(Key128, U16, U24, "Lea128", 4, 4);
key_length!(Key192, U24, U28, "Lea192", 6, 6);
key_length!(Key256, U32, U32, "Lea256", 8, 6);

/// The most rounds that there are.
pub(crate) const MOST_ROUNDS: usize = 32;

/// Six words.
pub type RoundKey = [u32; 6];

// ANCHOR: schedule
/// The constants of the key schedule, one a word of the key.
const DELTA: [u32; 8] = [
    0xc3ef_e9db,
    0x4462_6b02,
    0x79e2_7c8a,
    0x78df_30ec,
    0x715e_a49e,
    0xc785_da0a,
    0xe04e_f22a,
    0xe5c4_0957,
];

/// By how many bits the words that a round uses are rotated.
const ROTATIONS: [u32; 6] = [1, 3, 6, 11, 13, 17];

/// What each round adds to the words that it uses, for keys of this number of words.
const fn constants(words: usize) -> [RoundKey; MOST_ROUNDS] {
    let mut constants = [[0; 6]; MOST_ROUNDS];
    let mut n = 0;
    while n < 6 * MOST_ROUNDS {
        let (i, j) = (n / 6, n % 6);
        constants[i][j] = DELTA[i % words].rotate_left((i + j) as u32);
        n += 1;
    }
    constants
}

/// One text for the three key sizes: a round takes the next `TAKEN` of the key's `WORDS` words, so that after four rounds
/// the first word is the next again. Without branches and look-ups that depend on the key.
#[inline]
fn expand<const WORDS: usize, const TAKEN: usize>(key: &[u8], keys: &mut [RoundKey]) {
    let constants = const { &constants(WORDS) };
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let fours = keys.as_chunks_mut::<4>().0.iter_mut();
    for (keys, constants) in fours.zip(constants.as_chunks::<4>().0) {
        for (i, (key, constants)) in keys.iter_mut().zip(constants).enumerate() {
            for (j, by) in ROTATIONS.into_iter().enumerate().take(TAKEN) {
                let word = &mut words[(TAKEN * i + j) % WORDS];
                *word = word.wrapping_add(constants[j]).rotate_left(by);
                key[j] = *word;
            }
            if TAKEN == 4 {
                let [t0, t1, t2, t3, ..] = *key;
                *key = [t0, t1, t2, t1, t3, t1];
            }
        }
    }
}
// ANCHOR_END: schedule

/// The round keys of encryption; backwards they are those of decryption.
#[derive(Clone)]
pub struct RoundKeys<K: KeyLength>(Secret<Array<RoundKey, K::Rounds>>);

impl<K: KeyLength> Schedule for RoundKeys<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        let mut keys = Self(Secret::new(Array::default()));
        K::expand(key, &mut keys.0);
        keys
    }
}

impl<K: KeyLength> RoundKeys<K> {
    /// Those of every four rounds, in the order of encryption.
    #[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
    #[inline(always)]
    pub(crate) fn fours(&self) -> &[[RoundKey; 4]] {
        self.0.as_chunks().0
    }
}

impl<K: KeyLength> fmt::Debug for RoundKeys<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for RoundKeys<K> {}
