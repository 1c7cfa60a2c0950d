//! GCM (SP 800-38D) on the device: CTR and GHASH, one after the other.

use cipher::InOutBuf;
use lanecrypt_core::{
    ConstantTime, Mode,
    modes::gcm::{check_lengths, counter, first_counter},
};
use lanecrypt_kernels::Task;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    Device, DeviceInOut, DeviceSlice, Engine, Error, Family, GhashEngine, HashFamily, Operation,
    device::buffer::MAX_BLOCK,
    engine::ghash::{self, Hash},
    launch::operation::{Start, Work},
    pipeline::{self, Cut},
};

/// Bytes of a block, which GCM is defined for.
const BLOCK: usize = MAX_BLOCK;
/// ECB encryption, of single blocks here.
const ENCRYPT: Work = Work { task: Task::EcbEncrypt, start: Start::Nowhere, block: BLOCK };

impl Family {
    /// GCM under a key that the cipher takes, with the fastest hash for the device. That may look
    /// tables up where the cipher does not: see [`GcmEngine::constant_time`].
    ///
    /// # Errors
    /// Those of [`Family::engine`]; [`Error::Data`] for ciphers of other than 128-bit blocks.
    pub fn gcm_engine(&self, device: &Device, key: &[u8]) -> Result<GcmEngine, Error> {
        self.gcm_engine_with(device, HashFamily::of(device.properties()), key)
    }

    /// The same with a certain hash.
    ///
    /// # Errors
    /// As [`gcm_engine`](Self::gcm_engine); [`Error::Unavailable`] for a hash that the device cannot
    /// run.
    pub fn gcm_engine_with(
        &self,
        device: &Device,
        hash: HashFamily,
        key: &[u8],
    ) -> Result<GcmEngine, Error> {
        let given = self.cipher().block_bytes;
        if given != BLOCK {
            return Err(Error::Data(lanecrypt_core::Error::BlockLength { mode: Mode::Gcm, given }));
        }
        let engine = self.engine(device, key)?;
        // The hash key is the block of zeros, encrypted where it stays.
        let hash = GhashEngine::with_key(device, hash, |at| {
            engine.without_stream().launch(ENCRYPT, at, at, 1)
        })?;
        Ok(GcmEngine { engine, hash })
    }
}

/// A cipher under one key and the hash key that belongs to it, on one device.
///
/// IVs have any length but zero, and tags 4 to 16 bytes. Decryption hashes before it decrypts, and
/// writes nothing before the tag has been found right, in constant time. An IV must never be used
/// twice under one key. Several threads may use one engine; they take turns.
#[derive(Debug)]
pub struct GcmEngine {
    engine: Engine,
    hash: GhashEngine,
}

impl GcmEngine {
    /// The engine of the cipher.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The hash.
    #[must_use]
    pub fn hash(&self) -> &GhashEngine {
        &self.hash
    }

    /// The claims of cipher and hash together.
    #[must_use]
    pub fn constant_time(&self) -> ConstantTime {
        match self.engine.constant_time() {
            ConstantTime::Yes => self.hash.family().constant_time(),
            claim @ ConstantTime::No(_) => claim,
        }
    }

    /// As [`Engine::limit_chunk`], for associated data too.
    pub fn limit_chunk(&self, bytes: usize) {
        self.engine.limit_chunk(bytes);
        self.hash.limit_chunk(bytes);
    }

