//! Keysets as JSON, in the form that Tink writes: cleartext, and round an encrypted keyset.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zeroize::Zeroizing;

use crate::{Error, Keyset, keyset::Entry};

/// Base64 as proto3's JSON has it: padded when written, either way when read.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Names of the enumerations' values, by their numbers.
const STATUS: [&str; 4] = ["UNKNOWN_STATUS", "ENABLED", "DISABLED", "DESTROYED"];
const PREFIX: [&str; 6] =
    ["UNKNOWN_PREFIX", "TINK", "LEGACY", "RAW", "CRUNCHY", "WITH_ID_REQUIREMENT"];
const MATERIAL: [&str; 5] =
    ["UNKNOWN_KEYMATERIAL", "SYMMETRIC", "ASYMMETRIC_PRIVATE", "ASYMMETRIC_PUBLIC", "REMOTE"];

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeysetText {
    primary_key_id: u32,
    key: Vec<KeyText>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyText {
    key_data: KeyData,
    status: String,
    key_id: u32,
    output_prefix_type: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyData {
    type_url: String,
    value: Zeroizing<String>,
    key_material_type: String,
}

/// An encrypted keyset as Tink writes it: what is encrypted is the message `Keyset`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EncryptedKeyset {
    pub(crate) encrypted_keyset: String,
    #[serde(default)]
    pub(crate) keyset_info: KeysetInfo,
}

/// What anybody may know of a keyset.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct KeysetInfo {
    primary_key_id: u32,
    key_info: Vec<KeyInfo>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyInfo {
    type_url: String,
    status: String,
    key_id: u32,
    output_prefix_type: String,
}

impl Keyset {
    /// Reads a cleartext keyset in Tink's JSON.
    ///
    /// # Errors
    /// [`Error::Json`], [`Error::Malformed`]; [`Error::Parameter`] for a key that seals in a way that
    /// Tink does not allow.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let keyset = parse::<KeysetText>("keyset", text)?;
        let entries = keyset.key.into_iter().map(|key| {
            Ok(Entry {
                id: key.key_id,
                status: number(&STATUS, &key.status, "an unknown key status")?,
                prefix: number(&PREFIX, &key.output_prefix_type, "an unknown output prefix type")?,
                type_url: key.key_data.type_url,
                material: number(
                    &MATERIAL,
                    &key.key_data.key_material_type,
                    "an unknown key material type",
                )?,
                value: Zeroizing::new(decode("a key is not base64", &key.key_data.value)?),
            })
        });
        Self::of(keyset.primary_key_id, entries.collect::<Result<_, Error>>()?)
    }

    /// Writes the keyset in cleartext, in Tink's JSON: whoever reads it has the keys.
    ///
    /// # Errors
    /// None that can happen with a keyset that was made or read here.
    pub fn to_json(&self) -> Result<Zeroizing<String>, Error> {
        let key = |entry: &Entry| {
            Ok(KeyText {
                key_data: KeyData {
                    type_url: entry.type_url.clone(),
                    value: Zeroizing::new(BASE64.encode(&entry.value)),
                    key_material_type: name(&MATERIAL, entry.material)?,
                },
                status: name(&STATUS, entry.status)?,
                key_id: entry.id,
                output_prefix_type: name(&PREFIX, entry.prefix)?,
            })
        };
        let key = self.entries.iter().map(key).collect::<Result<_, Error>>()?;
        Ok(Zeroizing::new(write(&KeysetText { primary_key_id: self.primary, key })?))
    }

    /// What anybody may know of it.
    pub(crate) fn info(&self) -> Result<KeysetInfo, Error> {
        let key = |entry: &Entry| {
            Ok(KeyInfo {
                type_url: entry.type_url.clone(),
                status: name(&STATUS, entry.status)?,
                key_id: entry.id,
                output_prefix_type: name(&PREFIX, entry.prefix)?,
            })
        };
        let key_info = self.entries.iter().map(key).collect::<Result<_, Error>>()?;
        Ok(KeysetInfo { primary_key_id: self.primary, key_info })
    }
}

