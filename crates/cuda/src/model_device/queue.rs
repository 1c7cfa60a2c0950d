//! What is queued on the streams of the model device, and in which order it runs.

use std::ptr::NonNull;

use crate::device::driver::{Shape, StreamHandle};

/// What is queued on a stream: it runs as late as it may.
pub(super) struct Queued {
    pub(super) stream: StreamHandle,
    /// Steps before it.
    pub(super) number: usize,
    pub(super) task: QueuedTask,
}

pub(super) enum QueuedTask {
    Kernel { name: &'static str, shape: Shape, parameters: Vec<u64> },
    Clear { address: u64, bytes: u64 },
    Write { address: u64, data: HostData },
    Read { address: u64, data: HostData },
}

/// Host memory of a copy that was started.
pub(super) struct HostData(pub(super) NonNull<[u8]>);

// SAFETY: who started the copy vouches for the memory until it is complete, in whatever thread.
unsafe impl Send for HostData {}

/// Where in the queue that stands which runs first, so that all that is due can run; `None` where nothing is. What is on the
/// default stream waits for all that was queued before it, and all that was queued after it waits for it, as with CUDA.
pub(super) fn next(queue: &[Queued], is_due: impl Fn(&Queued) -> bool) -> Option<usize> {
    let last = queue.iter().filter(|queued| is_due(queued)).map(|queued| queued.number).max()?;
    let on_default = queue
        .iter()
        .filter(|queued| queued.stream == StreamHandle::DEFAULT && queued.number < last);
    let before = on_default.map(|queued| queued.number).max();
    queue.iter().position(|queued| is_due(queued) || Some(queued.number) <= before)
}
