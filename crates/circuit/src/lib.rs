//! S-box circuits as straight-line programs over bits: parse, prove, emit, derive.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod derive;
mod emit;
mod equivalence;
mod error;
mod files;
pub mod linear;
pub mod lut;
mod program;
mod prove;
mod random;

pub use emit::{emit_cuda, emit_rust};
pub use equivalence::{Equivalence, find_affine_equivalence};
pub use error::Error;
pub use files::{GeneratedFile, NamedTable, TARGETS, Target, derive_files, generated_files};
pub use program::{Counts, Gate, Operation, Program, Wire};
