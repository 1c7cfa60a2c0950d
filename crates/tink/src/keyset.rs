//! Keysets: several keys by their ids, one of which seals.

use std::{fmt, iter};

use zeroize::Zeroizing;

use crate::{
    Error, Parameters, StreamingKey,
    key::is_streaming,
    protobuf::{Given, fields, message},
    random,
};

/// Numbers of Tink's enumerations.
pub(crate) const ENABLED: u32 = 1;
const DISABLED: u32 = 2;
const DESTROYED: u32 = 3;
const SYMMETRIC: u32 = 1;
const RAW: u32 = 3;

const NO_DATA: Error = Error::Malformed { what: "an enabled key has no key data" };

/// Keys, one of which, the primary, seals; all that are enabled open.
///
/// Keys of other uses, and disabled ones, are kept as they are. Key material is cleared when it is
/// dropped, and never printed.
#[derive(Clone)]
pub struct Keyset {
    pub(crate) primary: u32,
    pub(crate) entries: Vec<Entry>,
}

/// What may be done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It opens, and seals where it is the primary.
    Enabled,
    /// It is kept, and neither opens nor seals until it is enabled again.
    Disabled,
    /// Only its id is left.
    Destroyed,
    /// None of those that Tink's libraries give a key. It neither opens nor seals.
    Unknown,
}

/// A key of a keyset, whatever its status and its use, without the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyEntry {
    /// Its id.
    pub id: u32,
    /// What may be done with it.
    pub status: Status,
    /// What it seals by; `None` of a key that is destroyed or of another use.
    pub parameters: Option<Parameters>,
}

/// A key of a keyset as Tink has it: enumerations by their numbers, and the key as its own message.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) id: u32,
    pub(crate) status: u32,
    pub(crate) prefix: u32,
    pub(crate) type_url: String,
    pub(crate) material: u32,
    pub(crate) value: Zeroizing<Vec<u8>>,
}

