//! SM4 (GB/T 32907): with RustCrypto's traits, constant-time, and several ways to compute it side by side.
//!
//! ```
//! use lanecrypt_sm4::{Sm4, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! // GB/T 32907, A.1: key and plaintext are 0123456789abcdeffedcba9876543210.
//! let block = 0x01234567_89abcdef_fedcba98_76543210_u128.to_be_bytes();
//! let cipher = Sm4::new(&block.into());
//! let mut block = block.into();
//! cipher.encrypt_block(&mut block);
//! assert_eq!(block[..4], [0x68, 0x1e, 0xdf, 0x34]);
//! ```
//!
//! [`Sm4`] is the fastest constant-time implementation of the CPU. Every implementation can also be named:
//! `Cipher<Table32>`, or `Cipher<Sliced<Bytes, I>>` for an instruction set `I` of `lanecrypt-slicing`.
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
pub use backends::SM4;
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Sliced};
#[cfg(feature = "record")]
pub use plan::plan;
pub use reference::Reference;
pub use schedule::RoundKeys;
pub use sliced::{Bits, Bytes, CpuForms};
pub use table32::Table32;

/// SM4: 16-byte key, 32 rounds.
pub type Sm4 = Cipher<Fastest<CpuForms>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
