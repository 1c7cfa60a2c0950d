//! What is proved of a kernel.

use std::fs;

use anyhow::{Context, Result};
use lanecrypt_core::Direction;
use lanecrypt_ptx::text::Kernel;

use crate::subject::{Claim, Device};

/// Modes whose kernels are proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Ecb,
    Ctr,
}

/// A kernel that is to be the cipher of a claim, in a mode.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) claim: &'a Claim,
    pub(super) device: &'a Device,
    pub(super) block_bytes: usize,
    pub(crate) mode: Mode,
}

impl<'a> Job<'a> {
    /// Those of a claim.
    pub(crate) fn all(claim: &'a Claim, block_bytes: usize) -> Vec<Self> {
        let Some(device) = &claim.device else { return Vec::new() };
        let job = |mode| Self { claim, device, block_bytes, mode };
        // CTR encrypts, whatever it is for.
        match claim.direction {
            Direction::Encrypt => vec![job(Mode::Ecb), job(Mode::Ctr)],
            Direction::Decrypt => vec![job(Mode::Ecb)],
        }
    }

    /// Whether counters have an upper half, to which the lower one carries.
    pub(crate) fn has_carry(&self) -> bool {
        self.block_bytes > 8
    }

    /// The entry's name.
    pub(crate) fn entry(&self) -> String {
        match self.mode {
            Mode::Ecb => self.device.entry.to_owned(),
            Mode::Ctr => format!("{}_ctr", self.device.file),
        }
    }

    /// The committed text.
    pub(crate) fn text(&self) -> Result<String> {
        let file = self.device.file;
        let path = format!("{}/../kernels/ptx/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(&path).context(path)
    }

    /// Whether a text can be read: what cannot is refuted by nothing.
    pub(crate) fn check_readable(&self, text: &str) -> Result<()> {
        Kernel::read(text, &self.entry()).map(drop)
    }
}
