//! Keysets.

use std::{fs, io::Write, path::PathBuf};

use lanecrypt_tink::{Cost, Error, Output, Template};
use pyo3::{exceptions::PyValueError, prelude::*};
use zeroize::Zeroizing;

use crate::{
    buffers::{copied, path_of},
    errors::{OrRaise, os_error},
    running::left_behind,
};

/// Keys by their ids, one of which seals. Key material is cleared when the object goes, and never shown.
#[pyclass(frozen, module = "lanecrypt.tink")]
pub(crate) struct Keyset(lanecrypt_tink::Keyset);

impl Keyset {
    pub(crate) fn get(&self) -> &lanecrypt_tink::Keyset {
        &self.0
    }

    /// The text of a keyset, in cleartext or under a passphrase.
    fn text(
        &self,
        py: Python<'_>,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Zeroizing<String>> {
        let Some(passphrase) = passphrase else { return self.0.to_json().or_raise() };
        let passphrase = secret(passphrase)?;
        let text = py.detach(|| self.0.to_json_with_passphrase(&passphrase, Cost::default()));
        text.or_raise().map(Zeroizing::new)
    }
}

#[pymethods]
impl Keyset {
    /// A keyset with one random key; `template` is one of Tink's names.
    ///
    /// >>> from lanecrypt import tink
    /// >>> tink.Keyset.generate("AES128_GCM_HKDF_4KB")  # doctest: +ELLIPSIS
    /// <Keyset with 1 key, primary ...>
    #[staticmethod]
    #[pyo3(signature = (template="AES256_GCM_HKDF_1MB"))]
    fn generate(template: &str) -> PyResult<Self> {
        let template: Template =
            template.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
        lanecrypt_tink::Keyset::generate(template.parameters()).or_raise().map(Self)
    }

    /// Reads Tink's JSON, in cleartext or as `to_json` writes it under a passphrase.
    #[staticmethod]
    #[pyo3(signature = (text, passphrase=None))]
    fn from_json(
        py: Python<'_>,
        text: &str,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let keyset = match passphrase {
            None => lanecrypt_tink::Keyset::from_json(text),
            Some(passphrase) => {
                let passphrase = secret(passphrase)?;
                py.detach(|| lanecrypt_tink::Keyset::from_json_with_passphrase(text, &passphrase))
            }
        };
        keyset.or_raise().map(Self)
    }

    /// Writes Tink's JSON: in cleartext anyone who reads it has the keys; under a passphrase (Argon2id) only
    /// who knows that.
    #[pyo3(signature = (passphrase=None))]
    fn to_json(&self, py: Python<'_>, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        Ok(self.text(py, passphrase)?.to_string())
    }

    /// Reads a file with a keyset, or a pipe that another program writes one to: Ctrl-C ends the wait for it.
    #[staticmethod]
    #[pyo3(signature = (path, passphrase=None))]
    fn load(
        py: Python<'_>,
        #[pyo3(from_py_with = path_of)] path: PathBuf,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let doing = format!("read {}", path.display());
        let text = left_behind(py, move || fs::read_to_string(path).map(Zeroizing::new))?;
        Self::from_json(py, &text.map_err(|error| os_error(&doing, &error))?, passphrase)
    }

    /// Writes the keyset to a new file that only its owner may read; one that is there is not replaced.
    #[pyo3(signature = (path, passphrase=None))]
    fn save(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = path_of)] path: PathBuf,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let text = self.text(py, passphrase)?;
        py.detach(|| {
            let output = Output::private(&path)?;
            let doing = || format!("write {}", path.display());
            let written = writeln!(output.file(), "{}", *text);
            written.map_err(|source| Error::Io { doing: doing(), source })?;
            output.commit_new()
        })
        .or_raise()
    }

    /// The id of the key that seals.
    #[getter]
    fn primary_id(&self) -> u32 {
        self.0.primary_id()
    }

    /// The ids of the keys that open.
    #[getter]
    fn ids(&self) -> Vec<u32> {
        self.0.keys().map(|(id, _)| id).collect()
    }

    /// Bytes of the sealed data that the primary key makes of this number of bytes of plaintext.
    ///
    /// >>> from lanecrypt import tink
    /// >>> tink.Keyset.generate().sealed_bytes(5)
    /// 61
    fn sealed_bytes(&self, plaintext_bytes: u64) -> PyResult<u64> {
        self.0.sealed_bytes(plaintext_bytes).or_raise()
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "to_json and from_json carry its keys")
    }

    fn __repr__(&self) -> String {
        let count = self.0.keys().count();
        let keys = if count == 1 { "key" } else { "keys" };
        format!("<Keyset with {count} {keys}, primary {}>", self.0.primary_id())
    }
}

/// A passphrase: a string, or bytes.
fn secret(passphrase: &Bound<'_, PyAny>) -> PyResult<Zeroizing<Vec<u8>>> {
    match passphrase.extract::<&str>() {
        Ok(text) => Ok(Zeroizing::new(text.as_bytes().to_vec())),
        Err(_) => copied(passphrase, "passphrase"),
    }
}
