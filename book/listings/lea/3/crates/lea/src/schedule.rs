//! Key sizes, and the round keys for all forms.

use core::fmt;

use cipher::{
    Array,
    array::ArraySize,
    consts::{U16, U24, U28, U32},
};
use lanecrypt_core::{Direction, Secret};
use lanecrypt_slicing::Schedule;

/// A key size of LEA, as a type.
pub trait KeyLength: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Rounds.
    type Rounds: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
}

macro_rules! key_length {
    ($key:ident, $size:ty, $rounds:ty, $name:literal) => {
        #[doc = concat!("The key size of ", $name, ".")]
        #[derive(Clone, Copy, Debug)]
        pub enum $key {}

        impl KeyLength for $key {
            type Size = $size;
            type Rounds = $rounds;
            const NAME: &'static str = $name;
        }
    };
}
key_length!(Key128, U16, U24, "Lea128");
key_length!(Key192, U24, U28, "Lea192");
key_length!(Key256, U32, U32, "Lea256");

// ANCHOR: schedule
/// The most rounds that there are.
pub(crate) const MOST_ROUNDS: usize = 32;

/// Six words.
pub(crate) type RoundKey = [u32; 6];

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

/// The round keys of encryption; backwards they are those of decryption.
#[derive(Clone)]
pub struct RoundKeys<K: KeyLength>(Secret<Array<RoundKey, K::Rounds>>);

impl<K: KeyLength> Schedule for RoundKeys<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    /// One text for the three key sizes: a round takes the next four or six words of the key, of
    /// which there are four, six or eight. Without branches and look-ups that depend on the key.
    fn new(key: &Array<u8, K::Size>) -> Self {
        let mut words = Secret::new([0; 8]);
        for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let count = key.len() / 4;
        let taken = count.min(6);
        let mut keys: Secret<Array<RoundKey, K::Rounds>> = Secret::new(Array::default());
        for (i, key) in keys.iter_mut().enumerate() {
            for (j, by) in ROTATIONS.into_iter().enumerate().take(taken) {
                let word = &mut words[(taken * i + j) % count];
                let delta = DELTA[i % count].rotate_left((i + j) as u32);
                *word = word.wrapping_add(delta).rotate_left(by);
                key[j] = *word;
            }
            if taken == 4 {
                *key = [key[0], key[1], key[2], key[1], key[3], key[1]];
            }
        }
        Self(keys)
    }
}
// ANCHOR_END: schedule

impl<K: KeyLength> RoundKeys<K> {
    /// The round keys in the order in which a direction takes them, and how many they are.
    #[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
    #[inline(always)]
    pub(crate) fn of(&self, direction: Direction) -> (Secret<[RoundKey; MOST_ROUNDS]>, usize) {
        let mut ordered = Secret::new([[0; 6]; MOST_ROUNDS]);
        let rounds = self.0.len();
        for (i, key) in self.0.iter().enumerate() {
            let at = match direction {
                Direction::Encrypt => i,
                Direction::Decrypt => rounds - 1 - i,
            };
            ordered[at] = *key;
        }
        (ordered, rounds)
    }
}

impl<K: KeyLength> fmt::Debug for RoundKeys<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for RoundKeys<K> {}
