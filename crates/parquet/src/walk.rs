//! The pages of one column in one row group, encrypted, found by the lengths before their modules.
//!
//! ```text
//! header of a page, a module | page, a module | header | page | ...
//! ```
//!
//! Nothing of this is believed: a length that is wrong leads to a module that does not open.

use std::ops::Range;

use lanecrypt_tink::Source;

use crate::{
    Algorithm, Error, Kind, Place,
    module::{HEAD, LENGTH, MOST_HEADER, NONCE, TAG, ordinal},
};

/// Bytes that are read at once: enough for most headers, with the beginning of the page behind.
const WINDOW: usize = 512;

/// Where the pages lie.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// Of the column and its row group.
    pub(crate) place: Place,
    pub(crate) range: Range<u64>,
    /// Whether the first page is a dictionary.
    pub(crate) has_dictionary: bool,
    pub(crate) algorithm: Algorithm,
}

/// A page as it lies in the file.
pub(crate) struct Found {
    pub(crate) place: Place,
    /// The module of its header.
    pub(crate) header: Vec<u8>,
    pub(crate) nonce: [u8; NONCE],
    /// Zeros where it has none.
    pub(crate) tag: [u8; TAG],
    pub(crate) text_at: u64,
    pub(crate) bytes: usize,
}

impl Stretch {
    /// All pages, in their order.
    ///
    /// # Errors
    /// [`Error::Module`] where a length leads out of the stretch; [`Error::TooMany`]; [`Error::Io`].
    pub(crate) fn walk(&self, source: &dyn Source) -> Result<Vec<Found>, Error> {
        let tag_bytes = self.algorithm.page_tag();
        let (mut at, mut pages, mut window) = (self.range.start, Vec::<Found>::new(), Vec::new());
        while at < self.range.end {
            // The tag of the last page stands right before.
            let back = if pages.is_empty() { 0 } else { tag_bytes };
            let place = self.place_of(pages.len())?;
            self.read(source, at, back, WINDOW, &mut window)?;
            if let Some(last) = pages.last_mut() {
                last.tag[..back].copy_from_slice(&window[..back]);
            }
            let announced = length(&window[back..]).unwrap_or(usize::MAX);
            if announced as u64 > MOST_HEADER {
                return Err(out_of_place(place));
            }
            let header_bytes = LENGTH + announced;
            if window.len() - back < header_bytes + HEAD {
                self.read(source, at, back, header_bytes + HEAD, &mut window)?;
            }
            let mut page = self.page(place, at, &window[back..], header_bytes)?;
            at = page.text_at + (page.bytes + tag_bytes) as u64;
            if at == self.range.end {
                let tag = &mut page.tag[..tag_bytes];
                read(source, tag, at - tag_bytes as u64)?;
            }
            pages.push(page);
        }
        Ok(pages)
    }

    /// The place of the page that comes behind this number of pages.
    fn place_of(&self, before: usize) -> Result<Place, Error> {
        match before.checked_sub(self.has_dictionary.into()) {
            None => Ok(self.place.with(Kind::DictionaryPage)),
            Some(page) => {
                Ok(self.place.of_page(Kind::DataPage, ordinal("pages in a column", page)?))
            }
        }
    }

    /// The page whose header begins at `at`, of which `bytes` are there.
    fn page(
        &self,
        place: Place,
        at: u64,
        bytes: &[u8],
        header_bytes: usize,
    ) -> Result<Found, Error> {
        let wrong = || out_of_place(place);
        let (header, rest) = bytes.split_at_checked(header_bytes).ok_or_else(wrong)?;
        let (head, _) = rest.split_first_chunk::<HEAD>().ok_or_else(wrong)?;
        let announced = length(head).ok_or_else(wrong)?;
        let text = announced.checked_sub(NONCE + self.algorithm.page_tag()).ok_or_else(wrong)?;
        let text_at = at + (header_bytes + HEAD) as u64;
        let rest = text_at + (announced - NONCE) as u64;
        if rest > self.range.end {
            return Err(wrong());
        }
        let mut nonce = [0; NONCE];
        nonce.copy_from_slice(&head[LENGTH..]);
        Ok(Found { place, header: header.to_vec(), nonce, tag: [0; TAG], text_at, bytes: text })
    }

