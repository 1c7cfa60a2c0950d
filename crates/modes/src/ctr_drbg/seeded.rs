//! A generator that takes its seeds from a source of entropy, with the traits of the crate `rand_core` 0.10.

use core::{error, fmt};

use ::cipher::KeyInit;
use rand_core::{TryCryptoRng, TryRng};

use super::{CtrDrbg, DrbgError, MAX_REQUEST_BYTES, MAX_REQUESTS, MAX_SEED_BYTES, Seed};
use crate::BlockEngine;

/// A [`CtrDrbg`] without derivation function, and its source of entropy, of whose bytes every bit must be random.
/// Requests have any length: they are answered in parts of [`MAX_REQUEST_BYTES`].
///
/// With the source `getrandom::SysRng`, it makes random bytes from the system's entropy.
pub struct Seeded<C: BlockEngine, S> {
    drbg: CtrDrbg<C>,
    source: S,
    /// Answers from one seed.
    most: u64,
}

/// Why a [`Seeded`] does not answer.
#[derive(Debug)]
pub enum SeededError<E> {
    /// The source gave no entropy.
    Source(E),
    /// The generator failed.
    Drbg(DrbgError),
}

impl<C: BlockEngine + KeyInit, S: TryCryptoRng> Seeded<C, S> {
    /// Takes a first seed, and a new one after each `most` answers, of at most [`MAX_REQUEST_BYTES`] each. With 1, each
    /// answer has a seed of its own (prediction resistance, SP 800-90A, 8.8). A number below 1 is taken for 1, one above
    /// [`MAX_REQUESTS`] for that.
    ///
    /// # Errors
    /// The source's, or the engine's.
    pub fn new(mut source: S, most: u64) -> Result<Self, SeededError<S::Error>> {
        let seed = Self::seed_from(&mut source)?;
        let drbg = CtrDrbg::with_full_entropy(&seed[..CtrDrbg::<C>::SEED_BYTES], &[]);
        let most = most.clamp(1, MAX_REQUESTS);
        Ok(Self { drbg: drbg.map_err(SeededError::Drbg)?, source, most })
    }

    /// Takes a new seed at once, for instance in a process that was forked.
    ///
    /// # Errors
    /// As [`new`](Self::new); the generator is as before then.
    pub fn reseed(&mut self) -> Result<(), SeededError<S::Error>> {
        let seed = Self::seed_from(&mut self.source)?;
        self.drbg.reseed(&seed[..CtrDrbg::<C>::SEED_BYTES], &[]).map_err(SeededError::Drbg)
    }

    fn seed_from(source: &mut S) -> Result<Seed, SeededError<S::Error>> {
        let mut seed = Seed::new([0; MAX_SEED_BYTES]);
        let bytes = &mut seed[..CtrDrbg::<C>::SEED_BYTES];
        source.try_fill_bytes(bytes).map_err(SeededError::Source)?;
        Ok(seed)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SeededError<S::Error>> {
        for part in bytes.chunks_mut(MAX_REQUEST_BYTES) {
            if self.drbg.requests >= self.most {
                self.reseed()?;
            }
            self.drbg.generate(part, &[]).map_err(SeededError::Drbg)?;
        }
        Ok(())
    }
}

impl<C: BlockEngine + KeyInit, S: TryCryptoRng<Error: 'static>> TryRng for Seeded<C, S> {
    type Error = SeededError<S::Error>;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Where it fails, `dst` is zeros.
    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Self::Error> {
        let filled = self.fill(dst);
        if filled.is_err() {
            dst.fill(0);
        }
        filled
    }
}

impl<C: BlockEngine + KeyInit, S: TryCryptoRng<Error: 'static>> TryCryptoRng for Seeded<C, S> {}

impl<E: fmt::Display> fmt::Display for SeededError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => write!(f, "the source of entropy: {error}"),
            Self::Drbg(error) => error.fmt(f),
        }
    }
}

impl<E: error::Error + 'static> error::Error for SeededError<E> {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Source(error) => Some(error),
            Self::Drbg(error) => error.source(),
        }
    }
}

impl<C: BlockEngine, S> fmt::Debug for Seeded<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seeded").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;

    use lanecrypt_aes::Aes128;

    use super::*;

    struct Zeros;

    impl TryRng for Zeros {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(0)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(0)
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            bytes.fill(0);
            Ok(())
        }
    }

    impl TryCryptoRng for Zeros {}

    #[test]
    fn a_seed_is_no_older_than_the_standard_allows() {
        for (given, expected) in [(0, 1), (1, 1), (7, 7), (u64::MAX, MAX_REQUESTS)] {
            let seeded = Seeded::<Aes128, _>::new(Zeros, given).expect("a seed");
            assert_eq!(seeded.most, expected);
        }
    }
}
