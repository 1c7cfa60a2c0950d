//! Frames of memory of GPUs: many blocks sealed one by one, and opened back, in one call.

use std::ops::Range;

use lanecrypt::cuda::Device;
use lanecrypt_tink::{
    Cuda, Error,
    frames::{FrameKey, sealed_bytes, split},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyList, PyTuple},
};
use zeroize::Zeroizing;

use crate::{
    buffers::copied,
    errors::{IntoPython, OrRaise},
    ffi::{Bytes, Reading, dlpack},
    interpreter::detached,
    tensor::{Foreign, OwnersStream, device as gpu},
};

/// Seals blocks of memory of a GPU into frames, which lie one behind the other in the result.
///
/// `tensors` is a tensor, or a list of tensors of one GPU, each contiguous. Without `blocks` each tensor is a frame. With
/// `blocks`, numbers in the first dimension of every tensor, there is a frame for each block of each tensor: those of the
/// first block, tensor by tensor, then those of the second. `associated_data` has that of each frame, in this order: the
/// name of its block, so that two that were swapped are noticed.
#[pyfunction]
#[pyo3(signature = (key, tensors, *, blocks=None, associated_data=None))]
pub(crate) fn seal_frames<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    tensors: &Bound<'py, PyAny>,
    blocks: Option<Vec<usize>>,
    associated_data: Option<Vec<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let call = Call::new(key, tensors, blocks.as_deref(), associated_data)?;
    let bytes = sealed_bytes(call.places.iter().map(ExactSizeIterator::len));
    PyBytes::new_with(py, bytes, |output| call.seal(py, output))
}

/// Seals blocks as `seal` does, into `out`: anything writable of as many bytes as the frames have. Returns these.
///
/// Into pinned memory the GPU copies by itself, at the speed of the bus.
#[pyfunction]
#[pyo3(signature = (out, key, tensors, *, blocks=None, associated_data=None))]
pub(crate) fn seal_frames_into(
    py: Python<'_>,
    out: &Bound<'_, PyAny>,
    key: &Bound<'_, PyAny>,
    tensors: &Bound<'_, PyAny>,
    blocks: Option<Vec<usize>>,
    associated_data: Option<Vec<Bound<'_, PyAny>>>,
) -> PyResult<usize> {
    let call = Call::new(key, tensors, blocks.as_deref(), associated_data)?;
    let mut out = Bytes::of(out, "out")?.to_write()?;
    call.seal(py, out.as_mut_slice())?;
    Ok(out.len())
}

/// Opens frames into blocks of memory of a GPU, which are named as in `seal`.
///
/// `sealed` is the frames one behind the other, or a list with each of them. A frame that was changed, swapped, or sealed
/// under another key or with other associated data raises `NotAuthentic`, whose `frames` has the numbers of all such
/// frames: their blocks are zeros then, and all others are complete. With `strict=False` these numbers are returned
/// instead; a list without any says that all is right.
#[pyfunction]
#[pyo3(signature = (key, sealed, tensors, *, blocks=None, associated_data=None, strict=true))]
pub(crate) fn open_frames(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    sealed: &Bound<'_, PyAny>,
    tensors: &Bound<'_, PyAny>,
    blocks: Option<Vec<usize>>,
    associated_data: Option<Vec<Bound<'_, PyAny>>>,
    strict: bool,
) -> PyResult<Vec<u64>> {
    let call = Call::new(key, tensors, blocks.as_deref(), associated_data)?;
    call.tensors.iter().try_for_each(Foreign::require_writable)?;
    call.require_apart()?;
    let sealed = list_of(sealed)
        .unwrap_or_else(|| vec![sealed.clone()])
        .iter()
        .map(|object| Bytes::of(object, "sealed")?.to_read())
        .collect::<PyResult<Vec<_>>>()?;
    match call.open(py, &sealed) {
        Ok(()) => Ok(Vec::new()),
        Err(Error::FramesNotAuthentic { frames }) if !strict => Ok(frames),
        Err(Error::FramesNotAuthentic { frames }) => {
            let raised = Error::FramesNotAuthentic { frames: frames.clone() }.into_python();
            raised.value(py).setattr("frames", frames)?;
            Err(raised)
        }
        Err(error) => Err(error.into_python()),
    }
}

