//! `backend=`: who computes.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lanecrypt::{
    BackendChoice, CIPHERS, CipherName, Engine, Error, LookupError, Xts, aes::AES, gpu,
    io::RunsUnits, registry::Platform, xts_halves_are_equal,
};
use lanecrypt_tink::{Cpu, Cuda, SegmentRunner};
use pyo3::{PyErr, PyResult, Python, exceptions::PyValueError};

use crate::{errors::OrRaise, self_test, threads::accepted};

/// Data shorter than this runs on the caller's thread by the fastest implementation: neither threads nor
/// a GPU would be asked.
const SHORT: usize = 2 * lanecrypt::THREAD_PIECE_BYTES;

/// Whether `auto` has looked for its device, which takes a while the first time.
static HAS_LOOKED: AtomicBool = AtomicBool::new(false);

/// What a caller chose.
#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    /// As the command line has it.
    Place(BackendChoice),
    /// A row of the registry.
    Row(String),
}

impl Chosen {
    pub(crate) fn new(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Row(text.to_owned()), Self::Place)
    }

    /// Whether a call waits for a GPU even where it is short: the interpreter is to be released then. `auto` leaves
    /// what is short to the CPU.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Self::Place(place) => matches!(place, BackendChoice::Cuda(_)),
            Self::Row(id) => {
                let mut rows = CIPHERS.iter().filter_map(|cipher| cipher.backend(id));
                rows.any(|row| row.platform != Platform::Cpu)
            }
        }
    }

    /// An engine for data of `bytes` bytes.
    ///
    /// # Errors
    /// `ValueError` for unknown names and wrong keys, `RuntimeError` for what this machine cannot run, `SelfTestError`.
    pub(crate) fn engine(
        &self,
        py: Python<'_>,
        cipher: &str,
        key: &[u8],
        bytes: usize,
    ) -> PyResult<Box<dyn Engine>> {
        let cipher = CipherName::with_key(cipher, key.len()).or_raise()?.cipher;
        self_test::once(cipher)?;
        self.made(py, bytes, || self.engine_of(cipher.name, key, bytes)).or_raise()
    }

    /// The same for XTS, whose key is two of the cipher's.
    ///
    /// # Errors
    /// As [`engine`](Self::engine).
    pub(crate) fn xts(
        &self,
        py: Python<'_>,
        cipher: &str,
        key: &[u8],
        bytes: usize,
    ) -> PyResult<Box<dyn RunsUnits + Send + Sync>> {
        if !key.len().is_multiple_of(2) {
            let text =
                format!("XTS key of {} bytes; it is two keys, one after the other", key.len());
            return Err(PyValueError::new_err(text));
        }
        let (data, tweak) = key.split_at(key.len() / 2);
        let cipher = CipherName::with_key(cipher, data.len()).or_raise()?.cipher;
        self_test::once(cipher)?;
        let cipher = cipher.name;
        if let Self::Place(place @ BackendChoice::Cuda(_)) = self {
            return self.made(py, bytes, || place.xts(cipher, key)).or_raise();
        }
        let engine = |key| self.made(py, bytes, || self.engine_of(cipher, key, bytes)).or_raise();
        Ok(Box::new(Xts::new(engine(data)?, engine(tweak)?)))
    }

    /// What `make` makes for data of `bytes` bytes, without the interpreter's lock where it may open a device.
    fn made<T: Send>(&self, py: Python<'_>, bytes: usize, make: impl FnOnce() -> T + Send) -> T {
        let looks = matches!(self, Self::Place(BackendChoice::Auto)) && bytes >= SHORT;
        if !(self.waits() || looks && !HAS_LOOKED.load(Relaxed)) {
            return make();
        }
        let result = py.detach(make);
        HAS_LOOKED.fetch_or(looks, Relaxed);
        result
    }

    fn engine_of(
        &self,
        cipher: &'static str,
        key: &[u8],
        bytes: usize,
    ) -> Result<Box<dyn Engine>, LookupError> {
        match self {
            Self::Place(BackendChoice::Auto) if bytes < SHORT => {
                lanecrypt::engine(cipher, "default", key)
            }
            Self::Place(place) => place.engine(cipher, key),
            Self::Row(id) => lanecrypt::engine(cipher, id, key),
        }
    }

    /// Who seals and opens files; with `auto` the CPU, as on the command line.
    ///
    /// # Errors
    /// `RuntimeError` for a GPU that is not there, `SelfTestError`, `ValueError` for what is no such place.
    pub(crate) fn sealing(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
    ) -> PyResult<Box<dyn SegmentRunner>> {
        self_test::once(&AES)?;
        match self {
            Self::Place(BackendChoice::Auto | BackendChoice::Cpu) => {
                Ok(Box::new(Cpu::new(accepted(threads)?.unwrap_or(0))))
            }
            Self::Place(BackendChoice::Cuda(number)) => {
                let device = py.detach(|| gpu(*number)).or_raise()?;
                Ok(Box::new(Cuda::new(&device).or_raise()?))
            }
            Self::Row(id) => Err(not_for_files(id)),
        }
    }
}

/// Checks what IEEE 1619 asks of the two keys of XTS.
///
/// # Errors
/// `ValueError` where they are equal.
pub(crate) fn require_different_halves(key: &[u8]) -> PyResult<()> {
    if xts_halves_are_equal(key) {
        return Err(PyValueError::new_err("the two keys of XTS must not be equal"));
    }
    Ok(())
}

/// Checks what IEEE 1619 asks of the length of a data unit, and SP 800-38E (4) of how long it may be.
///
/// # Errors
/// `ValueError` for less than a block, and for more than 2^20 blocks.
pub(crate) fn require_data_unit(given: usize) -> PyResult<()> {
    const BLOCK: usize = 16;
    const MOST: usize = BLOCK << 20;
    match given {
        0..BLOCK => Err(Error::DataUnitLength { given, block: BLOCK }).or_raise(),
        BLOCK..=MOST => Ok(()),
        _ => Err(PyValueError::new_err(format!(
            "XTS data unit of {given} bytes; at most 2^20 blocks, {MOST} bytes, are accepted"
        ))),
    }
}

fn not_for_files(id: &str) -> PyErr {
    PyValueError::new_err(format!(
        "backend is {id:?}; for sealed files it is one of auto, cpu, cuda, cuda:1, ..."
    ))
}
