//! GCM over whole messages, with the interface of pyca/cryptography's `aead`.

use lanecrypt::{CipherName, Engine, Gcm};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};

use crate::{
    backend::Chosen,
    buffers::{Data, copied, overlapping, same_length, wrong_length},
    errors::{InvalidTag, OrRaise},
    ffi::Bytes,
    interpreter::{detached, weight},
};

const TAG_BYTES: usize = 16;

/// A cipher in GCM under a key.
struct Keyed {
    gcm: Gcm<Box<dyn Engine>>,
    /// Whether a GPU is waited for even where a message is short.
    waits: bool,
}

impl Keyed {
    fn new(cipher: &str, key: &Bound<'_, PyAny>, backend: &str) -> PyResult<Self> {
        let (py, key) = (key.py(), copied(key, "key")?);
        let chosen = Chosen::new(backend);
        let (engine, waits) = (chosen.engine(py, cipher, &key, usize::MAX)?, chosen.waits());
        let gcm = detached(py, weight(waits, 0), || Gcm::of(engine)).or_raise()?;
        Ok(Self { gcm, waits })
    }

    /// What [`detached`] is told of a message with `bytes` bytes of data. What it has besides is hashed, and may be
    /// long as well.
    fn weight(&self, message: &Message, bytes: usize) -> usize {
        weight(self.waits, message.associated_data.len().saturating_add(bytes))
    }

    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        message: &Message,
        data: &Bytes,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = data.to_read()?;
        let data = data.as_slice();
        PyBytes::new_with(py, data.len() + TAG_BYTES, |out| {
            let (text, tag) = out.split_at_mut(data.len());
            detached(py, self.weight(message, data.len()), || {
                let text = same_length(data, text);
                self.gcm.encrypt(&message.nonce, &message.associated_data, text, tag)
            })
            .or_raise()
        })
    }

    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        message: &Message,
        data: &Bytes,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = data.to_read()?;
        let (data, tag) = split_tag(data.as_slice())?;
        PyBytes::new_with(py, data.len(), |text| {
            detached(py, self.weight(message, data.len()), || {
                let text = same_length(data, text);
                self.gcm.decrypt(&message.nonce, &message.associated_data, text, tag)
            })
            .or_raise()
        })
    }

    fn encrypt_into(
        &self,
        py: Python<'_>,
        message: &Message,
        data: &Bytes,
        buf: &Bytes,
    ) -> PyResult<usize> {
        let length = data.len();
        if buf.len() != length + TAG_BYTES {
            return Err(wrong_length("buf", buf.len(), length + TAG_BYTES));
        }
        let place = buf.part(length..buf.len());
        if data.overlaps(&place) {
            return Err(overlapping(buf.name()));
        }
        let mut tag = place.to_write()?;
        let (mut text, tag) = (Data::between(data, &buf.part(0..length))?, tag.as_mut_slice());
        detached(py, self.weight(message, length), || {
            self.gcm.encrypt(&message.nonce, &message.associated_data, text.in_out(), tag)
        })
        .or_raise()?;
        Ok(buf.len())
    }

    fn decrypt_into(
        &self,
        py: Python<'_>,
        message: &Message,
        data: &Bytes,
        buf: &Bytes,
    ) -> PyResult<usize> {
        let Some(length) = data.len().checked_sub(TAG_BYTES) else { return Err(too_short()) };
        if buf.len() != length {
            return Err(wrong_length("buf", buf.len(), length));
        }
        let tag = data.part(length..data.len()).to_read()?.as_slice().to_vec();
        let mut text = Data::between(&data.part(0..length), buf)?;
        detached(py, self.weight(message, length), || {
            self.gcm.decrypt(&message.nonce, &message.associated_data, text.in_out(), &tag)
        })
        .or_raise()?;
        Ok(length)
    }
}

/// What a message has besides its data.
struct Message {
    nonce: Vec<u8>,
    associated_data: Vec<u8>,
}

impl Message {
    /// Nonces are as pyca/cryptography takes them.
    fn new(nonce: &Bound<'_, PyAny>, data: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let nonce = copied(nonce, "nonce")?.to_vec();
        if !(8..=128).contains(&nonce.len()) {
            let text =
                format!("nonce has {} bytes; accepted are 8 to 128, 12 are usual", nonce.len());
            return Err(PyValueError::new_err(text));
        }
        let associated_data = data.map_or(Ok(Vec::new()), |data| {
            Ok::<_, PyErr>(copied(data, "associated_data")?.to_vec())
        })?;
        Ok(Self { nonce, associated_data })
    }
}

