//! Fuzz targets as functions: each takes any bytes, and panics where a property does not hold.
//!
//! `cargo xtask fuzz` runs them under libFuzzer, which looks for inputs that reach new code.
//! Ordinary tests run them over the inputs in `seeds/` and over random ones.
#![forbid(unsafe_code)]

mod experience;
mod keysets;
mod luks;
mod modes;
mod parquet;
mod sealed;
mod seeks;
mod texts;
mod toy;
mod vectors;

pub use experience::experience;
pub use keysets::keysets;
pub use luks::luks;
pub use modes::modes;
pub use parquet::parquet;
pub use sealed::sealed;
pub use seeks::seeks;
pub use texts::texts;
pub use vectors::vectors;
