//! What callers choose.

use std::collections::BTreeMap;

use crate::Algorithm;

/// What is opened of a file, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions<'a> {
    /// The columns to open, by the names of the schema's first level; all where there are none. Keys are asked for those
    /// columns only.
    pub columns: Option<&'a [String]>,
    /// The row groups to open, by their numbers from 0, in the order in which they come out; all where there are none.
    pub row_groups: Option<&'a [usize]>,
    /// The prefix of associated data. It is needed where the file does not have it, and held against it where it does.
    pub aad_prefix: Option<&'a [u8]>,
}

/// How a file is sealed.
#[derive(Clone, Debug, Default)]
pub struct SealOptions {
    /// How pages are encrypted.
    pub algorithm: Algorithm,
    /// Whether the footer can be read without a key: it is signed then, so that readers with the key notice a change, and
    /// says which columns there are, and how many rows.
    pub plaintext_footer: bool,
    /// What all associated data begins with, such as the file's name: a file does not open in the place of another one.
    /// It has 4,088 bytes at most.
    pub aad_prefix: Option<Vec<u8>>,
    /// Whether the prefix is left out of the file, so that who opens it has to know it.
    pub withhold_aad_prefix: bool,
    /// What the file says of its footer's key.
    pub footer_key_metadata: Option<Vec<u8>>,
    /// What it says of the keys of columns, by their paths.
    pub column_key_metadata: BTreeMap<String, Vec<u8>>,
}
