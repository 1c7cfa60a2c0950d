//! Serial modes of several messages side by side: each block waits for the one before it, but not for those of other
//! messages.

use core::{array, cmp::Reverse, fmt, ops::Range};

use cipher::InOutBuf;

use super::{MAX_BLOCK, STACK_CHUNK, wiped, xor};
use crate::{ChainedMode, Direction, Engine, Error, MessagesError, Mode, engine::whole_blocks};

/// The most messages that run side by side.
pub const MOST_CHAINS: usize = 256;
/// Of engines that like fewer, up to this number run on less of the stack.
const FEW_CHAINS: usize = 32;

/// A mode in which each block waits for the one before it (SP 800-38A, 6.2 to 6.4).
///
/// What the next block waits for is the *register*: the last block of ciphertext, or in OFB of key stream; before
/// the first block, the IV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SerialMode {
    /// CBC encryption without padding, of whole blocks; with [`AbsorbedMessage`], CBC-MAC.
    Cbc,
    /// CFB encryption with segments of a whole block, of any length.
    Cfb,
    /// OFB in either direction, of any length.
    Ofb,
}

/// A message with its register.
pub trait Message {
    /// Whether of its result only the register is wanted.
    const IS_ABSORBED: bool;

    /// Bytes of it.
    fn length(&self) -> usize;

    /// Its register, a block.
    fn register(&mut self) -> &mut [u8];

    /// Some bytes of it. Where it is absorbed, the result is written to `sink`, which is as long.
    fn piece<'s>(&'s mut self, bytes: Range<usize>, sink: &'s mut [u8]) -> InOutBuf<'s, 's, u8>;
}

/// A message with its IV.
pub struct ChainedMessage<'a> {
    /// The IV, a block, which becomes what the message goes on with: the last block of ciphertext, or in OFB of key
    /// stream. After a part of a block it has no meaning.
    pub iv: &'a mut [u8],
    /// What is encrypted.
    pub data: InOutBuf<'a, 'a, u8>,
}

/// A message of which nothing is written but its register.
pub struct AbsorbedMessage<'a> {
    /// A block: zeros where a CBC-MAC begins, which becomes the last block of ciphertext.
    pub register: &'a mut [u8],
    /// What is absorbed.
    pub data: &'a [u8],
}

impl Message for ChainedMessage<'_> {
    const IS_ABSORBED: bool = false;

    fn length(&self) -> usize {
        self.data.len()
    }
    fn register(&mut self) -> &mut [u8] {
        self.iv
    }
    fn piece<'s>(&'s mut self, bytes: Range<usize>, _: &'s mut [u8]) -> InOutBuf<'s, 's, u8> {
        self.data.reborrow().split_at(bytes.end).0.split_at(bytes.start).1
    }
}

impl Message for AbsorbedMessage<'_> {
    const IS_ABSORBED: bool = true;

    fn length(&self) -> usize {
        self.data.len()
    }
    fn register(&mut self) -> &mut [u8] {
        self.register
    }
    fn piece<'s>(&'s mut self, bytes: Range<usize>, sink: &'s mut [u8]) -> InOutBuf<'s, 's, u8> {
        let Ok(piece) = InOutBuf::new(&self.data[bytes], sink) else {
            unreachable!("the sink is as long")
        };
        piece
    }
}

/// Tells the length, never the data.
impl fmt::Debug for ChainedMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainedMessage").field("length", &self.data.len()).finish_non_exhaustive()
    }
}

/// Tells the length, never the data.
impl fmt::Debug for AbsorbedMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbsorbedMessage").field("length", &self.data.len()).finish_non_exhaustive()
    }
}

impl SerialMode {
    /// The mode of operation.
    #[must_use]
    pub const fn mode(self) -> Mode {
        match self {
            Self::Cbc => Mode::Cbc,
            Self::Cfb => Mode::Cfb,
            Self::Ofb => Mode::Ofb,
        }
    }

