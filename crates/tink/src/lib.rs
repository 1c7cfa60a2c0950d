//! Sealed files: Tink's streaming AEAD, in parallel and at any place.
//!
//! A file is sealed in segments of 4 KiB or 1 MiB, each authentic by itself and in its place, so that
//! all cores work on it, a part of it can be read without the rest, and what was changed, cut off or
//! appended is noticed. Tink's libraries open what is sealed here, and the other way round; keysets
//! are Tink's JSON, in cleartext or under a passphrase.
//!
//! ```
//! use lanecrypt_tink::{Keyset, Options, Template, open_file, seal_file};
//!
//! # let folder = tempfile::tempdir()?;
//! # let [plain, sealed, opened] = ["plain", "sealed", "opened"].map(|name| folder.path().join(name));
//! # std::fs::write(&plain, b"a file")?;
//! let keyset = Keyset::generate(Template::Aes256GcmHkdf1Mb.parameters())?;
//! let options = Options { associated_data: b"name, version", ..Options::default() };
//! seal_file(&keyset, &plain, &sealed, options)?;
//! open_file(&keyset, &sealed, &opened, options)?;
//! assert_eq!(std::fs::read(&opened)?, b"a file");
//!
//! let text = keyset.to_json_with_passphrase(b"correct horse", Default::default())?;
//! let keyset = Keyset::from_json_with_passphrase(&text, b"correct horse")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Sealer`] and [`Opener`] are a writer and a reader, [`seal_stream`] and [`open_stream`] read and
//! write while they compute, [`Sealed`] reads any range, [`SegmentCipher`] has the single segments, and
//! [`job`] seals a file by many processes. [`SegmentRunner`] is who computes.
//!
//! The format does not commit to the key: someone who knows two keys can make a file that both open.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod batch;
mod choose;
#[cfg(feature = "cuda")]
mod cuda;
mod error;
mod file;
pub mod frames;
pub mod job;
mod json;
mod key;
mod keyset;
mod layout;
mod memory;
mod options;
mod output;
mod parameters;
mod passphrase;
mod piece;
mod pipeline;
mod protobuf;
mod random;
mod runner;
mod scalar;
mod sealed;
mod segment_cipher;
mod source;
mod streams;
mod transfer;

#[cfg(feature = "cuda")]
pub use cuda::Cuda;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub use cuda::{FromDevice, Writing, writer_of};
pub use error::Error;
pub use file::{open_file, open_regular, open_source, seal_file};
pub use key::StreamingKey;
pub use keyset::{KeyEntry, Keyset, Status};
pub use layout::SegmentLayout;
pub use memory::InMemory;
#[doc(hidden)]
pub use memory::{length_of, zeroed};
pub use options::Options;
pub use output::{Output, TEMPORARY};
pub use parameters::{Hash, NoSuchTemplate, Parameters, Scheme, Template};
pub use passphrase::Cost;
pub use pipeline::{open_stream, seal_stream};
pub use runner::{Cpu, Segment, SegmentRunner};
pub use sealed::Sealed;
pub use segment_cipher::{Header, SegmentCipher};
pub use source::{Identity, Source, Target, Version};
pub use streams::{Opener, Sealer};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
