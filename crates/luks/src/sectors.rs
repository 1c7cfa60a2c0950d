//! The cipher over sectors: which one a header names, and the tweak of each sector.

use std::fmt;

use lanecrypt::{Direction, Xts, cipher::InOutBuf, find_cipher, io::RunsUnits, modes::UnitNumbers};

use zeroize::Zeroizing;

use crate::{Error, cbc::Cbc, hash::Hash};

/// Bytes of a sector that a tweak of `plain64` counts, whatever the sectors of the cipher are.
pub(crate) const TWEAK_BYTES: u64 = 512;
/// The sectors that a header may name.
const SECTOR_BYTES: [u32; 4] = [512, 1024, 2048, 4096];

/// Checks the sectors that a header names.
///
/// # Errors
/// [`Error::Unsupported`].
pub(crate) fn check_bytes(bytes: u32) -> Result<(), Error> {
    if SECTOR_BYTES.contains(&bytes) {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "sector size",
        given: bytes.to_string(),
        supported: "512, 1024, 2048, 4096",
    })
}

/// What encrypts and decrypts sectors.
///
/// This is the place for another engine, such as `lanecrypt::cuda::XtsEngine` for long requests: all
/// that is asked of it is [`RunsUnits`].
pub(crate) struct Sectors {
    engine: Box<dyn RunsUnits + Send + Sync>,
    bytes: usize,
    first_tweak: u64,
}

impl Sectors {
    /// The cipher of a specification such as `aes-xts-plain64` under `key`, for sectors of `bytes` bytes that
    /// [`check_bytes`] takes, the first with the tweak `first_tweak`.
    pub(crate) fn new(
        specification: &str,
        key: &[u8],
        bytes: u32,
        first_tweak: u64,
    ) -> Result<Self, Error> {
        Ok(Self { engine: engine(specification, key)?, bytes: bytes as usize, first_tweak })
    }

    /// Bytes of a sector.
    pub(crate) fn sector_bytes(&self) -> usize {
        self.bytes
    }

    /// Runs whole sectors, the first of which is at byte `offset` of the disk.
    pub(crate) fn run(
        &self,
        direction: Direction,
        offset: u64,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let tweaks = |bytes: u64| u128::from(bytes / TWEAK_BYTES);
        let numbers = UnitNumbers {
            first: u128::from(self.first_tweak) + tweaks(offset),
            step: tweaks(self.bytes as u64),
        };
        Ok(self.engine.run_units(direction, numbers, self.bytes, data)?)
    }
}

impl fmt::Debug for Sectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sectors").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// The ciphers that Linux has for disks: cryptsetup makes no container of another.
const CIPHERS: [&str; 5] = ["aes", "aria", "camellia", "seed", "sm4"];

/// The cipher and the mode that the specification names.
fn engine(specification: &str, key: &[u8]) -> Result<Box<dyn RunsUnits + Send + Sync>, Error> {
    let unsupported = || Error::Unsupported {
        what: "cipher",
        given: specification.to_owned(),
        supported: "aes, aria, camellia, seed or sm4 with xts-plain64, cbc-plain64 or cbc-essiv:sha256",
    };
    let (name, mode) = specification.split_once('-').ok_or_else(unsupported)?;
    let cipher = find_cipher(name).map_err(|_| unsupported())?;
    if !CIPHERS.contains(&cipher.name) {
        return Err(unsupported());
    }
    let keyed = |key: &[u8]| cipher.default_engine(key);
    match mode {
        "xts-plain64" => {
            let (data, tweak) = key.split_at(key.len() / 2);
            Ok(Box::new(Xts::new(keyed(data)?, keyed(tweak)?)))
        }
        "cbc-plain64" => Ok(Box::new(Cbc { data: keyed(key)?, number: None })),
        "cbc-essiv:sha256" => {
            let mut salt = Zeroizing::new([0; 32]);
            Hash::Sha256.digest([key, &[]], &mut *salt);
            Ok(Box::new(Cbc { data: keyed(key)?, number: Some(keyed(&*salt)?) }))
        }
        _ => Err(unsupported()),
    }
}
