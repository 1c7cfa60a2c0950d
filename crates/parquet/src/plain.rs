//! A plaintext Parquet file as it is sealed: its footer, and the pages of each column, found by their headers.

use std::ops::Range;

use lanecrypt_tink::{Source, zeroed};

use crate::{
    Error, Kind, Place,
    ahead::Ahead,
    fields::{chunk, file, offset_index, page},
    footer::{self, PLAIN},
    lead::set_bytes,
    module::{HEAD, MOST_HEADER, NONCE, TAG, ordinal},
    placed::inside,
    thrift::{Struct, read_struct, write_struct},
};

/// Bytes that are read of a header that is longer than most.
const LONG: u64 = 2048;

/// A page of a plaintext file.
pub(crate) struct PlainPage {
    pub(crate) place: Place,
    /// Its header, which says how long the page will be once it is sealed.
    pub(crate) header: Vec<u8>,
    /// Where the page starts, behind its header.
    pub(crate) text_at: u64,
    pub(crate) bytes: usize,
    /// Bytes before compression.
    pub(crate) uncompressed: i64,
}

/// The footer of a plaintext file.
///
/// # Errors
/// [`Error::Encrypted`], [`Error::NotParquet`], [`Error::Thrift`], [`Error::Io`].
pub(crate) fn footer(source: &dyn Source, size: u64) -> Result<Struct, Error> {
    let (bytes, magic) = footer::bytes(source, size)?;
    if magic != PLAIN {
        return Err(Error::Encrypted);
    }
    let (metadata, _) = read_struct(&bytes).map_err(Error::of_thrift(Place::FOOTER))?;
    if metadata.get(file::ALGORITHM).is_some() {
        return Err(Error::Encrypted);
    }
    Ok(metadata)
}

/// Where pages of values start, by the column's offset index; nowhere where there is none that can be read.
pub(crate) fn said_starts(source: &dyn Source, chunk: &Struct, size: u64) -> Vec<u64> {
    let read = || {
        let fields = [chunk::OFFSET_INDEX_OFFSET, chunk::OFFSET_INDEX_LENGTH];
        let [Some(at), Some(bytes)] = fields.map(|id| chunk.integer(id)) else { return None };
        let (at, bytes) = inside([at, bytes], size)?;
        let mut index = zeroed(bytes).ok()?;
        source.read_exact_at(&mut index, at).ok()?;
        let (index, _) = read_struct(&index).ok()?;
        let starts = index.structures(offset_index::LOCATIONS);
        let starts = starts.filter_map(|page| page.integer(offset_index::OFFSET));
        let mut starts: Vec<_> = starts.filter_map(|at| u64::try_from(at).ok()).collect();
        starts.sort_unstable();
        Some(starts)
    };
    read().unwrap_or_default()
}

/// The pages of a column that lie one behind the other. `said` has where some of them may start, in order.
///
/// # Errors
/// [`Error::Module`], [`Error::Thrift`], [`Error::TooMany`], [`Error::TooLong`], [`Error::Io`].
pub(crate) fn pages(
    source: &dyn Source,
    column: Place,
    range: &Range<u64>,
    said: &[u64],
    tag_bytes: usize,
) -> Result<Vec<PlainPage>, Error> {
    let Range { start: mut at, end } = *range;
    let (mut pages, mut values) = (Vec::new(), 0);
    let mut ahead = Ahead::new(source, end, said);
    while at < end {
        let place = column.of_page(Kind::DataPage, ordinal("pages in a column", values)?);
        let doing = || format!("read the file at {at}");
        let beginning = ahead.beginning(at).map_err(|error| Error::of_io(doing())(error))?;
        let (mut fields, header_bytes) = match read_struct(beginning) {
            Ok(read) => read,
            // It may only be longer than what was read.
            Err(_) => long_header(source, place, at, end)?,
        };
        let place = match fields.integer(page::KIND) {
            Some(page::DICTIONARY) => column.with(Kind::DictionaryPage),
            _ => place,
        };
        if place.kind == Kind::DictionaryPage && !pages.is_empty() {
            return Err(Error::Module { place, what: "it is not the first page" });
        }
        let text_at = at + header_bytes as u64;
        let bytes =
            fields.integer(page::COMPRESSED_BYTES).and_then(|bytes| u64::try_from(bytes).ok());
        let outside = Error::Module { place, what: "it ends outside its column" };
        let bytes = bytes.filter(|&bytes| bytes <= end - text_at).ok_or(outside)?;
        let sealed = i32::try_from(bytes + (HEAD + tag_bytes) as u64);
        set_bytes(&mut fields, sealed.map_err(|_| Error::TooLong { place })?);
        let mut header = Vec::with_capacity(header_bytes + 4);
        write_struct(&fields, &mut header);
        if (NONCE + header.len() + TAG) as u64 > MOST_HEADER {
            return Err(Error::TooLong { place: place.header() });
        }
        let uncompressed = fields.integer(page::UNCOMPRESSED_BYTES).unwrap_or(0);
        values += usize::from(place.kind == Kind::DataPage);
        at = text_at + bytes;
        pages.push(PlainPage { place, header, text_at, bytes: bytes as usize, uncompressed });
    }
    Ok(pages)
}

/// The header that starts at `at`, and its length.
fn long_header(
    source: &dyn Source,
    place: Place,
    at: u64,
    end: u64,
) -> Result<(Struct, usize), Error> {
    let mut window = LONG;
    loop {
        let bytes = window.min(end - at);
        let mut buffer = vec![0; bytes as usize];
        let doing = || format!("read the file at {at}");
        source.read_exact_at(&mut buffer, at).map_err(|error| Error::of_io(doing())(error))?;
        match read_struct(&buffer) {
            Ok(read) => return Ok(read),
            Err(_) if bytes == window && window < MOST_HEADER => window *= 8,
            Err(error) => {
                return Err(Error::of_thrift(place.header())(error));
            }
        }
    }
}
