//! What opening a file comes to: every byte of the plaintext file, but those of pages, and where pages come from.
//!
//! ```text
//! PAR1 | header, page, header, page, ... of each column of each row group | indexes, Bloom filters | footer | PAR1
//! ```

use lanecrypt_tink::Source;
use rayon::prelude::*;

use crate::{
    Algorithm, Error, KeySource, Kind, OpenOptions, Place,
    chunk::Chunk,
    fields::{file, row_group},
    footer::{Footer, PLAIN},
    indexes::Indexes,
    keyring::{Keyring, KeysOf},
    lead::{Lead, Page, lead_of},
    placed::{self, Copied, Placed, Unclaimed},
    schema::Selection,
    thrift::{List, Struct, Value, write_struct},
    walk::Stretch,
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
    /// The paths of all columns of the encrypted file.
    pub(crate) paths: Vec<String>,
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
        let paths = selection.paths.clone();
        let keys = KeysOf { keys, ring: &mut ring };
        let chunks =
            chunks(&selection, &footer, size, keys).map_err(|error| error.naming(&paths))?;
        let parts = Parts { source, size, footer: &footer, ring: &ring, chunks };
        let plan = parts.plan(selection, metadata).map_err(|error| error.naming(&paths))?;
        let (Layout { at: tail_at, pages, copies }, tail) = plan;
        Ok(Self { algorithm: footer.algorithm, ring, pages, copies, tail, tail_at, paths })
    }

    /// Bytes of the plaintext file.
    pub(crate) fn bytes(&self) -> u64 {
        self.tail_at + self.tail.len() as u64
    }
}

/// The chosen columns of the chosen row groups, in the order of the plaintext file.
fn chunks(
    selection: &Selection,
    footer: &Footer,
    size: u64,
    mut keys: KeysOf<'_>,
) -> Result<Vec<Chunk>, Error> {
    let mut chunks = Vec::new();
    let mut unclaimed = Unclaimed::new(size, selection.times);
    for (number, (row_group, group)) in selection.groups.iter().enumerate() {
        let columns: Vec<_> = group.structures(row_group::COLUMNS).collect();
        for &leaf in &selection.leaves {
            let what = "a column of each row group for each of the schema";
            let outer = columns.get(leaf).ok_or(Error::NotParquet { what })?;
            let numbers = [number, *row_group, leaf];
            let chunk = Chunk::read(outer, numbers, footer, size, &mut keys)?;
            unclaimed.take(&chunk.pages.range, outer, &chunk.metadata, chunk.place)?;
            chunks.push(chunk);
        }
    }
    Ok(chunks)
}

/// What a plan is made of.
struct Parts<'a> {
    source: &'a dyn Source,
    size: u64,
    footer: &'a Footer,
    ring: &'a Keyring,
    chunks: Vec<Chunk>,
}

impl Parts<'_> {
    /// Where everything comes, and what stands behind the columns.
    fn plan(&self, selection: Selection, mut metadata: Struct) -> Result<(Layout, Vec<u8>), Error> {
        let Self { source, size, footer, ring, chunks } = self;
        let leads = chunks.par_iter().map(|chunk| leads(*source, chunk, footer, ring));
        let leads = leads.collect::<Result<Vec<_>, _>>()?;
        let mut layout = Layout::new();
        let placed = chunks.iter().zip(leads).map(|(chunk, leads)| layout.place(chunk, leads));
        let placed = placed.collect::<Result<Vec<_>, _>>()?;
        let mut tail = Vec::new();
        let (source, size, tail_at) = (*source, *size, layout.at);
        let indexes = Indexes { source, size, footer, ring, tail_at };
        let mut columns = vec![Vec::new(); selection.groups.len()];
        for (chunk, placed) in chunks.iter().zip(&placed) {
            columns[chunk.group].push(indexes.rewrite(chunk, placed, &mut tail)?);
        }
        let mut groups = Vec::with_capacity(columns.len());
        for (number, ((_, group), columns)) in selection.groups.into_iter().zip(columns).enumerate()
        {
            let (first, count) = (number * columns.len(), columns.len());
            let placed = placed[first..first + count].iter();
            groups.push(placed::row_group(group, number, columns, placed)?);
        }
        metadata.set(file::ROW_GROUPS, Value::List(List::of_structures(groups)));
        write_end(&metadata, &mut tail)?;
        Ok((layout, tail))
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
struct Layout {
    at: u64,
    pages: Vec<Page>,
    copies: Vec<Copied>,
}

impl Layout {
    fn new() -> Self {
        Self { at: PLAIN.len() as u64, pages: Vec::new(), copies: Vec::new() }
    }

    /// Gives a column its place.
    fn place(&mut self, chunk: &Chunk, leads: Vec<Lead>) -> Result<Placed, Error> {
        match chunk.key {
            Some(key) => Ok(self.place_pages(key, leads)),
            None => self.place_copy(chunk),
        }
    }

    fn place_pages(&mut self, key: usize, leads: Vec<Lead>) -> Placed {
        let (start, end, values_at) = (self.at, self.at, self.at);
        let mut placed = Placed { start, end, values_at, ..Placed::default() };
        for lead in leads {
            let (page, uncompressed) = lead.at(self.at, key);
            self.at = page.end();
            let is_dictionary = page.place.kind == Kind::DictionaryPage;
            placed.push(page.lead_at..page.end(), is_dictionary, uncompressed);
            self.pages.push(page);
        }
        placed
    }

    /// A column that is not encrypted stays as it is, elsewhere.
    fn place_copy(&mut self, chunk: &Chunk) -> Result<Placed, Error> {
        let Stretch { place, range, has_dictionary, .. } = &chunk.pages;
        let (placed, copied) =
            Placed::copied(&chunk.metadata, range, *has_dictionary, self.at, *place)?;
        self.copies.push(copied);
        self.at = placed.end;
        Ok(placed)
    }
}

/// Appends the footer, its length, and what such a file ends with.
fn write_end(metadata: &Struct, tail: &mut Vec<u8>) -> Result<(), Error> {
    let start = tail.len();
    write_struct(metadata, tail);
    let length = u32::try_from(tail.len() - start);
    let length = length.map_err(|_| Error::TooLong { place: Place::FOOTER })?;
    tail.extend_from_slice(&length.to_le_bytes());
    tail.extend_from_slice(&PLAIN);
    Ok(())
}
