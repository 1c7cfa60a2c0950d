//! Parquet with encrypted columns (Parquet Modular Encryption), opened and sealed in parallel, on the CPU or a GPU.
//!
//! Opening gives the plaintext file: the same pages, as they were compressed, in a file that every reader of Parquet
//! takes. All of it was verified before anything is given out, but for what the format leaves without a tag: the pages
//! of [`Algorithm::AesGcmCtrV1`], and columns that are not encrypted.
//!
//! | you want to | take |
//! |---|---|
//! | open a file into host memory | [`Encrypted::read`], then [`Encrypted::open`] |
//! | open it into memory of a GPU | `Encrypted::open_to_device` (feature `cuda`) |
//! | seal a plaintext file | [`seal`], and `seal_from_device` |
//! | say where keys come from | [`Keys`] by names, [`ByMetadata`] by what the file says of them |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod ahead;
mod chunk;
mod cipher;
#[cfg(feature = "cuda")]
mod cuda;
mod error;
mod fields;
mod footer;
mod indexes;
mod key;
mod keyring;
mod lead;
mod module;
mod open;
mod options;
mod place;
mod placed;
mod plain;
mod plan;
mod schema;
mod seal;
mod seal_plan;
pub mod thrift;
mod walk;

pub use cipher::Algorithm;
#[cfg(feature = "cuda")]
pub use cuda::seal_from_device;
pub use error::Error;
pub use key::{ByMetadata, Key, KeyFor, KeySource, Keys};
pub use lanecrypt_tink::InMemory;
pub use module::FileAad;
pub use open::Encrypted;
pub use options::{OpenOptions, SealOptions};
pub use place::{Kind, Place};
pub use seal::seal;

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
