//! `backend=`: who computes.

use lanecrypt::{
    BackendChoice, CipherName, Engine, LookupError, Xts, aes::AES, gpu, io::RunsUnits,
    xts_halves_are_equal,
};
use lanecrypt_tink::{Cpu, Cuda, SegmentRunner};
use pyo3::{PyErr, PyResult, exceptions::PyValueError};

use crate::{errors::OrRaise, self_test};

/// Data shorter than this runs on the caller's thread by the fastest implementation: neither threads nor
/// a GPU would be asked.
const SHORT: usize = 2 * lanecrypt::THREAD_PIECE_BYTES;

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

    /// An engine for data of `bytes` bytes.
    ///
    /// # Errors
    /// `ValueError` for unknown names and wrong keys, `RuntimeError` for what this machine cannot run, `SelfTestError`.
    pub(crate) fn engine(
        &self,
        cipher: &str,
        key: &[u8],
        bytes: usize,
    ) -> PyResult<Box<dyn Engine>> {
        let cipher = CipherName::with_key(cipher, key.len()).or_raise()?.cipher;
        self_test::once(cipher)?;
        self.engine_of(cipher.name, key, bytes).or_raise()
    }

    /// The same for XTS, whose key is two of the cipher's.
    ///
    /// # Errors
    /// As [`engine`](Self::engine).
    pub(crate) fn xts(
        &self,
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
            return place.xts(cipher, key).or_raise();
        }
        let engine = |key| self.engine_of(cipher, key, bytes).or_raise();
        Ok(Box::new(Xts::new(engine(data)?, engine(tweak)?)))
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
    pub(crate) fn sealing(&self, threads: Option<usize>) -> PyResult<Box<dyn SegmentRunner>> {
        self_test::once(&AES)?;
        match self {
            Self::Place(BackendChoice::Auto | BackendChoice::Cpu) => match threads {
                Some(0) => Err(PyValueError::new_err("threads is 0; one at least does the work")),
                threads => Ok(Box::new(Cpu::new(threads.unwrap_or(0)))),
            },
            Self::Place(BackendChoice::Cuda(number)) => {
                Ok(Box::new(Cuda::new(&gpu(*number).or_raise()?).or_raise()?))
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

fn not_for_files(id: &str) -> PyErr {
    PyValueError::new_err(format!(
        "backend is {id:?}; for sealed files it is one of auto, cpu, cuda, cuda:1, ..."
    ))
}
