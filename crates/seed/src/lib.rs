//! SEED (RFC 4269): with RustCrypto's traits, constant-time, and several ways to compute it side by
//! side.
//!
//! ```
//! use lanecrypt_seed::{Seed128, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! // RFC 4269, B.1: key of zeros, plaintext 000102...0f.
//! let cipher = Seed128::new(&[0; 16].into());
//! let mut block = core::array::from_fn(|i| i as u8).into();
//! cipher.encrypt_block(&mut block);
//! assert_eq!(block[..4], [0x5e, 0xba, 0xc6, 0xe0]);
//! ```
//!
//! [`Seed128`] is the fastest constant-time implementation of the CPU. Every implementation can also
//! be named: `Cipher<Table32>`, or `Cipher<Sliced<Bytes, I>>` for an instruction set `I` of
//! `lanecrypt-slicing`.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | no: S-box look-ups |
//! | [`Table32`] | `table32` | 1 | no: table look-ups |
//! | [`Sliced<Bits, _>`](Sliced) | `bitslice-*` | 32 to 512, as wide as the registers | yes |
//! | [`Sliced<Bytes, _>`](Sliced) | `aes-*`, `vaes-*`, `gfni-*` | 16 to 64, S-boxes by instructions | yes |
//! | [`Fastest<CpuForms>`](Fastest) | `default` | whichever of these is fastest | yes |
//! | `cuda::*` (feature `cuda`) | `cuda-*` | thousands | see there |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
mod backends;
mod compact;
#[cfg(feature = "cuda")]
pub mod cuda;
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
pub use backends::SEED;
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
#[cfg(feature = "record")]
pub use plan::plan;
pub use reference::Reference;
pub use schedule::RoundKeys;
pub use sliced::{Bits, Bytes, CpuForms};
pub use table32::Table32;

/// SEED: 16-byte key, 16 rounds.
pub type Seed128 = Cipher<Fastest<CpuForms>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
