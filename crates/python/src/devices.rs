//! The GPUs of this machine.

use lanecrypt::cuda;
use pyo3::prelude::*;

/// A GPU: `backend=f"cuda:{device.number}"` runs there.
#[pyclass(frozen, get_all, module = "lanecrypt")]
pub(crate) struct Device {
    /// Its number, from 0.
    number: usize,
    /// Its name, as the driver has it.
    name: String,
    /// Bytes of its memory.
    bytes: u64,
    /// Its compute capability, major and minor.
    capability: (u32, u32),
}

#[pymethods]
impl Device {
    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "lanecrypt.devices() has those of a process")
    }

    fn __repr__(&self) -> String {
        let Self { number, name, bytes, capability: (major, minor) } = self;
        format!("<Device cuda:{number} {name:?}, capability {major}.{minor}, {bytes} bytes>")
    }
}

/// The GPUs of this machine that can be used; none where there is no driver.
///
/// >>> import lanecrypt
/// >>> [device.number for device in lanecrypt.devices()] == list(range(len(lanecrypt.devices())))
/// True
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> Vec<Device> {
    let open = |number| Some((number, cuda::Device::number(number).ok()?));
    // The first time it takes a while.
    py.detach(|| (0..cuda::Device::count().unwrap_or(0)).filter_map(open).map(described).collect())
}

/// The text of `lanecrypt.cuh`: AES and GF(2^128) as functions of a thread, for kernels that are compiled
/// while a program runs, such as by `CuPy` and Numba.
///
/// >>> import lanecrypt
/// >>> "Block16 aes_mmo(" in lanecrypt.cuda_header()
/// True
#[pyfunction]
pub(crate) fn cuda_header() -> &'static str {
    cuda::kernels::DEVICE_HEADER
}

fn described((number, device): (usize, cuda::Device)) -> Device {
    let properties = device.properties();
    Device {
        number,
        name: properties.name.clone(),
        bytes: properties.memory_bytes,
        capability: properties.compute_capability,
    }
}
