//! Threads of long calls: how many, also in processes that were forked.
//!
//! A fork leaves all threads behind but the one that forked, and rayon's own would be waited for in vain.
//! So a child of the process that imported the module has threads of its own.

use std::{
    process,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use pyo3::{PyResult, exceptions::PyValueError};
use rayon::ThreadPool;

/// Making more takes seconds.
const MOST: usize = 1024;

/// The number of threads that a caller asks for, if any.
///
/// # Errors
/// `ValueError` for 0, and for more than are of use.
pub(crate) fn accepted(threads: Option<usize>) -> PyResult<Option<usize>> {
    match threads {
        Some(count) if !(1..=MOST).contains(&count) => {
            Err(PyValueError::new_err(format!("threads is {count}; accepted is 1 to {MOST}")))
        }
        threads => Ok(threads),
    }
}

/// Runs work that may ask for rayon's threads, where there are such.
pub(crate) fn with_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static OWNER: OnceLock<u32> = OnceLock::new();
    let process = process::id();
    if *OWNER.get_or_init(|| process) == process {
        return work();
    }
    match pool_of(process) {
        Some(pool) => pool.install(work),
        None => work(), // no threads can be made: the error is that of the work
    }
}

/// The threads of a forked process.
fn pool_of(process: u32) -> Option<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = pool.as_ref().filter(|(owner, _)| *owner == process) {
        return Some(Arc::clone(pool));
    }
    let made = Arc::new(rayon::ThreadPoolBuilder::new().build().ok()?);
    // That of a parent has no threads here, and would wait for them when dropped.
    std::mem::forget(pool.replace((process, Arc::clone(&made))));
    Some(made)
}
