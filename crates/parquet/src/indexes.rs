//! What belongs to a column and lies apart from its pages: column index, offset index, Bloom filter.

use lanecrypt_tink::{Source, zeroed};

use crate::{
    Error, Kind, Place,
    chunk::Chunk,
    fields::{chunk, column},
    footer::Footer,
    keyring::Keyring,
    module::Framed,
    placed::{Placed, inside},
    thrift::{Struct, Value},
};

/// Where they come from, and where they go to.
pub(crate) struct Indexes<'a> {
    pub(crate) source: &'a dyn Source,
    pub(crate) size: u64,
    pub(crate) footer: &'a Footer,
    pub(crate) ring: &'a Keyring,
    /// Where the first of them starts in the plaintext file.
    pub(crate) tail_at: u64,
}

impl Indexes<'_> {
    /// `ColumnChunk` of the plaintext file, with its indexes appended to the tail.
    ///
    /// # Errors
    /// [`Error::NotAuthentic`], [`Error::Module`], [`Error::Thrift`], [`Error::Io`].
    pub(crate) fn rewrite(
        &self,
        from: &Chunk,
        placed: &Placed,
        tail: &mut Vec<u8>,
    ) -> Result<Struct, Error> {
        let mut outer = from.rewritten(placed);
        let fields = [chunk::COLUMN_INDEX_OFFSET, chunk::COLUMN_INDEX_LENGTH];
        if let Some(bytes) = self.read(&from.outer, fields, from, &[Kind::ColumnIndex])? {
            self.append(&mut outer, fields, bytes, tail, from.place.with(Kind::ColumnIndex))?;
        }
        let fields = [chunk::OFFSET_INDEX_OFFSET, chunk::OFFSET_INDEX_LENGTH];
        if let Some(bytes) = self.read(&from.outer, fields, from, &[Kind::OffsetIndex])? {
            let place = from.place.with(Kind::OffsetIndex);
            let was_at = if from.key.is_none() { Some(from.pages.range.start) } else { None };
            let bytes = placed.relocated(&bytes, place, was_at)?;
            self.append(&mut outer, fields, bytes, tail, place)?;
        }
        let fields = [column::BLOOM_FILTER_OFFSET, column::BLOOM_FILTER_LENGTH];
        let kinds = [Kind::BloomFilterHeader, Kind::BloomFilterBitset];
        if let Some(bytes) = self.read(&from.metadata, fields, from, &kinds)?
            && let Some(Value::Struct(metadata)) = outer.get_mut(chunk::META_DATA)
        {
            self.append(metadata, fields, bytes, tail, from.place.with(kinds[1]))?;
        }
        Ok(outer)
    }

    /// The modules of these kinds, opened, one behind the other; as they are where the column is not encrypted.
    fn read(
        &self,
        said: &Struct,
        [offset, length]: [i16; 2],
        from: &Chunk,
        kinds: &[Kind],
    ) -> Result<Option<Vec<u8>>, Error> {
        let place = from.place.with(kinds[0]);
        let [Some(at), Some(length)] = [offset, length].map(|id| said.integer(id)) else {
            // Old writers of Bloom filters do not say how long they are: a reader does without.
            return Ok(None);
        };
        let what = "it is outside the file";
        let range = inside([at, length], self.size);
        let (at, length) = range.ok_or(Error::Module { place, what })?;
        let mut bytes = zeroed(length)?;
        let doing = || format!("read the file at {at}");
        self.source.read_exact_at(&mut bytes, at).map_err(Error::of_io(doing()))?;
        let Some(key) = from.key else { return Ok(Some(bytes)) };
        let (mut opened, mut rest) = (Vec::with_capacity(bytes.len()), &bytes[..]);
        for &kind in kinds {
            let place = from.place.with(kind);
            let module = Framed::read(rest, place)?;
            let aad = self.footer.aad.of(place);
            opened.extend(self.ring.get(key).open_module(place, &aad, module)?);
            rest = &rest[module.bytes()..];
        }
        Ok(Some(opened))
    }

    /// Appends bytes to the tail, and says where they are.
    fn append(
        &self,
        said: &mut Struct,
        [offset, length]: [i16; 2],
        bytes: Vec<u8>,
        tail: &mut Vec<u8>,
        place: Place,
    ) -> Result<(), Error> {
        let at = self.tail_at + tail.len() as u64;
        said.set(offset, Value::I64(at.cast_signed()));
        let bytes_long = i32::try_from(bytes.len()).map_err(|_| Error::TooLong { place })?;
        said.set(length, Value::I32(bytes_long));
        tail.extend(bytes);
        Ok(())
    }
}
