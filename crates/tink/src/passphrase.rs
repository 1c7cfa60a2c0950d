//! Keysets under a passphrase: Argon2id (RFC 9106) makes the key of an AES-256-GCM that encrypts the
//! keyset as Tink does.

use argon2::{Algorithm, Argon2, Params, Version};
use lanecrypt::{Gcm, aes::Aes256, cipher::KeyInit};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    Error, Keyset,
    json::{EncryptedKeyset, decode, encode, parse, write},
    random,
};

const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const SALT_BYTES: usize = 16;

/// What trying a passphrase costs.
///
/// Costs are read from files that anybody may have written, so they are capped: at 2 GiB, 16 passes
/// and 16 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB, 8 a lane at least.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes, which are independent of each other within a pass.
    pub lanes: u32,
}

impl Default for Cost {
    /// 64 MiB, three passes and four lanes: the second choice of RFC 9106, section 4.
    fn default() -> Self {
        Self { memory_kib: 64 << 10, passes: 3, lanes: 4 }
    }
}

impl Cost {
    fn check(&self) -> Result<Params, Error> {
        let within = |what, given: u32, least: u64, most: u64| {
            let given = u64::from(given);
            if (least..=most).contains(&given) {
                Ok(())
            } else {
                Err(Error::Cost { what, given, least, most })
            }
        };
        within("number of lanes", self.lanes, 1, 16)?;
        within("number of passes", self.passes, 1, 16)?;
        within("memory in KiB", self.memory_kib, 8 * u64::from(self.lanes), 2 << 20)?;
        Params::new(self.memory_kib, self.passes, self.lanes, Some(32))
            .map_err(|_| Error::Malformed { what: "costs that Argon2id does not take" })
    }
}

impl Cost {
    /// What trying the passphrase of a keyset costs that
    /// [`to_json_with_passphrase`](Keyset::to_json_with_passphrase) wrote.
    ///
    /// # Errors
    /// [`Error::Json`] for what is no such file.
    pub fn of_json(text: &str) -> Result<Self, Error> {
        Ok(parse::<Wrapped>("keyset under a passphrase", text)?.kdf.cost())
    }
}

impl Kdf {
    fn cost(&self) -> Cost {
        Cost { memory_kib: self.memory_kib, passes: self.passes, lanes: self.lanes }
    }
}

/// The file: how the passphrase becomes a key, and Tink's encrypted keyset.
#[derive(Serialize, Deserialize)]
struct Wrapped {
    kdf: Kdf,
    tink: EncryptedKeyset,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kdf {
    algorithm: String,
    version: u32,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: String,
}

const ALGORITHM: &str = "argon2id";
const VERSION: u32 = 0x13;

impl Keyset {
    /// Encrypts the keyset under a passphrase, as JSON: `kdf` says how the passphrase becomes a key of
    /// AES-256-GCM, and `tink` is an encrypted keyset as Tink's libraries read it with such a key.
    ///
    /// # Errors
    /// [`Error::Cost`], [`Error::Memory`], [`Error::Random`].
    pub fn to_json_with_passphrase(&self, passphrase: &[u8], cost: Cost) -> Result<String, Error> {
        let salt = random::bytes(SALT_BYTES)?;
        let gcm = cipher(passphrase, &salt, cost)?;
        let mut sealed = random::bytes(NONCE_BYTES)?.to_vec();
        let mut text = self.encode();
        let mut tag = [0; TAG_BYTES];
        gcm.encrypt(&sealed, b"", text.as_mut_slice().into(), &mut tag)?;
        sealed.extend_from_slice(&text);
        sealed.extend_from_slice(&tag);
        write(&Wrapped {
            kdf: Kdf {
                algorithm: ALGORITHM.to_owned(),
                version: VERSION,
                memory_kib: cost.memory_kib,
                passes: cost.passes,
                lanes: cost.lanes,
                salt: encode(&salt),
            },
            tink: EncryptedKeyset { encrypted_keyset: encode(&sealed), keyset_info: self.info() },
        })
    }

