//! ARIA-128, ARIA-192 and ARIA-256 (RFC 5794): drop-in for the `aria` crate, constant-time, and
//! several ways to compute it side by side.
//!
//! ```
//! use lanecrypt_aria::{Aria128, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! // RFC 5794, A.1: key 000102...0f, plaintext 001122...ff.
//! let cipher = Aria128::new(&core::array::from_fn(|i| i as u8).into());
//! let mut block = core::array::from_fn(|i| 0x11 * i as u8).into();
//! cipher.encrypt_block(&mut block);
//! assert_eq!(block[..4], [0xd7, 0x18, 0xfb, 0xd6]);
//! ```
//!
//! [`Aria128`], [`Aria192`] and [`Aria256`] are the fastest constant-time implementation of the CPU.
//! Every implementation can also be named: `Cipher<Table32<Key256>>`, or
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
mod diffusion;
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

#[cfg(feature = "alloc")]
pub use backends::ARIA;
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
#[cfg(feature = "record")]
pub use plan::plan;
pub use reference::Reference;
pub use schedule::RoundKeys;
pub use schedule::{Key128, Key192, Key256, KeyLength, KeySize};
pub use sliced::{BitRounds, Bits, ByteRounds, Bytes, CpuForms};
pub use table32::Table32;

/// ARIA with `ROUND_KEYS` round keys, as the `aria` crate writes it: 13, 15 or 17. Generic code has
/// to say that there is such a one, by `where KeySize<ROUND_KEYS>: KeyLength`.
pub type Aria<const ROUND_KEYS: usize> = Cipher<Fastest<CpuForms<KeySize<ROUND_KEYS>>>>;

/// ARIA-128: 16-byte key, 12 rounds.
pub type Aria128 = Cipher<Fastest<CpuForms<Key128>>>;
/// ARIA-192: 24-byte key, 14 rounds.
pub type Aria192 = Cipher<Fastest<CpuForms<Key192>>>;
/// ARIA-256: 32-byte key, 16 rounds.
pub type Aria256 = Cipher<Fastest<CpuForms<Key256>>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
