//! Memory for a piece of a stream, cleared when dropped.

use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

use super::StreamMode;

/// The memory, zeros in the beginning.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// Those that were written to: what was not need not be there either.
    used: usize,
}

impl Buffer {
    /// For pieces of a mode of at most `piece_bytes`, but one unit at least.
    pub(super) fn new(mode: &impl StreamMode, piece_bytes: usize) -> Self {
        let unit = mode.unit_bytes();
        Self { bytes: vec![0; piece_bytes.max(unit) / unit * unit], used: 0 }
    }

    /// Says that so many bytes from the start were written to.
    pub(super) fn use_up_to(&mut self, end: usize) {
        self.used = self.used.max(end);
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.bytes[..self.used].zeroize();
    }
}
