//! Key sizes and the key schedule (FIPS 197, section 5.2), for both directions or one.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::{fmt, ops::Deref};

use cipher::{
    Array,
    array::ArraySize,
    consts::{U11, U13, U15, U16, U24, U32},
    typenum::Unsigned,
};
use lanecrypt_core::{Direction, Secret};
use lanecrypt_slicing::{AesBody, AesKeySteps, Schedule, has_aes, run_aes};

use crate::{compact::Circuits, expand};

/// Round keys that the longest key has: AES-256's 14 rounds and the first addition.
pub(crate) const MAX_ROUND_KEYS: usize = 15;

/// An AES key size, as a type.
pub trait KeyLength: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Round keys: one more than rounds.
    type RoundKeys: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
    /// Room for round keys.
    #[doc(hidden)]
    const ROOM: Array<[u8; 16], Self::RoundKeys>;
}

macro_rules! key_length {
    ($name:ident, $size:ty, $cipher:literal, $rounds:literal, $keys:ty) => {
        #[doc = concat!("The key size of ", $cipher, ": ", $rounds, " rounds.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl KeyLength for $name {
            type Size = $size;
            type RoundKeys = $keys;
            const NAME: &'static str = $cipher;
            const ROOM: Array<[u8; 16], $keys> = Array([[0; 16]; <$keys>::USIZE]);
        }
    };
}
key_length!(Key128, U16, "Aes128", "10", U11);
key_length!(Key192, U24, "Aes192", "12", U13);
key_length!(Key256, U32, "Aes256", "14", U15);

/// A block's bytes: as text, or as a round key.
pub(crate) type Block = [u8; 16];

/// Something for every round key of a direction, in the order in which it adds them.
pub(crate) type PerRound<K, T> = Secret<Array<T, <K as KeyLength>::RoundKeys>>;

/// What the key schedule needs of the cipher where there are no instructions: a table is fast, a circuit is
/// constant-time.
pub(crate) trait KeySteps {
    /// `SubWord()`.
    fn sub_word(&self, word: [u8; 4]) -> [u8; 4];
    /// `InvMixColumns()` of a block.
    fn inv_mix_columns(&self, block: Block) -> Block;
    /// `MixColumns()` of a block.
    fn mix_columns(&self, block: Block) -> Block;
}

/// The round keys of encryption, as FIPS 197 numbers them: number `i` is added at the end of round
/// `i`.
pub(crate) fn expand<K: KeyLength>(
    steps: &impl KeySteps,
    key: &Array<u8, K::Size>,
) -> PerRound<K, Block> {
    let mut keys = room::<K>();
    let words = keys.as_flattened_mut().as_chunks_mut::<4>().0;
    let key_words = key.len() / 4;
    for (word, bytes) in words.iter_mut().zip(key.as_chunks::<4>().0) {
        *word = *bytes;
    }
    let mut round_constant = 1;
    for i in key_words..words.len() {
        let mut word = words[i - 1];
        if i % key_words == 0 {
            word.rotate_left(1);
            word = steps.sub_word(word);
            word[0] ^= round_constant;
            round_constant = multiply_by_x(round_constant);
        } else if key_words > 6 && i % key_words == 4 {
            word = steps.sub_word(word);
        }
        for (byte, earlier) in word.iter_mut().zip(words[i - key_words]) {
            *byte ^= earlier;
        }
        words[i] = word;
    }
    keys
}

/// The keys of the equivalent inverse cipher (FIPS 197, 5.3.5), in the order in which it adds them,
/// or back: reversed, all but the first and last through `mix`.
pub(crate) fn inverse<K: KeyLength>(
    keys: &PerRound<K, Block>,
    mix: impl Fn(Block) -> Block,
) -> PerRound<K, Block> {
    let mut inverse = room::<K>();
    let last = keys.len() - 1;
    for (i, key) in inverse.iter_mut().enumerate() {
        let other = keys[last - i];
        *key = if i == 0 || i == last { other } else { mix(other) };
    }
    inverse
}

/// Multiplication by x in GF(2^8); the argument is public here (a round constant).
pub(crate) const fn multiply_by_x(element: u8) -> u8 {
    lanecrypt_reference::gf256::multiply_by_x(element, lanecrypt_reference::gf256::AES_MODULUS)
}

/// Makes a key schedule: all of its round keys in one region, where it stays.
struct Expand<'a, S: AesSchedule>(&'a Array<u8, <S::Length as KeyLength>::Size>);

