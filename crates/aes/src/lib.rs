//! AES-128, AES-192 and AES-256 (FIPS 197): drop-in for the `aes` crate, and several ways to
//! compute it side by side.
//!
//! ```
//! use lanecrypt_aes::{Aes128, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! let cipher = Aes128::new(&[0; 16].into());
//! let mut block = [0; 16].into();
//! cipher.encrypt_block(&mut block);
//! assert_eq!(block[..4], [0x66, 0xe9, 0x4b, 0xd4]);
//! ```
//!
//! [`Aes128`], [`Aes192`] and [`Aes256`] take the fastest constant-time implementation that this
//! CPU has: its AES instructions through the `aes` crate, or else [`Bitslice`] on 64-bit words.
//! Every implementation can also be named: `Cipher<Bitslice<u32, Key256>>`.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | no: S-box look-ups |
//! | [`Table32`] | `table32` | 1 | no: T-table look-ups |
//! | [`Bitslice<u32, _>`](Bitslice) | `bitslice-u32` | 32 | yes |
//! | [`Bitslice<u64, _>`](Bitslice) | `bitslice-u64` | 64 | yes |
//! | `aes` crate | `hardware` | 64 | yes |
//! | `cuda::*` (feature `cuda`) | `cuda-*` | thousands | see there |
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod backends;
mod compact;
#[cfg(feature = "cuda")]
pub mod cuda;
mod hardware;
mod reference;
#[rustfmt::skip]
mod sbox;
mod schedule;
mod sliced;
mod table32;

use core::fmt;

use cipher::{
    AlgorithmName, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncClosure,
    BlockCipherEncrypt, BlockSizeUser, Key, KeyInit, KeySizeUser,
};

#[cfg(feature = "alloc")]
pub use backends::AES;
pub use cipher;
pub use hardware::Hardware;
pub use lanecrypt_core::{Cipher, CpuEngine, Ctr, Engine};
pub use reference::Reference;
pub use schedule::{Key128, Key192, Key256, KeyLength};
pub use sliced::{Bitslice, BroadcastKeys};
pub use table32::Table32;

/// AES-128: 16-byte key, 10 rounds.
pub type Aes128 = Aes<Key128>;
/// AES-192: 24-byte key, 12 rounds.
pub type Aes192 = Aes<Key192>;
/// AES-256: 32-byte key, 14 rounds.
pub type Aes256 = Aes<Key256>;

/// [`Aes128`] under the name that the `aes` crate gives its encrypt-only type.
pub type Aes128Enc = Aes128;
/// [`Aes128`] under the name that the `aes` crate gives its decrypt-only type.
pub type Aes128Dec = Aes128;
/// [`Aes192`] under the name that the `aes` crate gives its encrypt-only type.
pub type Aes192Enc = Aes192;
/// [`Aes192`] under the name that the `aes` crate gives its decrypt-only type.
pub type Aes192Dec = Aes192;
/// [`Aes256`] under the name that the `aes` crate gives its encrypt-only type.
pub type Aes256Enc = Aes256;
/// [`Aes256`] under the name that the `aes` crate gives its decrypt-only type.
pub type Aes256Dec = Aes256;

/// AES with key size `K`, by the fastest constant-time implementation that this CPU has.
#[derive(Clone)]
pub struct Aes<K: KeyLength> {
    inner: Inner<K>,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "a box would need an allocator")]
enum Inner<K: KeyLength> {
    Hardware(K::Hardware),
    Bitslice(Cipher<Bitslice<u64, K>>),
}

impl<K: KeyLength> KeySizeUser for Aes<K> {
    type KeySize = K::Size;
}

impl<K: KeyLength> BlockSizeUser for Aes<K> {
    type BlockSize = cipher::consts::U16;
}

impl<K: KeyLength> KeyInit for Aes<K> {
    fn new(key: &Key<Self>) -> Self {
        let inner = if hardware::detected() {
            Inner::Hardware(K::Hardware::new(key))
        } else {
            Inner::Bitslice(Cipher::new(key))
        };
        Self { inner }
    }
}

impl<K: KeyLength> BlockCipherEncrypt for Aes<K> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = Self::BlockSize>) {
        match &self.inner {
            Inner::Hardware(cipher) => cipher.encrypt_with_backend(f),
            Inner::Bitslice(cipher) => cipher.encrypt_with_backend(f),
        }
    }
}

impl<K: KeyLength> BlockCipherDecrypt for Aes<K> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = Self::BlockSize>) {
        match &self.inner {
            Inner::Hardware(cipher) => cipher.decrypt_with_backend(f),
            Inner::Bitslice(cipher) => cipher.decrypt_with_backend(f),
        }
    }
}

impl<K: KeyLength> fmt::Debug for Aes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::NAME).finish_non_exhaustive()
    }
}

impl<K: KeyLength> AlgorithmName for Aes<K> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::NAME)
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for Aes<K> {}

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
