//! CCM as a context: lengths come before the data, and all data in one call.

use std::{fmt, sync::Arc};

use lanecrypt::{Direction, Engine};

use crate::{Algorithm, EvpCalls, Key, Reason, Transfer, Value, gcm::TAG};

/// The longest nonce in bytes.
const MOST_NONCE: usize = 13;

/// A context of CCM (SP 800-38C).
///
/// OpenSSL opens a message in the call that brings its data: of a wrong tag it says so there, and no plaintext is
/// given out. Records of TLS, for which OpenSSL has no suite with these ciphers, are refused.
#[derive(Clone)]
pub struct Ccm {
    algorithm: &'static Algorithm,
    direction: Direction,
    key: Option<Arc<Key>>,
    nonce: [u8; MOST_NONCE],
    nonce_bytes: usize,
    /// Whether the nonce is there, and was not used.
    has_nonce: bool,
    /// Bytes of data that are to come, where that was said.
    length: Option<usize>,
    aad: Vec<u8>,
    /// The tag: made, or to be compared.
    tag: [u8; TAG],
    tag_bytes: usize,
    has_tag: bool,
}

impl Ccm {
    /// A context without a key.
    #[must_use]
    pub fn new(algorithm: &'static Algorithm) -> Self {
        Self {
            algorithm,
            direction: Direction::Encrypt,
            key: None,
            nonce: [0; MOST_NONCE],
            nonce_bytes: 7,
            has_nonce: false,
            length: None,
            aad: Vec::new(),
            tag: [0; TAG],
            tag_bytes: 12,
            has_tag: false,
        }
    }

    /// Runs the message, whose nonce must not be used again.
    fn run(&mut self, data: &mut Transfer<'_>) -> Result<(), Reason> {
        let key = self.key.clone().ok_or(Reason::Operation)?;
        let bytes = data.unread();
        let is_other = self.length.is_some_and(|length| length != bytes);
        let wants_tag = self.direction == Direction::Decrypt && !self.has_tag;
        if !self.has_nonce || is_other || wants_tag {
            return Err(Reason::Operation);
        }
        let data = data.in_out(bytes)?;
        let (nonce, aad) = (&self.nonce[..self.nonce_bytes], &self.aad);
        let tag = &mut self.tag[..self.tag_bytes];
        let direction = self.direction;
        let result = key.run(bytes, |engine| {
            let ccm = lanecrypt::Ccm::<&dyn Engine>::of(engine)?;
            match direction {
                Direction::Encrypt => ccm.encrypt(nonce, aad, data, tag),
                Direction::Decrypt => ccm.decrypt(nonce, aad, data, tag),
            }
        });
        self.has_tag = result.is_ok() && direction == Direction::Encrypt;
        self.has_nonce = false;
        self.begin();
        // Of a wrong tag, too, OpenSSL says that the operation failed.
        result.map_err(|_| Reason::Operation)
    }

    /// Forgets what was said of a message.
    fn begin(&mut self) {
        self.length = None;
        self.aad.clear();
    }

    fn set_nonce(&mut self, nonce: &[u8]) -> Result<(), Reason> {
        if nonce.len() != self.nonce_bytes {
            return Err(Reason::IvLength);
        }
        self.nonce[..nonce.len()].copy_from_slice(nonce);
        self.has_nonce = true;
        self.begin();
        Ok(())
    }

    fn set_nonce_bytes(&mut self, bytes: usize) -> Result<(), Reason> {
        if !(7..=MOST_NONCE).contains(&bytes) {
            return Err(Reason::IvLength);
        }
        self.has_nonce &= bytes == self.nonce_bytes;
        self.nonce_bytes = bytes;
        Ok(())
    }

    /// Sets the tag to be compared, or without one the length of that to be made, which leaves none of another length.
    fn set_tag(&mut self, value: Value<'_>) -> Result<(), Reason> {
        let (bytes, tag) = match value {
            Value::Bytes(tag) => (tag.len(), Some(tag)),
            Value::Absent(bytes) => (bytes, None),
            _ => return Err(Reason::GetParameter),
        };
        if !(4..=TAG).contains(&bytes) || !bytes.is_multiple_of(2) {
            return Err(Reason::TagLength);
        }
        match tag {
            Some(_) if self.direction == Direction::Encrypt => return Err(Reason::TagNotNeeded),
            Some(tag) => {
                self.tag[..bytes].copy_from_slice(tag);
                self.has_tag = true;
            }
            None => self.has_tag &= bytes == self.tag_bytes,
        }
        self.tag_bytes = bytes;
        Ok(())
    }

    fn made_tag(&mut self, size: usize) -> Result<&[u8], Reason> {
        if self.direction == Direction::Decrypt || !self.has_tag {
            return Err(Reason::TagNotSet);
        }
        if size != self.tag_bytes {
            return Err(Reason::GetParameter);
        }
        self.has_tag = false;
        Ok(&self.tag[..size])
    }
}

impl EvpCalls for Ccm {
    fn init(
        &mut self,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<(), Reason> {
        // A tag that was made is not compared with, and one to compare with is not given out as made.
        self.has_tag &= direction == self.direction;
        self.direction = direction;
        if let Some(iv) = iv {
            self.set_nonce(iv)?;
        }
        if let Some(key) = key {
            self.key = Some(Key::new(self.algorithm, key)?);
        }
        Ok(())
    }

    fn announce(&mut self, bytes: usize) -> Result<(), Reason> {
        if !self.has_nonce {
            return Err(Reason::Operation);
        }
        self.length = Some(bytes);
        Ok(())
    }

    fn associate(&mut self, data: &[u8]) -> Result<(), Reason> {
        if !self.has_nonce || self.length.is_none() {
            return Err(Reason::Operation);
        }
        self.aad.try_reserve(data.len()).map_err(|_| Reason::Memory)?;
        self.aad.extend_from_slice(data);
        Ok(())
    }

    fn update(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let bytes = data.unread();
        if bytes > data.room() {
            return Err(Reason::OutputTooSmall);
        }
        self.run(data)?;
        Ok(bytes)
    }

    fn finish(&mut self, _data: &mut Transfer<'_>) -> Result<usize, Reason> {
        Ok(0)
    }

    fn get(&mut self, name: &[u8], size: usize) -> Result<Option<Value<'_>>, Reason> {
        Ok(Some(match name {
            b"keylen" => Value::Number(self.algorithm.key_bytes as u64),
            b"ivlen" => Value::Number(self.nonce_bytes as u64),
            b"taglen" => Value::Number(self.tag_bytes as u64),
            b"iv" | b"updated-iv" if size < self.nonce_bytes => return Err(Reason::IvLength),
            b"iv" | b"updated-iv" => Value::Bytes(&self.nonce[..self.nonce_bytes]),
            b"tag" => Value::Bytes(self.made_tag(size)?),
            _ => return Ok(None),
        }))
    }

    fn set(&mut self, name: &[u8], value: Value<'_>) -> Result<(), Reason> {
        match name {
            b"tag" => self.set_tag(value),
            b"ivlen" => self.set_nonce_bytes(value.number()?),
            b"tlsaad" | b"tlsivfixed" => Err(Reason::Operation),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Ccm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ccm").field("names", &self.algorithm.names).finish_non_exhaustive()
    }
}
