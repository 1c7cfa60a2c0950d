//! What opening a file comes to: every byte of the plaintext file, but those of pages, and where pages come from.
//!
//! ```text
//! PAR1 | header, page, header, page, ... of each column of each row group | indexes, Bloom filters | footer | PAR1
//! ```

use lanecrypt_tink::Source;
use rayon::prelude::*;

use crate::{
    Algorithm, Error, KeySource, OpenOptions, Place,
    chunk::{Chunk, Placed},
    fields::{file, row_group},
    footer::{Footer, PLAIN},
    indexes::Indexes,
    keyring::Keyring,
    lead::{Lead, lead_of},
    module::{NONCE, TAG},
    open::KeysOf,
    schema::Selection,
    thrift::{List, Struct, Value, write_struct},
};

/// All of a plaintext file.
pub(crate) struct Plan {
    pub(crate) algorithm: Algorithm,
    pub(crate) ring: Keyring,
    /// Encrypted pages, in the order of the plaintext file.
    pub(crate) pages: Vec<Page>,
    /// Columns that are not encrypted.
    pub(crate) copies: Vec<Copied>,
    /// What stands behind all columns: indexes, footer, and the end.
    pub(crate) tail: Vec<u8>,
    pub(crate) tail_at: u64,
}

/// An encrypted page.
pub(crate) struct Page {
    pub(crate) place: Place,
    pub(crate) key: usize,
    pub(crate) aad: Vec<u8>,
    pub(crate) nonce: [u8; NONCE],
    pub(crate) tag: [u8; TAG],
    pub(crate) text_at: u64,
    pub(crate) bytes: usize,
    /// Its header, plain.
    pub(crate) lead: Vec<u8>,
    /// Where the header starts in the plaintext file.
    pub(crate) lead_at: u64,
}

impl Page {
    /// Where it ends in the plaintext file.
    pub(crate) fn end(&self) -> u64 {
        self.lead_at + (self.lead.len() + self.bytes) as u64
    }
}

/// Bytes that are the same in both files.
#[derive(Clone, Copy)]
pub(crate) struct Copied {
    pub(crate) file_at: u64,
    pub(crate) bytes: u64,
    pub(crate) plain_at: u64,
}

impl Plan {
    /// That of `source`, whose footer, headers and indexes are read and opened for it.
    ///
    /// # Errors
    /// All but those of pages.
    pub(crate) fn new(
        source: &dyn Source,
        keys: &dyn KeySource,
        options: &OpenOptions<'_>,
    ) -> Result<Self, Error> {
        let size = source.identity().map_err(Error::of_io("look at the file"))?.size;
        let mut ring = Keyring::default();
        let footer = Footer::read(source, size, keys, options.aad_prefix, &mut ring)?;
        let mut metadata = footer.metadata.clone();
        let selection = Selection::of(&mut metadata, options)?;
        let mut chunks = Vec::new();
        let mut keys = KeysOf { keys, ring: &mut ring };
        for (number, (row_group, group)) in selection.groups.iter().enumerate() {
            let columns: Vec<_> = group.structures(row_group::COLUMNS).collect();
            for &leaf in &selection.leaves {
                let what = "a column of each row group for each of the schema";
                let outer = columns.get(leaf).ok_or(Error::NotParquet { what })?;
                let numbers = [number, *row_group, leaf];
                chunks.push(Chunk::read(outer, numbers, &footer, size, &mut keys)?);
            }
        }
        let leads = chunks.par_iter().map(|chunk| leads(source, chunk, &footer, &ring));
        let leads = leads.collect::<Result<Vec<_>, _>>()?;
        let mut layout = Layout { footer: &footer, ..Layout::new(&footer) };
        let placed: Vec<_> =
            chunks.iter().zip(leads).map(|(chunk, leads)| layout.place(chunk, leads)).collect();
        let Layout { at: tail_at, pages, copies, .. } = layout;
        let mut tail = Vec::new();
        let indexes = Indexes { source, size, footer: &footer, ring: &ring, tail_at };
        let mut columns = vec![Vec::new(); selection.groups.len()];
        for (chunk, placed) in chunks.iter().zip(&placed) {
            columns[chunk.group].push(indexes.rewrite(chunk, placed, &mut tail)?);
        }
        let groups = selection.groups.into_iter().zip(columns).enumerate();
        let groups = groups.map(|(number, ((_, group), columns))| {
            let of_group = chunks.iter().zip(&placed).filter(|(chunk, _)| chunk.group == number);
            regrouped(group, columns, number, of_group.map(|(_, placed)| placed))
        });
        metadata.set(file::ROW_GROUPS, Value::List(List::of_structures(groups)));
        write_end(&metadata, &mut tail)?;
        Ok(Self { algorithm: footer.algorithm, ring, pages, copies, tail, tail_at })
    }

