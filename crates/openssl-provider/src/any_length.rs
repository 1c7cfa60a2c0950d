//! CFB, OFB and CTR: data of any length.

use std::fmt;

use lanecrypt::{ChainedMode, Direction, cipher::InOutBuf};

use crate::{
    Algorithm, EvpCalls, EvpMode, Key, Reason, Transfer, Value, feedback, keystream::Keystream,
    shared::Shared,
};

/// A context of a mode that takes any number of bytes.
#[derive(Clone)]
pub struct AnyLength {
    shared: Shared,
    /// Bytes of the register that were used, in CFB and OFB.
    used: usize,
    /// The key stream, in CTR.
    keystream: Keystream,
    /// Whether lengths are bits, in CFB of bits.
    counts_bits: bool,
}

impl AnyLength {
    /// A context without a key.
    #[must_use]
    pub fn new(algorithm: &'static Algorithm) -> Self {
        Self {
            shared: Shared::new(algorithm),
            used: 0,
            keystream: Keystream::new(algorithm.cipher.block_bytes),
            counts_bits: false,
        }
    }

    /// CFB of whole blocks and OFB: what is left of the block at hand, whole blocks, the rest.
    fn run_chained(&mut self, key: &Key, data: InOutBuf<'_, '_, u8>) -> Result<(), Reason> {
        let block = self.shared.block_bytes();
        let mode = match self.shared.algorithm.mode {
            EvpMode::Ofb => ChainedMode::Ofb,
            _ => ChainedMode::Cfb(self.shared.direction),
        };
        let (register, used) = (&mut self.shared.register[..block], &mut self.used);
        key.run(data.len(), |engine| mode.run_bytes(engine, register, used, data))
    }
}

impl EvpCalls for AnyLength {
    fn init(
        &mut self,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<(), Reason> {
        self.used = 0;
        self.shared.init(direction, key, iv)?;
        if self.shared.algorithm.mode == EvpMode::Ctr {
            let block = self.shared.block_bytes();
            self.keystream.start(iv.map(|_| &self.shared.register[..block]));
        }
        Ok(())
    }

    fn counts_bits(&self) -> bool {
        self.counts_bits
    }

    fn update(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let key = self.shared.key()?;
        // Of data that is counted in bits for a context that is not told so, all bytes.
        let count = if self.counts_bits { data.count() } else { data.unread() };
        let bytes = if self.counts_bits { count.div_ceil(8) } else { count };
        if bytes == 0 {
            return Ok(0);
        }
        let piece = data.in_out(bytes)?;
        let direction = self.shared.direction;
        let block = self.shared.block_bytes();
        let register = &mut self.shared.register[..block];
        match self.shared.algorithm.mode {
            EvpMode::Ctr => self.keystream.apply(&key, piece)?,
            EvpMode::Cfb8 => feedback::bytes(&key, direction, register, piece)?,
            EvpMode::Cfb1 => {
                let bits = if self.counts_bits { count } else { 8 * bytes };
                feedback::bits(&key, direction, register, piece, bits)?;
            }
            _ => self.run_chained(&key, piece)?,
        }
        Ok(count)
    }

    fn finish(&mut self, _data: &mut Transfer<'_>) -> Result<usize, Reason> {
        self.shared.key()?;
        Ok(0)
    }

    fn get(&mut self, name: &[u8], _size: usize) -> Result<Option<Value<'_>>, Reason> {
        let is_counter = self.shared.algorithm.mode == EvpMode::Ctr;
        Ok(match name {
            b"num" if is_counter => Some(Value::Number(self.keystream.used() as u64)),
            b"num" => Some(Value::Number(self.used as u64)),
            b"updated-iv" if is_counter => {
                let block = self.shared.block_bytes();
                self.keystream.next(&mut self.shared.register[..block]);
                self.shared.get(name)?
            }
            _ => self.shared.get(name)?,
        })
    }

    fn set(&mut self, name: &[u8], value: Value<'_>) -> Result<(), Reason> {
        match name {
            b"num" => {
                let used = value.number()?;
                if used >= self.shared.block_bytes() {
                    return Err(Reason::GetParameter);
                }
                match self.shared.algorithm.mode {
                    EvpMode::Ctr if used == 0 => self.keystream.start(None),
                    EvpMode::Ctr => self.keystream.resume(&*self.shared.key()?, used)?,
                    _ => self.used = used,
                }
            }
            b"use-bits" => {
                let counts_bits = value.number()? != 0;
                self.counts_bits = counts_bits && self.shared.algorithm.mode == EvpMode::Cfb1;
            }
            _ => self.shared.set(name, value)?,
        }
        Ok(())
    }
}

impl fmt::Debug for AnyLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}
