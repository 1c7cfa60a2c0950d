//! ECB and CBC: whole blocks, with or without padding, and records of TLS.

use std::fmt;

use lanecrypt::{ChainedMode, Direction, cipher::InOutBuf, padding};
use zeroize::Zeroizing;

use crate::{
    Algorithm, EvpCalls, EvpMode, Reason, Transfer, Value,
    shared::{MAX_BLOCK, Shared},
    tls::{self, MAX_MAC},
};

/// A context of a mode that takes whole blocks.
#[derive(Clone)]
pub struct Blocks {
    shared: Shared,
    /// Input that is no whole block yet, or the last block of a decryption, which may be padding.
    held: Zeroizing<[u8; MAX_BLOCK]>,
    held_bytes: usize,
    /// `num`, which these modes keep and do not use.
    num: u64,
    tls: Option<tls::Version>,
    mac: Zeroizing<[u8; MAX_MAC]>,
    mac_bytes: usize,
}

impl Blocks {
    /// A context without a key.
    #[must_use]
    pub fn new(algorithm: &'static Algorithm) -> Self {
        Self {
            shared: Shared::new(algorithm),
            held: Zeroizing::default(),
            held_bytes: 0,
            num: 0,
            tls: None,
            mac: Zeroizing::new([0; MAX_MAC]),
            mac_bytes: 0,
        }
    }

    /// Runs whole blocks.
    fn run(shared: &mut Shared, data: InOutBuf<'_, '_, u8>) -> Result<(), Reason> {
        let (key, direction, block) = (shared.key()?, shared.direction, shared.block_bytes());
        let register = &mut shared.register[..block];
        let mode = shared.algorithm.mode;
        key.run(data.len(), |engine| match mode {
            EvpMode::Ecb => engine.ecb(direction, data),
            _ => ChainedMode::Cbc(direction).run_blocks(engine, register, data),
        })
    }

    /// Runs the block that is held.
    fn run_held(&mut self) -> Result<(), Reason> {
        let block = self.shared.block_bytes();
        Self::run(&mut self.shared, (&mut self.held[..block]).into())
    }

    /// Bytes that go out now, of `total` that have come in: the last block of a padded message stays.
    fn ready(&self, total: usize) -> usize {
        let block = self.shared.block_bytes();
        let holds_last = self.shared.has_padding && self.shared.direction == Direction::Decrypt;
        let counted = if holds_last { total.saturating_sub(1) } else { total };
        counted / block * block
    }

    /// A record of TLS, in place: padded and encrypted, or decrypted and its padding and MAC removed.
    fn record(&mut self, version: tls::Version, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let block = self.shared.block_bytes();
        let bytes = data.unread();
        if !self.shared.has_padding {
            return Err(Reason::Argument);
        }
        if self.shared.direction == Direction::Encrypt {
            let padding = block - bytes % block;
            let record = data.record(padding)?;
            record[bytes..].fill(padding as u8 - 1);
            Self::run(&mut self.shared, record.into())?;
            return Ok(bytes + padding);
        }
        if !bytes.is_multiple_of(block) {
            return Err(Reason::Argument);
        }
        let record = data.record(0)?;
        Self::run(&mut self.shared, (&mut *record).into())?;
        let explicit_iv = if version.has_explicit_iv() { block } else { 0 };
        let payload = record.get(explicit_iv..).ok_or(Reason::Operation)?;
        tls::open(payload, &mut self.mac[..self.mac_bytes])
    }

    fn finish_encryption(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let block = self.shared.block_bytes();
        if self.shared.has_padding {
            padding::add(&mut self.held[..block], self.held_bytes);
        } else if self.held_bytes == 0 {
            return Ok(0);
        } else {
            return Err(Reason::FinalBlock);
        }
        if data.room() < block {
            return Err(Reason::OutputTooSmall);
        }
        self.run_held()?;
        self.held_bytes = 0;
        data.write(&self.held[..block])?;
        Ok(block)
    }

    /// Decrypts a copy of the block that is held: where its padding is wrong, or there is no room for it, all is as
    /// before, and a program that comes back gets the same answer or the block.
    fn finish_decryption(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let block = self.shared.block_bytes();
        if self.held_bytes == 0 && !self.shared.has_padding {
            return Ok(0);
        }
        if self.held_bytes != block {
            return Err(Reason::FinalBlock);
        }
        let (mut last, register) = (self.held.clone(), self.shared.register.clone());
        let given = Self::run(&mut self.shared, (&mut last[..block]).into())
            .and_then(|()| self.give_last(&last[..block], data));
        match given {
            Ok(_) => self.held_bytes = 0,
            Err(_) => self.shared.register = register,
        }
        given
    }

    /// Writes the last block of plaintext without its padding.
    fn give_last(&self, block: &[u8], data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let bytes = if self.shared.has_padding {
            padding::remove(block).ok_or(Reason::BadDecrypt)?
        } else {
            block.len()
        };
        data.write(&block[..bytes])?;
        Ok(bytes)
    }
}

impl EvpCalls for Blocks {
    fn init(
        &mut self,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<(), Reason> {
        self.held_bytes = 0;
        self.num = 0;
        self.shared.init(direction, key, iv)
    }

    fn update(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        self.shared.key()?;
        if let Some(version) = self.tls {
            return self.record(version, data);
        }
        let block = self.shared.block_bytes();
        let written = self.ready(self.held_bytes + data.unread());
        if data.room() < written {
            return Err(Reason::OutputTooSmall);
        }
        let mut left = written;
        if left > 0 && self.held_bytes > 0 {
            data.read(&mut self.held[self.held_bytes..block]);
            self.run_held()?;
            self.held_bytes = 0;
            data.write(&self.held[..block])?;
            left -= block;
        }
        Self::run(&mut self.shared, data.in_out(left)?)?;
        let end = self.held_bytes + data.unread();
        data.read(&mut self.held[self.held_bytes..end]);
        self.held_bytes = end;
        Ok(written)
    }

    fn finish(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        self.shared.key()?;
        // Records end by themselves.
        if self.tls.is_some() {
            return Err(Reason::Operation);
        }
        match self.shared.direction {
            Direction::Encrypt => self.finish_encryption(data),
            Direction::Decrypt => self.finish_decryption(data),
        }
    }

    fn cipher(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        self.shared.key()?;
        let bytes = data.unread();
        if !bytes.is_multiple_of(self.shared.block_bytes()) {
            return Err(Reason::FinalBlock);
        }
        Self::run(&mut self.shared, data.in_out(bytes)?)?;
        Ok(bytes)
    }

    fn get(&mut self, name: &[u8], _size: usize) -> Result<Option<Value<'_>>, Reason> {
        Ok(match name {
            b"num" => Some(Value::Number(self.num)),
            b"tls-mac" => Some(Value::Bytes(&self.mac[..self.mac_bytes])),
            _ => self.shared.get(name)?,
        })
    }

    fn set(&mut self, name: &[u8], value: Value<'_>) -> Result<(), Reason> {
        match name {
            b"num" => self.num = value.number()? as u64,
            b"tls-version" => self.tls = tls::Version::new(value.number()?)?,
            b"tls-mac-size" => {
                let bytes = value.number()?;
                self.mac_bytes =
                    Some(bytes).filter(|&bytes| bytes <= MAX_MAC).ok_or(Reason::GetParameter)?;
            }
            _ => self.shared.set(name, value)?,
        }
        Ok(())
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}
