//! What an engine is asked to do, and what of it a launch takes.

use lanecrypt_core::{Counter, Direction, Mode};
use lanecrypt_kernels::Task;

use crate::{Error, device::buffer::MAX_BLOCK};

/// What to do with data on the device.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// ECB in this direction; whole blocks.
    Ecb(Direction),
    /// CTR from this counter block on; any length. The counter is the whole block.
    Ctr(&'a [u8]),
    /// CTR from this counter block on; any length. The counter is the last four bytes of the block,
    /// and wraps without a carry to those before: GCM's and TLS's.
    Ctr32(&'a [u8]),
    /// CBC decryption after this IV, or block of ciphertext; whole blocks.
    CbcDecrypt(&'a [u8]),
    /// CFB decryption after this IV, or block of ciphertext, by segments of a block: CFB-128, or
    /// CFB-64 where blocks have 8 bytes. Whole blocks.
    CfbDecrypt(&'a [u8]),
}

impl Operation<'_> {
    /// What a kernel must do for it.
    #[must_use]
    pub const fn task(self) -> Task {
        match self {
            Self::Ecb(Direction::Encrypt) => Task::EcbEncrypt,
            Self::Ecb(Direction::Decrypt) => Task::EcbDecrypt,
            Self::Ctr(_) | Self::Ctr32(_) => Task::Ctr,
            Self::CbcDecrypt(_) => Task::CbcDecrypt,
            Self::CfbDecrypt(_) => Task::CfbDecrypt,
        }
    }

    /// The mode that it is of.
    pub(crate) const fn mode(self) -> Mode {
        match self {
            Self::Ecb(_) => Mode::Ecb,
            Self::Ctr(_) | Self::Ctr32(_) => Mode::Ctr,
            Self::CbcDecrypt(_) => Mode::Cbc,
            Self::CfbDecrypt(_) => Mode::Cfb,
        }
    }

    /// Checks it over `length` bytes in blocks of `block`.
    pub(crate) fn work(self, length: usize, block: usize) -> Result<Work, Error> {
        let start = match self {
            Self::Ecb(_) => {
                whole_blocks(self.mode(), length, block)?;
                Start::Nowhere
            }
            Self::Ctr(given) => Start::Counter(counter(given, block)?),
            Self::Ctr32(given) => Start::Counter32(counter(given, block)?),
            Self::CbcDecrypt(iv) | Self::CfbDecrypt(iv) => {
                Start::Chain(chain(self.mode(), iv, length, block)?)
            }
        };
        Ok(Work { task: self.task(), start, block })
    }
}

/// An operation that was checked: what kernels do, and from where on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) task: Task,
    pub(crate) start: Start,
    /// Bytes of a block.
    pub(crate) block: usize,
}

/// Where an operation is in its data.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// Every block by itself.
    Nowhere,
    /// The next counter.
    Counter(Counter),
    /// The next counter, the low 32 bits of which wrap by themselves.
    Counter32(Counter),
    /// The block of ciphertext before the next one.
    Chain([u8; MAX_BLOCK]),
}

impl Work {
    /// The same after `input`, whole blocks of it or the last of all.
    pub(crate) fn after(self, input: &[u8]) -> Self {
        let start = match self.start {
            Start::Chain(_) => match input.rchunks_exact(self.block).next() {
                Some(last) => Start::Chain(padded(last)),
                None => self.start,
            },
            other => return Self { start: other, ..self }.after_blocks(input.len() / self.block),
        };
        Self { start, ..self }
    }

    /// The same so many blocks further on, where that does not depend on what these are.
    pub(crate) fn after_blocks(self, blocks: usize) -> Self {
        let start = match self.start {
            Start::Counter(counter) => Start::Counter(counter.plus(blocks as u128)),
            Start::Counter32(counter) => Start::Counter32(counter.plus32(blocks as u128)),
            other => other,
        };
        Self { start, ..self }
    }

    /// The same at the start of every piece of `bytes` bytes of `input`, whole blocks.
    pub(crate) fn at_pieces(self, input: &[u8], bytes: usize) -> Vec<Self> {
        let mut next = self;
        let start = |piece| {
            let here = next;
            next = next.after(piece);
            here
        };
        input.chunks(bytes).map(start).collect()
    }

