//! Memory of Python's objects: the only file that makes references of addresses.
//!
//! References are exclusive or shared among all that this module hands out: a register of ranges in use
//! keeps two calls, of whatever threads, from having references to the same bytes of which one can
//! write. This cannot keep other code of the process, Python's or a library's, from writing to a
//! buffer while the interpreter is released: callers are told not to.
#![allow(unsafe_code)]

use std::{
    ffi::c_char,
    net::TcpStream,
    ops::Range,
    os::fd::{FromRawFd, OwnedFd},
    process,
    ptr::NonNull,
    slice,
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::{
    Bound, PyAny, PyErr, PyResult, Python, exceptions::PyBufferError, ffi as python,
    types::PyAnyMethods,
};

pub(crate) mod dlpack;
pub(crate) mod image;

/// A buffer of a Python object, which Python neither moves nor frees until this is dropped. That of `pyo3` refuses those
/// without shape or strides, which objects of one element and arrays of ctypes have.
struct Buffer(NonNull<python::Py_buffer>);

// SAFETY: what Python has filled in stays as it is; memory behind it is used only by who has a claim, and the buffer is
// released by who has the interpreter's lock.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// # Errors
    /// `TypeError` for objects without a buffer; those of the object.
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // By a pointer: Python may let the view point to itself.
        let view = Self(NonNull::from(Box::leak(Box::new(python::Py_buffer::new()))));
        // SAFETY: this thread has the interpreter's lock, and the object lives. The view stays at its place until it is
        // released; where it is not filled in, it has no object, and releasing it does nothing.
        let filled = unsafe {
            python::PyObject_GetBuffer(object.as_ptr(), view.0.as_ptr(), python::PyBUF_FULL_RO)
        };
        if filled == 0 { Ok(view) } else { Err(PyErr::fetch(object.py())) }
    }

    fn view(&self) -> &python::Py_buffer {
        // SAFETY: it is this one's until the drop, and Python does not change it meanwhile.
        unsafe { self.0.as_ref() }
    }

    fn is_contiguous(&self) -> bool {
        let order = c_char::from_ne_bytes(*b"C");
        // SAFETY: Python has filled in the view, which is only read.
        unsafe { python::PyBuffer_IsContiguous(self.view(), order) != 0 }
    }

    /// Bytes from an element to the next, in each dimension; none where they lie one after the other anyway.
    fn strides(&self) -> &[isize] {
        let view = self.view();
        if view.strides.is_null() {
            return &[];
        }
        // SAFETY: the object has as many strides as dimensions, which stay until the view is released.
        unsafe { slice::from_raw_parts(view.strides, view.ndim.unsigned_abs() as usize) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Once the interpreter has ended there is nothing to release.
        Python::try_attach(|_| {
            // SAFETY: this thread has the interpreter's lock, and the view is released once.
            unsafe { python::PyBuffer_Release(self.0.as_ptr()) }
        });
        // SAFETY: it was leaked when this was made, and nothing has it any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Contiguous bytes of a Python object, or a part of them, held but not looked at.
#[derive(Clone)]
pub(crate) struct Bytes {
    buffer: Arc<Buffer>,
    part: Range<usize>,
    name: &'static str,
}

impl Bytes {
    /// All bytes of an object with a buffer; errors call it `name`.
    ///
    /// # Errors
    /// `TypeError` for objects without a buffer; `BufferError` for one that is not contiguous.
    pub(crate) fn of(object: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Self> {
        let buffer = Buffer::of(object)?;
        if !buffer.is_contiguous() {
            return Err(PyBufferError::new_err(format!(
                "{name} is not contiguous: it has the strides {:?}, and its bytes must lie one after \
                 the other",
                buffer.strides()
            )));
        }
        let part = 0..buffer.view().len.unsigned_abs();
        Ok(Self { buffer: Arc::new(buffer), part, name })
    }

    /// A part of them, or as much of it as there is.
    pub(crate) fn part(&self, part: Range<usize>) -> Self {
        let at = |offset: usize| self.part.start.saturating_add(offset).min(self.part.end);
        Self { part: at(part.start)..at(part.end), ..self.clone() }
    }

    pub(crate) fn len(&self) -> usize {
        self.part.len()
    }

    /// What errors call them.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether both have bytes in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        overlap(&self.addresses(), &other.addresses())
    }

    /// Where they lie.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let start = self.buffer.view().buf.addr();
        start + self.part.start..start + self.part.end
    }

    fn address(&self) -> *mut u8 {
        self.buffer.view().buf.cast::<u8>().wrapping_add(self.part.start)
    }

    /// For reading, until the result is dropped.
    ///
    /// # Errors
    /// `BufferError` while another call writes there.
    pub(crate) fn to_read(&self) -> PyResult<Reading> {
        let claim = Claim::new(self, false)?;
        Ok(Reading { bytes: self.clone(), _claim: claim })
    }

    /// For writing, until the result is dropped.
    ///
    /// # Errors
    /// `BufferError` for a read-only object, and while another call uses these bytes.
    pub(crate) fn to_write(&self) -> PyResult<Writing> {
        if self.buffer.view().readonly != 0 {
            return Err(PyBufferError::new_err(format!(
                "{} is read-only, and the result should be written there",
                self.name
            )));
        }
        let claim = Claim::new(self, true)?;
        Ok(Writing { bytes: self.clone(), _claim: claim })
    }
}

/// Bytes that are read.
pub(crate) struct Reading {
    bytes: Bytes,
    _claim: Claim,
}

impl Reading {
    pub(crate) fn as_slice(&self) -> &[u8] {
        if self.bytes.len() == 0 {
            return &[]; // Python may have no address for it
        }
        // SAFETY: the buffer is contiguous, has at least `part.end` bytes, and lives as long as
        // `self.bytes`: while it is held, Python neither moves nor frees it. No reference of ours writes
        // there as long as the claim is held; other code may not, as callers are told.
        unsafe { slice::from_raw_parts(self.bytes.address(), self.bytes.len()) }
    }
}

/// Bytes that are written, and may be read.
pub(crate) struct Writing {
    bytes: Bytes,
    _claim: Claim,
}

impl Writing {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        if self.bytes.len() == 0 {
            return &mut [];
        }
        // SAFETY: as in `Reading::as_slice`; besides, the buffer is writable, and no other reference of
        // ours is to any of these bytes as long as the claim is held. `&mut self` makes it one at a time.
        unsafe { slice::from_raw_parts_mut(self.bytes.address(), self.bytes.len()) }
    }
}

