//! LEA (KS X 3246, ISO/IEC 29192-2): with RustCrypto's traits, constant-time, and several ways to compute it side by side.
//!
//! ```
//! use lanecrypt_lea::{Lea128, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! // The vector of the standard.
//! let key = 0x0f1e2d3c_4b5a6978_8796a5b4_c3d2e1f0_u128.to_be_bytes();
//! let mut block = 0x10111213_14151617_18191a1b_1c1d1e1f_u128.to_be_bytes().into();
//! Lea128::new(&key.into()).encrypt_block(&mut block);
//! assert_eq!(block, 0x9fc84e35_28c6c618_5532c7a7_04648bfd_u128.to_be_bytes());
//! ```
//!
//! [`Lea128`], [`Lea192`] and [`Lea256`] are the fastest implementation of the CPU. Every implementation can also be named:
//! `Cipher<Reference<Key128>>`, or `Cipher<Sliced<Words<Key128>, I>>` for an instruction set `I` of `lanecrypt-slicing`.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | yes |
//! | [`Sliced<Words<_>, _>`](Sliced) | `wordslice-*` | 1 to 16, as wide as the registers | yes |
//! | [`Fastest<CpuForms<_>>`](Fastest) | `default` | whichever of these is fastest | yes |
//! | `cuda::*` (feature `cuda`) | `cuda-*` | thousands | see there |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "cuda")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod backends;
#[cfg(feature = "cuda")]
pub mod cuda;
mod reference;
mod schedule;
mod sliced;

#[cfg(feature = "alloc")]
pub use backends::LEA;
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
pub use reference::Reference;
pub use schedule::{Key128, Key192, Key256, KeyLength, RoundKey, RoundKeys};
pub use sliced::{CpuForms, DirectedKeys, WordRounds, Words};

/// LEA-128: 16-byte key, 24 rounds.
pub type Lea128 = Cipher<Fastest<CpuForms<Key128>>>;
/// LEA-192: 24-byte key, 28 rounds.
pub type Lea192 = Cipher<Fastest<CpuForms<Key192>>>;
/// LEA-256: 32-byte key, 32 rounds.
pub type Lea256 = Cipher<Fastest<CpuForms<Key256>>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
