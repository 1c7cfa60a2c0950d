//! An encrypted file as the plaintext file that it was made of.

use std::fmt;

use lanecrypt_tink::{Identity, Source, length_of, zeroed};
use rayon::prelude::*;
use zeroize::Zeroize;

use crate::{
    Algorithm, Error, KeySource, OpenOptions, footer::PLAIN, lead::Page, placed::Copied, plan::Plan,
};

/// An encrypted file whose footer, page headers and indexes were found authentic, and of which the pages are not opened
/// yet.
pub struct Encrypted<S> {
    pub(crate) source: S,
    pub(crate) plan: Plan,
    before: Identity,
}

impl<S: Source> Encrypted<S> {
    /// Reads and opens all but the pages.
    ///
    /// # Errors
    /// [`Error::NotAuthentic`] naming what is not; [`Error::NotEncrypted`]; those of keys, and of what does not have the
    /// form that it should have.
    pub fn read(source: S, keys: &dyn KeySource, options: OpenOptions<'_>) -> Result<Self, Error> {
        let before = source.identity().map_err(Error::of_io("look at the file"))?;
        let plan = Plan::new(&source, keys, &options)?;
        Ok(Self { source, plan, before })
    }

    /// How its pages are encrypted.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.plan.algorithm
    }

    /// Bytes of the plaintext file.
    #[must_use]
    pub fn plaintext_bytes(&self) -> u64 {
        self.plan.bytes()
    }

    /// Pages that are opened.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.plan.pages.len()
    }

    /// Opens all pages as one batch, on all threads of rayon, and returns the plaintext file: the same pages, as they
    /// were compressed, in a file that any reader takes.
    ///
    /// # Errors
    /// [`Error::NotAuthentic`] naming a page that is not; [`Error::File`] where the file changed meanwhile, or memory is
    /// too little; [`Error::Io`]. Nothing is given out then.
    pub fn open(&self) -> Result<Vec<u8>, Error> {
        let plan = &self.plan;
        let mut image = zeroed(plan.bytes())?;
        let opened = self.fill(&mut image).and_then(|()| self.check_source());
        match opened {
            Ok(()) => Ok(image),
            Err(error) => {
                image.zeroize();
                Err(error.naming(&plan.paths))
            }
        }
    }

    /// Fails where the source is another one than when it was read first.
    pub(crate) fn check_source(&self) -> Result<(), Error> {
        let now = self.source.identity().map_err(Error::of_io("look at the file"))?;
        Ok(self.before.check(&now)?)
    }

    fn fill(&self, image: &mut [u8]) -> Result<(), Error> {
        let Plan { pages, copies, tail, .. } = &self.plan;
        let (columns, end) = image.split_at_mut(image.len() - tail.len());
        end.copy_from_slice(tail);
        let (magic, columns) = columns.split_at_mut(PLAIN.len());
        magic.copy_from_slice(&PLAIN);
        let parts = parts(pages, copies, columns)?;
        parts.into_par_iter().try_for_each(|part| match part {
            Part::Page(page, to) => self.open_page(page, to),
            Part::Copied(from, to) => self.fetch(to, from.from),
        })
    }

    fn open_page(&self, page: &Page, to: &mut [u8]) -> Result<(), Error> {
        let (lead, text) = to.split_at_mut(page.lead.len());
        lead.copy_from_slice(&page.lead);
        self.fetch(text, page.text_at)?;
        let cipher = self.plan.ring.get(page.key);
        match self.plan.algorithm {
            Algorithm::AesGcmV1 => cipher.open(page.place, &page.aad, &page.nonce, text, &page.tag),
            Algorithm::AesGcmCtrV1 => cipher.ctr(&page.nonce, text),
        }
    }

    pub(crate) fn fetch(&self, buffer: &mut [u8], at: u64) -> Result<(), Error> {
        let doing = || format!("read the file at {at}");
        self.source.read_exact_at(buffer, at).map_err(|error| Error::of_io(doing())(error))
    }
}

impl<S> fmt::Debug for Encrypted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted")
            .field("algorithm", &self.plan.algorithm)
            .field("pages", &self.plan.pages.len())
            .finish_non_exhaustive()
    }
}

/// A part of the plaintext file with what it comes from.
enum Part<'a> {
    Page(&'a Page, &'a mut [u8]),
    Copied(Copied, &'a mut [u8]),
}

/// Cuts the columns of the plaintext file into parts. Pages and copies are each in order, and together leave no gap.
fn parts<'a>(
    pages: &'a [Page],
    copies: &[Copied],
    mut columns: &'a mut [u8],
) -> Result<Vec<Part<'a>>, Error> {
    let mut parts = Vec::with_capacity(pages.len() + copies.len());
    let (mut pages, mut copies) = (pages.iter().peekable(), copies.iter().peekable());
    loop {
        let of_page = pages.peek().map_or(u64::MAX, |page| page.lead_at);
        let of_copy = copies.peek().map_or(u64::MAX, |copy| copy.to);
        let part = if of_page < of_copy {
            let Some(page) = pages.next() else { return Ok(parts) };
            let (to, rest) = columns.split_at_mut(page.lead.len() + page.bytes);
            columns = rest;
            Part::Page(page, to)
        } else {
            let Some(copy) = copies.next() else { return Ok(parts) };
            let (to, rest) = columns.split_at_mut(length_of(copy.bytes)?);
            columns = rest;
            Part::Copied(*copy, to)
        };
        parts.push(part);
    }
}
