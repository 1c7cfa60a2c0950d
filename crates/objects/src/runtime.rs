//! The threads that talk to stores: one pool per process, and callers that wait until they cancel.

use std::{
    pin::pin,
    process,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lanecrypt_tink::Error as TinkError;
use tokio::{
    runtime::{Builder, Handle, Runtime},
    time::timeout,
};

use crate::Error;

/// A flag that is never set.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);
/// How often a caller's flag is looked at while a store does not answer.
const TICK: Duration = Duration::from_millis(100);

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

/// What a future gives; the caller's thread waits for it until `cancel` is set, and drops it then. Nothing is begun
/// where it is set already.
pub(crate) fn wait<F: Future>(future: F, cancel: &AtomicBool) -> Result<F::Output, Error> {
    let runtime = runtime()?;
    if Handle::try_current().is_ok() {
        return Err(Error::WithinRuntime);
    }
    runtime.block_on(async {
        let mut future = pin!(future);
        while !cancel.load(Ordering::SeqCst) {
            if let Ok(output) = timeout(TICK, future.as_mut()).await {
                return Ok(output);
            }
        }
        Err(Error::Tink(TinkError::Cancelled))
    })
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        thread,
    };

    use super::*;

    #[test]
    fn nobody_waits_within_a_runtime() {
        assert_eq!(wait(async { 5 }, &NEVER).unwrap(), 5);
        let within = runtime().unwrap().block_on(async { wait(async { 5 }, &NEVER) });
        assert!(matches!(within, Err(Error::WithinRuntime)));
    }

    #[test]
    fn who_cancels_does_not_wait() {
        let cancel = AtomicBool::new(false);
        let is_cancelled = |waited| matches!(waited, Err(Error::Tink(TinkError::Cancelled)));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(3 * TICK / 2);
                cancel.store(true, Ordering::SeqCst);
            });
            assert!(is_cancelled(wait(pending::<()>(), &cancel)));
        });
        assert!(is_cancelled(wait(ready(()), &cancel)));
    }
}
