//! The CTR counter: the whole block as one big-endian integer that wraps.

use crate::{Error, Mode};

/// A counter block of 8 or 16 bytes as a big-endian integer modulo 2^64 or 2^128 (SP 800-38A,
/// appendix B.1, with the standard incrementing function over the whole block).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    value: u128,
    block_bytes: usize,
}

impl From<[u8; 16]> for Counter {
    fn from(block: [u8; 16]) -> Self {
        Self { value: u128::from_be_bytes(block), block_bytes: block.len() }
    }
}

impl From<[u8; 8]> for Counter {
    fn from(block: [u8; 8]) -> Self {
        Self { value: u128::from(u64::from_be_bytes(block)), block_bytes: block.len() }
    }
}

impl Counter {
    /// Reads a counter block; `None` where it is neither 8 nor 16 bytes long.
    #[must_use]
    pub fn from_block(block: &[u8]) -> Option<Self> {
        match block.len() {
            8 => Some(<[u8; 8]>::try_from(block).ok()?.into()),
            16 => Some(<[u8; 16]>::try_from(block).ok()?.into()),
            _ => None,
        }
    }

    /// Reads a counter block for a cipher whose blocks have `accepted` bytes.
    ///
    /// # Errors
    /// [`Error::IvLength`] for another length.
    pub fn read(block: &[u8], accepted: usize) -> Result<Self, Error> {
        let counter = Self::from_block(block).filter(|_| block.len() == accepted);
        counter.ok_or(Error::IvLength { mode: Mode::Ctr, given: block.len(), accepted })
    }

    /// The counter `blocks` blocks further on, wrapped.
    #[must_use]
    pub fn plus(self, blocks: u128) -> Self {
        let sum = self.value.wrapping_add(blocks);
        let value = if self.block_bytes == 8 { u128::from(sum as u64) } else { sum };
        Self { value, ..self }
    }

    /// The counter `blocks` blocks further on where its last 32 bits count alone, and wrap without a
    /// carry to those before: as GCM counts (SP 800-38D, 6.2: inc32).
    #[must_use]
    pub fn plus32(self, blocks: u128) -> Self {
        let low = u128::from((self.value as u32).wrapping_add(blocks as u32));
        Self { value: self.value & !u128::from(u32::MAX) | low, ..self }
    }

    /// The counter `blocks` blocks further on where its first 32 bits count alone, least significant byte first, and
    /// wrap: as GCM-SIV counts (RFC 8452, 4).
    #[must_use]
    pub fn plus32_le(self, blocks: u128) -> Self {
        let below = 8 * self.block_bytes - 32;
        let first = (self.value >> below) as u32;
        let sum = first.swap_bytes().wrapping_add(blocks as u32).swap_bytes();
        Self { value: self.value ^ u128::from(first ^ sum) << below, ..self }
    }

    /// Blocks from this one on up to where its last 32 bits wrap: 1 to 2^32. As many count in the same
    /// way whether 32 bits count or all.
    #[must_use]
    pub fn blocks_before_wrap32(self) -> u64 {
        (1 << 32) - u64::from(self.value as u32)
    }

    /// Bytes of its block: 8 or 16.
    #[must_use]
    pub fn block_bytes(self) -> usize {
        self.block_bytes
    }

    /// The counter as an integer.
    #[must_use]
    pub fn value(self) -> u128 {
        self.value
    }

    /// Writes consecutive counter blocks, from this one on, over `blocks` (whole blocks).
    ///
    /// # Panics
    /// Where `blocks` is no multiple of the block size.
    pub fn fill(self, blocks: &mut [u8]) {
        assert_eq!(blocks.len() % self.block_bytes, 0, "counter blocks are whole");
        if self.block_bytes == 8 {
            for (i, block) in blocks.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                *block = (self.value as u64).wrapping_add(i as u64).to_be_bytes();
            }
        } else {
            for (i, block) in blocks.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                *block = self.value.wrapping_add(i as u128).to_be_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_endian_counters_carry_nothing() {
        for block in [8, 16] {
            let mut bytes = [0xff; 16];
            bytes[0] = 0xfd;
            let counter = Counter::from_block(&bytes[..block]).expect("a block");
            let mut after = [0; 16];
            counter.plus32_le(0x0102).fill(&mut after[..block]);
            assert_eq!(after[..4], [0xff, 0, 0, 0]);
            assert_eq!(after[4..block], bytes[4..block]);
        }
    }

    #[test]
    fn counters_of_32_bits_carry_nothing() {
        for block in [8, 16] {
            let mut first = [0xff; 16];
            first[block - 1] = 0xfd;
            let counter = Counter::from_block(&first[..block]).expect("a block");
            assert_eq!(counter.blocks_before_wrap32(), 3);
            assert_eq!(counter.plus32(2), counter.plus(2));
            let wrapped = counter.plus32(3);
            let mut bytes = [0; 16];
            wrapped.fill(&mut bytes[..block]);
            first[block - 4..block].fill(0);
            assert_eq!(bytes[..block], first[..block]);
            assert_eq!(wrapped.blocks_before_wrap32(), 1 << 32);
            assert_eq!(wrapped.plus32(1 << 32), wrapped);
            assert_eq!(counter.plus(3).value(), 0, "all bits carry");
        }
    }
}
