//! bench-all: measures every backend in every mode, verified first, and writes one report.
//!
//! CPU backends are measured by criterion, in a process of its own that this one starts, and beside
//! other libraries; short calls of the default types by hand, in this process; kernels by
//! the device's own events, on data that stays on the device (resident) and from host memory to
//! host memory (end to end); batches of messages on both;
//! several GPUs as one.

mod auto;
mod baseline;
mod batches;
mod block_sizes;
mod blocks;
mod blocks_report;
mod chart;
mod claims;
mod clock;
mod command;
mod compare;
mod cpu;
mod environment;
mod files;
mod first_call;
mod fleet;
mod gpu;
mod host_memory;
mod kisa;
mod output;
mod page;
mod papers;
mod peers;
mod pictures;
mod plan;
mod ratio;
mod report;
mod roof;
mod runner;
mod runs;
mod sample;
mod sections;
mod summary;
mod table;
mod verify;

pub use command::run;
