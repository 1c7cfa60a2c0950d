//! Memory of a GPU as its owner describes it: by `__cuda_array_interface__`, or by DLPack.

use std::ops::Range;

use lanecrypt::cuda::{Device, DeviceSlice, DeviceSliceMut, Error, Stream};
use pyo3::{
    exceptions::{PyBufferError, PyIndexError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyDict, PyTuple},
};

use crate::errors::OrRaise;
use crate::ffi::dlpack::{self, Described};

/// The stream of `__cuda_array_interface__` that is CUDA's default one.
const LEGACY_DEFAULT: usize = 1;

/// A tensor or an array of another library: contiguous memory of a GPU, held as long as this is.
pub(crate) struct Foreign {
    name: &'static str,
    /// None where there is no memory.
    device: Option<Device>,
    address: u64,
    bytes: usize,
    /// The length of its first dimension.
    rows: usize,
    is_read_only: bool,
    /// The stream that its owner wants it used on.
    stream: Option<usize>,
    /// What keeps the memory there.
    _held: (Option<Py<PyAny>>, Option<Described>),
}

impl Foreign {
    /// What an object says of its memory; nothing for one whose memory is the host's. Errors call it `name`.
    ///
    /// # Errors
    /// `BufferError` for memory that is not contiguous, `ValueError` for what is of no GPU, and those of the
    /// object itself.
    pub(crate) fn of(object: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Option<Self>> {
        // CuPy's arrays are of a type with a buffer, which they refuse to give.
        let interface = object.getattr_opt("__cuda_array_interface__")?;
        if interface.is_none() && dlpack::has_buffer(object) {
            return Ok(None);
        }
        let has_dlpack = object.hasattr("__dlpack_device__")?;
        if let Some(interface) = interface {
            let interface = interface.cast_into::<PyDict>()?;
            // Without a stream it says nothing of work that is still to be done; DLPack does.
            if !has_dlpack || entry(&interface, "stream")?.is_some() {
                return Self::of_interface(object, &interface, name).map(Some);
            }
        }
        if !has_dlpack {
            return Ok(None);
        }
        let (kind, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        if kind != dlpack::CUDA {
            return Err(PyTypeError::new_err(format!(
                "{name} has no buffer, and as a DLPack tensor it is on a device of kind {kind}; expected is \
                 a buffer, or a tensor of kind {} (CUDA)",
                dlpack::CUDA
            )));
        }
        Self::of_tensor(object, name).map(Some)
    }

    /// By [CUDA's array interface](https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html),
    /// version 3.
    fn of_interface(
        object: &Bound<'_, PyAny>,
        interface: &Bound<'_, PyDict>,
        name: &'static str,
    ) -> PyResult<Self> {
        let required = |key| {
            entry(interface, key)?.ok_or_else(|| {
                PyValueError::new_err(format!("__cuda_array_interface__ of {name} has no {key:?}"))
            })
        };
        if entry(interface, "mask")?.is_some() {
            return Err(PyBufferError::new_err(format!("{name} has a mask")));
        }
        let (address, is_read_only): (u64, bool) = required("data")?.extract()?;
        let kind: String = required("typestr")?.extract()?;
        let item: Option<u64> = kind.get(2..).and_then(|size| size.parse().ok());
        let item = item.ok_or_else(|| {
            PyValueError::new_err(format!(
                "typestr of {name} is {kind:?}; expected is, say, \"<f4\""
            ))
        })?;
        let shape = numbers(&required("shape")?)?;
        let strides = entry(interface, "strides")?.map(|strides| numbers(&strides)).transpose()?;
        let bytes = contiguous_bytes(name, &shape, strides.as_deref(), item, item)?;
        let stream = match entry(interface, "stream")? {
            None => None,
            Some(stream) => match stream.extract::<usize>()? {
                0 => {
                    let text = format!("stream of {name} is 0, which does not say which one it is");
                    return Err(PyValueError::new_err(text));
                }
                stream => Some(stream),
            },
        };
        let device = if bytes > 0 { Some(found(object.py(), address)?) } else { None };
        let held = (Some(object.clone().unbind()), None);
        let rows = rows(&shape);
        Ok(Self { name, device, address, bytes, rows, is_read_only, stream, _held: held })
    }

    /// By DLPack: the owner lets CUDA's default stream wait for what it has queued.
    fn of_tensor(object: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Self> {
        let described = dlpack::take(&capsule(object)?)?;
        if described.device_type != dlpack::CUDA {
            let text = format!("{name} is on a device of kind {}", described.device_type);
            return Err(PyBufferError::new_err(text));
        }
        if described.is_copied {
            return Err(PyBufferError::new_err(format!("__dlpack__ of {name} gave a copy")));
        }
        if !described.bits.is_multiple_of(8) {
            let text =
                format!("elements of {name} have {} bits; expected are bytes", described.bits);
            return Err(PyBufferError::new_err(text));
        }
        let Described { shape, strides, bits, .. } = &described;
        let bytes = contiguous_bytes(name, shape, strides.as_deref(), 1, bits / 8)?;
        let number = usize::try_from(described.device).unwrap_or(usize::MAX);
        let device = if bytes > 0 { Some(super::device(object.py(), number)?) } else { None };
        let (address, is_read_only) = (described.address, described.is_read_only);
        let rows = rows(shape);
        let held = (None, Some(described));
        Ok(Self { name, device, address, bytes, rows, is_read_only, stream: None, _held: held })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Where it lies; none where there is nothing.
    pub(crate) fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// Where one of the blocks lies that its first dimension counts.
    ///
    /// # Errors
    /// `IndexError`.
    pub(crate) fn block(&self, number: usize) -> PyResult<Range<usize>> {
        if number >= self.rows {
            let text = format!("block {number} of {} with {} blocks", self.name, self.rows);
            return Err(PyIndexError::new_err(text));
        }
        let bytes = self.bytes / self.rows;
        let start = self.address as usize + number * bytes;
        Ok(start..start + bytes)
    }

    /// Fails where results may not be written there.
    ///
    /// # Errors
    /// `BufferError`.
    pub(crate) fn require_writable(&self) -> PyResult<()> {
        if self.is_read_only {
            return Err(PyBufferError::new_err(format!(
                "{} is read-only, and the result should be written there",
                self.name
            )));
        }
        Ok(())
    }

    /// Where it lies, as far as addresses go.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let start = self.address as usize;
        start..start.saturating_add(self.bytes)
    }

    /// Where its owner wants it used.
    pub(crate) fn stream<'a>(&self, device: &'a Device) -> OwnersStream<'a> {
        OwnersStream { device, handle: self.stream }
    }

    pub(crate) fn slice<'a>(&self, device: &'a Device) -> DeviceSlice<'a> {
        dlpack::slice(device, self.address, self.bytes)
    }

    /// # Errors
    /// `BufferError` for memory that its owner does not let be written.
    pub(crate) fn slice_mut<'a>(&self, device: &'a Device) -> PyResult<DeviceSliceMut<'a>> {
        self.require_writable()?;
        Ok(dlpack::slice_mut(device, self.address, self.bytes))
    }
}

