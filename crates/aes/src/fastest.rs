//! The types that take the fastest constant-time implementation of the CPU they run on.

#![allow(
    clippy::inline_always,
    reason = "a mode is handed on to the region of its instructions, and each call on the way would copy it"
)]

use core::fmt;

use cipher::{
    AlgorithmName, Block, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncClosure,
    BlockCipherEncrypt, BlockSizeUser, InOutBuf, Key, KeyInit, KeySizeUser, consts::U16,
};
use lanecrypt_core::{AnyCpu, EngineWrapper, Implementation};
use lanecrypt_slicing::Fastest;

use crate::{
    Cipher, CpuForms, DecryptKeys, EncryptKeys, Key128, Key192, Key256, KeyLength, RoundKeys,
    schedule::on_cleared_stack,
};

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

/// A type over [`Fastest`] and its traits but for the directions; `$suffix` ends its names.
macro_rules! aes {
    ($name:ident, $schedule:ident, $suffix:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone)]
        pub struct $name<K: KeyLength> {
            inner: Cipher<Fastest<CpuForms<$schedule<K>>>>,
        }

        impl<K: KeyLength> KeySizeUser for $name<K> {
            type KeySize = K::Size;
        }

        impl<K: KeyLength> BlockSizeUser for $name<K> {
            type BlockSize = U16;
        }

        impl<K: KeyLength> KeyInit for $name<K> {
            fn new(key: &Key<Self>) -> Self {
                // Not by way of `Cipher::new`, out of which the keys would be moved and left behind.
                on_cleared_stack(|| Self { inner: Fastest::new(AnyCpu::get(), key).into() })
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

        impl<K: KeyLength> EngineWrapper for $name<K> {
            type Inner = Cipher<Fastest<CpuForms<$schedule<K>>>>;

            fn inner(&self) -> &Self::Inner {
                &self.inner
            }
        }

        #[cfg(feature = "zeroize")]
        impl<K: KeyLength> zeroize::ZeroizeOnDrop for $name<K> {}
    };
}
aes!(
    Aes,
    RoundKeys,
    "",
    "AES with key size `K`, by the fastest constant-time implementation that this CPU has."
);
aes!(
    AesEnc,
    EncryptKeys,
    "Enc",
    "[`Aes`] that encrypts only, with half of its round keys. As an engine of modes it decrypts too, and makes the keys for
each call.

```compile_fail,E0599
# use lanecrypt_aes::{Aes128Enc, cipher::{BlockCipherDecrypt, KeyInit}};
Aes128Enc::new(&[0; 16].into()).decrypt_block(&mut [0; 16].into());
```"
);
aes!(
    AesDec,
    DecryptKeys,
    "Dec",
    "[`Aes`] that decrypts only, with half of its round keys. As an engine of modes it encrypts too, and makes the keys for
each call.

```compile_fail,E0599
# use lanecrypt_aes::{Aes128Dec, cipher::{BlockCipherEncrypt, KeyInit}};
Aes128Dec::new(&[0; 16].into()).encrypt_block(&mut [0; 16].into());
```"
);

macro_rules! directions {
    (encrypt: $($encrypts:ident)*; decrypt: $($decrypts:ident)*; from AesEnc: $($from:ident)*) => {
        $(impl<K: KeyLength> BlockCipherEncrypt for $encrypts<K> {
            #[inline(always)]
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
                self.inner.encrypt_with_backend(f);
            }

            fn encrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.inner.encrypt_blocks_inout(blocks);
            }

            fn encrypt_blocks(&self, blocks: &mut [Block<Self>]) {
                self.inner.encrypt_blocks(blocks);
            }
        })*
        $(impl<K: KeyLength> BlockCipherDecrypt for $decrypts<K> {
            #[inline(always)]
            fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
                self.inner.decrypt_with_backend(f);
            }

            fn decrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.inner.decrypt_blocks_inout(blocks);
            }

            fn decrypt_blocks(&self, blocks: &mut [Block<Self>]) {
                self.inner.decrypt_blocks(blocks);
            }
        })*
        $(
            impl<K: KeyLength> From<&AesEnc<K>> for $from<K> {
                fn from(cipher: &AesEnc<K>) -> Self {
                    let keys = cipher.inner.implementation().schedule();
                    on_cleared_stack(|| Self { inner: Fastest::of(keys.into()).into() })
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
