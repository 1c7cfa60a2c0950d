//! LUKS1 and LUKS2 containers: the disk within as bytes at offsets, read and written in place.
//!
//! ```no_run
//! use std::fs::File;
//!
//! use lanecrypt_luks::{Disk, DerivationLimits};
//!
//! let file = File::options().read(true).write(true).open("disk.img")?;
//! let disk = Disk::open(file, b"the passphrase", &DerivationLimits::default())?;
//! let mut start = vec![0; 1 << 20];
//! disk.read_at(&mut start, 0)?;
//! disk.write_at(b"any length, at any offset", 12_345)?;
//! disk.sync()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Containers are made by others, such as `cryptsetup` and `qemu-img`. What is supported: the ciphers of
//! this library with blocks of 16 bytes, in the modes `xts-plain64`, `cbc-plain64` and `cbc-essiv:sha256`;
//! sectors of 512 to 4096 bytes; key slots by PBKDF2 (SHA-1, SHA-256, SHA-512), Argon2i and Argon2id; detached
//! headers. A header is never changed.
//!
//! Neither mode authenticates anything: anyone who can write to the container can put old sectors back, or
//! make noise of any block of 16 bytes, unnoticed.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod antiforensic;
mod bytes;
mod cbc;
mod claims;
mod derive;
mod disk;
mod error;
mod hash;
mod header;
mod luks1;
mod luks2;
mod metadata;
mod sectors;
mod storage;
mod threads;

pub use self::{
    derive::DerivationLimits, disk::Disk, error::Error, header::Header, storage::Storage,
};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
