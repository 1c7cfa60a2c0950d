//! Device memory that clears itself.

use std::{fmt, marker::PhantomData, ops::Range};

use crate::{Device, Error};

/// Bytes of the largest block, at multiples of which kernels read and write.
pub(crate) const MAX_BLOCK: usize = 16;

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

    /// A part of the buffer as input.
    ///
    /// It may start anywhere. What starts at no multiple of 16 passes memory of this crate's on the device,
    /// and costs two copies there; batches refuse it with [`Error::Alignment`].
    ///
    /// # Errors
    /// [`Error::Range`] outside the buffer.
    pub fn slice(&self, range: Range<usize>) -> Result<DeviceSlice<'_>, Error> {
        self.check(range.clone())?;
        let address = self.address + range.start as u64;
        Ok(DeviceSlice { device: &self.device, address, length: range.len(), memory: PhantomData })
    }

    /// A part of the buffer as output, or as both.
    ///
    /// # Errors
    /// As [`slice`](Self::slice).
    pub fn slice_mut(&mut self, range: Range<usize>) -> Result<DeviceSliceMut<'_>, Error> {
        self.check(range.clone())?;
        let address = self.address + range.start as u64;
        // SAFETY: the range is of this buffer, of which the slice has the only borrow.
        Ok(unsafe { DeviceSliceMut::from_raw(&self.device, address, range.len()) })
    }

    fn check(&self, range: Range<usize>) -> Result<(), Error> {
        if range.start <= range.end && range.end <= self.length {
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

/// Memory of a device, to read: a part of a [`DeviceBuffer`], or somebody else's.
#[derive(Clone, Debug)]
pub struct DeviceSlice<'a> {
    device: &'a Device,
    address: u64,
    length: usize,
    memory: PhantomData<&'a [u8]>,
}

/// Memory of a device, to write: a part of a [`DeviceBuffer`], or somebody else's.
#[derive(Debug)]
pub struct DeviceSliceMut<'a> {
    device: &'a Device,
    address: u64,
    length: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> DeviceSlice<'a> {
    /// Memory that is not ours, such as that of a tensor: `length` bytes from `address` on.
    ///
    /// As a [part of a buffer](DeviceBuffer::slice), it may start anywhere.
    ///
    /// # Safety
    /// The memory is of the primary context of `device`, or of the host build where that is the device. For
    /// `'a`, and until what was queued with it has run, it stays there and is not written to: by nothing
    /// that runs on streams whose order with what is queued here is not known. Without a stream, work
    /// comes after that of the default stream and of those that CUDA calls blocking.
    #[must_use]
    pub unsafe fn from_raw(device: &'a Device, address: u64, length: usize) -> Self {
        Self { device, address, length, memory: PhantomData }
    }

    /// Where it starts on the device.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes of it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn device(&self) -> &Device {
        self.device
    }

    /// Copies to host memory, from byte `start` on, after all launches so far.
    ///
    /// # Errors
    /// [`Error::Range`] where there is less; driver errors.
    pub fn read(&self, start: usize, data: &mut [u8]) -> Result<(), Error> {
        let address = self.inside(start, data.len())?;
        // SAFETY: the range was just checked to lie in memory that is there.
        unsafe { self.device.driver().read(address, data) }
    }

    /// Copies its last bytes from the device, after all launches so far; it has as many.
    pub(crate) fn read_last(&self, data: &mut [u8]) -> Result<(), Error> {
        self.read(self.length.saturating_sub(data.len()), data)
    }

    /// The address of byte `start`, behind which there are `length` bytes.
    pub(crate) fn inside(&self, start: usize, length: usize) -> Result<u64, Error> {
        match start.checked_add(length) {
            Some(end) if end <= self.length => Ok(self.address + start as u64),
            end => Err(Error::Range { start, end: end.unwrap_or(usize::MAX), length: self.length }),
        }
    }

    /// The address, for kernels that read or write blocks there.
    pub(crate) fn aligned(&self) -> Result<u64, Error> {
        if self.address.is_multiple_of(MAX_BLOCK as u64) {
            return Ok(self.address);
        }
        Err(Error::Alignment { start: self.address })
    }

    /// Checks that kernels of `device` can reach it.
    pub(crate) fn require_device(&self, device: &Device) -> Result<(), Error> {
        device.require(self.device(), "buffer")
    }
}

