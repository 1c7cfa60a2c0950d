//! Jobs that many machines do together, from and to files and objects in stores.

use std::{
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use lanecrypt_objects::{Error, Location, Order, Receipt, Stores};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyTuple};

use crate::{
    buffers::path_of,
    errors::OrRaise,
    running,
    tink::{Choices, Keyset, associated},
};

/// The stores that this process talks to, with the environment's settings of the first call.
pub(crate) fn stores() -> &'static Stores {
    static STORES: OnceLock<Stores> = OnceLock::new();
    STORES.get_or_init(Stores::from_env)
}

/// Where something lies: a URL, or a path of any kind.
pub(crate) struct Place(pub(crate) Location);

impl<'py> FromPyObject<'_, 'py> for Place {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = given.extract::<&str>() {
            return text.parse().or_raise().map(Self);
        }
        Ok(Self(Location::File(path_of(&given)?)))
    }
}

/// What all who seal parts of a job are told: where from, where to, and how. It has no secret, and can be
/// pickled.
#[pyclass(frozen, module = "lanecrypt.tink")]
pub(crate) struct Plan(lanecrypt_objects::Plan);

#[pymethods]
impl Plan {
    /// Reads what `to_json` writes.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        lanecrypt_objects::Plan::from_json(text).or_raise().map(Self)
    }

    /// The plan as text.
    fn to_json(&self) -> PyResult<String> {
        self.0.to_json().or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let read = py.get_type::<Self>().getattr("from_json")?;
        (read, (self.to_json()?,)).into_pyobject(py)
    }

    /// How many parts there are.
    #[getter]
    fn parts(&self) -> u64 {
        self.0.job().parts()
    }

    /// Bytes of the whole sealed file.
    #[getter]
    fn sealed_bytes(&self) -> u64 {
        self.0.job().sealed_bytes()
    }

    /// Seals a part, from 0, and writes it where it is invisible until the job is committed; returns a
    /// receipt, a text, for the driver.
    ///
    /// Done once more it writes the same bytes. A source that changed since the job began raises
    /// `SourceChanged`, and nothing of it is sent.
    #[pyo3(signature = (keyset, part, *, backend="auto", threads=None))]
    fn seal_part(
        &self,
        py: Python<'_>,
        keyset: &Keyset,
        part: u64,
        backend: &str,
        threads: Option<usize>,
    ) -> PyResult<String> {
        let choices = Choices { associated_data: &[], backend, threads, progress: None };
        let receipt =
            choices.run(py, |options| self.0.seal_part(keyset.get(), part, stores(), options))?;
        receipt.to_json().or_raise()
    }

    fn __repr__(&self) -> String {
        let (parts, source, target) = (self.parts(), self.0.source(), self.0.target());
        format!("<Plan of {parts} parts from {source} to {target}>")
    }
}

/// One who hands out the parts of a job, keeps their receipts in the file `log`, and commits.
///
/// Killed and started again with the same arguments it goes on where it was: only parts without a receipt are
/// missing. `source` and `target` are paths or URLs, such as `s3://bucket/key`; settings of stores come from
/// the environment (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, ...). The target appears when all parts are
/// there, or never. Ctrl-C ends the wait for a store that does not answer.
///
/// >>> import pathlib, tempfile
/// >>> from lanecrypt import tink
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> _ = (folder / "plain").write_bytes(b"a file")
/// >>> keyset = tink.Keyset.generate()
/// >>> with tink.Driver(folder / "log", keyset, folder / "plain", folder / "sealed") as driver:
/// ...     for part in driver.missing():
/// ...         driver.acknowledge(driver.plan.seal_part(keyset, part))
/// ...     driver.commit()
/// >>> tink.open(keyset, folder / "sealed", folder / "opened")
/// 6
#[pyclass(frozen, module = "lanecrypt.tink")]
pub(crate) struct Driver(Mutex<Option<lanecrypt_objects::Driver>>);

type Held<'a> = MutexGuard<'a, Option<lanecrypt_objects::Driver>>;

impl Driver {
    /// What this holds, unless the caller cancels first: another thread may have it, as long as it commits.
    fn held(&self, cancel: &AtomicBool) -> Result<Held<'_>, Error> {
        /// How often it is asked for.
        const TICK: Duration = Duration::from_millis(10);
        loop {
            match self.0.try_lock() {
                Ok(held) => return Ok(held),
                Err(TryLockError::Poisoned(held)) => return Ok(held.into_inner()),
                Err(TryLockError::WouldBlock) if cancel.load(Relaxed) => {
                    return Err(lanecrypt_tink::Error::Cancelled.into());
                }
                Err(TryLockError::WouldBlock) => thread::sleep(TICK),
            }
        }
    }

    /// Runs `work`, which asks a store, with what this holds, while signals are served.
    fn with_store(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut lanecrypt_objects::Driver, &AtomicBool) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        let done = running::run(py, None, |run| {
            let cancel = run.cancelled();
            self.held(cancel)?.as_mut().map(|driver| work(driver, cancel)).transpose()
        })?;
        done.ok_or_else(closed)
    }

    /// Runs `work`, which asks no store, with what this holds; others wait for it without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut lanecrypt_objects::Driver) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        py.detach(|| lock().as_mut().map(work)).ok_or_else(closed)?.or_raise()
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the driver is closed")
}

#[pymethods]
impl Driver {
    #[new]
    #[pyo3(signature = (log, keyset, source, target, *, associated_data=None, part_bytes=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = path_of)] log: PathBuf,
        keyset: &Keyset,
        source: Place,
        target: Place,
        associated_data: Option<&Bound<'_, PyAny>>,
        part_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let associated_data = &associated(associated_data)?;
        let order = Order { source: &source.0, target: &target.0, associated_data, part_bytes };
        let driver = running::run(py, None, |run| {
            let cancel = run.cancelled();
            lanecrypt_objects::Driver::open_unless(&log, keyset.get(), &order, stores(), cancel)
        })?;
        Ok(Self(Mutex::new(Some(driver))))
    }

    /// What those are told who seal parts.
    #[getter]
    fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        self.with(py, |driver| Ok(Plan(driver.plan().clone())))
    }

    /// The parts without a receipt; none once the job is committed.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.with(py, |driver| Ok(driver.missing().collect()))
    }

    /// Keeps a receipt of a part.
    fn acknowledge(&self, py: Python<'_>, receipt: &str) -> PyResult<()> {
        let receipt = Receipt::from_json(receipt).or_raise()?;
        self.with(py, |driver| driver.acknowledge(receipt))
    }

    /// Gives the sealed file its name, if no part is missing.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.with_store(py, lanecrypt_objects::Driver::commit_unless)
    }

    /// Gives the job up: what was written is removed, and the log. It is closed then, and where this fails it is not.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        self.with_store(py, lanecrypt_objects::Driver::discard_unless)?;
        self.close(py);
        Ok(())
    }

    /// Lets others drive the job.
    fn close(&self, py: Python<'_>) {
        // Another thread may have it, as long as it commits.
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "its log carries the job")
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match self.plan(py) {
            Ok(plan) => format!("<Driver of {}>", plan.__repr__()),
            Err(_) => "<Driver, closed>".to_owned(),
        }
    }
}
