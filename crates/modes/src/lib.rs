//! Modes of operation over any [`Engine`](lanecrypt_core::Engine), with RustCrypto's traits.
//!
//! | here | drops in for | traits |
//! |---|---|---|
//! | [`Ctr`], also with 32 bits | `ctr::Ctr128BE`, `Ctr64BE`, `Ctr32BE` | `StreamCipher`, `StreamCipherSeek` |
//! | [`cbc`] | `cbc` | `BlockModeEncrypt`, `BlockModeDecrypt`, `KeyIvInit`, `IvState` |
//! | [`cfb`] | `cfb-mode` | the same, and any length |
//! | [`Ofb`] | `ofb::Ofb` | `StreamCipher`, `KeyIvInit` |
//! | [`Xts`] | `xts_mode::Xts128` | its methods |
//! | [`Gcm`] | `aes_gcm::AesGcm` | `AeadInOut`, `KeyInit` |
//! | [`GcmMessage`] | | none: a message in pieces |
//! | [`padding`] | `block_padding::Pkcs7` | none: functions, in constant time |
//!
//! Whole calls go to the engine in one piece, so that wide registers, threads and devices are filled.
//! RustCrypto's traits cannot report an error of a device: there they panic with its text; each type
//! has a method besides that returns it.
//!
//! ```
//! use lanecrypt_aes::Aes128;
//! use lanecrypt_modes::{Xts, cipher::KeyInit};
//!
//! let xts = Xts::new(Aes128::new(&[1; 16].into()), Aes128::new(&[2; 16].into()));
//! let mut disk = vec![0; 4 * 512];
//! xts.encrypt_area(&mut disk, 512, 0, lanecrypt_modes::get_tweak_default);
//! xts.decrypt_area(&mut disk, 512, 0, lanecrypt_modes::get_tweak_default);
//! assert_eq!(disk, [0; 4 * 512]);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod batch;
mod chained;
mod gcm;
mod gcm_message;
mod hash;
mod ofb;
pub mod padding;
mod xts;

pub use aead;
pub use batch::run_job;
pub use chained::{BlockEngine, Chained, Decrypts, Encrypts, Step, cbc, cfb};
pub use cipher;
pub use gcm::{Gcm, MAX_AAD_BYTES, MAX_MESSAGE_BYTES, TagSize};
pub use gcm_message::GcmMessage;
pub use hash::{Ghash, GhashKey};
pub use lanecrypt_core::Ctr;
pub use ofb::Ofb;
pub use xts::{Xts, get_tweak_default, xts_halves_are_equal};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
