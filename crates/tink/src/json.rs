//! Keysets as JSON, in the form that Tink writes: cleartext, and round an encrypted keyset.

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zeroize::Zeroizing;

use crate::{
    Error, Keyset,
    keyset::Entry,
    scalar::{Scalar, id},
};

/// Base64 as proto3's JSON has it: padded when written, either way when read.
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, PADDED_OR_NOT);
/// The same with the letters of URLs, which are only read.
const BASE64URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, PADDED_OR_NOT);
const PADDED_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Names of the enumerations' values, by their numbers.
const STATUS: [&str; 4] = ["UNKNOWN_STATUS", "ENABLED", "DISABLED", "DESTROYED"];
const PREFIX: [&str; 6] =
    ["UNKNOWN_PREFIX", "TINK", "LEGACY", "RAW", "CRUNCHY", "WITH_ID_REQUIREMENT"];
const MATERIAL: [&str; 5] =
    ["UNKNOWN_KEYMATERIAL", "SYMMETRIC", "ASYMMETRIC_PRIVATE", "ASYMMETRIC_PUBLIC", "REMOTE"];

// proto3's JSON names fields in either case, leaves out what is 0 or empty, and writes numbers as text or not.

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeysetText {
    #[serde(alias = "primary_key_id", default, deserialize_with = "id")]
    primary_key_id: u32,
    key: Vec<KeyText>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyText {
    /// A destroyed key has none.
    #[serde(alias = "key_data", default, skip_serializing_if = "Option::is_none")]
    key_data: Option<KeyData>,
    #[serde(default)]
    status: Scalar,
    #[serde(alias = "key_id", default, deserialize_with = "id")]
    key_id: u32,
    #[serde(alias = "output_prefix_type", default)]
    output_prefix_type: Scalar,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KeyData {
    #[serde(alias = "type_url")]
    type_url: String,
    value: Zeroizing<String>,
    #[serde(alias = "key_material_type")]
    key_material_type: Scalar,
}

/// An encrypted keyset as Tink writes it: what is encrypted is the message `Keyset`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EncryptedKeyset {
    #[serde(alias = "encrypted_keyset")]
    pub(crate) encrypted_keyset: String,
    #[serde(alias = "keyset_info", default)]
    pub(crate) keyset_info: KeysetInfo,
}

/// What anybody may know of a keyset.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct KeysetInfo {
    #[serde(alias = "primary_key_id", deserialize_with = "id")]
    primary_key_id: u32,
    #[serde(alias = "key_info")]
    key_info: Vec<KeyInfo>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KeyInfo {
    #[serde(alias = "type_url")]
    type_url: String,
    status: Scalar,
    #[serde(alias = "key_id", deserialize_with = "id")]
    key_id: u32,
    #[serde(alias = "output_prefix_type")]
    output_prefix_type: Scalar,
}

impl Keyset {
    /// Reads a cleartext keyset in Tink's JSON, in every form that proto3's JSON allows.
    ///
    /// # Errors
    /// [`Error::Json`], [`Error::Malformed`]; [`Error::Parameter`] for a key that seals in a way that
    /// Tink does not allow.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let keyset = parse::<KeysetText>("keyset", text)?;
        let entries = keyset.key.into_iter().map(|key| {
            let data = key.key_data.unwrap_or_default();
            Ok(Entry {
                id: key.key_id,
                status: key.status.number(&STATUS, "an unknown key status")?,
                prefix: key.output_prefix_type.number(&PREFIX, "an unknown output prefix type")?,
                type_url: data.type_url,
                material: data
                    .key_material_type
                    .number(&MATERIAL, "an unknown key material type")?,
                value: Zeroizing::new(decode("a key is not base64", &data.value)?),
            })
        });
        Self::of(keyset.primary_key_id, entries.collect::<Result<_, Error>>()?)
    }

    /// Writes the keyset in cleartext, in Tink's JSON: anyone who reads it has the keys.
    ///
    /// # Errors
    /// None that can happen with a keyset that was made or read here.
    pub fn to_json(&self) -> Result<Zeroizing<String>, Error> {
        let key = |entry: &Entry| KeyText {
            key_data: entry.has_data().then(|| KeyData {
                type_url: entry.type_url.clone(),
                value: Zeroizing::new(BASE64.encode(&entry.value)),
                key_material_type: Scalar::named(&MATERIAL, entry.material),
            }),
            status: Scalar::named(&STATUS, entry.status),
            key_id: entry.id,
            output_prefix_type: Scalar::named(&PREFIX, entry.prefix),
        };
        let key = self.entries.iter().map(key).collect();
        Ok(Zeroizing::new(write(&KeysetText { primary_key_id: self.primary, key })?))
    }

    /// What anybody may know of it.
    pub(crate) fn info(&self) -> KeysetInfo {
        let key = |entry: &Entry| KeyInfo {
            type_url: entry.type_url.clone(),
            status: Scalar::named(&STATUS, entry.status),
            key_id: entry.id,
            output_prefix_type: Scalar::named(&PREFIX, entry.prefix),
        };
        let key_info = self.entries.iter().map(key).collect();
        KeysetInfo { primary_key_id: self.primary, key_info }
    }
}