    /// As many of `blocks` blocks as one launch takes: those up to where the low 32 bits of a counter
    /// wrap. By then a counter of 32 bits must start anew, and kernels may have computed once what all
    /// counters with the same upper bits share.
    pub(crate) fn blocks_at_once(self, blocks: usize) -> usize {
        match self.start {
            Start::Counter(counter) | Start::Counter32(counter) => {
                blocks.min(usize::try_from(counter.blocks_before_wrap32()).unwrap_or(usize::MAX))
            }
            _ => blocks,
        }
    }

    /// The words of a parameter block that say it.
    pub(crate) fn words(self) -> [u64; 2] {
        match self.start {
            Start::Nowhere => [0, 0],
            Start::Counter(counter) | Start::Counter32(counter) => {
                [(counter.value() >> 64) as u64, counter.value() as u64]
            }
            Start::Chain(block) => words_of(&block),
        }
    }
}

/// A block of 16 bytes as the words of a parameter block, in memory order.
pub(crate) fn words_of(block: &[u8; MAX_BLOCK]) -> [u64; 2] {
    let value = u128::from_le_bytes(*block);
    [value as u64, (value >> 64) as u64]
}

fn whole_blocks(mode: Mode, given: usize, block: usize) -> Result<(), Error> {
    if given.is_multiple_of(block) {
        return Ok(());
    }
    Err(Error::Data(lanecrypt_core::Error::NotWholeBlocks { mode, given, block }))
}

fn counter(given: &[u8], accepted: usize) -> Result<Counter, Error> {
    let counter = Counter::from_block(given).filter(|_| given.len() == accepted);
    counter.ok_or_else(|| iv_length(Mode::Ctr, given, accepted))
}

fn chain(mode: Mode, iv: &[u8], length: usize, block: usize) -> Result<[u8; MAX_BLOCK], Error> {
    whole_blocks(mode, length, block)?;
    if iv.len() == block { Ok(padded(iv)) } else { Err(iv_length(mode, iv, block)) }
}

fn iv_length(mode: Mode, given: &[u8], accepted: usize) -> Error {
    Error::Data(lanecrypt_core::Error::IvLength { mode, given: given.len(), accepted })
}

/// A block, filled up with zeros.
fn padded(block: &[u8]) -> [u8; MAX_BLOCK] {
    let mut padded = [0; MAX_BLOCK];
    padded[..block.len()].copy_from_slice(block);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_32_bits_wrap_by_themselves() {
        for block in [8, 16] {
            let mut first = vec![0xff; block];
            first[block - 1] = 0xfd;
            let work = Operation::Ctr32(&first).work(100, block).expect("a block");
            assert_eq!(work.blocks_at_once(2), 2);
            assert_eq!(work.blocks_at_once(3), 3);
            assert_eq!(work.blocks_at_once(4), 3);
            let after = work.after_blocks(3);
            // Memory of 32 bits has fewer blocks than there are counters.
            let all = usize::try_from(1_u64 << 32);
            assert_eq!(after.blocks_at_once(usize::MAX), all.unwrap_or(usize::MAX));
            let ones = if block == 8 { [0, !0 << 32] } else { [!0, !0 << 32] };
            assert_eq!(after.words(), ones, "nothing is carried");
            assert_eq!(after.after_blocks(all.unwrap_or(0)).words(), ones);
            assert_eq!(work.after_blocks(4).words(), [ones[0], ones[1] + 1]);
            let whole = Operation::Ctr(&first).work(100, block).expect("a block");
            assert_eq!(whole.after_blocks(3).words(), [0, 0], "this one carries");
            assert_eq!(whole.blocks_at_once(usize::MAX), 3, "in a launch of its own");
            let ecb = Operation::Ecb(Direction::Encrypt).work(0, block).expect("whole blocks");
            assert_eq!(ecb.blocks_at_once(usize::MAX), usize::MAX);
        }
    }

    #[test]
    fn a_chain_goes_on_from_the_last_block_of_the_input() {
        let iv = [7; 8];
        let work = Operation::CbcDecrypt(&iv).work(16, 8).expect("whole blocks");
        let iv_word = u64::from_le_bytes(iv);
        assert_eq!(work.words(), [iv_word, 0]);
        assert_eq!(work.after(&[]).words(), [iv_word, 0]);
        let input: Vec<u8> = (0..16).collect();
        assert_eq!(work.after(&input).words(), [0x0f0e_0d0c_0b0a_0908, 0]);
        assert!(Operation::CfbDecrypt(&iv).work(12, 8).is_err());
        assert!(Operation::CfbDecrypt(&iv).work(16, 16).is_err());
    }
}
