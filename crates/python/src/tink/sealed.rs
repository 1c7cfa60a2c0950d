//! A sealed file that is read at any place.

use std::{
    fs::File,
    ops::Range,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use lanecrypt_tink::{Options, length_of};
use pyo3::{
    exceptions::{PyOverflowError, PyValueError},
    prelude::*,
    types::{PyBytes, PyTuple},
};

use super::{
    Keyset,
    files::{associated, opened},
};
use crate::{buffers::path_of, errors::OrRaise, ffi::Bytes, interpreter::detached};

/// Reads of at least this number of bytes are opened on all cores.
const PARALLEL_FROM: u64 = 4 << 20;

/// A sealed file that is read at any place: only what a range touches is read, and only what is authentic
/// is given out. Several threads may read at once.
#[pyclass(frozen, module = "lanecrypt.tink")]
pub(crate) struct Sealed(RwLock<Option<Arc<Opened>>>);

type Opened = lanecrypt_tink::Sealed<File>;

impl Sealed {
    fn opened(&self) -> PyResult<Arc<Opened>> {
        let opened = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        opened.ok_or_else(|| PyValueError::new_err("the sealed file is closed"))
    }
}

/// As much of a range as there is.
fn range(sealed: &Opened, offset: u64, length: u64) -> Range<u64> {
    let end = sealed.plaintext_bytes();
    offset.min(end)..offset.saturating_add(length).min(end)
}

fn fill(sealed: &Opened, mut buffer: &mut [u8], offset: u64) -> Result<(), lanecrypt_tink::Error> {
    let length = buffer.len() as u64;
    if length < PARALLEL_FROM {
        return sealed.read_exact_at(buffer, offset);
    }
    sealed.copy_range(offset..offset + length, &mut buffer, Options::default())
}

#[pymethods]
impl Sealed {
    #[new]
    #[pyo3(signature = (path, keyset, associated_data=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = path_of)] path: PathBuf,
        keyset: &Keyset,
        associated_data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let associated_data = associated(associated_data)?;
        let file = opened(py, &path)?;
        let sealed =
            py.detach(|| lanecrypt_tink::Sealed::open(file, keyset.get(), &associated_data));
        Ok(Self(RwLock::new(Some(Arc::new(sealed.or_raise()?)))))
    }

    /// Bytes of plaintext; `size` where they are more than Python's `len` can say.
    fn __len__(&self) -> PyResult<usize> {
        let bytes = isize::try_from(self.opened()?.plaintext_bytes());
        let bytes = bytes.map_err(|_| PyOverflowError::new_err("the plaintext is too long"))?;
        Ok(bytes.unsigned_abs())
    }

    /// Bytes of plaintext.
    #[getter]
    fn size(&self) -> PyResult<u64> {
        Ok(self.opened()?.plaintext_bytes())
    }

    /// Up to `length` bytes of the plaintext from `offset` on: fewer where it ends.
    fn read<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        length: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let sealed = self.opened()?;
        let range = range(&sealed, offset, length);
        let bytes = length_of(range.end - range.start).or_raise()?;
        PyBytes::new_with(py, bytes, |text| {
            detached(py, usize::MAX, || fill(&sealed, text, range.start)).or_raise()
        })
    }

    /// Fills a buffer with the plaintext from `offset` on; returns how many bytes there were.
    fn readinto(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>, offset: u64) -> PyResult<usize> {
        let buffer = Bytes::of(buffer, "buffer")?;
        let sealed = self.opened()?;
        let range = range(&sealed, offset, buffer.len() as u64);
        let bytes = length_of(range.end - range.start).or_raise()?;
        let mut target = buffer.part(0..bytes).to_write()?;
        let target = target.as_mut_slice();
        detached(py, usize::MAX, || fill(&sealed, target, range.start)).or_raise()?;
        Ok(bytes)
    }

    /// Where the segment that has a byte of the plaintext begins there, and its length: all of it is opened for any part.
    #[pyo3(name = "_segment")]
    fn segment(&self, offset: u64) -> PyResult<(u64, u64)> {
        let sealed = self.opened()?;
        let layout = sealed.cipher().layout();
        let Range { start, end } = layout.plaintext_of(layout.segment_at(offset));
        let Range { start, end } = range(&sealed, start, end - start);
        Ok((start, end - start))
    }

    /// Closes the file, once all reads have ended.
    fn close(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "open the file where it is read")
    }

    fn __repr__(&self) -> String {
        match self.opened() {
            Ok(sealed) => format!("<Sealed, {} bytes of plaintext>", sealed.plaintext_bytes()),
            Err(_) => "<Sealed, closed>".to_owned(),
        }
    }
}
