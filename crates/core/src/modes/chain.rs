//! The modes that chain blocks: CBC, CFB and OFB.

use cipher::InOutBuf;

use super::{MAX_BLOCK, in_pieces, iv_block, wiped, with_scratch, xor};
use crate::{Direction, Engine, Error, Mode, Operation};

/// CBC encryption without padding (SP 800-38A, 6.2).
///
/// # Errors
/// [`Error::IvLength`], [`Error::NotWholeBlocks`]; the engine's own errors.
pub fn cbc_encrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    engine.run(Operation::Cbc(Direction::Encrypt, iv), data)
}

/// CBC decryption without padding (SP 800-38A, 6.2), many blocks at once.
///
/// # Errors
/// [`Error::IvLength`], [`Error::NotWholeBlocks`]; the engine's own errors.
pub fn cbc_decrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    engine.run(Operation::Cbc(Direction::Decrypt, iv), data)
}

/// CFB encryption with segments of a whole block (SP 800-38A, 6.3: CFB-128, CFB-64); of the last
/// block there may be a part.
///
/// # Errors
/// [`Error::IvLength`]; the engine's own errors.
pub fn cfb_encrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    ChainedMode::Cfb(Direction::Encrypt).run_message(engine, iv, data)
}

/// CFB decryption with segments of a whole block (SP 800-38A, 6.3), many blocks at once; of the last
/// block there may be a part.
///
/// # Errors
/// [`Error::IvLength`]; the engine's own errors.
pub fn cfb_decrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    ChainedMode::Cfb(Direction::Decrypt).run_message(engine, iv, data)
}

/// OFB in either direction (SP 800-38A, 6.4), over any length.
///
/// # Errors
/// [`Error::IvLength`]; the engine's own errors.
pub fn ofb<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    ChainedMode::Ofb.run_message(engine, iv, data)
}

/// A mode whose blocks are chained, and its direction (SP 800-38A, 6.2 to 6.4): messages that come in pieces.
///
/// What a piece leaves to the next one is a block, the *register*: the last block of ciphertext, or in OFB of
/// key stream; before the first piece, the IV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainedMode {
    /// CBC without padding, of whole blocks. Decryption runs many at once.
    Cbc(Direction),
    /// CFB with segments of a whole block, of any length. Decryption runs many blocks at once.
    Cfb(Direction),
    /// OFB in either direction, of any length.
    Ofb,
}

impl ChainedMode {
    /// The mode of operation.
    #[must_use]
    pub fn mode(self) -> Mode {
        self.from_register(&[]).mode()
    }

    /// Whole blocks after those that left `register`.
    #[must_use]
    pub fn from_register(self, register: &[u8]) -> Operation<'_> {
        match self {
            Self::Cbc(direction) => Operation::Cbc(direction, register),
            Self::Cfb(direction) => Operation::Cfb(direction, register),
            Self::Ofb => Operation::Ofb(register),
        }
    }

    /// Runs the next whole blocks of a message.
    ///
    /// # Errors
    /// [`Error::IvLength`] where `register` is not one block, [`Error::NotWholeBlocks`]; the engine's own
    /// errors, after which register and output are unspecified.
    #[allow(clippy::inline_always, reason = "where the mode is known, little of this is left")]
    #[inline(always)]
    pub fn run_blocks<E: Engine + ?Sized>(
        self,
        engine: &E,
        register: &mut [u8],
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let (block, length) = (engine.block_bytes(), data.len());
        let Some(start) = length.checked_sub(block) else {
            return self.from_register(register).check(block, length);
        };
        let encrypts =
            matches!(self, Self::Cbc(Direction::Encrypt) | Self::Cfb(Direction::Encrypt));
        let mut last = [0; MAX_BLOCK];
        // In place it is overwritten. What the engine refuses is refused with nothing written.
        if !encrypts && let Some(kept) = last.get_mut(..block) {
            kept.copy_from_slice(&data.get_in()[start..]);
        }
        let ran = engine.run(self.from_register(register), data.reborrow());
        if ran.is_ok() {
            let output = &data.get_out()[start..];
            match self {
                Self::Cbc(Direction::Encrypt) | Self::Cfb(Direction::Encrypt) => {
                    register.copy_from_slice(output);
                }
                Self::Cbc(Direction::Decrypt) | Self::Cfb(Direction::Decrypt) => {
                    register.copy_from_slice(&last[..block]);
                }
                Self::Ofb => {
                    register.copy_from_slice(output);
                    xor(register, &last[..block]);
                }
            }
        }
        if self == Self::Ofb {
            wiped(&mut last, |_| ()); // of encryption it is plaintext
        }
        ran
    }

    /// Runs the next bytes of a message in CFB or OFB, any number of them, and in CBC whole blocks; `used` is
    /// how many bytes of the block at hand came before, less than a block, and none in CBC. Within a block
    /// `register` is its key stream, of which CFB's ciphertext has taken the place so far.
    ///
    /// # Errors
    /// As [`run_blocks`](Self::run_blocks), but nothing is written where a length is refused;
    /// [`Error::KeystreamEnd`] where `used` is a block or more.
    pub fn run_bytes<E: Engine + ?Sized>(
        self,
        engine: &E,
        register: &mut [u8],
        used: &mut usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let block = engine.block_bytes();
        self.check_piece(block, register, *used, data.len())?;
        let head = if *used == 0 { 0 } else { data.len().min(block - *used) };
        let (head, rest) = data.split_at(head);
        self.use_register(register, used, head);
        let whole = rest.len() / block * block;
        let (blocks, tail) = rest.split_at(whole);
        self.run_blocks(engine, register, blocks)?;
        if !tail.is_empty() {
            engine.ecb(Direction::Encrypt, (&mut *register).into())?;
            self.use_register(register, used, tail);
        }
        Ok(())
    }

    /// Checks what [`run_bytes`](Self::run_bytes) goes on from, and the length of a piece.
    fn check_piece(
        self,
        block: usize,
        register: &[u8],
        used: usize,
        given: usize,
    ) -> Result<(), Error> {
        if register.len() != block {
            let (mode, given) = (self.mode(), register.len());
            return Err(Error::IvLength { mode, given, accepted: block });
        }
        if used >= block {
            let (position, length) = (used as u128, block as u128);
            return Err(Error::KeystreamEnd { position, length });
        }
        let cut = |bytes: &usize| !bytes.is_multiple_of(block);
        if matches!(self, Self::Cbc(_))
            && let Some(given) = [used, given].into_iter().find(cut)
        {
            return Err(Error::NotWholeBlocks { mode: Mode::Cbc, given, block });
        }
        Ok(())
    }

    /// Runs the next bytes of a message in CFB or OFB by the block at hand alone, as
    /// [`run_bytes`](Self::run_bytes) has it in `register`; `used` is 0 after the last byte of the block.
    ///
    /// # Panics
    /// Where `used` is not within the block, or `data` is longer than what is left of it.
    pub fn use_register(
        self,
        register: &mut [u8],
        used: &mut usize,
        mut data: InOutBuf<'_, '_, u8>,
    ) {
        let (block, given) = (register.len(), data.len());
        assert!(
            *used < block && given <= block - *used,
            "{given} bytes after {used} of a block of {block}"
        );
        let part = &mut register[*used..][..given];
        *used = (*used + given) % block;
        if self == Self::Cfb(Direction::Decrypt) {
            for (i, byte) in part.iter_mut().enumerate() {
                let mut place = data.get(i);
                let ciphertext = *place.get_in();
                *place.get_out() = ciphertext ^ *byte;
                *byte = ciphertext;
            }
            return;
        }
        data.xor_in2out(part);
        if self == Self::Cfb(Direction::Encrypt) {
            part.copy_from_slice(data.get_out());
        }
    }

    /// A message of any length from its IV on.
    fn run_message<E: Engine + ?Sized>(
        self,
        engine: &E,
        iv: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let block = engine.block_bytes();
        let mut register = iv_block(self.mode(), iv, block)?;
        wiped(&mut register[..block], |register| self.run_bytes(engine, register, &mut 0, data))
    }
}

