//! A column of one row group: what the footer says of it, opened, and written anew for the plaintext file.

use crate::{
    Error, Kind, Place,
    fields::{chunk, column, column_crypto},
    footer::Footer,
    keyring::{Keyring, KeysOf},
    module::{Framed, ordinal},
    placed::{Placed, stretch},
    thrift::{Struct, Value, read_struct},
    walk::Stretch,
};

/// A column of one row group of an encrypted file.
pub(crate) struct Chunk {
    /// The number of the row group among those that are opened.
    pub(crate) group: usize,
    /// Its place, as that of its metadata.
    pub(crate) place: Place,
    /// The number of its key; none where it is not encrypted.
    pub(crate) key: Option<usize>,
    /// `ColumnChunk`.
    pub(crate) outer: Struct,
    /// `ColumnMetaData`, all of it.
    pub(crate) metadata: Struct,
    /// Where its pages lie.
    pub(crate) pages: Stretch,
}

impl Chunk {
    /// The column of this number, of the row group with the number `row_group` in the file.
    ///
    /// # Errors
    /// Those of keys; [`Error::NotAuthentic`] and [`Error::Module`] for its metadata.
    pub(crate) fn read(
        outer: &Struct,
        [group, row_group, leaf]: [usize; 3],
        footer: &Footer,
        size: u64,
        keys: &mut KeysOf<'_>,
    ) -> Result<Self, Error> {
        let place = Place {
            kind: Kind::ColumnMetaData,
            row_group: ordinal("row groups", row_group)?,
            column: ordinal("columns", leaf)?,
            page: 0,
        };
        if outer.get(chunk::FILE_PATH).is_some() {
            return Err(Error::Module { place, what: "its pages are in another file" });
        }
        let key = key_of(outer.structure(chunk::CRYPTO), place, footer, keys)?;
        let metadata = metadata(outer, place, key, footer, keys.ring)?;
        let (range, has_dictionary) = stretch(&metadata, place, size)?;
        let algorithm = footer.algorithm;
        let pages = Stretch { place, range, has_dictionary, algorithm };
        Ok(Self { group, place, key, outer: outer.clone(), metadata, pages })
    }

    /// `ColumnChunk` for the plaintext file, but for its indexes.
    pub(crate) fn rewritten(&self, placed: &Placed) -> Struct {
        let mut metadata = self.metadata.clone();
        placed.say(&mut metadata);
        metadata.remove(column::BLOOM_FILTER_OFFSET);
        metadata.remove(column::BLOOM_FILTER_LENGTH);
        let mut outer = self.outer.clone();
        let elsewhere = [
            chunk::CRYPTO,
            chunk::ENCRYPTED_META_DATA,
            chunk::OFFSET_INDEX_OFFSET,
            chunk::OFFSET_INDEX_LENGTH,
            chunk::COLUMN_INDEX_OFFSET,
            chunk::COLUMN_INDEX_LENGTH,
        ];
        for id in elsewhere {
            outer.remove(id);
        }
        outer.set(chunk::FILE_OFFSET, Value::I64(0));
        outer.set(chunk::META_DATA, Value::Struct(metadata));
        outer
    }
}

/// The number of a column's key, by `ColumnCryptoMetaData`.
fn key_of(
    crypto: Option<&Struct>,
    place: Place,
    footer: &Footer,
    keys: &mut KeysOf<'_>,
) -> Result<Option<usize>, Error> {
    let Some(crypto) = crypto else { return Ok(None) };
    if crypto.get(column_crypto::FOOTER_KEY).is_some() {
        return Ok(Some(footer.key));
    }
    let Some(own) = crypto.structure(column_crypto::COLUMN_KEY) else {
        return Err(Error::Module { place, what: "it does not say which key it has" });
    };
    let path = joined(own.items(column_crypto::PATH));
    keys.ring.of_column(keys.keys, &path, own.binary(column_crypto::KEY_METADATA)).map(Some)
}

/// Parts of a path, joined by dots.
pub(crate) fn joined(parts: &[Value]) -> String {
    let parts = parts.iter().filter_map(|part| match part {
        Value::Binary(part) => Some(String::from_utf8_lossy(part)),
        _ => None,
    });
    parts.collect::<Vec<_>>().join(".")
}

/// `ColumnMetaData`: by itself under the column's key, or as it stands in the footer, which is authentic.
fn metadata(
    outer: &Struct,
    place: Place,
    key: Option<usize>,
    footer: &Footer,
    ring: &Keyring,
) -> Result<Struct, Error> {
    if let (Some(key), Some(module)) = (key, outer.binary(chunk::ENCRYPTED_META_DATA)) {
        let module = Framed::read(module, place)?;
        let text = ring.get(key).open_module(place, &footer.aad.of(place), module)?;
        let (metadata, _) = read_struct(&text).map_err(Error::of_thrift(place))?;
        return Ok(metadata);
    }
    let what = "it is missing";
    outer.structure(chunk::META_DATA).cloned().ok_or(Error::Module { place, what })
}
