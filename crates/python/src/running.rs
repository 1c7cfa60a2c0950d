//! Long calls: Python's signals and the caller's progress function are served while others work.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use pyo3::{Py, PyAny, PyErr, PyResult, Python, exceptions::PyException};

use crate::{
    errors::{IntoPython, OrRaise, os_error},
    threads::with_threads,
};

/// How often signals and progress are looked at.
const TICK: Duration = Duration::from_millis(100);

/// How far a call is, and whether it should end.
#[derive(Default)]
pub(crate) struct Run {
    done: AtomicU64,
    cancelled: AtomicBool,
}

impl Run {
    /// Counts more bytes as done.
    pub(crate) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// Lets Python handle signals, and tells the caller how far this is.
    fn report(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> Result<(), Raised> {
        py.check_signals().map_err(Raised::BySignal)?;
        match progress {
            Some(progress) => {
                let told = progress.call1(py, (self.done.load(Relaxed),));
                told.map(drop).map_err(Raised::ByProgress)
            }
            None => Ok(()),
        }
    }
}

/// An exception that came while others worked.
enum Raised {
    /// Of a signal's handler, as `KeyboardInterrupt`.
    BySignal(PyErr),
    ByProgress(PyErr),
}

impl Raised {
    fn error(self) -> PyErr {
        match self {
            Self::BySignal(error) | Self::ByProgress(error) => error,
        }
    }

    /// Raises it after the work was complete, but for an exception of `progress`: who gets one takes the work for
    /// cancelled.
    fn after_the_end(self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        match self {
            Self::ByProgress(error) if error.is_instance_of::<PyException>(py) => {
                error.write_unraisable(py, progress.map(|progress| progress.bind(py)));
                Ok(())
            }
            raised => Err(raised.error()),
        }
    }
}

/// Runs `work` on a thread of its own while this one waits, without the interpreter's lock. `progress` is
/// called on this thread, some ten times a second and at the end, with the bytes done so far. An exception
/// of it, or `KeyboardInterrupt`, cancels the work and is raised once that has ended. Work that is complete
/// cannot be cancelled: it counts, and an exception of `progress` is told as one that is not raised.
///
/// # Errors
/// Those of the work, and of `progress`.
pub(crate) fn run<T: Send, E: IntoPython + Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Run) -> Result<T, E> + Send,
) -> PyResult<T> {
    let run = Run::default();
    match py.detach(|| beside(&run, progress, work))? {
        (Ok(result), raised) => {
            let raised = raised.or_else(|| run.report(py, progress).err());
            raised.map_or(Ok(()), |raised| raised.after_the_end(py, progress))?;
            Ok(result)
        }
        (Err(_), Some(raised)) => Err(raised.error()),
        (Err(error), None) => Err(error).or_raise(),
    }
}

/// Runs `work` that nothing else can end, such as the reading of a pipe, on a thread of its own while this one serves
/// signals. An exception of these, as `KeyboardInterrupt`, is raised at once: the thread is left behind, and what it
/// gives is dropped.
///
/// # Errors
/// What signals raise; `OSError` where there is no thread to be had.
pub(crate) fn left_behind<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (ended, end) = channel::<()>();
    let worker = thread::Builder::new().spawn(move || {
        let _at_the_end = ended; // dropped, also by a panic
        work()
    });
    let worker = worker.map_err(|error| os_error("start a thread", &error))?;
    py.detach(move || {
        let run = Run::default();
        while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            Python::attach(|py| run.report(py, None)).map_err(Raised::error)?;
        }
        Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

type Outcome<T, E> = (Result<T, E>, Option<Raised>);

fn beside<T: Send, E: Send>(
    run: &Run,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Run) -> Result<T, E> + Send,
) -> PyResult<Outcome<T, E>> {
    thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            let _at_the_end = ended; // dropped, also by a panic
            with_threads(|| work(run))
        });
        let worker = worker.map_err(|error| os_error("start a thread", &error))?;
        let mut raised = None;
        while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none() {
                raised = Python::attach(|py| run.report(py, progress)).err();
                run.cancelled.store(raised.is_some(), Relaxed);
            }
        }
        let outcome = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((outcome, raised))
    })
}
