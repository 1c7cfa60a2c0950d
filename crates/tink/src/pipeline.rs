//! From a reader to a writer: while one batch is computed, the next is read and the last is written.

use std::{
    io::{Read, Write},
    sync::mpsc::{Receiver, Sender, channel, sync_channel},
    thread::{self, Scope, ScopedJoinHandle},
};

use lanecrypt::Direction;

use crate::{
    Error, Keyset, Options, SegmentCipher,
    batch::{Batch, Lookahead},
    streams::{READING, chosen_stream, random_stream, write_all},
};

/// Batches that are under way: one is read, one computed, one written.
const BATCHES: usize = 3;

/// Seals all that `reader` has into `writer` with the keyset's primary key, at bounded memory;
/// returns the bytes of plaintext.
///
/// After an error of the writer, this returns when the reader next does.
///
/// # Errors
/// [`Error::NoSuchKey`], [`Error::TooLong`], [`Error::Cancelled`], [`Error::Io`].
pub fn seal_stream(
    keyset: &Keyset,
    reader: impl Read + Send,
    mut writer: impl Write + Send,
    options: Options<'_>,
) -> Result<u64, Error> {
    let cipher = random_stream(keyset, &options)?;
    write_all(&mut writer, cipher.header().as_bytes())?;
    run(Direction::Encrypt, &cipher, Lookahead::new(reader), writer, options)
}

/// Opens all that `reader` has into `writer` with any key of the keyset, at bounded memory; returns
/// the bytes of plaintext.
///
/// What is written is authentic, but only success says that it is all there was. After an error this
/// returns when the reader next does.
///
/// # Errors
/// Those of which [`Error::is_not_authentic`] is true, [`Error::Cancelled`], [`Error::Io`].
pub fn open_stream(
    keyset: &Keyset,
    reader: impl Read + Send,
    writer: impl Write + Send,
    options: Options<'_>,
) -> Result<u64, Error> {
    let (cipher, reader) = chosen_stream(keyset, reader, &options)?;
    run(Direction::Decrypt, &cipher, reader, writer, options)
}

/// A batch that was read, and whether the input ended with it.
type Filled = Result<(Batch, bool), Error>;

fn run(
    direction: Direction,
    cipher: &SegmentCipher,
    reader: Lookahead<impl Read + Send>,
    writer: impl Write + Send,
    options: Options<'_>,
) -> Result<u64, Error> {
    let (free_sender, free) = channel();
    for _ in 0..BATCHES {
        // It has a receiver.
        let _ = free_sender.send(Batch::new(direction, cipher.layout(), options.runner));
    }
    let (filled_sender, filled) = sync_channel::<Filled>(1);
    let (done_sender, done) = sync_channel::<Batch>(1);
    thread::scope(|scope| {
        let reading =
            move || read_batches(reader, &free, |filled| filled_sender.send(filled).is_ok());
        spawn(scope, reading)?;
        let writing = spawn(scope, move || write_batches(writer, &done, &free_sender))?;
        let computed = compute(cipher, &filled, options, |batch| done_sender.send(batch).is_ok());
        // The writer ends when nothing more can come, and its error comes first.
        drop((filled, done_sender));
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(computed)
    })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Error> {
    thread::Builder::new().spawn_scoped(scope, work).map_err(Error::of_io("start a thread"))
}

/// Reads batches in their order, until the input ends or the receiver is gone.
fn read_batches(
    mut reader: Lookahead<impl Read>,
    free: &Receiver<Batch>,
    send: impl Fn(Filled) -> bool,
) {
    for (number, mut batch) in (0..).zip(free) {
        batch.reset(number);
        let filled = batch.fill(&mut reader).map_err(Error::of_io(READING));
        let ends = !matches!(filled, Ok(false));
        if !send(filled.map(|is_last| (batch, is_last))) || ends {
            return;
        }
    }
}

/// Runs batches as they come; returns the bytes of plaintext.
fn compute(
    cipher: &SegmentCipher,
    filled: &Receiver<Filled>,
    options: Options<'_>,
    send: impl Fn(Batch) -> bool,
) -> Result<u64, Error> {
    let mut plaintext_bytes = 0;
    for filled in filled {
        let (mut batch, is_last) = filled?;
        plaintext_bytes += batch.run(cipher, &options, is_last)?;
        if !send(batch) || is_last {
            break;
        }
    }
    Ok(plaintext_bytes)
}

/// Writes batches as they come, and gives them back.
fn write_batches(
    mut writer: impl Write,
    done: &Receiver<Batch>,
    free: &Sender<Batch>,
) -> Result<(), Error> {
    for batch in done {
        for result in batch.results() {
            write_all(&mut writer, result)?;
        }
        // The reader may have ended.
        let _ = free.send(batch);
    }
    writer.flush().map_err(Error::of_io("write the output"))
}
