//! The metadata of LUKS2, JSON (on-disk format 1.1.4, section 3).

use std::collections::BTreeMap;

use argon2::Algorithm;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    Error, Header,
    derive::{Derivation, Pbkdf2},
    hash::Hash,
    header::{self, Payload},
};

#[derive(Deserialize)]
struct Metadata {
    keyslots: BTreeMap<String, Slot>,
    segments: BTreeMap<String, Segment>,
    digests: BTreeMap<String, Digest>,
    config: Config,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    requirements: Requirements,
}

#[derive(Default, Deserialize)]
struct Requirements {
    #[serde(default)]
    mandatory: Vec<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Slot {
    #[serde(rename = "luks2")]
    Luks2(KeySlot),
    /// Such as those of a reencryption, which is a requirement too.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct KeySlot {
    key_size: usize,
    area: Area,
    kdf: Kdf,
    af: Splitting,
    priority: Option<u8>,
}

#[derive(Deserialize)]
struct Area {
    #[serde(deserialize_with = "decimal")]
    offset: u64,
    encryption: String,
    key_size: usize,
}

#[derive(Deserialize)]
struct Splitting {
    stripes: usize,
    hash: Hash,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Kdf {
    #[serde(rename = "pbkdf2")]
    Pbkdf2(Derived),
    #[serde(rename = "argon2i")]
    Argon2i(Costs),
    #[serde(rename = "argon2id")]
    Argon2id(Costs),
}

#[derive(Deserialize)]
struct Derived {
    hash: Hash,
    iterations: u32,
    #[serde(deserialize_with = "binary")]
    salt: Vec<u8>,
}

#[derive(Deserialize)]
struct Costs {
    time: u32,
    memory: u32,
    cpus: u32,
    #[serde(deserialize_with = "binary")]
    salt: Vec<u8>,
}

#[derive(Deserialize)]
struct Segment {
    r#type: String,
    #[serde(deserialize_with = "decimal")]
    offset: u64,
    size: String,
    #[serde(default, deserialize_with = "decimal")]
    iv_tweak: u64,
    #[serde(default)]
    encryption: String,
    #[serde(default)]
    sector_size: u32,
    integrity: Option<serde_json::Value>,
    #[serde(default)]
    flags: Vec<String>,
}

#[derive(Deserialize)]
struct Digest {
    r#type: String,
    keyslots: Vec<String>,
    segments: Vec<String>,
    #[serde(flatten)]
    derivation: Derived,
    #[serde(rename = "digest", deserialize_with = "binary")]
    expected: Vec<u8>,
}

/// The header that the metadata describes; it ends with a zero, as in its area.
pub(crate) fn parse(area: &[u8]) -> Result<Header, Error> {
    let text = area.split(|&byte| byte == 0).next().unwrap_or_default();
    let metadata: Metadata = serde_json::from_slice(text)
        .map_err(|error| Error::damaged(format!("its metadata: {error}")))?;
    if let Some(required) = metadata.config.requirements.mandatory.first() {
        return Err(Error::Requirement(required.clone()));
    }
    let (name, segment) = only_segment(&metadata)?;
    let digests = metadata.digests.values().filter(|digest| digest.segments.contains(name));
    let digest = digests.into_iter().next();
    let digest = digest.ok_or_else(|| Error::damaged("the disk's key has no digest"))?;
    if digest.r#type != "pbkdf2" {
        let given = digest.r#type.clone();
        return Err(Error::Unsupported { what: "digest", given, supported: "pbkdf2" });
    }
    Ok(Header { version: 2, payload: segment.payload()?, slots: slots(&metadata, digest) })
}

/// The one segment that is the disk; copies of one that a reencryption leaves are none.
fn only_segment(metadata: &Metadata) -> Result<(&String, &Segment), Error> {
    let is_backup = |segment: &Segment| segment.flags.iter().any(|flag| flag.starts_with("backup"));
    let mut segments = metadata.segments.iter().filter(|(_, segment)| !is_backup(segment));
    match (segments.next(), segments.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Error::damaged("there is no segment")),
        _ => Err(Error::Unsupported {
            what: "number of segments",
            given: metadata.segments.len().to_string(),
            supported: "one",
        }),
    }
}

impl Segment {
    fn payload(&self) -> Result<Payload, Error> {
        if self.r#type != "crypt" {
            let given = self.r#type.clone();
            return Err(Error::Unsupported { what: "segment", given, supported: "crypt" });
        }
        if let Some(integrity) = &self.integrity {
            let given = integrity.to_string();
            return Err(Error::Unsupported { what: "integrity", given, supported: "none" });
        }
        let bytes = match self.size.as_str() {
            "dynamic" => None,
            size => Some(
                size.parse()
                    .map_err(|_| Error::damaged(format!("a segment's size is {size:?}")))?,
            ),
        };
        Ok(Payload {
            offset: self.offset,
            bytes,
            first_tweak: self.iv_tweak,
            sector_bytes: self.sector_size,
            cipher: self.encryption.clone(),
        })
    }
}

/// The slots that the digest says have the disk's key: preferred ones first, none that are to be ignored.
fn slots(metadata: &Metadata, digest: &Digest) -> Vec<header::KeySlot> {
    const NORMAL: u8 = 1;
    let slots = metadata.keyslots.iter().filter(|(name, _)| digest.keyslots.contains(name));
    let mut slots: Vec<_> = slots
        .filter_map(|(name, slot)| match slot {
            Slot::Luks2(slot) => Some((slot.priority.unwrap_or(NORMAL), name, slot)),
            Slot::Other => None,
        })
        .filter(|(priority, ..)| *priority > 0)
        .collect();
    slots.sort_by_key(|&(priority, name, _)| (u8::MAX - priority, name.len(), name));
    slots.into_iter().map(|(_, _, slot)| slot.with(digest)).collect()
}

impl KeySlot {
    fn with(&self, digest: &Digest) -> header::KeySlot {
        header::KeySlot {
            derivation: self.kdf.derivation(),
            offset: self.area.offset,
            cipher: self.area.encryption.clone(),
            cipher_key_bytes: self.area.key_size,
            stripes: self.af.stripes,
            hash: self.af.hash,
            key_bytes: self.key_size,
            digest: header::Digest {
                derivation: digest.derivation.pbkdf2(),
                expected: digest.expected.clone(),
            },
        }
    }
}

impl Derived {
    fn pbkdf2(&self) -> Pbkdf2 {
        Pbkdf2 { hash: self.hash, iterations: self.iterations, salt: self.salt.clone() }
    }
}

impl Kdf {
    fn derivation(&self) -> Derivation {
        let (algorithm, costs) = match self {
            Self::Pbkdf2(derived) => return Derivation::Pbkdf2(derived.pbkdf2()),
            Self::Argon2i(costs) => (Algorithm::Argon2i, costs),
            Self::Argon2id(costs) => (Algorithm::Argon2id, costs),
        };
        Derivation::Argon2 {
            algorithm,
            passes: costs.time,
            memory_kib: costs.memory,
            lanes: costs.cpus,
            salt: costs.salt.clone(),
        }
    }
}

/// A number as decimal text: what JSON's numbers cannot hold.
fn decimal<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// Bytes in base64.
fn binary<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
}
