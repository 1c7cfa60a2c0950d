//! Device memory that clears itself.

use std::{fmt, ops::Range};

use crate::{Device, Error};

/// Bytes of device memory, owned. Set to zero when made and again when dropped: freed device
/// memory is handed to the next process as it is.
pub struct DeviceBuffer {
    device: Device,
    address: u64,
    length: usize,
}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer").field("length", &self.length).finish_non_exhaustive()
    }
}

impl DeviceBuffer {
    /// `length` zero bytes on `device`.
    ///
    /// # Errors
    /// Driver errors, such as too little memory.
    pub fn zeroed(device: &Device, length: usize) -> Result<Self, Error> {
        let address = device.driver().allocate(length.max(1))?;
        let buffer = Self { device: device.clone(), address, length };
        // SAFETY: the range is the whole of this allocation.
        unsafe { device.driver().clear(address, length) }?;
        Ok(buffer)
    }

    /// A copy of `data` on `device`.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed).
    pub fn from_host(device: &Device, data: &[u8]) -> Result<Self, Error> {
        let mut buffer = Self::zeroed(device, data.len())?;
        buffer.write(0, data)?;
        Ok(buffer)
    }

    /// Bytes of the buffer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The device it lies on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies `data` to the buffer, from byte `start` on.
    ///
    /// # Errors
    /// [`Error::Range`] where it does not fit; driver errors.
    pub fn write(&mut self, start: usize, data: &[u8]) -> Result<(), Error> {
        self.check(start..start.saturating_add(data.len()))?;
        // SAFETY: the range was just checked to lie in this allocation.
        unsafe { self.device.driver().write(self.address + start as u64, data) }
    }

    /// Copies from the buffer, from byte `start` on, after all launches so far.
    ///
    /// # Errors
    /// [`Error::Range`] where the buffer is shorter; driver errors.
    pub fn read(&self, start: usize, data: &mut [u8]) -> Result<(), Error> {
        self.check(start..start.saturating_add(data.len()))?;
        // SAFETY: the range was just checked to lie in this allocation.
        unsafe { self.device.driver().read(self.address + start as u64, data) }
    }

    /// A part of the buffer as kernel input.
    ///
    /// # Errors
    /// [`Error::Range`] outside the buffer, or where it starts off a 16-byte boundary.
    pub fn slice(&self, range: Range<usize>) -> Result<DeviceSlice<'_>, Error> {
        self.check_aligned(&range)?;
        Ok(DeviceSlice { buffer: self, range })
    }

    /// A part of the buffer as kernel output, or as both.
    ///
    /// # Errors
    /// As [`slice`](Self::slice).
    pub fn slice_mut(&mut self, range: Range<usize>) -> Result<DeviceSliceMut<'_>, Error> {
        self.check_aligned(&range)?;
        Ok(DeviceSliceMut { buffer: self, range })
    }

    fn check(&self, range: Range<usize>) -> Result<(), Error> {
        if range.start <= range.end && range.end <= self.length {
            return Ok(());
        }
        Err(Error::Range { start: range.start, end: range.end, length: self.length })
    }

    fn check_aligned(&self, range: &Range<usize>) -> Result<(), Error> {
        self.check(range.clone())?;
        if range.start.is_multiple_of(16) {
            return Ok(());
        }
        Err(Error::Range { start: range.start, end: range.end, length: self.length })
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // SAFETY: the range is the whole of this allocation, which nothing uses any more.
        unsafe {
            if let Err(error) = self.device.driver().clear(self.address, self.length) {
                log::warn!("device memory could not be cleared: {error}");
            }
            self.device.driver().free(self.address);
        }
    }
}

/// A part of a [`DeviceBuffer`], to read.
#[derive(Clone, Debug)]
pub struct DeviceSlice<'a> {
    buffer: &'a DeviceBuffer,
    range: Range<usize>,
}

/// A part of a [`DeviceBuffer`], to write.
#[derive(Debug)]
pub struct DeviceSliceMut<'a> {
    buffer: &'a mut DeviceBuffer,
    range: Range<usize>,
}

impl DeviceSlice<'_> {
    pub(crate) fn address(&self) -> u64 {
        self.buffer.address + self.range.start as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    pub(crate) fn device(&self) -> &Device {
        &self.buffer.device
    }

    /// Copies its last bytes from the device, after all launches so far; it has as many.
    pub(crate) fn read_last(&self, data: &mut [u8]) -> Result<(), Error> {
        self.buffer.read(self.range.end.saturating_sub(data.len()), data)
    }

    /// Checks that kernels of `device` can reach it.
    pub(crate) fn require_device(&self, device: &Device) -> Result<(), Error> {
        device.require(self.device(), "buffer")
    }
}

impl DeviceSliceMut<'_> {
    /// The same part, to read.
    #[must_use]
    pub fn as_slice(&self) -> DeviceSlice<'_> {
        DeviceSlice { buffer: self.buffer, range: self.range.clone() }
    }

    /// Checks that kernels of `device` can run from `input` to it: all are there, and equally long.
    pub(crate) fn require_pair(
        &self,
        input: &DeviceSlice<'_>,
        device: &Device,
    ) -> Result<(), Error> {
        let (input_bytes, output_bytes) = (input.len(), self.range.len());
        if input_bytes != output_bytes {
            return Err(Error::Data(lanecrypt_core::Error::OutputLength {
                input: input_bytes,
                output: output_bytes,
            }));
        }
        input.require_device(device)?;
        self.as_slice().require_device(device)
    }
}
