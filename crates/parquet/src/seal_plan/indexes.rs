//! Indexes and Bloom filters of a column, sealed.

use lanecrypt_tink::{Source, zeroed};

use super::{Column, SealPlan};
use crate::{
    Error, Kind,
    fields::{bloom, chunk, column},
    module::nonces,
    placed::{Placed, inside},
    thrift::{Struct, Value, read_struct},
};

impl SealPlan {
    /// Appends the indexes and the Bloom filter of a column to the tail, and says where they are.
    pub(super) fn indexes(
        &mut self,
        source: &dyn Source,
        of: &Column<'_>,
        placed: &Placed,
        outer: &mut Struct,
        metadata: &mut Struct,
    ) -> Result<(), Error> {
        let fields = [chunk::COLUMN_INDEX_OFFSET, chunk::COLUMN_INDEX_LENGTH];
        if let Some(bytes) = read(source, of, outer, fields, Kind::ColumnIndex)? {
            self.append(of, outer, fields, &[(Kind::ColumnIndex, &bytes)])?;
        }
        let fields = [chunk::OFFSET_INDEX_OFFSET, chunk::OFFSET_INDEX_LENGTH];
        if let Some(bytes) = read(source, of, outer, fields, Kind::OffsetIndex)? {
            let was_at = if of.key.is_none() { Some(of.range.start) } else { None };
            let bytes = placed.relocated(&bytes, of.place.with(Kind::OffsetIndex), was_at)?;
            self.append(of, outer, fields, &[(Kind::OffsetIndex, &bytes)])?;
        }
        let fields = [column::BLOOM_FILTER_OFFSET, column::BLOOM_FILTER_LENGTH];
        if let Some(bytes) = read(source, of, metadata, fields, Kind::BloomFilterHeader)? {
            let place = of.place.with(Kind::BloomFilterHeader);
            let (fields_of, end) = read_struct(&bytes).map_err(Error::of_thrift(place))?;
            let (header, bits) = bytes.split_at(end);
            let said = fields_of.integer(bloom::BYTES);
            if said.and_then(|bytes| usize::try_from(bytes).ok()) != Some(bits.len()) {
                let what = "it says another length than the filter has";
                return Err(Error::Module { place, what });
            }
            let parts = [(Kind::BloomFilterHeader, header), (Kind::BloomFilterBitset, bits)];
            self.append(of, metadata, fields, &parts)?;
        }
        Ok(())
    }

    /// Appends parts, as modules where the column is encrypted, and says where they are.
    fn append(
        &mut self,
        of: &Column<'_>,
        said: &mut Struct,
        [offset, length]: [i16; 2],
        parts: &[(Kind, &[u8])],
    ) -> Result<(), Error> {
        let start = self.tail.len();
        for (part, nonce) in parts.iter().zip(nonces(parts.len())?) {
            let (kind, bytes) = *part;
            match of.key {
                None => self.tail.extend_from_slice(bytes),
                Some(key) => {
                    let place = of.place.with(kind);
                    let (aad, cipher) = (self.aad.of(place), self.ring.get(key));
                    cipher.seal_module(place, &aad, &nonce, bytes, &mut self.tail)?;
                }
            }
        }
        let at = self.tail_at + start as u64;
        said.set(offset, Value::I64(at.cast_signed()));
        let bytes = i32::try_from(self.tail.len() - start);
        let bytes = bytes.map_err(|_| Error::TooLong { place: of.place.with(parts[0].0) })?;
        said.set(length, Value::I32(bytes));
        Ok(())
    }
}

/// What lies where two fields say; where it cannot be had they are taken out, since readers do without.
fn read(
    source: &dyn Source,
    of: &Column<'_>,
    said: &mut Struct,
    [offset, length]: [i16; 2],
    kind: Kind,
) -> Result<Option<Vec<u8>>, Error> {
    let (Some(at), Some(bytes)) = (said.integer(offset), said.integer(length)) else {
        said.remove(offset);
        said.remove(length);
        return Ok(None);
    };
    let size = source.identity().map_err(Error::of_io("look at the file"))?.size;
    let range = inside([at, bytes], size);
    let (place, what) = (of.place.with(kind), "it is outside the file");
    let (at, bytes) = range.ok_or(Error::Module { place, what })?;
    let mut buffer = zeroed(bytes)?;
    let doing = "read the plaintext file";
    source.read_exact_at(&mut buffer, at).map_err(Error::of_io(doing))?;
    Ok(Some(buffer))
}
