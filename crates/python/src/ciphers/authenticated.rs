//! A message of GCM that comes in pieces.

use lanecrypt::{Direction, Engine, Error, GcmMessage, GhashKey, Mode, cipher::InOutBuf};
use pyo3::{Bound, exceptions::PyValueError, prelude::*, types::PyBytes};
use zeroize::Zeroizing;

use super::{
    Algorithm, Parts,
    context::{finalized, may_go_on, require_room},
};
use crate::{
    buffers::{Data, copied, same_length},
    errors::{AlreadyUpdated, InvalidTag, NotYetFinalized, OrRaise},
    ffi::Bytes,
    interpreter::{detached, weight},
};

/// What `Cipher.encryptor` and `Cipher.decryptor` return for GCM.
///
/// A decryptor gives plaintext out before the tag is known to be right: use nothing of it before
/// `finalize` or `finalize_with_tag` has returned. `lanecrypt.aead` is for whole messages.
///
/// After an update that was refused the message goes on; after one that failed it is over, as with `CipherContext`.
#[pyclass(module = "lanecrypt.ciphers")]
pub(crate) struct AEADContext {
    engine: Box<dyn Engine>,
    hash: GhashKey,
    direction: Direction,
    /// Nothing once the message is over, and while it goes on.
    message: Option<GcmMessage>,
    was_updated: bool,
    /// What a decryptor expects; what an encryptor found.
    tag: Option<Vec<u8>>,
    /// Bytes that a tag to be checked has at least.
    least_tag: usize,
    /// Whether a GPU is waited for even where an update is short.
    waits: bool,
}

#[pymethods]
impl AEADContext {
    #[new]
    #[pyo3(signature = (algorithm, iv, tag, least_tag, decrypt, backend))]
    fn new(
        py: Python<'_>,
        algorithm: &Algorithm,
        iv: &Bound<'_, PyAny>,
        tag: Option<&Bound<'_, PyAny>>,
        least_tag: usize,
        decrypt: bool,
        backend: &str,
    ) -> PyResult<Self> {
        let parts = Parts::new(algorithm, Some(iv), decrypt, backend)?;
        let (engine, waits) = (parts.engine(py)?, parts.backend.waits());
        let (hash, message) =
            detached(py, weight(waits, 0), || started(&*engine, &parts.iv)).or_raise()?;
        let tag = tag.map(|tag| copied(tag, "tag").map(|tag| tag.to_vec())).transpose()?;
        let direction = parts.direction;
        Ok(Self {
            engine,
            hash,
            direction,
            message: Some(message),
            was_updated: false,
            tag,
            least_tag,
            waits,
        })
    }

    /// Adds data that is authenticated and not encrypted; before all updates.
    fn authenticate_additional_data(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let data = Bytes::of(data, "data")?.to_read()?;
        let message = self.message.as_mut().ok_or_else(finalized)?;
        if self.was_updated {
            return Err(AlreadyUpdated::new_err("additional data comes before all updates"));
        }
        let (hash, data) = (&self.hash, data.as_slice());
        detached(py, data.len(), || message.associate(hash, data)).or_raise()
    }

    /// The result for these bytes, of any number.
    fn update<'py>(
        &mut self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = Bytes::of(data, "data")?.to_read()?;
        let data = data.as_slice();
        PyBytes::new_with(py, data.len(), |out| self.run(py, data.len(), || same_length(data, out)))
    }

    /// As `update`, into `buf`, which has as many bytes at least and may be the memory of `data`;
    /// returns the bytes written.
    fn update_into(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let (data, buf) = (Bytes::of(data, "data")?, Bytes::of(buf, "buf")?);
        require_room(&buf, data.len())?;
        let mut between = Data::between(&data, &buf.part(0..data.len()))?;
        self.run(py, data.len(), || between.in_out())?;
        Ok(data.len())
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "a message ends where it began")
    }

    /// Ends the message. Decrypting, the tag must have been given before, and `InvalidTag` is raised
    /// where it is another one.
    fn finalize<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.require_message()?;
        if self.direction == Direction::Decrypt {
            let tag = self.tag.clone();
            let missing =
                || PyValueError::new_err("a tag is needed: in the mode, or for finalize_with_tag");
            return self.check(py, &tag.ok_or_else(missing)?);
        }
        let message = self.message.take().ok_or_else(finalized)?;
        self.tag = Some(message.tag(&self.hash).to_vec());
        Ok(PyBytes::new(py, b""))
    }

    /// Ends a message that was decrypted; raises `InvalidTag` where its tag is another one.
    fn finalize_with_tag<'py>(
        &mut self,
        py: Python<'py>,
        tag: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.require_message()?;
        if self.direction == Direction::Encrypt {
            return Err(PyValueError::new_err("an encryptor has a tag, and takes none"));
        }
        self.check(py, &copied(tag, "tag")?)
    }

    /// The tag of 16 bytes, once an encryptor is finalized.
    #[getter]
    fn tag<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match &self.tag {
            Some(tag) if self.direction == Direction::Encrypt && self.message.is_none() => {
                Ok(PyBytes::new(py, tag))
            }
            _ => Err(NotYetFinalized::new_err("the tag is known once an encryptor is finalized")),
        }
    }
}

/// The hash key, and the beginning of a message.
fn started(engine: &dyn Engine, iv: &[u8]) -> Result<(GhashKey, GcmMessage), Error> {
    if engine.block_bytes() != 16 {
        return Err(Error::BlockLength { mode: Mode::Gcm, given: engine.block_bytes() });
    }
    let mut h = Zeroizing::new([0; 16]);
    engine.ecb(Direction::Encrypt, h.as_mut_slice().into())?;
    let hash = GhashKey::new((&*h).into());
    let message = GcmMessage::new(&hash, engine, iv)?;
    Ok((hash, message))
}

impl AEADContext {
    /// Checks that the message is not over.
    fn require_message(&self) -> PyResult<()> {
        if self.message.is_some() { Ok(()) } else { Err(finalized()) }
    }

    /// Runs the next piece of the message.
    fn run<'a>(
        &mut self,
        py: Python<'_>,
        bytes: usize,
        data: impl FnOnce() -> InOutBuf<'a, 'a, u8> + Send,
    ) -> PyResult<()> {
        let mut message = self.message.take().ok_or_else(finalized)?;
        let (hash, engine, direction) = (&self.hash, &*self.engine, self.direction);
        let run = || message.run(hash, engine, direction, data());
        let result = detached(py, weight(self.waits, bytes), run);
        self.message = may_go_on(&result).then_some(message);
        self.was_updated |= result.is_ok();
        result.or_raise()
    }

    /// Ends a message whose tag should be this one.
    fn check<'py>(&mut self, py: Python<'py>, tag: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        if !(self.least_tag.max(4)..=16).contains(&tag.len()) {
            let (given, least) = (tag.len(), self.least_tag);
            let text = format!("tag has {given} bytes; accepted are {least} to 16");
            return Err(PyValueError::new_err(text));
        }
        let message = self.message.take().ok_or_else(finalized)?;
        let expected = message.tag(&self.hash);
        if !bool::from(subtle::ConstantTimeEq::ct_eq(&expected[..tag.len()], tag)) {
            return Err(InvalidTag::new_err(
                "the tag does not match; nothing of the plaintext is to be used",
            ));
        }
        Ok(PyBytes::new(py, b""))
    }
}
