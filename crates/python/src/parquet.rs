//! Parquet with encrypted columns.

mod keys;
mod open;
mod seal;

use std::{
    fs::File,
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use lanecrypt_parquet::{Error, InMemory};
use lanecrypt_tink::{Identity, Source, open_regular};
use pyo3::{
    Bound, PyAny, PyResult, Python,
    exceptions::{PyRuntimeError, PyTypeError},
};

pub(crate) use self::{keys::ParquetKeys, open::open_parquet, seal::seal_parquet};
use crate::{
    buffers::path_of,
    errors::{IntoPython, OrRaise},
    ffi::{Bytes, Reading},
    running,
    threads::accepted,
};

/// Where a file comes from: a path, or memory.
enum Input {
    File(File),
    Memory(Reading),
}

impl Input {
    /// What an object stands for: its bytes where it has a buffer, else the file of this path.
    ///
    /// # Errors
    /// `TypeError`, `OSError`, `BufferError`.
    fn of(py: Python<'_>, object: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Self> {
        match Bytes::of(object, name) {
            Ok(bytes) => return bytes.to_read().map(Self::Memory),
            Err(error) if !error.is_instance_of::<PyTypeError>(py) => return Err(error),
            Err(_) => {}
        }
        let path = path_of(object)?;
        py.detach(|| open_regular(&path)).or_raise().map(Self::File)
    }

    /// It, until the caller cancels.
    fn as_source<'a>(&'a self, cancelled: &'a AtomicBool) -> Until<'a> {
        let bytes = match self {
            Self::File(file) => Either::File(file),
            Self::Memory(bytes) => Either::Memory(InMemory(bytes.as_slice())),
        };
        Until { bytes, cancelled }
    }
}

/// A source that fails once the caller has cancelled.
struct Until<'a> {
    bytes: Either<'a>,
    cancelled: &'a AtomicBool,
}

enum Either<'a> {
    File(&'a File),
    Memory(InMemory<'a>),
}

impl Until<'_> {
    fn source(&self) -> &dyn Source {
        match &self.bytes {
            Either::File(file) => *file,
            Either::Memory(bytes) => bytes,
        }
    }
}

impl Source for Until<'_> {
    fn identity(&self) -> io::Result<Identity> {
        self.source().identity()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        self.source().read_exact_at(buffer, offset)
    }
}

/// Runs work without the interpreter's lock, on this number of threads, while signals are served: `KeyboardInterrupt` sets the
/// flag that the work gets.
///
/// # Errors
/// Those of the work; `ValueError` for a number that is not accepted, `RuntimeError` where the threads cannot be made.
fn on_threads<T: Send, E: IntoPython + Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&AtomicBool) -> Result<T, E> + Send,
) -> PyResult<T> {
    let threads = accepted(threads)?;
    running::run(py, None, |run| {
        let work = || work(run.cancelled()).or_raise();
        let Some(count) = threads else { return work() };
        // Here, as it takes its time, and the interpreter serves others meanwhile.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?.install(work)
    })
}

impl IntoPython for Error {
    fn into_python(self) -> pyo3::PyErr {
        use pyo3::exceptions::{PyOSError, PyValueError};
        let text = self.to_string();
        match self {
            _ if self.is_not_authentic() => crate::errors::NotAuthentic::new_err(text),
            Self::Engine(error) => error.into_python(),
            Self::File(error) => error.into_python(),
            Self::Io { doing, source } => crate::errors::os_error(&doing, &source),
            Self::Random(_) => PyOSError::new_err(text),
            Self::Retriever(error) => match error.downcast::<pyo3::PyErr>() {
                Ok(raised) => *raised,
                Err(_) => PyValueError::new_err(text),
            },
            _ => PyValueError::new_err(text),
        }
    }
}
