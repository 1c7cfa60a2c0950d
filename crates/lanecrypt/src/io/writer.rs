//! Writing through a cipher.

use std::{
    fmt,
    io::{self, Write},
    ops::Range,
    thread,
};

use super::{PIECE_BYTES, StreamMode, broken, buffer::Buffer, io_error};

/// Passes on to another writer what a mode makes of the bytes that it is given.
///
/// Bytes are passed on when there is a whole piece of them. [`flush`](Write::flush) passes on those there
/// are, in whole units of the mode; what is left is kept for the next piece, or for
/// [`finish`](Self::finish), which ends the stream. An error of the inner writer loses nothing: the next
/// call goes on where it was. After one of the mode or its engine every call is an error.
///
/// Dropped without `finish`, it passes on what it can, and errors are lost, as with
/// [`BufWriter`](io::BufWriter).
pub struct Writer<W: Write, M: StreamMode> {
    /// None once it was finished.
    inner: Option<W>,
    mode: M,
    buffer: Buffer,
    /// Bytes that were transformed and not passed on.
    ready: Range<usize>,
    /// Where bytes end that were given; those behind the ready ones are not transformed.
    filled: usize,
    is_ended: bool,
    is_broken: bool,
    /// Whether the thread unwound already when the writer was made, as it does for all of a destructor that
    /// runs in a panic: what is written there is whole.
    is_made_in_panic: bool,
}

impl<W: Write, M: StreamMode> Writer<W, M> {
    /// Writes to `inner`, in pieces of [`PIECE_BYTES`].
    pub fn new(inner: W, mode: M) -> Self {
        Self::with_piece_bytes(inner, mode, PIECE_BYTES)
    }

    /// The same with pieces of `bytes` bytes: whole units of the mode, at least one. It has memory for one.
    pub fn with_piece_bytes(inner: W, mode: M, bytes: usize) -> Self {
        let buffer = Buffer::new(&mode, bytes);
        Self {
            inner: Some(inner),
            mode,
            buffer,
            ready: 0..0,
            filled: 0,
            is_ended: false,
            is_broken: false,
            is_made_in_panic: thread::panicking(),
        }
    }

    /// Ends the stream: passes on all that was given, flushes the inner writer, and returns it.
    ///
    /// # Errors
    /// Of the kind [`InvalidData`](io::ErrorKind::InvalidData) where the mode does not take the last bytes,
    /// as they are no whole block or too few for a data unit; those of the engine and of the inner writer.
    /// That is dropped then; [`try_finish`](Self::try_finish) keeps it.
    pub fn finish(mut self) -> io::Result<W> {
        let ended = self.try_finish();
        let inner = self.inner.take(); // nothing is left to do when this is dropped
        ended.and_then(|()| inner.ok_or_else(broken))
    }

    /// Ends the stream as [`finish`](Self::finish) does, and may be called again after an error of the inner
    /// writer. Nothing can be written any more.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn try_finish(&mut self) -> io::Result<()> {
        self.is_ended = true;
        self.pass_units()?;
        self.pass(self.filled)?;
        self.inner()?.flush()
    }

    fn inner(&mut self) -> io::Result<&mut W> {
        self.inner.as_mut().ok_or_else(broken)
    }

    /// Passes on whole units of what was given.
    fn pass_units(&mut self) -> io::Result<()> {
        self.pass_ready()?;
        let unit = self.mode.unit_bytes();
        self.pass(self.filled / unit * unit)
    }

    /// Transforms `bytes` bytes and passes them on, if nothing is ready.
    fn pass(&mut self, bytes: usize) -> io::Result<()> {
        if bytes > 0 {
            self.is_broken = true; // unless it comes back, also by no panic
            self.mode.apply(&mut self.buffer[..bytes]).map_err(io_error)?;
            self.is_broken = false;
            self.ready = 0..bytes;
        }
        self.pass_ready()
    }

    /// Passes on what is ready, and moves the rest to the start.
    fn pass_ready(&mut self) -> io::Result<()> {
        if self.is_broken {
            return Err(broken());
        }
        let Some(inner) = &mut self.inner else { return Err(broken()) };
        while !self.ready.is_empty() {
            match inner.write(&self.buffer[self.ready.clone()]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.ready.start += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.buffer.copy_within(self.ready.end..self.filled, 0);
        self.filled -= self.ready.end;
        self.ready = 0..0;
        Ok(())
    }
}

impl<W: Write, M: StreamMode> Write for Writer<W, M> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if self.is_ended {
            let reason = "bytes for a stream that was finished";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        self.pass_ready()?;
        if self.filled == self.buffer.len() {
            self.pass(self.filled)?;
        }
        let count = from.len().min(self.buffer.len() - self.filled);
        self.buffer[self.filled..self.filled + count].copy_from_slice(&from[..count]);
        self.filled += count;
        self.buffer.use_up_to(self.filled);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_units()?;
        self.inner()?.flush()
    }
}

impl<W: Write, M: StreamMode> Drop for Writer<W, M> {
    fn drop(&mut self) {
        if self.inner.is_some() && thread::panicking() == self.is_made_in_panic {
            self.try_finish().ok();
        }
    }
}

impl<W: Write, M: StreamMode> fmt::Debug for Writer<W, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}
