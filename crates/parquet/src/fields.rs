//! The numbers of fields in Parquet's structures, as far as they are used here.

/// `FileMetaData`: the footer.
pub(crate) mod file {
    pub(crate) const SCHEMA: i16 = 2;
    pub(crate) const NUM_ROWS: i16 = 3;
    pub(crate) const ROW_GROUPS: i16 = 4;
    pub(crate) const KEY_VALUES: i16 = 5;
    pub(crate) const COLUMN_ORDERS: i16 = 7;
    pub(crate) const ALGORITHM: i16 = 8;
    pub(crate) const SIGNING_KEY_METADATA: i16 = 9;
}

/// `SchemaElement`.
pub(crate) mod schema {
    pub(crate) const NAME: i16 = 4;
    pub(crate) const NUM_CHILDREN: i16 = 5;
}

/// `KeyValue`.
pub(crate) mod key_value {
    pub(crate) const KEY: i16 = 1;
}

/// `RowGroup`.
pub(crate) mod row_group {
    pub(crate) const COLUMNS: i16 = 1;
    pub(crate) const TOTAL_BYTES: i16 = 2;
    pub(crate) const NUM_ROWS: i16 = 3;
    pub(crate) const SORTING: i16 = 4;
    pub(crate) const FILE_OFFSET: i16 = 5;
    pub(crate) const TOTAL_COMPRESSED: i16 = 6;
    pub(crate) const ORDINAL: i16 = 7;
}

/// `ColumnChunk`.
pub(crate) mod chunk {
    pub(crate) const FILE_PATH: i16 = 1;
    pub(crate) const FILE_OFFSET: i16 = 2;
    pub(crate) const META_DATA: i16 = 3;
    pub(crate) const OFFSET_INDEX_OFFSET: i16 = 4;
    pub(crate) const OFFSET_INDEX_LENGTH: i16 = 5;
    pub(crate) const COLUMN_INDEX_OFFSET: i16 = 6;
    pub(crate) const COLUMN_INDEX_LENGTH: i16 = 7;
    pub(crate) const CRYPTO: i16 = 8;
    pub(crate) const ENCRYPTED_META_DATA: i16 = 9;
}

/// `ColumnMetaData`.
pub(crate) mod column {
    pub(crate) const PATH: i16 = 3;
    pub(crate) const TOTAL_UNCOMPRESSED: i16 = 6;
    pub(crate) const TOTAL_COMPRESSED: i16 = 7;
    pub(crate) const DATA_PAGE_OFFSET: i16 = 9;
    pub(crate) const INDEX_PAGE_OFFSET: i16 = 10;
    pub(crate) const DICTIONARY_PAGE_OFFSET: i16 = 11;
    pub(crate) const STATISTICS: i16 = 12;
    pub(crate) const ENCODING_STATISTICS: i16 = 13;
    pub(crate) const BLOOM_FILTER_OFFSET: i16 = 14;
    pub(crate) const BLOOM_FILTER_LENGTH: i16 = 15;
    pub(crate) const SIZE_STATISTICS: i16 = 16;
    pub(crate) const GEO_STATISTICS: i16 = 17;
}

/// `PageHeader`.
pub(crate) mod page {
    pub(crate) const KIND: i16 = 1;
    pub(crate) const UNCOMPRESSED_BYTES: i16 = 2;
    pub(crate) const COMPRESSED_BYTES: i16 = 3;
    pub(crate) const CRC: i16 = 4;
    /// The kind of a dictionary page.
    pub(crate) const DICTIONARY: i64 = 2;
}

/// `OffsetIndex` and its `PageLocation`s.
pub(crate) mod offset_index {
    pub(crate) const LOCATIONS: i16 = 1;
    pub(crate) const OFFSET: i16 = 1;
    pub(crate) const BYTES: i16 = 2;
}

/// `BloomFilterHeader`.
pub(crate) mod bloom {
    pub(crate) const BYTES: i16 = 1;
}

/// `EncryptionAlgorithm` and what its two variants have.
pub(crate) mod algorithm {
    pub(crate) const GCM: i16 = 1;
    pub(crate) const GCM_CTR: i16 = 2;
    pub(crate) const AAD_PREFIX: i16 = 1;
    pub(crate) const FILE_UNIQUE: i16 = 2;
    pub(crate) const SUPPLY_PREFIX: i16 = 3;
}

/// `FileCryptoMetaData`.
pub(crate) mod file_crypto {
    pub(crate) const ALGORITHM: i16 = 1;
    pub(crate) const KEY_METADATA: i16 = 2;
}

/// `ColumnCryptoMetaData` and its variant with a key of the column's own.
pub(crate) mod column_crypto {
    pub(crate) const FOOTER_KEY: i16 = 1;
    pub(crate) const COLUMN_KEY: i16 = 2;
    pub(crate) const PATH: i16 = 1;
    pub(crate) const KEY_METADATA: i16 = 2;
}
