//! Reading through a cipher.

use std::{
    fmt,
    io::{self, BufRead, Read},
    ops::Range,
};

use super::{PIECE_BYTES, StreamMode, broken, buffer::Buffer, io_error};

/// Gives what a mode makes of the bytes of another reader.
///
/// It reads a whole piece, or to the end, before it gives any of it: where the other side waits for an
/// answer meanwhile, pieces must be shorter than what it sends, see
/// [`with_piece_bytes`](Self::with_piece_bytes). An error of the inner reader loses nothing: reading goes on
/// where it was. After one of the mode or its engine every read is an error.
///
/// As a [`BufRead`] it gives its bytes without a copy.
pub struct Reader<R, M> {
    inner: R,
    mode: M,
    buffer: Buffer,
    /// Bytes that were read and not transformed.
    filled: usize,
    /// Those that were transformed and not given.
    ready: Range<usize>,
    is_at_end: bool,
    is_broken: bool,
}

impl<R: Read, M: StreamMode> Reader<R, M> {
    /// Reads from `inner`, in pieces of [`PIECE_BYTES`].
    pub fn new(inner: R, mode: M) -> Self {
        Self::with_piece_bytes(inner, mode, PIECE_BYTES)
    }

    /// The same with pieces of `bytes` bytes: whole units of the mode, at least one. It has memory for one.
    pub fn with_piece_bytes(inner: R, mode: M, bytes: usize) -> Self {
        let buffer = Buffer::new(&mode, bytes);
        let (is_at_end, is_broken) = (false, false);
        Self { inner, mode, buffer, filled: 0, ready: 0..0, is_at_end, is_broken }
    }

    /// The inner reader. What was read from it and not given yet is lost.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Reads the next piece, or what is left of it after an error, and transforms it.
    fn fill(&mut self) -> io::Result<()> {
        while !self.is_at_end && self.filled < self.buffer.len() {
            match self.inner.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.is_at_end = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            self.buffer.use_up_to(self.filled);
        }
        if self.filled > 0 {
            self.is_broken = true; // unless it comes back, also by no panic
            self.mode.apply(&mut self.buffer[..self.filled]).map_err(io_error)?;
            self.is_broken = false;
        }
        self.ready = 0..self.filled;
        self.filled = 0;
        Ok(())
    }
}

impl<R: Read, M: StreamMode> BufRead for Reader<R, M> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_broken {
            return Err(broken());
        }
        if self.ready.is_empty() {
            self.fill()?;
        }
        Ok(&self.buffer[self.ready.clone()])
    }

    fn consume(&mut self, amount: usize) {
        self.ready.start = self.ready.end.min(self.ready.start.saturating_add(amount));
    }
}

impl<R: Read, M: StreamMode> Read for Reader<R, M> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        let ready = self.fill_buf()?;
        let count = ready.len().min(to.len());
        to[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R, M> fmt::Debug for Reader<R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}
