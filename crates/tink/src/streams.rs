//! Streams: a writer that seals, a reader that opens, and both as pipelines from a reader to a writer.

use std::{
    fmt,
    io::{self, Cursor, Read, Write},
};

use lanecrypt::{Direction, io::Lookahead};

use crate::{
    Error, Keyset, Options, SegmentCipher,
    batch::Batch,
    choose::{choose, needed_bytes},
};

/// A writer that seals what is written to it, some segments at a time and in parallel.
///
/// [`finish`](Self::finish) writes the last segment: without it, what was written is a sealed file
/// that was cut off, and cannot be opened.
pub struct Sealer<'a, W> {
    writer: W,
    cipher: SegmentCipher,
    options: Options<'a>,
    batch: Batch,
    /// The batch's number in the stream.
    number: u64,
    is_broken: bool,
}

impl<'a, W: Write> Sealer<'a, W> {
    /// Seals with the keyset's primary key; writes the header.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`], [`Error::Random`], [`Error::Io`].
    pub fn new(keyset: &Keyset, mut writer: W, options: Options<'a>) -> Result<Self, Error> {
        let cipher = SegmentCipher::of_new(keyset, options.associated_data)?;
        write_all(&mut writer, cipher.header().as_bytes())?;
        let batch = Batch::new(Direction::Encrypt, cipher.layout(), options.runner);
        Ok(Self { writer, cipher, options, batch, number: 0, is_broken: false })
    }

    /// Seals and writes what is left, as the end of the file.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::TooLong`].
    pub fn finish(mut self) -> Result<W, Error> {
        self.run_batch(true)?;
        self.writer.flush().map_err(Error::of_io(WRITING))?;
        Ok(self.writer)
    }

    fn run_batch(&mut self, is_last: bool) -> Result<(), Error> {
        if self.is_broken {
            return Err(Error::of_io("go on")(broken()));
        }
        // Until all is done: a segment must not be sealed again with something else.
        self.is_broken = true;
        self.batch.run(&self.cipher, &self.options, is_last)?;
        for result in self.batch.results() {
            write_all(&mut self.writer, result)?;
        }
        self.number += 1;
        self.batch.reset(self.number);
        self.is_broken = false;
        Ok(())
    }
}

impl<W: Write> Write for Sealer<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        // What is full is sealed when there is more: only then is it known not to be the end.
        if self.batch.free().is_empty() {
            self.run_batch(false)?;
        }
        let free = self.batch.free();
        let count = free.len().min(bytes.len());
        free[..count].copy_from_slice(&bytes[..count]);
        self.batch.advance(count);
        Ok(count)
    }

    /// Flushes what is sealed: a segment that is not full stays.
    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A reader that opens sealed data, some segments at a time and in parallel. It gives out nothing
/// that is not authentic; that the data ends where it should is known at the end.
///
/// What is not authentic is an [`io::Error`] of the kind `InvalidData` round an [`Error`].
pub struct Opener<'a, R> {
    reader: AfterHeader<R>,
    cipher: SegmentCipher,
    options: Options<'a>,
    batch: Batch,
    /// The number that the next batch has in the stream.
    number: u64,
    /// Bytes of the batch at hand that were given out.
    given: usize,
    is_last: bool,
    is_broken: bool,
}

impl<'a, R: Read> Opener<'a, R> {
    /// Finds the key of the keyset that opens the first segment.
    ///
    /// # Errors
    /// [`Error::NoKeyOpens`], [`Error::Io`].
    pub fn new(keyset: &Keyset, reader: R, options: Options<'a>) -> Result<Self, Error> {
        let (cipher, reader) = chosen_stream(keyset, reader, &options)?;
        let batch = Batch::new(Direction::Decrypt, cipher.layout(), options.runner);
        Ok(Self {
            reader,
            cipher,
            options,
            batch,
            number: 0,
            given: 0,
            is_last: false,
            is_broken: false,
        })
    }

    fn next_batch(&mut self) -> Result<(), Error> {
        self.is_broken = true;
        self.batch.reset(self.number);
        self.is_last = self.batch.fill(&mut self.reader).map_err(Error::of_io(READING))?;
        self.batch.run(&self.cipher, &self.options, self.is_last)?;
        (self.number, self.given) = (self.number + 1, 0);
        self.is_broken = false;
        Ok(())
    }

    /// Gives out what the batch at hand has left; before the first there is nothing.
    fn give(&mut self, buffer: &mut [u8]) -> usize {
        let mut before = 0;
        for result in self.batch.results() {
            let at = self.given - before;
            if at < result.len() {
                let count = buffer.len().min(result.len() - at);
                buffer[..count].copy_from_slice(&result[at..at + count]);
                self.given += count;
                return count;
            }
            before += result.len();
        }
        0
    }
}

impl<R: Read> Read for Opener<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.is_broken {
            return Err(broken());
        }
        loop {
            let given = self.give(buffer);
            if given > 0 || self.is_last {
                return Ok(given);
            }
            self.next_batch()?;
        }
    }
}

/// The error of a stream after one that it told already.
fn broken() -> io::Error {
    io::Error::other("this stream ended with an error")
}

/// Input after its header, of which the beginning was read before.
type AfterHeader<R> = Lookahead<io::Chain<Cursor<Vec<u8>>, R>>;

pub(crate) const READING: &str = "read the input";
pub(crate) const WRITING: &str = "write the output";

pub(crate) fn write_all(writer: &mut impl Write, bytes: &[u8]) -> Result<(), Error> {
    writer.write_all(bytes).map_err(Error::of_io(WRITING))
}

/// The stream that the beginning of the input belongs to, and the input after the header.
pub(crate) fn chosen_stream<R: Read>(
    keyset: &Keyset,
    mut reader: R,
    options: &Options<'_>,
) -> Result<(SegmentCipher, AfterHeader<R>), Error> {
    let mut beginning = Vec::new();
    let needed = needed_bytes(keyset) as u64;
    let read = reader.by_ref().take(needed).read_to_end(&mut beginning);
    read.map_err(Error::of_io(READING))?;
    let cipher = choose(keyset, options.associated_data, &beginning)?;
    let mut beginning = Cursor::new(beginning);
    beginning.set_position(cipher.layout().header_bytes());
    Ok((cipher, Lookahead::new(beginning.chain(reader))))
}

impl<W> fmt::Debug for Sealer<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("cipher", &self.cipher).finish_non_exhaustive()
    }
}

impl<R> fmt::Debug for Opener<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").field("cipher", &self.cipher).finish_non_exhaustive()
    }
}
