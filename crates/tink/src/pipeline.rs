//! From a reader to a writer: while one batch is computed, the next is read and the last is written.

use std::io::{Read, Write};

use lanecrypt::{
    Direction,
    io::{Lookahead, in_stages},
};

use crate::{
    Error, Keyset, Options, SegmentCipher,
    batch::Batch,
    streams::{READING, WRITING, chosen_stream, write_all},
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
    let cipher = SegmentCipher::of_new(keyset, options.associated_data)?;
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

fn run(
    direction: Direction,
    cipher: &SegmentCipher,
    mut reader: Lookahead<impl Read + Send>,
    mut writer: impl Write + Send,
    options: Options<'_>,
) -> Result<u64, Error> {
    let batches = (0..BATCHES).map(|_| Batch::new(direction, cipher.layout(), options.runner));
    let (mut number, mut plaintext_bytes) = (0, 0);
    let read = |batch: &mut Batch| {
        batch.reset(number);
        number += 1;
        batch.fill(&mut reader).map_err(Error::of_io(READING))
    };
    let compute = |batch: &mut Batch, is_last| {
        plaintext_bytes += batch.run(cipher, &options, is_last)?;
        Ok(())
    };
    let write = |batch: &Batch| batch.results().try_for_each(|it| write_all(&mut writer, it));
    in_stages(batches, read, compute, write)?;
    writer.flush().map_err(Error::of_io(WRITING))?;
    Ok(plaintext_bytes)
}
