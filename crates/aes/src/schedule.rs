//! Key sizes and the key expansion (FIPS 197, 5.2).

use core::fmt;

use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt,
    array::ArraySize,
    consts::{U11, U13, U15, U16, U24, U32},
};

use crate::Hardware;

/// Blocks of round keys that the longest key has: AES-256's 14 rounds and the first addition.
pub(crate) const MAX_ROUND_KEYS: usize = 15;

/// An AES key size, as a type.
pub trait KeyLength: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Round keys: one more than rounds.
    type RoundKeys: ArraySize;
    /// The hardware cipher of this size.
    type Hardware: Hardware<KeySize = Self::Size>
        + BlockCipherEncrypt
        + BlockCipherDecrypt
        + for<'a> From<&'a Self::HardwareEnc>;
    /// The same with the round keys of encryption alone.
    type HardwareEnc: Hardware<KeySize = Self::Size> + BlockCipherEncrypt;
    /// The same with the round keys of decryption alone.
    type HardwareDec: Hardware<KeySize = Self::Size>
        + BlockCipherDecrypt
        + for<'a> From<&'a Self::HardwareEnc>;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
}

macro_rules! key_length {
    ($name:ident, $size:ty, $cipher:ident, $encrypt:ident, $decrypt:ident, $rounds:literal, $keys:ty) => {
        #[doc = concat!("The key size of ", stringify!($cipher), ": ", stringify!($rounds), " rounds.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl KeyLength for $name {
            type Size = $size;
            type RoundKeys = $keys;
            type Hardware = aes::$cipher;
            type HardwareEnc = aes::$encrypt;
            type HardwareDec = aes::$decrypt;
            const NAME: &'static str = stringify!($cipher);
        }
    };
}
key_length!(Key128, U16, Aes128, Aes128Enc, Aes128Dec, 10, U11);
key_length!(Key192, U24, Aes192, Aes192Enc, Aes192Dec, 12, U13);
key_length!(Key256, U32, Aes256, Aes256Enc, Aes256Dec, 14, U15);

/// The round keys as FIPS 197 numbers them: block `i` is added at the end of round `i`.
#[derive(Clone)]
pub(crate) struct RoundKeys {
    blocks: [[u8; 16]; MAX_ROUND_KEYS],
    rounds: usize,
}

impl RoundKeys {
    /// Expands a key of 16, 24 or 32 bytes, with a SubWord that suits the caller: a table is fast,
    /// the circuit is constant-time.
    pub(crate) fn expand(key: &[u8], sub_word: impl Fn([u8; 4]) -> [u8; 4]) -> Self {
        let key_words = key.len() / 4;
        let rounds = key_words + 6;
        let mut keys = Self { blocks: [[0; 16]; MAX_ROUND_KEYS], rounds };
        let words = keys.blocks.as_flattened_mut().as_chunks_mut::<4>().0;
        for (word, bytes) in words.iter_mut().zip(key.as_chunks::<4>().0) {
            *word = *bytes;
        }
        let mut round_constant = 1;
        for i in key_words..4 * (rounds + 1) {
            let mut word = words[i - 1];
            if i % key_words == 0 {
                word.rotate_left(1);
                word = sub_word(word);
                word[0] ^= round_constant;
                round_constant = multiply_by_x(round_constant);
            } else if key_words > 6 && i % key_words == 4 {
                word = sub_word(word);
            }
            for (byte, earlier) in word.iter_mut().zip(words[i - key_words]) {
                *byte ^= earlier;
            }
            words[i] = word;
        }
        keys
    }

    /// The round keys in order, one block each: Nr + 1 of them.
    pub(crate) fn blocks(&self) -> &[[u8; 16]] {
        &self.blocks[..=self.rounds]
    }

    /// The keys of the equivalent inverse cipher (FIPS 197, 5.3.5), in the order in which it adds
    /// them: reversed, all but the first and last through an InvMixColumns that suits the caller.
    pub(crate) fn inverse(&self, inv_mix_columns: impl Fn(&mut [u8; 16])) -> Self {
        let mut inverse = Self { blocks: [[0; 16]; MAX_ROUND_KEYS], rounds: self.rounds };
        for (block, forward) in inverse.blocks.iter_mut().zip(self.blocks().iter().rev()) {
            *block = *forward;
        }
        for block in &mut inverse.blocks[1..self.rounds] {
            inv_mix_columns(block);
        }
        inverse
    }
}

/// Multiplication by x in GF(2^8); the argument is public here (a round constant).
const fn multiply_by_x(element: u8) -> u8 {
    lanecrypt_reference::gf256::multiply_by_x(element, lanecrypt_reference::gf256::AES_MODULUS)
}

#[cfg(feature = "zeroize")]
impl Drop for RoundKeys {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.blocks);
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for RoundKeys {}
