//! The extension module `lanecrypt._lanecrypt`, over which the Python package `lanecrypt` lies.
//!
//! It has the functions and classes flat; the package in `python/lanecrypt` says which module each
//! belongs to. `ffi.rs` is the only file that touches memory of Python's by its address.
#![deny(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "PyO3 gives arguments by value")]

mod aead;
mod backend;
mod buffers;
mod ciphers;
mod devices;
mod errors;
mod ffi;
mod passes;
mod running;
mod threads;
mod tink;

use pyo3::prelude::*;

/// Block ciphers across lanes.
#[pymodule]
mod _lanecrypt {
    #[pymodule_export]
    use super::{
        aead::{AESGCM, ARIAGCM, CamelliaGCM},
        ciphers::{AEADContext, Algorithm, CipherContext},
        devices::{Device, devices},
        errors::{
            AlreadyFinalized, AlreadyUpdated, InvalidTag, NotAuthentic, NotYetFinalized,
            SourceChanged,
        },
        passes::{cbc, ctr, ecb, xts},
        tink::{Job, Keyset, Sealed, open, open_bytes, seal, seal_bytes},
    };
}
