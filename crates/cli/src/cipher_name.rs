//! Ciphers as people name them, with the size of the key: `aes-256`, `seed`, `des-ede3`.

use std::{fmt, str::FromStr};

use lanecrypt::{CIPHERS, CipherDescription};

/// A cipher and how long its keys are.
#[derive(Clone, Copy)]
pub(crate) struct CipherName {
    pub(crate) cipher: &'static CipherDescription,
    pub(crate) key_bytes: usize,
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
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        CIPHERS.iter().flat_map(|&cipher| {
            cipher.key_bytes.iter().map(move |&key_bytes| Self { cipher, key_bytes })
        })
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
            let read: CipherName = one.to_string().parse().expect("it is a name");
            assert_eq!((read.cipher.name, read.key_bytes), (one.cipher.name, one.key_bytes));
        }
        let tdes: CipherName = "DES-EDE3".parse().expect("an alias");
        assert_eq!((tdes.cipher.name, tdes.key_bytes), ("tdes", 24));
        assert!("aes".parse::<CipherName>().is_err(), "of which size?");
        assert!("rot13".parse::<CipherName>().unwrap_err().contains("aes-128, "));
    }
}
