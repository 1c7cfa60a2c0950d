//! GCM (NIST SP 800-38D) over any engine with blocks of 16 bytes, with the names of the crate `aes-gcm` 0.11.
//!
//! ```
//! # #[cfg(feature = "aes")] {
//! use lanecrypt_modes::gcm::{Aes256Gcm, Key, Nonce, aead::{AeadInOut, KeyInit}};
//!
//! let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::from([7; 32]));
//! let (nonce, mut data) = (Nonce::from([1; 12]), *b"a message");
//! let tag = cipher.encrypt_inout_detached(&nonce, b"", data.as_mut_slice().into())?;
//! cipher.decrypt_inout_detached(&nonce, b"", data.as_mut_slice().into(), &tag)?;
//! assert_eq!(&data, b"a message");
//! # }
//! # Ok::<(), lanecrypt_modes::gcm::Error>(())
//! ```

use core::{fmt, marker::PhantomData};

use aead::TagPosition;
use cipher::{
    Array, BlockSizeUser, InOutBuf,
    array::ArraySize,
    consts::{U4, U8, U12, U13, U14, U15, U16},
};
use lanecrypt_core::{Direction, Engine, Error as EngineError, Mode, Secret, modes};
use subtle::ConstantTimeEq;

use crate::{GhashKey, cleared};

pub use self::{Gcm as AesGcm, MAX_AAD_BYTES as A_MAX, MAX_MESSAGE_BYTES as P_MAX};
pub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser};
#[cfg(feature = "aes")]
pub use lanecrypt_aes as aes;
pub use modes::gcm::{MAX_AAD_BYTES, MAX_MESSAGE_BYTES};

/// AES-128-GCM with nonces of 12 bytes and tags of 16.
#[cfg(feature = "aes")]
pub type Aes128Gcm = Gcm<aes::Aes128, U12>;
/// AES-256-GCM with nonces of 12 bytes and tags of 16.
#[cfg(feature = "aes")]
pub type Aes256Gcm = Gcm<aes::Aes256, U12>;

/// A nonce of `NonceSize` bytes.
pub type Nonce<NonceSize> = Array<u8, NonceSize>;
/// A tag of `TagSize` bytes.
pub type Tag<TagSize = U16> = Array<u8, TagSize>;

type Block = Array<u8, U16>;

/// Tags that the types take: 4 and 8 bytes, which SP 800-38D allows with restrictions (appendix C),
/// and 12 to 16. [`Gcm::encrypt`] takes any from 4 to 16.
pub trait TagSize: ArraySize {}
impl TagSize for U4 {}
impl TagSize for U8 {}
impl TagSize for U12 {}
impl TagSize for U13 {}
impl TagSize for U14 {}
impl TagSize for U15 {}
impl TagSize for U16 {}

/// GCM with the cipher `C`, and with the lengths of nonces and tags, in bytes, that `aead`'s traits
/// need: `Gcm<Aes256>` is `aes_gcm::Aes256Gcm`, `Gcm<Aes192, U16, U12>` one with other lengths.
///
/// [`encrypt`](Self::encrypt) and [`decrypt`](Self::decrypt) take IVs of any length but zero, and tags
/// of 4 to 16 bytes. Decryption writes nothing before the tag has been found right, in constant time.
/// An IV must never be used twice under one key.
///
/// It is as constant-time as the cipher and the hash are; but an IV of other than 12 bytes is hashed
/// to the first counter, and the time tells where the last 32 bits of that wrap.
///
/// ```
/// use lanecrypt_aes::Aes128;
/// use lanecrypt_modes::{Gcm, cipher::{InOutBuf, KeyInit}};
///
/// let gcm = Gcm::<Aes128>::new(&[0; 16].into());
/// let (message, mut sealed, mut tag) = (*b"a message", [0; 9], [0; 16]);
/// gcm.encrypt(b"an IV", b"", InOutBuf::new(&message, &mut sealed)?, &mut tag)?;
/// let mut opened = [0; 9];
/// gcm.decrypt(b"an IV", b"", InOutBuf::new(&sealed, &mut opened)?, &tag)?;
/// assert_eq!(opened, message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Gcm<C, NonceSize = U12, TagSize = U16> {
    engine: C,
    key: GhashKey,
    sizes: PhantomData<(NonceSize, TagSize)>,
}

