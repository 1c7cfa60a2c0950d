//! Plaintext files as encrypted files, from host memory or a GPU.

use std::{collections::BTreeMap, path::PathBuf};

use lanecrypt_parquet::{Algorithm, SealOptions, seal};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::{Input, keys::by_name, on_threads};
use crate::{
    buffers::{copied, path_of},
    errors::OrRaise,
    tensor::Foreign,
};

/// Seals the plaintext Parquet file `image`, a path, the bytes of the file, or a tensor of them on a GPU, into the file
/// `target`; returns the bytes of that.
///
/// `keys` is the key of the footer and of all columns, or a `Keys`: with keys of columns these are encrypted, and **all
/// others are not**. `algorithm` is `"AES_GCM_V1"`, or `"AES_GCM_CTR_V1"`, whose pages have no tags. The footer is
/// encrypted, or with `plaintext_footer` signed. The metadata of keys is what the file says of them, for functions that
/// find keys. The target appears when it is complete, or not at all.
#[pyfunction]
#[pyo3(signature = (
    image, target, keys, *, algorithm="AES_GCM_V1", plaintext_footer=false, aad_prefix=None, store_aad_prefix=true,
    footer_key_metadata=None, column_key_metadata=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn seal_parquet(
    py: Python<'_>,
    image: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = path_of)] target: PathBuf,
    keys: &Bound<'_, PyAny>,
    algorithm: &str,
    plaintext_footer: bool,
    aad_prefix: Option<&Bound<'_, PyAny>>,
    store_aad_prefix: bool,
    footer_key_metadata: Option<&Bound<'_, PyAny>>,
    column_key_metadata: Option<&Bound<'_, PyDict>>,
    threads: Option<usize>,
) -> PyResult<u64> {
    let bytes = |object: Option<&Bound<'_, PyAny>>, name| {
        object.map(|object| copied(object, name).map(|bytes| bytes.to_vec())).transpose()
    };
    let mut of_columns = BTreeMap::new();
    for (path, metadata) in column_key_metadata.into_iter().flatten() {
        of_columns.insert(path.extract()?, copied(&metadata, "a key's metadata")?.to_vec());
    }
    let options = SealOptions {
        algorithm: algorithm_of(algorithm)?,
        plaintext_footer,
        aad_prefix: bytes(aad_prefix, "aad_prefix")?,
        withhold_aad_prefix: !store_aad_prefix,
        footer_key_metadata: bytes(footer_key_metadata, "footer_key_metadata")?,
        column_key_metadata: of_columns,
    };
    let keys = by_name(keys)?;
    if let Some(memory) = tensor_of(image)? {
        let Some(device) = memory.device() else {
            return Err(PyValueError::new_err("image has no bytes"));
        };
        let (slice, stream) = (memory.slice(device), memory.stream(device));
        // What its owner has queued comes before.
        py.detach(|| stream.wait()).or_raise()?;
        return on_threads(py, threads, |_| {
            lanecrypt_parquet::seal_from_device(device, &slice, &keys, &options, &target)
        });
    }
    let input = Input::of(py, image, "image")?;
    on_threads(py, threads, |cancelled| seal(&input.as_source(cancelled), &keys, &options, &target))
}

/// Memory of a GPU, or none where the object is something else.
fn tensor_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Foreign>> {
    let is_tensor = object.hasattr("__cuda_array_interface__")? || object.hasattr("__dlpack__")?;
    if is_tensor { Foreign::of(object, "image") } else { Ok(None) }
}

fn algorithm_of(name: &str) -> PyResult<Algorithm> {
    match name {
        "AES_GCM_V1" => Ok(Algorithm::AesGcmV1),
        "AES_GCM_CTR_V1" => Ok(Algorithm::AesGcmCtrV1),
        _ => Err(PyValueError::new_err(format!(
            "algorithm is {name:?}; accepted are \"AES_GCM_V1\" and \"AES_GCM_CTR_V1\""
        ))),
    }
}
