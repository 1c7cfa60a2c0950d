//! Kernels of GPUs: the committed PTX of a bit-sliced cipher in a mode, run by threads whose keys and blocks are wires
//! of a graph, is the standard's cipher.
//!
//! A thread block runs to its barrier, which expands the keys. Then a thread runs on, over its 32
//! blocks, of which one is wires and the others may not reach it. What it stores is compared with the standard, from the
//! key words of the kernel's parameters to the ciphertext: loops, transposes and key planes are in between.

mod ctr;
mod ecb;
mod job;
mod threads;

use anyhow::Result;
use lanecrypt_ptx::text::Kernel;

pub(crate) use self::job::{Job, Mode};
use crate::step::Proof;

/// Proves that the committed text of a kernel is the cipher.
pub(crate) fn prove(job: &Job<'_>) -> Result<Proof> {
    prove_text(job, &job.text()?)
}

/// The proof of a text.
pub(crate) fn prove_text(job: &Job<'_>, text: &str) -> Result<Proof> {
    let kernel = Kernel::read(text, &job.entry())?;
    match job.mode {
        Mode::Ecb => ecb::prove(job, &kernel),
        Mode::Ctr => ctr::prove(job, &kernel),
    }
}
