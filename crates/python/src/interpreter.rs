//! The interpreter's lock, and what runs without it.
//!
//! Whoever waits for a GPU must not hold it: what is waited for may come after a function of Python's that a stream
//! calls on the host, and that wants the lock.

use pyo3::Python;

use crate::{ffi::is_known_to_python, threads::with_threads};

/// Bytes from which on the interpreter is released during a call: shorter ones take a microsecond or two.
pub(crate) const RELEASED_FROM: usize = 8 << 10;

/// Runs `work` over `bytes` bytes, without the interpreter's lock if that takes longer than taking the
/// lock again.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> T {
    if bytes < RELEASED_FROM { work() } else { py.detach(|| with_threads(work)) }
}

/// What [`detached`] is told of a call over `bytes` bytes: where it `waits` for a GPU the lock is always released.
pub(crate) fn weight(waits: bool, bytes: usize) -> usize {
    if waits { usize::MAX } else { bytes }
}

/// Runs `work` without the interpreter's lock, whether this thread has it or not: for destructors, which are not told.
///
/// A thread of Python's that has released the lock takes it for a moment. While the interpreter ends the lock is kept,
/// as no other thread gets it any more.
pub(crate) fn detached_if_attached(work: impl FnOnce() + Send) {
    let mut work = Some(work);
    if is_known_to_python() {
        Python::try_attach(|py| py.detach(|| run_once(&mut work)));
    }
    run_once(&mut work);
}

fn run_once(work: &mut Option<impl FnOnce()>) {
    if let Some(work) = work.take() {
        work();
    }
}