/// The stream that the owner of a tensor wants it used on, not looked at yet: another thread may have it, as it may not
/// have the tensor.
#[derive(Clone, Copy)]
pub(crate) struct OwnersStream<'a> {
    device: &'a Device,
    handle: Option<usize>,
}

impl OwnersStream<'_> {
    /// The owner's own, or one that is in order with CUDA's default. Dropping it waits, as [`wait`](Self::wait) does:
    /// both are for who has released the interpreter.
    ///
    /// # Errors
    /// Those of the driver.
    pub(crate) fn open(self) -> Result<Stream, Error> {
        match self.handle {
            None | Some(LEGACY_DEFAULT) => Stream::new(self.device),
            Some(handle) => dlpack::stream(self.device, handle),
        }
    }

    /// Waits for what the owner has queued, on the thread that calls: that is to be the caller's own, as one of CUDA's
    /// handles means another stream on every thread.
    ///
    /// # Errors
    /// Those of the driver, and of what was queued.
    pub(crate) fn wait(self) -> Result<(), Error> {
        self.open()?.synchronize()
    }
}

/// What stands there, unless it is `None`.
fn entry<'py>(interface: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(interface.get_item(key)?.filter(|value| !value.is_none()))
}

fn numbers(tuple: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    tuple.cast::<PyTuple>()?.iter().map(|number| number.extract::<i64>()).collect()
}

/// The capsule of a tensor, of the newest version that its owner knows, and never a copy.
fn capsule<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let named = PyDict::new(py);
    named.set_item("stream", LEGACY_DEFAULT)?;
    let newest = named.copy()?;
    newest.set_item("max_version", dlpack::VERSION)?;
    newest.set_item("copy", false)?;
    match object.call_method("__dlpack__", (), Some(&newest)) {
        // Who is older than these arguments does not know them.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            object.call_method("__dlpack__", (), Some(&named))
        }
        result => result,
    }
}

/// The device that has this memory. The driver may have to be waited for.
fn found(py: Python<'_>, address: u64) -> PyResult<Device> {
    py.detach(|| device_of(address)).or_raise()
}

fn device_of(address: u64) -> Result<Device, Error> {
    #[cfg(feature = "host-kernels")]
    {
        let _ = address;
        Device::on_host()
    }
    #[cfg(not(feature = "host-kernels"))]
    Device::of_memory(address)
}

/// The length of the first dimension; of what has none, 1.
fn rows(shape: &[i64]) -> usize {
    shape.first().map_or(1, |&length| usize::try_from(length).unwrap_or(0))
}

/// Bytes of elements of `item` bytes, which must lie one behind the other: the last index counts
/// `stride_of_one`, and every other one what the one after it has in all.
fn contiguous_bytes(
    name: &'static str,
    shape: &[i64],
    strides: Option<&[i64]>,
    stride_of_one: u64,
    item: u64,
) -> PyResult<usize> {
    let too_large = || PyValueError::new_err(format!("{name} of shape {shape:?} is too large"));
    let mut count = 1_u64;
    for &length in shape {
        let length = u64::try_from(length).map_err(|_| too_large())?;
        count = count.checked_mul(length).ok_or_else(too_large)?;
    }
    let bytes = count.checked_mul(item).and_then(|bytes| usize::try_from(bytes).ok());
    let bytes = bytes.ok_or_else(too_large)?;
    let Some(strides) = strides.filter(|_| bytes > 0) else { return Ok(bytes) };
    let mut expected = stride_of_one.cast_signed();
    for (index, (&length, &stride)) in shape.iter().zip(strides).enumerate().rev() {
        if length > 1 && stride != expected {
            return Err(PyBufferError::new_err(format!(
                "{name} is not contiguous: dimension {index} of {shape:?} has the stride {stride}, and its \
                 bytes must lie one after the other"
            )));
        }
        expected = expected.saturating_mul(length);
    }
    Ok(bytes)
}