    /// The mode of one message.
    const fn alone(self) -> ChainedMode {
        match self {
            Self::Cbc => ChainedMode::Cbc(Direction::Encrypt),
            Self::Cfb => ChainedMode::Cfb(Direction::Encrypt),
            Self::Ofb => ChainedMode::Ofb,
        }
    }

    /// Runs messages of any lengths, as many side by side as the engine likes. They are put in order, the longest
    /// first, so that those that run together end at about the same time.
    ///
    /// # Errors
    /// [`MessagesError::Message`] with [`Error::IvLength`] or, in CBC, [`Error::NotWholeBlocks`], before anything is
    /// written or put in order. [`MessagesError::Engine`] with the engine's own error, after which all outputs and
    /// registers are unspecified.
    pub fn run_messages<E: Engine + ?Sized, M: Message>(
        self,
        engine: &E,
        messages: &mut [M],
    ) -> Result<(), MessagesError> {
        // The compiler knows the length of a copy, and divides by shifts, where it knows that of a block.
        match engine.block_bytes() {
            8 => self.run_messages_of(8, engine, messages),
            16 => self.run_messages_of(16, engine, messages),
            block => self.run_messages_of(block, engine, messages),
        }
    }

    #[allow(clippy::inline_always, reason = "so that the length of a block is a constant")]
    #[inline(always)]
    fn run_messages_of<E: Engine + ?Sized, M: Message>(
        self,
        block: usize,
        engine: &E,
        messages: &mut [M],
    ) -> Result<(), MessagesError> {
        for (number, message) in messages.iter_mut().enumerate() {
            let check = self.check(block, message);
            check.map_err(|error| MessagesError::Message { number, error })?;
        }
        messages.sort_unstable_by_key(|message| Reverse(message.length()));
        let most = engine.chains_at_once().clamp(1, MOST_CHAINS);
        for group in messages.chunks_mut(most) {
            if group.len() <= FEW_CHAINS {
                self.run_group::<E, M, FEW_CHAINS>(block, engine, group)?;
            } else {
                self.run_group::<E, M, MOST_CHAINS>(block, engine, group)?;
            }
        }
        Ok(())
    }

    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn check<M: Message>(self, block: usize, message: &mut M) -> Result<(), Error> {
        let given = message.register().len();
        if given != block || block > MAX_BLOCK {
            return Err(Error::IvLength { mode: self.mode(), given, accepted: block });
        }
        if self == Self::Cbc { whole_blocks(Mode::Cbc, message.length(), block) } else { Ok(()) }
    }