impl<'a> DeviceSliceMut<'a> {
    /// As [`DeviceSlice::from_raw`], to write.
    ///
    /// # Safety
    /// As there, and nothing else reads it either.
    #[must_use]
    pub unsafe fn from_raw(device: &'a Device, address: u64, length: usize) -> Self {
        Self { device, address, length, memory: PhantomData }
    }

    /// The same, to read.
    #[must_use]
    pub fn as_slice(&self) -> DeviceSlice<'_> {
        let Self { device, address, length, .. } = *self;
        DeviceSlice { device, address, length, memory: PhantomData }
    }

    /// Its first `length` bytes, and all behind them.
    ///
    /// # Errors
    /// [`Error::Range`] where it has less.
    pub fn split_at(self, length: usize) -> Result<(Self, Self), Error> {
        let Self { device, address, length: all, memory } = self;
        let behind = self.as_slice().inside(length, all.saturating_sub(length))?;
        let rest = Self { device, address: behind, length: all - length, memory };
        Ok((Self { device, address, length, memory }, rest))
    }

    /// Sets all of it to zero, after all launches so far.
    ///
    /// # Errors
    /// Driver errors.
    pub fn clear(&mut self) -> Result<(), Error> {
        // SAFETY: who made the slice vouches that the memory is there, and nobody else has it.
        unsafe { self.device.driver().clear(self.address, self.length) }
    }

    /// Copies from host memory, to byte `start` and on, after all launches so far.
    ///
    /// # Errors
    /// [`Error::Range`] where there is less; driver errors.
    pub fn write(&mut self, start: usize, data: &[u8]) -> Result<(), Error> {
        let address = self.as_slice().inside(start, data.len())?;
        // SAFETY: the range was just checked to lie in memory that is there.
        unsafe { self.device.driver().write(address, data) }
    }
}

/// Memory of a device that a kernel reads and writes: in place, or from one part to another, as `InOutBuf`
/// is on the host. Batches alone take parts that are not equally long.
///
/// It is made of `&mut DeviceSliceMut` or of `(&DeviceSlice, &mut DeviceSliceMut)`, as which calls take it.
#[derive(Debug)]
pub struct DeviceInOut<'a> {
    input: DeviceSlice<'a>,
    output: DeviceSlice<'a>,
    /// The output is written.
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> From<&'a mut DeviceSliceMut<'_>> for DeviceInOut<'a> {
    fn from(data: &'a mut DeviceSliceMut<'_>) -> Self {
        let data = data.as_slice();
        Self { input: data.clone(), output: data, memory: PhantomData }
    }
}

impl<'a> From<(&'a DeviceSlice<'_>, &'a mut DeviceSliceMut<'_>)> for DeviceInOut<'a> {
    fn from((input, output): (&'a DeviceSlice<'_>, &'a mut DeviceSliceMut<'_>)) -> Self {
        Self { input: input.clone(), output: output.as_slice(), memory: PhantomData }
    }
}

impl<'a> From<&'a mut (DeviceSlice<'_>, DeviceSliceMut<'_>)> for DeviceInOut<'a> {
    fn from((input, output): &'a mut (DeviceSlice<'_>, DeviceSliceMut<'_>)) -> Self {
        (&*input, output).into()
    }
}

impl DeviceInOut<'_> {
    /// Bytes of the input.
    #[must_use]
    pub fn len(&self) -> usize {
        self.input.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.input.is_empty()
    }

    /// Whether what is read is overwritten.
    pub(crate) fn is_in_place(&self) -> bool {
        let (input, output) = self.ends();
        input == output
    }

    /// What is read, as long as it was not overwritten.
    pub(crate) fn input(&self) -> &DeviceSlice<'_> {
        &self.input
    }

    /// What was written.
    pub(crate) fn output(&self) -> &DeviceSlice<'_> {
        &self.output
    }

    /// The addresses of input and output.
    pub(crate) fn ends(&self) -> (u64, u64) {
        (self.input.address(), self.output.address())
    }

    /// For a shorter time.
    pub(crate) fn reborrow(&mut self) -> DeviceInOut<'_> {
        DeviceInOut { input: self.input.clone(), output: self.output.clone(), memory: PhantomData }
    }

    /// Checks that kernels of `device` can run over it: all is there, and equally long.
    pub(crate) fn require_device(&self, device: &Device) -> Result<(), Error> {
        let (input, output) = (self.input.len(), self.output.len());
        if input != output {
            return Err(Error::Data(lanecrypt_core::Error::OutputLength { input, output }));
        }
        self.input.require_device(device)?;
        self.output.require_device(device)
    }
}
