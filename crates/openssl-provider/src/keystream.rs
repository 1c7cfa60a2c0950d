//! CTR in pieces: key stream is made ahead for calls that are shorter than a batch of blocks.

use lanecrypt::{Counter, cipher::InOutBuf};
use zeroize::Zeroizing;

use crate::{Key, Reason, shared::MAX_BLOCK};

/// Bytes that are made at once for short calls, after the first one: a batch of the widest registers,
/// which takes the time of a few blocks.
const AHEAD: usize = 1024;

/// A position in a key stream, with the bytes after it that are made already.
#[derive(Clone)]
pub(crate) struct Keystream {
    block_bytes: usize,
    /// The counter block after those that are made.
    end: [u8; MAX_BLOCK],
    /// Key stream, at the end of the memory.
    made: Zeroizing<[u8; AHEAD]>,
    /// Bytes of it that are left.
    left: usize,
    /// Whether there was a call since the start.
    has_run: bool,
}

impl Keystream {
    pub(crate) fn new(block_bytes: usize) -> Self {
        let made = Zeroizing::new([0; AHEAD]);
        Self { block_bytes, end: [0; MAX_BLOCK], made, left: 0, has_run: false }
    }

    /// Goes to a counter block, or to the next one.
    pub(crate) fn start(&mut self, counter: Option<&[u8]>) {
        let mut next = [0; MAX_BLOCK];
        let next = &mut next[..self.block_bytes];
        match counter {
            Some(counter) => next.copy_from_slice(counter),
            None => self.next(next),
        }
        self.end[..self.block_bytes].copy_from_slice(next);
        self.left = 0;
        self.has_run = false;
    }

    /// Goes back into the block before the next one, of which `used` bytes were used.
    pub(crate) fn resume(&mut self, key: &Key, used: usize) -> Result<(), Reason> {
        let mut next = [0; MAX_BLOCK];
        self.next(&mut next[..self.block_bytes]);
        self.end = next;
        self.advance(u128::MAX); // by -1
        self.make(key, self.block_bytes)?;
        self.left = self.block_bytes - used;
        Ok(())
    }

    /// Bytes used of the block at hand.
    pub(crate) fn used(&self) -> usize {
        (self.block_bytes - self.left % self.block_bytes) % self.block_bytes
    }

    /// Writes the counter block of the next block, of which nothing was used.
    pub(crate) fn next(&self, counter: &mut [u8]) {
        let unused = (self.left / self.block_bytes) as u128;
        if let Some(end) = self.end() {
            end.plus(unused.wrapping_neg()).fill(counter);
        }
    }

    /// XORs the key stream over the data and goes on.
    pub(crate) fn apply(&mut self, key: &Key, data: InOutBuf<'_, '_, u8>) -> Result<(), Reason> {
        let is_short = self.has_run && data.len() < AHEAD;
        self.has_run = true;
        let rest = self.use_made(data);
        let whole = if is_short { 0 } else { rest.len() / self.block_bytes };
        let (blocks, rest) = rest.split_at(whole * self.block_bytes);
        if whole > 0 {
            let counter = &self.end[..self.block_bytes];
            key.run(blocks.len(), |engine| engine.ctr(counter, blocks))?;
            self.advance(whole as u128);
        }
        if !rest.is_empty() {
            self.make(key, if is_short { AHEAD } else { self.block_bytes })?;
            self.use_made(rest);
        }
        Ok(())
    }

    /// XORs what is made, and returns the data after it.
    fn use_made<'i, 'o>(&mut self, data: InOutBuf<'i, 'o, u8>) -> InOutBuf<'i, 'o, u8> {
        let length = data.len().min(self.left);
        let (mut piece, rest) = data.split_at(length);
        let start = AHEAD - self.left;
        piece.xor_in2out(&self.made[start..start + length]);
        self.left -= length;
        rest
    }

    /// Makes `bytes` bytes, if none are left.
    fn make(&mut self, key: &Key, bytes: usize) -> Result<(), Reason> {
        let place = &mut self.made[AHEAD - bytes..];
        place.fill(0);
        key.engine().ctr(&self.end[..self.block_bytes], place.into())?;
        self.left = bytes;
        self.advance((bytes / self.block_bytes) as u128);
        Ok(())
    }

    fn end(&self) -> Option<Counter> {
        Counter::from_block(&self.end[..self.block_bytes])
    }

    fn advance(&mut self, blocks: u128) {
        if let Some(end) = self.end() {
            end.plus(blocks).fill(&mut self.end[..self.block_bytes]);
        }
    }
}
