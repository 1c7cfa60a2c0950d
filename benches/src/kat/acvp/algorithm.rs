//! The algorithms that prompts are answered for: their names, ciphers and keys.

use lanecrypt::{Direction, Mode};
use serde_json::{Map, Value};

use super::{error::AcvpError, fields::Fields};
use crate::kat::targets::Target;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A mode without a tag.
    Blocks(Mode),
    /// GCM or CCM.
    Sealed(Mode),
    /// GCM-SIV, which makes keys for its cipher.
    GcmSiv,
    /// GCM of associated data alone.
    Gmac,
    /// CMAC.
    Cmac,
    /// `CTR_DRBG`, which makes keys for its cipher.
    CtrDrbg,
}

impl Kind {
    /// The mode, where it is one with a tag of the registry's.
    pub(super) fn sealed(self) -> Option<Mode> {
        match self {
            Self::Sealed(mode) => Some(mode),
            Self::Gmac => Some(Mode::Gcm),
            _ => None,
        }
    }
}

/// An algorithm.
pub(super) struct Algorithm {
    name: &'static str,
    /// The registry's name.
    pub(super) cipher: &'static str,
    pub(super) kind: Kind,
}

/// What every group of a set needs.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) algorithm: &'a Algorithm,
    pub(super) target: &'a Target,
}

impl Context<'_> {
    /// Refuses a backend that is no type of Rust: only a type can be made anew with another key.
    pub(super) fn wants_type(self) -> Result<(), AcvpError> {
        if self.target.backend.id == "default" {
            return Ok(());
        }
        Err(AcvpError::NoType { algorithm: self.algorithm.name, backend: self.target.name() })
    }
}

const fn of(name: &'static str, cipher: &'static str, kind: Kind) -> Algorithm {
    Algorithm { name, cipher, kind }
}

static ALGORITHMS: [Algorithm; 18] = [
    of("ACVP-AES-ECB", "aes", Kind::Blocks(Mode::Ecb)),
    of("ACVP-AES-CBC", "aes", Kind::Blocks(Mode::Cbc)),
    of("ACVP-AES-CFB128", "aes", Kind::Blocks(Mode::Cfb)),
    of("ACVP-AES-OFB", "aes", Kind::Blocks(Mode::Ofb)),
    of("ACVP-AES-CTR", "aes", Kind::Blocks(Mode::Ctr)),
    of("ACVP-AES-XTS", "aes", Kind::Blocks(Mode::Xts)),
    of("ACVP-AES-GCM", "aes", Kind::Sealed(Mode::Gcm)),
    of("ACVP-AES-CCM", "aes", Kind::Sealed(Mode::Ccm)),
    of("ACVP-AES-GCM-SIV", "aes", Kind::GcmSiv),
    of("ACVP-AES-GMAC", "aes", Kind::Gmac),
    of("CMAC-AES", "aes", Kind::Cmac),
    of("ctrDRBG", "aes", Kind::CtrDrbg),
    of("ACVP-TDES-ECB", "tdes", Kind::Blocks(Mode::Ecb)),
    of("ACVP-TDES-CBC", "tdes", Kind::Blocks(Mode::Cbc)),
    of("ACVP-TDES-CFB64", "tdes", Kind::Blocks(Mode::Cfb)),
    of("ACVP-TDES-OFB", "tdes", Kind::Blocks(Mode::Ofb)),
    of("ACVP-TDES-CTR", "tdes", Kind::Blocks(Mode::Ctr)),
    of("CMAC-TDES", "tdes", Kind::Cmac),
];

impl Algorithm {
    pub(super) fn named(name: &str) -> Result<&'static Self, AcvpError> {
        ALGORITHMS.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
            let known = ALGORITHMS.each_ref().map(|algorithm| algorithm.name).join(", ");
            AcvpError::Algorithm { given: name.to_owned(), known }
        })
    }

    /// The cipher of a test has three keys, each in a field of its own.
    pub(super) fn has_three_keys(&self) -> bool {
        self.cipher == "tdes"
    }

    /// The key of a test, which is as long as its group says.
    pub(super) fn key(&self, group: Fields<'_>, test: Fields<'_>) -> Result<Vec<u8>, AcvpError> {
        if self.has_three_keys() {
            return KEYS.into_iter().try_fold(Vec::new(), |mut key, field| {
                key.extend(exactly(test, field, 8)?);
                Ok(key)
            });
        }
        // XTS has two of that length.
        let count = if self.kind == Kind::Blocks(Mode::Xts) { 2 } else { 1 };
        exactly(test, "key", count * group.bits_as_bytes("keyLen")?)
    }

    /// Writes a key as a test has it.
    pub(super) fn write_key(&self, key: &[u8], into: &mut Map<String, Value>) {
        if self.has_three_keys() {
            for (field, part) in KEYS.into_iter().zip(key.chunks(8)) {
                into.insert(field.to_owned(), hex(part));
            }
        } else {
            into.insert("key".to_owned(), hex(key));
        }
    }
}

const KEYS: [&str; 3] = ["key1", "key2", "key3"];

/// Bytes of a field, as many as are wanted.
pub(super) fn exactly(
    fields: Fields<'_>,
    field: &'static str,
    bytes: usize,
) -> Result<Vec<u8>, AcvpError> {
    let value = fields.bytes(field)?;
    if value.len() == bytes {
        return Ok(value);
    }
    Err(fields.refused(field, format!("{bytes} bytes in hex")))
}

/// The direction of a group, and the fields of what goes in and what comes out.
pub(super) fn direction(
    group: Fields<'_>,
) -> Result<(Direction, &'static str, &'static str), AcvpError> {
    match group.text("direction")? {
        "encrypt" => Ok((Direction::Encrypt, "pt", "ct")),
        "decrypt" => Ok((Direction::Decrypt, "ct", "pt")),
        _ => Err(group.refused("direction", "encrypt or decrypt")),
    }
}

/// Bytes as responses have them.
pub(super) fn hex(bytes: &[u8]) -> Value {
    Value::String(hex::encode_upper(bytes))
}
