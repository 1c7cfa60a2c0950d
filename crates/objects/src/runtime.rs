//! The threads that talk to stores: one pool per process, and callers that wait.

use std::{process, sync::OnceLock};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::Error;

/// What a process has once it has used a store, and the process that has it.
static RUNTIME: OnceLock<(u32, Runtime)> = OnceLock::new();

/// The threads of this process. They are few, since they wait most of the time; what costs time is
/// done by those who call.
pub(crate) fn runtime() -> Result<&'static Runtime, Error> {
    let (process, runtime) = if let Some(started) = RUNTIME.get() {
        started
    } else {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("lanecrypt-objects")
            .enable_all()
            .build()
            .map_err(Error::of_io("start threads for stores"))?;
        RUNTIME.get_or_init(|| (process::id(), runtime))
    };
    if *process == process::id() { Ok(runtime) } else { Err(Error::Forked) }
}

/// What a future gives; the caller's thread waits for it.
pub(crate) fn wait<F: Future>(future: F) -> Result<F::Output, Error> {
    let runtime = runtime()?;
    if Handle::try_current().is_ok() {
        return Err(Error::WithinRuntime);
    }
    Ok(runtime.block_on(future))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_within_a_runtime() {
        assert_eq!(wait(async { 5 }).unwrap(), 5);
        let within = runtime().unwrap().block_on(async { wait(async { 5 }) });
        assert!(matches!(within, Err(Error::WithinRuntime)));
    }
}