impl Keyset {
    /// A keyset with one random key of a [`Template`](crate::Template)'s or other parameters.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn generate(parameters: Parameters) -> Result<Self, Error> {
        Self::new(&StreamingKey::generate(parameters)?)
    }

    /// A keyset with one key, under a random id.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn new(key: &StreamingKey) -> Result<Self, Error> {
        let mut keyset = Self { primary: 0, entries: Vec::new() };
        keyset.primary = keyset.add(key)?;
        Ok(keyset)
    }

    /// Adds a key, which opens from now on and seals once it is made the primary; returns its id.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn add(&mut self, key: &StreamingKey) -> Result<u32, Error> {
        let mut id = random::key_id()?;
        while self.entries.iter().any(|entry| entry.id == id) {
            id = random::key_id()?;
        }
        self.entries.push(Entry {
            id,
            status: ENABLED,
            prefix: RAW,
            type_url: key.type_url().to_owned(),
            material: SYMMETRIC,
            value: key.encode(),
        });
        Ok(id)
    }

    /// Makes a key the one that seals.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`] where there is no enabled key for sealed files with this id.
    pub fn set_primary(&mut self, id: u32) -> Result<(), Error> {
        self.key(id)?;
        self.primary = id;
        Ok(())
    }

    /// Lets a disabled key open again.
    ///
    /// # Errors
    /// [`Error::NotInKeyset`], [`Error::KeyStatus`] of a key that is destroyed, or neither enabled nor disabled;
    /// [`Error::Malformed`] and [`Error::Parameter`] of a key that cannot be read. The keyset is as it was then.
    pub fn enable(&mut self, id: u32) -> Result<(), Error> {
        for entry in self.entries_of(id)? {
            entry.require_usable("is destroyed: what it sealed stays closed")?;
            entry.any_streaming_key()?;
            if !entry.has_data() {
                return Err(NO_DATA);
            }
        }
        self.entries_of(id)?.for_each(|entry| entry.status = ENABLED);
        Ok(())
    }

    /// Keeps a key from opening until it is [enabled](Self::enable) again.
    ///
    /// # Errors
    /// [`Error::NotInKeyset`]; [`Error::KeyStatus`] of the primary key, and of a key that is destroyed, or neither
    /// enabled nor disabled. The keyset is as it was then.
    pub fn disable(&mut self, id: u32) -> Result<(), Error> {
        self.refuse_primary(id)?;
        self.entries_of(id)?.try_for_each(|entry| entry.require_usable("is destroyed already"))?;
        self.entries_of(id)?.for_each(|entry| entry.status = DISABLED);
        Ok(())
    }

    /// Clears a key and leaves its id: this keyset does not open again what the key sealed.
    ///
    /// # Errors
    /// [`Error::NotInKeyset`]; [`Error::KeyStatus`] of the primary key.
    pub fn destroy(&mut self, id: u32) -> Result<(), Error> {
        self.refuse_primary(id)?;
        for entry in self.entries_of(id)? {
            entry.status = DESTROYED;
            entry.type_url.clear();
            entry.material = 0;
            entry.value = Zeroizing::default();
        }
        Ok(())
    }

    fn refuse_primary(&self, id: u32) -> Result<(), Error> {
        if id == self.primary {
            let is = "is the primary key, which seals: make another the primary first";
            return Err(Error::KeyStatus { id, is });
        }
        Ok(())
    }

    /// All keys with this id.
    fn entries_of(&mut self, id: u32) -> Result<impl Iterator<Item = &mut Entry>, Error> {
        if !self.entries.iter().any(|entry| entry.id == id) {
            return Err(Error::NotInKeyset { id });
        }
        Ok(self.entries.iter_mut().filter(move |entry| entry.id == id))
    }

    /// All keys in their order, also those that neither open nor seal.
    pub fn entries(&self) -> impl Iterator<Item = KeyEntry> {
        self.entries.iter().map(|entry| KeyEntry {
            id: entry.id,
            status: entry.status(),
            parameters: entry.any_streaming_key().ok().flatten().map(|key| *key.parameters()),
        })
    }

    /// The disabled keys for sealed files with their ids, as far as they can be read.
    pub(crate) fn disabled_keys(&self) -> impl Iterator<Item = (u32, StreamingKey)> {
        let disabled = self.entries.iter().filter(|entry| entry.status == DISABLED);
        disabled.filter_map(|entry| Some((entry.id, entry.any_streaming_key().ok()??)))
    }

    /// The id of the key that seals.
    #[must_use]
    pub fn primary_id(&self) -> u32 {
        self.primary
    }

    /// The key that seals.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`] where the primary key is not for sealed files.
    pub fn primary(&self) -> Result<StreamingKey, Error> {
        self.key(self.primary)
    }

    /// Bytes of the sealed data that the primary key makes of this number of bytes of plaintext.
    ///
    /// # Errors
    /// As [`primary`](Self::primary); [`Error::TooLong`].
    pub fn sealed_bytes(&self, plaintext_bytes: u64) -> Result<u64, Error> {
        self.primary()?.parameters().layout().ciphertext_bytes(plaintext_bytes)
    }

    /// The enabled key for sealed files with this id.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`].
    pub fn key(&self, id: u32) -> Result<StreamingKey, Error> {
        let mut keys = self.keys();
        keys.find_map(|(found, key)| (found == id).then_some(key)).ok_or(Error::NoSuchKey { id })
    }

    /// All enabled keys for sealed files with their ids, in their order.
    pub fn keys(&self) -> impl Iterator<Item = (u32, StreamingKey)> {
        // What cannot be read was refused when the keyset was.
        self.entries.iter().filter_map(|entry| Some((entry.id, entry.streaming_key().ok()??)))
    }

    /// Of these keys, where they make a keyset.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Parameter`].
    pub(crate) fn of(primary: u32, entries: Vec<Entry>) -> Result<Self, Error> {
        for entry in &entries {
            if entry.status == ENABLED && !entry.has_data() {
                return Err(NO_DATA);
            }
            entry.streaming_key()?;
        }
        let is_primary = |entry: &Entry| entry.id == primary && entry.status == ENABLED;
        if !entries.iter().any(is_primary) {
            return Err(Error::Malformed { what: "the primary key is not among the enabled ones" });
        }
        Ok(Self { primary, entries })
    }

    /// Reads the message `Keyset`.
    pub(crate) fn decode(message: &[u8]) -> Result<Self, Error> {
        let (mut primary, mut entries) = (0, Vec::new());
        for field in fields(message) {
            match field? {
                (1, value) => primary = value.number()?,
                (2, value) => entries.push(Entry::decode(value.bytes()?)?),
                _ => {}
            }
        }
        Self::of(primary, entries)
    }

    /// Writes the message `Keyset`.
    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let entries = self.entries.iter().map(Entry::encode).collect::<Vec<_>>();
        let primary = iter::once((1, Given::Number(self.primary)));
        let entries = entries.iter().map(|entry| (2, Given::Bytes(entry)));
        message(&primary.chain(entries).collect::<Vec<_>>())
    }
}

