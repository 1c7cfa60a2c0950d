//! A message that is encrypted or decrypted as it comes.

use lanecrypt::Error;
use pyo3::{Bound, exceptions::PyValueError, prelude::*, types::PyBytes};
use zeroize::Zeroizing;

use super::{Algorithm, Parts, mode::Mode};
use crate::{
    backend::require_data_unit,
    buffers::overlapping,
    errors::{AlreadyFinalized, OrRaise},
    ffi::Bytes,
    interpreter::{detached, weight},
};

/// Bytes that are copied to the output before they are run there: enough for all threads, and not much
/// for their caches.
const PIECE: usize = 4 << 20;

/// What `Cipher.encryptor` and `Cipher.decryptor` return, for all modes but GCM.
///
/// An update that is refused, for its lengths or its buffers, has run nothing and can be tried again. One that fails
/// while it runs, as on a GPU that is lost, ends the message: later updates and `finalize` raise `AlreadyFinalized`.
#[pyclass(module = "lanecrypt.ciphers")]
pub(crate) struct CipherContext {
    /// Nothing once the message is over, and while it goes on.
    mode: Option<Mode>,
    /// What waits for the rest of its block.
    held: Zeroizing<Vec<u8>>,
    was_updated: bool,
    /// Whether a GPU is waited for even where an update is short.
    waits: bool,
}

#[pymethods]
impl CipherContext {
    #[new]
    #[pyo3(signature = (algorithm, mode, iv, decrypt, backend))]
    fn new(
        py: Python<'_>,
        algorithm: &Algorithm,
        mode: &str,
        iv: Option<&Bound<'_, PyAny>>,
        decrypt: bool,
        backend: &str,
    ) -> PyResult<Self> {
        let parts = Parts::new(algorithm, iv, decrypt, backend)?;
        let (mode, waits) = (Some(Mode::new(py, mode, &parts)?), parts.backend.waits());
        Ok(Self { mode, held: Zeroizing::default(), was_updated: false, waits })
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
            detached(py, weight(self.waits, bytes), || self.run(data, out)).or_raise()
        })
        .inspect(|_| self.was_updated |= bytes > 0)
    }

    /// As `update`, into `buf`, which has room for the result and may be the memory of `data`, or begin with it; returns
    /// the bytes written. Where bytes are held back, what follows them moves on in that memory: it is copied first.
    fn update_into(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let (data, buf) = (Bytes::of(data, "data")?, Bytes::of(buf, "buf")?);
        let bytes = self.begin(data.len())?;
        require_room(&buf, bytes)?;
        let out = buf.part(0..bytes);
        if !data.overlaps(&out) {
            self.run_into(py, data.to_read()?.as_slice(), &out)?;
        } else if data.addresses().start != out.addresses().start {
            return Err(overlapping(out.name()));
        } else if self.held.is_empty() {
            self.run_in_place(py, &data, &out)?;
        } else {
            let text = Zeroizing::new(data.to_read()?.as_slice().to_vec());
            self.run_into(py, &text, &out)?;
        }
        self.was_updated |= bytes > 0;
        Ok(bytes)
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "a message ends where it began")
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
    /// Bytes that an update with `bytes` more bytes gives out. Nothing is changed yet: an update that is refused here,
    /// or for its buffers, can be tried again.
    fn begin(&self, bytes: usize) -> PyResult<usize> {
        let mode = self.mode.as_ref().ok_or_else(finalized)?;
        if mode.is_one_unit && bytes > 0 {
            if self.was_updated {
                return Err(PyValueError::new_err("XTS takes all of a data unit in one update"));
            }
            require_data_unit(bytes)?;
        }
        Ok((self.held.len() + bytes) / mode.unit * mode.unit)
    }

    /// Runs what comes into memory that has nothing of it.
    fn run_into(&mut self, py: Python<'_>, data: &[u8], out: &Bytes) -> PyResult<()> {
        let mut out = out.to_write()?;
        let out = out.as_mut_slice();
        detached(py, weight(self.waits, out.len()), || self.run(data, out)).or_raise()
    }

    /// Runs whole blocks where they are; the output is the beginning of the data, and nothing is held.
    fn run_in_place(&mut self, py: Python<'_>, data: &Bytes, out: &Bytes) -> PyResult<()> {
        let rest = data.part(out.len()..data.len()).to_read()?.as_slice().to_vec();
        let rest = Zeroizing::new(rest);
        let mut out = out.to_write()?;
        let out = out.as_mut_slice();
        let weight = weight(self.waits, out.len());
        detached(py, weight, || self.go_on(|mode| mode.stream.apply(out))).or_raise()?;
        self.held = rest;
        Ok(())
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
        let (mut from, mut filled) = (now, self.held.len());
        self.go_on(|mode| {
            let piece_bytes = if mode.is_one_unit { out.len() } else { PIECE };
            for piece in out.chunks_mut(piece_bytes) {
                let (copied, rest) = from.split_at(piece.len() - filled);
                piece[filled..].copy_from_slice(copied);
                mode.stream.apply(piece)?;
                (from, filled) = (rest, 0);
            }
            Ok(())
        })?;
        self.held = Zeroizing::new(later.to_vec());
        Ok(())
    }

    /// Lets the mode go on with the message. It is there again if that may go on.
    fn go_on(&mut self, work: impl FnOnce(&mut Mode) -> Result<(), Error>) -> Result<(), Error> {
        let Some(mut mode) = self.mode.take() else { return Ok(()) };
        let result = work(&mut mode);
        self.mode = may_go_on(&result).then_some(mode);
        result
    }
}

/// Whether a message may go on after an update. How much an engine has run of one that failed is not known, nor
/// where in the message it is: trying again might use a counter twice. A long message is refused before anything runs.
pub(super) fn may_go_on(result: &Result<(), Error>) -> bool {
    matches!(result, Ok(()) | Err(Error::MessageLength { .. }))
}

/// Checks that the result of an update fits.
pub(super) fn require_room(buf: &Bytes, bytes: usize) -> PyResult<()> {
    if buf.len() >= bytes {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{} has {} bytes; the result of this update has {bytes}",
        buf.name(),
        buf.len()
    )))
}

/// The message is over.
pub(super) fn finalized() -> PyErr {
    AlreadyFinalized::new_err(
        "the context was finalized, or an update of it failed; a new message takes a new one",
    )
}
