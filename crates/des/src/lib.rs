//! DES and triple DES (FIPS 46-3, SP 800-67): drop-in for the `des` crate, constant-time, and
//! several ways to compute it side by side.
//!
//! DES is broken by its key length and triple DES is withdrawn; they are here for what still
//! speaks them.
//!
//! ```
//! use lanecrypt_des::{TdesEde3, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! let cipher = TdesEde3::new(&[0; 24].into());
//! let mut block = [0; 8].into();
//! cipher.encrypt_block(&mut block);
//! assert_eq!(block, [0x8c, 0xa6, 0x4d, 0xe9, 0xc1, 0xb1, 0x23, 0xa7]);
//! ```
//!
//! [`Des`], [`TdesEde2`], [`TdesEde3`], [`TdesEee2`] and [`TdesEee3`] are the fastest constant-time
//! implementation of the CPU. Every implementation can also be named: `Cipher<Table32<Ede3>>`, or
//! `Cipher<Sliced<Bits<Ede3>, I>>` for an instruction set `I` of `lanecrypt-slicing`. Parity bits of
//! keys are ignored.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | no: S-box look-ups |
//! | [`Table32`] | `table32` | 1 | no: table look-ups |
//! | [`Sliced<Bits<_>, _>`](Sliced) | `bitslice-*` | 32 to 512, as wide as the registers | yes |
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
mod halves;
#[cfg(feature = "record")]
mod plan;
mod reference;
#[rustfmt::skip]
mod sbox;
mod schedule;
mod sliced;
mod table32;
mod weak_key;
#[cfg(feature = "wgpu")]
pub mod wgpu;

#[cfg(feature = "alloc")]
pub use backends::{DES, TDES, TDES_EEE};
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
#[cfg(feature = "record")]
pub use plan::plan;
pub use reference::Reference;
pub use schedule::{Ede2, Ede3, Eee2, Eee3, Keying, RoundKeys, Single};
pub use sliced::{BitRounds, Bits, CpuForms, Masks};
pub use table32::Table32;
pub use weak_key::{WeakKeyError, weak_key_test};

/// DES: 8-byte key, of which 56 bits count.
pub type Des = Cipher<Fastest<CpuForms<Single>>>;
/// Triple DES, encrypt-decrypt-encrypt under K1, K2, K1: 16-byte key.
pub type TdesEde2 = Cipher<Fastest<CpuForms<Ede2>>>;
/// Triple DES, encrypt-decrypt-encrypt under K1, K2, K3: 24-byte key.
pub type TdesEde3 = Cipher<Fastest<CpuForms<Ede3>>>;
/// Triple DES, three times encryption under K1, K2, K1: 16-byte key.
pub type TdesEee2 = Cipher<Fastest<CpuForms<Eee2>>>;
/// Triple DES, three times encryption under K1, K2, K3: 24-byte key.
pub type TdesEee3 = Cipher<Fastest<CpuForms<Eee3>>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