/// Base64 of these bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// The bytes of base64, in either of its alphabets; `what` says what is wrong otherwise.
pub(crate) fn decode(what: &'static str, text: &str) -> Result<Vec<u8>, Error> {
    let base64 = if text.contains(['-', '_']) { BASE64URL } else { BASE64 };
    base64.decode(text).map_err(|_| Error::Malformed { what })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StreamingKey, Template};

    fn two_keys() -> Keyset {
        let mut keyset = Keyset::generate(Template::default().parameters()).unwrap();
        let other = StreamingKey::generate(Template::Aes128CtrHmacSha2564Kb.parameters()).unwrap();
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

    /// Its memory has the length that was counted: memory that grows leaves copies of keys.
    #[test]
    fn a_text_is_written_in_one_place() {
        let text = two_keys().to_json().unwrap();
        assert_eq!(text.capacity(), text.len());
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

    /// What `proto3`'s JSON allows, and Tink's libraries read.
    #[test]
    fn every_form_of_the_json_is_read() {
        let keyset = two_keys();
        let text = keyset.to_json().unwrap();
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let same = |what: &str, text: &str| {
            let read = Keyset::from_json(text);
            let read = read.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(read.encode(), keyset.encode(), "{what}");
        };
        let snake = text.replace("primaryKeyId", "primary_key_id").replace("keyData", "key_data");
        let snake = snake.replace("typeUrl", "type_url").replace("keyId", "key_id");
        let snake = snake.replace("keyMaterialType", "key_material_type");
        same("snake_case", &snake.replace("outputPrefixType", "output_prefix_type"));
        let numbers = text.replace("\"ENABLED\"", "1").replace("\"RAW\"", "3");
        same("enumerations by number", &numbers.replace("\"SYMMETRIC\"", "1"));
        let mut quoted = value(&text);
        quoted["primaryKeyId"] = quoted["primaryKeyId"].to_string().into();
        for key in quoted["key"].as_array_mut().unwrap() {
            key["keyId"] = key["keyId"].to_string().into();
        }
        same("numbers as text", &quoted.to_string());
        let mut urls = value(&text);
        for key in urls["key"].as_array_mut().unwrap() {
            let letters = key["keyData"]["value"].as_str().unwrap().replace('+', "-");
            key["keyData"]["value"] = letters.replace('/', "_").trim_end_matches('=').into();
        }
        same("base64url", &urls.to_string());
        let (plus, minus) = (decode("", "+/+/").unwrap(), decode("", "-_-_").unwrap());
        assert_eq!((plus, minus), (vec![0xfb, 0xff, 0xbf], vec![0xfb, 0xff, 0xbf]));
        assert!(decode("", "+_").is_err());
    }

    /// Tink drops the data of a key that is destroyed.
    #[test]
    fn a_destroyed_key_has_no_data() {
        let keyset = two_keys();
        let mut json: serde_json::Value = serde_json::from_str(&keyset.to_json().unwrap()).unwrap();
        json["key"][1]["status"] = "DESTROYED".into();
        json["key"][1].as_object_mut().unwrap().remove("keyData");
        for data in [None, Some(serde_json::Value::Null)] {
            if let Some(data) = data {
                json["key"][1]["keyData"] = data;
            }
            let read = Keyset::from_json(&json.to_string()).unwrap();
            assert_eq!(read.keys().count(), 1);
            let text = read.to_json().unwrap();
            assert_eq!(text.matches("keyData").count(), 1);
            for again in [Keyset::from_json(&text), Keyset::decode(&read.encode())] {
                assert_eq!(again.unwrap().to_json().unwrap(), text);
            }
        }
        json["key"][1]["status"] = "ENABLED".into();
        let error = Keyset::from_json(&json.to_string()).unwrap_err();
        assert!(error.to_string().contains("no key data"), "{error}");
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
