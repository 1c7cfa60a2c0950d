//! Sealed data in memory.

use lanecrypt_tink::{InMemory, Options, length_of, seal_stream};
use pyo3::{prelude::*, types::PyBytes};

use super::{Keyset, files::associated};
use crate::{
    backend::Chosen,
    errors::OrRaise,
    ffi::Bytes,
    interpreter::{detached, weight},
};

/// Seals bytes.
///
/// >>> from lanecrypt import tink
/// >>> keyset = tink.Keyset.generate()
/// >>> sealed = tink.seal_bytes(keyset, b"a message", associated_data=b"its name")
/// >>> tink.open_bytes(keyset, sealed, associated_data=b"its name")
/// b'a message'
#[pyfunction]
#[pyo3(signature = (keyset, data, *, associated_data=None, backend="auto", threads=None))]
pub(crate) fn seal_bytes<'py>(
    py: Python<'py>,
    keyset: &Keyset,
    data: &Bound<'py, PyAny>,
    associated_data: Option<&Bound<'py, PyAny>>,
    backend: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = Bytes::of(data, "data")?.to_read()?;
    let (data, associated_data) = (data.as_slice(), associated(associated_data)?);
    let chosen = Chosen::new(backend);
    let runner = chosen.sealing(py, threads)?;
    let layout = keyset.get().primary().or_raise()?.parameters().layout();
    let length = layout.ciphertext_bytes(data.len() as u64).or_raise()?;
    PyBytes::new_with(py, length_of(length).or_raise()?, |sealed| {
        let options =
            Options { associated_data: &associated_data, runner: &*runner, ..Options::default() };
        let seal = || seal_stream(keyset.get(), data, sealed, options);
        detached(py, weight(chosen.waits(), data.len()), seal).or_raise().map(drop)
    })
}

/// Opens sealed bytes; returns the plaintext.
#[pyfunction]
#[pyo3(signature = (keyset, sealed, *, associated_data=None, backend="auto", threads=None))]
pub(crate) fn open_bytes<'py>(
    py: Python<'py>,
    keyset: &Keyset,
    sealed: &Bound<'py, PyAny>,
    associated_data: Option<&Bound<'py, PyAny>>,
    backend: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let sealed = Bytes::of(sealed, "sealed")?.to_read()?;
    let (source, associated_data) = (InMemory(sealed.as_slice()), associated(associated_data)?);
    let chosen = Chosen::new(backend);
    let runner = chosen.sealing(py, threads)?;
    let open = || lanecrypt_tink::Sealed::open(source, keyset.get(), &associated_data);
    let opened = detached(py, usize::MAX, open).or_raise()?;
    let bytes = opened.plaintext_bytes();
    let length = length_of(bytes).or_raise()?;
    PyBytes::new_with(py, length, |mut text| {
        let options = Options { runner: &*runner, ..Options::default() };
        let copy = || opened.copy_range(0..bytes, &mut text, options);
        detached(py, weight(chosen.waits(), length), copy).or_raise()
    })
}
