//! Memory of a GPU that this library owns, as a tensor for others.

use std::sync::Arc;

use lanecrypt::cuda::{DeviceBuffer, Error};
use pyo3::{
    exceptions::PyBufferError,
    prelude::*,
    types::{PyBytes, PyDict},
};

use crate::ffi::dlpack;
use crate::{
    errors::OrRaise,
    interpreter::{detached, detached_if_attached},
};

/// A buffer that is cleared and freed once all that runs on its device has ended: its last owner may
/// have queued work that still reads it, on streams that are unknown here.
pub(crate) struct Owned {
    /// There until it is dropped.
    buffer: Option<DeviceBuffer>,
}

impl Owned {
    pub(crate) fn new(buffer: DeviceBuffer) -> Self {
        Self { buffer: Some(buffer) }
    }

    pub(crate) fn len(&self) -> usize {
        self.buffer.as_ref().map_or(0, DeviceBuffer::len)
    }

    pub(crate) fn address(&self) -> u64 {
        let all = self.buffer.as_ref().and_then(|buffer| buffer.slice(0..buffer.len()).ok());
        all.map_or(0, |all| all.address())
    }

    /// Copies the first bytes of it.
    fn read(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.buffer.as_ref().map_or(Ok(()), |buffer| buffer.read(0, bytes))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let Some(buffer) = self.buffer.take() else { return };
        // Clearing and freeing it wait for the device as well.
        detached_if_attached(move || {
            if let Err(error) = buffer.device().synchronize() {
                log::warn!("before memory of a device is freed: {error}");
            }
            drop(buffer);
        });
    }
}

/// Bytes in the memory of a GPU: a tensor of one dimension for PyTorch, CuPy and any library that knows
/// DLPack or
/// `__cuda_array_interface__`. The memory lives as long as anybody has a tensor of it, and is cleared then.
#[pyclass(frozen, module = "lanecrypt.tink")]
pub(crate) struct DeviceTensor {
    owned: Arc<Owned>,
    device: i32,
}

impl DeviceTensor {
    pub(crate) fn new(owned: Owned, device: i32) -> Self {
        Self { owned: Arc::new(owned), device }
    }
}

#[pymethods]
impl DeviceTensor {
    /// Bytes of it.
    #[getter]
    fn nbytes(&self) -> usize {
        self.owned.len()
    }

    /// The type of its elements: bytes.
    #[getter]
    #[expect(clippy::unused_self, reason = "it is a property in Python")]
    fn dtype(&self) -> &'static str {
        "uint8"
    }

    /// Its one dimension.
    #[getter]
    fn shape(&self) -> (usize,) {
        (self.owned.len(),)
    }

    /// The number of its device.
    #[getter]
    fn device(&self) -> i32 {
        self.device
    }

    fn __len__(&self) -> usize {
        self.owned.len()
    }

    /// A copy in host memory.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.owned.len(), |bytes| {
            detached(py, usize::MAX, || self.owned.read(bytes)).or_raise()
        })
    }

    /// A capsule of DLPack. All of the memory is complete, whatever the stream.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = stream;
        let here = self.__dlpack_device__();
        if let Some(other) = dl_device.filter(|device| *device != here) {
            let text = format!("the tensor is on device {here:?} of DLPack, not on {other:?}");
            return Err(PyBufferError::new_err(text));
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err("copies are not made here"));
        }
        let is_versioned = max_version.is_some_and(|(major, _)| major >= dlpack::VERSION.0);
        dlpack::export(py, &self.owned, self.device, is_versioned)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CUDA, self.device)
    }

    /// CUDA's array interface, version 3. All of the memory is complete, so that no stream is named.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        let address = if self.owned.len() == 0 { 0 } else { self.owned.address() };
        interface.set_item("shape", self.shape())?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (address, false))?;
        interface.set_item("version", 3)?;
        interface.set_item("strides", py.None())?;
        interface.set_item("stream", py.None())?;
        Ok(interface)
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "tobytes copies it to the host")
    }

    fn __repr__(&self) -> String {
        format!("<DeviceTensor of {} bytes on cuda:{}>", self.owned.len(), self.device)
    }
}
