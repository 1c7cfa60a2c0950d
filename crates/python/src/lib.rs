//! The extension module `lanecrypt._lanecrypt`, over which the Python package `lanecrypt` lies.
//!
//! It has the functions and classes flat; the package in `python/lanecrypt` says which module each
//! belongs to. `ffi.rs` is the only file that touches memory of Python's by its address, and `ffi/dlpack.rs`
//! the only one that takes memory of GPUs from others.
#![deny(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "PyO3 gives arguments by value")]

mod aead;
mod backend;
mod buffers;
mod ciphers;
mod devices;
mod errors;
mod ffi;
mod frames;
mod interpreter;
mod objects;
mod parquet;
mod passes;
mod random;
mod running;
mod self_test;
mod tensor;
mod threads;
mod tink;

use lanecrypt::Direction;
use pyo3::prelude::*;

/// Block ciphers across lanes.
#[pymodule]
mod _lanecrypt {
    #[pymodule_export]
    use super::{
        aead::{AESGCM, ARIAGCM, CamelliaGCM},
        ciphers::{AEADContext, Algorithm, CipherContext},
        devices::{Device, cuda_header, devices},
        errors::{
            AlreadyFinalized, AlreadyUpdated, InvalidTag, NotAuthentic, NotYetFinalized,
            SelfTestError, SourceChanged,
        },
        ffi::image::ParquetImage,
        frames::{open_frames, seal_frames, seal_frames_into},
        objects::{Driver, Plan},
        parquet::{ParquetKeys, open_parquet, seal_parquet},
        passes::{cbc, ctr, ecb, xts},
        random::Generator,
        self_test::self_test,
        tensor::DeviceTensor,
        tink::{
            Job, Keyset, Sealed, open, open_bytes, open_to_device, seal, seal_bytes,
            seal_from_device, seal_from_device_to_buffer, seal_from_device_to_stream,
        },
    };
}

/// The direction that a caller's `decrypt=` says.
fn direction(decrypt: bool) -> Direction {
    if decrypt { Direction::Decrypt } else { Direction::Encrypt }
}