    /// Reads at most this number of bytes from `at` on, and `back` bytes before, into the window.
    fn read(
        &self,
        source: &dyn Source,
        at: u64,
        back: usize,
        bytes: usize,
        window: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let left = usize::try_from(self.range.end - at).unwrap_or(usize::MAX);
        window.resize(back + bytes.min(left), 0);
        read(source, window, at - back as u64)
    }
}

fn out_of_place(place: Place) -> Error {
    Error::Module { place, what: "its length leads out of its column" }
}

fn length(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().map(|length| u32::from_le_bytes(*length) as usize)
}

fn read(source: &dyn Source, buffer: &mut [u8], at: u64) -> Result<(), Error> {
    source.read_exact_at(buffer, at).map_err(Error::of_io(format!("read the file at {at}")))
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use lanecrypt_tink::{Identity, Version};

    use super::*;

    /// A file of zeros but for these bytes at its place, which remembers the longest read.
    struct Sparse {
        bytes: Vec<u8>,
        at: u64,
        size: u64,
        longest: AtomicUsize,
    }

    impl Source for Sparse {
        fn identity(&self) -> io::Result<Identity> {
            Ok(Identity { size: self.size, version: Version::Object(String::new()) })
        }

        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            self.longest.fetch_max(buffer.len(), Ordering::Relaxed);
            if offset + buffer.len() as u64 > self.size {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let byte = |at: u64| at.checked_sub(self.at).and_then(|at| self.bytes.get(at as usize));
            (offset..).zip(buffer).for_each(|(at, to)| *to = byte(at).copied().unwrap_or(0));
            Ok(())
        }
    }

    /// What becomes of a column of this range, which begins with these bytes, in a file that ends with it; and the longest
    /// read.
    fn walked(bytes: &[u8], range: Range<u64>) -> (Result<Vec<Found>, Error>, usize) {
        let (bytes, at, size) = (bytes.to_vec(), range.start, range.end);
        let source = Sparse { bytes, at, size, longest: AtomicUsize::new(0) };
        let algorithm = Algorithm::AesGcmV1;
        let stretch = Stretch { place: Place::FOOTER, range, has_dictionary: false, algorithm };
        let pages = stretch.walk(&source);
        (pages, source.longest.into_inner())
    }

    fn leads_out(pages: &Result<Vec<Found>, Error>) -> bool {
        matches!(pages, Err(Error::Module { what: "its length leads out of its column", .. }))
    }

    #[test]
    fn no_header_asks_for_more_than_headers_have() {
        let most = MOST_HEADER as u32;
        for (announced, longest) in
            [(most, LENGTH + MOST_HEADER as usize + HEAD), (most + 1, WINDOW), (u32::MAX, WINDOW)]
        {
            let (pages, read) = walked(&announced.to_le_bytes(), 4..1 << 33);
            assert!(leads_out(&pages));
            assert_eq!(read, longest, "{announced}");
        }
    }

    #[test]
    fn nothing_is_read_behind_a_column() {
        let (pages, longest) = walked(&200_u32.to_le_bytes(), 50..100);
        assert!(leads_out(&pages));
        assert_eq!(longest, 50);
    }

    #[test]
    fn pages_end_within_their_column() {
        // A header of 40 bytes and a page of these.
        let start = |page: u32| {
            let mut start = [0; LENGTH + 40 + LENGTH];
            start[..LENGTH].copy_from_slice(&40_u32.to_le_bytes());
            start[LENGTH + 40..].copy_from_slice(&page.to_le_bytes());
            start
        };
        let fits = 1000 - start(0).len() as u32;
        let (pages, _) = walked(&start(fits), 4..1004);
        assert_eq!(pages.map(|pages| pages.len()).ok(), Some(1));
        let (pages, _) = walked(&start(fits + 1), 4..1004);
        assert!(leads_out(&pages));
    }
}
