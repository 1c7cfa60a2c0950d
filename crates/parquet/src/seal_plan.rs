//! What sealing a file comes to: where each page goes, and every byte that is no page.

mod end;
mod indexes;

use std::{collections::HashSet, ops::Range};

use lanecrypt_tink::Source;
use rayon::prelude::*;

use crate::{
    Algorithm, Error, FileAad, KeyFor, KeySource, Keys, Kind, Place, SealOptions,
    error::listed,
    fields::{chunk, file, row_group},
    footer::{ENCRYPTED, PLAIN},
    keyring::Keyring,
    module::{NONCE, TAG, nonces, ordinal, sealed_bytes},
    placed::{self, Copied, Placed, Unclaimed, stretch},
    plain::{self, PlainPage},
    schema::Columns,
    thrift::{List, Struct, Value},
};

/// Bytes of the number that a file has for itself: as many as other writers take.
const FILE_UNIQUE: usize = 8;

/// All of a sealed file.
pub(crate) struct SealPlan {
    pub(crate) algorithm: Algorithm,
    pub(crate) aad: FileAad,
    pub(crate) ring: Keyring,
    /// What the file begins with.
    pub(crate) magic: [u8; 4],
    pub(crate) pages: Vec<PageOut>,
    /// Columns that are not encrypted.
    pub(crate) copies: Vec<Copied>,
    /// What stands behind all columns: indexes, footer, and the end.
    pub(crate) tail: Vec<u8>,
    pub(crate) tail_at: u64,
}

/// A page that is sealed.
pub(crate) struct PageOut {
    pub(crate) plain: PlainPage,
    pub(crate) key: usize,
    pub(crate) aad: Vec<u8>,
    pub(crate) header_nonce: [u8; NONCE],
    pub(crate) nonce: [u8; NONCE],
    /// Where the header's module starts in the sealed file.
    pub(crate) at: u64,
}

/// A column of a row group.
struct Column<'a> {
    /// `ColumnChunk`.
    outer: &'a Struct,
    /// `ColumnMetaData`.
    metadata: &'a Struct,
    place: Place,
    range: Range<u64>,
    has_dictionary: bool,
    path: &'a str,
    key: Option<usize>,
    /// Whether its key is not the footer's, as far as the file says.
    has_own_key: bool,
}

