//! HIGHT (ISO/IEC 18033-3; CHES 2006): a 64-bit block, a 128-bit key, 32 rounds of additions, XORs
//! and rotations of bytes, computed in several ways side by side.
//!
//! ```
//! use lanecrypt_hight::{Hight, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! // The bytes as the standard writes them, most significant first: MK15 to MK0, P7 to P0.
//! let key = 0x00112233_44556677_8899aabb_ccddeeff_u128.to_be_bytes();
//! let cipher = Hight::new(&key.into());
//! let mut block = [0; 8].into();
//! cipher.encrypt_block(&mut block);
//! assert_eq!(block, 0x00f4_18ae_d94f_03f2_u64.to_be_bytes());
//! ```
//!
//! [`Hight`] and [`HightKisa`] are the fastest constant-time implementation of the CPU. Every
//! implementation can also be named: `Cipher<Table<Standard>>`, or `Cipher<Sliced<Bytes<Standard>, I>>`
//! for an instruction set `I` of `lanecrypt-slicing`.
//!
//! | type | id | blocks at once | constant-time |
//! |---|---|---|---|
//! | [`Reference`] | `reference` | 1 | yes |
//! | [`Table`] | `table` | 1 | no: look-ups of F0 and F1 |
//! | [`Sliced<Bits<_>, _>`](Sliced) | `bitslice-*` | 32 to 512, as wide as the registers | yes |
//! | [`Sliced<Bytes<_>, LookUps>`](LookUps) | `byteslice-u32-gap` | 3 | no: look-ups of F0 and F1 |
//! | [`Sliced<Bytes<_>, _>`](Sliced) | `byteslice-*`, `gfni-*` | 4 to 64, as wide as the registers | yes |
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
mod lanes;
#[cfg(feature = "record")]
mod plan;
mod reference;
mod schedule;
mod sliced;
mod table;
#[cfg(feature = "wgpu")]
pub mod wgpu;

#[cfg(feature = "alloc")]
pub use backends::{HIGHT, HIGHT_KISA};
pub use cipher;
pub use lanecrypt_core::{Cipher, Ctr, Engine};
pub use lanecrypt_slicing::{Fastest, Gapped, Sliced};
pub use lanes::{LookUps, LookedUp};
#[cfg(feature = "record")]
pub use plan::plan;
pub use reference::Reference;
pub use schedule::{ByteOrder, Kisa, Standard, Subkeys};
pub use sliced::{BitRounds, Bits, ByteRounds, Bytes, CpuForms, DirectedKeys};
pub use table::Table;

/// HIGHT in the standard's byte order, most significant first: a block is P7 to P0, the key MK15
/// to MK0.
pub type Hight = Cipher<Fastest<CpuForms<Standard>>>;

/// HIGHT in the byte order of KISA's C source: a block is P0 to P7, the key MK0 to MK15.
pub type HightKisa = Cipher<Fastest<CpuForms<Kisa>>>;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
