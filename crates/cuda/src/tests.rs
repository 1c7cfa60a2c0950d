//! Tests of the whole crate, on the model device.

mod buffers_and_engines;
pub(crate) mod faults;