impl SealPlan {
    pub(crate) fn new(
        source: &dyn Source,
        keys: &Keys,
        options: &SealOptions,
    ) -> Result<Self, Error> {
        let size = source.identity().map_err(Error::of_io("look at the file"))?.size;
        let metadata = plain::footer(source, size)?;
        let elements: Vec<_> = metadata.structures(file::SCHEMA).collect();
        let paths = Columns::of(&elements)?.paths;
        check_columns(keys, options, &paths)?;
        let mut unique = [0; FILE_UNIQUE];
        getrandom::fill(&mut unique)?;
        let prefix = options.aad_prefix.as_deref().unwrap_or_default();
        let mut plan = Self {
            algorithm: options.algorithm,
            aad: FileAad::of_file(prefix, &unique)?,
            ring: Keyring::default(),
            magic: if options.plaintext_footer { PLAIN } else { ENCRYPTED },
            pages: Vec::new(),
            copies: Vec::new(),
            tail: Vec::new(),
            tail_at: PLAIN.len() as u64,
        };
        let footer_key = plan.ring.add(keys.key(KeyFor::Footer, None)?)?;
        let groups: Vec<_> = metadata.structures(file::ROW_GROUPS).collect();
        let mut columns = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            columns.push(plan.columns(number, group, keys, &paths, size)?);
        }
        let mut unclaimed = Unclaimed::new(size, 1);
        for Column { outer, metadata, place, range, .. } in columns.iter().flatten() {
            unclaimed.take(range, outer, metadata, *place)?;
        }
        let all: Vec<_> = columns.iter().flatten().collect();
        let tag_bytes = options.algorithm.page_tag();
        let found = all.par_iter().map(|column| match column.key {
            Some(_) => {
                let said = plain::said_starts(source, column.outer, size);
                plain::pages(source, column.place, &column.range, &said, tag_bytes)
            }
            None => Ok(Vec::new()),
        });
        let found = found.collect::<Result<Vec<_>, _>>()?;
        let mut placed = Vec::new();
        for (column, pages) in all.into_iter().zip(found) {
            placed.push(plan.place(column, pages)?);
        }
        let mut placed = placed.iter();
        let mut sealed_groups = Vec::new();
        for (number, (group, columns)) in groups.iter().zip(&columns).enumerate() {
            let of_group: Vec<_> = columns.iter().zip(&mut placed).collect();
            sealed_groups.push(plan.group(source, number, group, &of_group, options)?);
        }
        let mut metadata = metadata.clone();
        metadata.set(file::ROW_GROUPS, Value::List(List::of_structures(sealed_groups)));
        plan.end(metadata, footer_key, &unique, options)?;
        Ok(plan)
    }

    fn columns<'a>(
        &mut self,
        number: usize,
        group: &'a Struct,
        keys: &Keys,
        paths: &'a [String],
        size: u64,
    ) -> Result<Vec<Column<'a>>, Error> {
        let outers: Vec<_> = group.structures(row_group::COLUMNS).collect();
        if outers.len() != paths.len() {
            let what = "a column of each row group for each of the schema";
            return Err(Error::NotParquet { what });
        }
        let mut columns = Vec::with_capacity(outers.len());
        for (leaf, (outer, path)) in outers.into_iter().zip(paths).enumerate() {
            let place = Place {
                kind: Kind::ColumnMetaData,
                row_group: ordinal("row groups", number)?,
                column: ordinal("columns", leaf)?,
                page: 0,
            };
            let key = if keys.columns.is_empty() {
                Some(keys.footer.clone())
            } else {
                keys.columns.get(path).cloned()
            };
            let key = key.map(|key| self.ring.add(key)).transpose()?;
            let what = "its metadata, or its pages, are in another file";
            let metadata = outer.structure(chunk::META_DATA);
            let metadata = metadata.filter(|_| outer.get(chunk::FILE_PATH).is_none());
            let metadata = metadata.ok_or(Error::Module { place, what })?;
            let (range, has_dictionary) = stretch(metadata, place, size)?;
            let has_own_key = !keys.columns.is_empty();
            columns.push(Column {
                outer,
                metadata,
                place,
                range,
                has_dictionary,
                path,
                key,
                has_own_key,
            });
        }
        Ok(columns)
    }

    /// Gives a column its place.
    fn place(&mut self, column: &Column<'_>, pages: Vec<PlainPage>) -> Result<Placed, Error> {
        let at = self.tail_at;
        let Some(key) = column.key else {
            let Column { metadata, range, has_dictionary, place, .. } = column;
            let (placed, copied) = Placed::copied(metadata, range, *has_dictionary, at, *place)?;
            self.copies.push(copied);
            self.tail_at = placed.end;
            return Ok(placed);
        };
        let mut placed = Placed { start: at, end: at, values_at: at, ..Placed::default() };
        let nonces = nonces(2 * pages.len())?;
        for (plain, nonces) in pages.into_iter().zip(nonces.as_chunks().0) {
            let (at, [header_nonce, nonce]) = (self.tail_at, *nonces);
            self.tail_at += sealed_bytes(plain.header.len(), TAG)
                + sealed_bytes(plain.bytes, self.algorithm.page_tag());
            let is_dictionary = plain.place.kind == Kind::DictionaryPage;
            let header_bytes = plain.header.len().cast_signed() as i64;
            let uncompressed = plain.uncompressed.saturating_add(header_bytes);
            placed.push(at..self.tail_at, is_dictionary, uncompressed);
            let aad = self.aad.of(plain.place);
            self.pages.push(PageOut { plain, key, aad, header_nonce, nonce, at });
        }
        Ok(placed)
    }

    /// `RowGroup` of the sealed file; its indexes go to the tail.
    fn group(
        &mut self,
        source: &dyn Source,
        number: usize,
        group: &Struct,
        columns: &[(&Column<'_>, &Placed)],
        options: &SealOptions,
    ) -> Result<Struct, Error> {
        let mut outers = Vec::with_capacity(columns.len());
        for (column, placed) in columns {
            outers.push(self.column(source, column, placed, options)?);
        }
        let placed = columns.iter().map(|(_, placed)| *placed);
        placed::row_group(group.clone(), number, outers, placed)
    }

    /// `ColumnChunk` of the sealed file.
    fn column(
        &mut self,
        source: &dyn Source,
        column: &Column<'_>,
        placed: &Placed,
        options: &SealOptions,
    ) -> Result<Struct, Error> {
        let mut outer = column.outer.clone();
        let mut metadata = column.metadata.clone();
        placed.say(&mut metadata);
        outer.set(chunk::FILE_OFFSET, Value::I64(0));
        self.indexes(source, column, placed, &mut outer, &mut metadata)?;
        let Some(key) = column.key else {
            outer.set(chunk::META_DATA, Value::Struct(metadata));
            return Ok(outer);
        };
        self.encrypt_metadata(&mut outer, metadata, column, key, options)?;
        Ok(outer)
    }
}

/// Checks that all columns are there of which the caller speaks.
fn check_columns(keys: &Keys, options: &SealOptions, paths: &[String]) -> Result<(), Error> {
    let known: HashSet<_> = paths.iter().collect();
    let mut named = keys.columns.keys().chain(options.column_key_metadata.keys());
    match named.find(|path| !known.contains(path)) {
        None => Ok(()),
        Some(column) => {
            let known = listed(paths.iter().map(|path| &**path));
            Err(Error::NoSuchColumn { column: column.clone(), known })
        }
    }
}
