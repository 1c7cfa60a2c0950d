//! LUKS containers under valgrind, with an undefined passphrase: from it the key of a key slot, the anti-forensic merge,
//! the digest of the volume key, and sectors of the disk.

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::{Result, ensure};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use lanecrypt::{
    ConstantTime, Direction, Engine, find_cipher,
    modes::{cbc_encrypt, xts},
};
use lanecrypt_luks::{DerivationLimits, Disk, Error, Storage};
use pbkdf2::pbkdf2_hmac;
use sha2::{Digest, Sha256};

use super::{Part, Steps, secret};
use crate::{ffi, trial::noise};

/// Bytes of a passphrase, and of a volume key: two keys for XTS.
const PASSPHRASE: usize = 24;
const KEY: usize = 32;
/// Where the key slot and the disk begin, and bytes of the whole.
const SLOT: usize = 0x8000;
const DISK: usize = 0x1_0000;
const CONTAINER: usize = DISK + 0x2000;
/// Bytes of a header of LUKS2, with its metadata.
const HEADER: usize = 0x4000;
/// Of each sector of the key slot.
const SECTOR: usize = 512;
/// Little work: valgrind runs it all.
const ITERATIONS: u32 = 5;
const MEMORY_KIB: u32 = 32;
const SALT: [u8; 32] = [9; 32];
const DIGEST_SALT: [u8; 32] = [8; 32];

/// The step in which Argon2id reads memory where the passphrase says.
const OPENS: &str = "a passphrase opens a key slot";

/// A kind of container.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    cipher: &'static str,
    mode: &'static str,
    /// Of LUKS2; LUKS1 has PBKDF2 alone.
    argon2: Option<Algorithm>,
}

const KINDS: [Kind; 4] = [
    Kind { name: "luks/xts", cipher: "aes", mode: "xts-plain64", argon2: None },
    Kind { name: "luks/cbc-essiv", cipher: "aria", mode: "cbc-essiv:sha256", argon2: None },
    Kind {
        name: "luks/argon2i",
        cipher: "camellia",
        mode: "xts-plain64",
        argon2: Some(Algorithm::Argon2i),
    },
    Kind {
        name: "luks/argon2id",
        cipher: "aes",
        mode: "xts-plain64",
        argon2: Some(Algorithm::Argon2id),
    },
];

/// A part per kind. Argon2id is made to read memory at addresses that depend on the passphrase: its part must trip.
pub(super) fn parts() -> impl Iterator<Item = Part> {
    KINDS.into_iter().map(|kind| Part {
        name: kind.name.to_owned(),
        claim: match kind.argon2 {
            Some(Algorithm::Argon2id) => ConstantTime::No(OPENS),
            _ => ConstantTime::Yes,
        },
        run: Box::new(move |steps| container(kind, steps)),
    })
}

fn container(kind: Kind, steps: &mut Steps) -> Result<()> {
    let memory = Memory(Mutex::new(kind.container()?));
    let limits = DerivationLimits::default();
    let disk = steps.step(OPENS, 1, || Ok(Disk::open(&memory, &secret(PASSPHRASE), &limits)?))?;
    let mut other = secret(PASSPHRASE);
    other[0] ^= 1;
    steps.step(OPENS, 1, || match Disk::open(&memory, &other, &limits) {
        Err(Error::NoSlotOpens { tried: 1, .. }) => Ok(()),
        other => anyhow::bail!("another passphrase gives {other:?}"),
    })?;
    // Whole sectors, and parts of some at both ends.
    let (offset, bytes) = (300, 3 * SECTOR);
    steps.step("sectors are written", 0, || Ok(disk.write_at(&secret(bytes), offset)?))?;
    let written = DISK + offset as usize / SECTOR * SECTOR;
    let is_seen = ffi::is_undefined(&memory.lock()[written..written + bytes]);
    ensure!(is_seen, "memcheck takes the ciphertext for defined: it was blind");
    let mut read = vec![0; bytes];
    steps.step("sectors are read", 0, || Ok(disk.read_at(&mut read, offset)?))?;
    ensure!(ffi::is_undefined(&read), "memcheck takes the text for defined: it was blind");
    ffi::make_defined(&mut read);
    ensure!(read == noise(bytes), "another text");
    Ok(())
}

impl Kind {
    /// A container with an empty disk.
    fn container(self) -> Result<Vec<u8>> {
        let mut container = match self.argon2 {
            None => self.luks1(),
            Some(algorithm) => self.luks2(algorithm),
        };
        container.resize(CONTAINER, 0);
        let slot = self.slot()?;
        container[SLOT..][..slot.len()].copy_from_slice(&slot);
        Ok(container)
    }