impl<C: Engine, N, T> Gcm<C, N, T> {
    /// With an engine that has its key.
    ///
    /// # Errors
    /// [`Error::BlockLength`](EngineError::BlockLength) for blocks of other than 16 bytes; the engine's own errors.
    pub fn of(engine: C) -> Result<Self, EngineError> {
        cleared(|| Self::with_hash(engine, GhashKey::of))
    }

    /// [`of`](Self::of) with a hash that takes no instructions of the CPU; for tests.
    #[doc(hidden)]
    pub fn with_portable_hash(engine: C) -> Result<Self, EngineError> {
        Self::with_hash(engine, GhashKey::portable)
    }

    /// Makes the hash key, and leaves it on the stack too: callers run it on one that is cleared.
    fn with_hash(engine: C, hash_key: impl Fn(&Block) -> GhashKey) -> Result<Self, EngineError> {
        let given = engine.block_bytes();
        if given != 16 {
            return Err(EngineError::BlockLength { mode: Mode::Gcm, given });
        }
        let mut h = Secret::new(Block::default());
        engine.ecb(Direction::Encrypt, h.as_mut_slice().into())?;
        Ok(Self { engine, key: hash_key(&h), sizes: PhantomData })
    }

    /// [`of`](Self::of) where it cannot fail but by the engine.
    fn expected(engine: C) -> Self {
        match Self::with_hash(engine, GhashKey::of) {
            Ok(gcm) => gcm,
            Err(error) => panic!("GCM: {error}"),
        }
    }

    /// The engine.
    pub fn engine(&self) -> &C {
        &self.engine
    }

    /// Encrypts `data` and fills `tag`.
    ///
    /// # Errors
    /// [`Error::EmptyIv`](EngineError::EmptyIv), [`Error::TagLength`](EngineError::TagLength), [`Error::MessageLength`](EngineError::MessageLength): nothing is written then.
    /// The engine's own errors: the output is unspecified then.
    pub fn encrypt(
        &self,
        iv: &[u8],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), EngineError> {
        modes::gcm::check_lengths(iv.len(), aad.len(), data.len(), tag.len())?;
        let message = Message::new(self, iv)?;
        let lengths = [aad.len() as u64, data.len() as u64];
        let mut hash = self.key.start();
        self.key.add(&mut hash, aad);
        let done = match self.key.by_powers(&mut hash) {
            Some((powers, hash)) => {
                let counter = message.counter(0);
                self.engine.ctr32_hashed(&counter.0, powers, hash, data.reborrow())?
            }
            None => 0,
        };
        message.crypt(done / 16, data.split_at(done).1, |ciphertext| {
            self.key.add(&mut hash, ciphertext);
        })?;
        let full = message.tag(self.key.finish(hash, lengths));
        tag.copy_from_slice(&full[..tag.len()]);
        Ok(())
    }

    /// Decrypts `data` if `tag` is the right one.
    ///
    /// # Errors
    /// [`Error::EmptyIv`](EngineError::EmptyIv), [`Error::TagLength`](EngineError::TagLength), [`Error::MessageLength`](EngineError::MessageLength), [`Error::NotAuthentic`](EngineError::NotAuthentic):
    /// nothing is written then. The engine's own errors: the output is unspecified then.
    pub fn decrypt(
        &self,
        iv: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), EngineError> {
        modes::gcm::check_lengths(iv.len(), aad.len(), data.len(), tag.len())?;
        let message = Message::new(self, iv)?;
        let mut hash = self.key.start();
        self.key.add(&mut hash, aad);
        let ciphertext = data.get_in();
        let done = match self.key.by_powers(&mut hash) {
            Some((powers, hash)) => self.engine.ghash(powers, hash, ciphertext)?,
            None => 0,
        };
        self.key.add(&mut hash, &ciphertext[done..]);
        let expected = message.tag(self.key.finish(hash, [aad.len() as u64, data.len() as u64]));
        if !bool::from(expected[..tag.len()].ct_eq(tag)) {
            return Err(EngineError::NotAuthentic);
        }
        modes::ctr32(&self.engine, &message.counter(0), data)
    }
}

