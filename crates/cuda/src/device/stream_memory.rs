//! Device memory that modes need beside the data, for the time of a few launches on one stream.

use std::sync::{Mutex, PoisonError};

use super::{Device, buffer::DeviceBuffer, driver::StreamHandle};
use crate::Error;

/// What of the limit of host data on the device is a limit of what a mode takes there beside the data.
pub(crate) const SCRATCH_SHARE: usize = 16;

/// The memory, kept between calls and cleared when dropped.
#[derive(Default)]
pub(crate) struct Scratch {
    buffer: Mutex<Option<DeviceBuffer>>,
}

impl Scratch {
    /// Runs `work` with the address of `bytes` bytes, whatever they hold. No other call gets them before
    /// all is queued that `work` queues on `stream`, a stream of `device` whose scratch memory this is,
    /// and what is queued later runs later.
    pub(crate) fn with<R>(
        &self,
        device: &Device,
        stream: StreamHandle,
        bytes: usize,
        work: impl FnOnce(u64) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut kept = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = match &mut *kept {
            Some(buffer) if buffer.len() >= bytes => buffer,
            small => {
                // Freeing and clearing run on the default stream, with which a caller's may not be in order.
                let is_apart = stream != StreamHandle::DEFAULT;
                if is_apart && small.is_some() {
                    device.driver().synchronize(stream)?;
                }
                *small = None;
                let length = bytes.max(MIN_BYTES).next_power_of_two();
                let buffer = DeviceBuffer::zeroed(device, length)?;
                if is_apart {
                    device.driver().synchronize(StreamHandle::DEFAULT)?;
                }
                small.insert(buffer)
            }
        };
        work(buffer.slice(0..bytes)?.address())
    }
}

/// Bytes of the first memory that is asked for: growing it later waits for the stream.
const MIN_BYTES: usize = 4096;
