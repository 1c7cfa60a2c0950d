//! The shape of a launch: how many threads for so many blocks, on the device at hand.

use std::sync::atomic::{AtomicU32, Ordering};

use lanecrypt_kernels::{Kernel, Unit};

use crate::{
    Error,
    driver::{Driver, LoadedKernel, Shape},
};

/// A kernel that is loaded, and the shape of one launch of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: LoadedKernel,
    pub(crate) shape: Shape,
    unit: Unit,
    parameter_bytes: usize,
}

/// Threads that a thread block has at least where each of them looks up in shared tables.
const TABLE_THREADS: u64 = 256;
/// Threads of a warp.
const WARP: u64 = 32;

/// A kernel that a device has loaded, and how many full thread blocks of it the device holds at
/// once: what is asked of the driver once, not at every launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) kernel: LoadedKernel,
    resident: u32,
}

impl Ready {
    /// Asks the driver.
    pub(crate) fn new(
        driver: &dyn Driver,
        kernel: &Kernel,
        loaded: LoadedKernel,
    ) -> Result<Self, Error> {
        let full =
            Shape { grid: 1, threads: kernel.threads(), shared_bytes: kernel.shared_bytes() };
        Ok(Self { kernel: loaded, resident: resident(driver, loaded, full)? })
    }
}

/// Thread blocks that a device holds at once.
fn resident(driver: &dyn Driver, kernel: LoadedKernel, shape: Shape) -> Result<u32, Error> {
    Ok(driver.properties().multiprocessors * driver.resident_blocks(kernel, shape)?)
}

impl Launch {
    /// The launch of `kernel` for `blocks` blocks, with as many thread blocks as the device holds at
    /// once, of at most `limit` threads.
    pub(crate) fn new(
        driver: &dyn Driver,
        (kernel, ready): (&Kernel, Ready),
        blocks: u64,
        limit: &ThreadLimit,
    ) -> Result<Self, Error> {
        let limit = limit.get();
        let multiprocessors = driver.properties().multiprocessors;
        let shape = |resident| shape(kernel, blocks, (multiprocessors, resident), limit);
        // Where thread blocks are smaller for want of work, fewer of them are wanted than there are
        // multiprocessors.
        let resident = if limit < kernel.threads() {
            resident(driver, ready.kernel, shape(1))?
        } else {
            ready.resident
        };
        let shape = shape(resident);
        let (unit, parameter_bytes) = (kernel.unit(), kernel.parameter_bytes());
        Ok(Self { kernel: ready.kernel, shape, unit, parameter_bytes })
    }

    /// Blocks of the contiguous range of `blocks` that a warp has, in modes that give it one: `Range`
    /// of `kernels/common/parameters.cuh` computes the same. Where a group is more than a warp, its warps
    /// take runs of `unit.blocks` from a queue, each of which is a range by itself.
    pub(crate) fn range_blocks(self, blocks: u64) -> u64 {
        let (run, warps) = (u64::from(self.unit.blocks), self.threads() as u64 / WARP);
        if u64::from(self.unit.threads) > WARP {
            return run;
        }
        blocks.div_ceil(run).div_ceil(warps) * run
    }

    /// Bytes of the kernel's parameter block.
    pub(crate) fn parameter_bytes(self) -> usize {
        self.parameter_bytes
    }

    /// Threads of all its thread blocks.
    pub(crate) fn threads(self) -> usize {
        self.shape.grid as usize * self.shape.threads as usize
    }
}

