//! Whole files.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use lanecrypt_objects::open_location;
use lanecrypt_tink::{open_regular, seal_file};
use pyo3::prelude::*;

use super::{Choices, Keyset};
use crate::{
    buffers::{copied, path_of},
    errors::OrRaise,
    objects::{self, Place},
};

/// Seals the file `source` into the file `target`; returns the bytes of plaintext.
///
/// The target appears when it is complete, or not at all. `progress` is called on the caller's thread,
/// some ten times a second and at the end, with the bytes done so far; an exception of it ends the call, as
/// Ctrl-C does, and nothing is left behind. Where the target is there already, as at the last call, an
/// `Exception` of it goes to `sys.unraisablehook`, and the function returns; what is none, such as `SystemExit` or
/// `asyncio.CancelledError`, and what a signal's handler raises, is raised, and the target stays.
#[pyfunction]
#[pyo3(signature = (keyset, source, target, *, associated_data=None, backend="auto", threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn seal(
    py: Python<'_>,
    keyset: &Keyset,
    #[pyo3(from_py_with = path_of)] source: PathBuf,
    #[pyo3(from_py_with = path_of)] target: PathBuf,
    associated_data: Option<&Bound<'_, PyAny>>,
    backend: &str,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let associated_data = &associated(associated_data)?;
    let choices = Choices { associated_data, backend, threads, progress: progress.as_ref() };
    choices.run(py, |options| seal_file(keyset.get(), &source, &target, options))
}

/// Opens the sealed file `sealed`, a path or the URL of an object, into the file `target`; returns the bytes
/// of plaintext.
///
/// The target appears when all of it was found authentic, or not at all; the rest is as with `seal`.
#[pyfunction]
#[pyo3(signature = (keyset, sealed, target, *, associated_data=None, backend="auto", threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn open(
    py: Python<'_>,
    keyset: &Keyset,
    sealed: Place,
    #[pyo3(from_py_with = path_of)] target: PathBuf,
    associated_data: Option<&Bound<'_, PyAny>>,
    backend: &str,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let associated_data = &associated(associated_data)?;
    let choices = Choices { associated_data, backend, threads, progress: progress.as_ref() };
    choices.run(py, |options| {
        open_location(keyset.get(), &sealed.0, &target, objects::stores(), options)
    })
}

/// Associated data, or none.
pub(crate) fn associated(data: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    data.map_or(Ok(Vec::new()), |data| Ok(copied(data, "associated_data")?.to_vec()))
}

/// A file to be read at any place.
///
/// # Errors
/// `OSError`, also for what is no regular file: a pipe would be waited for.
pub(crate) fn opened(py: Python<'_>, path: &Path) -> PyResult<File> {
    py.detach(|| open_regular(path)).or_raise()
}
