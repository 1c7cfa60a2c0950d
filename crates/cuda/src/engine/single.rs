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

    /// A block of 16 bytes, encrypted.
    pub(super) fn encrypted(
        &self,
        block: &[u8; MAX_BLOCK],
    ) -> Result<Zeroizing<[u8; MAX_BLOCK]>, Error> {
        let mut block = Zeroizing::new(*block);
        self.engine.ecb(Direction::Encrypt, block.as_mut_slice().into()).map_err(Error::Data)?;
        Ok(block)
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
