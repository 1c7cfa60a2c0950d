//! Sealed files straight to memory of a GPU, and back.

use std::path::PathBuf;

use lanecrypt::cuda::DeviceSlice;
use lanecrypt_tink::{Cuda, Error, Options, Sealed};
use pyo3::{exceptions::PyTypeError, prelude::*};

use super::{
    Choices, Keyset,
    files::{associated, opened},
    stream::Stream,
};
use crate::{
    buffers::path_of,
    errors::OrRaise,
    ffi::Bytes,
    tensor::{DeviceTensor, Foreign, Owned, device as gpu},
};

/// Opens the sealed file `path` into memory of the GPU with the number `device`; returns a tensor of bytes.
///
/// Only ciphertext passes the host: the GPU verifies and decrypts it. There is a tensor if all of the file, or
/// of the `length` bytes of plaintext from `offset` on, is authentic, and `NotAuthentic` otherwise.
/// `torch.from_dlpack` and `cupy.from_dlpack` take it without a copy. `progress` is as with `seal`.
#[pyfunction]
#[pyo3(signature = (path, keyset, *, associated_data=None, device=0, offset=0, length=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn open_to_device(
    py: Python<'_>,
    #[pyo3(from_py_with = path_of)] path: PathBuf,
    keyset: &Keyset,
    associated_data: Option<&Bound<'_, PyAny>>,
    device: usize,
    offset: u64,
    length: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<DeviceTensor> {
    let associated_data = &associated(associated_data)?;
    let cuda = Cuda::new(&gpu(py, device)?).or_raise()?;
    let file = opened(py, &path)?;
    let owned = choices(associated_data, progress.as_ref()).run(py, |options| {
        let sealed = Sealed::open(file, keyset.get(), associated_data)?;
        let end = length.map_or(sealed.plaintext_bytes(), |length| offset.saturating_add(length));
        cuda.open_range_to_device(&sealed, offset..end, options).map(Owned::new)
    })?;
    Ok(DeviceTensor::new(owned, i32::try_from(device).unwrap_or(i32::MAX)))
}

/// Seals a tensor, contiguous memory of a GPU, into the file `path`; returns its bytes.
///
/// The file appears when it is complete, or not at all. `progress` is as with `seal`.
#[pyfunction]
#[pyo3(signature = (tensor, path, keyset, *, associated_data=None, progress=None))]
pub(crate) fn seal_from_device(
    py: Python<'_>,
    tensor: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = path_of)] path: PathBuf,
    keyset: &Keyset,
    associated_data: Option<&Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let associated_data = &associated(associated_data)?;
    seal_tensor(py, tensor, associated_data, progress.as_ref(), |cuda, data, options| {
        cuda.seal_from_device(keyset.get(), data, &path, options)
    })
}

/// Seals a tensor, contiguous memory of a GPU, into `buffer`: anything writable of as many bytes as
/// `keyset.sealed_bytes(tensor.nbytes)` says. Returns the tensor's bytes.
///
/// What is there then is a sealed file. Into pinned memory, such as `torch.empty(..., pin_memory=True).numpy()` or
/// `cupyx.empty_pinned(...)`, the GPU copies by itself, at the speed of the bus. If this fails, what is in the buffer
/// does not open.
#[pyfunction]
#[pyo3(signature = (tensor, buffer, keyset, *, associated_data=None, progress=None))]
pub(crate) fn seal_from_device_to_buffer(
    py: Python<'_>,
    tensor: &Bound<'_, PyAny>,
    buffer: &Bound<'_, PyAny>,
    keyset: &Keyset,
    associated_data: Option<&Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let associated_data = &associated(associated_data)?; // the buffer may have it
    let mut output = Bytes::of(buffer, "buffer")?.to_write()?;
    let output = output.as_mut_slice();
    seal_tensor(py, tensor, associated_data, progress.as_ref(), |cuda, data, options| {
        cuda.seal_from_device_to_buffer(keyset.get(), data, output, options)
    })
}

/// Seals a tensor, contiguous memory of a GPU, for `stream`: a socket, or whatever has `sendall` or `write`. It gets
/// the sealed file from its beginning to its end, some MiB at a time. Returns the tensor's bytes.
///
/// The stream is used by another thread than the caller's, one call at a time. An exception that it raises is raised
/// here. A raw stream (`io.RawIOBase`) that does not block raises `BlockingIOError` where it takes nothing. Ctrl-C and
/// an exception of `progress` end the wait for a socket's peer; a call of `sendall` or `write` ends by itself. If this
/// fails, the stream has got the beginning of a sealed file, which does not open.
#[pyfunction]
#[pyo3(signature = (tensor, stream, keyset, *, associated_data=None, progress=None))]
pub(crate) fn seal_from_device_to_stream(
    py: Python<'_>,
    tensor: &Bound<'_, PyAny>,
    stream: &Bound<'_, PyAny>,
    keyset: &Keyset,
    associated_data: Option<&Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let associated_data = &associated(associated_data)?;
    let stream = Stream::of(stream)?;
    seal_tensor(py, tensor, associated_data, progress.as_ref(), |cuda, data, options| {
        let stream = stream.until(options.cancel);
        cuda.seal_from_device_to_stream(keyset.get(), data, stream, options).map(drop)
    })
}

/// Seals a tensor somewhere; returns its bytes.
fn seal_tensor(
    py: Python<'_>,
    tensor: &Bound<'_, PyAny>,
    associated_data: &[u8],
    progress: Option<&Py<PyAny>>,
    seal: impl FnOnce(&Cuda, &DeviceSlice<'_>, Options<'_>) -> Result<(), Error> + Send,
) -> PyResult<u64> {
    let memory = Foreign::of(tensor, "tensor")?.ok_or_else(|| {
        PyTypeError::new_err("tensor is not memory of a GPU: seal and seal_bytes take others")
    })?;
    let device = match memory.device() {
        Some(device) => device.clone(),
        None => gpu(py, 0)?, // nothing lies anywhere
    };
    let cuda = Cuda::new(&device).or_raise()?;
    let (slice, stream) = (memory.slice(&device), memory.stream(&device));
    // What its owner has queued comes before.
    py.detach(|| stream.wait()).or_raise()?;
    choices(associated_data, progress).run(py, |options| seal(&cuda, &slice, options))?;
    Ok(memory.len() as u64)
}

/// Those of a call whose GPU is known already: no other backend computes.
fn choices<'a>(associated_data: &'a [u8], progress: Option<&'a Py<PyAny>>) -> Choices<'a> {
    Choices { associated_data, backend: "cpu", threads: None, progress }
}