    /// The volume key in two stripes (LUKS1 on-disk format 1.2.3, section 2.4), encrypted under the passphrase's key.
    fn slot(self) -> Result<Vec<u8>> {
        let first = [3; KEY];
        let diffused = Sha256::new().chain_update([0; 4]).chain_update(first).finalize();
        let second = diffused.iter().zip(volume_key()).map(|(a, b)| a ^ b);
        let mut material: Vec<u8> = first.into_iter().chain(second).collect();
        material.resize(SECTOR, 0);
        let (mut key, passphrase) = ([0; KEY], noise(PASSPHRASE));
        match self.argon2 {
            None => pbkdf2_hmac::<Sha256>(&passphrase, &SALT, ITERATIONS, &mut key),
            Some(algorithm) => {
                let params =
                    Params::new(MEMORY_KIB, 1, 1, Some(KEY)).map_err(anyhow::Error::msg)?;
                Argon2::new(algorithm, Version::V0x13, params)
                    .hash_password_into(&passphrase, &SALT, &mut key)
                    .map_err(anyhow::Error::msg)?;
            }
        }
        let engine = |key: &[u8]| -> Result<Box<dyn Engine>> {
            Ok(find_cipher(self.cipher)?.default_engine(key)?)
        };
        let data = material.as_mut_slice().into();
        if self.mode == "xts-plain64" {
            let (data_key, tweak_key) = (engine(&key[..KEY / 2])?, engine(&key[KEY / 2..])?);
            xts(&*data_key, &*tweak_key, &[0; 16], Direction::Encrypt, data)?;
        } else {
            let mut iv = [0; 16];
            engine(&Sha256::digest(key))?.ecb(Direction::Encrypt, iv.as_mut_slice().into())?;
            cbc_encrypt(&*engine(&key)?, &iv, data)?;
        }
        Ok(material)
    }

    fn luks1(self) -> Vec<u8> {
        let mut header = vec![0; DISK];
        let mut put = |at: usize, bytes: &[u8]| header[at..][..bytes.len()].copy_from_slice(bytes);
        put(0, b"LUKS\xba\xbe\x00\x01");
        put(8, self.cipher.as_bytes());
        put(40, self.mode.as_bytes());
        put(72, b"sha256");
        put(112, &digest(20));
        put(132, &DIGEST_SALT);
        let numbers = [
            (104, DISK / SECTOR),
            (108, KEY),
            (164, ITERATIONS as usize),
            (208, 0x00ac_71f3), // a key slot in use
            (212, ITERATIONS as usize),
            (248, SLOT / SECTOR),
            (252, 2),
        ];
        let unused = (1..8).map(|slot| (208 + 48 * slot, 0xdead));
        for (at, number) in numbers.into_iter().chain(unused) {
            put(at, &(number as u32).to_be_bytes());
        }
        put(216, &SALT);
        header
    }

    fn luks2(self, algorithm: Algorithm) -> Vec<u8> {
        let Self { cipher, mode, .. } = self;
        let [salt, digest_salt] = [SALT, DIGEST_SALT].map(|salt| STANDARD.encode(salt));
        let digest = STANDARD.encode(digest(32));
        let metadata = format!(
            r#"{{"keyslots":{{"0":{{"type":"luks2","key_size":{KEY},
            "af":{{"type":"luks1","stripes":2,"hash":"sha256"}},
            "area":{{"type":"raw","offset":"{SLOT}","size":"32768",
              "encryption":"{cipher}-{mode}","key_size":{KEY}}},
            "kdf":{{"type":"{}","time":1,"memory":{MEMORY_KIB},"cpus":1,"salt":"{salt}"}}}}}},
            "tokens":{{}},
            "segments":{{"0":{{"type":"crypt","offset":"{DISK}","size":"dynamic",
              "iv_tweak":"0","encryption":"{cipher}-{mode}","sector_size":{SECTOR}}}}},
            "digests":{{"0":{{"type":"pbkdf2","keyslots":["0"],"segments":["0"],"hash":"sha256",
              "iterations":{ITERATIONS},"salt":"{digest_salt}","digest":"{digest}"}}}},
            "config":{{"json_size":"12288","keyslots_size":"32768"}}}}"#,
            algorithm.as_str()
        );
        let mut header = vec![0; HEADER];
        let mut put = |at: usize, bytes: &[u8]| header[at..][..bytes.len()].copy_from_slice(bytes);
        put(0, b"LUKS\xba\xbe\x00\x02");
        put(8, &(HEADER as u64).to_be_bytes());
        put(72, b"sha256");
        put(4096, metadata.as_bytes());
        let sum = Sha256::digest(&header);
        header[448..480].copy_from_slice(&sum);
        header
    }
}

fn volume_key() -> Vec<u8> {
    (0..KEY).map(|i| (11 * i + 5) as u8).collect()
}

/// What tells whether a volume key is right.
fn digest(bytes: usize) -> Vec<u8> {
    let mut digest = vec![0; bytes];
    pbkdf2_hmac::<Sha256>(&volume_key(), &DIGEST_SALT, ITERATIONS, &mut digest);
    digest
}

/// Memory as a storage.
struct Memory(Mutex<Vec<u8>>);

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for &Memory {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.lock().len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        buffer.copy_from_slice(&self.lock()[offset as usize..][..buffer.len()]);
        Ok(())
    }

    fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.lock()[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
