//! What calls of the CUDA driver have in common: errors, streams, events.

use cudarc::driver::{DriverError, result, sys};

use crate::{Error, device::driver::StreamHandle};

/// Names what was being done when a driver call failed.
pub(super) fn doing<T>(
    result: Result<T, DriverError>,
    doing: impl FnOnce() -> String,
) -> Result<T, Error> {
    result.map_err(|error| {
        let text = |text: Result<&std::ffi::CStr, DriverError>| {
            text.map_or_else(|_| "unknown".to_owned(), |text| text.to_string_lossy().into_owned())
        };
        Error::Driver {
            doing: doing(),
            name: text(error.error_name()),
            reason: text(error.error_string()),
        }
    })
}

/// The stream behind a handle, which is null for the default one.
pub(super) fn cuda_stream(stream: StreamHandle) -> sys::CUstream {
    stream.0 as sys::CUstream
}

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
