//! How a key seals: scheme, hashes and sizes, and Tink's names for usual choices.

use std::{fmt, str::FromStr};

use crate::{Error, SegmentLayout};

/// Bytes of the nonce's beginning, which the header has.
pub(crate) const PREFIX_BYTES: usize = 7;
/// Bytes of the key of HMAC, whatever its hash.
pub(crate) const HMAC_KEY_BYTES: usize = 32;

/// A hash function that HKDF or HMAC is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// SHA-1 (FIPS 180-4).
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl Hash {
    /// Bytes of its output.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }
}

/// How a segment is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// AES-GCM (SP 800-38D) with tags of 16 bytes.
    Gcm,
    /// AES in CTR mode, then HMAC (RFC 2104) over counter block and ciphertext.
    CtrHmac {
        /// The hash of HMAC.
        hash: Hash,
        /// Bytes of the tag, 10 at least.
        tag_bytes: u8,
    },
}

/// How a key seals. Sizes are as Tink's libraries allow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    scheme: Scheme,
    hkdf: Hash,
    derived_key_bytes: u8,
    segment_bytes: u32,
}

impl Parameters {
    /// Checks them: segment keys are of 16 or 32 bytes; a tag of HMAC has 10 bytes to as many as its
    /// hash; segments hold a byte more than header and tag at least, and 2^31 - 1 bytes at most.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn new(
        scheme: Scheme,
        hkdf: Hash,
        derived_key_bytes: u32,
        segment_bytes: u32,
    ) -> Result<Self, Error> {
        let derived_key_bytes = match derived_key_bytes {
            16 => 16,
            32 => 32,
            given => return Err(refused("derived key size", given, "16 or 32 bytes")),
        };
        if let Scheme::CtrHmac { hash, tag_bytes } = scheme
            && (tag_bytes < 10 || usize::from(tag_bytes) > hash.bytes())
        {
            let accepted = "10 bytes to as many as the hash has";
            return Err(refused("HMAC tag size", tag_bytes.into(), accepted));
        }
        let parameters = Self { scheme, hkdf, derived_key_bytes, segment_bytes };
        let least = parameters.header_bytes() + parameters.tag_bytes() + 1;
        if (segment_bytes as usize) < least || segment_bytes > i32::MAX as u32 {
            let accepted = "more than header and tag, and at most 2147483647 bytes";
            return Err(refused("ciphertext segment size", segment_bytes, accepted));
        }
        Ok(parameters)
    }

    /// How a segment is sealed.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The hash of HKDF (RFC 5869), which makes segment keys.
    #[must_use]
    pub fn hkdf(&self) -> Hash {
        self.hkdf
    }

    /// Bytes of the AES key that all segments of one file have; the header's salt is as long.
    #[must_use]
    pub fn derived_key_bytes(&self) -> usize {
        self.derived_key_bytes.into()
    }

    /// Bytes of a full segment of ciphertext with its tag.
    #[must_use]
    pub fn segment_bytes(&self) -> u32 {
        self.segment_bytes
    }

    /// Bytes of a segment's tag.
    #[must_use]
    pub fn tag_bytes(&self) -> usize {
        match self.scheme {
            Scheme::Gcm => 16,
            Scheme::CtrHmac { tag_bytes, .. } => tag_bytes.into(),
        }
    }

    /// Bytes of the header: its own length, the salt, and the beginning of all nonces.
    #[must_use]
    pub fn header_bytes(&self) -> usize {
        1 + self.derived_key_bytes() + PREFIX_BYTES
    }

    /// Where segments lie.
    #[must_use]
    pub fn layout(&self) -> SegmentLayout {
        SegmentLayout::new(self.segment_bytes, self.header_bytes(), self.tag_bytes())
    }
}

fn refused(what: &'static str, given: u32, accepted: &'static str) -> Error {
    Error::Parameter { what, given: given.into(), accepted }
}

/// Tink's named choices. All take SHA-256, and tags of 32 bytes where there is HMAC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Template {
    /// AES-128-GCM, segments of 4 KiB.
    Aes128GcmHkdf4Kb,
    /// AES-128-GCM, segments of 1 MiB.
    Aes128GcmHkdf1Mb,
    /// AES-256-GCM, segments of 4 KiB.
    Aes256GcmHkdf4Kb,
    /// AES-256-GCM, segments of 1 MiB.
    #[default]
    Aes256GcmHkdf1Mb,
    /// AES-128-CTR and HMAC, segments of 4 KiB.
    Aes128CtrHmacSha2564Kb,
    /// AES-128-CTR and HMAC, segments of 1 MiB.
    Aes128CtrHmacSha2561Mb,
    /// AES-256-CTR and HMAC, segments of 4 KiB.
    Aes256CtrHmacSha2564Kb,
    /// AES-256-CTR and HMAC, segments of 1 MiB.
    Aes256CtrHmacSha2561Mb,
}