    /// Runs up to `MOST` messages side by side, of which the longest come first.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn run_group<E: Engine + ?Sized, M: Message, const MOST: usize>(
        self,
        block: usize,
        engine: &E,
        group: &mut [M],
    ) -> Result<(), Error> {
        let mut registers = [[0; MAX_BLOCK]; MOST];
        wiped(&mut registers.as_flattened_mut()[..group.len() * block], |registers| {
            for (register, message) in registers.chunks_exact_mut(block).zip(&mut *group) {
                register.copy_from_slice(message.register());
            }
            if M::IS_ABSORBED {
                // It becomes blocks of ciphertext, of which nothing may be seen.
                wiped(&mut [0; STACK_CHUNK], |sink| {
                    self.run_whole_blocks::<E, M, MOST>(block, engine, group, registers, sink)
                })?;
            } else {
                self.run_whole_blocks::<E, M, MOST>(block, engine, group, registers, &mut [])?;
            }
            for (register, message) in registers.chunks_exact(block).zip(&mut *group) {
                message.register().copy_from_slice(register);
            }
            if self == Self::Cbc {
                return Ok(());
            }
            run_parts(block, engine, group, registers)
        })
    }

    /// Runs the whole blocks of messages.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn run_whole_blocks<E: Engine + ?Sized, M: Message, const MOST: usize>(
        self,
        block: usize,
        engine: &E,
        group: &mut [M],
        registers: &mut [u8],
        sink: &mut [u8],
    ) -> Result<(), Error> {
        let whole = |message: &M| message.length() / block * block;
        let (count, longest) = (group.len(), group.first().map_or(0, whole));
        let room = if M::IS_ABSORBED { sink.len() / count / block * block } else { longest };
        let mut at = 0;
        while at < longest {
            let mut texts: [InOutBuf<'_, '_, u8>; MOST] = array::from_fn(|_| (&mut [][..]).into());
            let mut rest = &mut *sink;
            for (text, message) in texts.iter_mut().zip(&mut *group) {
                let end = whole(message).min(at + room);
                let start = at.min(end);
                let length = if M::IS_ABSORBED { end - start } else { 0 };
                let (own, others) = rest.split_at_mut(length);
                *text = message.piece(start..end, own);
                rest = others;
            }
            self.run_texts(block, engine, registers, &mut texts[..count])?;
            at += room;
        }
        Ok(())
    }

    /// Runs texts of whole blocks, of which the longest come first: those that go on are a prefix.
    fn run_texts<E: Engine + ?Sized>(
        self,
        block: usize,
        engine: &E,
        registers: &mut [u8],
        mut texts: &mut [InOutBuf<'_, '_, u8>],
    ) -> Result<(), Error> {
        let mut at = 0;
        while let Some(shortest) = texts.last() {
            let (count, end) = (texts.len(), shortest.len());
            let registers = &mut registers[..count * block];
            match &mut *texts {
                _ if end == at => {}
                [alone] => {
                    let (_, rest) = alone.reborrow().split_at(at);
                    self.alone().run_blocks(engine, registers, rest)?;
                }
                _ => {
                    engine.run_chains(Chains {
                        texts: &mut *texts,
                        registers,
                        bytes: at..end,
                        mode: self,
                    })?;
                }
            }
            at = end;
            texts = &mut texts[..count - 1];
        }
        Ok(())
    }

    /// Runs a block of each message, by their registers.
    fn run_row(
        self,
        registers: &mut [u8],
        row: &mut [u8],
        encrypt: &mut Encrypt<'_>,
    ) -> Result<(), Error> {
        if self == Self::Cbc {
            xor(registers, row);
            encrypt(registers)?;
            row.copy_from_slice(registers);
            return Ok(());
        }
        encrypt(registers)?;
        xor(row, registers);
        if self == Self::Cfb {
            registers.copy_from_slice(row);
        }
        Ok(())
    }
}

/// What encrypts a block of each message, their registers: by reference, so that the code above it is there once.
type Encrypt<'a> = dyn FnMut(&mut [u8]) -> Result<(), Error> + 'a;

/// Some bytes of several messages, whole blocks of all of them, that run side by side.
#[repr(C)] // `ct` knows where the texts are, which are public but for what they point to
pub struct Chains<'a, 'inp, 'out> {
    /// The messages.
    pub texts: &'a mut [InOutBuf<'inp, 'out, u8>],
    /// The register of each, one behind the other.
    pub registers: &'a mut [u8],
    /// The bytes of each that run.
    pub bytes: Range<usize>,
    /// The mode.
    pub mode: SerialMode,
}

