//! The keys of one file, each once, with a cipher under it.

use std::collections::HashMap;

use crate::{Error, Key, KeyFor, KeySource, cipher::Cipher};

/// Ciphers by numbers.
#[derive(Default)]
pub(crate) struct Keyring {
    ciphers: Vec<Cipher>,
    /// What was asked for, so that a key management service is asked once for a column.
    of_columns: HashMap<(String, Option<Vec<u8>>), usize>,
}

impl Keyring {
    /// The number of this key.
    pub(crate) fn add(&mut self, key: Key) -> Result<usize, Error> {
        if let Some(number) = self.ciphers.iter().position(|cipher| cipher.has(&key)) {
            return Ok(number);
        }
        self.ciphers.push(Cipher::new(key)?);
        Ok(self.ciphers.len() - 1)
    }

    /// The number of a column's key.
    pub(crate) fn of_column(
        &mut self,
        keys: &dyn KeySource,
        path: &str,
        metadata: Option<&[u8]>,
    ) -> Result<usize, Error> {
        let asked = (path.to_owned(), metadata.map(<[u8]>::to_vec));
        if let Some(&number) = self.of_columns.get(&asked) {
            return Ok(number);
        }
        let number = self.add(keys.key(KeyFor::Column(path), metadata)?)?;
        self.of_columns.insert(asked, number);
        Ok(number)
    }

    /// The cipher of this number.
    pub(crate) fn get(&self, number: usize) -> &Cipher {
        &self.ciphers[number]
    }
}

/// Where keys come from, and where they are kept.
pub(crate) struct KeysOf<'a> {
    pub(crate) keys: &'a dyn KeySource,
    pub(crate) ring: &'a mut Keyring,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_kept_once() {
        let key = |byte| Key::new(&[byte; 16]).expect("a length that AES has");
        let mut ring = Keyring::default();
        let numbers = [1, 2, 1, 3, 2].map(|byte| ring.add(key(byte)).ok());
        assert_eq!(numbers, [0, 1, 0, 2, 1].map(Some));
    }
}
