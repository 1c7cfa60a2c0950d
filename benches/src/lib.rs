//! The tools over the registry of every cipher and backend: known-answer tests, benchmarks, tuning.
#![forbid(unsafe_code)]

pub mod bench;
pub mod kat;
pub mod tune;

use lanecrypt::size;