/// A serial operation over whole blocks by ECB, a block at a time: engines may have blocks of any length, which
/// `OneByOne` has as a type.
pub(super) fn one_by_one_by_ecb(
    engine: &dyn Engine,
    operation: Operation<'_>,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let (Operation::Cbc(_, iv) | Operation::Cfb(_, iv) | Operation::Ofb(iv)) = operation else {
        unreachable!("it is not serial: {operation:?}");
    };
    let mut register = [0; MAX_BLOCK];
    wiped(&mut register[..iv.len()], |register| {
        register.copy_from_slice(iv);
        in_pieces(data, iv.len(), |_, piece| {
            let output = piece.into_out_with_copied_in();
            if let Operation::Cbc(..) = operation {
                xor(register, output);
                engine.ecb(Direction::Encrypt, (&mut *register).into())?;
                output.copy_from_slice(register);
                return Ok(());
            }
            engine.ecb(Direction::Encrypt, (&mut *register).into())?;
            xor(output, register);
            if let Operation::Cfb(..) = operation {
                register.copy_from_slice(output);
            }
            Ok(())
        })
    })
}

/// CBC decryption by ECB.
pub(super) fn cbc_decrypt_by_ecb(
    engine: &dyn Engine,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let mut previous = iv_block(Mode::Cbc, iv, block)?;
    with_scratch(engine, data.len(), |scratch| {
        let chunk = scratch.len() / block * block;
        in_pieces(data, chunk, |_, mut piece| {
            // The ciphertext is needed twice, and in place the output overwrites it.
            let ciphertext = &mut scratch[..piece.len()];
            ciphertext.copy_from_slice(piece.get_in());
            engine.ecb(Direction::Decrypt, piece.reborrow())?;
            let plaintext = piece.get_out();
            let (first, rest) = plaintext.split_at_mut(block);
            xor(first, &previous);
            xor(rest, ciphertext);
            previous[..block].copy_from_slice(&ciphertext[ciphertext.len() - block..]);
            Ok(())
        })
    })
}

/// CFB decryption by ECB.
pub(super) fn cfb_decrypt_by_ecb(
    engine: &dyn Engine,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let mut previous = iv_block(Mode::Cfb, iv, block)?;
    with_scratch(engine, data.len(), |scratch| {
        let chunk = scratch.len() / block * block;
        in_pieces(data, chunk, |_, piece| {
            let keystream = &mut scratch[..piece.len()];
            let (before, last) = piece.get_in().split_at(piece.len() - block);
            keystream[..block].copy_from_slice(&previous[..block]);
            keystream[block..].copy_from_slice(before);
            previous[..block].copy_from_slice(last);
            engine.ecb(Direction::Encrypt, (&mut *keystream).into())?;
            xor(piece.into_out_with_copied_in(), keystream);
            Ok(())
        })
    })
}
