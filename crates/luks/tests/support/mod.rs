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
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeEncrypt, BlockSizeUser, InnerIvInit,
    KeyInit, KeySizeUser, consts::U16,
};
use lanecrypt_luks::{DerivationLimits, Storage};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use xts_mode::Xts128;
use zeroize::Zeroizing;

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
    pbkdf2_total_iterations: 800,
};

/// What a container is to be. Making it leaves no secret on the heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) cipher: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) key_bytes: usize,
    pub(crate) sector: usize,
    pub(crate) first_tweak: u64,
    pub(crate) hash: &'static str,
    /// Of the passphrase.
    pub(crate) salt: [u8; 32],
    /// What fills the volume key, and all stripes of its key slot but the last.
    pub(crate) fill_key: fn(&mut [u8]),
    pub(crate) fill_stripe: fn(&mut [u8]),
}

pub(crate) const AES: Kind = Kind {
    cipher: "aes",
    mode: "xts-plain64",
    key_bytes: 64,
    sector: 512,
    first_tweak: 0,
    hash: "sha256",
    salt: [9; 32],
    fill_key: |key| (0_u32..).zip(key).for_each(|(i, byte)| *byte = (i * 11 + 5) as u8),
    fill_stripe: |stripe| (0_u32..).zip(stripe).for_each(|(i, byte)| *byte = (i * 7) as u8),
};

impl Kind {
    fn key(&self) -> Zeroizing<Vec<u8>> {
        let mut key = Zeroizing::new(vec![0; self.key_bytes]);
        (self.fill_key)(&mut key);
        key
    }

    /// What dm-crypt makes of the disk.
    pub(crate) fn encrypted(&self, disk: &[u8]) -> Vec<u8> {
        let mut data = disk.to_vec();
        self.encrypt(&self.key(), self.sector, self.first_tweak, &mut data);
        data
    }

    /// Its key slot, encrypted under a key from the passphrase.
    fn slot(&self) -> Zeroizing<Vec<u8>> {
        let mut key = self.key();
        let mut material = self.split(&key);
        self.pbkdf2(PASSPHRASE, &self.salt, &mut key);
        self.encrypt(&key, 512, 0, &mut material);
        material
    }

    /// The key in stripes (LUKS1 on-disk format 1.2.3, section 2.4), and zeros up to whole sectors.
    fn split(&self, key: &[u8]) -> Zeroizing<Vec<u8>> {
        let bytes = (key.len() * STRIPES).next_multiple_of(512);
        let mut material = Zeroizing::new(vec![0; bytes]);
        let mut sum = Zeroizing::new(vec![0; key.len()]);
        let (stripes, last) = material.split_at_mut(key.len() * (STRIPES - 1));
        for stripe in stripes.chunks_exact_mut(key.len()) {
            (self.fill_stripe)(stripe);
            add(&mut sum, stripe);
            match self.hash {
                "sha1" => diffuse::<Sha1>(&mut sum),
                "sha256" => diffuse::<Sha256>(&mut sum),
                _ => diffuse::<Sha512>(&mut sum),
            }
        }
        add(last, &sum);
        add(last, key);
        material
    }

    fn digest(&self, bytes: usize) -> Vec<u8> {
        let mut digest = vec![0; bytes];
        self.pbkdf2(&self.key(), &[8; 32], &mut digest);
        digest
    }

    pub(crate) fn pbkdf2(&self, password: &[u8], salt: &[u8], output: &mut [u8]) {
        match self.hash {
            "sha1" => pbkdf2_hmac::<Sha1>(password, salt, ITERATIONS, output),
            "sha256" => pbkdf2_hmac::<Sha256>(password, salt, ITERATIONS, output),
            _ => pbkdf2_hmac::<Sha512>(password, salt, ITERATIONS, output),
        }
    }

    /// Sectors by RustCrypto's crates, whose tweaks and IVs count 512 bytes.
    fn encrypt(&self, key: &[u8], sector: usize, first_tweak: u64, data: &mut [u8]) {
        let Self { cipher, mode, .. } = *self;
        let by = match (mode, cipher, key.len()) {
            ("xts-plain64", "aes", 32) => xts::<Aes128>,
            ("xts-plain64", "aes", 64) => xts::<Aes256>,
            ("xts-plain64", "aria", 32) => xts::<Aria128>,
            ("xts-plain64", "aria", 64) => xts::<Aria256>,
            ("xts-plain64", "camellia", 32) => xts::<Camellia128>,
            ("xts-plain64", "camellia", 48) => xts::<Camellia192>,
            ("xts-plain64", "camellia", 64) => xts::<Camellia256>,
            ("cbc-plain64", "aes", 32) => cbc::<Aes256>,
            ("cbc-plain64", "camellia", 24) => cbc::<Camellia192>,
            ("cbc-essiv:sha256", "aes", 16) => cbc_essiv::<Aes128, Aes256>,
            ("cbc-essiv:sha256", "aes", 32) => cbc_essiv::<Aes256, Aes256>,
            ("cbc-essiv:sha256", "aria", 16) => cbc_essiv::<Aria128, Aria256>,
            ("cbc-essiv:sha256", "camellia", 24) => cbc_essiv::<Camellia192, Camellia256>,
            other => panic!("no {other:?} here"),
        };
        let step = sector as u128 / 512;
        for (i, data) in (0..).zip(data.chunks_mut(sector)) {
            by(key, u128::from(first_tweak) + i * step, data);
        }
    }

