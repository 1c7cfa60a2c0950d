//! The plaintext of the long messages: the splitmix64 generator, at any byte offset.

#[cfg(feature = "std")]
use std::{collections::TryReserveError, vec::Vec};

/// What splitmix64 adds to its state for each output.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The endless plaintext that belongs to a seed, as `vectors/README.md` defines it for `big/`.
///
/// Output k of splitmix64 is bytes 8k to 8k+7, least significant byte first. The state before
/// output k is seed + k * `STEP`, so a stream can start anywhere at no cost.
///
/// ```
/// use lanecrypt_reference::plaintext::PlaintextStream;
/// let mut start = [0; 4];
/// PlaintextStream::new(1).fill(&mut start);
/// assert_eq!(start, [0xc1, 0x5c, 0x02, 0x89]);
/// assert_eq!(PlaintextStream::at(1, 2).next(), Some(0x02));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaintextStream {
    seed: u64,
    /// The offset in bytes of the next byte, modulo 2^64.
    position: u64,
}

impl PlaintextStream {
    /// The stream of `seed`, from its first byte.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self::at(seed, 0)
    }

    /// The stream of `seed`, from the byte at `offset` (counted in bytes from 0).
    #[must_use]
    pub const fn at(seed: u64, offset: u64) -> Self {
        Self { seed, position: offset }
    }

    /// The offset in bytes of the byte that comes next.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Fills `buffer` with the next bytes. Pieces of any length give the same stream.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        let to_boundary = (self.position.wrapping_neg() % 8) as usize;
        let (head, rest) = buffer.split_at_mut(to_boundary.min(buffer.len()));
        self.fill_within_one_output(head);
        let mut outputs = rest.chunks_exact_mut(8);
        for bytes in &mut outputs {
            bytes.copy_from_slice(&self.output().to_le_bytes());
            self.position = self.position.wrapping_add(8);
        }
        self.fill_within_one_output(outputs.into_remainder());
    }

    /// The next bytes, this many.
    ///
    /// # Errors
    /// Where there is not that much memory.
    #[cfg(feature = "std")]
    pub fn read(&mut self, bytes: usize) -> Result<Vec<u8>, TryReserveError> {
        let mut read = Vec::new();
        read.try_reserve_exact(bytes)?;
        read.resize(bytes, 0);
        self.fill(&mut read);
        Ok(read)
    }

    /// Fills `bytes`, which must not reach beyond the output that the position lies in.
    fn fill_within_one_output(&mut self, bytes: &mut [u8]) {
        let skipped = (self.position % 8) as usize;
        let output = self.output().to_le_bytes();
        for (to, from) in bytes.iter_mut().zip(&output[skipped..]) {
            *to = *from;
        }
        self.position = self.position.wrapping_add(bytes.len() as u64);
    }

    /// The splitmix64 output that the position lies in.
    const fn output(&self) -> u64 {
        let state = self.seed.wrapping_add(STEP.wrapping_mul(self.position / 8 + 1));
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

impl Iterator for PlaintextStream {
    type Item = u8;

    /// The next byte; the stream never ends.
    fn next(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.fill(&mut byte);
        let [byte] = byte;
        Some(byte)
    }
}
