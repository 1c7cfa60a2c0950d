//! Host memory that the driver does not move: copies to and from a device pass it fastest.

use std::{ops::Range, ptr::NonNull};

use zeroize::Zeroize;

use crate::{Device, Error};

/// Bytes of such memory, owned. Zeros when made, and cleared before they are freed.
pub(crate) struct PinnedBuffer {
    device: Device,
    memory: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory is owned, and every thread may use and free it.
unsafe impl Send for PinnedBuffer {}

impl PinnedBuffer {
    /// `length` bytes, one at least.
    pub(crate) fn zeroed(device: &Device, length: usize) -> Result<Self, Error> {
        let length = length.max(1);
        let memory = device.driver().allocate_host(length)?;
        Ok(Self { device: device.clone(), memory, length })
    }

    /// A part of it, for copies that go on when the call returns.
    ///
    /// # Panics
    /// For a range that is not inside.
    pub(crate) fn part(&mut self, range: Range<usize>) -> NonNull<[u8]> {
        NonNull::from(&mut self.bytes()[range])
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the memory has so many initialised bytes, which nothing else refers to while
        // `self` is borrowed: the device's copies are complete when a driver call returns, and who
        // starts one that is not waits for it first.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.length) }
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        self.bytes().zeroize();
        // SAFETY: the memory is from this device's driver, with this length, and not used again.
        unsafe { self.device.driver().free_host(self.memory, self.length) }
    }
}
