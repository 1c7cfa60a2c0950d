//! Kernels that are compiled while a program runs, such as those of a book's listings.

mod clock;

#[cfg(feature = "host-kernels")]
use std::path::Path;
use std::time::Duration;

#[cfg(feature = "host-kernels")]
use crate::device::host::Host;
use crate::{
    Device, DeviceBuffer, Error, Resources,
    device::driver::{LoadedKernel, Shape, StreamHandle},
};

pub use clock::Clock;

/// A kernel that is no part of this project's programs, with its launch: as many thread blocks as the device holds at
/// once.
#[derive(Debug)]
pub struct Listing {
    device: Device,
    kernel: LoadedKernel,
    shape: Shape,
}

/// Data that a listing works on, and what else it reads.
#[derive(Debug)]
pub struct Job<'a> {
    /// The data, or none, for a kernel that reads what [`table`](Self::table) has alone.
    pub input: Option<&'a DeviceBuffer>,
    /// What becomes of it.
    pub output: &'a mut DeviceBuffer,
    /// Blocks of 16 bytes.
    pub blocks: u64,
    /// What the kernel gets the address of, behind the number of blocks.
    pub table: &'a DeviceBuffer,
    /// What follows in the parameter block.
    pub words: &'a [u64],
    /// What it gets the address of at its end.
    pub keys: Option<&'a DeviceBuffer>,
}

impl Listing {
    /// A kernel of this text. `threads` are those of a thread block.
    ///
    /// # Safety
    /// `ptx` is PTX of a kernel that takes one parameter block: the addresses of input and output, the number of blocks,
    /// the address of a table, and then what [`Job::words`] and [`Job::keys`] are in each [`Job`] that it
    /// [runs](Self::run). It reads and writes that memory alone, and of input and output no more than these blocks.
    ///
    /// # Errors
    /// Driver errors, among them what its compiler says.
    pub unsafe fn of_ptx(
        device: &Device,
        name: &str,
        ptx: &str,
        (threads, shared_bytes): (u32, u32),
    ) -> Result<Self, Error> {
        let driver = device.driver();
        // SAFETY: as the caller vouches.
        let kernel = unsafe { driver.load_listing(name, ptx, shared_bytes) }?;
        let shape = Shape { grid: 1, threads, shared_bytes };
        let resident = driver.resident_blocks(kernel, shape)?.max(1);
        let grid = resident * device.properties().multiprocessors;
        Ok(Self { device: device.clone(), kernel, shape: Shape { grid, ..shape } })
    }

    /// A kernel compiled as C++ for this CPU, on a device of its own: for tests.
    ///
    /// # Safety
    /// The library has the host build of such a kernel, and of `kernels/host/shim.cpp`, and no other program.
    ///
    /// # Errors
    /// Where it cannot be opened or has no such kernel.
    #[cfg(feature = "host-kernels")]
    pub unsafe fn of_library(path: &Path, name: &str, launch: (u32, u32)) -> Result<Self, Error> {
        // SAFETY: as the caller vouches.
        let device = Device::new(Box::new(unsafe { Host::of_library(path) }?));
        // SAFETY: the same; the text is not read.
        unsafe { Self::of_ptx(&device, name, "", launch) }
    }

    /// The device that it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What it takes of the device, where the driver knows.
    ///
    /// # Errors
    /// Driver errors.
    pub fn resources(&self) -> Result<Option<Resources>, Error> {
        self.device.driver().resources(self.kernel)
    }

    /// Thread blocks of its launch.
    #[must_use]
    pub fn grid(&self) -> u32 {
        self.shape.grid
    }

    /// Runs it, and returns the device's own time.
    ///
    /// # Errors
    /// [`Error::Range`] where a buffer has fewer blocks; one of another device; driver errors, among them those of the
    /// kernel.
    pub fn run(&self, job: Job<'_>) -> Result<Duration, Error> {
        let Job { input, output, blocks, table, words, keys } = job;
        let bytes = usize::try_from(blocks).unwrap_or(usize::MAX).saturating_mul(16);
        let start = match input {
            Some(input) => input.slice(0..bytes)?.address(),
            None => 0,
        };
        let end = output.slice(0..bytes)?.address();
        for buffer in [table, &*output].into_iter().chain(input).chain(keys) {
            self.device.require(buffer.device(), "memory of a listing")?;
        }
        let address =
            |buffer: &DeviceBuffer| buffer.slice(0..buffer.len()).map(|all| all.address());
        let mut block = vec![start, end, blocks, address(table)?];
        block.extend(words);
        if let Some(keys) = keys {
            block.push(address(keys)?);
        }
        // What has blocks of the cipher is as long as some of them.
        block.resize(block.len().next_multiple_of(2), 0);
        let driver = self.device.driver();
        let took = driver.time(&mut || {
            // SAFETY: the block is the kernel's, as whoever made this value vouches, its buffers are of this device and
            // live until the kernel has run.
            unsafe { driver.launch(StreamHandle::DEFAULT, self.kernel, self.shape, &block) }
        })?;
        driver.synchronize(StreamHandle::DEFAULT)?;
        Ok(took)
    }
}
