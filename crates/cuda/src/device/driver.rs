//! What the layer asks of a device: implemented by the CUDA driver and by the host build.

use std::{fmt::Debug, ops::Range, ptr::NonNull, time::Duration};

#[cfg(feature = "listings")]
use lanecrypt_core::Unavailable;
use lanecrypt_kernels::Kernel;

use crate::{Error, Properties};

/// A kernel that is loaded; meaningful to the driver that gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadedKernel(pub(crate) usize);

/// A stream; meaningful to the driver that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamHandle(pub(crate) usize);

impl StreamHandle {
    /// The one that is always there: CUDA's legacy default stream.
    pub(crate) const DEFAULT: Self = Self(0);
}

/// A point in a stream that can be waited for; meaningful to the driver that gave it.
#[derive(Debug)]
pub(crate) struct Mark(pub(crate) usize);

/// The shape of a launch. What `kernels/host/shim.hpp` calls `host::Shape` has this layout.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Shape {
    /// Thread blocks.
    pub(crate) grid: u32,
    /// Threads of a thread block.
    pub(crate) threads: u32,
    /// Bytes of dynamic shared memory.
    pub(crate) shared_bytes: u32,
}

/// What a kernel takes of the device that it is loaded on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of static shared memory of a thread block.
    pub static_shared_bytes: u32,
    /// Bytes of local memory of a thread: its stack and what was spilled.
    pub local_bytes: u32,
    /// Bytes of constant memory.
    pub constant_bytes: u32,
}

/// A device under one context. What names no stream runs on the default one. That one and those of
/// [`new_stream`](Self::new_stream) are in order with each other, but not the latter among themselves.
pub(crate) trait Driver: Debug + Send + Sync {
    /// Fixed properties.
    fn properties(&self) -> &Properties;

    /// Device memory, uninitialised; the address is a multiple of 16.
    fn allocate(&self, bytes: usize) -> Result<u64, Error>;

    /// Bytes of device memory that are free now.
    fn free_bytes(&self) -> Result<usize, Error>;

    /// Returns memory to the device.
    ///
    /// # Safety
    /// `address` is from [`allocate`](Self::allocate) of this driver and not used again.
    unsafe fn free(&self, address: u64);

    /// Sets memory to zero.
    ///
    /// # Safety
    /// The range lies in one allocation of this driver.
    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error>;

    /// Copies to the device.
    ///
    /// # Safety
    /// As [`clear`](Self::clear).
    unsafe fn write(&self, address: u64, data: &[u8]) -> Result<(), Error>;

    /// Copies from the device, after all launches so far.
    ///
    /// # Safety
    /// As [`clear`](Self::clear).
    unsafe fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Error>;

    /// Starts to set memory to zero, on a stream.
    ///
    /// # Safety
    /// As [`clear`](Self::clear), and `stream` is live.
    unsafe fn start_clear(
        &self,
        stream: StreamHandle,
        address: u64,
        bytes: usize,
    ) -> Result<(), Error>;

    /// Starts to copy host memory to the device, on a stream.
    ///
    /// # Safety
    /// As [`clear`](Self::clear). Until `stream` has passed the copy, `data` is not written to, and stays
    /// where it is.
    unsafe fn start_write(
        &self,
        stream: StreamHandle,
        address: u64,
        data: NonNull<[u8]>,
    ) -> Result<(), Error>;

    /// Starts to copy from the device to host memory, on a stream.
    ///
    /// # Safety
    /// As [`clear`](Self::clear). Until `stream` has passed the copy, `data` is not used, and stays
    /// where it is.
    unsafe fn start_read(
        &self,
        stream: StreamHandle,
        address: u64,
        data: NonNull<[u8]>,
    ) -> Result<(), Error>;

    /// Host memory, all zeros, that copies to and from this device pass fastest; `bytes` is not 0.
    fn allocate_host(&self, bytes: usize) -> Result<NonNull<u8>, Error>;

