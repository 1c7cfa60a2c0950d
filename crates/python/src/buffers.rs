//! Input and output of a call: in place, or from one buffer into another.

use std::{ops::Range, path::PathBuf};

use lanecrypt::cipher::InOutBuf;
use pyo3::{Bound, PyAny, PyErr, PyResult, exceptions::PyValueError, types::PyAnyMethods};
use zeroize::Zeroizing;

use crate::ffi::{Bytes, Reading, Writing, overlap};

/// Where the bytes of a call come from and go to; equally long.
pub(crate) enum Data {
    InPlace(Writing),
    Between(Reading, Writing),
}

impl Data {
    /// Of the objects that a caller gave: in place without `out`.
    ///
    /// # Errors
    /// `TypeError` for objects without a buffer; `BufferError` for one that is not contiguous, is
    /// read-only and would be written, or is in use; `ValueError` for different lengths, and for two
    /// that overlap and are not the same.
    pub(crate) fn new(data: &Bound<'_, PyAny>, out: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let data = Bytes::of(data, "data")?;
        match out {
            None => Ok(Self::InPlace(data.to_write()?)),
            Some(out) => Self::between(&data, &Bytes::of(out, "out")?),
        }
    }

    /// From one into the other.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn between(data: &Bytes, out: &Bytes) -> PyResult<Self> {
        if is_in_place(&data.addresses(), &out.addresses(), out.name())? {
            return Ok(Self::InPlace(out.to_write()?));
        }
        Ok(Self::Between(data.to_read()?, out.to_write()?))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::InPlace(data) | Self::Between(_, data) => data.len(),
        }
    }

    pub(crate) fn in_out(&mut self) -> InOutBuf<'_, '_, u8> {
        match self {
            Self::InPlace(data) => data.as_mut_slice().into(),
            Self::Between(data, out) => same_length(data.as_slice(), out.as_mut_slice()),
        }
    }
}

/// Two buffers that are equally long: nothing at all where they are not.
pub(crate) fn same_length<'a>(data: &'a [u8], out: &'a mut [u8]) -> InOutBuf<'a, 'a, u8> {
    InOutBuf::new(data, out).unwrap_or_else(|_| InOutBuf::from(&mut [][..]))
}

/// Whether what is read at one range of addresses and written at the other is in place; errors call the latter
/// `name`, as the caller's function does.
///
/// # Errors
/// `ValueError` for different lengths, and for two that overlap and are not the same.
pub(crate) fn is_in_place(data: &Range<usize>, out: &Range<usize>, name: &str) -> PyResult<bool> {
    if data.len() != out.len() {
        return Err(wrong_length(name, out.len(), data.len()));
    }
    if data != out && overlap(data, out) {
        return Err(overlapping(name));
    }
    Ok(data == out)
}

/// A buffer of another length than it should have.
pub(crate) fn wrong_length(name: &str, given: usize, expected: usize) -> PyErr {
    PyValueError::new_err(format!("{name} has {given} bytes; expected are {expected}"))
}

/// A buffer for the result that has a part of the data, and not all of it.
pub(crate) fn overlapping(name: &str) -> PyErr {
    PyValueError::new_err(format!(
        "data and {name} overlap; they must be the same memory, or have no byte in common"
    ))
}

/// A copy of a few bytes: a key, an IV.
///
/// # Errors
/// `TypeError`, `BufferError`, as [`Bytes::of`].
pub(crate) fn copied(
    object: &Bound<'_, PyAny>,
    name: &'static str,
) -> PyResult<Zeroizing<Vec<u8>>> {
    Ok(Zeroizing::new(Bytes::of(object, name)?.to_read()?.as_slice().to_vec()))
}

/// A path as Python's own functions take them: text, bytes, or an object that stands for either.
///
/// # Errors
/// `TypeError` for anything else.
pub(crate) fn path_of(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    given.py().import("os")?.call_method1("fsdecode", (given,))?.extract()
}
