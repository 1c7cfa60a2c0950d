//! Whole files: sealed and opened in parallel, into an output that appears when it is complete.

use std::{
    fs::{self, File},
    path::Path,
};

use lanecrypt::Direction;

use crate::{
    Error, Header, Keyset, Options, Output, Sealed, SegmentCipher, Source, Target,
    output::regular,
    source::{check_unchanged, identity},
    transfer::Transfer,
};

/// Seals the file `source` into the file `target` with the keyset's primary key; returns the bytes of
/// plaintext. Nothing is left at the target, and what was there stays, where this fails.
///
/// # Errors
/// [`Error::NoSuchKey`], [`Error::TooLong`]; [`Error::SourceChanged`] where the source was written
/// meanwhile; [`Error::Cancelled`], [`Error::Io`].
pub fn seal_file(
    keyset: &Keyset,
    source: &Path,
    target: &Path,
    options: Options<'_>,
) -> Result<u64, Error> {
    let source = open_regular(source)?;
    let before = identity(&source)?;
    seal_into(keyset, target, before.size, options, |cipher, file| {
        Transfer {
            direction: Direction::Encrypt,
            cipher,
            segments: 0..cipher.layout().segments(before.size)?,
            plaintext_bytes: before.size,
            source: &source,
            target: file,
            before: Some(&before),
            options,
        }
        .run()?;
        check_unchanged(&source, &before)
    })?;
    Ok(before.size)
}

/// Makes a sealed file of `plaintext_bytes` bytes of plaintext: `write` writes all segments,
/// behind the header. Nothing is left at the target, and what was there stays, where it fails.
pub(crate) fn seal_into(
    keyset: &Keyset,
    target: &Path,
    plaintext_bytes: u64,
    options: Options<'_>,
    write: impl FnOnce(&SegmentCipher, &File) -> Result<(), Error>,
) -> Result<(), Error> {
    let cipher = SegmentCipher::of_new(keyset, options.associated_data)?;
    let output = begun(target, options)?;
    set_length(output.file(), cipher.layout().ciphertext_bytes(plaintext_bytes)?)?;
    write_header(output.file(), cipher.header())?;
    write(&cipher, output.file())?;
    output.commit_unless(options.cancel)
}

/// Opens the sealed file `source` into the file `target` with any key of the keyset; returns the bytes
/// of plaintext. Nothing is left at the target, and what was there stays, where this fails.
///
/// # Errors
/// Those of which [`Error::is_not_authentic`] is true; [`Error::SourceChanged`], [`Error::Cancelled`],
/// [`Error::Io`].
pub fn open_file(
    keyset: &Keyset,
    source: &Path,
    target: &Path,
    options: Options<'_>,
) -> Result<u64, Error> {
    open_source(keyset, open_regular(source)?, target, options)
}

/// [`open_file`] of sealed data that lies anywhere.
///
/// # Errors
/// As [`open_file`].
pub fn open_source(
    keyset: &Keyset,
    source: impl Source,
    target: &Path,
    options: Options<'_>,
) -> Result<u64, Error> {
    let sealed = Sealed::open(source, keyset, options.associated_data)?;
    let output = begun(target, options)?;
    set_length(output.file(), sealed.plaintext_bytes())?;
    Transfer {
        direction: Direction::Decrypt,
        cipher: sealed.cipher(),
        segments: 0..sealed.cipher().layout().segments(sealed.plaintext_bytes())?,
        plaintext_bytes: sealed.plaintext_bytes(),
        source: sealed.source(),
        target: output.file(),
        before: None,
        options,
    }
    .run()?;
    sealed.check_source()?;
    output.commit_unless(options.cancel)?;
    Ok(sealed.plaintext_bytes())
}

/// The output, of which the caller is told.
fn begun(target: &Path, options: Options<'_>) -> Result<Output, Error> {
    let output = Output::create(target)?;
    (options.temporary)(output.temporary());
    Ok(output)
}

/// Opens a file to be read. What has no length, such as a pipe, is refused: it would seem empty.
///
/// # Errors
/// [`Error::Io`].
pub fn open_regular(path: &Path) -> Result<File, Error> {
    // Before it is opened, too: a pipe would be waited for, until somebody writes to it.
    let opened = fs::metadata(path).and_then(regular).and_then(|_| {
        let file = File::open(path)?;
        file.metadata().and_then(regular)?;
        Ok(file)
    });
    opened.map_err(Error::of_io(format!("open {}", path.display())))
}

pub(crate) fn set_length(file: &File, bytes: u64) -> Result<(), Error> {
    file.set_len(bytes).map_err(Error::of_io(format!("make the output {bytes} bytes long")))
}

pub(crate) fn write_header(target: &dyn Target, header: &Header) -> Result<(), Error> {
    target.write_all_at(header.as_bytes(), 0).map_err(Error::of_io("write the header"))
}
