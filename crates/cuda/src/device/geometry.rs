//! The shape of a launch: how many threads for how many blocks, on the device at hand.

use std::sync::atomic::{AtomicU64, Ordering};

use lanecrypt_kernels::{Kernel, Unit};

use crate::{
    Error,
    device::driver::{Driver, LoadedKernel, Shape},
};

/// How a kernel is launched, as far as that is a choice.
///
/// Every value is safe: launches take of it what the kernel allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads of a thread block: whole groups of the kernel's, from one up to as many as it was built
    /// for.
    pub threads: u32,
    /// Thread blocks for every multiprocessor, at most; one at least, and no more than there is work for.
    pub blocks_per_multiprocessor: u32,
}

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
/// The same where it shares something else, such as round keys.
const SHARING_THREADS: u64 = 128;
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
        let resident =
            driver.properties().multiprocessors * driver.resident_blocks(loaded, full)?;
        Ok(Self { kernel: loaded, resident })
    }
}

impl Launch {
    /// The launch of `kernel` for `blocks` blocks: as `wanted`, else with as many thread blocks as the
    /// device holds at once.
    pub(crate) fn new(
        driver: &dyn Driver,
        (kernel, ready): (&Kernel, Ready),
        blocks: u64,
        wanted: Option<Geometry>,
    ) -> Self {
        let work = Groups::of(kernel, blocks);
        let multiprocessors = driver.properties().multiprocessors;
        let (threads, grid) = match wanted {
            Some(wanted) => work.shaped_as(wanted, multiprocessors),
            None => work.shaped(multiprocessors, ready.resident),
        };
        let shape = Shape { grid, threads, shared_bytes: kernel.shared_bytes() };
        let (unit, parameter_bytes) = (kernel.unit(), kernel.parameter_bytes());
        Self { kernel: ready.kernel, shape, unit, parameter_bytes }
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

/// The most thread blocks of a launch.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// The work of a launch, as threads and how they come together.
#[derive(Clone, Copy)]
struct Groups {
    /// Threads that have work.
    threads: u64,
    /// Threads that are in one thread block at least, of which every thread block has a multiple.
    smallest: u64,
    /// The fewest threads of a thread block that are worth it.
    fewest: u64,
    /// The most threads of a thread block.
    largest: u64,
}

impl Groups {
    fn of(kernel: &Kernel, blocks: u64) -> Self {
        let unit = kernel.unit();
        let groups = blocks.div_ceil(u64::from(unit.blocks)) + u64::from(unit.aligned);
        let smallest = u64::from(unit.threads).max(WARP);
        // Threads fill shared memory before they work: few of them take long for it, even where the
        // others have no work afterwards.
        let fewest = match (kernel.shared_bytes(), unit.threads) {
            (0, _) => smallest,
            (_, 1) => TABLE_THREADS.next_multiple_of(smallest),
            _ => SHARING_THREADS.next_multiple_of(smallest),
        };
        let largest = u64::from(kernel.threads()).max(smallest);
        Self { threads: groups * u64::from(unit.threads), smallest, fewest, largest }
    }

    /// Threads and thread blocks where none are wanted, on a device with this number of multiprocessors,
    /// which hold `resident` full thread blocks at once: no more threads than there is work for, in
    /// thread blocks that are as small as all multiprocessors having some allows, and no more of them
    /// than run at once. (Where thread blocks are smaller for want of work, fewer of them are wanted than
    /// there are multiprocessors.)
    fn shaped(self, multiprocessors: u32, resident: u32) -> (u32, u32) {
        let threads = self
            .threads
            .div_ceil(u64::from(multiprocessors))
            .next_multiple_of(self.smallest)
            .clamp(self.fewest.min(self.largest), self.largest);
        let grid = self.threads.div_ceil(threads).min(u64::from(resident.max(1)));
        (threads as u32, grid as u32)
    }

    /// Threads and thread blocks as `wanted`, as far as the kernel allows and there is work.
    fn shaped_as(self, wanted: Geometry, multiprocessors: u32) -> (u32, u32) {
        let whole = u64::from(wanted.threads) / self.smallest * self.smallest;
        let threads = whole.clamp(self.smallest, self.largest);
        let most = u64::from(wanted.blocks_per_multiprocessor) * u64::from(multiprocessors);
        let grid = self.threads.div_ceil(threads).min(most).clamp(1, MOST_BLOCKS);
        (threads as u32, grid as u32)
    }
}

/// The geometry that somebody who measures wants, if any. Whoever shapes a launch reads it once.
#[derive(Debug, Default)]
pub(crate) struct Wanted(AtomicU64);

impl Wanted {
    pub(crate) fn set(&self, geometry: Option<Geometry>) {
        // Nobody wants no threads: that stands for nothing.
        let packed = geometry.map_or(0, |Geometry { threads, blocks_per_multiprocessor }| {
            u64::from(threads.max(1)) << 32 | u64::from(blocks_per_multiprocessor)
        });
        self.0.store(packed, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<Geometry> {
        let packed = self.0.load(Ordering::Relaxed);
        let (threads, blocks_per_multiprocessor) = ((packed >> 32) as u32, packed as u32);
        (packed != 0).then_some(Geometry { threads, blocks_per_multiprocessor })
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::{Program, Task, programs};

    use super::*;

    fn kernel(program: &'static Program, task: Task) -> &'static Kernel {
        program.kernel(task).expect("it is there")
    }

    #[test]
    fn shapes_have_work_for_every_thread_block_and_room_for_every_group() {
        let thread = kernel(&programs::AES_TABLE_GLOBAL, Task::EcbEncrypt);
        let shared = kernel(&programs::AES_TABLE_SHARED, Task::EcbEncrypt);
        let of = |kernel, blocks, resident| {
            let (threads, grid) = Groups::of(kernel, blocks).shaped(132, resident);
            (grid, threads)
        };
        assert_eq!(of(thread, 1, 132), (1, 32));
        assert_eq!(of(thread, 33, 132), (2, 32));
        assert_eq!(of(thread, 132 * 32, 132), (132, 32));
        assert_eq!(of(thread, 132 * 32 + 1, 132), (67, 64), "two warps each");
        assert_eq!(of(shared, 132 * 1024, 132), (132, 1024));
        assert_eq!(of(shared, 1 << 40, 132), (132, 1024));
        assert_eq!(of(thread, 1025, 0), (1, 32), "a thread block at least");
        assert_eq!(of(shared, 257, 132), (2, 256), "enough to fill tables");

        // A thread block of its own for every 1,024 aligned counters, and one for where data
        // starts in between.
        let ctr = kernel(&programs::AES_CONFLICT_FREE_4, Task::Ctr);
        assert_eq!(of(ctr, 1, 132), (2, 1024));
        assert_eq!(of(ctr, 1025, 132), (3, 1024));

        let bitslice = kernel(&programs::AES_BITSLICE, Task::EcbEncrypt);
        assert_eq!(of(bitslice, 256, 132), (1, 128), "enough to make round keys");
        assert_eq!(of(bitslice, 1025, 132), (2, 128));
        assert_eq!(of(bitslice, 1 << 30, 132), (132, 512));
    }

    #[test]
    fn whatever_is_wanted_is_launched_as_the_kernel_allows() {
        let shared = kernel(&programs::AES_TABLE_SHARED, Task::EcbEncrypt);
        let ctr = kernel(&programs::AES_CONFLICT_FREE_4, Task::Ctr);
        let of = |kernel, blocks, threads, blocks_per_multiprocessor| {
            let wanted = Geometry { threads, blocks_per_multiprocessor };
            let (threads, grid) = Groups::of(kernel, blocks).shaped_as(wanted, 132);
            (grid, threads)
        };
        assert_eq!(of(shared, 1 << 40, 256, 2), (264, 256));
        assert_eq!(of(shared, 257, 256, 2), (2, 256), "no more than there is work for");
        assert_eq!(of(shared, 1 << 40, 0, 0), (1, 32), "a warp and a thread block at least");
        assert_eq!(of(shared, 1 << 40, 65, 1), (132, 64), "whole warps");
        assert_eq!(of(shared, 1 << 40, u32::MAX, 1), (132, 1024), "no more than it was built for");
        assert_eq!(of(shared, 1 << 60, 32, u32::MAX), (i32::MAX as u32, 32), "a grid's limit");
        assert_eq!(of(ctr, 1 << 40, 96, 1), (132, 1024), "a group is a whole thread block");
    }

    #[test]
    fn what_is_wanted_is_kept_as_it_is() {
        let wanted = Wanted::default();
        assert_eq!(wanted.get(), None);
        let of = |threads| Geometry { threads, blocks_per_multiprocessor: 3 };
        for (set, expected) in
            [(Some(of(64)), Some(of(64))), (Some(of(0)), Some(of(1))), (None, None)]
        {
            wanted.set(set);
            assert_eq!(wanted.get(), expected);
        }
    }
}