    /// Reads what [`to_json_with_passphrase`](Self::to_json_with_passphrase) writes.
    ///
    /// # Errors
    /// [`Error::WrongPassphrase`]; [`Error::Cost`] where the file asks for more than is willingly
    /// spent, and [`Error::Memory`] for more than there is; [`Error::Json`], [`Error::Malformed`],
    /// [`Error::Parameter`] for what is no such file.
    pub fn from_json_with_passphrase(text: &str, passphrase: &[u8]) -> Result<Self, Error> {
        let Wrapped { kdf, tink } = parse("keyset under a passphrase", text)?;
        if kdf.algorithm != ALGORITHM || kdf.version != VERSION {
            return Err(Error::Malformed { what: "the kdf is not argon2id, version 19" });
        }
        let salt = decode("the kdf's salt is not base64", &kdf.salt)?;
        let sealed = decode("the encrypted keyset is not base64", &tink.encrypted_keyset)?;
        let short = Error::Malformed { what: "the encrypted keyset is shorter than nonce and tag" };
        let Some((nonce, rest)) = sealed.split_at_checked(NONCE_BYTES) else { return Err(short) };
        let Some((text, tag)) = rest.split_last_chunk::<TAG_BYTES>() else { return Err(short) };
        let mut text = Zeroizing::new(text.to_vec());
        cipher(passphrase, &salt, kdf.cost())?
            .decrypt(nonce, b"", text.as_mut_slice().into(), tag)
            .map_err(|_| Error::WrongPassphrase)?;
        Self::decode(&text)
    }
}

/// The cipher whose key the passphrase makes.
fn cipher(passphrase: &[u8], salt: &[u8], cost: Cost) -> Result<Gcm<Aes256>, Error> {
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost.check()?);
    let mut key = Zeroizing::new([0; 32]);
    let derived = argon2.hash_password_into(passphrase, salt, key.as_mut_slice());
    derived.map_err(|error| refusal(error, cost))?;
    Ok(Gcm::new((&*key).into()))
}

fn refusal(error: argon2::Error, cost: Cost) -> Error {
    match error {
        argon2::Error::OutOfMemory => Error::Memory { bytes: u64::from(cost.memory_kib) << 10 },
        _ => Error::Malformed { what: "a salt or passphrase that Argon2id does not take" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Template;

    const CHEAP: Cost = Cost { memory_kib: 64, passes: 1, lanes: 2 };

    #[test]
    fn only_the_passphrase_opens() {
        let keyset = Keyset::generate(Template::default().parameters()).unwrap();
        let text = keyset.to_json_with_passphrase(b"correct horse", CHEAP).unwrap();
        let opened = Keyset::from_json_with_passphrase(&text, b"correct horse").unwrap();
        assert_eq!(opened.encode(), keyset.encode());
        let error = Keyset::from_json_with_passphrase(&text, b"correct horsf").unwrap_err();
        assert!(matches!(error, Error::WrongPassphrase) && error.is_not_authentic());
        assert_eq!(Cost::of_json(&text).unwrap(), CHEAP);
        let again = keyset.to_json_with_passphrase(b"correct horse", CHEAP).unwrap();
        assert_ne!(text, again);
    }

    /// As Tink shows the keys of an encrypted keyset.
    #[test]
    fn what_anybody_may_know_is_beside_the_encrypted_keyset() {
        let keyset = Keyset::generate(Template::default().parameters()).unwrap();
        let text = keyset.to_json_with_passphrase(b"", CHEAP).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let id = keyset.primary_id();
        let key = serde_json::json!({
            "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey",
            "status": "ENABLED",
            "keyId": id,
            "outputPrefixType": "RAW",
        });
        let info = serde_json::json!({ "primaryKeyId": id, "keyInfo": [key] });
        assert_eq!(json["tink"]["keysetInfo"], info);
    }

    /// Which is of the machine, and not of what it was given.
    #[test]
    fn too_little_memory_is_named() {
        let error = refusal(argon2::Error::OutOfMemory, Cost::default());
        assert!(matches!(error, Error::Memory { bytes: 0x400_0000 }), "{error}");
        let error = refusal(argon2::Error::SaltTooShort, CHEAP);
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
    }

    #[test]
    fn costs_of_a_file_are_capped() {
        let keyset = Keyset::generate(Template::default().parameters()).unwrap();
        let text = keyset.to_json_with_passphrase(b"", CHEAP).unwrap();
        let changes = [
            ("\"memoryKib\": 64", "\"memoryKib\": 2097153", "memory in KiB"),
            ("\"memoryKib\": 64", "\"memoryKib\": 15", "memory in KiB"),
            ("\"passes\": 1", "\"passes\": 17", "passes"),
            ("\"lanes\": 2", "\"lanes\": 0", "lanes"),
        ];
        for (from, to, named) in changes {
            assert!(text.contains(from));
            let error = Keyset::from_json_with_passphrase(&text.replace(from, to), b"");
            let error = error.expect_err("it costs too much");
            assert!(matches!(error, Error::Cost { .. }) && error.to_string().contains(named));
        }
        let other = text.replace("argon2id", "scrypt");
        assert!(matches!(
            Keyset::from_json_with_passphrase(&other, b""),
            Err(Error::Malformed { .. })
        ));
    }
}
