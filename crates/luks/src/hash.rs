//! The hashes that LUKS headers name, and PBKDF2 with them.

use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use zeroize::Zeroize;

use crate::error::Problem;

/// A hash function by its name in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha1,
    Sha256,
    Sha512,
}

impl Hash {
    /// Bytes of a digest.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }

    /// Fills `output`, which is no longer than a digest, with the start of the digest of `parts`.
    pub(crate) fn digest(self, parts: [&[u8]; 2], output: &mut [u8]) {
        fn fill<D: Digest>(parts: [&[u8]; 2], output: &mut [u8]) {
            let mut digest = parts.iter().fold(D::new(), D::chain_update).finalize();
            output.copy_from_slice(&digest[..output.len()]);
            // A piece of split key material.
            digest.as_mut_slice().zeroize();
        }
        match self {
            Self::Sha1 => fill::<Sha1>(parts, output),
            Self::Sha256 => fill::<Sha256>(parts, output),
            Self::Sha512 => fill::<Sha512>(parts, output),
        }
    }

    /// PBKDF2 with HMAC (RFC 8018, 5.2): fills `output`.
    pub(crate) fn pbkdf2(self, password: &[u8], salt: &[u8], iterations: u32, output: &mut [u8]) {
        match self {
            Self::Sha1 => pbkdf2_hmac::<Sha1>(password, salt, iterations, output),
            Self::Sha256 => pbkdf2_hmac::<Sha256>(password, salt, iterations, output),
            Self::Sha512 => pbkdf2_hmac::<Sha512>(password, salt, iterations, output),
        }
    }
}

impl TryFrom<String> for Hash {
    type Error = Problem;

    fn try_from(given: String) -> Result<Self, Problem> {
        match given.as_str() {
            "sha1" => Ok(Self::Sha1),
            "sha256" => Ok(Self::Sha256),
            "sha512" => Ok(Self::Sha512),
            _ => {
                Err(Problem::Unsupported { what: "hash", given, supported: "sha1, sha256, sha512" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::*;

    /// It does not compile where a build of this crate alone leaves a hash with what it hashed.
    #[test]
    fn hashes_are_cleared() {
        fn is_cleared<D: Digest + ZeroizeOnDrop>() {}
        is_cleared::<Sha1>();
        is_cleared::<Sha256>();
        is_cleared::<Sha512>();
    }
}