/// The launch for `blocks` blocks on a device with so many multiprocessors, which hold `resident` full
/// thread blocks at once: no more threads than there is work for, in thread blocks that are as small
/// as all multiprocessors having some allows, at most `limit`, and no more of them than run at once.
fn shape(
    kernel: &Kernel,
    blocks: u64,
    (multiprocessors, resident): (u32, u32),
    limit: u32,
) -> Shape {
    let unit = kernel.unit();
    let groups = blocks.div_ceil(u64::from(unit.blocks)) + u64::from(unit.aligned);
    let threads_needed = groups * u64::from(unit.threads);
    let smallest = u64::from(unit.threads.max(32));
    // Threads that look up in shared memory fill its tables first: few of them take long for it.
    let looks_up = unit.threads == 1 && kernel.shared_bytes() > 0;
    let fewest = if looks_up { TABLE_THREADS.next_multiple_of(smallest) } else { smallest };
    let largest = u64::from(kernel.threads().min(limit)).max(smallest);
    let threads = threads_needed
        .div_ceil(u64::from(multiprocessors))
        .next_multiple_of(smallest)
        .clamp(fewest.min(largest), largest);
    let grid = threads_needed.div_ceil(threads).min(u64::from(resident.max(1)));
    Shape { grid: grid as u32, threads: threads as u32, shared_bytes: kernel.shared_bytes() }
}

/// The most threads of a thread block, where fewer are wanted than the kernel allows. Whoever
/// shapes a launch reads it once.
#[derive(Debug)]
pub(crate) struct ThreadLimit(AtomicU32);

impl ThreadLimit {
    pub(crate) fn none() -> Self {
        Self(AtomicU32::new(u32::MAX))
    }

    /// Whole warps of it.
    pub(crate) fn set(&self, threads: u32) {
        self.0.store(threads / 32 * 32, Ordering::Relaxed);
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::{Program, Task, programs};

    use super::*;

    #[test]
    fn shapes_have_work_for_every_thread_block_and_room_for_every_group() {
        let kernel = |program: &'static Program, task| program.kernel(task).expect("it is there");
        let thread = kernel(&programs::AES_TABLE_GLOBAL, Task::EcbEncrypt);
        let shared = kernel(&programs::AES_TABLE_SHARED, Task::EcbEncrypt);
        let of = |kernel: &Kernel, blocks, resident, limit| {
            let Shape { grid, threads, shared_bytes } =
                shape(kernel, blocks, (132, resident), limit);
            assert_eq!(shared_bytes, kernel.shared_bytes());
            (grid, threads)
        };
        assert_eq!(of(thread, 1, 132, u32::MAX), (1, 32));
        assert_eq!(of(thread, 33, 132, u32::MAX), (2, 32));
        assert_eq!(of(thread, 132 * 32, 132, u32::MAX), (132, 32));
        assert_eq!(of(thread, 132 * 32 + 1, 132, u32::MAX), (67, 64), "two warps each");
        assert_eq!(of(shared, 132 * 1024, 132, u32::MAX), (132, 1024));
        assert_eq!(of(shared, 1 << 40, 132, u32::MAX), (132, 1024));
        assert_eq!(of(shared, 1 << 40, 132, 256), (132, 256));
        assert_eq!(of(thread, 1025, 132, 0), (33, 32), "a warp at least");
        assert_eq!(of(thread, 1025, 0, 1024), (1, 32), "a thread block at least");
        assert_eq!(of(shared, 257, 132, u32::MAX), (2, 256), "enough to fill tables");
        assert_eq!(of(shared, 257, 132, 64), (5, 64));

        // A thread block of its own for every 1,024 aligned counters, and one for where data
        // starts in between; never fewer threads than such a group has.
        let ctr = kernel(&programs::AES_CONFLICT_FREE_4, Task::Ctr);
        assert_eq!(of(ctr, 1, 132, 32), (2, 1024));
        assert_eq!(of(ctr, 1025, 132, 1024), (3, 1024));

        let bitslice = kernel(&programs::AES_BITSLICE, Task::EcbEncrypt);
        assert_eq!(of(bitslice, 256, 132, u32::MAX), (1, 32));
        assert_eq!(of(bitslice, 257, 132, u32::MAX), (2, 32));
        assert_eq!(of(bitslice, 1 << 30, 132, u32::MAX), (132, 512));
    }

    #[test]
    fn limits_are_whole_warps() {
        let limit = ThreadLimit::none();
        assert_eq!(limit.get(), u32::MAX);
        for (set, expected) in [(0, 0), (33, 32), (768, 768)] {
            limit.set(set);
            assert_eq!(limit.get(), expected);
        }
    }
}
