//! Words and SIMD registers whose bits or bytes are lanes, and the instruction sets that have them.
//!
//! A *bit-sliced* cipher works on planes: plane `p` holds bit `p` of many blocks, one block per lane.
//! Code generic over [`Word`] uses bitwise operations only, so the same text runs 32 blocks on `u32`
//! and 512 on AVX-512. A *byte-sliced* cipher works on rows of bytes of many blocks: code generic
//! over [`Bytes`] adds, XORs and rotates them, over [`FieldBytes`] it has the maps of S-boxes too.
//! A *word-sliced* one works on rows of 32-bit words ([`Words`]).
//!
//! An instruction set is a token ([`Isa`]), a value of which proves that the CPU has it; everything
//! that makes a SIMD value takes one. A cipher is written as [`Form`]s with [`Rounds`] and becomes a
//! type by [`Sliced`], for one instruction set, or [`Fastest`], for the best of the CPU it runs on.
//!
//! A single block would pay for a whole batch. [`byte_planes`] makes planes of the bytes of one block
//! or a few, one byte per lane, so that an S-box circuit runs once over all of them.
//!
//! ```
//! use lanecrypt_slicing::{BitLanes, Portable};
//!
//! let isa = Portable::<u64>::new();
//! let blocks: Vec<u8> = (0..64).flat_map(|i| [2 * i, 1, 0, 0, 0, 0, 0, 0]).collect();
//! let mut planes = [0u64; 64]; // 64 blocks of 8 bytes: bit p of every block in planes[p]
//! isa.slice(&blocks, &mut planes);
//! assert_eq!(planes[0], 0); // bit 0 of byte 0 is clear in every block
//! assert_eq!(planes[8], !0); // bit 0 of byte 1 is set in every block
//! assert_eq!(planes[1], 0xaaaa_aaaa_aaaa_aaaa); // bit 1 of byte 0 is set in every other block
//! let mut back = [0; 64 * 8];
//! isa.unslice(&mut planes, &mut back);
//! assert_eq!(back[..], blocks[..]);
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "record")]
extern crate std;

mod aes;
mod batch;
mod bits;
mod byte_planes;
mod bytes;
mod chains;
mod fastest;
mod form;
mod ghash;
mod hash_key;
mod isa;
#[allow(unsafe_code, reason = "a place that is written once behind a shared reference")]
mod kept;
pub mod matrix;
#[cfg(target_arch = "aarch64")]
#[allow(unsafe_code, reason = "SIMD instructions")]
mod neon;
#[cfg(feature = "record")]
pub mod record;
#[cfg(feature = "alloc")]
mod rows;
#[allow(unsafe_code, reason = "what `InOutBuf` points to may go where references may")]
mod send;
mod short;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[allow(unsafe_code, reason = "SIMD instructions")]
mod simd;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[allow(unsafe_code, unused_unsafe, reason = "what macros wrap is safe in WebAssembly")]
mod wasm;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "maps of S-boxes"))]
mod wide;
mod word;
mod words;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "SIMD instructions")]
mod x86;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod xts_masks;

#[doc(hidden)]
pub use lanecrypt_core as core; // for the macros

pub use aes::{
    AesBlocks, AesBody, AesKeySteps, SingleBlocks, WholeBlocks, eight_masks, has_aes, run_aes,
};
pub use batch::{BitState, Blocks, ByteState, Rest, State, WordState};
pub use bits::{BitLanes, OnBitLanes, masks, transpose_halves};
pub use byte_planes::{byte_planes, unslice_bytes};
pub use bytes::{ByteLanes, Bytes, FieldBytes, Gapped, InPlanes, SplatBytes, spread};
pub use chains::chains_in_lanes;
pub use fastest::{
    BatchMode, Choice, Choices, FastCore, Fastest, FastestKeys, OnFast, OnPlain, PlainCore,
    on_cleared_stack, run_in_lanes,
};
#[doc(hidden)]
pub use fastest::{run_fast, run_plain}; // for the macro
pub use form::{BlockOf, Core, Form, Rounds, RunsOn, Schedule, Sliced, one_or, padded};
pub use ghash::{Carryless, Hashing};
pub use hash_key::{HashKey, polyval};
pub use isa::{Body, BodyOver, Isa, Portable};
#[cfg(target_arch = "aarch64")]
pub use neon::{B128, Neon, NeonAes};
pub use send::SendBuf;
pub use short::{
    BlockBytes, BlockLanes, BlockRounds, LanesBody, NONE, REGISTERS, in_lanes, lanes_at_once,
};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use wasm::{B128, Simd128};
pub use word::Word;
pub use words::{WordLanes, Words};
#[cfg(target_arch = "x86_64")]
pub use x86::{
    AesNi, Avx2, Avx2Aes, Avx2Gfni, Avx2Vaes, Avx512, Avx512Xmm, Avx512Ymm, B128, B256, B512, Sse2,
    Xmm, Ymm,
};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
