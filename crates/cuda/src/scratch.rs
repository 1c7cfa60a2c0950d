//! Device memory that an engine needs for the time of a few launches.

use std::sync::{Mutex, PoisonError};

use crate::{Device, DeviceBuffer, Error, staging};

/// The memory, kept between calls and cleared when dropped.
#[derive(Default)]
pub(crate) struct Scratch {
    buffer: Mutex<Option<DeviceBuffer>>,
}

impl Scratch {
    /// Runs `work` with the address of `bytes` bytes, whatever they hold. Nobody else gets them before
    /// all is queued that `work` queues, and what is queued later runs later.
    pub(crate) fn with<R>(
        &self,
        device: &Device,
        bytes: usize,
        work: impl FnOnce(u64) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut kept = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = staging::at_least(&mut kept, device, bytes.max(1))?;
        work(buffer.slice(0..bytes)?.address())
    }
}
