//! What an engine is asked to do, and what of it a launch takes.

use lanecrypt_core::{Counter, Direction, Operation, modes::times_power_of_x};
use lanecrypt_kernels::Task;

use crate::{Error, device::buffer::MAX_BLOCK};

/// What a kernel must do for an operation; `None` where no kernel does it: each block waits for the one before it, or the
/// counter is little-endian.
#[must_use]
pub const fn task_of(operation: Operation<'_>) -> Option<Task> {
    use Direction::{Decrypt, Encrypt};
    Some(match operation {
        Operation::Ecb(Encrypt) => Task::EcbEncrypt,
        Operation::Ecb(Decrypt) => Task::EcbDecrypt,
        Operation::Ctr(_) | Operation::Ctr32(_) => Task::Ctr,
        Operation::Cbc(Decrypt, _) => Task::CbcDecrypt,
        Operation::Cfb(Decrypt, _) => Task::CfbDecrypt,
        Operation::Xts(Encrypt, _) => Task::XtsEncrypt,
        Operation::Xts(Decrypt, _) => Task::XtsDecrypt,
        Operation::Ctr32Le(_)
        | Operation::Cbc(Encrypt, _)
        | Operation::Cfb(Encrypt, _)
        | Operation::Ofb(_) => return None,
    })
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
    /// XTS's mask of the next block.
    Mask([u8; MAX_BLOCK]),
}

impl Work {
    /// Checks an operation over `length` bytes in blocks of `block`.
    pub(crate) fn new(
        operation: Operation<'_>,
        length: usize,
        block: usize,
    ) -> Result<Self, Error> {
        operation.check(block, length).map_err(Error::Data)?;
        let mode = operation.mode();
        let task = task_of(operation).ok_or(Error::Serial { mode })?;
        let start = match operation {
            Operation::Ctr(counter) => Start::Counter(counter),
            Operation::Ctr32(counter) => Start::Counter32(counter),
            Operation::Cbc(_, iv) | Operation::Cfb(_, iv) => Start::Chain(padded(iv)),
            Operation::Xts(_, mask) => Start::Mask(*mask),
            Operation::Ecb(_) | Operation::Ctr32Le(_) | Operation::Ofb(_) => Start::Nowhere,
        };
        Ok(Self { task, start, block })
    }

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

    /// The same `blocks` blocks further on, where that does not depend on what these are.
    pub(crate) fn after_blocks(self, blocks: usize) -> Self {
        let start = match self.start {
            Start::Counter(counter) => Start::Counter(counter.plus(blocks as u128)),
            Start::Counter32(counter) => Start::Counter32(counter.plus32(blocks as u128)),
            Start::Mask(mask) => Start::Mask(times_power_of_x(&mask, blocks as u64)),
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
            Start::Chain(block) | Start::Mask(block) => words_of(&block),
        }
    }
}

/// A block of 16 bytes as the words of a parameter block, in memory order.
pub(crate) fn words_of(block: &[u8; MAX_BLOCK]) -> [u64; 2] {
    let value = u128::from_le_bytes(*block);
    [value as u64, (value >> 64) as u64]
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

    fn of(operation: Operation<'_>, length: usize, block: usize) -> Result<Work, Error> {
        Work::new(operation, length, block)
    }

    #[test]
    fn chains_have_no_kernel() {
        for operation in [
            Operation::Cbc(Direction::Encrypt, &[0; 8]),
            Operation::Cfb(Direction::Encrypt, &[0; 8]),
            Operation::Ofb(&[0; 8]),
        ] {
            assert!(operation.is_serial(), "{operation:?}");
            assert!(matches!(of(operation, 16, 8), Err(Error::Serial { .. })), "{operation:?}");
        }
    }

    #[test]
    fn counters_of_32_bits_wrap_by_themselves() {
        for block in [8, 16] {
            let mut first = vec![0xff; block];
            first[block - 1] = 0xfd;
            let counter = Counter::from_block(&first).expect("a block");
            let work = of(Operation::Ctr32(counter), 100, block).expect("a block");
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
            let whole = of(Operation::Ctr(counter), 100, block).expect("a block");
            assert_eq!(whole.after_blocks(3).words(), [0, 0], "this one carries");
            assert_eq!(whole.blocks_at_once(usize::MAX), 3, "in a launch of its own");
            let ecb = of(Operation::Ecb(Direction::Encrypt), 0, block).expect("whole blocks");
            assert_eq!(ecb.blocks_at_once(usize::MAX), usize::MAX);
        }
    }

    #[test]
    fn a_chain_goes_on_from_the_last_block_of_the_input() {
        let iv = [7; 8];
        let work = of(Operation::Cbc(Direction::Decrypt, &iv), 16, 8).expect("whole blocks");
        let iv_word = u64::from_le_bytes(iv);
        assert_eq!(work.words(), [iv_word, 0]);
        assert_eq!(work.after(&[]).words(), [iv_word, 0]);
        let input: Vec<u8> = (0..16).collect();
        assert_eq!(work.after(&input).words(), [0x0f0e_0d0c_0b0a_0908, 0]);
        assert!(of(Operation::Cfb(Direction::Decrypt, &iv), 12, 8).is_err());
        assert!(of(Operation::Cfb(Direction::Decrypt, &iv), 16, 16).is_err());
    }
}