fn split_tag(data: &[u8]) -> PyResult<(&[u8], &[u8])> {
    let at = data.len().checked_sub(TAG_BYTES).ok_or_else(too_short)?;
    Ok(data.split_at(at))
}

fn too_short() -> PyErr {
    InvalidTag::new_err("the data is shorter than a tag of 16 bytes")
}

/// Random bytes for a key of this number of bits.
fn generated<'py>(py: Python<'py>, cipher: &str, bits: usize) -> PyResult<Bound<'py, PyBytes>> {
    CipherName::with_key(cipher, bits / 8).or_raise()?;
    if !bits.is_multiple_of(8) {
        return Err(PyValueError::new_err(format!("bit_length is {bits}; keys are whole bytes")));
    }
    PyBytes::new_with(py, bits / 8, |key| getrandom::fill(key).map_err(crate::errors::random))
}

/// A class for a cipher.
macro_rules! aead {
    ($name:ident, $cipher:literal, $doc:literal) => {
        #[doc = $doc]
        ///
        /// A nonce must never be used twice under one key. Data and associated data are anything with a
        /// contiguous buffer; `associated_data` may be `None`. Long messages run on all cores.
        #[pyclass(frozen, module = "lanecrypt.aead")]
        #[allow(clippy::upper_case_acronyms, reason = "named as pyca/cryptography names its own")]
        pub(crate) struct $name(Keyed);

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (key, *, backend="auto"))]
            fn new(key: &Bound<'_, PyAny>, backend: &str) -> PyResult<Self> {
                Keyed::new($cipher, key, backend).map(Self)
            }

            /// A random key of 128, 192 or 256 bits.
            #[staticmethod]
            fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
                generated(py, $cipher, bit_length)
            }

            /// The ciphertext, and after it the tag of 16 bytes.
            #[pyo3(signature = (nonce, data, associated_data))]
            fn encrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let message = Message::new(nonce, associated_data)?;
                self.0.encrypt(py, &message, &Bytes::of(data, "data")?)
            }

            /// The plaintext of what `encrypt` returned; raises `InvalidTag` where anything is another.
            #[pyo3(signature = (nonce, data, associated_data))]
            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let message = Message::new(nonce, associated_data)?;
                self.0.decrypt(py, &message, &Bytes::of(data, "data")?)
            }

            /// Encrypts into `buf`, which is 16 bytes longer than `data` and may begin with it; returns
            /// the bytes written.
            #[pyo3(signature = (nonce, data, associated_data, buf))]
            fn encrypt_into(
                &self,
                py: Python<'_>,
                nonce: &Bound<'_, PyAny>,
                data: &Bound<'_, PyAny>,
                associated_data: Option<&Bound<'_, PyAny>>,
                buf: &Bound<'_, PyAny>,
            ) -> PyResult<usize> {
                let message = Message::new(nonce, associated_data)?;
                self.0.encrypt_into(
                    py,
                    &message,
                    &Bytes::of(data, "data")?,
                    &Bytes::of(buf, "buf")?,
                )
            }

            /// Decrypts into `buf`, which is 16 bytes shorter than `data` and may be its beginning;
            /// returns the bytes written. Where the tag is wrong `buf` has ciphertext.
            #[pyo3(signature = (nonce, data, associated_data, buf))]
            fn decrypt_into(
                &self,
                py: Python<'_>,
                nonce: &Bound<'_, PyAny>,
                data: &Bound<'_, PyAny>,
                associated_data: Option<&Bound<'_, PyAny>>,
                buf: &Bound<'_, PyAny>,
            ) -> PyResult<usize> {
                let message = Message::new(nonce, associated_data)?;
                self.0.decrypt_into(
                    py,
                    &message,
                    &Bytes::of(data, "data")?,
                    &Bytes::of(buf, "buf")?,
                )
            }

            fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
                crate::errors::not_pickled(slf, "make it of its key where it is used")
            }

            fn __repr__(&self) -> &'static str {
                concat!("<", stringify!($name), ">")
            }
        }
    };
}
aead!(AESGCM, "aes", "AES in GCM (NIST SP 800-38D), with keys of 16, 24 or 32 bytes.");
aead!(ARIAGCM, "aria", "ARIA in GCM (RFC 9367), with keys of 16, 24 or 32 bytes.");
aead!(CamelliaGCM, "camellia", "Camellia in GCM (RFC 6367), with keys of 16, 24 or 32 bytes.");