/// What a call is over.
struct Call {
    key: Zeroizing<Vec<u8>>,
    tensors: Vec<Foreign>,
    device: Device,
    /// Where the plaintexts of frames lie.
    places: Vec<Range<usize>>,
    /// Copies: where frames go may be the memory of the originals.
    associated_data: Vec<Zeroizing<Vec<u8>>>,
}

impl Call {
    fn new(
        key: &Bound<'_, PyAny>,
        tensors: &Bound<'_, PyAny>,
        blocks: Option<&[usize]>,
        associated_data: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        let tensors = list_of(tensors).unwrap_or_else(|| vec![tensors.clone()]);
        let of = |tensor: &Bound<'_, PyAny>| {
            let memory = Foreign::of(tensor, "tensor")?;
            memory.ok_or_else(|| PyTypeError::new_err("tensor is not memory of a GPU"))
        };
        let tensors = tensors.iter().map(of).collect::<PyResult<Vec<_>>>()?;
        let mut devices = tensors.iter().filter_map(Foreign::device);
        let device = devices.next().cloned().map_or_else(|| gpu(key.py(), 0), Ok)?;
        if tensors.iter().filter_map(Foreign::device).any(|other| *other != device) {
            return Err(PyValueError::new_err("the tensors are on different devices"));
        }
        let places = match blocks {
            None => tensors.iter().map(Foreign::addresses).collect(),
            Some(blocks) => {
                let of_block = |&block| tensors.iter().map(move |tensor| tensor.block(block));
                blocks.iter().flat_map(of_block).collect::<PyResult<Vec<_>>>()?
            }
        };
        let data = |object: &Bound<'_, PyAny>| copied(object, "associated_data");
        let associated_data = associated_data.unwrap_or_default();
        let associated_data = associated_data.iter().map(data).collect::<PyResult<_>>()?;
        let key = copied(key, "key")?;
        Ok(Self { key, tensors, device, places, associated_data })
    }

    /// Fails where two frames would be opened to the same bytes.
    fn require_apart(&self) -> PyResult<()> {
        let mut places: Vec<_> = self.places.iter().filter(|place| !place.is_empty()).collect();
        places.sort_unstable_by_key(|place| place.start);
        if places.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return Err(PyValueError::new_err("two frames have the same memory"));
        }
        Ok(())
    }

    /// Waits for what the tensors' owners have queued.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let there = self.tensors.iter().filter(|tensor| tensor.device().is_some());
        let streams: Vec<_> = there.map(|tensor| tensor.stream(&self.device)).collect();
        py.detach(|| streams.into_iter().try_for_each(OwnersStream::wait)).or_raise()
    }

    fn data(&self) -> Vec<&[u8]> {
        self.associated_data.iter().map(|data| data.as_slice()).collect()
    }

    fn seal(&self, py: Python<'_>, output: &mut [u8]) -> PyResult<()> {
        self.wait(py)?;
        let Self { key, device, places, .. } = self;
        let data = self.data();
        detached(py, usize::MAX, || {
            let region =
                |place: &Range<usize>| dlpack::slice(device, place.start as u64, place.len());
            let regions: Vec<_> = places.iter().map(region).collect();
            Cuda::new(device)?.seal_frames(&FrameKey::new(key)?, &regions, &data, output)
        })
        .or_raise()
    }

    fn open(&self, py: Python<'_>, sealed: &[Reading]) -> Result<(), Error> {
        self.wait(py).map_err(std::io::Error::other)?;
        let Self { key, device, places, .. } = self;
        let data = self.data();
        let sealed: Vec<_> = sealed.iter().map(Reading::as_slice).collect();
        detached(py, usize::MAX, || {
            let frames = match sealed[..] {
                [all] if places.len() != 1 => split(all)?,
                _ => sealed,
            };
            let region =
                |place: &Range<usize>| dlpack::slice_mut(device, place.start as u64, place.len());
            let mut regions: Vec<_> = places.iter().map(region).collect();
            Cuda::new(device)?.open_frames(&FrameKey::new(key)?, &frames, &data, &mut regions)
        })
    }
}

/// What a list or a tuple has.
fn list_of<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let list = object.cast::<PyList>().map(|list| list.iter().collect());
    list.or_else(|_| object.cast::<PyTuple>().map(|tuple| tuple.iter().collect())).ok()
}