/// What calls use. The interpreter's lock is held round every use of it, so that no fork happens within.
static IN_USE: Mutex<InUse> = Mutex::new(InUse { process: 0, ranges: Vec::new() });

/// Ranges of addresses that calls of a process use, and whether they write there.
struct InUse {
    process: u32,
    ranges: Vec<(Range<usize>, bool)>,
}

/// An entry of the register, taken out when dropped.
struct Claim {
    range: Range<usize>,
    writes: bool,
}

impl Claim {
    fn new(bytes: &Bytes, writes: bool) -> PyResult<Self> {
        let range = bytes.addresses();
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let process = process::id();
        if in_use.process != process {
            // The calls of a process that was forked are not those of its child.
            *in_use = InUse { process, ranges: Vec::new() };
        }
        let in_use = &mut in_use.ranges;
        let excludes = |(other, other_writes): &(Range<usize>, bool)| {
            (writes || *other_writes) && overlap(&range, other)
        };
        if in_use.iter().any(excludes) {
            return Err(PyBufferError::new_err(format!(
                "another call of lanecrypt, of this or another thread, uses the memory of {}",
                bytes.name
            )));
        }
        in_use.push((range.clone(), writes));
        Ok(Self { range, writes })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours =
            |(range, writes): &(Range<usize>, bool)| *range == self.range && *writes == self.writes;
        if let Some(ours) = in_use.ranges.iter().position(is_ours) {
            in_use.ranges.swap_remove(ours);
        }
    }
}

/// The system's socket of a `socket.socket`, which has none afterwards. Of whatever family it is, it is written to as
/// one of TCP is.
///
/// # Errors
/// `ValueError` for one that is closed.
pub(crate) fn detached_socket(socket: &Bound<'_, PyAny>) -> PyResult<TcpStream> {
    let number: i32 = socket.call_method0("detach")?.extract()?;
    if number < 0 {
        return Err(pyo3::exceptions::PyValueError::new_err("the socket is closed"));
    }
    // SAFETY: the descriptor is open, and the object that had it has just given it away.
    Ok(TcpStream::from(unsafe { OwnedFd::from_raw_fd(number) }))
}

/// Whether Python knows this thread: others never have the interpreter's lock.
pub(crate) fn is_known_to_python() -> bool {
    // SAFETY: it may be called by every thread, also before the interpreter has begun and after it has ended.
    unsafe { !python::PyGILState_GetThisThreadState().is_null() }
}

/// Whether both have something in common.
pub(crate) fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}