/// Tells how many there are, never what they hold.
impl fmt::Debug for Chains<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chains = f.debug_struct("Chains");
        chains.field("mode", &self.mode).field("messages", &self.texts.len());
        chains.field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl<'inp, 'out> Chains<'_, 'inp, 'out> {
    /// The same, for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> Chains<'_, 'inp, 'out> {
        let Self { texts, registers, bytes, mode } = self;
        Chains { texts, registers, bytes: bytes.clone(), mode: *mode }
    }

    /// Checks lengths: what every engine does first.
    ///
    /// # Errors
    /// [`Error::IvLength`] where there is not one register of `block` bytes for each text, [`Error::NotWholeBlocks`]
    /// where `bytes` are not whole blocks, [`Error::OutputLength`] where a text ends before them.
    pub fn check(&self, block: usize) -> Result<(), Error> {
        let (mode, given) = (self.mode.mode(), self.registers.len());
        let accepted = self.texts.len() * block;
        if given != accepted || block > MAX_BLOCK {
            return Err(Error::IvLength { mode, given, accepted });
        }
        whole_blocks(mode, self.bytes.len(), block)?;
        let input = self.bytes.end;
        match self.texts.iter().map(InOutBuf::len).find(|&length| length < input) {
            Some(output) => Err(Error::OutputLength { input, output }),
            None => Ok(()),
        }
    }

    /// Runs them by `encrypt`, which encrypts the registers, blocks of `block` bytes.
    ///
    /// # Errors
    /// Those of `encrypt`.
    pub fn run_by(self, block: usize, encrypt: &mut Encrypt<'_>) -> Result<(), Error> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        match block {
            8 => self.run_by_of(8, encrypt),
            16 => self.run_by_of(16, encrypt),
            _ => self.run_by_of(block, encrypt),
        }
    }

    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn run_by_of(self, block: usize, encrypt: &mut Encrypt<'_>) -> Result<(), Error> {
        let Self { texts, registers, bytes, mode } = self;
        let room = STACK_CHUNK.min(registers.len() * (bytes.len() / block));
        wiped(&mut [0; STACK_CHUNK][..room], |rows| {
            let groups = registers.chunks_mut(MOST_CHAINS * block);
            for (registers, texts) in groups.zip(texts.chunks_mut(MOST_CHAINS)) {
                let most = rows.len() / registers.len() * block;
                for at in bytes.clone().step_by(most) {
                    let bytes = at..bytes.end.min(at + most);
                    let rows = &mut rows[..bytes.len() / block * registers.len()];
                    let mut chains = Chains { texts, registers, bytes, mode };
                    chains.run_rows(block, rows, encrypt)?;
                }
            }
            Ok(())
        })
    }

    /// Runs some blocks of each message in rows that have one of each. Of one block alone, looking its message up would
    /// take as long as copying it.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn run_rows(
        &mut self,
        block: usize,
        rows: &mut [u8],
        encrypt: &mut Encrypt<'_>,
    ) -> Result<(), Error> {
        let width = self.registers.len();
        // By places: chunks of rows would take a division for each message.
        for (lane, text) in self.texts.iter().enumerate() {
            let mut place = lane * block;
            for input in text.get_in()[self.bytes.clone()].chunks_exact(block) {
                rows[place..][..block].copy_from_slice(input);
                place += width;
            }
        }
        for row in rows.chunks_exact_mut(width) {
            self.mode.run_row(self.registers, row, encrypt)?;
        }
        for (lane, text) in self.texts.iter_mut().enumerate() {
            let mut place = lane * block;
            for output in text.get_out()[self.bytes.clone()].chunks_exact_mut(block) {
                output.copy_from_slice(&rows[place..][..block]);
                place += width;
            }
        }
        Ok(())
    }
}

/// Runs the parts of blocks that messages end with, after the registers, which become key stream.
#[inline(never)]
fn run_parts<E: Engine + ?Sized, M: Message>(
    block: usize,
    engine: &E,
    group: &mut [M],
    registers: &mut [u8],
) -> Result<(), Error> {
    if group.iter().all(|message| message.length().is_multiple_of(block)) {
        return Ok(());
    }
    engine.ecb(Direction::Encrypt, (&mut *registers).into())?;
    for (keystream, message) in registers.chunks_exact(block).zip(group) {
        let (length, mut sink) = (message.length(), [0; MAX_BLOCK]);
        let part = length % block;
        message.piece(length - part..length, &mut sink[..part]).xor_in2out(&keystream[..part]);
    }
    Ok(())
}