impl<S: AesSchedule> AesBody for Expand<'_, S> {
    type Output = S;

    #[inline(always)]
    fn with<I: AesKeySteps>(self, isa: I) -> S {
        expand::expand(isa, self.0)
    }

    fn without(self) -> S {
        S::of_encryption(expand::<S::Length>(&Circuits, self.0))
    }
}

/// Turns the keys of the direction into those of the other one.
struct Turn<'a, K: KeyLength>(&'a PerRound<K, Block>, Direction);

impl<K: KeyLength> AesBody for Turn<'_, K> {
    type Output = PerRound<K, Block>;

    #[inline(always)]
    fn with<I: AesKeySteps>(self, isa: I) -> Self::Output {
        expand::turn::<I, K>(isa, self.0, self.1)
    }

    fn without(self) -> Self::Output {
        match self.1 {
            Direction::Encrypt => inverse::<K>(self.0, |block| Circuits.inv_mix_columns(block)),
            Direction::Decrypt => inverse::<K>(self.0, |block| Circuits.mix_columns(block)),
        }
    }
}

/// Bytes of stack that the key expansion by instructions takes at most, with what it is called from.
const STACK_BYTES: usize = 2 << 10;

/// Runs a key expansion and overwrites the stack that it used: of instructions, which take 20 ns, no more than
/// that.
pub(crate) fn on_cleared_stack<R>(expand: impl FnOnce() -> R) -> R {
    if has_aes() {
        lanecrypt_core::on_cleared_stack_of::<STACK_BYTES, R>(expand)
    } else {
        lanecrypt_core::on_cleared_stack(expand)
    }
}

/// The round keys of the other direction than `of`, whose these are.
pub(crate) fn turn<K: KeyLength>(keys: &PerRound<K, Block>, of: Direction) -> PerRound<K, Block> {
    run_aes(Turn::<K>(keys, of))
}

/// Round keys that a schedule has, or that were made for the occasion.
pub(crate) enum Keys<'a, K: KeyLength> {
    Held(&'a PerRound<K, Block>),
    Made(PerRound<K, Block>),
}

impl<K: KeyLength> Deref for Keys<'_, K> {
    type Target = PerRound<K, Block>;

    fn deref(&self) -> &PerRound<K, Block> {
        match self {
            Self::Held(keys) => keys,
            Self::Made(keys) => keys,
        }
    }
}

/// A key schedule of AES, with the round keys of both directions or of one.
pub trait AesSchedule: Schedule<BlockSize = U16> + 'static {
    /// Its key size.
    type Length: KeyLength;

    /// The round keys of a direction.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "for this crate alone")]
    fn of(&self, direction: Direction) -> Keys<'_, Self::Length>;

    /// From the round keys of encryption.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "for this crate alone")]
    fn of_encryption(keys: PerRound<Self::Length, Block>) -> Self;

    /// Room for round keys.
    #[doc(hidden)]
    fn empty() -> Self;

    /// Stores round key `number` of encryption, and what decryption makes of it.
    #[doc(hidden)]
    fn put<I: AesKeySteps>(&mut self, isa: I, number: usize, key: I::Blocks);
}

#[inline(always)]
pub(crate) fn room<K: KeyLength>() -> PerRound<K, Block> {
    Secret::new(K::ROOM)
}

/// Stores round key `number` of encryption.
#[inline(always)]
fn put_in_order<I: AesKeySteps, K: KeyLength>(
    isa: I,
    keys: &mut PerRound<K, Block>,
    number: usize,
    key: I::Blocks,
) {
    isa.store(key, &mut keys[number]);
}

/// Stores it where decryption adds it; see [`inverse`].
#[inline(always)]
fn put_inverse<I: AesKeySteps, K: KeyLength>(
    isa: I,
    keys: &mut PerRound<K, Block>,
    number: usize,
    key: I::Blocks,
) {
    let last = keys.len() - 1;
    let is_outer = number == 0 || number == last;
    let key = if is_outer { key } else { isa.inv_mix_columns(key) };
    isa.store(key, &mut keys[last - number]);
}

