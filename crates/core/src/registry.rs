//! A cipher's table of implementations: tests, benches and reports enumerate it.

use alloc::boxed::Box;
use core::fmt;

use crate::{Engine, Error, Unavailable};

/// A block cipher as the registry knows it.
#[derive(Debug)]
pub struct CipherDescription {
    /// Lower-case name, as in the vector files.
    pub name: &'static str,
    /// The standard that defines it.
    pub standard: &'static str,
    /// Bytes of a block.
    pub block_bytes: usize,
    /// Key lengths it takes, in bytes.
    pub key_bytes: &'static [usize],
    /// Every implementation of it; the first is the reference.
    pub backends: &'static [Backend],
}

impl CipherDescription {
    /// Checks a key's length.
    ///
    /// # Errors
    /// [`Error::KeyLength`] naming the accepted lengths.
    pub fn check_key(&self, key: &[u8]) -> Result<(), Error> {
        if self.key_bytes.contains(&key.len()) {
            return Ok(());
        }
        Err(Error::KeyLength { cipher: self.name, given: key.len(), accepted: self.key_bytes })
    }
}

/// Where a backend runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// This CPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// The CUDA kernels compiled as C++ for this CPU: for tests, never for speed.
    CudaOnHost,
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU",
            Self::Cuda => "CUDA",
            Self::CudaOnHost => "CUDA kernels on the CPU",
        })
    }
}

/// Whether run time depends on key or data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantTime {
    /// No branch and no address depends on key or data.
    Yes,
    /// It does depend on them; how.
    No(&'static str),
}

impl fmt::Display for ConstantTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => f.write_str("yes"),
            Self::No(how) => write!(f, "no: {how}"),
        }
    }
}

// ANCHOR: backend
/// Makes an engine under a key.
pub type Create = fn(&[u8]) -> Result<Box<dyn Engine>, Error>;

/// One way to compute a cipher, as a value.
#[derive(Clone, Copy)]
pub struct Backend {
    /// Name on command lines and in reports.
    pub id: &'static str,
    /// Where it runs.
    pub platform: Platform,
    /// Blocks it takes at once; tests probe lengths around it.
    pub lanes: usize,
    /// Its constant-time claim, key schedule included.
    pub constant_time: ConstantTime,
    /// One line for tables.
    pub summary: &'static str,
    /// Whether this machine can run it, and if not why.
    pub available: fn() -> Result<(), Unavailable>,
    /// Makes it under a key of any length that the cipher takes.
    pub create: Create,
}
// ANCHOR_END: backend

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Two lists of backends as one; `N` is the sum of their lengths. For the constant tables.
///
/// # Panics
/// Where `N` is not that sum, at compile time in a constant.
#[must_use]
pub const fn joined<const N: usize>(first: &[Backend], second: &[Backend]) -> [Backend; N] {
    assert!(first.len() + second.len() == N, "N is the sum of the lengths");
    let mut all = [first[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}
