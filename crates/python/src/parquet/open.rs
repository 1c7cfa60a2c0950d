//! Encrypted files as plaintext files, in host memory or on a GPU.

use lanecrypt_parquet::{Encrypted, OpenOptions};
use pyo3::prelude::*;

use super::{Input, keys::Given, on_threads};
use crate::{
    buffers::copied,
    ffi::image::ParquetImage,
    tensor::{DeviceTensor, Owned, device as gpu},
};

/// Opens the encrypted Parquet file `source`, a path or the bytes of the file: returns the plaintext file, which any
/// reader of Parquet takes, as an object with a buffer, or with `device`, the number of a GPU, as a tensor of bytes there.
/// `bytes` are never a path.
///
/// `keys` is the footer's key, a `Keys`, or a function that gives the key for what the file says of it. `columns` are
/// the names of those to open: the result has no others, and keys are asked for them only; `row_groups` are numbers.
/// There is a result if every tag is right, and `NotAuthentic` otherwise, which names what is not.
#[pyfunction]
#[pyo3(signature = (source, keys, *, columns=None, row_groups=None, aad_prefix=None, device=None, threads=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn open_parquet<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    keys: &Bound<'py, PyAny>,
    columns: Option<Vec<String>>,
    row_groups: Option<Vec<usize>>,
    aad_prefix: Option<&Bound<'py, PyAny>>,
    device: Option<usize>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (input, keys) = (Input::of(py, source, "source")?, Given::of(keys)?);
    let aad_prefix = aad_prefix.map(|prefix| copied(prefix, "aad_prefix")).transpose()?;
    let options = OpenOptions {
        columns: columns.as_deref(),
        row_groups: row_groups.as_deref(),
        aad_prefix: aad_prefix.as_ref().map(|prefix| &prefix[..]),
    };
    let Some(number) = device else {
        let image = on_threads(py, threads, |cancelled| {
            Encrypted::read(input.as_source(cancelled), &keys, options)?.open()
        })?;
        return Ok(Bound::new(py, ParquetImage::new(image))?.into_any());
    };
    let device = gpu(py, number)?;
    let owned = on_threads(py, threads, |cancelled| {
        let encrypted = Encrypted::read(input.as_source(cancelled), &keys, options)?;
        encrypted.open_to_device(&device).map(Owned::new)
    })?;
    let tensor = DeviceTensor::new(owned, i32::try_from(number).unwrap_or(i32::MAX));
    Ok(Bound::new(py, tensor)?.into_any())
}
