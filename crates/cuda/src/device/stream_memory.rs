//! Device memory that modes need beside the data, for the time of a few launches on one stream.

use std::sync::{Mutex, PoisonError};

use crate::{DeviceBuffer, Error, Stream, device::driver::StreamHandle};

/// The memory, kept between calls and cleared when dropped.
#[derive(Default)]
pub(crate) struct Scratch {
    buffer: Mutex<Option<DeviceBuffer>>,
}

impl Scratch {
    /// Runs `work` with the address of `bytes` bytes, whatever they hold. Nobody else gets them before
    /// all is queued that `work` queues on `stream`, whose scratch memory this is, and what is queued
    /// later runs later.
    pub(crate) fn with<R>(
        &self,
        stream: &Stream,
        bytes: usize,
        work: impl FnOnce(u64) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut kept = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = match &mut *kept {
            Some(buffer) if buffer.len() >= bytes => buffer,
            small => {
                // A stream of the caller's may not be in order with freeing and clearing.
                stream.synchronize()?;
                *small = None;
                let length = bytes.max(MIN_BYTES).next_power_of_two();
                let buffer = DeviceBuffer::zeroed(stream.device(), length)?;
                stream.device().driver().synchronize(StreamHandle::DEFAULT)?;
                small.insert(buffer)
            }
        };
        work(buffer.slice(0..bytes)?.address())
    }
}

/// Bytes of the first memory that is asked for: growing it later waits for the stream.
const MIN_BYTES: usize = 4096;
