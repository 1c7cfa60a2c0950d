//! Keys from passphrases: PBKDF2 and Argon2, with limits to what a header may ask for.

use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

use crate::{Error, hash::Hash};

/// The most that a header may ask for, so that a made-up one cannot hold a machine up for long: of one key
/// slot, and of all together, of which each that is tried takes its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivationLimits {
    /// Memory of Argon2, in KiB. By default 4 GiB, the most that cryptsetup asks for.
    pub argon2_memory_kib: u32,
    /// Passes of Argon2 over its memory. By default 1,000.
    pub argon2_passes: u32,
    /// KiB that Argon2 goes over for all key slots together: memory times passes. By default 256 GiB,
    /// some minutes: 64 key slots of 1 GiB and four passes, as cryptsetup makes them.
    pub argon2_total_kib: u64,
    /// Iterations of PBKDF2. By default 100 million, a minute or so.
    pub pbkdf2_iterations: u32,
    /// Iterations of PBKDF2 for all key slots together, and for the digests that tell whether a key is
    /// right; of a key that is longer than the hash's digest, as many for each digest that it takes. By default
    /// 400 million, some minutes.
    pub pbkdf2_total_iterations: u64,
}

impl DerivationLimits {
    /// The default limits.
    pub const DEFAULT: Self = Self {
        argon2_memory_kib: 4 << 20,
        argon2_passes: 1_000,
        argon2_total_kib: 256 << 20,
        pbkdf2_iterations: 100_000_000,
        pbkdf2_total_iterations: 400_000_000,
    };
}

impl Default for DerivationLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What is left of the limits while the key slots of a header are tried.
pub(crate) struct Budget<'a> {
    limits: &'a DerivationLimits,
    argon2_kib: u64,
    iterations: u64,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: &'a DerivationLimits) -> Self {
        Self { limits, argon2_kib: 0, iterations: 0 }
    }

    /// Takes the work of one PBKDF2, which makes each of `digests` by this many iterations.
    fn take_iterations(&mut self, iterations: u32, digests: usize) -> Result<(), Error> {
        within("iterations of PBKDF2", iterations.into(), self.limits.pbkdf2_iterations.into())?;
        let what = "iterations of PBKDF2, together with the key slots before it";
        let taken = u64::from(iterations).saturating_mul(digests as u64);
        let all = self.iterations.saturating_add(taken);
        within(what, all, self.limits.pbkdf2_total_iterations)?;
        self.iterations = all;
        Ok(())
    }

    /// Takes the work of one Argon2.
    fn take_argon2(&mut self, memory_kib: u32, passes: u32) -> Result<(), Error> {
        let limits = self.limits;
        within("KiB of memory for Argon2", memory_kib.into(), limits.argon2_memory_kib.into())?;
        within("passes of Argon2", passes.into(), limits.argon2_passes.into())?;
        let what = "KiB that Argon2 goes over, together with the key slots before it";
        let all = self.argon2_kib.saturating_add(u64::from(memory_kib) * u64::from(passes));
        within(what, all, limits.argon2_total_kib)?;
        self.argon2_kib = all;
        Ok(())
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
        budget: &mut Budget<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        budget.take_iterations(self.iterations, bytes.div_ceil(self.hash.bytes()))?;
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
        budget: &mut Budget<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        match self {
            Self::Pbkdf2(pbkdf2) => pbkdf2.derive(passphrase, bytes, budget),
            Self::Argon2 { algorithm, passes, memory_kib, lanes, salt } => {
                budget.take_argon2(*memory_kib, *passes)?;
                let refused = |error| Error::of_argon2(error, *memory_kib);
                let params = Params::new(*memory_kib, *passes, *lanes, Some(bytes));
                let argon2 = Argon2::new(*algorithm, Version::V0x13, params.map_err(refused)?);
                let mut key = Zeroizing::new(vec![0; bytes]);
                argon2.hash_password_into(passphrase, salt, &mut key).map_err(refused)?;
                Ok(key)
            }
        }
    }
}

fn within(what: &'static str, given: u64, limit: u64) -> Result<(), Error> {
    if given <= limit { Ok(()) } else { Err(Error::Limit { what, given, limit }) }
}
