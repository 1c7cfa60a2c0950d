//! AES-GCM-SIV (RFC 8452), over any cipher with blocks of 16 bytes and keys of 16 or 32, with the names of the
//! crate `aes-gcm-siv` 0.12.
//!
//! ```
//! # #[cfg(feature = "aes")] {
//! use lanecrypt_modes::gcm_siv::{Aes256GcmSiv, Key, Nonce, aead::{AeadInOut, KeyInit}};
//!
//! let cipher = Aes256GcmSiv::new(&Key::<Aes256GcmSiv>::from([7; 32]));
//! let (nonce, mut data) = (Nonce::from([1; 12]), *b"a message");
//! let tag = cipher.encrypt_inout_detached(&nonce, b"", data.as_mut_slice().into())?;
//! cipher.decrypt_inout_detached(&nonce, b"", data.as_mut_slice().into(), &tag)?;
//! assert_eq!(&data, b"a message");
//! # }
//! # Ok::<(), lanecrypt_modes::gcm_siv::Error>(())
//! ```

use core::fmt;

use aead::TagPosition;
use cipher::{
    Array, BlockSizeUser, InOutBuf,
    array::ArraySize,
    consts::{U12, U16, U32},
    typenum::Unsigned,
};
use lanecrypt_core::{Direction, Engine, Error as EngineError, Secret, modes::gcm::in_pieces};
use lanecrypt_slicing::on_cleared_stack;
use subtle::ConstantTimeEq;

use crate::{
    cleared,
    ctr::{flavors::Ctr32LE, key_stream},
    hash::{GhashKey, Polyval},
    zeros_after_errors,
};

pub use self::GcmSiv as AesGcmSiv;
pub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser};
#[cfg(feature = "aes")]
pub use lanecrypt_aes as aes;

/// The most bytes of associated data (RFC 8452, 6).
pub const A_MAX: u64 = 1 << 36;
/// The most bytes of data (RFC 8452, 6).
pub const P_MAX: u64 = 1 << 36;
/// The most bytes of ciphertext, its tag included (RFC 8452, 6).
pub const C_MAX: u64 = (1 << 36) + 16;

/// A nonce.
pub type Nonce = Array<u8, U12>;
/// A tag.
pub type Tag = Array<u8, U16>;

/// AES-GCM-SIV with keys of 128 bits.
#[cfg(feature = "aes")]
pub type Aes128GcmSiv = GcmSiv<aes::Aes128>;
/// AES-GCM-SIV with keys of 256 bits.
#[cfg(feature = "aes")]
pub type Aes256GcmSiv = GcmSiv<aes::Aes256>;

/// A cipher that GCM-SIV takes: blocks of 16 bytes, and keys of 16 or 32.
pub trait SivCipher:
    Engine + KeyInit + BlockSizeUser<BlockSize = U16> + KeySizeUser<KeySize: SivKeySize>
{
}
impl<C: Engine + KeyInit + BlockSizeUser<BlockSize = U16> + KeySizeUser<KeySize: SivKeySize>>
    SivCipher for C
{
}

/// Keys that RFC 8452 derives: of 16 and of 32 bytes.
pub trait SivKeySize: ArraySize {}
impl SivKeySize for U16 {}
impl SivKeySize for U32 {}

/// GCM-SIV with the cipher `C` under the key that generates keys: `GcmSiv<Aes256>` is
/// `aes_gcm_siv::Aes256GcmSiv`.
///
/// Every message is encrypted and authenticated under keys of its own, derived from the nonce. A nonce that is
/// used twice tells whether the two messages, associated data included, were the same, and nothing else.
///
/// Tags are those of plaintexts, so decryption writes the plaintext before it can check the tag. Where the tag
/// is wrong, the plaintext is encrypted again before the call returns, and the output is the ciphertext: in
/// place, what was there before. No other thread should read the output during the call. Tags are compared in
/// constant time.
#[derive(Clone)]
pub struct GcmSiv<C> {
    engine: C,
}

impl<C: SivCipher> GcmSiv<C> {
    /// Encrypts `data` and returns its tag.
    ///
    /// # Errors
    /// [`Error::MessageLength`](EngineError::MessageLength) for more than [`P_MAX`] bytes of data or [`A_MAX`]
    /// of associated data: nothing is written then. The engine's own errors: the output is unspecified then.
    pub fn encrypt(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<[u8; 16], EngineError> {
        check_lengths(aad.len(), data.len())?;
        cleared_message(|| {
            let mut message = Message::new(&self.engine, nonce)?;
            message.hash.add(aad);
            message.hash.add(data.get_in());
            let lengths = [aad.len() as u64, data.len() as u64];
            let tag = message.tag(lengths)?;
            crypt(&message.engine, &tag, 0, data)?;
            Ok(tag)
        })
    }

    /// Decrypts `data` if `tag` is the right one.
    ///
    /// # Errors
    /// [`Error::MessageLength`](EngineError::MessageLength), as [`encrypt`](Self::encrypt): nothing is written
    /// then. [`Error::NotAuthentic`](EngineError::NotAuthentic): the output is the ciphertext then. The engine's
    /// own errors: the output is zeros then.
    pub fn decrypt(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
        tag: &[u8; 16],
    ) -> Result<(), EngineError> {
        check_lengths(aad.len(), data.len())?;
        let result = cleared_message(|| {
            let mut message = Message::new(&self.engine, nonce)?;
            message.hash.add(aad);
            message.decrypt(tag, data.reborrow())?;
            let expected = message.tag([aad.len() as u64, data.len() as u64])?;
            if bool::from(expected.ct_eq(tag)) {
                return Ok(());
            }
            crypt(&message.engine, tag, 0, data.get_out().into())?;
            Err(EngineError::NotAuthentic)
        });
        zeros_after_errors(result, data.get_out())
    }
}

/// Runs a message on a stack where nothing remains of the keys that it derives.
#[inline]
fn cleared_message<R>(work: impl FnOnce() -> R) -> R {
    on_cleared_stack::<{ 10 << 10 }, { 24 << 10 }, R>(work)
}

fn check_lengths(aad: usize, data: usize) -> Result<(), EngineError> {
    for (what, given, most) in
        [("data", data as u64, P_MAX), ("associated data", aad as u64, A_MAX)]
    {
        if given > most {
            return Err(EngineError::MessageLength { what, given, most });
        }
    }
    Ok(())
}

/// A message: what follows from its nonce.
struct Message<'a, C> {
    /// Under the message-encryption key.
    engine: C,
    /// Under the message-authentication key.
    hash: Polyval,
    nonce: &'a [u8; 12],
}

