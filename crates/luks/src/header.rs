//! What headers of both versions say, in one form, and how a passphrase gives the volume key.

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    DerivationLimits, Error, Storage,
    antiforensic::merge,
    bytes::Fields,
    derive::{Budget, Derivation, Pbkdf2},
    error::Problem,
    hash::Hash,
    luks1, luks2,
    sectors::Sectors,
};
use lanecrypt::Direction;

/// What both versions begin with.
pub(crate) const MAGIC: [u8; 6] = *b"LUKS\xba\xbe";
/// Bytes of the sectors in which key material is encrypted, and in which LUKS1 counts.
pub(crate) const SECTOR: u32 = 512;
/// More than any key of a cipher has, and any splitting: to allocate no more for a made-up header.
const MOST_KEY_BYTES: usize = 512;
const MOST_STRIPES: usize = 1 << 16;

/// The header of a container: where its disk lies, under which cipher, and its key slots.
///
/// It holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) version: u16,
    /// Where it ends with its key slots, in bytes.
    pub(crate) end: u64,
    pub(crate) payload: Payload,
    /// In the order in which they are tried, and why some cannot be.
    pub(crate) slots: Vec<Result<KeySlot, Problem>>,
}

/// The part of a container that is the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    /// In bytes, from the start of what the payload lies on.
    pub(crate) offset: u64,
    /// In bytes; to the end where there is none.
    pub(crate) bytes: Option<u64>,
    pub(crate) first_tweak: u64,
    pub(crate) sector_bytes: u32,
    pub(crate) cipher: String,
}

/// A copy of the volume key under a passphrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeySlot {
    pub(crate) derivation: Derivation,
    /// Where its key material lies, in bytes from the start of the header.
    pub(crate) offset: u64,
    /// The cipher of the key material, and bytes of its key.
    pub(crate) cipher: String,
    pub(crate) cipher_key_bytes: usize,
    pub(crate) stripes: usize,
    pub(crate) hash: Hash,
    /// Bytes of the volume key.
    pub(crate) key_bytes: usize,
    pub(crate) digest: Digest,
}

/// What tells whether a volume key is right: PBKDF2 of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) derivation: Pbkdf2,
    pub(crate) expected: Vec<u8>,
}

impl Header {
    /// Reads the header at the start of `storage`. Where the first header of LUKS2 is damaged or older,
    /// it is the second.
    ///
    /// # Errors
    /// [`Error::NotLuks`], [`Error::Version`], [`Error::Damaged`], [`Error::Truncated`],
    /// [`Error::Unsupported`], [`Error::Requirement`], or the storage's.
    pub fn read<S: Storage + ?Sized>(storage: &S) -> Result<Self, Error> {
        let mut start = [0; 8];
        let found = storage.bytes().map_err(Error::storage("measure"))?;
        if found < start.len() as u64 {
            return Err(Error::NotLuks);
        }
        read_at(storage, "the header", &mut start, 0)?;
        if start[..6] != MAGIC {
            return luks2::read(storage);
        }
        match Fields(&start).u16_at(6) {
            1 => luks1::read(storage),
            2 => luks2::read(storage),
            other => Err(Error::Version(other)),
        }
    }

    /// The LUKS version, 1 or 2.
    #[must_use]
    pub fn version(&self) -> u16 {
        self.version
    }

    /// The cipher of the disk as the kernel writes it, such as `aes-xts-plain64`.
    #[must_use]
    pub fn cipher(&self) -> &str {
        &self.payload.cipher
    }

    /// Bytes of a sector of the disk.
    #[must_use]
    pub fn sector_bytes(&self) -> u32 {
        self.payload.sector_bytes
    }

    /// The volume key from the first key slot that opens with `passphrase`. `storage` is what the header was
    /// read from.
    pub(crate) fn volume_key<S: Storage + ?Sized>(
        &self,
        storage: &S,
        passphrase: &[u8],
        limits: &DerivationLimits,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let (mut tried, mut skipped) = (0, None);
        let mut budget = Budget::new(limits);
        for slot in &self.slots {
            let opened = match slot {
                Ok(slot) => slot.open(storage, passphrase, &mut budget),
                Err(problem) => Err(problem.clone().into()),
            };
            match opened {
                Ok(Some(key)) => return Ok(key),
                Ok(None) => tried += 1,
                Err(error @ Error::Storage { .. }) => return Err(error),
                Err(error) => {
                    skipped.get_or_insert(Box::new(error));
                }
            }
        }
        match skipped {
            Some(error) if tried == 0 => Err(*error),
            skipped => Err(Error::NoSlotOpens { tried, skipped }),
        }
    }
}

impl KeySlot {
    /// Where its key material ends, in bytes from the start of the header.
    pub(crate) fn end(&self) -> u64 {
        let bytes = (self.key_bytes as u64).saturating_mul(self.stripes as u64);
        self.offset.saturating_add(bytes)
    }

    /// The volume key, if the passphrase is this slot's.
    fn open<S: Storage + ?Sized>(
        &self,
        storage: &S,
        passphrase: &[u8],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        if !(1..=MOST_KEY_BYTES).contains(&self.key_bytes)
            || !(1..=MOST_KEY_BYTES).contains(&self.cipher_key_bytes)
            || !(1..=MOST_STRIPES).contains(&self.stripes)
        {
            return Err(Error::damaged("a key slot has no sensible lengths"));
        }
        let bytes = self.key_bytes * self.stripes;
        let mut material = Zeroizing::new(vec![0; bytes.next_multiple_of(SECTOR as usize)]);
        read_at(storage, "a key slot", &mut material, self.offset)?;
        let key = self.derivation.derive(passphrase, self.cipher_key_bytes, budget)?;
        let sectors = Sectors::new(&self.cipher, &key, SECTOR, 0)?;
        sectors.run(Direction::Decrypt, 0, material.as_mut_slice().into())?;
        let key = merge(&material[..bytes], self.key_bytes, self.hash);
        Ok(self.digest.is_of(&key, budget)?.then_some(key))
    }
}

impl Digest {
    fn is_of(&self, key: &[u8], budget: &mut Budget<'_>) -> Result<bool, Error> {
        let bytes = self.expected.len();
        if !(20..=MOST_KEY_BYTES).contains(&bytes) {
            return Err(Error::damaged(format!("the digest of a key has {bytes} bytes")));
        }
        let digest = self.derivation.derive(key, bytes, budget)?;
        Ok(digest.ct_eq(&self.expected).into())
    }
}

/// Fills `buffer` with the bytes of `what`, and says so where the storage ends before.
pub(crate) fn read_at<S: Storage + ?Sized>(
    storage: &S,
    what: &'static str,
    buffer: &mut [u8],
    offset: u64,
) -> Result<(), Error> {
    let found = storage.bytes().map_err(Error::storage("measure"))?;
    let end = offset.saturating_add(buffer.len() as u64);
    if end > found {
        return Err(Error::Truncated { what, end, found });
    }
    storage.read_exact_at(buffer, offset).map_err(Error::storage("read"))
}
