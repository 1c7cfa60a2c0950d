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
use lanecrypt_core::{
    Counter, Direction, Engine, Error as EngineError, GcmPass, Mode, Secret, modes,
};
use subtle::ConstantTimeEq;

use crate::{GcmMessage, GhashKey, cleared, zeros_after_errors};

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
/// of 4 to 16 bytes. An IV must never be used twice under one key.
///
/// Decryption is one pass, so the plaintext is written before its tag is known. Where the tag is wrong, the plaintext
/// is encrypted again before the call returns, and the output is the ciphertext: in place, what was there
/// before. No other thread should read the output during the call. Tags are compared in constant time.
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
    ///
    /// # Errors
    /// As [`of`](Self::of).
    #[doc(hidden)]
    pub fn with_portable_hash(engine: C) -> Result<Self, EngineError> {
        Self::with_hash(engine, GhashKey::portable)
    }

    /// Makes the hash key, and leaves it on the stack too: callers run it on one that is cleared.
    fn with_hash(engine: C, hash_key: impl Fn(&Block) -> GhashKey) -> Result<Self, EngineError> {
        let h = hash_subkey(&engine)?;
        Ok(Self { key: hash_key(&h), engine, sizes: PhantomData })
    }

    /// [`of`](Self::of) where it cannot fail but by the engine.
    fn expected(engine: C) -> Self {
        let h = match hash_subkey(&engine) {
            Ok(h) => h,
            Err(error) => panic!("GCM: {error}"),
        };
        Self { key: GhashKey::of(&h), engine, sizes: PhantomData }
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
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), EngineError> {
        modes::gcm::check_lengths(iv.len(), aad.len(), data.len(), tag.len())?;
        let full = self.run(Direction::Encrypt, &self.key.first_counter(iv), aad, data)?;
        tag.copy_from_slice(&full[..tag.len()]);
        Ok(())
    }

    /// Decrypts `data` if `tag` is the right one.
    ///
    /// # Errors
    /// [`Error::EmptyIv`](EngineError::EmptyIv), [`Error::TagLength`](EngineError::TagLength), [`Error::MessageLength`](EngineError::MessageLength): nothing is written then.
    /// [`Error::NotAuthentic`](EngineError::NotAuthentic): the output is the ciphertext then. The engine's own
    /// errors: the output is zeros then.
    pub fn decrypt(
        &self,
        iv: &[u8],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), EngineError> {
        modes::gcm::check_lengths(iv.len(), aad.len(), data.len(), tag.len())?;
        let first = self.key.first_counter(iv);
        let decrypted = self.run(Direction::Decrypt, &first, aad, data.reborrow());
        let result = decrypted.and_then(|expected| {
            if bool::from(expected[..tag.len()].ct_eq(tag)) {
                return Ok(());
            }
            modes::ctr32(&self.engine, &modes::gcm::counter(&first, 0), data.get_out().into())?;
            Err(EngineError::NotAuthentic)
        });
        zeros_after_errors(result, data.get_out())
    }

    /// Encrypts or decrypts a message from J0 on, in one pass where the engine has one, and returns its tag.
    fn run(
        &self,
        direction: Direction,
        first: &[u8; 16],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<Secret<[u8; 16]>, EngineError> {
        let (counter, whole, mut tag) = (*first, Some(aad), Secret::new([0; 16]));
        let is_done = self.key.with_powers(|powers| {
            let pass = GcmPass { direction, counter, powers, hash: &mut tag, whole };
            self.engine.gcm(pass, data.reborrow())
        });
        if is_done.transpose()? == Some(true) {
            return Ok(tag);
        }
        if data.len() <= MOST_SHORT {
            return self.run_short(direction, first, aad, data);
        }
        let mut message = GcmMessage::from_first(&self.key, &self.engine, *first)?;
        message.associate(&self.key, aad)?;
        message.run(&self.key, &self.engine, direction, data)?;
        Ok(Secret::new(message.tag(&self.key)))
    }
}

/// The most bytes of a message whose key stream an engine without a pass of its own makes at once, with the block that masks
/// its tag: two calls for a block each take twice as long as one.
const MOST_SHORT: usize = 240;

impl<C: Engine, N, T> Gcm<C, N, T> {
    /// Runs a message of [`MOST_SHORT`] bytes at most from J0 on, and returns its tag.
    fn run_short(
        &self,
        direction: Direction,
        first: &[u8; 16],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<Secret<[u8; 16]>, EngineError> {
        let length = data.len();
        let mut masks = Secret::new([0; 16 + MOST_SHORT]);
        let masks = &mut masks[..16 + length.next_multiple_of(16)];
        for (number, mask) in (0..).zip(masks.as_chunks_mut::<16>().0) {
            Counter::from(*first).plus32(number).fill(mask);
        }
        self.engine.ecb(Direction::Encrypt, (&mut *masks).into())?;
        let (tag_mask, keystream) = masks.split_at(16);
        let mut hash = self.key.start();
        self.key.add(&mut hash, aad);
        if direction == Direction::Decrypt {
            self.key.add(&mut hash, data.get_in());
        }
        data.xor_in2out(&keystream[..length]);
        if direction == Direction::Encrypt {
            self.key.add(&mut hash, data.get_out());
        }
        let mut tag = Secret::new(self.key.finish(hash, [aad.len() as u64, length as u64]));
        for (byte, mask) in tag.iter_mut().zip(tag_mask) {
            *byte ^= mask;
        }
        Ok(tag)
    }
}

/// Refuses a cipher of other blocks than those of 16 bytes.
pub(crate) fn check_block<E: Engine + ?Sized>(engine: &E) -> Result<(), EngineError> {
    match engine.block_bytes() {
        16 => Ok(()),
        given => Err(EngineError::BlockLength { mode: Mode::Gcm, given }),
    }
}

/// The block of zeros, encrypted (SP 800-38D, 7.1, step 1).
fn hash_subkey(engine: &impl Engine) -> Result<Secret<Block>, EngineError> {
    check_block(engine)?;
    let mut h = Secret::new(Block::default());
    engine.ecb(Direction::Encrypt, h.as_mut_slice().into())?;
    Ok(h)
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
