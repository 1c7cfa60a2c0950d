//! The metadata of LUKS2, JSON (on-disk format 1.1.4, section 3).

use std::{cmp::Reverse, collections::BTreeMap};

use argon2::Algorithm;
use base64::{Engine, engine::general_purpose::STANDARD};
use lanecrypt::Brief;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value, error::Category};

use crate::{
    Error, Header,
    derive::{Derivation, Pbkdf2},
    error::Problem,
    hash::Hash,
    header::{self, Payload},
    sectors,
};

/// The most key slots that LUKS2 has.
const MOST_SLOTS: usize = 32;

#[derive(Deserialize)]
struct Metadata {
    /// Read one by one, so that one that is not known here closes no other.
    keyslots: BTreeMap<String, Value>,
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
struct KeySlot {
    key_size: usize,
    area: Area,
    kdf: Kdf,
    af: Splitting,
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
    hash: String,
}

/// How the slot's key is derived, which has its type's own fields.
#[derive(Deserialize)]
struct Kdf {
    r#type: String,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

#[derive(Deserialize)]
struct Derived {
    hash: String,
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
    integrity: Option<Value>,
    #[serde(default)]
    flags: Vec<String>,
}

/// What tells whether a key is right, which has its type's own fields.
#[derive(Deserialize)]
struct Digest {
    r#type: String,
    keyslots: Vec<String>,
    segments: Vec<String>,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

#[derive(Deserialize)]
struct Expected {
    #[serde(flatten)]
    derivation: Derived,
    #[serde(rename = "digest", deserialize_with = "binary")]
    expected: Vec<u8>,
}

/// Says where the metadata are wrong. What stands there may be anything, of any length: it is not repeated.
fn unreadable(error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    Error::damaged(match error.classify() {
        Category::Data => {
            format!("its metadata: line {line}, column {column} is not what LUKS2 has there")
        }
        _ => format!("its metadata: {error}"),
    })
}

/// The header that the metadata describes; it ends with a zero, as in its area. `end` is where both copies end.
pub(crate) fn parse(area: &[u8], end: u64) -> Result<Header, Error> {
    let text = area.split(|&byte| byte == 0).next().unwrap_or_default();
    let metadata: Metadata = serde_json::from_slice(text).map_err(|error| unreadable(&error))?;
    if let Some(required) = metadata.config.requirements.mandatory.first() {
        return Err(Error::Requirement(required.clone()));
    }
    let (name, segment) = only_segment(&metadata)?;
    let digests = metadata.digests.values().filter(|digest| digest.segments.contains(name));
    let digest = digests.into_iter().next();
    let digest = digest.ok_or_else(|| Error::damaged("the disk's key has no digest"))?;
    let of_key = digest.of_key()?;
    let (given, most) = (metadata.keyslots.len(), MOST_SLOTS);
    if given > most {
        return Err(Error::damaged(format!("it has {given} key slots; LUKS2 has at most {most}")));
    }
    let slots = slots(&metadata, &digest.keyslots, &of_key);
    let end = metadata.keyslots.values().filter_map(area_end).fold(end, u64::max);
    Ok(Header { version: 2, end, payload: segment.payload()?, slots })
}

/// Where the area of a key slot ends, whatever its type, where it says so.
fn area_end(slot: &Value) -> Option<u64> {
    let number = |name: &str| slot["area"][name].as_str()?.parse::<u64>().ok();
    Some(number("offset")?.saturating_add(number("size")?))
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
        let bytes =
            match self.size.as_str() {
                "dynamic" => None,
                size => Some(size.parse().map_err(|_| {
                    Error::damaged(format!("a segment's size is {:?}", Brief(size)))
                })?),
            };
        sectors::check_bytes(self.sector_size)?;
        Ok(Payload {
            offset: self.offset,
            bytes,
            first_tweak: self.iv_tweak,
            sector_bytes: self.sector_size,
            cipher: self.encryption.clone(),
        })
    }
}

impl Digest {
    fn of_key(&self) -> Result<header::Digest, Problem> {
        if self.r#type != "pbkdf2" {
            let given = self.r#type.clone();
            return Err(Problem::Unsupported { what: "digest", given, supported: "pbkdf2" });
        }
        let Expected { derivation, expected } = fields("a digest", &self.parameters)?;
        Ok(header::Digest { derivation: derivation.pbkdf2()?, expected })
    }
}

/// The slots of these names, which the digest says have the disk's key: preferred ones first, none that
/// are to be ignored.
fn slots(
    metadata: &Metadata,
    names: &[String],
    digest: &header::Digest,
) -> Vec<Result<header::KeySlot, Problem>> {
    const NORMAL: u64 = 1;
    // Others are those of a reencryption, which is a requirement too.
    let is_ours = |slot: &Value| slot["type"] == "luks2";
    let priority = |slot: &Value| slot["priority"].as_u64().unwrap_or(NORMAL);
    let mut slots: Vec<_> = metadata
        .keyslots
        .iter()
        .filter(|(name, slot)| names.contains(name) && is_ours(slot) && priority(slot) > 0)
        .collect();
    slots.sort_by_key(|&(name, slot)| (Reverse(priority(slot)), name.len(), name));
    slots.into_iter().map(|(name, slot)| key_slot(name, slot, digest)).collect()
}

fn key_slot(name: &str, slot: &Value, digest: &header::Digest) -> Result<header::KeySlot, Problem> {
    let slot = KeySlot::deserialize(slot).map_err(|error| {
        Problem::Damaged(format!("key slot {:?}: {}", Brief(name), Brief(&error.to_string())))
    })?;
    Ok(header::KeySlot {
        derivation: slot.kdf.derivation()?,
        offset: slot.area.offset,
        cipher: slot.area.encryption,
        cipher_key_bytes: slot.area.key_size,
        stripes: slot.af.stripes,
        hash: Hash::try_from(slot.af.hash)?,
        key_bytes: slot.key_size,
        digest: digest.clone(),
    })
}

impl Derived {
    fn pbkdf2(self) -> Result<Pbkdf2, Problem> {
        let Self { hash, iterations, salt } = self;
        Ok(Pbkdf2 { hash: Hash::try_from(hash)?, iterations, salt })
    }
}

impl Kdf {
    fn derivation(&self) -> Result<Derivation, Problem> {
        let algorithm = match self.r#type.as_str() {
            "pbkdf2" => {
                let derived: Derived = fields("a key slot's pbkdf2", &self.parameters)?;
                return Ok(Derivation::Pbkdf2(derived.pbkdf2()?));
            }
            "argon2i" => Algorithm::Argon2i,
            "argon2id" => Algorithm::Argon2id,
            other => {
                let (what, given) = ("key derivation", other.to_owned());
                let supported = "pbkdf2, argon2i, argon2id";
                return Err(Problem::Unsupported { what, given, supported });
            }
        };
        let Costs { time, memory, cpus, salt } = fields("a key slot's argon2", &self.parameters)?;
        Ok(Derivation::Argon2 { algorithm, passes: time, memory_kib: memory, lanes: cpus, salt })
    }
}

/// The fields of a type, of `what`.
fn fields<'de, T: Deserialize<'de>>(
    what: &str,
    from: &'de Map<String, Value>,
) -> Result<T, Problem> {
    T::deserialize(from).map_err(|error| {
        let error = error.to_string();
        Problem::Damaged(format!("{what}: {}", Brief(&error)))
    })
}

/// A number as decimal text: what JSON's numbers cannot hold.
fn decimal<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// Bytes in base64.
fn binary<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
}
