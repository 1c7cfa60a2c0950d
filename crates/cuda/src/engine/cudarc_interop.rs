//! Streams and memory of the crate `cudarc`, as they are: nothing is copied, and no call waits.

use std::{fmt, sync::Arc};

use cudarc::driver::{CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice};

use crate::{Device, Engine, Error, Operation, Stream};

/// Memory of `cudarc` that a kernel reads and writes, as [`DeviceInOut`](crate::DeviceInOut) is of ours.
///
/// It is made of `&mut CudaViewMut` or of `(&CudaView, &mut CudaViewMut)`, as which
/// [`CudarcStream::run`] takes it.
pub struct CudarcInOut<'v, 'm> {
    /// Where it is another than the output.
    input: Option<&'v CudaView<'m, u8>>,
    output: &'v mut CudaViewMut<'m, u8>,
}

impl<'v, 'm> From<&'v mut CudaViewMut<'m, u8>> for CudarcInOut<'v, 'm> {
    fn from(output: &'v mut CudaViewMut<'m, u8>) -> Self {
        Self { input: None, output }
    }
}

impl<'v, 'm> From<(&'v CudaView<'m, u8>, &'v mut CudaViewMut<'m, u8>)> for CudarcInOut<'v, 'm> {
    fn from((input, output): (&'v CudaView<'m, u8>, &'v mut CudaViewMut<'m, u8>)) -> Self {
        Self { input: Some(input), output }
    }
}

impl fmt::Debug for CudarcInOut<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudarcInOut").field("bytes", &self.output.len()).finish_non_exhaustive()
    }
}

/// A stream of `cudarc` with what modes need beside the data.
///
/// cudarc remembers by events which stream uses what memory, so that its own copies and kernels on
/// other streams wait for what runs here, and the other way round; where that was disabled
/// (`CudaContext::disable_event_tracking`), who did so sees to it.
///
/// ```no_run
/// use lanecrypt_cuda::{CudarcStream, Device, Family, Operation, cudarc::driver::CudaContext};
///
/// fn encrypt(family: &Family, key: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
///     let device = Device::number(0)?;
///     let stream = CudarcStream::new(&device, CudaContext::new(0)?.new_stream()?)?;
///     let mut data = stream.cudarc().alloc_zeros::<u8>(1 << 20)?;
///     let engine = family.engine(&device, key)?;
///     stream.run(&engine, Operation::Ctr([0; 16].into()), &mut data.as_view_mut())?;
///     let encrypted = stream.cudarc().clone_dtoh(&data)?;
///     # drop(encrypted);
///     Ok(())
/// }
/// ```
pub struct CudarcStream {
    // Before the stream that it is of: fields are dropped in this order.
    stream: Stream,
    cudarc: Arc<CudaStream>,
}

impl CudarcStream {
    /// A stream of the context that `cudarc` has of `device`.
    ///
    /// # Errors
    /// [`Error::OtherContext`] for one of another; driver errors.
    pub fn new(device: &Device, cudarc: Arc<CudaStream>) -> Result<Self, Error> {
        // SAFETY: the stream lives as long as `cudarc`, which is dropped after it; no `Pending` is
        // made of it.
        let stream = unsafe { Stream::from_raw(device, cudarc.cu_stream().cast()) }?;
        Ok(Self { stream, cudarc })
    }

    /// The stream.
    #[must_use]
    pub fn cudarc(&self) -> &Arc<CudaStream> {
        &self.cudarc
    }

    /// Queues `operation` over memory of `cudarc`, in place or from one view to another.
    ///
    /// # Errors
    /// [`Error::Data`] for lengths, counters and IVs that the mode does not take and for unequal
    /// lengths; [`Error::OtherDevice`] for an engine or memory of another device; driver errors, after
    /// which a part of the work may run.
    pub fn run<'v, 'm: 'v>(
        &self,
        engine: &Engine,
        operation: Operation<'_>,
        data: impl Into<CudarcInOut<'v, 'm>>,
    ) -> Result<(), Error> {
        let CudarcInOut { input, output } = data.into();
        let length = output.len();
        self.require_context(output.stream())?;
        if let Some(input) = input {
            if input.len() != length {
                let (input, output) = (input.len(), length);
                return Err(Error::Data(lanecrypt_core::Error::OutputLength { input, output }));
            }
            self.require_context(input.stream())?;
        }
        let read = input.map(|input| input.device_ptr(&self.cudarc));
        let (to, _written) = output.device_ptr_mut(&self.cudarc);
        let from = read.as_ref().map_or(to, |(address, _guard)| *address);
        // SAFETY: both are live memory of so many bytes, of the context of the stream and of the
        // engine, which is of the stream's device as `queue_raw` checks; cudarc orders other uses
        // of them, and their freeing, after what is queued before the guards are dropped.
        unsafe { engine.queue_raw(&self.stream, operation, from, to, length) }
    }

    /// Checks that memory which belongs to `owner` is of this stream's context.
    fn require_context(&self, owner: &CudaStream) -> Result<(), Error> {
        let name = |stream: &CudaStream| format!("CUDA device {}", stream.context().ordinal());
        if owner.context().cu_ctx() == self.cudarc.context().cu_ctx() {
            return Ok(());
        }
        Err(Error::OtherDevice { what: "memory", given: name(owner), engine: name(&self.cudarc) })
    }
}

impl fmt::Debug for CudarcStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudarcStream").field("stream", &self.stream).finish_non_exhaustive()
    }
}
