//! The seekable CTR stream over any engine: one pass of the engine for any length.

use core::fmt;

use cipher::{
    InOutBuf, OverflowError, StreamCipher, StreamCipherError, StreamCipherSeek, stream::SeekNum,
};

use crate::{Counter, Engine, Error, Operation, modes};

/// CTR as a stream that can seek, with the whole block as a big-endian counter or its last 32 bits.
///
/// The same bytes as `ctr::Ctr128BE` (16-byte blocks) and `ctr::Ctr64BE` (8-byte blocks). Whole
/// blocks go to the engine in one piece, whatever their number; a piece that starts or ends
/// inside a block costs one block more. The key stream has 2^64 blocks of 8 bytes, or 2^128 of 16,
/// of which positions in bytes reach the first `u128::MAX` bytes.
///
/// RustCrypto's traits cannot report a device error: there the stream panics with the error's
/// text; use [`try_apply`](Self::try_apply) and [`try_seek_to`](Self::try_seek_to) instead.
pub struct Ctr<E> {
    engine: E,
    first: Counter,
    /// Whether the counter is the last 32 bits of the block alone.
    has_32_bits: bool,
    position: u128,
}

impl<E: Engine> Ctr<E> {
    /// A stream at position 0, whose first counter block is `iv`.
    ///
    /// # Errors
    /// [`Error::IvLength`] where `iv` is not one block.
    pub fn new(engine: E, iv: &[u8]) -> Result<Self, Error> {
        let first = Counter::read(iv, engine.block_bytes())?;
        Ok(Self { engine, first, has_32_bits: false, position: 0 })
    }

    /// A stream at position 0, whose first counter block is `iv` and whose counter is the last 32 bits
    /// of it, which wrap: the same bytes as `ctr::Ctr32BE`. It has 2^32 blocks.
    ///
    /// # Errors
    /// [`Error::IvLength`] where `iv` is not one block.
    pub fn with_32_bits(engine: E, iv: &[u8]) -> Result<Self, Error> {
        Ok(Self { has_32_bits: true, ..Self::new(engine, iv)? })
    }

    /// The position in bytes from the start of the key stream.
    #[must_use]
    pub fn position(&self) -> u128 {
        self.position
    }

    /// Bytes of the key stream that can be reached; also the position after the last of them.
    #[must_use]
    pub fn length(&self) -> u128 {
        let block = self.engine.block_bytes() as u128;
        match (self.has_32_bits, block) {
            (true, _) => block << 32,
            (false, 8) => block << 64,
            (false, _) => u128::MAX,
        }
    }

    /// Goes to a position in bytes from the start of the key stream.
    ///
    /// # Errors
    /// [`Error::KeystreamEnd`] past the end of the key stream; the position stays as it was.
    pub fn try_seek_to(&mut self, position: u128) -> Result<(), Error> {
        let length = self.length();
        if position > length {
            return Err(Error::KeystreamEnd { position, length });
        }
        self.position = position;
        Ok(())
    }

    /// XORs the key stream over `data` and moves on by its length.
    ///
    /// # Errors
    /// [`Error::KeystreamEnd`] where the key stream is shorter than the data: nothing is written
    /// then. The engine's own errors: the output is unspecified then, and the position unchanged.
    pub fn try_apply(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let end = self.end_of(data.len())?;
        let block = self.engine.block_bytes();
        // Bytes of the first block that lie before the position.
        let skipped = (self.position % block as u128) as usize;
        let number = self.position / block as u128;
        if skipped == 0 {
            if !data.is_empty() {
                self.run(number, data)?;
            }
            self.position = end;
            return Ok(());
        }
        let head = (block - skipped).min(data.len());
        let (mut head_data, rest) = data.split_at(head);
        if head > 0 {
            modes::wiped(&mut [0; 16][..block], |keystream| {
                self.run(number, (&mut *keystream).into())?;
                head_data.xor_in2out(&keystream[skipped..skipped + head]);
                Ok::<(), Error>(())
            })?;
        }
        if !rest.is_empty() {
            self.run(number + 1, rest)?;
        }
        self.position = end;
        Ok(())
    }

    /// The position after `length` more bytes.
    fn end_of(&self, bytes: usize) -> Result<u128, Error> {
        let length = self.length();
        let end = self.position.checked_add(bytes as u128);
        end.filter(|&end| end <= length).ok_or(Error::KeystreamEnd {
            position: self.position.saturating_add(bytes as u128),
            length,
        })
    }

    /// Runs the key stream from block `number` on.
    fn run(&self, number: u128, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let operation = if self.has_32_bits {
            Operation::Ctr32(self.first.plus32(number))
        } else {
            Operation::Ctr(self.first.plus(number))
        };
        self.engine.run(operation, data)
    }
}

impl<E> fmt::Debug for Ctr<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctr").finish_non_exhaustive()
    }
}

impl<E: Engine> StreamCipher for Ctr<E> {
    fn check_remaining(&self, data_len: usize) -> Result<(), StreamCipherError> {
        self.end_of(data_len).map(drop).map_err(|_| StreamCipherError)
    }

    /// # Panics
    /// Past the end of the key stream; where the engine fails, which CPU engines do not.
    fn unchecked_apply_keystream_inout(&mut self, buf: InOutBuf<'_, '_, u8>) {
        if let Err(error) = self.try_apply(buf) {
            panic!("CTR: {error}");
        }
    }

    fn unchecked_write_keystream(&mut self, buf: &mut [u8]) {
        buf.fill(0);
        self.unchecked_apply_keystream_inout(buf.into());
    }
}

impl<E: Engine> StreamCipherSeek for Ctr<E> {
    fn try_current_pos<T: SeekNum>(&self) -> Result<T, OverflowError> {
        // As blocks of one byte: SeekNum multiplies the blocks begun before it takes off what is
        // unused of the last, so that with real blocks the last positions of a type overflow.
        T::from_block_byte(self.position, 1, 1)
    }

    fn try_seek<T: SeekNum>(&mut self, pos: T) -> Result<(), StreamCipherError> {
        // As blocks of one byte: with real blocks `SeekNum` panics at a number below zero.
        let (position, _) = pos.into_block_byte::<u128>(1).map_err(|_| StreamCipherError)?;
        self.try_seek_to(position).map_err(|_| StreamCipherError)
    }
}
