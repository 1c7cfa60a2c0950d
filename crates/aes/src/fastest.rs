//! The types that take the fastest constant-time implementation of the CPU they run on.

use core::fmt;

use cipher::{
    AlgorithmName, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncClosure,
    BlockCipherEncrypt, BlockSizeUser, Key, KeyInit, KeySizeUser, consts::U16,
};
use lanecrypt_core::on_cleared_stack;

use crate::{Bitslice, Cipher, Hardware, Key128, Key192, Key256, KeyLength};

/// AES-128: 16-byte key, 10 rounds.
pub type Aes128 = Aes<Key128>;
/// AES-192: 24-byte key, 12 rounds.
pub type Aes192 = Aes<Key192>;
/// AES-256: 32-byte key, 14 rounds.
pub type Aes256 = Aes<Key256>;

/// AES-128, encryption only.
pub type Aes128Enc = AesEnc<Key128>;
/// AES-192, encryption only.
pub type Aes192Enc = AesEnc<Key192>;
/// AES-256, encryption only.
pub type Aes256Enc = AesEnc<Key256>;

/// AES-128, decryption only.
pub type Aes128Dec = AesDec<Key128>;
/// AES-192, decryption only.
pub type Aes192Dec = AesDec<Key192>;
/// AES-256, decryption only.
pub type Aes256Dec = AesDec<Key256>;

/// The hardware cipher `H`, or ours where there are no AES instructions.
#[derive(Clone)]
enum Fastest<H, K: KeyLength> {
    Hardware(H),
    Bitslice(Cipher<Bitslice<u64, K>>),
}

impl<H: Hardware<KeySize = K::Size>, K: KeyLength> Fastest<H, K> {
    fn new(key: &Key<H>) -> Self {
        if aes::hardware_accelerated() {
            Self::Hardware(H::new(key))
        } else {
            Self::Bitslice(Cipher::new(key))
        }
    }

    /// The cipher of another direction under the same key.
    fn convert<'a, Other>(other: &'a Fastest<Other, K>) -> Self
    where
        H: From<&'a Other>,
    {
        match other {
            Fastest::Hardware(cipher) => Self::Hardware(cipher.into()),
            Fastest::Bitslice(cipher) => Self::Bitslice(cipher.clone()),
        }
    }

    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>)
    where
        H: BlockCipherEncrypt,
    {
        match self {
            Self::Hardware(cipher) => cipher.encrypt_with_backend(f),
            Self::Bitslice(cipher) => cipher.encrypt_with_backend(f),
        }
    }

    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>)
    where
        H: BlockCipherDecrypt,
    {
        match self {
            Self::Hardware(cipher) => cipher.decrypt_with_backend(f),
            Self::Bitslice(cipher) => cipher.decrypt_with_backend(f),
        }
    }
}

/// A type over [`Fastest`] and its traits but for the directions; `$suffix` ends its names.
macro_rules! aes {
    ($name:ident, $hardware:ident, $suffix:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone)]
        pub struct $name<K: KeyLength> {
            inner: Fastest<K::$hardware, K>,
        }

        impl<K: KeyLength> KeySizeUser for $name<K> {
            type KeySize = K::Size;
        }

        impl<K: KeyLength> BlockSizeUser for $name<K> {
            type BlockSize = U16;
        }

        impl<K: KeyLength> KeyInit for $name<K> {
            fn new(key: &Key<Self>) -> Self {
                on_cleared_stack(|| Self { inner: Fastest::new(key) })
            }
        }

        impl<K: KeyLength> fmt::Debug for $name<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{} {{ .. }}", K::NAME, $suffix)
            }
        }

        impl<K: KeyLength> AlgorithmName for $name<K> {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", K::NAME, $suffix)
            }
        }

        #[cfg(feature = "zeroize")]
        impl<K: KeyLength> zeroize::ZeroizeOnDrop for $name<K> {}
    };
}
aes!(
    Aes,
    Hardware,
    "",
    "AES with key size `K`, by the fastest constant-time implementation that this CPU has."
);
aes!(
    AesEnc,
    HardwareEnc,
    "Enc",
    "[`Aes`] that encrypts only, with half of its round keys.

```compile_fail,E0599
# use lanecrypt_aes::{Aes128Enc, cipher::{BlockCipherDecrypt, KeyInit}};
Aes128Enc::new(&[0; 16].into()).decrypt_block(&mut [0; 16].into());
```"
);
aes!(
    AesDec,
    HardwareDec,
    "Dec",
    "[`Aes`] that decrypts only, with half of its round keys.

```compile_fail,E0599
# use lanecrypt_aes::{Aes128Dec, cipher::{BlockCipherEncrypt, KeyInit}};
Aes128Dec::new(&[0; 16].into()).encrypt_block(&mut [0; 16].into());
```"
);

macro_rules! directions {
    (encrypt: $($encrypts:ident)*; decrypt: $($decrypts:ident)*; from AesEnc: $($from:ident)*) => {
        $(impl<K: KeyLength> BlockCipherEncrypt for $encrypts<K> {
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
                self.inner.encrypt_with_backend(f);
            }
        })*
        $(impl<K: KeyLength> BlockCipherDecrypt for $decrypts<K> {
            fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
                self.inner.decrypt_with_backend(f);
            }
        })*
        $(
            impl<K: KeyLength> From<&AesEnc<K>> for $from<K> {
                fn from(cipher: &AesEnc<K>) -> Self {
                    on_cleared_stack(|| Self { inner: Fastest::convert(&cipher.inner) })
                }
            }

            impl<K: KeyLength> From<AesEnc<K>> for $from<K> {
                fn from(cipher: AesEnc<K>) -> Self {
                    Self::from(&cipher)
                }
            }
        )*
    };
}
directions!(encrypt: Aes AesEnc; decrypt: Aes AesDec; from AesEnc: Aes AesDec);

#[cfg(test)]
mod tests {
    use super::*;

    /// Which one it is shows from nowhere else: both have 64 lanes on CPUs with VAES.
    #[test]
    fn the_hardware_is_taken_where_there_is_some() {
        let accelerated = aes::hardware_accelerated();
        let is_hardware = matches!(Aes128::new(&[0; 16].into()).inner, Fastest::Hardware(_));
        assert_eq!(is_hardware, accelerated);
        let enc = Aes256Enc::new(&[0; 32].into());
        assert_eq!(matches!(enc.inner, Fastest::Hardware(_)), accelerated);
        let dec = Aes256Dec::from(&enc);
        assert_eq!(matches!(dec.inner, Fastest::Hardware(_)), accelerated);
    }

    /// The other path, on CPUs that have AES instructions: conversions keep the key.
    #[test]
    fn bitslice_converts_too() {
        let (key, plain) = ([0x5a; 24], cipher::Array::from([0xc3; 16]));
        let inner = Fastest::Bitslice(Cipher::new(&key.into()));
        let enc = AesEnc::<Key192> { inner };
        let mut block = plain;
        enc.encrypt_block(&mut block);
        let mut expected = plain;
        aes::Aes192::new(&key.into()).encrypt_block(&mut expected);
        assert_eq!(block, expected);
        Aes192Dec::from(&enc).decrypt_block(&mut block);
        assert_eq!(block, plain);
        Aes192::from(enc).encrypt_block(&mut block);
        assert_eq!(block, expected);
    }
}
