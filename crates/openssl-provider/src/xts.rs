//! XTS: each call is a data unit under the same IV.

use std::{fmt, sync::Arc};

use lanecrypt::{Direction, modes, xts_halves_are_equal};

use crate::{Algorithm, EvpCalls, Key, Reason, Transfer, Value, shared::Shared};

/// The most blocks of a data unit (IEEE 1619-2018, 5.1).
const MAX_BLOCKS: usize = 1 << 20;

/// A context of XTS.
#[derive(Clone)]
pub struct Xts {
    /// With the key of data.
    shared: Shared,
    tweak_key: Option<Arc<Key>>,
    standard: Standard,
}

/// Whose order of bits the masks of a data unit follow each other in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standard {
    /// IEEE 1619.
    Ieee,
    /// GB/T 17964-2021, which is OpenSSL's default where it has both.
    Gb,
}

impl Standard {
    /// The standard by its name, in letters of either case, as OpenSSL takes it.
    fn named(name: &[u8]) -> Option<Self> {
        let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
        if is(b"GB") {
            Some(Self::Gb)
        } else if is(b"IEEE") {
            Some(Self::Ieee)
        } else {
            None
        }
    }
}

impl Xts {
    /// A context without a key.
    #[must_use]
    pub fn new(algorithm: &'static Algorithm) -> Self {
        let standard = if algorithm.has_xts_of_gb() { Standard::Gb } else { Standard::Ieee };
        Self { shared: Shared::new(algorithm), tweak_key: None, standard }
    }
}

impl EvpCalls for Xts {
    fn init(
        &mut self,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<(), Reason> {
        let Some(key) = key else {
            return self.shared.init(direction, None, iv);
        };
        let algorithm = self.shared.algorithm;
        if key.len() != algorithm.key_bytes {
            return Err(Reason::KeyLength);
        }
        // As OpenSSL has it, which compares no keys where it has the other standard.
        let is_encryption = direction == Direction::Encrypt;
        if !algorithm.has_xts_of_gb() && is_encryption && xts_halves_are_equal(key) {
            return Err(Reason::DuplicatedKeys);
        }
        let (data_key, tweak_key) = key.split_at(key.len() / 2);
        let tweak_key = Key::new(algorithm, tweak_key)?;
        // Where the IV is refused, both keys stay: one of each pair would be another cipher.
        self.shared.init(direction, Some(data_key), iv)?;
        self.tweak_key = Some(tweak_key);
        Ok(())
    }

    fn update(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let (bytes, direction) = (data.unread(), self.shared.direction);
        if data.room() < bytes {
            return Err(Reason::OutputTooSmall);
        }
        // As OpenSSL has it: whatever is missing, the call fails for that one reason.
        let (Ok(key), Some(tweak_key), Some(iv)) =
            (self.shared.key(), &self.tweak_key, self.shared.iv())
        else {
            return Err(Reason::Operation);
        };
        if bytes < self.shared.block_bytes() {
            return Err(Reason::Operation);
        }
        if bytes > MAX_BLOCKS * self.shared.block_bytes() {
            return Err(Reason::DataUnitTooLarge);
        }
        let tweak_key = tweak_key.engine();
        let unit = data.in_out(bytes)?;
        key.run(bytes, |engine| match self.standard {
            Standard::Ieee => modes::xts(engine, tweak_key, iv, direction, unit),
            Standard::Gb => modes::xts_gb(engine, tweak_key, iv, direction, unit),
        })?;
        Ok(bytes)
    }

    fn finish(&mut self, _data: &mut Transfer<'_>) -> Result<usize, Reason> {
        Ok(0)
    }

    fn get(&mut self, name: &[u8], _size: usize) -> Result<Option<Value<'_>>, Reason> {
        Ok(match name {
            b"num" => Some(Value::Number(0)),
            _ => self.shared.get(name)?,
        })
    }

    fn set(&mut self, name: &[u8], value: Value<'_>) -> Result<(), Reason> {
        if name == b"xts_standard" && self.shared.algorithm.has_xts_of_gb() {
            let Value::Text(name) = value else { return Err(Reason::GetParameter) };
            self.standard = Standard::named(name).ok_or(Reason::SetParameter)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Xts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}
