//! Containers made without the code under test, by RustCrypto's crates; and memory to put them on.
#![allow(dead_code, reason = "every test takes its part")]

use std::{
    io,
    sync::{
        RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::yield_now,
};

use aes::{Aes128, Aes256};
use aria::{Aria128, Aria256};
use base64::{Engine, engine::general_purpose::STANDARD};
use camellia::{Camellia128, Camellia192, Camellia256};
use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit, KeySizeUser, consts::U16,
};
use lanecrypt_luks::{DerivationLimits, Storage};
use pbkdf2::pbkdf2_hmac;
use sha2::{Digest, Sha256};
use xts_mode::Xts128;

pub(crate) const PASSPHRASE: &[u8] = b"open sesame";
pub(crate) const STRIPES: usize = 4;
pub(crate) const ITERATIONS: u32 = 3;
/// Where the disk begins in the containers made here.
pub(crate) const PAYLOAD: usize = 0x10000;
/// Where the key slot lies in them.
pub(crate) const SLOT: usize = 0x8000;
/// Bytes of a header of LUKS2.
pub(crate) const HEADER: usize = 0x4000;

/// Little work, whatever a header asks for.
pub(crate) const LIMITS: DerivationLimits = DerivationLimits {
    argon2_memory_kib: 64,
    argon2_passes: 2,
    argon2_total_kib: 512,
    pbkdf2_iterations: 100,
    pbkdf2_total_iterations: 400,
};

/// What a container is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) cipher: &'static str,
    pub(crate) key_bytes: usize,
    pub(crate) sector: usize,
    pub(crate) first_tweak: u64,
}

pub(crate) const AES: Kind = Kind { cipher: "aes", key_bytes: 64, sector: 512, first_tweak: 0 };

impl Kind {
    pub(crate) fn key(&self) -> Vec<u8> {
        (0..self.key_bytes).map(|i| (i * 11 + 5) as u8).collect()
    }

    /// What dm-crypt makes of the disk.
    pub(crate) fn encrypted(&self, disk: &[u8]) -> Vec<u8> {
        let mut data = disk.to_vec();
        encrypt(self.cipher, &self.key(), self.sector, self.first_tweak, &mut data);
        data
    }

    /// Its key slot, encrypted under a key from the passphrase.
    fn slot(&self) -> Vec<u8> {
        let mut material = split(&self.key());
        material.resize(material.len().next_multiple_of(512), 0);
        let mut key = vec![0; self.key_bytes];
        pbkdf2_hmac::<Sha256>(PASSPHRASE, &[9; 32], ITERATIONS, &mut key);
        encrypt(self.cipher, &key, 512, 0, &mut material);
        material
    }

    fn digest(&self, bytes: usize) -> Vec<u8> {
        let mut digest = vec![0; bytes];
        pbkdf2_hmac::<Sha256>(&self.key(), &[8; 32], ITERATIONS, &mut digest);
        digest
    }

    /// A container of LUKS1.
    pub(crate) fn luks1(&self, disk: &[u8]) -> Vec<u8> {
        let mut header = vec![0; PAYLOAD];
        header[..8].copy_from_slice(b"LUKS\xba\xbe\x00\x01");
        header[8..][..self.cipher.len()].copy_from_slice(self.cipher.as_bytes());
        header[40..][..11].copy_from_slice(b"xts-plain64");
        header[72..][..6].copy_from_slice(b"sha256");
        let mut put =
            |at: usize, value: u32| header[at..][..4].copy_from_slice(&value.to_be_bytes());
        put(104, PAYLOAD as u32 / 512);
        put(108, self.key_bytes as u32);
        put(164, ITERATIONS);
        (0..8).for_each(|slot| put(208 + slot * 48, 0xdead));
        put(208 + 48, 0x00ac_71f3); // the second slot
        put(212 + 48, ITERATIONS);
        put(248 + 48, SLOT as u32 / 512);
        put(252 + 48, STRIPES as u32);
        header[112..][..20].copy_from_slice(&self.digest(20));
        header[132..][..32].fill(8);
        header[216 + 48..][..32].fill(9);
        let slot = self.slot();
        header[SLOT..][..slot.len()].copy_from_slice(&slot);
        header.extend(self.encrypted(disk));
        header
    }

    /// The metadata of LUKS2.
    pub(crate) fn metadata(&self) -> String {
        let Self { cipher, key_bytes, sector, first_tweak } = self;
        let (salt, digest_salt) = (STANDARD.encode([9; 32]), STANDARD.encode([8; 32]));
        let digest = STANDARD.encode(self.digest(32));
        format!(
            r#"{{"keyslots":{{"3":{{"type":"luks2","key_size":{key_bytes},
            "af":{{"type":"luks1","stripes":{STRIPES},"hash":"sha256"}},
            "area":{{"type":"raw","offset":"{SLOT}","size":"32768",
              "encryption":"{cipher}-xts-plain64","key_size":{key_bytes}}},
            "kdf":{{"type":"pbkdf2","hash":"sha256","iterations":{ITERATIONS},"salt":"{salt}"}}}}}},
            "tokens":{{}},
            "segments":{{"0":{{"type":"crypt","offset":"{PAYLOAD}","size":"dynamic",
              "iv_tweak":"{first_tweak}","encryption":"{cipher}-xts-plain64","sector_size":{sector}}}}},
            "digests":{{"0":{{"type":"pbkdf2","keyslots":["3"],"segments":["0"],"hash":"sha256",
              "iterations":{ITERATIONS},"salt":"{digest_salt}","digest":"{digest}"}}}},
            "config":{{"json_size":"12288","keyslots_size":"32768"}}}}"#
        )
    }

    /// A container of LUKS2.
    pub(crate) fn luks2(&self, disk: &[u8]) -> Vec<u8> {
        let mut container = binary_header(0, 7, self.metadata().as_bytes());
        container.extend(binary_header(HEADER, 7, self.metadata().as_bytes()));
        let slot = self.slot();
        container.extend(&slot);
        container.resize(PAYLOAD, 0);
        container.extend(self.encrypted(disk));
        container
    }
}

