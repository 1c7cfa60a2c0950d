//! What a caller may choose for a whole file or stream.

use std::{fmt, sync::atomic::AtomicBool};

use crate::{Backend, Cpu};

/// All cores of this machine.
pub(crate) static CPU: Cpu = Cpu::new(0);
static NEVER: AtomicBool = AtomicBool::new(false);

/// How a file is sealed or opened: by default with no associated data, on all cores.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// What is authenticated with the file, and must be given again to open it; it is not in the file.
    pub associated_data: &'a [u8],
    /// Who does it.
    pub backend: &'a dyn Backend,
    /// Told how many bytes of plaintext more are done; by any thread.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Set by anybody, to end with [`Error::Cancelled`](crate::Error::Cancelled) after the segments
    /// at hand.
    pub cancel: &'a AtomicBool,
    /// When opening into a file, leaves holes where there is nothing but zeros.
    pub sparse: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            associated_data: &[],
            backend: &CPU,
            progress: &|_| {},
            cancel: &NEVER,
            sparse: false,
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("backend", &self.backend)
            .field("sparse", &self.sparse)
            .finish_non_exhaustive()
    }
}
