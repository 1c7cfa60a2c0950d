//! DLPack's capsules, and slices of memory of a device that other libraries own: the only file that follows
//! addresses of theirs.
//!
//! The structures are those of DLPack 1 (`dlpack.h`), and of the versions before it, which Python packages
//! still make. A capsule is consumed by renaming it; who has renamed it calls its deleter, once.

use std::{
    ffi::{CStr, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    slice,
    sync::Arc,
};

use lanecrypt::cuda::{self, Device, DeviceSlice, DeviceSliceMut, Stream};
use pyo3::{Bound, PyAny, PyResult, Python, exceptions::PyBufferError, ffi};

use crate::tensor::Owned;

/// `kDLCUDA`.
pub(crate) const CUDA: i32 = 2;
/// `kDLUInt`.
const UNSIGNED: u8 = 1;
/// Flags of a tensor with a version: `DLPACK_FLAG_BITMASK_READ_ONLY` and `_IS_COPIED`.
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;
/// The version whose structures these are.
pub(crate) const VERSION: (u32, u32) = (1, 0);

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";
const VERSIONED_NAME: &CStr = c"dltensor_versioned";
const VERSIONED_USED: &CStr = c"used_dltensor_versioned";

type Deleter<M> = unsafe extern "C" fn(*mut M);

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<Deleter<Self>>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<Deleter<Self>>,
    flags: u64,
    tensor: Tensor,
}

/// A tensor that was taken out of its capsule; given back when dropped.
enum Taken {
    Old(*mut Managed),
    New(*mut Versioned),
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: the structure is the producer's, which keeps it until its deleter is called: here, once,
        // as a tensor is never taken out of a capsule that was renamed.
        unsafe {
            match *self {
                Self::Old(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
                Self::New(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
            }
        }
    }
}

/// What a capsule said of its tensor, whose memory stays as long as this is held.
pub(crate) struct Described {
    pub(crate) address: u64,
    pub(crate) device_type: i32,
    pub(crate) device: i32,
    pub(crate) shape: Vec<i64>,
    /// In elements; none where they lie one behind the other.
    pub(crate) strides: Option<Vec<i64>>,
    /// Bits of an element.
    pub(crate) bits: u64,
    pub(crate) is_read_only: bool,
    pub(crate) is_copied: bool,
    _taken: Taken,
}

/// Takes the tensor out of a capsule.
///
/// # Errors
/// `BufferError` for what is no capsule of DLPack, one that was used, and a version that is not known.
pub(crate) fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Described> {
    let object = capsule.as_ptr();
    // SAFETY: the object is alive, and the names are constants. A capsule with one of these names points to
    // the structure of it, which is the producer's until it is renamed.
    unsafe {
        if ffi::PyCapsule_IsValid(object, VERSIONED_NAME.as_ptr()) == 1 {
            let pointer = ffi::PyCapsule_GetPointer(object, VERSIONED_NAME.as_ptr());
            ffi::PyCapsule_SetName(object, VERSIONED_USED.as_ptr());
            let managed: *mut Versioned = pointer.cast();
            let taken = Taken::New(managed);
            if (*managed).major != VERSION.0 {
                let (major, minor) = ((*managed).major, (*managed).minor);
                return Err(PyBufferError::new_err(format!(
                    "the tensor is of version {major}.{minor} of DLPack; expected is {}",
                    VERSION.0
                )));
            }
            return Ok(describe(&raw const (*managed).tensor, (*managed).flags, taken));
        }
        if ffi::PyCapsule_IsValid(object, NAME.as_ptr()) == 1 {
            let pointer = ffi::PyCapsule_GetPointer(object, NAME.as_ptr());
            ffi::PyCapsule_SetName(object, USED.as_ptr());
            let managed: *mut Managed = pointer.cast();
            return Ok(describe(&raw const (*managed).tensor, 0, Taken::Old(managed)));
        }
    }
    Err(PyBufferError::new_err("__dlpack__ gave no capsule of a tensor that nobody has used"))
}

/// Copies what a tensor says of itself.
///
/// # Safety
/// It is a live tensor, whose flags these are.
unsafe fn describe(tensor: *const Tensor, flags: u64, taken: Taken) -> Described {
    // SAFETY: the caller vouches for it; shape, and strides where there are any, have as many numbers as
    // the tensor has dimensions.
    unsafe {
        let tensor = &*tensor;
        let count = usize::try_from(tensor.dimensions).unwrap_or(0);
        let numbers = |start: *mut i64| {
            let is_there = !start.is_null() && count > 0;
            is_there.then(|| slice::from_raw_parts(start, count).to_vec())
        };
        Described {
            address: (tensor.data.expose_provenance() as u64).wrapping_add(tensor.byte_offset),
            device_type: tensor.device_type,
            device: tensor.device_id,
            shape: numbers(tensor.shape).unwrap_or_default(),
            strides: numbers(tensor.strides),
            bits: u64::from(tensor.bits) * u64::from(tensor.lanes),
            is_read_only: flags & READ_ONLY != 0,
            is_copied: flags & IS_COPIED != 0,
            _taken: taken,
        }
    }
}

/// What a capsule of ours leads to: `managed` first, so that both have one address.
#[repr(C)]
struct Exported<M> {
    managed: M,
    shape: [i64; 1],
    strides: [i64; 1],
    /// Frees the memory when the last owner is gone.
    _owner: Arc<Owned>,
}

/// A capsule of all bytes of `owner`, which lives as long as the tensor is in use.
///
/// # Errors
/// Those of Python, for want of memory.
pub(crate) fn export<'py>(
    py: Python<'py>,
    owner: &Arc<Owned>,
    device: i32,
    is_versioned: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let length = owner.len().cast_signed() as i64;
    let tensor = |shape, strides| Tensor {
        data: std::ptr::without_provenance_mut(owner.address() as usize),
        device_type: CUDA,
        device_id: device,
        dimensions: 1,
        code: UNSIGNED,
        bits: 8,
        lanes: 1,
        shape,
        strides,
        byte_offset: 0,
    };
    let null = std::ptr::null_mut();
    let (pointer, name): (*mut c_void, _) = if is_versioned {
        let (major, minor) = VERSION;
        let deleter = Some(delete::<Versioned> as _);
        let tensor = tensor(null, null);
        let managed = Versioned { major, minor, context: null.cast(), deleter, flags: 0, tensor };
        (boxed(managed, owner, length, |managed| &mut managed.tensor).cast(), VERSIONED_NAME)
    } else {
        let (tensor, deleter) = (tensor(null, null), Some(delete::<Managed> as Deleter<Managed>));
        let managed = Managed { tensor, context: null.cast(), deleter };
        (boxed(managed, owner, length, |managed| &mut managed.tensor).cast(), NAME)
    };
    // SAFETY: the name is a constant, the pointer to a structure of this name. What becomes of it is up to
    // whoever renames the capsule, or to its destructor.
    unsafe {
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy));
        if capsule.is_null() {
            delete_named(pointer, name);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Puts a structure where it stays, with the shape that its tensor points to.
fn boxed<M>(
    managed: M,
    owner: &Arc<Owned>,
    length: i64,
    tensor: fn(&mut M) -> &mut Tensor,
) -> *mut Exported<M> {
    let exported = Exported { managed, shape: [length], strides: [1], _owner: Arc::clone(owner) };
    let pointer = Box::into_raw(Box::new(exported));
    // SAFETY: the box is ours alone so far; its fields stay where they are.
    unsafe {
        let (shape, strides) = (&raw mut (*pointer).shape, &raw mut (*pointer).strides);
        let tensor = tensor(&mut (*pointer).managed);
        (tensor.shape, tensor.strides) = (shape.cast(), strides.cast());
    }
    pointer
}

/// The deleter of what was exported.
unsafe extern "C" fn delete<M>(managed: *mut M) {
    // SAFETY: it is the first field of what `boxed` put into a box, and whoever has the tensor calls this
    // once. Nothing unwinds into the caller.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe {
        drop(Box::from_raw(managed.cast::<Exported<M>>()));
    }));
    if dropped.is_err() {
        log::error!("memory of a device was not freed");
    }
}