/// A header of LUKS2 at byte `offset`, which is the second one where that is not 0.
pub(crate) fn binary_header(offset: usize, sequence: u64, metadata: &[u8]) -> Vec<u8> {
    let mut header = vec![0; HEADER];
    header[..6].copy_from_slice(if offset == 0 { b"LUKS\xba\xbe" } else { b"SKUL\xba\xbe" });
    header[7] = 2;
    header[8..16].copy_from_slice(&(HEADER as u64).to_be_bytes());
    header[16..24].copy_from_slice(&sequence.to_be_bytes());
    header[72..78].copy_from_slice(b"sha256");
    header[256..264].copy_from_slice(&(offset as u64).to_be_bytes());
    header[4096..][..metadata.len()].copy_from_slice(metadata);
    let checksum = Sha256::digest(&header);
    header[448..480].copy_from_slice(&checksum);
    header
}

/// The anti-forensic splitter, with SHA-256.
fn split(key: &[u8]) -> Vec<u8> {
    let mut material: Vec<u8> = (0..key.len() * (STRIPES - 1)).map(|i| (i * 7) as u8).collect();
    let mut sum = vec![0; key.len()];
    for stripe in material.chunks_exact(key.len()) {
        sum.iter_mut().zip(stripe).for_each(|(byte, other)| *byte ^= other);
        for (i, part) in (0_u32..).zip(sum.chunks_mut(32)) {
            let digest =
                Sha256::new().chain_update(i.to_be_bytes()).chain_update(&*part).finalize();
            part.copy_from_slice(&digest[..part.len()]);
        }
    }
    material.extend(sum.iter().zip(key).map(|(sum, key)| sum ^ key));
    material
}

/// XTS by RustCrypto's crates, with tweaks that count sectors of 512 bytes.
fn encrypt(cipher: &str, key: &[u8], sector: usize, first_tweak: u64, data: &mut [u8]) {
    match (cipher, key.len()) {
        ("aes", 32) => encrypt_by::<Aes128>(key, sector, first_tweak, data),
        ("aes", 64) => encrypt_by::<Aes256>(key, sector, first_tweak, data),
        ("aria", 32) => encrypt_by::<Aria128>(key, sector, first_tweak, data),
        ("aria", 64) => encrypt_by::<Aria256>(key, sector, first_tweak, data),
        ("camellia", 32) => encrypt_by::<Camellia128>(key, sector, first_tweak, data),
        ("camellia", 48) => encrypt_by::<Camellia192>(key, sector, first_tweak, data),
        ("camellia", 64) => encrypt_by::<Camellia256>(key, sector, first_tweak, data),
        other => panic!("no cipher {other:?} here"),
    }
}

fn encrypt_by<C>(key: &[u8], sector: usize, first_tweak: u64, data: &mut [u8])
where
    C: KeyInit
        + KeySizeUser
        + BlockCipherEncrypt
        + BlockCipherDecrypt
        + BlockSizeUser<BlockSize = U16>,
{
    let half = |key| C::new_from_slice(key).expect("a key of that length");
    let xts = Xts128::new(half(&key[..key.len() / 2]), half(&key[key.len() / 2..]));
    for (i, data) in (0..).zip(data.chunks_mut(sector)) {
        let tweak = u128::from(first_tweak) + i * (sector as u128 / 512);
        xts.encrypt_sector(data, tweak.to_le_bytes().into());
    }
}

/// Memory as a storage. It moves a few bytes at a time and lets other threads run in between, so that
/// requests that should exclude one another and do not are found out.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: RwLock<Vec<u8>>,
    pub(crate) is_broken: AtomicBool,
}

impl Memory {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: RwLock::new(bytes), is_broken: AtomicBool::new(false) }
    }

    pub(crate) fn copy(&self) -> Vec<u8> {
        self.bytes.read().expect("no panic").clone()
    }

    fn check(&self, offset: u64, bytes: usize) -> io::Result<usize> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(28));
        }
        let found = self.bytes()?;
        let end = offset.checked_add(bytes as u64).filter(|&end| end <= found);
        end.map(|_| offset as usize).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// Bytes that memory moves at a time: a block of the cipher, or much where much is asked for.
fn step(bytes: usize) -> usize {
    (bytes / 32).max(16)
}

impl Storage for Memory {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.bytes.read().expect("no panic").len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let (offset, step) = (self.check(offset, buffer.len())?, step(buffer.len()));
        for (i, part) in buffer.chunks_mut(step).enumerate() {
            part.copy_from_slice(
                &self.bytes.read().expect("no panic")[offset + i * step..][..part.len()],
            );
            yield_now();
        }
        Ok(())
    }

    fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let (offset, step) = (self.check(offset, data.len())?, step(data.len()));
        for (i, part) in data.chunks(step).enumerate() {
            self.bytes.write().expect("no panic")[offset + i * step..][..part.len()]
                .copy_from_slice(part);
            yield_now();
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.check(0, 0).map(|_| ())
    }
}

/// Bytes that look random (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}