    /// A container of LUKS1.
    pub(crate) fn luks1(&self, disk: &[u8]) -> Vec<u8> {
        let mut header = vec![0; PAYLOAD];
        header[..8].copy_from_slice(b"LUKS\xba\xbe\x00\x01");
        header[8..][..self.cipher.len()].copy_from_slice(self.cipher.as_bytes());
        header[40..][..self.mode.len()].copy_from_slice(self.mode.as_bytes());
        header[72..][..self.hash.len()].copy_from_slice(self.hash.as_bytes());
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
        header[216 + 48..][..32].copy_from_slice(&self.salt);
        let slot = self.slot();
        header[SLOT..][..slot.len()].copy_from_slice(&slot);
        header.extend(self.encrypted(disk));
        header
    }

    /// The metadata of LUKS2.
    pub(crate) fn metadata(&self) -> String {
        let Self { cipher, mode, key_bytes, sector, first_tweak, hash, salt, .. } = self;
        let (salt, digest_salt) = (STANDARD.encode(salt), STANDARD.encode([8; 32]));
        let digest = STANDARD.encode(self.digest(32));
        format!(
            r#"{{"keyslots":{{"3":{{"type":"luks2","key_size":{key_bytes},
            "af":{{"type":"luks1","stripes":{STRIPES},"hash":"{hash}"}},
            "area":{{"type":"raw","offset":"{SLOT}","size":"32768",
              "encryption":"{cipher}-{mode}","key_size":{key_bytes}}},
            "kdf":{{"type":"pbkdf2","hash":"{hash}","iterations":{ITERATIONS},"salt":"{salt}"}}}}}},
            "tokens":{{}},
            "segments":{{"0":{{"type":"crypt","offset":"{PAYLOAD}","size":"dynamic",
              "iv_tweak":"{first_tweak}","encryption":"{cipher}-{mode}","sector_size":{sector}}}}},
            "digests":{{"0":{{"type":"pbkdf2","keyslots":["3"],"segments":["0"],"hash":"{hash}",
              "iterations":{ITERATIONS},"salt":"{digest_salt}","digest":"{digest}"}}}},
            "config":{{"json_size":"12288","keyslots_size":"32768"}}}}"#
        )
    }

    /// A container of LUKS2.
    pub(crate) fn luks2(&self, disk: &[u8]) -> Vec<u8> {
        let mut container = binary_header(0, 7, self.metadata().as_bytes());
        container.extend(binary_header(HEADER, 7, self.metadata().as_bytes()));
        let slot = self.slot();
        container.extend(&*slot);
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

/// Replaces each part as long as a digest by the digest of its number and itself.
fn diffuse<D: Digest>(sum: &mut [u8]) {
    for (i, part) in (0_u32..).zip(sum.chunks_mut(<D as Digest>::output_size())) {
        let digest = D::new().chain_update(i.to_be_bytes()).chain_update(&*part).finalize();
        part.copy_from_slice(&digest[..part.len()]);
    }
}

fn add(sum: &mut [u8], other: &[u8]) {
    sum.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
}

/// A block cipher of RustCrypto's.
trait Cipher:
    KeyInit + KeySizeUser + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>
{
    fn keyed(key: &[u8]) -> Self {
        Self::new_from_slice(key).expect("a key of that length")
    }
}

impl<C> Cipher for C where
    C: KeyInit
        + KeySizeUser
        + BlockCipherEncrypt
        + BlockCipherDecrypt
        + BlockSizeUser<BlockSize = U16>
{
}

fn xts<C: Cipher>(key: &[u8], number: u128, sector: &mut [u8]) {
    let (data, tweak) = key.split_at(key.len() / 2);
    Xts128::new(C::keyed(data), C::keyed(tweak))
        .encrypt_sector(sector, number.to_le_bytes().into());
}

fn cbc<C: Cipher>(key: &[u8], number: u128, sector: &mut [u8]) {
    cbc_from(C::keyed(key), number.to_le_bytes().into(), sector);
}

/// The number is encrypted under the digest of the key.
fn cbc_essiv<C: Cipher, N: Cipher>(key: &[u8], number: u128, sector: &mut [u8]) {
    let mut iv = number.to_le_bytes().into();
    N::keyed(&Sha256::digest(key)).encrypt_block(&mut iv);
    cbc_from(C::keyed(key), iv, sector);
}

fn cbc_from<C: Cipher>(cipher: C, iv: Array<u8, U16>, sector: &mut [u8]) {
    let blocks = Array::slice_as_chunks_mut(sector).0;
    ::cbc::Encryptor::inner_iv_init(cipher, &iv).encrypt_blocks(blocks);
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
