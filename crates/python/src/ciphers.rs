//! Ciphers over streams, with the interface of pyca/cryptography's `Cipher`.

mod authenticated;
mod context;
mod mode;

use lanecrypt::Direction;
use pyo3::{exceptions::PyValueError, prelude::*};
use zeroize::Zeroizing;

pub(crate) use self::{authenticated::AEADContext, context::CipherContext};
use crate::{backend::Chosen, buffers::copied, direction};

/// A cipher and its key, which is cleared when the object goes and never shown.
#[pyclass(frozen, subclass, module = "lanecrypt.ciphers.algorithms")]
pub(crate) struct Algorithm {
    cipher: String,
    key: Zeroizing<Vec<u8>>,
}

#[pymethods]
impl Algorithm {
    #[new]
    fn new(cipher: &str, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let description = lanecrypt::find_cipher(cipher);
        let description = description.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let key = copied(key, "key")?;
        // The two keys of XTS come as one.
        let xts_key = |bytes: &usize| description.block_bytes == 16 && 2 * bytes == key.len();
        if !description.key_bytes.contains(&key.len()) && !description.key_bytes.iter().any(xts_key)
        {
            let (given, accepted) = (key.len(), description.key_bytes);
            let twice = if description.block_bytes == 16 { ", and twice that in XTS" } else { "" };
            return Err(PyValueError::new_err(format!(
                "{cipher} key of {given} bytes; accepted are {accepted:?} bytes{twice}"
            )));
        }
        Ok(Self { cipher: cipher.to_owned(), key })
    }

    /// Bits of the key.
    #[getter]
    fn key_size(&self) -> usize {
        8 * self.key.len()
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "make it of its key where it is used")
    }

    fn __repr__(&self) -> String {
        format!("<{} with a key of {} bits>", self.cipher, self.key_size())
    }
}

/// What a context is made of.
struct Parts<'a> {
    algorithm: &'a Algorithm,
    iv: Zeroizing<Vec<u8>>,
    direction: Direction,
    backend: Chosen,
}

impl<'a> Parts<'a> {
    fn new(
        algorithm: &'a Algorithm,
        iv: Option<&Bound<'_, PyAny>>,
        decrypt: bool,
        backend: &str,
    ) -> PyResult<Self> {
        let iv = iv.map_or(Ok(Zeroizing::default()), |iv| copied(iv, "iv"))?;
        Ok(Self { algorithm, iv, direction: direction(decrypt), backend: Chosen::new(backend) })
    }

    fn engine(&self, py: Python<'_>) -> PyResult<Box<dyn lanecrypt::Engine>> {
        self.backend.engine(py, &self.algorithm.cipher, &self.algorithm.key, usize::MAX)
    }
}