/// Base64 of these bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// The bytes of base64; `what` says what is wrong otherwise.
pub(crate) fn decode(what: &'static str, text: &str) -> Result<Vec<u8>, Error> {
    BASE64.decode(text).map_err(|_| Error::Malformed { what })
}

/// Reads JSON; an error tells the place and not what is there, which may be a key.
pub(crate) fn parse<T: DeserializeOwned>(of: &'static str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Json {
        of,
        line: error.line(),
        column: error.column(),
    })
}

/// Writes JSON for people to read. The text is written in one place, so that no copy of it stays.
pub(crate) fn write<T: Serialize>(value: &T) -> Result<String, Error> {
    let unwritable = |_| Error::Malformed { what: "it cannot be written as JSON" };
    let mut length = Length(0);
    serde_json::to_writer_pretty(&mut length, value).map_err(unwritable)?;
    let mut text = Vec::with_capacity(length.0 + 1);
    serde_json::to_writer_pretty(&mut text, value).map_err(unwritable)?;
    text.push(b'\n');
    String::from_utf8(text).map_err(|_| Error::Malformed { what: "it cannot be written as JSON" })
}

/// Counts what is written to it.
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn number(names: &[&str], name: &str, what: &'static str) -> Result<u32, Error> {
    let number = names.iter().position(|known| *known == name);
    number.map(|number| number as u32).ok_or(Error::Malformed { what })
}

fn name(names: &[&str], number: u32) -> Result<String, Error> {
    let name = names.get(number as usize);
    name.map(|name| (*name).to_owned())
        .ok_or(Error::Malformed { what: "a number that stands for nothing" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Template};

    fn two_keys() -> Keyset {
        let mut keyset = Keyset::generate(Template::default().parameters()).unwrap();
        let other = Key::generate(Template::Aes128CtrHmacSha2564Kb.parameters()).unwrap();
        keyset.add(&other).unwrap();
        keyset
    }

    #[test]
    fn both_forms_are_read_as_they_were_written() {
        let keyset = two_keys();
        let again = Keyset::from_json(&keyset.to_json().unwrap()).unwrap();
        let message = Keyset::decode(&keyset.encode()).unwrap();
        for read in [again, message] {
            assert_eq!(read.primary_id(), keyset.primary_id());
            assert_eq!(read.encode(), keyset.encode());
            assert_eq!(read.keys().count(), 2);
        }
    }

    #[test]
    fn a_primary_key_is_enabled_and_seals() {
        let keyset = two_keys();
        let text = keyset.to_json().unwrap();
        let disabled = text.replacen("ENABLED", "DISABLED", 1);
        assert!(matches!(Keyset::from_json(&disabled), Err(Error::Malformed { .. })));
        let last = text.rfind("ENABLED").unwrap();
        let disabled = [&text[..last], "DISABLED", &text[last + 7..]].concat();
        assert_eq!(Keyset::from_json(&disabled).unwrap().keys().count(), 1);
        let of_another_use = text.replace("AesGcmHkdfStreamingKey", "AesGcmKey");
        let mut keyset = Keyset::from_json(&of_another_use).unwrap();
        assert!(matches!(keyset.primary(), Err(Error::NoSuchKey { .. })));
        let id = keyset.keys().next().unwrap().0;
        keyset.set_primary(id).unwrap();
        assert!(keyset.primary().is_ok() && keyset.set_primary(id ^ 1).is_err());
    }

    #[test]
    fn errors_do_not_repeat_what_may_be_a_key() {
        let text = r#"{"primaryKeyId": "c2VjcmV0IGtleQ==", "key": []}"#;
        let error = Keyset::from_json(text).unwrap_err();
        assert!(matches!(error, Error::Json { line: 1, .. }));
        assert!(!format!("{error} {error:?}").contains("c2Vj"));
        let printed = format!("{:?}", two_keys());
        assert!(!printed.contains("value") && printed.contains("primary"));
    }
}