impl Entry {
    /// The key, if it is enabled and for sealed files.
    fn streaming_key(&self) -> Result<Option<StreamingKey>, Error> {
        if self.status == ENABLED { self.any_streaming_key() } else { Ok(None) }
    }

    /// The key, if it is for sealed files, whatever its status.
    fn any_streaming_key(&self) -> Result<Option<StreamingKey>, Error> {
        if !is_streaming(&self.type_url) {
            return Ok(None);
        }
        StreamingKey::decode(&self.type_url, &self.value).map(Some)
    }

    /// Whether it has more than an id, which is all that a destroyed key has.
    pub(crate) fn has_data(&self) -> bool {
        !self.type_url.is_empty() || !self.value.is_empty() || self.material != 0
    }

    /// Fails where it is neither enabled nor disabled; `destroyed` says what it is then, as a rule.
    fn require_usable(&self, destroyed: &'static str) -> Result<(), Error> {
        let is = match self.status {
            ENABLED | DISABLED => return Ok(()),
            DESTROYED => destroyed,
            _ => "has a status that Tink does not define",
        };
        Err(Error::KeyStatus { id: self.id, is })
    }

    fn status(&self) -> Status {
        match self.status {
            ENABLED => Status::Enabled,
            DISABLED => Status::Disabled,
            DESTROYED => Status::Destroyed,
            _ => Status::Unknown,
        }
    }

    /// Reads the message `Keyset.Key`.
    fn decode(message: &[u8]) -> Result<Self, Error> {
        let [mut id, mut status, mut prefix, mut material] = [0; 4];
        let [mut type_url, mut value]: [&[u8]; 2] = [&[]; 2];
        for field in fields(message) {
            match field? {
                (1, data) => {
                    for field in fields(data.bytes()?) {
                        match field? {
                            (1, field) => type_url = field.bytes()?,
                            (2, field) => value = field.bytes()?,
                            (3, field) => material = field.number()?,
                            _ => {}
                        }
                    }
                }
                (2, value) => status = value.number()?,
                (3, value) => id = value.number()?,
                (4, value) => prefix = value.number()?,
                _ => {}
            }
        }
        let type_url = str::from_utf8(type_url)
            .map_err(|_| Error::Malformed { what: "the type of a key is not UTF-8" })?;
        let (type_url, value) = (type_url.to_owned(), Zeroizing::new(value.to_vec()));
        Ok(Self { id, status, prefix, type_url, material, value })
    }

    /// Writes the message `Keyset.Key`.
    fn encode(&self) -> Zeroizing<Vec<u8>> {
        let data = message(&[
            (1, Given::Bytes(self.type_url.as_bytes())),
            (2, Given::Bytes(&self.value)),
            (3, Given::Number(self.material)),
        ]);
        let data = self.has_data().then_some((1, Given::Bytes(&data)));
        let rest = [(2, self.status), (3, self.id), (4, self.prefix)];
        let rest = rest.map(|(field, number)| (field, Given::Number(number)));
        message(&data.into_iter().chain(rest).collect::<Vec<_>>())
    }
}

