//! What contexts of blocks and of streams have in common: key, direction, IVs.

use std::{fmt, sync::Arc};

use lanecrypt::Direction;
use zeroize::Zeroizing;

use crate::{Algorithm, EvpMode, Key, Reason, Value};

/// The largest block in bytes.
pub(crate) const MAX_BLOCK: usize = 16;

/// The longest key of DES in bytes.
const MAX_KEY: usize = 24;

/// Key, direction, IVs, and whether data is padded.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) direction: Direction,
    /// What the next block is chained to: CBC's last ciphertext, the register of CFB and OFB.
    pub(crate) register: Zeroizing<[u8; MAX_BLOCK]>,
    pub(crate) has_padding: bool,
    key: Option<Arc<Key>>,
    /// A key that was drawn for a caller.
    drawn: Zeroizing<[u8; MAX_KEY]>,
    iv: [u8; MAX_BLOCK],
    has_iv: bool,
}

impl Shared {
    pub(crate) fn new(algorithm: &'static Algorithm) -> Self {
        Self {
            algorithm,
            direction: Direction::Encrypt,
            register: Zeroizing::default(),
            has_padding: true,
            key: None,
            drawn: Zeroizing::default(),
            iv: [0; MAX_BLOCK],
            has_iv: false,
        }
    }

    /// Takes what is given; without an IV the one before is taken again, but in CTR, which counts on.
    pub(crate) fn init(
        &mut self,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<(), Reason> {
        self.direction = direction;
        if let Some(iv) = iv.filter(|_| self.algorithm.mode != EvpMode::Ecb) {
            let bytes = self.iv_bytes();
            if iv.len() != bytes {
                return Err(Reason::IvLength);
            }
            self.iv[..bytes].copy_from_slice(iv);
            self.has_iv = true;
            *self.register = self.iv;
        } else if self.has_iv && self.algorithm.mode != EvpMode::Ctr {
            *self.register = self.iv;
        }
        if let Some(key) = key {
            self.key = Some(Key::new(self.algorithm, key)?);
        }
        Ok(())
    }

    pub(crate) fn key(&self) -> Result<Arc<Key>, Reason> {
        self.key.clone().ok_or(Reason::NoKey)
    }

    /// The IV, once it is there.
    pub(crate) fn iv(&self) -> Option<&[u8]> {
        self.has_iv.then(|| &self.iv[..self.iv_bytes()])
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.algorithm.cipher.block_bytes
    }

    pub(crate) fn iv_bytes(&self) -> usize {
        self.algorithm.iv_bytes()
    }

    /// The parameters that all have.
    pub(crate) fn get(&mut self, name: &[u8]) -> Result<Option<Value<'_>>, Reason> {
        let bytes = self.iv_bytes();
        Ok(Some(match name {
            b"randkey" if self.algorithm.has_parity() => Value::Unsized(self.draw_key()?),
            b"keylen" => Value::Number(self.algorithm.key_bytes as u64),
            b"ivlen" => Value::Number(bytes as u64),
            b"padding" => Value::Number(u64::from(self.has_padding)),
            b"iv" => Value::Bytes(&self.iv[..bytes]),
            b"updated-iv" => Value::Bytes(&self.register[..bytes]),
            _ => return Ok(None),
        }))
    }

    /// A random key of DES, every byte of which has odd parity (FIPS 46-3).
    fn draw_key(&mut self) -> Result<&[u8], Reason> {
        let key = &mut self.drawn[..self.algorithm.key_bytes];
        getrandom::fill(key).map_err(|_| Reason::Operation)?;
        for byte in &mut *key {
            *byte ^= u8::from(byte.count_ones().is_multiple_of(2));
        }
        Ok(key)
    }

    /// Sets a parameter that all have.
    pub(crate) fn set(&mut self, name: &[u8], value: Value<'_>) -> Result<(), Reason> {
        if name == b"padding" {
            self.has_padding = value.number()? != 0;
        }
        Ok(())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("names", &self.algorithm.names).finish_non_exhaustive()
    }
}
