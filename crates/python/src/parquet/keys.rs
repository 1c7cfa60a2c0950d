//! Keys of Parquet files: by names, or from a function of the caller's.

use lanecrypt_parquet::{Error, Key, KeyFor, KeySource, Keys};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

use crate::{buffers::copied, errors::OrRaise};

/// The key of a file's footer, and those of columns that have their own, by the paths of the columns.
///
/// Keys have 16, 24 or 32 bytes; they are cleared when the object goes, and never shown. In the place of an object
/// without keys of columns, functions take the footer's key itself.
///
/// >>> from lanecrypt import parquet
/// >>> parquet.Keys(bytes(16), column_keys={"salary": bytes(32)})
/// <Keys of the footer and 1 column>
#[pyclass(frozen, name = "Keys", module = "lanecrypt.parquet")]
pub(crate) struct ParquetKeys(Keys);

#[pymethods]
impl ParquetKeys {
    #[new]
    #[pyo3(signature = (footer_key, *, column_keys=None))]
    fn new(
        footer_key: &Bound<'_, PyAny>,
        column_keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut keys = Keys::uniform(key(footer_key, "footer_key")?);
        for (path, column_key) in column_keys.into_iter().flatten() {
            keys.columns.insert(path.extract()?, key(&column_key, "a column's key")?);
        }
        Ok(Self(keys))
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "make it of its keys where it is used")
    }

    fn __repr__(&self) -> String {
        match self.0.columns.len() {
            0 => "<Keys of the footer>".to_owned(),
            1 => "<Keys of the footer and 1 column>".to_owned(),
            count => format!("<Keys of the footer and {count} columns>"),
        }
    }
}

fn key(object: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Key> {
    Key::new(&copied(object, name)?).or_raise()
}

/// Keys by names: an object of them, or the one of the footer.
///
/// # Errors
/// `TypeError`, `ValueError`.
pub(super) fn by_name(keys: &Bound<'_, PyAny>) -> PyResult<Keys> {
    match keys.cast::<ParquetKeys>() {
        Ok(keys) => Ok(keys.get().0.clone()),
        Err(_) => key(keys, "keys").map(Keys::uniform),
    }
}

/// Keys as a caller gives them.
pub(super) enum Given {
    ByName(Keys),
    Function(Py<PyAny>),
}

impl Given {
    /// # Errors
    /// `TypeError`, `ValueError`.
    pub(super) fn of(keys: &Bound<'_, PyAny>) -> PyResult<Self> {
        if keys.is_callable() {
            return Ok(Self::Function(keys.clone().unbind()));
        }
        by_name(keys).map(Self::ByName)
    }
}

impl KeySource for Given {
    fn key(&self, of: KeyFor<'_>, metadata: Option<&[u8]>) -> Result<Key, Error> {
        let function = match self {
            Self::ByName(keys) => return keys.key(of, metadata),
            Self::Function(function) => function,
        };
        let without = || Error::NoKey { of: format!("{of}: the file has no metadata of it") };
        let metadata = metadata.ok_or_else(without)?;
        let found = Python::attach(|py| {
            let key = function.call1(py, (PyBytes::new(py, metadata),))?;
            copied(key.bind(py), "the key that the function gave")
        });
        Key::new(&found.map_err(|error| Error::Retriever(Box::new(error)))?)
    }
}
