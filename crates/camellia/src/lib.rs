//! Camellia-128, Camellia-192 and Camellia-256 (RFC 3713): drop-in for the `camellia` crate,
//! constant-time, and several ways to compute it side by side.
//!
//! ```
//! use lanecrypt_camellia::{Camellia128, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! let key = [
//!     0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10,
//! ];
//! let mut block = key.into(); // RFC 3713's example encrypts the key itself
//! Camellia128::new(&key.into()).encrypt_block(&mut block);
//! assert_eq!(block[..4], [0x67, 0x67, 0x31, 0x38]);
//! ```
//!
//! [`Camellia128`], [`Camellia192`] and [`Camellia256`] are the fastest constant-time implementation
//! of the CPU. Every implementation can also be named: `Cipher<Table32<Key256>>`, or
//! `Cipher<Sliced<Bytes<Key256>, I>>` for an instruction set `I` of `lanecrypt-slicing`.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | no: S-box look-ups |
//! | [`Table32`] | `table32` | 1 | no: table look-ups |
//! | [`Sliced<Bits<_>, _>`](Sliced) | `bitslice-*` | 32 to 512, as wide as the registers | yes |
//! | [`Sliced<Bytes<_>, _>`](Sliced) | `aes-*`, `vaes-*`, `gfni-*` | 16 to 64, S-boxes by instructions | yes |
//! | [`Fastest<CpuForms<_>>`](Fastest) | `default` | whichever of these is fastest | yes |
//! | `cuda::*` (feature `cuda`) | `cuda-*` | thousands | see there |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "cuda")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod backends;
mod compact;
#[cfg(feature = "cuda")]
pub mod cuda;
#[rustfmt::skip]
mod linear;
mod maps;
#[cfg(feature = "record")]
mod plan;
mod reference;
#[rustfmt::skip]
mod sbox;
mod schedule;
mod sliced;
mod table32;
#[cfg(feature = "wgpu")]
pub mod wgpu;
mod words;

#[cfg(feature = "alloc")]
pub use backends::CAMELLIA;
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
#[cfg(feature = "record")]
pub use plan::plan;
pub use reference::Reference;
pub use schedule::Subkeys;
pub use schedule::{Key128, Key192, Key256, KeyLength, KeySize};
pub use sliced::{BitRounds, Bits, ByteKeys, ByteRounds, Bytes, CpuForms};
pub use table32::Table32;

/// Camellia with keys of `Size` bytes and `SUBKEYS` subkeys, the way the `camellia` crate writes it:
/// 16 and 26, 24 and 34, or 32 and 34. Generic code has to say that there is such a one, by
/// `where KeySize<Size, SUBKEYS>: KeyLength`.
pub type Camellia<Size, const SUBKEYS: usize> = Cipher<Fastest<CpuForms<KeySize<Size, SUBKEYS>>>>;

/// Camellia-128: 16-byte key, 18 rounds.
pub type Camellia128 = Cipher<Fastest<CpuForms<Key128>>>;
/// Camellia-192: 24-byte key, 24 rounds.
pub type Camellia192 = Cipher<Fastest<CpuForms<Key192>>>;
/// Camellia-256: 32-byte key, 24 rounds.
pub type Camellia256 = Cipher<Fastest<CpuForms<Key256>>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
