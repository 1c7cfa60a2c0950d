//! The modes that streams of bytes can be in.

use std::fmt;

use cipher::InOutBuf;
use zeroize::Zeroize;

use lanecrypt_core::{ChainedMode, modes::UnitNumbers};

use crate::{Ctr, Direction, Engine, Error, Xts};

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

/// Every block by itself, without padding.
#[derive(Debug)]
pub struct Ecb<E> {
    engine: E,
    direction: Direction,
}

impl<E: Engine> Ecb<E> {
    /// Of an engine in a direction.
    pub fn new(engine: E, direction: Direction) -> Self {
        Self { engine, direction }
    }
}

impl<E: Engine> StreamMode for Ecb<E> {
    fn unit_bytes(&self) -> usize {
        self.engine.block_bytes()
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        self.engine.ecb(self.direction, piece.into())
    }
}

/// A message in CBC, CFB or OFB, from its start. CFB and OFB take pieces of any length.
pub struct ChainedStream<E> {
    engine: E,
    mode: ChainedMode,
    /// The register of [`ChainedMode::run_bytes`].
    previous: Vec<u8>,
    /// How far the stream is within a block.
    used: usize,
}

impl<E: Engine> ChainedStream<E> {
    /// Of an engine, in a mode.
    ///
    /// # Errors
    /// [`Error::IvLength`] where `iv` is not one block.
    pub fn new(engine: E, mode: ChainedMode, iv: &[u8]) -> Result<Self, Error> {
        let accepted = engine.block_bytes();
        if iv.len() != accepted {
            return Err(Error::IvLength { mode: mode.mode(), given: iv.len(), accepted });
        }
        Ok(Self { engine, mode, previous: iv.to_vec(), used: 0 })
    }
}

impl<E: Engine> StreamMode for ChainedStream<E> {
    fn unit_bytes(&self) -> usize {
        self.engine.block_bytes()
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        self.mode.run_bytes(&self.engine, &mut self.previous, &mut self.used, piece.into())
    }
}

impl<E> Drop for ChainedStream<E> {
    fn drop(&mut self) {
        self.previous.zeroize(); // of OFB it is key stream
    }
}

impl<E> fmt::Debug for ChainedStream<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainedStream").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// What runs XTS over many data units of one length: [`Xts`] on a CPU, `cuda::XtsEngine` on a GPU.
pub trait RunsUnits {
    /// Runs data units of `unit_bytes` with these `numbers`; the last may be shorter.
    ///
    /// # Errors
    /// [`Error::DataUnitLength`] for less than a block; the engine's own.
    fn run_units(
        &self,
        direction: Direction,
        numbers: UnitNumbers,
        unit_bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error>;
}

impl<X: RunsUnits + ?Sized> RunsUnits for Box<X> {
    fn run_units(
        &self,
        direction: Direction,
        numbers: UnitNumbers,
        unit_bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        (**self).run_units(direction, numbers, unit_bytes, data)
    }
}

impl<C: Engine> RunsUnits for Xts<C> {
    fn run_units(
        &self,
        direction: Direction,
        numbers: UnitNumbers,
        unit_bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        self.units(direction, numbers, unit_bytes, data)
    }
}

#[cfg(feature = "cuda")]
impl RunsUnits for crate::cuda::XtsEngine {
    fn run_units(
        &self,
        direction: Direction,
        mut numbers: UnitNumbers,
        bytes: usize,
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        // On a device numbers are consecutive: others go there one by one.
        let at_once = if numbers.step == 1 { data.len() } else { bytes.max(1) };
        while !data.is_empty() {
            let units = crate::cuda::DataUnits { bytes, first: numbers.take() };
            let length = at_once.min(data.len());
            let (piece, rest) = data.split_at(length);
            self.run_host_memory(direction, units, piece)?;
            data = rest;
        }
        Ok(())
    }
}

/// XTS over data units of one length with consecutive numbers, the last of which may be shorter: the
/// sectors of a disk.
#[derive(Debug)]
pub struct XtsUnits<X> {
    xts: X,
    direction: Direction,
    bytes: usize,
    next: u128,
}

impl<X: RunsUnits> XtsUnits<X> {
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

impl<X: RunsUnits> StreamMode for XtsUnits<X> {
    fn unit_bytes(&self) -> usize {
        self.bytes
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        let count = piece.len().div_ceil(self.bytes);
        self.xts.run_units(self.direction, self.next.into(), self.bytes, piece.into())?;
        self.next = self.next.wrapping_add(count as u128);
        Ok(())
    }
}

#[cfg(all(test, feature = "host-kernels", feature = "tune"))]
mod tests {
    use super::*;
    use crate::{cuda::Device, engine};

    /// Consecutive numbers go to a device at once, others unit by unit: all as on the CPU.
    #[test]
    #[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
    fn a_device_takes_units_of_any_numbers() {
        const UNIT: usize = 40;
        let device = Device::on_host().expect("LANECRYPT_HOST_KERNELS names the library");
        let keys: Vec<u8> = (0..32).collect();
        let family = crate::constant_time_family("aes").ok().flatten().expect("AES has kernels");
        let there = family.xts_engine(&device, &keys).expect("a good key");
        let [data, tweak] = [&keys[..16], &keys[16..]]
            .map(|key| engine("aes", "reference", key).expect("a good key"));
        let here = Xts::new(data, tweak);
        for step in [1, 8] {
            for length in [0, UNIT, 5 * UNIT, 5 * UNIT + 17] {
                let run = |xts: &dyn RunsUnits| {
                    let mut data: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256) as u8).collect();
                    let numbers = UnitNumbers { first: 3, step };
                    let units = data.as_mut_slice().into();
                    xts.run_units(Direction::Encrypt, numbers, UNIT, units).expect("units");
                    data
                };
                assert!(run(&there) == run(&here), "{length} bytes, each {step}th number");
            }
        }
    }
}
