//! Modules: the pieces of a Parquet file that are encrypted one by one, what they are authenticated with, and how they
//! are framed.
//!
//! ```text
//! length, 4 bytes, little-endian | nonce, 12 bytes | ciphertext | tag, 16 bytes
//! ```
//!
//! The length counts all that follows it. Pages of `AES_GCM_CTR_V1` have no tag. The associated data of a module is the
//! file's prefix, the number that the file has for itself, and the module's place: what kind it is, in which row group
//! and column, and for pages which. A module that was moved does not open.

use crate::{
    Error,
    place::{Kind, Place},
};

/// Bytes of the length before a module.
pub(crate) const LENGTH: usize = 4;
/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;
/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Bytes before a module's ciphertext.
pub(crate) const HEAD: usize = LENGTH + NONCE;

/// The most bytes of a page's header, and of its module: what other readers take.
pub(crate) const MOST_HEADER: u64 = 16 << 20;

/// The most bytes of a file's prefix and of the number that it has for itself, together. Each page has them in memory,
/// and is authenticated with them: they may not be longer than pages are.
pub(crate) const MOST_AAD: usize = 4096;

/// What all associated data of a file begins with: its prefix, and the number that it has for itself.
#[derive(Clone, Debug, Default)]
pub struct FileAad(Vec<u8>);

impl FileAad {
    /// Of these two.
    #[must_use]
    pub fn new(prefix: &[u8], file_unique: &[u8]) -> Self {
        Self([prefix, file_unique].concat())
    }

    /// Of these two, where they are not too long for a file.
    pub(crate) fn of_file(prefix: &[u8], file_unique: &[u8]) -> Result<Self, Error> {
        if prefix.len() + file_unique.len() > MOST_AAD {
            let what = "the AAD prefix and the number that the file has for itself take more than 4,096 bytes";
            return Err(Error::AadPrefix { what });
        }
        Ok(Self::new(prefix, file_unique))
    }

    /// The associated data of the module at this place.
    #[must_use]
    pub fn of(&self, place: Place) -> Vec<u8> {
        let mut aad = Vec::with_capacity(self.0.len() + 7);
        aad.extend_from_slice(&self.0);
        aad.push(place.kind as u8);
        if place.kind == Kind::Footer {
            return aad;
        }
        aad.extend_from_slice(&place.row_group.to_le_bytes());
        aad.extend_from_slice(&place.column.to_le_bytes());
        if matches!(place.kind, Kind::DataPage | Kind::DataPageHeader) {
            aad.extend_from_slice(&place.page.to_le_bytes());
        }
        aad
    }
}

/// A module's parts, in place.
#[derive(Clone, Copy)]
pub(crate) struct Framed<'a> {
    pub(crate) nonce: &'a [u8],
    pub(crate) text: &'a [u8],
    pub(crate) tag: &'a [u8],
}

impl<'a> Framed<'a> {
    /// The module that `bytes` begin with.
    ///
    /// # Errors
    /// [`Error::Module`] where it is cut off.
    pub(crate) fn read(bytes: &'a [u8], place: Place) -> Result<Self, Error> {
        let cut_off = || Error::Module { place, what: "it is cut off" };
        let (length, rest) = bytes.split_first_chunk::<LENGTH>().ok_or_else(cut_off)?;
        let length = u32::from_le_bytes(*length) as usize;
        let module = rest.get(..length).ok_or_else(cut_off)?;
        let (nonce, text) = module.split_at_checked(NONCE).ok_or_else(cut_off)?;
        let end = text.len().checked_sub(TAG).ok_or_else(cut_off)?;
        let (text, tag) = text.split_at(end);
        Ok(Self { nonce, text, tag })
    }

    /// Bytes that it takes, its length's own among them.
    pub(crate) fn bytes(&self) -> usize {
        HEAD + self.text.len() + TAG
    }
}

/// The number of a row group, a column or a page, of which the format has 2^15.
///
/// # Errors
/// [`Error::TooMany`].
pub(crate) fn ordinal(what: &'static str, number: usize) -> Result<i16, Error> {
    i16::try_from(number).map_err(|_| Error::TooMany { what, most: i16::MAX as u64 + 1 })
}

/// Nonces of the system's randomness: 96 bits each, so that one key seals 2^32 modules at most.
pub(crate) fn nonces(count: usize) -> Result<Vec<[u8; NONCE]>, Error> {
    let mut nonces = vec![[0; NONCE]; count];
    getrandom::fill(nonces.as_flattened_mut())?;
    Ok(nonces)
}

/// Bytes that a module takes whose text has `text` bytes.
pub(crate) const fn sealed_bytes(text: usize, tag_bytes: usize) -> u64 {
    (HEAD + text + tag_bytes) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn associated_data_is_as_the_format_says() {
        let file = FileAad::new(b"prefix", &[9; 8]);
        let start = [&b"prefix"[..], &[9; 8]].concat();
        let place = Place { kind: Kind::DataPage, row_group: 1, column: 0x203, page: -2 };
        let page = [&start[..], &[2, 1, 0, 3, 2, 0xfe, 0xff]].concat();
        assert_eq!(file.of(place), page);
        assert_eq!(file.of(place.with(Kind::OffsetIndex)), [&start[..], &[7, 1, 0, 3, 2]].concat());
        assert_eq!(file.of(Place::FOOTER), [&start[..], &[0]].concat());
    }

    #[test]
    fn the_format_numbers_in_15_bits() {
        assert_eq!(ordinal("pages", 0x7fff).ok(), Some(i16::MAX));
        let error = ordinal("pages", 0x8000).map(drop).unwrap_err();
        assert!(matches!(error, Error::TooMany { what: "pages", most: 0x8000 }), "{error}");
    }

    #[test]
    fn frames_that_are_cut_off() {
        let place = Place::FOOTER;
        let mut module = 33_u32.to_le_bytes().to_vec();
        module.extend(0..33);
        let framed = Framed::read(&module, place).unwrap();
        assert_eq!((framed.text, framed.bytes()), (&module[16..21], module.len()));
        for length in 0..module.len() {
            assert!(Framed::read(&module[..length], place).is_err());
        }
        for announced in [0_u32, 27, 34, u32::MAX] {
            module[..4].copy_from_slice(&announced.to_le_bytes());
            assert!(Framed::read(&module, place).is_err());
        }
    }
}
