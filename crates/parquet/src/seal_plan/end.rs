//! What a sealed file says of its encryption: the metadata of columns, and the footer.

use super::{Column, SealPlan};
use crate::{
    Algorithm, Error, Place, SealOptions,
    fields::{algorithm, chunk, column, column_crypto, file, file_crypto},
    module::nonces,
    thrift::{List, Struct, Value, write_struct},
};

impl SealPlan {
    /// Sets what says how a column is encrypted, and its metadata: in the footer where that is encrypted with the same
    /// key, else by itself.
    pub(super) fn encrypt_metadata(
        &self,
        outer: &mut Struct,
        mut metadata: Struct,
        of: &Column<'_>,
        key: usize,
        options: &SealOptions,
    ) -> Result<(), Error> {
        outer.set(chunk::CRYPTO, Value::Struct(crypto(&metadata, of, options)));
        if !of.has_own_key && !options.plaintext_footer {
            outer.set(chunk::META_DATA, Value::Struct(metadata));
            return Ok(());
        }
        let (mut text, mut module) = (Vec::new(), Vec::new());
        write_struct(&metadata, &mut text);
        let aad = self.aad.of(of.place);
        let nonce = nonces(1)?[0];
        self.ring.get(key).seal_module(of.place, &aad, &nonce, &text, &mut module)?;
        outer.set(chunk::ENCRYPTED_META_DATA, Value::Binary(module));
        outer.remove(chunk::META_DATA);
        if options.plaintext_footer {
            // Readers without the key find their way, but nothing that tells of values.
            let telling = [
                column::STATISTICS,
                column::ENCODING_STATISTICS,
                column::SIZE_STATISTICS,
                column::GEO_STATISTICS,
            ];
            for id in telling {
                metadata.remove(id);
            }
            outer.set(chunk::META_DATA, Value::Struct(metadata));
        }
        Ok(())
    }

    /// Appends the footer, its length, and what the file ends with.
    pub(super) fn end(
        &mut self,
        mut metadata: Struct,
        key: usize,
        unique: &[u8],
        options: &SealOptions,
    ) -> Result<(), Error> {
        let place = Place::FOOTER;
        let (start, aad) = (self.tail.len(), self.aad.of(place));
        let nonce = nonces(1)?[0];
        let cipher = self.ring.get(key);
        let algorithm = Value::Struct(encryption(unique, options));
        let of_key = options.footer_key_metadata.clone().map(Value::Binary);
        if options.plaintext_footer {
            metadata.set(file::ALGORITHM, algorithm);
            if let Some(of_key) = of_key {
                metadata.set(file::SIGNING_KEY_METADATA, of_key);
            }
            write_struct(&metadata, &mut self.tail);
            let tag = cipher.sign(&aad, &nonce, &self.tail[start..])?;
            self.tail.extend_from_slice(&nonce);
            self.tail.extend_from_slice(&tag);
        } else {
            let said = [Some((file_crypto::ALGORITHM, algorithm))];
            let of_key = of_key.map(|of_key| (file_crypto::KEY_METADATA, of_key));
            let crypto = said.into_iter().chain([of_key]).flatten().collect();
            write_struct(&crypto, &mut self.tail);
            let mut text = Vec::new();
            write_struct(&metadata, &mut text);
            cipher.seal_module(place, &aad, &nonce, &text, &mut self.tail)?;
        }
        let length = u32::try_from(self.tail.len() - start);
        let length = length.map_err(|_| Error::TooLong { place })?;
        self.tail.extend_from_slice(&length.to_le_bytes());
        self.tail.extend_from_slice(&self.magic);
        Ok(())
    }
}

/// `ColumnCryptoMetaData`.
fn crypto(metadata: &Struct, of: &Column<'_>, options: &SealOptions) -> Struct {
    if !of.has_own_key {
        return [(column_crypto::FOOTER_KEY, Value::Struct(Struct::default()))]
            .into_iter()
            .collect();
    }
    let empty = Value::List(List::of_binaries([]));
    let path = metadata.get(column::PATH).cloned().unwrap_or(empty);
    let mut own = Struct::default();
    own.set(column_crypto::PATH, path);
    if let Some(of_key) = options.column_key_metadata.get(of.path) {
        own.set(column_crypto::KEY_METADATA, Value::Binary(of_key.clone()));
    }
    [(column_crypto::COLUMN_KEY, Value::Struct(own))].into_iter().collect()
}

/// `EncryptionAlgorithm`.
fn encryption(unique: &[u8], options: &SealOptions) -> Struct {
    let mut variant = Struct::default();
    variant.set(algorithm::FILE_UNIQUE, Value::Binary(unique.to_vec()));
    match &options.aad_prefix {
        Some(_) if options.withhold_aad_prefix => {
            variant.set(algorithm::SUPPLY_PREFIX, Value::Bool(true));
        }
        Some(prefix) => variant.set(algorithm::AAD_PREFIX, Value::Binary(prefix.clone())),
        None => {}
    }
    let id = match options.algorithm {
        Algorithm::AesGcmV1 => algorithm::GCM,
        Algorithm::AesGcmCtrV1 => algorithm::GCM_CTR,
    };
    [(id, Value::Struct(variant))].into_iter().collect()
}
