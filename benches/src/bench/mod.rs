//! bench-all: measures every backend in every mode, verified first, and writes one report.
//!
//! CPU backends are measured by the clock, beside other libraries, and so are short calls of the default
//! types; kernels by the device's own events, on data that stays on the device (resident) and from host memory to
//! host memory (end to end); batches of messages on both; several GPUs as one; calls of a user who
//! replaced RustCrypto's ciphers by ours, by a program that is built as that user's is.

mod command;
mod measure;
mod options;
mod output;
mod plan;
mod report;

pub use command::run;