/// A message: what follows from its IV.
struct Message<'a, C> {
    engine: &'a C,
    /// The counter block J0.
    first: Block,
    /// J0, encrypted: what hides the hash in the tag.
    mask: Secret<Block>,
}

impl<'a, C: Engine> Message<'a, C> {
    fn new<N, T>(gcm: &'a Gcm<C, N, T>, iv: &[u8]) -> Result<Self, EngineError> {
        let first = Array(modes::gcm::first_counter(iv).unwrap_or_else(|| {
            let mut hash = gcm.key.start();
            gcm.key.add(&mut hash, iv);
            gcm.key.finish(hash, [0, iv.len() as u64])
        }));
        let mut mask = Secret::new(first);
        gcm.engine.ecb(Direction::Encrypt, mask.as_mut_slice().into())?;
        Ok(Self { engine: &gcm.engine, first, mask })
    }

    /// The counter block of block `number` of the data.
    fn counter(&self, number: usize) -> Block {
        Array(modes::gcm::counter(&self.first.0, number as u32))
    }

    /// Runs the key stream from block `number` on over the data, a piece at a time, each of which
    /// `done` gets.
    fn crypt(
        &self,
        mut number: usize,
        mut data: InOutBuf<'_, '_, u8>,
        mut done: impl FnMut(&[u8]),
    ) -> Result<(), EngineError> {
        let piece_bytes =
            modes::gcm::HASHED_AT_ONCE.max(self.engine.chunk_bytes().next_multiple_of(16));
        while !data.is_empty() {
            let length = piece_bytes.min(data.len());
            let (mut piece, rest) = data.split_at(length);
            modes::ctr32(self.engine, &self.counter(number), piece.reborrow())?;
            done(piece.get_out());
            number += length / 16;
            data = rest;
        }
        Ok(())
    }

    fn tag(&self, mut hash: [u8; 16]) -> [u8; 16] {
        for (byte, mask) in hash.iter_mut().zip(self.mask.iter()) {
            *byte ^= mask;
        }
        hash
    }
}

impl<C, N, T> fmt::Debug for Gcm<C, N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gcm").finish_non_exhaustive()
    }
}

impl<C: KeySizeUser, N, T> KeySizeUser for Gcm<C, N, T> {
    type KeySize = C::KeySize;
}

/// # Panics
/// Where the engine fails; CPU engines do not.
impl<C: Engine + BlockSizeUser<BlockSize = U16>, N, T> From<C> for Gcm<C, N, T> {
    fn from(engine: C) -> Self {
        cleared(|| Self::expected(engine))
    }
}

impl<C: Engine + KeyInit + BlockSizeUser<BlockSize = U16>, N, T> KeyInit for Gcm<C, N, T> {
    fn new(key: &Key<Self>) -> Self {
        cleared(|| Self::expected(C::new(key)))
    }
}

impl<C, N: ArraySize, T: TagSize> AeadCore for Gcm<C, N, T> {
    type NonceSize = N;
    type TagSize = T;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: Engine, N: ArraySize, T: TagSize> AeadInOut for Gcm<C, N, T> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Array<u8, N>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Array<u8, T>, Error> {
        let mut tag = Array::default();
        self.encrypt(nonce, associated_data, buffer, &mut tag).map_err(|_| Error)?;
        Ok(tag)
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Array<u8, N>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Array<u8, T>,
    ) -> Result<(), Error> {
        self.decrypt(nonce, associated_data, buffer, tag).map_err(|_| Error)
    }
}

#[cfg(feature = "zeroize")]
impl<C: zeroize::ZeroizeOnDrop, N, T> zeroize::ZeroizeOnDrop for Gcm<C, N, T> {}
