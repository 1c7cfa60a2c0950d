//! GCM as a context: IVs, tags and the order of calls. Records of TLS are in `gcm_tls.rs`.

use std::{fmt, mem, sync::Arc};

use lanecrypt::Direction;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    Algorithm, EvpCalls, Reason, Transfer, Value,
    gcm_message::{GcmKey, Message},
    gcm_tls::Records,
};

/// The longest IV in bytes, as OpenSSL has it.
const MAX_IV: usize = 128;
/// The fewest bytes of an IV that is drawn (SP 800-38D, 8.2.2, as OpenSSL has it): shorter ones come again too soon.
const MIN_DRAWN_IV: usize = 12;
/// Bytes of a whole tag.
pub(crate) const TAG: usize = 16;

/// A context of GCM.
#[derive(Clone)]
pub struct Gcm {
    algorithm: &'static Algorithm,
    pub(crate) direction: Direction,
    key: Option<Arc<GcmKey>>,
    pub(crate) iv: [u8; MAX_IV],
    iv_bytes: usize,
    /// The IV that was asked for last, where they are counted up here.
    pub(crate) given_iv: [u8; MAX_IV],
    pub(crate) state: State,
    /// The tag: made, or to be compared.
    tag: [u8; TAG],
    tag_bytes: Option<usize>,
    pub(crate) records: Records,
}

/// What became of the IV.
#[derive(Clone)]
pub(crate) enum State {
    /// There is none.
    NoIv,
    /// It is there and no data came.
    Ready,
    /// Data came.
    Running(Box<Message>),
    /// The message is over; the IV must not be used again.
    Over,
}

impl Gcm {
    /// A context without a key.
    #[must_use]
    pub fn new(algorithm: &'static Algorithm) -> Self {
        Self {
            algorithm,
            direction: Direction::Encrypt,
            key: None,
            iv: [0; MAX_IV],
            iv_bytes: algorithm.iv_bytes(),
            given_iv: [0; MAX_IV],
            state: State::NoIv,
            tag: [0; TAG],
            tag_bytes: None,
            records: Records::default(),
        }
    }

    pub(crate) fn key(&self) -> Result<Arc<GcmKey>, Reason> {
        self.key.clone().ok_or(Reason::Operation)
    }

    /// The IV.
    pub(crate) fn iv(&self) -> &[u8] {
        &self.iv[..self.iv_bytes]
    }

    /// The IV, to be changed.
    pub(crate) fn iv_mut(&mut self) -> &mut [u8] {
        &mut self.iv[..self.iv_bytes]
    }

    /// The message at hand, begun if need be; an encryption without an IV takes a random one.
    fn message(&mut self) -> Result<&mut Message, Reason> {
        let key = self.key()?;
        match self.state {
            State::Over => return Err(Reason::Operation),
            State::NoIv if self.direction == Direction::Decrypt || self.iv_bytes < MIN_DRAWN_IV => {
                return Err(Reason::Operation);
            }
            State::NoIv => {
                getrandom::fill(self.iv_mut()).map_err(|_| Reason::Operation)?;
                self.state = State::Ready;
            }
            State::Ready | State::Running(_) => {}
        }
        if matches!(self.state, State::Ready) {
            self.state = State::Running(Box::new(Message::new(&key, self.iv())?));
        }
        match &mut self.state {
            State::Running(message) => Ok(message),
            _ => Err(Reason::Internal),
        }
    }

    /// Makes the tag, or compares it.
    fn end(&mut self) -> Result<(), Reason> {
        self.expect_no_record()?;
        let key = self.key()?;
        let given = match self.direction {
            Direction::Encrypt => None,
            Direction::Decrypt => Some(self.tag_bytes.ok_or(Reason::Tag)?),
        };
        self.message()?;
        let tag = self.take_tag(&key)?;
        match given {
            None => {
                self.tag = *tag;
                self.tag_bytes = Some(TAG);
                Ok(())
            }
            Some(bytes) if bool::from(tag[..bytes].ct_eq(&self.tag[..bytes])) => Ok(()),
            Some(_) => Err(Reason::NotAuthentic),
        }
    }

    /// The tag of the message at hand, which is over then.
    pub(crate) fn take_tag(&mut self, key: &GcmKey) -> Result<Zeroizing<[u8; TAG]>, Reason> {
        match mem::replace(&mut self.state, State::Over) {
            State::Running(message) => Ok(Zeroizing::new(message.tag(key))),
            _ => Err(Reason::Internal),
        }
    }

