//! The cipher of an engine on the CPU, for what a device would do a block at a time.

use cipher::InOutBuf;
use lanecrypt_core::{CipherDescription, ConstantTime, Direction, Engine, Operation, Platform};
use zeroize::Zeroizing;

use crate::{Error, device::buffer::MAX_BLOCK};

/// An engine of the CPU: a launch takes longer than many blocks do there.
#[derive(Debug)]
pub(crate) struct Single {
    engine: Box<dyn Engine>,
    pub(super) constant_time: ConstantTime,
}

impl Single {
    /// By the row for users of a cipher's table, which is constant-time, or where there is none yet, by its
    /// reference; `None` for a cipher that has no row of a CPU.
    pub(super) fn new(cipher: &CipherDescription, key: &[u8]) -> Result<Option<Self>, Error> {
        let mut on_cpu = cipher.backends.iter().filter(|row| row.platform == Platform::Cpu);
        let Some(row) = cipher.backend("default").or_else(|| on_cpu.next()) else {
            return Ok(None);
        };
        let engine = (row.create)(key).map_err(Error::Data)?;
        Ok(Some(Self { engine, constant_time: row.constant_time }))
    }

    pub(super) fn is_constant_time(&self) -> bool {
        self.constant_time == ConstantTime::Yes
    }

    /// A block, encrypted; one of 8 bytes with zeros behind it.
    pub(super) fn encrypted(&self, block: &[u8]) -> Result<Zeroizing<[u8; MAX_BLOCK]>, Error> {
        let mut padded = Zeroizing::new([0; MAX_BLOCK]);
        let text = &mut padded[..block.len()];
        text.copy_from_slice(block);
        self.engine.ecb(Direction::Encrypt, text.into()).map_err(Error::Data)?;
        Ok(padded)
    }

    /// Runs an operation each of whose blocks waits for the one before it.
    pub(crate) fn run_serial(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        self.engine.run(operation, data)
    }
}
