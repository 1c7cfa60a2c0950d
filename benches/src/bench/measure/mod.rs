//! Measuring: each part verifies what runs before it times it, and gives figures.

pub(crate) mod auto;
pub(crate) mod batches;
pub(crate) mod blocks;
pub(crate) mod cases;
pub(crate) mod cpu;
mod energy;
pub(crate) mod environment;
pub(crate) mod files;
pub(crate) mod first_call;
pub(crate) mod fleet;
pub(crate) mod gpu;
pub(crate) mod host_memory;
pub(crate) mod kernels;
pub(crate) mod keyed;
pub(crate) mod passes;
pub(crate) mod peers;
mod random;
pub(crate) mod runner;
pub(crate) mod swap;
pub(crate) mod verify;
#[cfg(feature = "wgpu")]
pub(crate) mod wgpu;
