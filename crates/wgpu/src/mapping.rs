//! A buffer on its way to being mapped.

use std::sync::{Arc, OnceLock};

use wgpu::{Buffer, BufferAsyncError, MapMode};

use crate::{Device, Error};

/// A wish for a buffer to be mapped once what uses it is complete.
pub(crate) struct Mapping(Arc<OnceLock<Result<(), BufferAsyncError>>>);

impl Mapping {
    /// Of the first `bytes` bytes.
    pub(crate) fn of(
        device: &Device,
        buffer: &Buffer,
        bytes: u64,
        mode: MapMode,
    ) -> Result<Self, Error> {
        let answer = Arc::new(OnceLock::new());
        let told = answer.clone();
        device.guarded("mapping memory", || {
            buffer.map_async(mode, ..bytes, move |result| {
                let _ = told.set(result);
            });
        })?;
        Ok(Self(answer))
    }

    /// Whether it is, after [`Device::wait`].
    pub(crate) fn complete(self, device: &Device) -> Result<(), Error> {
        match self.0.get() {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(device.refused("mapping memory", error)),
            None => Err(device.refused("mapping memory", &"no answer")),
        }
    }
}
