//! Limits of what host memory takes on its way through a device.

use std::{
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::device::buffer::MAX_BLOCK;

/// The most threads where no other number is set: more did not copy faster.
const THREADS: usize = 16;
/// What [`ChunkLimit`] is where it was not set.
const CHUNK_BYTES: usize = 256 << 20;

/// What host memory may take on its way through a device, all calls together.
///
/// ```
/// use lanecrypt_cuda::{Device, Limits};
///
/// if let Ok(device) = Device::default() {
///     device.limit_host_memory(Limits { threads: 4, ..Limits::default() });
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of pinned memory, and as many of the device's beside it. A call that finds all of it in use
    /// waits for others to end. Where it is less than a piece has, one piece is taken; a message of a
    /// batch is never cut, with what the kernels need for it.
    pub pinned_bytes: usize,
    /// Threads that a call uses, its own among them; none is as one.
    pub threads: usize,
}

impl Default for Limits {
    /// 256 MiB, and as many threads as the machine runs at once, up to sixteen.
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS);
        Self { pinned_bytes: 256 << 20, threads }
    }
}

/// The most bytes of a piece of host data, where somebody wants fewer than are best.
#[derive(Debug)]
pub(crate) struct ChunkLimit(AtomicUsize);

impl Default for ChunkLimit {
    fn default() -> Self {
        Self(AtomicUsize::new(CHUNK_BYTES))
    }
}

impl ChunkLimit {
    /// Whole blocks of it, one at least.
    pub(crate) fn set(&self, bytes: usize) {
        self.0.store((bytes / MAX_BLOCK * MAX_BLOCK).max(MAX_BLOCK), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
