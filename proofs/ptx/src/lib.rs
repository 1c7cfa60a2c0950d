//! The kernels' PTX: its text as instructions, threads that run it, and what it takes of a multiprocessor.
#![forbid(unsafe_code)]

pub mod bits;
pub mod count;
mod double;
pub mod machine;
pub mod text;
