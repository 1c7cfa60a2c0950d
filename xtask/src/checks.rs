//! What is checked besides tests: a task or a step of `cargo xtask ci` each.

pub(crate) mod browser;
pub(crate) mod cross;
pub(crate) mod ct;
pub(crate) mod dependencies;
pub(crate) mod examples;
pub(crate) mod features;
pub(crate) mod fuzz;
pub(crate) mod inlining;
pub(crate) mod known_faults;
mod metadata;
pub(crate) mod mutants;
pub(crate) mod narrow;
pub(crate) mod older_cpus;
pub(crate) mod portable;
pub(crate) mod proofs;
pub(crate) mod publishing;
pub(crate) mod statistics;
pub(crate) mod suites;
pub(crate) mod wgpu;
