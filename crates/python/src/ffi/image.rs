//! A plaintext Parquet file in host memory, as Python's buffers have it: no copy is made for a reader.

use std::ffi::c_int;

use pyo3::{ffi, prelude::*, types::PyBytes};

/// A plaintext Parquet file in memory: a read-only buffer, which `pyarrow.BufferReader` and `io.BytesIO` take.
#[pyclass(frozen, name = "Image", module = "lanecrypt.parquet")]
pub(crate) struct ParquetImage(Vec<u8>);

impl ParquetImage {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

#[pymethods]
impl ParquetImage {
    /// Bytes of it.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.len()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// A copy as `bytes`.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0)
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "tobytes copies it")
    }

    fn __repr__(&self) -> String {
        format!("<Image of {} bytes>", self.0.len())
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = &slf.get().0;
        let length = bytes.len().cast_signed(); // a vector has `isize::MAX` bytes at most
        let address = bytes.as_ptr().cast_mut().cast();
        // SAFETY: Python gives a view that it owns. The bytes neither move nor change as long as the object lives, which
        // the view holds; it is told that they are read-only.
        let filled =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), address, length, 1, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
