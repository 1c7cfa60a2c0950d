//! A buffer on its way to being mapped.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    time::Duration,
};

use wgpu::{Buffer, BufferAsyncError, MapMode, PollType};

use crate::{Device, Error};

/// How long an answer is waited for before wgpu is asked again to give it.
const PATIENCE: Duration = Duration::from_millis(10);

/// A wish for a buffer to be mapped once what uses it is complete.
pub(crate) struct Mapping(Receiver<Result<(), BufferAsyncError>>);

impl Mapping {
    /// Of the first `bytes` bytes.
    pub(crate) fn of(
        device: &Device,
        buffer: &Buffer,
        bytes: u64,
        mode: MapMode,
    ) -> Result<Self, Error> {
        let (tell, answer) = mpsc::channel();
        device.guarded("mapping memory", || {
            buffer.map_async(mode, ..bytes, move |result| {
                let _ = tell.send(result); // whoever gave up waiting wants no answer
            });
        })?;
        Ok(Self(answer))
    }

    /// Waits until it is mapped, after [`Device::wait`]: another thread that waits may have been given the answer to
    /// pass on, and not have done so yet.
    pub(crate) fn complete(self, device: &Device) -> Result<(), Error> {
        loop {
            match self.0.recv_timeout(PATIENCE) {
                Ok(answer) => {
                    return answer.map_err(|error| device.refused("mapping memory", &error));
                }
                Err(RecvTimeoutError::Timeout) => device.poll(PollType::Poll)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(device.refused("mapping memory", &"there was no answer"));
                }
            }
        }
    }
}
