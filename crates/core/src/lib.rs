//! Traits and plain types that every Lanecrypt crate speaks.
//!
//! - [`Implementation`] is what one way of computing a cipher provides, and [`Cipher`] turns it
//!   into a type with all of RustCrypto's block-cipher traits.
//! - [`Engine`] is the bulk interface: an [`Operation`] over a whole byte buffer, fallible, object safe.
//!   [`Cipher`] and GPU kernels implement it; [`CpuEngine`] makes one of another crate's block cipher.
//! - [`modes`] are CTR, CBC, CFB, OFB and XTS over any engine; [`Ctr`] is the seekable CTR stream.
//! - [`batch`] has what a call over many messages takes, each with its own key.
#![cfg_attr(
    feature = "alloc",
    doc = "- [`Backend`] is a row of a cipher's table of implementations (feature `alloc`)."
)]
//!
//! ```
//! use cipher::KeyInit;
//! use lanecrypt_core::{CpuEngine, Ctr, Engine};
//!
//! let engine = CpuEngine::new(aes::Aes128::new(&[7; 16].into()));
//! let mut data = *b"any length you like";
//! Ctr::new(&engine, &[0; 16])?.try_apply(data.as_mut_slice().into())?;
//! assert_ne!(&data, b"any length you like");
//! # Ok::<(), lanecrypt_core::Error>(())
//! ```
//!
//! The README lists examples, a page each: `cargo run --example 1_engine`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod backend;
pub mod batch;
mod block;
mod block_pass;
mod brief;
pub mod bulk;
mod counter;
mod engine;
mod error;
pub mod modes;
mod one_block;
mod operation;
#[cfg(feature = "alloc")]
mod registry;
mod secret;
mod stack;
mod stream;

pub use block::{AnyCpu, Block, Cipher, Implementation};
pub use block_pass::{BlockInput, BlockPass};
#[doc(hidden)]
pub use brief::Brief;
pub use cipher;
pub use counter::Counter;
pub use engine::{CpuEngine, Direction, Dispatch, Engine, EngineWrapper, GcmPass, HashPowers};
pub use error::{ConstantTime, Error, MessagesError, Mode, Unavailable};
pub use modes::{ChainedMode, Chains, SerialMode};
pub use one_block::OneBlock;
pub use operation::Operation;
#[cfg(feature = "alloc")]
pub use registry::{
    Backend, CipherDescription, Create, Described, Extension, KeySizes, Platform, backend_count,
    joined_backends,
};
pub use secret::{Clear, Secret, clear_bytes};
pub use stack::{on_cleared_stack, on_cleared_stack_of};
pub use stream::Ctr;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