impl fmt::Debug for Keyset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.entries.iter().map(|entry| entry.id).collect::<Vec<_>>();
        f.debug_struct("Keyset")
            .field("primary", &self.primary)
            .field("ids", &ids)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Template;

    #[test]
    fn keys_are_disabled_enabled_and_destroyed() {
        let mut keyset = Keyset::generate(Template::Aes128GcmHkdf4Kb.parameters()).unwrap();
        let old = keyset.primary_id();
        let key = StreamingKey::generate(Template::default().parameters()).unwrap();
        let new = keyset.add(&key).unwrap();
        let status = |keyset: &Keyset| keyset.entries().map(|key| key.status).collect::<Vec<_>>();
        let refused = |result| matches!(result, Err(Error::KeyStatus { .. }));
        assert!(refused(keyset.disable(old)) && refused(keyset.destroy(old)));
        assert!(matches!(keyset.disable(old ^ new), Err(Error::NotInKeyset { .. })));
        keyset.set_primary(new).unwrap();
        keyset.disable(old).unwrap();
        assert_eq!(status(&keyset), [Status::Disabled, Status::Enabled]);
        assert_eq!(keyset.keys().count(), 1);
        assert_eq!(keyset.entries().filter_map(|key| key.parameters).count(), 2);
        assert!(matches!(keyset.set_primary(old), Err(Error::NoSuchKey { .. })));
        keyset.enable(old).unwrap();
        assert_eq!(keyset.keys().count(), 2);
        keyset.destroy(old).unwrap();
        assert_eq!(status(&keyset), [Status::Destroyed, Status::Enabled]);
        assert!(refused(keyset.enable(old)) && refused(keyset.disable(old)));
        let read = Keyset::from_json(&keyset.to_json().unwrap()).unwrap();
        assert_eq!(read.encode(), keyset.encode());
        assert!(read.entries().next().unwrap().parameters.is_none());
    }

    /// A key that will not be used is written as it was read, whatever there is of its data.
    #[test]
    fn what_a_key_has_is_kept() {
        let used = Keyset::generate(Template::default().parameters()).unwrap();
        let entry = |type_url: &str, value: &[u8], material| {
            let (type_url, value) = (type_url.to_owned(), Zeroizing::new(value.to_vec()));
            Entry { id: used.primary ^ 1, status: DISABLED, prefix: 3, type_url, material, value }
        };
        let parts = [("", &b""[..], 0), ("a type", b"", 0), ("", b"a value", 0), ("", b"", 1)];
        for (type_url, value, material) in parts {
            let mut entries = used.entries.clone();
            entries.push(entry(type_url, value, material));
            let keyset = Keyset::of(used.primary, entries).unwrap();
            let of_json = Keyset::from_json(&keyset.to_json().unwrap()).unwrap();
            for read in [Keyset::decode(&keyset.encode()).unwrap(), of_json] {
                let last = read.entries.last().unwrap();
                let found = (&last.type_url[..], &last.value[..], last.material);
                assert_eq!(found, (type_url, value, material));
            }
        }
    }

    /// A keyset stays as it was where a key cannot be enabled or disabled, also if another one has its id.
    #[test]
    fn what_cannot_be_used_is_not_enabled() {
        let used = Keyset::generate(Template::default().parameters()).unwrap();
        let id = used.primary ^ 1;
        let entry = |status: u32, has_data: bool| {
            let mut entry = used.entries[0].clone();
            (entry.id, entry.status) = (id, status);
            if !has_data {
                (entry.type_url, entry.value, entry.material) = Default::default();
            }
            entry
        };
        for (status, has_data, said) in [
            (DISABLED, false, "an enabled key has no key data"),
            (DESTROYED, false, "is destroyed"),
            (7, true, "has a status that Tink does not define"),
        ] {
            let mut entries = used.entries.clone();
            entries.extend([entry(DISABLED, true), entry(status, has_data)]);
            let mut keyset = Keyset::of(used.primary, entries).unwrap();
            let before = keyset.encode();
            let error = keyset.enable(id).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert_eq!(keyset.encode(), before);
            if status != DISABLED {
                let error = keyset.disable(id).unwrap_err().to_string();
                assert!(error.contains(said), "{error}");
                assert_eq!(keyset.encode(), before);
            }
        }
    }

    proptest! {
        /// Whatever a file has, it is a keyset or an error.
        #[test]
        fn nothing_panics(noise: Vec<u8>, at: usize, byte: u8, template in 0_usize..8) {
            let _ = Keyset::decode(&noise);
            let keyset = Keyset::generate(Template::ALL[template].parameters()).unwrap();
            let mut message = keyset.encode().to_vec();
            let at = at % message.len();
            let _ = Keyset::decode(&message[..at]);
            message[at] = byte;
            if let Ok(read) = Keyset::decode(&message) {
                let _ = (read.primary(), read.to_json());
            }
        }
    }
}