    /// The address by which kernels read and write memory of [`allocate_host`](Self::allocate_host), or of a
    /// [`pinned_range`](Self::pinned_range) that starts there, where they can.
    fn address_of_host(&self, memory: NonNull<u8>) -> Option<u64> {
        let _ = memory;
        None
    }

    /// The range of pinned memory, which is not ours, that has `length` bytes from `start` on: then copies pass it
    /// fastest.
    fn pinned_range(&self, start: *const u8, length: usize) -> Option<Range<usize>> {
        let _ = (start, length);
        None
    }

    /// Returns host memory.
    ///
    /// # Safety
    /// `memory` is from [`allocate_host`](Self::allocate_host) of this driver, with as many bytes,
    /// and not used again.
    unsafe fn free_host(&self, memory: NonNull<u8>, bytes: usize);

    /// Loads a kernel, without the others of its module, and allows it its dynamic shared memory.
    fn load(&self, kernel: &Kernel) -> Result<LoadedKernel, Error>;

    /// Loads a kernel of a listing, and allows it its dynamic shared memory. The host build has it in its library and
    /// does not read the text.
    ///
    /// # Safety
    /// `ptx` is PTX of a kernel of this name.
    #[cfg(feature = "listings")]
    unsafe fn load_listing(
        &self,
        name: &str,
        ptx: &str,
        shared_bytes: u32,
    ) -> Result<LoadedKernel, Error> {
        let _ = (name, ptx, shared_bytes);
        Err(Unavailable::because("listings do not run on this device").into())
    }

    /// What a loaded kernel takes, where the driver knows.
    fn resources(&self, kernel: LoadedKernel) -> Result<Option<Resources>, Error>;

    /// Thread blocks of this shape that one multiprocessor holds at once.
    fn resident_blocks(&self, kernel: LoadedKernel, shape: Shape) -> Result<u32, Error>;

    /// A new stream.
    fn new_stream(&self) -> Result<StreamHandle, Error>;

    /// Destroys a stream after all that is queued on it.
    ///
    /// # Safety
    /// It is from [`new_stream`](Self::new_stream) of this driver and not used again.
    unsafe fn free_stream(&self, stream: StreamHandle);

    /// Whether a stream that somebody else made is of this driver's context.
    ///
    /// # Safety
    /// It is a live stream of some context.
    unsafe fn is_of_context(&self, stream: StreamHandle) -> Result<bool, Error>;

    /// A mark that is behind nothing yet.
    fn new_mark(&self) -> Result<Mark, Error>;

    /// Puts a mark behind all that is queued on a stream now.
    fn record(&self, mark: &Mark, stream: StreamHandle) -> Result<(), Error>;

    /// Waits until a stream has passed the mark, and reports what went wrong before it.
    fn wait(&self, mark: &Mark) -> Result<(), Error>;

    /// Lets what is queued on `stream` from now on wait for the mark.
    fn wait_on_device(&self, stream: StreamHandle, mark: &Mark) -> Result<(), Error>;

    /// Whether a stream has passed the mark.
    fn is_complete(&self, mark: &Mark) -> Result<bool, Error>;

    /// Forgets a mark.
    fn free_mark(&self, mark: Mark);

    /// Starts a kernel.
    ///
    /// # Safety
    /// `parameters` is the kernel's parameter block, and every address in it is valid for what the
    /// kernel does with it. `stream` is live.
    unsafe fn launch(
        &self,
        stream: StreamHandle,
        kernel: LoadedKernel,
        shape: Shape,
        parameters: &[u64],
    ) -> Result<(), Error>;

    /// Waits until everything on a stream has run, and reports what went wrong in it.
    fn synchronize(&self, stream: StreamHandle) -> Result<(), Error>;

    /// Waits until everything on the device has run, whoever of this process queued it.
    fn synchronize_all(&self) -> Result<(), Error>;

    /// The device's own time for what `work` starts.
    fn time(&self, work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Duration, Error>;
}
