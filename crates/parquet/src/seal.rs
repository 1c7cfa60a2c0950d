//! A plaintext Parquet file sealed: every page and every header under a nonce of its own.

use std::{fs::File, path::Path};

use lanecrypt_tink::{Output, Source, Target};
use rayon::prelude::*;

use crate::{
    Algorithm, Error, Keys, SealOptions,
    cipher::module_length,
    seal_plan::{PageOut, SealPlan},
};

/// Seals a plaintext Parquet file into the file `target`; returns the bytes of the sealed one. Nothing is left at the
/// target, and what was there stays, where this fails.
///
/// With keys of columns, these columns are encrypted and **all others are not**; without, all columns are, with the
/// footer's key.
///
/// # Errors
/// [`Error::NotParquet`], [`Error::Encrypted`], [`Error::NoSuchColumn`], [`Error::TooMany`]; [`Error::File`] where
/// the source changed meanwhile; [`Error::Random`], [`Error::Io`].
pub fn seal(
    source: &dyn Source,
    keys: &Keys,
    options: &SealOptions,
    target: &Path,
) -> Result<u64, Error> {
    seal_with(source, keys, options, target, |plan, file| {
        plan.pages.par_iter().try_for_each_init(Vec::new, |buffer, page| {
            page.seal(plan, source, buffer)?;
            write(file, buffer, page.at)
        })
    })
}

/// Seals a file whose pages are written by `write_pages`.
pub(crate) fn seal_with(
    source: &dyn Source,
    keys: &Keys,
    options: &SealOptions,
    target: &Path,
    write_pages: impl FnOnce(&SealPlan, &dyn Target) -> Result<(), Error>,
) -> Result<u64, Error> {
    let before = source.identity().map_err(Error::of_io("look at the file"))?;
    let plan = SealPlan::new(source, keys, options)?;
    let output = Output::create(target)?;
    let bytes = plan.tail_at + plan.tail.len() as u64;
    let doing = || format!("make the output {bytes} bytes long");
    output.file().set_len(bytes).map_err(|error| Error::of_io(doing())(error))?;
    let writer = writer(output.file())?;
    let file = &*writer;
    write(file, &plan.magic, 0)?;
    write_pages(&plan, file)?;
    for copied in &plan.copies {
        copy(source, file, [copied.from, copied.to], copied.bytes)?;
    }
    write(file, &plan.tail, plan.tail_at)?;
    before.check(&source.identity().map_err(Error::of_io("look at the file"))?)?;
    drop(writer);
    output.commit()?;
    Ok(bytes)
}

/// What writes to a file that has its length.
#[cfg(feature = "cuda")]
fn writer(file: &File) -> Result<Box<dyn Target + '_>, Error> {
    Ok(lanecrypt_tink::writer_of(lanecrypt_tink::Writing::Fitting, file)?)
}

/// What writes to a file that has its length.
#[cfg(not(feature = "cuda"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn writer(file: &File) -> Result<Box<dyn Target + '_>, Error> {
    Ok(Box::new(file))
}

/// Copies a column that is not encrypted.
fn copy(
    source: &dyn Source,
    target: &dyn Target,
    [from, to]: [u64; 2],
    bytes: u64,
) -> Result<(), Error> {
    const AT_ONCE: u64 = 8 << 20;
    let mut buffer = vec![0; bytes.min(AT_ONCE) as usize];
    for start in (0..bytes).step_by(AT_ONCE as usize) {
        let part = &mut buffer[..(bytes - start).min(AT_ONCE) as usize];
        let doing = "read the plaintext file";
        source.read_exact_at(part, from + start).map_err(Error::of_io(doing))?;
        write(target, part, to + start)?;
    }
    Ok(())
}

pub(crate) fn write(target: &dyn Target, bytes: &[u8], at: u64) -> Result<(), Error> {
    let doing = || format!("write the output at {at}");
    target.write_all_at(bytes, at).map_err(|error| Error::of_io(doing())(error))
}

impl PageOut {
    /// The page and its header as they lie in the sealed file, as all of `buffer`.
    fn seal(
        &self,
        plan: &SealPlan,
        source: &dyn Source,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        buffer.clear();
        self.seal_header(plan, buffer)?;
        let start = buffer.len();
        buffer.resize(start + self.plain.bytes, 0);
        let text = &mut buffer[start..];
        let doing = "read the plaintext file";
        source.read_exact_at(text, self.plain.text_at).map_err(Error::of_io(doing))?;
        let cipher = plan.ring.get(self.key);
        match plan.algorithm {
            Algorithm::AesGcmV1 => {
                let tag = cipher.encrypt(&self.aad, &self.nonce, text)?;
                buffer.extend_from_slice(&tag);
            }
            Algorithm::AesGcmCtrV1 => cipher.ctr(&self.nonce, text)?,
        }
        Ok(())
    }

    /// Appends the header's module, and what stands before the text of the page's own.
    pub(crate) fn seal_header(&self, plan: &SealPlan, to: &mut Vec<u8>) -> Result<(), Error> {
        let place = self.plain.place.header();
        let aad = plan.aad.of(place);
        let cipher = plan.ring.get(self.key);
        cipher.seal_module(place, &aad, &self.header_nonce, &self.plain.header, to)?;
        let tag_bytes = plan.algorithm.page_tag();
        to.extend_from_slice(&module_length(self.plain.place, self.plain.bytes, tag_bytes)?);
        to.extend_from_slice(&self.nonce);
        Ok(())
    }
}