    fn set_tag(&mut self, tag: &[u8]) -> Result<(), Reason> {
        let place = self.tag.get_mut(..tag.len()).ok_or(Reason::GetParameter)?;
        if tag.is_empty() || self.direction == Direction::Encrypt {
            return Err(Reason::Tag);
        }
        place.copy_from_slice(tag);
        self.tag_bytes = Some(tag.len());
        Ok(())
    }

    fn made_tag(&self, size: usize) -> Result<&[u8], Reason> {
        let is_made = self.tag_bytes.is_some() && self.direction == Direction::Encrypt;
        if size == 0 || size > TAG || !is_made {
            return Err(Reason::Tag);
        }
        Ok(&self.tag[..size])
    }

    fn set_iv_bytes(&mut self, bytes: usize) -> Result<(), Reason> {
        if bytes == 0 || bytes > MAX_IV {
            return Err(Reason::IvLength);
        }
        if bytes != self.iv_bytes && !matches!(self.state, State::NoIv) {
            self.state = State::Over; // an IV of another length
        }
        self.iv_bytes = bytes;
        Ok(())
    }

    fn set_iv(&mut self, iv: &[u8]) -> Result<(), Reason> {
        if iv.is_empty() || iv.len() > MAX_IV {
            return Err(Reason::IvLength);
        }
        self.iv_bytes = iv.len();
        self.iv_mut().copy_from_slice(iv);
        self.state = State::Ready;
        Ok(())
    }
}

impl EvpCalls for Gcm {
    fn init(
        &mut self,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<(), Reason> {
        self.direction = direction;
        if let Some(iv) = iv {
            self.set_iv(iv)?;
        }
        if let Some(key) = key {
            self.key = Some(GcmKey::new(self.algorithm, key)?);
            self.records.restart();
        }
        Ok(())
    }

    fn update(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let bytes = data.unread();
        if bytes == 0 {
            return Ok(0);
        }
        if self.records.is_next() {
            return self.record(data);
        }
        let (key, direction) = (self.key()?, self.direction);
        let message = self.message()?;
        message.run(&key, direction, data.in_out(bytes)?)?;
        Ok(bytes)
    }

    fn associate(&mut self, data: &[u8]) -> Result<(), Reason> {
        self.expect_no_record()?;
        let key = self.key()?;
        self.message()?.associate(&key, data)
    }

    /// Of whatever is wrong here there is no code, as OpenSSL has it: the message is not authentic.
    fn finish(&mut self, _data: &mut Transfer<'_>) -> Result<usize, Reason> {
        self.end().map_err(|_| Reason::NotAuthentic)?;
        Ok(0)
    }

    fn get(&mut self, name: &[u8], size: usize) -> Result<Option<Value<'_>>, Reason> {
        Ok(Some(match name {
            b"keylen" => Value::Number(self.algorithm.key_bytes as u64),
            b"ivlen" => Value::Number(self.iv_bytes as u64),
            b"taglen" => Value::Number(self.tag_bytes.unwrap_or(TAG) as u64),
            b"iv" | b"updated-iv" if matches!(self.state, State::NoIv) => {
                return Err(Reason::Operation);
            }
            b"iv" | b"updated-iv" if size < self.iv_bytes => return Err(Reason::IvLength),
            b"iv" | b"updated-iv" => Value::Bytes(self.iv()),
            b"tag" => Value::Bytes(self.made_tag(size)?),
            b"tlsaadpad" => Value::Number(self.records.added() as u64),
            b"tlsivgen" => Value::Unsized(self.next_iv(size)?),
            _ => return Ok(None),
        }))
    }

    fn set(&mut self, name: &[u8], value: Value<'_>) -> Result<(), Reason> {
        match (name, value) {
            (b"tag", _) => self.set_tag(value.bytes()?),
            (b"ivlen", _) => self.set_iv_bytes(value.number()?),
            (b"tlsaad", _) => self.records.begin(self.direction, value.bytes()?),
            (b"tlsivfixed", Value::Unsized(iv)) => self.restore_iv(iv),
            (b"tlsivfixed", _) => self.set_fixed_iv(value.bytes()?),
            (b"tlsivinv", _) => self.set_explicit_iv(value.bytes()?),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gcm").field("names", &self.algorithm.names).finish_non_exhaustive()
    }
}
