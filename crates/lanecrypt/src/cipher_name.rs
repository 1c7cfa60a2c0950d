//! Ciphers as people name them, with the size of the key: `aes-256`, `seed`, `des-ede3`.

use std::{fmt, str::FromStr};

use crate::{CIPHERS, Error, LookupError, find_cipher, registry::CipherDescription};

/// A cipher and how long its keys are.
///
/// ```
/// let name: lanecrypt::CipherName = "camellia-192".parse()?;
/// assert_eq!((name.cipher.name, name.key_bytes), ("camellia", 24));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy)]
pub struct CipherName {
    /// The cipher.
    pub cipher: &'static CipherDescription,
    /// Bytes of a key, one of those that the cipher takes.
    pub key_bytes: usize,
}

/// Names that others have for ours.
const ALIASES: [(&str, &str); 6] = [
    ("des3", "tdes-192"),
    ("3des", "tdes-192"),
    ("des-ede3", "tdes-192"),
    ("des-ede", "tdes-128"),
    ("des-eee3", "tdes-eee-192"),
    ("des-eee2", "tdes-eee-128"),
];

impl CipherName {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        CIPHERS.iter().flat_map(|&cipher| {
            cipher.key_bytes.iter().map(move |&key_bytes| Self { cipher, key_bytes })
        })
    }

    /// The cipher of this name, in any case, for a key of this length, in bytes: by its own name, where the key
    /// says which size is meant, or by one with the size.
    ///
    /// # Errors
    /// [`LookupError::NoSuchCipher`]; [`LookupError::Engine`] for another length than those of the name.
    pub fn with_key(text: &str, key_bytes: usize) -> Result<Self, LookupError> {
        let name = text.to_ascii_lowercase();
        let (cipher, accepted) = match find_cipher(&name) {
            Ok(cipher) => (cipher, cipher.key_bytes),
            Err(unknown) => {
                let one = name.parse::<Self>().map_err(|_| unknown)?;
                let mut sizes = one.cipher.key_bytes.chunks(1);
                let is_its = |size: &&[usize]| **size == [one.key_bytes];
                (one.cipher, sizes.find(is_its).unwrap_or_default())
            }
        };
        if accepted.contains(&key_bytes) {
            return Ok(Self { cipher, key_bytes });
        }
        Err(Error::KeyLength { cipher: cipher.name, given: key_bytes, accepted }.into())
    }
}

impl FromStr for CipherName {
    type Err = String;

    /// The size may be left out where there is one only.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_lowercase();
        let alias = ALIASES.iter().find(|(theirs, _)| *theirs == text);
        let name = alias.map_or(text.as_str(), |(_, ours)| ours);
        let is_it = |one: &Self| {
            one.to_string() == name || one.cipher.name == name && one.cipher.key_bytes.len() == 1
        };
        Self::all().find(is_it).ok_or_else(|| {
            let names = Self::all().map(|one| one.to_string()).collect::<Vec<_>>();
            format!("there is no such cipher; known are {}", names.join(", "))
        })
    }
}

impl fmt::Display for CipherName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cipher.name)?;
        if self.cipher.key_bytes.len() > 1 { write!(f, "-{}", 8 * self.key_bytes) } else { Ok(()) }
    }
}

impl fmt::Debug for CipherName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_it_is_printed() {
        for one in CipherName::all() {
            assert_eq!(format!("{one:?}"), one.to_string());
            let read: CipherName = one.to_string().parse().expect("it is a name");
            assert_eq!((read.cipher.name, read.key_bytes), (one.cipher.name, one.key_bytes));
        }
        let tdes: CipherName = "DES-EDE3".parse().expect("an alias");
        assert_eq!((tdes.cipher.name, tdes.key_bytes), ("tdes", 24));
        assert!("aes".parse::<CipherName>().is_err(), "of which size?");
        assert!("rot13".parse::<CipherName>().unwrap_err().contains("aes-128, "));
    }

    #[test]
    fn the_key_says_which_size_is_meant() {
        let of = |text, bytes| CipherName::with_key(text, bytes).map(|one| one.to_string());
        assert_eq!(of("AES", 24).expect("a size of AES"), "aes-192");
        assert_eq!(of("aes-256", 32).expect("the size named"), "aes-256");
        assert_eq!(of("des-ede3", 24).expect("an alias"), "tdes-192");
        assert_eq!(of("seed", 16).expect("its only size"), "seed");
        let error = of("aes-256", 16).expect_err("another size").to_string();
        assert_eq!(error, "aes key of 16 bytes; accepted are [32] bytes");
        let error = of("aes", 17).expect_err("no size of AES").to_string();
        assert_eq!(error, "aes key of 17 bytes; accepted are [16, 24, 32] bytes");
        assert!(matches!(of("rot13", 16), Err(LookupError::NoSuchCipher(_))));
    }
}