impl<'a, C: SivCipher> Message<'a, C> {
    /// Derives the keys (RFC 8452, 4): the first halves of counters and nonce, encrypted.
    fn new(generating: &C, nonce: &'a [u8; 12]) -> Result<Self, EngineError> {
        let key_bytes = C::KeySize::USIZE;
        let mut blocks = Secret::new([[0; 16]; 6]);
        let blocks = &mut blocks[..2 + key_bytes / 8];
        for (number, block) in (0_u32..).zip(&mut *blocks) {
            block[..4].copy_from_slice(&number.to_le_bytes());
            block[4..].copy_from_slice(nonce);
        }
        generating.ecb(Direction::Encrypt, blocks.as_flattened_mut().into())?;
        let mut keys = Secret::new([0; 48]);
        for (half, block) in keys.as_chunks_mut::<8>().0.iter_mut().zip(blocks) {
            half.copy_from_slice(&block[..8]);
        }
        let (hash_key, keys) = keys.split_first_chunk::<16>().expect("48 bytes");
        let key = <&Key<C>>::try_from(&keys[..key_bytes]).expect("the length of a key");
        Ok(Self { engine: C::new(key), hash: Polyval::new(hash_key, GhashKey::of), nonce })
    }

    /// Decrypts, and hashes the plaintext while it is in the first cache.
    fn decrypt(&mut self, tag: &[u8; 16], data: InOutBuf<'_, '_, u8>) -> Result<(), EngineError> {
        let Self { engine, hash, .. } = self;
        in_pieces(engine, data, |number, mut piece| {
            crypt(engine, tag, number, piece.reborrow())?;
            hash.add(piece.get_out());
            Ok(())
        })
    }

    /// The tag of what was hashed, of which the lengths are in bytes.
    fn tag(&mut self, lengths: [u64; 2]) -> Result<[u8; 16], EngineError> {
        let mut tag = self.hash.finish(lengths);
        for (byte, nonce) in tag.iter_mut().zip(self.nonce) {
            *byte ^= nonce;
        }
        tag[15] &= 0x7f;
        self.engine.ecb(Direction::Encrypt, tag.as_mut_slice().into())?;
        Ok(tag)
    }
}

/// Runs the key stream that `tag` begins, from block `number` on.
fn crypt(
    engine: &impl Engine,
    tag: &[u8; 16],
    number: usize,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), EngineError> {
    let mut first: Tag = Array(*tag);
    first[15] |= 0x80;
    key_stream::<_, _, Ctr32LE>(engine, &first, number as u128, data)
}

impl<C> fmt::Debug for GcmSiv<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcmSiv").finish_non_exhaustive()
    }
}

impl<C: KeySizeUser> KeySizeUser for GcmSiv<C> {
    type KeySize = C::KeySize;
}

impl<C: SivCipher> From<C> for GcmSiv<C> {
    fn from(engine: C) -> Self {
        Self { engine }
    }
}

impl<C: SivCipher> KeyInit for GcmSiv<C> {
    fn new(key: &Key<Self>) -> Self {
        // Otherwise the cipher that is moved stays where it was made.
        cleared(|| Self { engine: C::new(key) })
    }
}

impl<C: SivCipher> AeadCore for GcmSiv<C> {
    type NonceSize = U12;
    type TagSize = U16;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: SivCipher> AeadInOut for GcmSiv<C> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag, Error> {
        self.encrypt(&nonce.0, associated_data, buffer).map(Array).map_err(|_| Error)
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag,
    ) -> Result<(), Error> {
        self.decrypt(&nonce.0, associated_data, buffer, &tag.0).map_err(|_| Error)
    }
}

#[cfg(feature = "zeroize")]
impl<C: zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for GcmSiv<C> {}

#[cfg(test)]
#[cfg(target_pointer_width = "64")]
mod tests {
    use super::*;

    /// RFC 8452, 6: 2^36 bytes of each.
    #[test]
    fn messages_have_an_end() {
        let most = 1 << 36;
        check_lengths(most, most).expect("the longest there is");
        for (aad, data, what) in [(0, most + 1, "data"), (most + 1, 0, "associated data")] {
            let Err(EngineError::MessageLength { what: named, given, most: limit }) =
                check_lengths(aad, data)
            else {
                panic!("a byte too many of {what} is accepted");
            };
            assert_eq!((named, given, limit), (what, most as u64 + 1, most as u64));
        }
    }
}
