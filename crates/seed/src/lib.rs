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
//! [`Seed128`] is [`Bitslice`] on 64-bit words. Every implementation can also be named:
//! `Cipher<Table32>`.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | no: S-box look-ups |
//! | [`Table32`] | `table32` | 1 | no: table look-ups |
//! | [`Bitslice<u32>`](Bitslice) | `bitslice-u32` | 32 | yes |
//! | [`Bitslice<u64>`](Bitslice) | `bitslice-u64` | 64 | yes |
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
mod backends;
mod compact;
#[cfg(feature = "cuda")]
pub mod cuda;
mod maps;
mod reference;
#[rustfmt::skip]
mod sbox;
mod schedule;
mod sliced;
mod table32;
mod words;

#[cfg(feature = "alloc")]
pub use backends::SEED;
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
pub use reference::Reference;
pub use schedule::RoundKeys;
pub use sliced::{Bits, Bytes, OnEveryCpu};
pub use table32::Table32;

/// SEED: 16-byte key, 16 rounds.
pub type Seed128 = Cipher<Fastest<OnEveryCpu>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
