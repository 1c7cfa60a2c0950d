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
//! CPU has: its AES instructions, or else bits in its widest registers. Every implementation can also be
//! named: `Cipher<Table32<Key256>>`, or `Cipher<Sliced<Bits<RoundKeys<Key256>>, I>>` for an instruction set `I`
//! of `lanecrypt-slicing`.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | no: S-box look-ups |
//! | [`Table32`] | `table32` | 1 | no: T-table look-ups |
//! | [`Sliced<Bits<_>, _>`](Sliced) | `bitslice-*` | 32 to 512, as wide as the registers | yes |
//! | [`Sliced<Whole<_>, _>`](Sliced) | `aes-ni`, `vaes-*`, `aes-neon` | 1, 2 or 4 in a register | yes |
//! | [`Fastest<CpuForms<_>>`](Fastest) | `default` | whichever of these is fastest | yes |
//! | `cuda::*` (feature `cuda`) | `cuda-*` | thousands | see there |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "cuda")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod backends;
mod chains;
mod compact;
#[cfg(feature = "cuda")]
pub mod cuda;
mod expand;
mod fastest;
mod gcm;
mod modes;
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
mod whole;

#[cfg(feature = "hazmat")]
pub use aes::hazmat;
#[cfg(feature = "alloc")]
pub use backends::AES;
pub use cipher;
pub use fastest::{
    Aes, Aes128, Aes128Dec, Aes128Enc, Aes192, Aes192Dec, Aes192Enc, Aes256, Aes256Dec, Aes256Enc,
    AesDec, AesEnc,
};
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
#[cfg(feature = "record")]
pub use plan::plan;
pub use reference::Reference;
pub use schedule::{
    AesSchedule, DecryptKeys, EncryptKeys, Key128, Key192, Key256, KeyLength, RoundKeys,
};
pub use sliced::{BitRounds, Bits, CpuForms, MaskKeys};
pub use table32::Table32;
pub use whole::{DirectedKeys, Whole, WholeRounds};

/// A block of 128 bits.
pub type Block = cipher::Block<Aes128>;

/// Whether the types use AES instructions of this CPU, which on x86 of 32 bits they never do.
#[must_use]
pub fn hardware_accelerated() -> bool {
    lanecrypt_slicing::has_aes()
}

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