    /// Bytes of the plaintext file.
    pub(crate) fn bytes(&self) -> u64 {
        self.tail_at + self.tail.len() as u64
    }
}

/// The pages of an encrypted column with their headers, opened and written anew; none of one that is not.
fn leads(
    source: &dyn Source,
    chunk: &Chunk,
    footer: &Footer,
    ring: &Keyring,
) -> Result<Vec<Lead>, Error> {
    let Some(key) = chunk.key else { return Ok(Vec::new()) };
    let found = chunk.pages.walk(source)?;
    found.into_par_iter().map(|found| lead_of(found, ring.get(key), footer)).collect()
}

/// Where things come in the plaintext file, as far as it was laid out.
struct Layout<'a> {
    footer: &'a Footer,
    at: u64,
    pages: Vec<Page>,
    copies: Vec<Copied>,
}

impl<'a> Layout<'a> {
    fn new(footer: &'a Footer) -> Self {
        Self { footer, at: PLAIN.len() as u64, pages: Vec::new(), copies: Vec::new() }
    }

    /// Gives a column its place.
    fn place(&mut self, chunk: &Chunk, leads: Vec<Lead>) -> Placed {
        match chunk.key {
            Some(key) => self.place_pages(chunk, key, leads),
            None => self.place_copy(chunk),
        }
    }

    fn place_pages(&mut self, chunk: &Chunk, key: usize, leads: Vec<Lead>) -> Placed {
        let has_dictionary = chunk.pages.has_dictionary && !leads.is_empty();
        let mut placed = Placed { start: self.at, has_dictionary, ..Placed::default() };
        for (number, lead) in leads.into_iter().enumerate() {
            let aad = self.footer.aad.of(lead.found.place);
            let page = lead.at(self.at, key, aad, &mut placed.uncompressed);
            self.at = page.end();
            if number > 0 || !has_dictionary {
                placed.locations.push((page.lead_at, page.end() - page.lead_at));
            }
            self.pages.push(page);
        }
        placed.end = self.at;
        placed.values_at = placed.locations.first().map_or(placed.end, |(at, _)| *at);
        placed
    }

    /// A column that is not encrypted stays as it is, elsewhere.
    fn place_copy(&mut self, chunk: &Chunk) -> Placed {
        use crate::fields::column::{DATA_PAGE_OFFSET, TOTAL_UNCOMPRESSED};
        let pages = &chunk.pages;
        let (bytes, start) = (pages.end - pages.start, self.at);
        self.copies.push(Copied { file_at: pages.start, bytes, plain_at: start });
        self.at += bytes;
        let first = chunk.metadata.integer(DATA_PAGE_OFFSET).unwrap_or(0);
        let values = u64::try_from(first).unwrap_or(pages.start).max(pages.start);
        Placed {
            start,
            end: self.at,
            values_at: start + (values - pages.start),
            has_dictionary: pages.has_dictionary,
            uncompressed: chunk.metadata.integer(TOTAL_UNCOMPRESSED).unwrap_or(0),
            locations: Vec::new(),
        }
    }
}

/// `RowGroup` of the plaintext file.
fn regrouped<'a>(
    mut group: Struct,
    columns: Vec<Struct>,
    number: usize,
    placed: impl Iterator<Item = &'a Placed>,
) -> Struct {
    let (mut start, mut compressed, mut uncompressed) = (None, 0, 0);
    for placed in placed {
        start.get_or_insert(placed.start);
        compressed += (placed.end - placed.start).cast_signed();
        uncompressed += placed.uncompressed;
    }
    group.set(row_group::COLUMNS, Value::List(List::of_structures(columns)));
    group.set(row_group::TOTAL_BYTES, Value::I64(uncompressed));
    group.set(row_group::TOTAL_COMPRESSED, Value::I64(compressed));
    if let Some(start) = start {
        group.set(row_group::FILE_OFFSET, Value::I64(start.cast_signed()));
    }
    group.remove(row_group::ORDINAL);
    if let Ok(number) = i16::try_from(number) {
        group.set(row_group::ORDINAL, Value::I16(number));
    }
    group
}

/// Appends the footer, its length, and what such a file ends with.
pub(crate) fn write_end(metadata: &Struct, tail: &mut Vec<u8>) -> Result<(), Error> {
    let start = tail.len();
    write_struct(metadata, tail);
    let length = u32::try_from(tail.len() - start);
    let length = length.map_err(|_| Error::TooLong { place: Place::FOOTER })?;
    tail.extend_from_slice(&length.to_le_bytes());
    tail.extend_from_slice(&PLAIN);
    Ok(())
}
