//! Modes of operation over any [`Engine`](lanecrypt_core::Engine), with RustCrypto's traits.
//!
//! | here | drops in for | traits |
//! |---|---|---|
//! | [`ctr`] | `ctr` | `StreamCipher`, `StreamCipherSeek`, `KeyIvInit` |
//! | [`cbc`] | `cbc` | `BlockModeEncrypt`, `BlockModeDecrypt`, `KeyIvInit`, `IvState` |
//! | [`cfb`] | `cfb-mode` | the same, and any length |
//! | [`ofb`] | `ofb` | `StreamCipher`, `KeyIvInit` |
//! | [`xts`] | `xts-mode` | its methods |
//! | [`gcm`] | `aes-gcm` | `AeadInOut`, `KeyInit` |
//! | [`gcm_siv`] | `aes-gcm-siv` | `AeadInOut`, `KeyInit` |
//! | [`ccm`] | `ccm` | `AeadInOut`, `KeyInit` |
//! | [`cbc::BatchEncryptor`], [`cfb::BatchEncryptor`], [`ofb::BatchOfb`] | | none: many messages under one key |
//! | [`cmac`] | | none: the tags of many messages under one key |
//! | [`ctr_drbg`] | | none: random bytes by SP 800-90A |
//! | [`Ctr`] | | `StreamCipher`, `StreamCipherSeek`, of engines whose block size is no type |
//! | [`GcmMessage`] | | none: a message in pieces |
//! | [`padding`] | `block_padding::Pkcs7` | none: functions, in constant time |
//!
//! The modules have the names of the crates that they take the place of, so that a swap is a line of
//! `Cargo.toml`, and `lanecrypt_modes::cbc` for `cbc` where a `use` names it; `tests/drop_in` holds that.
//! [`gcm`] and [`gcm_siv`] have AES by the feature `aes`.
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
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

mod batch;
mod buffered;
pub mod ccm;
mod chained;
pub mod cmac;
pub mod ctr;
pub mod ctr_drbg;
pub mod gcm;
mod gcm_message;
pub mod gcm_siv;
mod hash;
mod messages;
pub mod ofb;
pub mod padding;
pub mod xts;

use lanecrypt_core::Error;

pub use aead;
pub use batch::run_job;
pub use buffered::Buffered;
pub use ccm::Ccm;
pub use chained::{BlockEngine, Chained, Decrypts, Encrypts, Step, cbc, cfb};
pub use cipher;
pub use gcm::{Gcm, MAX_AAD_BYTES, MAX_MESSAGE_BYTES, TagSize};
pub use gcm_message::GcmMessage;
pub use gcm_siv::GcmSiv;
pub use hash::{Ghash, GhashKey};
pub use lanecrypt_core::{Ctr, modes::ChainedMessage};
pub use messages::{Batch, SerialStep};
pub use ofb::Ofb;
pub use xts::{Xts, get_tweak_default, xts_halves_are_equal};

/// Runs the making of a key, for which the cipher runs once: that takes more of the stack than a key
/// expansion does.
#[inline]
fn cleared<R>(work: impl FnOnce() -> R) -> R {
    lanecrypt_slicing::on_cleared_stack::<{ 4 << 10 }, { 16 << 10 }, R>(work)
}

/// A decryption's result; where an engine failed, what was written becomes zeros, for it was not found authentic.
fn zeros_after_errors(result: Result<(), Error>, written: &mut [u8]) -> Result<(), Error> {
    if !matches!(result, Ok(()) | Err(Error::NotAuthentic)) {
        written.fill(0);
    }
    result
}

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
