//! The modes that streams of bytes can be in.

use cipher::InOutBuf;

use crate::{Ctr, Direction, Engine, Error, Mode, Xts};

/// A mode that goes through a stream of bytes a piece at a time.
pub trait StreamMode {
    /// What every piece but the last is a multiple of, in bytes; one where it does not matter.
    fn unit_bytes(&self) -> usize;

    /// Transforms the next bytes of the stream in place.
    ///
    /// # Errors
    /// Those of the mode for bytes that it does not take, and of the engine: what was in `piece` is lost
    /// then.
    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error>;
}

impl<E: Engine> StreamMode for Ctr<E> {
    fn unit_bytes(&self) -> usize {
        1
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        self.try_apply(piece.into())
    }
}

/// CBC decryption without padding: of whole blocks, many at once.
#[derive(Debug)]
pub struct CbcDecryption<E> {
    engine: E,
    /// The block of ciphertext before the next ones, or the IV.
    previous: Vec<u8>,
}

impl<E: Engine> CbcDecryption<E> {
    /// From the start of a message.
    ///
    /// # Errors
    /// [`Error::IvLength`] where `iv` is not one block.
    pub fn new(engine: E, iv: &[u8]) -> Result<Self, Error> {
        let accepted = engine.block_bytes();
        if iv.len() != accepted {
            return Err(Error::IvLength { mode: Mode::Cbc, given: iv.len(), accepted });
        }
        Ok(Self { engine, previous: iv.to_vec() })
    }
}

impl<E: Engine> StreamMode for CbcDecryption<E> {
    fn unit_bytes(&self) -> usize {
        self.engine.block_bytes()
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        let (given, block) = (piece.len(), self.engine.block_bytes());
        if !given.is_multiple_of(block) {
            return Err(Error::NotWholeBlocks { mode: Mode::Cbc, given, block });
        }
        self.engine.cbc_decrypt_blocks(&mut self.previous, piece.into())
    }
}

/// What runs XTS over many data units of one length: [`Xts`] on a CPU, `cuda::XtsEngine` on a GPU.
pub trait RunsUnits {
    /// Runs data units of `unit_bytes` with consecutive numbers from `first` on; the last may be shorter.
    ///
    /// # Errors
    /// [`Error::DataUnitLength`] for less than a block; the engine's own.
    fn run_units(
        &self,
        direction: Direction,
        first: u128,
        unit_bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error>;
}

impl<C: Engine> RunsUnits for Xts<C> {
    fn run_units(
        &self,
        direction: Direction,
        first: u128,
        unit_bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        self.units(direction, first, unit_bytes, data)
    }
}

#[cfg(feature = "cuda")]
impl RunsUnits for crate::cuda::XtsEngine {
    fn run_units(
        &self,
        direction: Direction,
        first: u128,
        bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let units = crate::cuda::DataUnits { bytes, first };
        Ok(self.run_host_memory(direction, units, data)?)
    }
}

/// XTS over data units of one length with consecutive numbers, the last of which may be shorter: the
/// sectors of a disk.
#[derive(Debug)]
pub struct DataUnits<X> {
    xts: X,
    direction: Direction,
    bytes: usize,
    next: u128,
}

impl<X: RunsUnits> DataUnits<X> {
    /// Units of `bytes` bytes from number `first` on; numbers wrap after 2^128 - 1.
    ///
    /// # Errors
    /// [`Error::DataUnitLength`] for less than 16 bytes.
    pub fn new(xts: X, direction: Direction, bytes: usize, first: u128) -> Result<Self, Error> {
        const BLOCK: usize = 16;
        if bytes < BLOCK {
            return Err(Error::DataUnitLength { given: bytes, block: BLOCK });
        }
        Ok(Self { xts, direction, bytes, next: first })
    }
}

impl<X: RunsUnits> StreamMode for DataUnits<X> {
    fn unit_bytes(&self) -> usize {
        self.bytes
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        let count = piece.len().div_ceil(self.bytes);
        self.xts.run_units(self.direction, self.next, self.bytes, piece.into())?;
        self.next = self.next.wrapping_add(count as u128);
        Ok(())
    }
}
