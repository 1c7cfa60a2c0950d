//! Keys from passphrases: PBKDF2 and Argon2, with limits to what a header may ask for.

use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

use crate::{Error, hash::Hash};

/// The most that a header may ask for, so that a made-up one cannot hold a machine up for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory of Argon2, in KiB. By default 4 GiB, the most that cryptsetup asks for.
    pub argon2_memory_kib: u32,
    /// Passes of Argon2 over its memory. By default 1,000.
    pub argon2_passes: u32,
    /// Iterations of PBKDF2. By default 100 million, a minute or so.
    pub pbkdf2_iterations: u32,
}

impl Limits {
    /// What holds where nobody says otherwise.
    pub const DEFAULT: Self =
        Self { argon2_memory_kib: 4 << 20, argon2_passes: 1_000, pbkdf2_iterations: 100_000_000 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How a key slot's key comes from a passphrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Derivation {
    Pbkdf2(Pbkdf2),
    Argon2 { algorithm: Algorithm, passes: u32, memory_kib: u32, lanes: u32, salt: Vec<u8> },
}

/// PBKDF2's parameters: of a key slot, or of the digest that tells whether a volume key is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pbkdf2 {
    pub(crate) hash: Hash,
    pub(crate) iterations: u32,
    pub(crate) salt: Vec<u8>,
}

impl Pbkdf2 {
    pub(crate) fn derive(
        &self,
        secret: &[u8],
        bytes: usize,
        limits: &Limits,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        within("iterations of PBKDF2", self.iterations, limits.pbkdf2_iterations)?;
        if self.iterations == 0 {
            return Err(Error::damaged("PBKDF2 of no iterations"));
        }
        let mut key = Zeroizing::new(vec![0; bytes]);
        self.hash.pbkdf2(secret, &self.salt, self.iterations, &mut key);
        Ok(key)
    }
}

impl Derivation {
    pub(crate) fn derive(
        &self,
        passphrase: &[u8],
        bytes: usize,
        limits: &Limits,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        match self {
            Self::Pbkdf2(pbkdf2) => pbkdf2.derive(passphrase, bytes, limits),
            Self::Argon2 { algorithm, passes, memory_kib, lanes, salt } => {
                within("KiB of memory for Argon2", *memory_kib, limits.argon2_memory_kib)?;
                within("passes of Argon2", *passes, limits.argon2_passes)?;
                let damaged = |error| Error::damaged(format!("Argon2: {error}"));
                let params = Params::new(*memory_kib, *passes, *lanes, Some(bytes));
                let argon2 = Argon2::new(*algorithm, Version::V0x13, params.map_err(damaged)?);
                let mut key = Zeroizing::new(vec![0; bytes]);
                argon2.hash_password_into(passphrase, salt, &mut key).map_err(damaged)?;
                Ok(key)
            }
        }
    }
}

fn within(what: &'static str, given: u32, limit: u32) -> Result<(), Error> {
    if given <= limit {
        return Ok(());
    }
    Err(Error::Limit { what, given: given.into(), limit: limit.into() })
}