    /// Encrypts data on this engine's device, in place or from one slice to another, and fills `tag`.
    ///
    /// # Errors
    /// [`Error::OtherDevice`]; [`Error::Data`] for an empty IV, lengths of tags or data that GCM does
    /// not take, and unequal lengths: nothing is written then. Driver errors: the output is unspecified
    /// then.
    pub fn encrypt<'d>(
        &self,
        iv: &[u8],
        aad: &[u8],
        data: impl Into<DeviceInOut<'d>>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let mut data = data.into();
        data.require_device(self.engine.device())?;
        check(iv, aad, data.len(), tag)?;
        let message = self.message(iv, aad)?;
        self.engine.run(Operation::Ctr32(message.counter().into()), data.reborrow())?;
        message.fill_tag(data.output(), tag)
    }

    /// Decrypts data on this engine's device, in place or from one slice to another, if `tag` is the right
    /// one.
    ///
    /// # Errors
    /// Those of [`encrypt`](Self::encrypt); [`Error::Data`] with
    /// [`NotAuthentic`](lanecrypt_core::Error::NotAuthentic) for a wrong tag. On every error of data
    /// nothing is written. After driver errors the output may have parts of the plaintext, but only
    /// of one whose tag was right.
    pub fn decrypt<'d>(
        &self,
        iv: &[u8],
        aad: &[u8],
        data: impl Into<DeviceInOut<'d>>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let data = data.into();
        data.require_device(self.engine.device())?;
        check(iv, aad, data.len(), tag)?;
        let message = self.message(iv, aad)?;
        let counter = message.counter();
        message.verify(data.input(), tag)?;
        self.engine.run(Operation::Ctr32(counter.into()), data)
    }

    /// Encrypts host memory of any size that GCM takes, pieces of it side by side through memory of the
    /// device as [`Engine::run_host_memory`] does, and fills `tag`.
    ///
    /// # Errors
    /// [`Error::Data`] as [`encrypt`](Self::encrypt). [`Error::Interrupted`] by driver errors, which says
    /// how much is complete, or a driver error before anything was written; `tag` is as it was then.
    pub fn encrypt_host_memory(
        &self,
        iv: &[u8],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let length = data.len();
        check(iv, aad, length, tag)?;
        let mut message = self.message(iv, aad)?;
        let work = Work::new(Operation::Ctr32(message.counter().into()), length, BLOCK)?;
        let device = self.engine.device();
        let cut = Cut::new(device, &mut data, self.engine.chunk_limit.get(), BLOCK);
        let mut complete = 0;
        let lengths = Some([message.aad_bytes, length]);
        let hashed = message.hash.add_pieces([length, cut.bytes], lengths, |pieces| {
            pipeline::run(device, data, cut, BLOCK, |stream, address, number, bytes| {
                let work = work.after_blocks(number * (cut.bytes / BLOCK));
                let blocks = bytes.div_ceil(BLOCK);
                self.engine.on(stream).launch(work, address, address, blocks)?;
                pieces.hash(stream, address, number, bytes)
            })?;
            complete = length;
            Ok(())
        });
        let made = hashed.and_then(|()| message.tag());
        let made = made.map_err(|error| match complete {
            0 => error,
            _ => Error::Interrupted { complete, error: Box::new(error) },
        })?;
        tag.copy_from_slice(&made[..tag.len()]);
        Ok(())
    }

    /// Decrypts host memory of any size that GCM takes, if `tag` is the right one. It passes the device
    /// twice, as [`Engine::run_host_memory`] does: all of it is hashed before any of it is decrypted.
    ///
    /// # Errors
    /// [`Error::Data`] as [`decrypt`](Self::decrypt), after which nothing is written. Driver errors before
    /// the tag was found right: nothing is written then either; [`Error::Interrupted`] by those that come
    /// later, which says how much is complete.
    pub fn decrypt_host_memory(
        &self,
        iv: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        check(iv, aad, data.len(), tag)?;
        let mut message = self.message(iv, aad)?;
        let counter = message.counter();
        message.hash.add_host(data.get_in())?;
        message.hash.add_last(0, 0, [aad.len(), data.len()])?;
        message.require(tag)?;
        drop(message); // others hash meanwhile
        self.engine.run_host_memory(Operation::Ctr32(counter.into()), data)
    }

    /// Starts a message: makes its first counter block, what hides its hash, and hashes the
    /// associated data.
    fn message(&self, iv: &[u8], aad: &[u8]) -> Result<Message<'_>, Error> {
        let first = match first_counter(iv) {
            Some(first) => first,
            None => self.hash_iv(iv)?,
        };
        let mut hash = self.hash.start();
        // The counter travels with the launch, which a copy of the block would not.
        let encrypt = Work::new(Operation::Ctr(first.into()), BLOCK, BLOCK)?;
        self.engine.without_stream().launch(encrypt, hash.zeros()?, hash.aside()?, 1)?;
        hash.add_host(aad)?;
        Ok(Message { first, hash, aad_bytes: aad.len() })
    }

    /// The counter block J0 of an IV of other than 12 bytes.
    fn hash_iv(&self, iv: &[u8]) -> Result<[u8; BLOCK], Error> {
        let (mut hash, mut first) = (self.hash.start(), [0; BLOCK]);
        hash.add_host(iv)?;
        hash.add_last(0, 0, [0, iv.len()])?;
        hash.read(&mut first)?;
        Ok(first)
    }
}

/// Checks all lengths of a message of so many bytes.
fn check(iv: &[u8], aad: &[u8], bytes: usize, tag: &[u8]) -> Result<(), Error> {
    check_lengths(iv.len(), aad.len(), bytes, tag.len()).map_err(Error::Data)
}

/// A message whose associated data was hashed.
struct Message<'a> {
    /// The counter block J0. Encrypted, it hides the hash: on the device, behind it.
    first: [u8; BLOCK],
    hash: Hash<'a>,
    aad_bytes: usize,
}

impl Message<'_> {
    /// The counter block of the first block of data.
    fn counter(&self) -> [u8; BLOCK] {
        counter(&self.first, 0)
    }

    /// The tag, after all was hashed.
    fn tag(&self) -> Result<Zeroizing<[u8; BLOCK]>, Error> {
        let mut both = ghash::two_blocks();
        self.hash.read(&mut *both)?;
        let (hash, mask) = both.split_at(BLOCK);
        let mut tag = Zeroizing::new([0; BLOCK]);
        for (byte, (hash, mask)) in tag.iter_mut().zip(hash.iter().zip(mask)) {
            *byte = hash ^ mask;
        }
        Ok(tag)
    }

    /// Hashes the ciphertext and fills `tag`.
    fn fill_tag(mut self, ciphertext: &DeviceSlice<'_>, tag: &mut [u8]) -> Result<(), Error> {
        self.add_last(ciphertext)?;
        tag.copy_from_slice(&self.tag()?[..tag.len()]);
        Ok(())
    }

    /// Hashes the ciphertext and requires its tag to be `tag`.
    fn verify(mut self, ciphertext: &DeviceSlice<'_>, tag: &[u8]) -> Result<(), Error> {
        self.add_last(ciphertext)?;
        self.require(tag)
    }

    fn add_last(&mut self, ciphertext: &DeviceSlice<'_>) -> Result<(), Error> {
        let length = ciphertext.len();
        self.hash.add_last(ciphertext.address(), length, [self.aad_bytes, length])
    }

    /// Compares `tag` with that of what was hashed, in constant time.
    fn require(&self, tag: &[u8]) -> Result<(), Error> {
        if bool::from(self.tag()?[..tag.len()].ct_eq(tag)) {
            Ok(())
        } else {
            Err(Error::Data(lanecrypt_core::Error::NotAuthentic))
        }
    }
}
