//! What an engine is asked to do with a buffer.

use core::fmt;

use crate::{Counter, Direction, Error, Mode, engine::whole_blocks, modes::MAX_BLOCK};

/// What an [`Engine`](crate::Engine) does with a buffer, and where in its message the buffer begins.
///
/// All of it is in the value: an engine keeps no state between calls. What a message goes on with after a
/// buffer follows from the operation and the data; [`ChainedMode::run_blocks`](crate::ChainedMode::run_blocks)
/// and [`Counter::plus`] say it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation<'s> {
    /// Every block by itself; whole blocks.
    Ecb(Direction),
    /// The CTR key stream from this counter block on, XORed over any length. The counter is the whole
    /// block, big-endian, and wraps.
    Ctr(Counter),
    /// The same, where the counter is the last 32 bits of the block and wraps without a carry to those
    /// before: GCM's and TLS's.
    Ctr32(Counter),
    /// The same, where the counter is the first 32 bits, least significant byte first: GCM-SIV's.
    Ctr32Le(Counter),
    /// CBC after this IV, or block of ciphertext; whole blocks. Each block of encryption waits for the one
    /// before it.
    Cbc(Direction, &'s [u8]),
    /// CFB after this IV, or block of ciphertext, with segments of a block; whole blocks. Each block of
    /// encryption waits for the one before it.
    Cfb(Direction, &'s [u8]),
    /// OFB, in either direction, after this IV, or block of key stream; whole blocks. Each block waits for
    /// the one before it.
    Ofb(&'s [u8]),
    /// XTS of whole blocks of 16 bytes within a data unit; the mask is that of the first, least significant
    /// byte first: the encrypted tweak, times x for every block before this one.
    Xts(Direction, &'s [u8; 16]),
}

impl Operation<'_> {
    /// The mode of operation that it belongs to.
    #[must_use]
    #[inline]
    pub const fn mode(&self) -> Mode {
        match self {
            Self::Ecb(_) => Mode::Ecb,
            Self::Ctr(_) | Self::Ctr32(_) | Self::Ctr32Le(_) => Mode::Ctr,
            Self::Cbc(..) => Mode::Cbc,
            Self::Cfb(..) => Mode::Cfb,
            Self::Ofb(_) => Mode::Ofb,
            Self::Xts(..) => Mode::Xts,
        }
    }

    /// Whether every block waits for the one before it, so that no two can run side by side.
    #[must_use]
    #[inline]
    pub const fn is_serial(&self) -> bool {
        matches!(
            self,
            Self::Cbc(Direction::Encrypt, _) | Self::Cfb(Direction::Encrypt, _) | Self::Ofb(_)
        )
    }

    /// Checks it over `length` bytes in blocks of `block` bytes: what every engine does first.
    ///
    /// # Errors
    /// [`Error::NotWholeBlocks`], [`Error::IvLength`]; [`Error::BlockLength`] for XTS in other blocks than
    /// those of 16 bytes.
    #[inline]
    pub fn check(&self, block: usize, length: usize) -> Result<(), Error> {
        let mode = self.mode();
        let given = match self {
            Self::Ctr(counter) | Self::Ctr32(counter) | Self::Ctr32Le(counter) => {
                counter.block_bytes()
            }
            Self::Cbc(_, iv) | Self::Cfb(_, iv) | Self::Ofb(iv) => iv.len(),
            Self::Ecb(_) => block,
            Self::Xts(..) if block == MAX_BLOCK => block,
            Self::Xts(..) => return Err(Error::BlockLength { mode, given: block }),
        };
        let is_ecb = matches!(self, Self::Ecb(_));
        if given != block || (block > MAX_BLOCK && !is_ecb) {
            return Err(Error::IvLength { mode, given, accepted: block });
        }
        match self {
            Self::Ctr(_) | Self::Ctr32(_) | Self::Ctr32Le(_) => Ok(()),
            _ => whole_blocks(mode, length, block),
        }
    }
}

/// Without masks and key stream.
impl fmt::Debug for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ecb(direction) => f.debug_tuple("Ecb").field(direction).finish(),
            Self::Ctr(_) => f.write_str("Ctr"),
            Self::Ctr32(_) => f.write_str("Ctr32"),
            Self::Ctr32Le(_) => f.write_str("Ctr32Le"),
            Self::Cbc(direction, _) => f.debug_tuple("Cbc").field(direction).finish(),
            Self::Cfb(direction, _) => f.debug_tuple("Cfb").field(direction).finish(),
            Self::Ofb(_) => f.write_str("Ofb"),
            Self::Xts(direction, _) => f.debug_tuple("Xts").field(direction).finish(),
        }
    }
}
