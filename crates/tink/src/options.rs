//! What a caller may choose for a whole file or stream.

use std::{
    fmt,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{Cpu, Error, SegmentRunner};

/// All cores of this machine.
pub(crate) static CPU: Cpu = Cpu::new(0);
/// A flag that is never set.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// How a file is sealed or opened: by default with no associated data, on all cores.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// What is authenticated with the file, and must be given again to open it; it is not in the file.
    pub associated_data: &'a [u8],
    /// Who does it.
    pub runner: &'a dyn SegmentRunner,
    /// Told how many bytes of plaintext more are done; by any thread.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Set by anybody, to end with [`Error::Cancelled`](crate::Error::Cancelled) after the segments
    /// at hand. It is read for the last time after the end of the input, and immediately before a file
    /// takes the place of its target.
    pub cancel: &'a AtomicBool,
    /// Told where the temporary file is that will take the place of the target, before anything is written to it: for
    /// a process that may be ended while it works. Streams have none.
    pub temporary: &'a (dyn Fn(&Path) + Sync),
    /// When opening into a file, leaves holes where there is nothing but zeros.
    pub sparse: bool,
}

impl Options<'_> {
    /// Fails where the caller has cancelled.
    pub(crate) fn check_cancel(&self) -> Result<(), Error> {
        if self.cancel.load(Ordering::SeqCst) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            associated_data: &[],
            runner: &CPU,
            progress: &|_| {},
            cancel: &NEVER,
            temporary: &|_| {},
            sparse: false,
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("runner", &self.runner)
            .field("sparse", &self.sparse)
            .finish_non_exhaustive()
    }
}
