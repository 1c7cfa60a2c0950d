//! Circuits of S-boxes and linear layers as straight-line programs over bits: parse, prove, emit, derive.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod column;
mod construct;
mod cover;
pub mod derive;
mod emit;
mod equivalence;
mod error;
mod files;
mod gates;
pub mod graph;
mod in_gates;
mod layers;
pub mod linear;
pub mod lut;
mod network;
mod program;
mod prove;
mod question;
mod random;
mod rederive;
mod rolled;
mod rounds;
pub mod small;
pub mod sums;
mod targets;
mod text;
mod walk;
mod wgsl;

pub use cover::{cover, cover_graph, in_lookups};
pub use emit::{emit_cuda, emit_rust};
pub use equivalence::{Equivalence, find_affine_equivalence};
pub use error::Error;
pub use files::{GeneratedFile, NamedTable, generated_files};
pub use layers::{LAYERS, Layer};
pub use program::{Counts, Gate, Program, Statement, Wire};
pub use rederive::{derive_files, derive_layers};
pub use rounds::{KernelRounds, emit_rounds};
pub use targets::{TARGETS, Target};
pub use wgsl::{emit_wgsl, identifier};
