//! Threads for the pieces of long requests, which run nothing else.
//!
//! A request holds its sectors while it waits for its pieces. On rayon's global threads it would wait for
//! whatever else runs there: a worker that waits takes other work meanwhile, and that may be a request for
//! the same sectors, which waits for the first one for ever. So the pieces have threads of their own, and
//! a request on a rayon worker runs its pieces itself.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads, made when they are first wanted, so that a process can fork after it has opened a disk;
/// `None` where a request runs all its pieces on its own thread.
pub(crate) fn for_pieces() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let is_worker = rayon::current_thread_index().is_some();
    let make = || {
        let name = |number| format!("luks-{number}");
        ThreadPoolBuilder::new().thread_name(name).build().ok()
    };
    let pool = if is_worker { None } else { POOL.get_or_init(make).as_ref() };
    pool.filter(|pool| pool.current_num_threads() >= 2)
}
