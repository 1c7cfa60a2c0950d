//! Events of the CUDA driver.

use cudarc::driver::{result, sys};

use super::{cuda_stream, doing};
use crate::{Error, device::driver::StreamHandle};

/// A point in a stream, with a time where the flags do not say otherwise.
pub(super) struct Event(pub(super) sys::CUevent);

impl Event {
    pub(super) fn new(flags: sys::CUevent_flags) -> Result<Self, Error> {
        doing(result::event::create(flags), || "creating an event".into()).map(Self)
    }

    pub(super) fn record(&self, stream: StreamHandle) -> Result<(), Error> {
        // SAFETY: the event is live, and so is every stream that a driver is asked for.
        doing(unsafe { result::event::record(self.0, cuda_stream(stream)) }, || {
            "recording an event".into()
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is live and not used again.
        if unsafe { result::event::destroy(self.0) }.is_err() {
            log::warn!("an event could not be destroyed");
        }
    }
}
