//! bench-all: measures every backend in every mode, verified first, and writes one report.
//!
//! CPU backends are measured by criterion, in a process of its own that this one starts; kernels by
//! the device's own events, on data that stays on the device (resident) and from host memory to
//! host memory (end to end).

mod baseline;
mod chart;
mod command;
mod cpu;
mod environment;
mod gpu;
mod papers;
mod plan;
mod record;
mod report;
mod verify;

pub use command::run;