/// Frees what a capsule of this name leads to.
///
/// # Safety
/// It is what `export` made, and it has not been taken.
unsafe fn delete_named(pointer: *mut c_void, name: &CStr) {
    // SAFETY: the caller vouches for it.
    unsafe {
        if name == NAME {
            delete::<Managed>(pointer.cast());
        } else {
            delete::<Versioned>(pointer.cast());
        }
    }
}

/// The destructor of a capsule: an unused one still has its tensor.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    for name in [NAME, VERSIONED_NAME] {
        // SAFETY: Python calls this with a capsule of `export`'s. Under these names it still owns the tensor.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 1 {
                delete_named(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()), name);
            }
        }
    }
}

/// Whether an object is of a type with buffers, which are in host memory.
pub(crate) fn has_buffer(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive.
    unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) == 1 }
}

/// A foreign stream, by what `__cuda_array_interface__` says of it.
///
/// # Errors
/// Those of the driver, and for a stream of another context.
pub(crate) fn stream(device: &Device, handle: usize) -> Result<Stream, cuda::Error> {
    // SAFETY: whoever gave the tensor vouches for its stream, which it names so that work is queued there. It
    // is used during the call only, which waits for all that it queues.
    unsafe { Stream::from_raw(device, std::ptr::with_exposed_provenance_mut(handle)) }
}

/// Memory of a tensor that the caller holds.
pub(crate) fn slice(device: &Device, address: u64, length: usize) -> DeviceSlice<'_> {
    // SAFETY: whoever gave the tensor vouches for its memory, and that it is not used elsewhere during the
    // call, which holds the tensor and waits for all that it queues. No reference to it is ever made.
    unsafe { DeviceSlice::from_raw(device, address, length) }
}

/// The same, to write.
pub(crate) fn slice_mut(device: &Device, address: u64, length: usize) -> DeviceSliceMut<'_> {
    // SAFETY: as in `slice`.
    unsafe { DeviceSliceMut::from_raw(device, address, length) }
}