impl Template {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Aes128GcmHkdf4Kb,
        Self::Aes128GcmHkdf1Mb,
        Self::Aes256GcmHkdf4Kb,
        Self::Aes256GcmHkdf1Mb,
        Self::Aes128CtrHmacSha2564Kb,
        Self::Aes128CtrHmacSha2561Mb,
        Self::Aes256CtrHmacSha2564Kb,
        Self::Aes256CtrHmacSha2561Mb,
    ];

    /// Tink's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aes128GcmHkdf4Kb => "AES128_GCM_HKDF_4KB",
            Self::Aes128GcmHkdf1Mb => "AES128_GCM_HKDF_1MB",
            Self::Aes256GcmHkdf4Kb => "AES256_GCM_HKDF_4KB",
            Self::Aes256GcmHkdf1Mb => "AES256_GCM_HKDF_1MB",
            Self::Aes128CtrHmacSha2564Kb => "AES128_CTR_HMAC_SHA256_4KB",
            Self::Aes128CtrHmacSha2561Mb => "AES128_CTR_HMAC_SHA256_1MB",
            Self::Aes256CtrHmacSha2564Kb => "AES256_CTR_HMAC_SHA256_4KB",
            Self::Aes256CtrHmacSha2561Mb => "AES256_CTR_HMAC_SHA256_1MB",
        }
    }

    /// What it stands for.
    #[must_use]
    pub fn parameters(self) -> Parameters {
        const HMAC: Scheme = Scheme::CtrHmac { hash: Hash::Sha256, tag_bytes: 32 };
        const KIB4: u32 = 4 << 10;
        const MIB: u32 = 1 << 20;
        let (scheme, derived_key_bytes, segment_bytes) = match self {
            Self::Aes128GcmHkdf4Kb => (Scheme::Gcm, 16, KIB4),
            Self::Aes128GcmHkdf1Mb => (Scheme::Gcm, 16, MIB),
            Self::Aes256GcmHkdf4Kb => (Scheme::Gcm, 32, KIB4),
            Self::Aes256GcmHkdf1Mb => (Scheme::Gcm, 32, MIB),
            Self::Aes128CtrHmacSha2564Kb => (HMAC, 16, KIB4),
            Self::Aes128CtrHmacSha2561Mb => (HMAC, 16, MIB),
            Self::Aes256CtrHmacSha2564Kb => (HMAC, 32, KIB4),
            Self::Aes256CtrHmacSha2561Mb => (HMAC, 32, MIB),
        };
        Parameters { scheme, hkdf: Hash::Sha256, derived_key_bytes, segment_bytes }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No template has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown template {0:?}; known are {names}", names = Template::ALL.map(Template::name).join(", "))]
pub struct NoSuchTemplate(String);

impl FromStr for Template {
    type Err = NoSuchTemplate;

    fn from_str(name: &str) -> Result<Self, NoSuchTemplate> {
        let mut all = Self::ALL.into_iter();
        all.find(|template| template.name() == name).ok_or_else(|| NoSuchTemplate(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_keep_the_rules_and_have_names() {
        for template in Template::ALL {
            let Parameters { scheme, hkdf, .. } = template.parameters();
            let [key, segment] = [
                template.parameters().derived_key_bytes() as u32,
                template.parameters().segment_bytes(),
            ];
            assert_eq!(Parameters::new(scheme, hkdf, key, segment).unwrap(), template.parameters());
            assert_eq!(template.to_string().parse(), Ok(template));
        }
        let error = "AES".parse::<Template>().unwrap_err().to_string();
        assert!(error.contains("\"AES\"") && error.contains("AES256_CTR_HMAC_SHA256_1MB"));
    }

    #[test]
    fn what_tink_refuses() {
        let hmac = |hash, tag_bytes| Scheme::CtrHmac { hash, tag_bytes };
        let fits =
            |scheme, key, segment| Parameters::new(scheme, Hash::Sha512, key, segment).is_ok();
        assert!(!fits(Scheme::Gcm, 24, 4096) && !fits(Scheme::Gcm, 0, 4096));
        assert!(fits(Scheme::Gcm, 32, 57) && !fits(Scheme::Gcm, 32, 56));
        assert!(fits(Scheme::Gcm, 16, i32::MAX as u32) && !fits(Scheme::Gcm, 16, 1 << 31));
        assert!(fits(hmac(Hash::Sha1, 20), 16, 45) && !fits(hmac(Hash::Sha1, 20), 16, 44));
        assert!(!fits(hmac(Hash::Sha1, 21), 16, 4096) && !fits(hmac(Hash::Sha256, 9), 16, 4096));
        assert!(fits(hmac(Hash::Sha512, 64), 32, 4096) && !fits(hmac(Hash::Sha512, 65), 32, 4096));
    }
}
