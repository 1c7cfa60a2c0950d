//! A message that is encrypted or decrypted as it comes.

use lanecrypt::Error;
use pyo3::{Bound, exceptions::PyValueError, prelude::*, types::PyBytes};
use zeroize::Zeroizing;

use super::{Algorithm, Parts, mode::Mode};
use crate::{
    buffers::detached,
    errors::{AlreadyFinalized, OrRaise},
    ffi::Bytes,
};

/// Bytes that are copied to the output before they are run there: enough for all threads, and not much
/// for their caches.
const PIECE: usize = 4 << 20;

/// What `Cipher.encryptor` and `Cipher.decryptor` return, for all modes but GCM.
#[pyclass(module = "lanecrypt.ciphers")]
pub(crate) struct CipherContext {
    /// Nothing once the message is over.
    mode: Option<Mode>,
    /// What waits for the rest of its block.
    held: Zeroizing<Vec<u8>>,
    was_updated: bool,
}

#[pymethods]
impl CipherContext {
    #[new]
    #[pyo3(signature = (algorithm, mode, iv, decrypt, backend))]
    fn new(
        algorithm: &Algorithm,
        mode: &str,
        iv: Option<&Bound<'_, PyAny>>,
        decrypt: bool,
        backend: &str,
    ) -> PyResult<Self> {
        let mode = Mode::new(mode, &Parts::new(algorithm, iv, decrypt, backend)?)?;
        Ok(Self { mode: Some(mode), held: Zeroizing::default(), was_updated: false })
    }

    /// The result for these bytes and those held back; in ECB and CBC whole blocks, the rest is held
    /// back. In XTS all of a data unit comes in one update.
    fn update<'py>(
        &mut self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = Bytes::of(data, "data")?;
        let bytes = self.begin(data.len())?;
        let data = data.to_read()?;
        PyBytes::new_with(py, bytes, |out| {
            let data = data.as_slice();
            detached(py, bytes, || self.run(data, out)).or_raise()
        })
        .inspect(|_| self.was_updated = true)
    }

    /// As `update`, into `buf`, which has room for the result and may be the memory of `data`; returns
    /// the bytes written.
    fn update_into(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let (data, buf) = (Bytes::of(data, "data")?, Bytes::of(buf, "buf")?);
        let bytes = self.begin(data.len())?;
        if buf.len() < bytes {
            return Err(PyValueError::new_err(format!(
                "buf has {} bytes; the result of this update has {bytes}",
                buf.len()
            )));
        }
        let out = buf.part(0..bytes);
        if self.held.is_empty() && data.part(0..bytes).is_at(&out) {
            let rest = Zeroizing::new(data.part(bytes..data.len()).to_read()?.as_slice().to_vec());
            let mut out = out.to_write()?;
            let out = out.as_mut_slice();
            detached(py, bytes, || self.run_in_place(out)).or_raise()?;
            self.held = rest;
            self.was_updated = true;
            return Ok(bytes);
        }
        if data.overlaps(&out) {
            return Err(PyValueError::new_err(
                "data and buf overlap; they must be the same memory, or have no byte in common",
            ));
        }
        let (data, mut out) = (data.to_read()?, out.to_write()?);
        let (data, out) = (data.as_slice(), out.as_mut_slice());
        detached(py, bytes, || self.run(data, out)).or_raise()?;
        self.was_updated = true;
        Ok(bytes)
    }

    /// Ends the message; returns no bytes, as there is no padding.
    fn finalize<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mode = self.mode.take().ok_or_else(finalized)?;
        if !self.held.is_empty() {
            return Err(PyValueError::new_err(format!(
                "the data ends {} bytes into a block of {} bytes; there is no padding",
                self.held.len(),
                mode.unit
            )));
        }
        Ok(PyBytes::new(py, b""))
    }
}

impl CipherContext {
    /// Bytes that an update with `bytes` more bytes gives out. An update that fails can be tried again.
    fn begin(&self, bytes: usize) -> PyResult<usize> {
        let mode = self.mode.as_ref().ok_or_else(finalized)?;
        if mode.is_one_unit && self.was_updated {
            return Err(PyValueError::new_err("XTS takes all of a data unit in one update"));
        }
        Ok((self.held.len() + bytes) / mode.unit * mode.unit)
    }

    /// Runs what was held and what comes, as much as the output takes.
    fn run(&mut self, data: &[u8], out: &mut [u8]) -> Result<(), Error> {
        if out.is_empty() {
            self.held.extend_from_slice(data);
            return Ok(());
        }
        // The bytes that were held fit into the first block.
        let (now, later) = data.split_at(out.len() - self.held.len());
        out[..self.held.len()].copy_from_slice(&self.held);
        let Some(mode) = &mut self.mode else { return Ok(()) };
        let piece_bytes = if mode.is_one_unit { out.len() } else { PIECE };
        let mut from = now;
        let mut filled = self.held.len();
        for piece in out.chunks_mut(piece_bytes) {
            let (copied, rest) = from.split_at(piece.len() - filled);
            piece[filled..].copy_from_slice(copied);
            mode.stream.apply(piece)?;
            (from, filled) = (rest, 0);
        }
        self.held = Zeroizing::new(later.to_vec());
        Ok(())
    }

    fn run_in_place(&mut self, data: &mut [u8]) -> Result<(), Error> {
        match &mut self.mode {
            Some(mode) => mode.stream.apply(data),
            None => Ok(()),
        }
    }
}

/// The message is over.
pub(super) fn finalized() -> PyErr {
    AlreadyFinalized::new_err("the context was finalized; a new message takes a new one")
}