macro_rules! schedule {
    ($(#[$doc:meta])* $name:ident, $($held:ident),+) => {
        $(#[$doc])*
        ///
        /// Aligned as a block: the state that a mode has beside its cipher then lies within a line of the cache.
        #[derive(Clone)]
        #[repr(align(16))]
        pub struct $name<K: KeyLength> {
            $(pub(crate) $held: PerRound<K, Block>,)+
        }

        #[cfg(feature = "zeroize")]
        impl<K: KeyLength> zeroize::ZeroizeOnDrop for $name<K> {}

        impl<K: KeyLength> fmt::Debug for $name<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
schedule!(
    /// The round keys of both directions.
    RoundKeys, encrypt, decrypt
);
schedule!(
    /// The round keys of encryption.
    EncryptKeys, encrypt
);
schedule!(
    /// The round keys of decryption, by the equivalent inverse cipher.
    DecryptKeys, decrypt
);

impl<K: KeyLength> Schedule for RoundKeys<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        run_aes(Expand(key))
    }
}

impl<K: KeyLength> Schedule for EncryptKeys<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        run_aes(Expand(key))
    }
}

impl<K: KeyLength> Schedule for DecryptKeys<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        run_aes(Expand(key))
    }
}

impl<K: KeyLength> From<&EncryptKeys<K>> for RoundKeys<K> {
    fn from(keys: &EncryptKeys<K>) -> Self {
        let decrypt = turn::<K>(&keys.encrypt, Direction::Encrypt);
        Self { encrypt: keys.encrypt.clone(), decrypt }
    }
}

impl<K: KeyLength> From<&EncryptKeys<K>> for DecryptKeys<K> {
    fn from(keys: &EncryptKeys<K>) -> Self {
        Self { decrypt: turn::<K>(&keys.encrypt, Direction::Encrypt) }
    }
}

#[allow(private_interfaces, reason = "for this crate alone")]
impl<K: KeyLength> AesSchedule for RoundKeys<K> {
    type Length = K;

    fn of(&self, direction: Direction) -> Keys<'_, K> {
        Keys::Held(match direction {
            Direction::Encrypt => &self.encrypt,
            Direction::Decrypt => &self.decrypt,
        })
    }

    fn of_encryption(keys: PerRound<K, Block>) -> Self {
        let decrypt = turn::<K>(&keys, Direction::Encrypt);
        Self { encrypt: keys, decrypt }
    }

    #[inline(always)]
    fn empty() -> Self {
        Self { encrypt: room::<K>(), decrypt: room::<K>() }
    }

    #[inline(always)]
    fn put<I: AesKeySteps>(&mut self, isa: I, number: usize, key: I::Blocks) {
        put_in_order::<I, K>(isa, &mut self.encrypt, number, key);
        put_inverse::<I, K>(isa, &mut self.decrypt, number, key);
    }
}

#[allow(private_interfaces, reason = "for this crate alone")]
impl<K: KeyLength> AesSchedule for EncryptKeys<K> {
    type Length = K;

    fn of(&self, direction: Direction) -> Keys<'_, K> {
        match direction {
            Direction::Encrypt => Keys::Held(&self.encrypt),
            Direction::Decrypt => Keys::Made(turn::<K>(&self.encrypt, Direction::Encrypt)),
        }
    }

    fn of_encryption(keys: PerRound<K, Block>) -> Self {
        Self { encrypt: keys }
    }

    #[inline(always)]
    fn empty() -> Self {
        Self { encrypt: room::<K>() }
    }

    #[inline(always)]
    fn put<I: AesKeySteps>(&mut self, isa: I, number: usize, key: I::Blocks) {
        put_in_order::<I, K>(isa, &mut self.encrypt, number, key);
    }
}

#[allow(private_interfaces, reason = "for this crate alone")]
impl<K: KeyLength> AesSchedule for DecryptKeys<K> {
    type Length = K;

    fn of(&self, direction: Direction) -> Keys<'_, K> {
        match direction {
            Direction::Encrypt => Keys::Made(turn::<K>(&self.decrypt, Direction::Decrypt)),
            Direction::Decrypt => Keys::Held(&self.decrypt),
        }
    }

    fn of_encryption(keys: PerRound<K, Block>) -> Self {
        Self { decrypt: turn::<K>(&keys, Direction::Encrypt) }
    }

    #[inline(always)]
    fn empty() -> Self {
        Self { decrypt: room::<K>() }
    }

    #[inline(always)]
    fn put<I: AesKeySteps>(&mut self, isa: I, number: usize, key: I::Blocks) {
        put_inverse::<I, K>(isa, &mut self.decrypt, number, key);
    }
}
