//! Keys, and where they come from: by name, or by what a file says of them.

use std::{collections::BTreeMap, fmt};

use lanecrypt::Brief;
use zeroize::Zeroizing;

use crate::Error;

/// An AES key of 16, 24 or 32 bytes; cleared when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// A copy of these bytes.
    ///
    /// # Errors
    /// [`Error::KeyLength`].
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        match bytes.len() {
            16 | 24 | 32 => Ok(Self(Zeroizing::new(bytes.to_vec()))),
            given => Err(Error::KeyLength { given }),
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Tells the length, never the key.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("bytes", &self.0.len()).finish_non_exhaustive()
    }
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFor<'a> {
    /// The footer, and every column that is encrypted with its key.
    Footer,
    /// The column of this path, its parts joined by dots.
    Column(&'a str),
}

impl fmt::Display for KeyFor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Footer => f.write_str("the footer"),
            Self::Column(path) => write!(f, "the column {:?}", Brief(path)),
        }
    }
}

/// Where the keys of a file come from.
pub trait KeySource: Sync {
    /// The key for this, of which the file says `metadata`.
    ///
    /// # Errors
    /// [`Error::NoKey`], or [`Error::Retriever`] with an error of its own.
    fn key(&self, of: KeyFor<'_>, metadata: Option<&[u8]>) -> Result<Key, Error>;
}

/// Keys by the names of columns.
#[derive(Clone, Debug)]
pub struct Keys {
    /// That of the footer.
    pub footer: Key,
    /// Those of columns that have their own, by the path of the column, its parts joined by dots.
    pub columns: BTreeMap<String, Key>,
}

impl Keys {
    /// One key for the footer and all columns.
    #[must_use]
    pub fn uniform(footer: Key) -> Self {
        Self { footer, columns: BTreeMap::new() }
    }
}

impl KeySource for Keys {
    fn key(&self, of: KeyFor<'_>, _: Option<&[u8]>) -> Result<Key, Error> {
        let found = match of {
            KeyFor::Footer => Some(&self.footer),
            KeyFor::Column(path) => self.columns.get(path),
        };
        found.cloned().ok_or_else(|| Error::NoKey { of: of.to_string() })
    }
}

/// Keys by what the file says of them, its key metadata, such as an envelope that a key management service opens.
pub struct ByMetadata<F>(pub F);

impl<F: Fn(&[u8]) -> Result<Key, Error> + Sync> KeySource for ByMetadata<F> {
    fn key(&self, of: KeyFor<'_>, metadata: Option<&[u8]>) -> Result<Key, Error> {
        let without = || Error::NoKey { of: format!("{of}: the file has no metadata of it") };
        (self.0)(metadata.ok_or_else(without)?)
    }
}

impl<F> fmt::Debug for ByMetadata<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByMetadata").finish_non_exhaustive()
    }
}
