//! Where something lies: an object in a store, or a file.

use std::{fmt, path::PathBuf, str::FromStr};

use object_store::path::Path as Key;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Where something lies. Its text is `s3://bucket/key`, `file:///path` or a path.
///
/// ```
/// use lanecrypt_objects::Location;
///
/// let object = "s3://bucket/a/key".parse::<Location>()?;
/// assert_eq!(object.to_string(), "s3://bucket/a/key");
/// let same = ["file:///a%20file", "/a file"].map(|text| text.parse::<Location>().ok());
/// assert_eq!(same[0], same[1]);
/// assert!("https://example.com/a".parse::<Location>().is_err());
/// # Ok::<(), lanecrypt_objects::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Location {
    /// A file, whose path is UTF-8.
    File(PathBuf),
    /// An object.
    Object(Address),
}

/// An object's bucket and key. Its text is `s3://bucket/key`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address {
    bucket: String,
    key: Key,
}

impl Address {
    /// The bucket.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The key, as the store has it.
    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let refused = |what: &str| Error::Location { what: what.to_owned() };
        let (bucket, key) = text.split_once('/').unwrap_or((text, ""));
        let is_named = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if bucket.is_empty() || !bucket.bytes().all(is_named) {
            return Err(refused("a bucket's name has letters, digits, dots and hyphens"));
        }
        let parsed = Key::parse(key).ok().filter(|parsed| parsed.as_ref() == key);
        match parsed {
            Some(parsed) if !key.is_empty() => Ok(Self { bucket: bucket.to_owned(), key: parsed }),
            _ => Err(refused("a key has no empty parts between its slashes, and no . or ..")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.key)
    }
}

impl FromStr for Location {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |what: String| Err(Error::Location { what });
        match text.split_once("://") {
            Some(("s3", rest)) => Ok(Self::Object(Address::parse(rest)?)),
            Some(("file", path)) if path.starts_with('/') => Ok(Self::File(decoded(path)?)),
            Some(("file", _)) => refused("a file of another host".to_owned()),
            // Not what follows: there may be a password.
            Some((scheme, _)) => refused(format!("the scheme {scheme}")),
            None if text.is_empty() => refused("an empty name".to_owned()),
            None => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

/// The path of a URL, whose odd bytes are written as `%` and two digits.
fn decoded(path: &str) -> Result<PathBuf, Error> {
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8();
    let decoded = decoded.map_err(|_| Error::Location { what: "not UTF-8".to_owned() })?;
    Ok(PathBuf::from(decoded.into_owned()))
}

impl TryFrom<String> for Address {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        match text.parse()? {
            Location::Object(address) => Ok(address),
            Location::File(_) => Err(Error::Location { what: "a file".to_owned() }),
        }
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

impl TryFrom<String> for Location {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Location> for String {
    fn from(location: Location) -> Self {
        location.to_string()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Object(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_place_is_refused() {
        let refused = [
            "",
            "s3://",
            "s3://bucket",
            "s3://bucket/",
            "s3:///key",
            "s3://bucket//key",
            "s3://bucket/key/",
            "s3://bucket/a/../b",
            "s3://id:secret@bucket/key",
            "file://host/path",
            "file:path://",
            "file:///%ff",
            "gs://bucket/key",
            "http://user:secret@host/",
        ];
        for text in refused {
            let error = text.parse::<Location>().expect_err(text);
            assert!(matches!(error, Error::Location { .. }));
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }

    #[test]
    fn texts_are_read_as_they_were_written() {
        for text in ["s3://b/k", "s3://b.c-d/a b%20/ü", "/absolute", "relative/s3:/x", "%41"] {
            let location = text.parse::<Location>().expect(text);
            assert_eq!(location.to_string(), text);
            assert_eq!(location.to_string().parse::<Location>().expect(text), location);
        }
    }

    #[test]
    fn urls_of_files_are_decoded() {
        let location = "file:///a%20b/%C3%BC%25".parse::<Location>().expect("a path");
        assert_eq!(location, Location::File(PathBuf::from("/a b/ü%")));
    }
}
