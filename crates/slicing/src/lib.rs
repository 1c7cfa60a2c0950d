//! Words whose bits or bytes are lanes, and the transposes that fill them.
//!
//! A bit-sliced cipher works on *planes*: plane `p` holds bit `p` of many blocks, one block a
//! lane. Code generic over [`Word`] uses bitwise operations only, so the same text runs 32 blocks
//! on `u32` and 64 on `u64`.
//!
//! A byte-sliced cipher works on bytes of many blocks at once. Code generic over [`Bytes`] adds,
//! XORs and rotates bytes, packed in a word or as planes.
//!
//! A single block would pay for a whole batch. [`byte_planes`] makes planes of the bytes of one block
//! or a few, a byte a lane, so that an S-box circuit runs once over all of them.
//!
//! ```
//! use lanecrypt_slicing::{slice, unslice};
//!
//! let blocks: Vec<u8> = (0..64).flat_map(|i| [2 * i, 1, 0, 0, 0, 0, 0, 0]).collect();
//! let mut planes = [0u64; 64]; // 64 blocks of 8 bytes: bit p of every block in planes[p]
//! slice(&blocks, &mut planes);
//! assert_eq!(planes[0], 0); // bit 0 of byte 0 is clear in every block
//! assert_eq!(planes[8], !0); // bit 0 of byte 1 is set in every block
//! assert_eq!(planes[1], 0xaaaa_aaaa_aaaa_aaaa); // bit 1 of byte 0 is set in every other block
//! let mut back = [0; 64 * 8];
//! unslice(&mut planes, &mut back);
//! assert_eq!(back[..], blocks[..]);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod byte_planes;
mod bytes;
mod transpose;
mod word;

pub use byte_planes::{byte_planes, unslice_bytes};
pub use bytes::{Bytes, Gapped, Planes};
pub use transpose::{slice, unslice};
pub use word::Word;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
