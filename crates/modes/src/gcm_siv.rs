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
use lanecrypt_core::{
    Counter, Direction, Engine, Error as EngineError, Mode, Operation, Secret,
    modes::gcm::in_pieces,
};
use lanecrypt_slicing::{on_cleared_stack, polyval};
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

/// Bytes of a message that is in the first cache as a whole.
const SHORT: usize = 8 << 10;

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
        let mut tag = [0; 16];
        self.encrypt_with_tag(nonce, aad, data, &mut tag)?;
        Ok(tag)
    }

    /// [`encrypt`](Self::encrypt), where `tag`, of zeros, becomes the tag: in a result of one of our errors it would lie
    /// askew, and be moved by parts.
    fn encrypt_with_tag(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8; 16],
    ) -> Result<(), EngineError> {
        check_lengths(aad.len(), data.len())?;
        cleared_message(|| {
            let mut keys = MessageKeys::default();
            keys.derive(&self.engine, nonce)?;
            let engine = keys.engine::<C>();
            keys.hash_of(aad, data.get_in(), tag);
            seal(&engine, tag, nonce)?;
            crypt(&engine, tag, 0, data)
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
            let mut keys = MessageKeys::default();
            keys.derive(&self.engine, nonce)?;
            let engine = keys.engine::<C>();
            let mut expected = [0; 16];
            if data.len() <= SHORT {
                crypt(&engine, tag, 0, data.reborrow())?;
                keys.hash_of(aad, data.get_out(), &mut expected);
            } else {
                // The plaintext is hashed while it is in the first cache.
                let mut hash = keys.hash();
                hash.add(aad);
                in_pieces(&engine, data.reborrow(), |number, mut piece| {
                    crypt(&engine, tag, number, piece.reborrow())?;
                    hash.add(piece.get_out());
                    Ok(())
                })?;
                expected = hash.finish([aad.len() as u64, data.len() as u64]);
            }
            seal(&engine, &mut expected, nonce)?;
            if bool::from(expected.ct_eq(tag)) {
                return Ok(());
            }
            crypt(&engine, tag, 0, data.get_out().into())?;
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
            return Err(EngineError::MessageLength { mode: Mode::GcmSiv, what, given, most });
        }
    }
    Ok(())
}

/// The keys of a message.
struct MessageKeys {
    authentication: Secret<[u8; 16]>,
    /// As long as the key that generates keys.
    encryption: Secret<[u8; 32]>,
}

impl Default for MessageKeys {
    /// Room for them.
    fn default() -> Self {
        Self { authentication: Secret::new([0; 16]), encryption: Secret::new([0; 32]) }
    }
}

impl MessageKeys {
    /// Derives them (RFC 8452, 4): the first halves of counters and nonce, encrypted.
    fn derive<C: SivCipher>(
        &mut self,
        generating: &C,
        nonce: &[u8; 12],
    ) -> Result<(), EngineError> {
        // Counters that are encrypted are the key stream, of which zeros show what it is.
        let mut blocks = Secret::new([[0; 16]; 6]);
        let blocks = &mut blocks[..2 + C::KeySize::USIZE / 8];
        let first = (number_of(nonce) << 32).to_le_bytes();
        let counters = Operation::Ctr32Le(Counter::from(first));
        generating.run(counters, blocks.as_flattened_mut().into())?;
        let halves = self.authentication.as_chunks_mut::<8>().0.iter_mut();
        let halves = halves.chain(self.encryption.as_chunks_mut::<8>().0);
        for (half, block) in halves.zip(blocks) {
            half.copy_from_slice(&block[..8]);
        }
        Ok(())
    }

    /// The cipher under the message-encryption key.
    #[inline] // so that it is made where it stays, as the hash is
    fn engine<C: SivCipher>(&self) -> C {
        let key = &self.encryption[..C::KeySize::USIZE];
        C::new(key.try_into().expect("the length of a key"))
    }

    /// The hash of nothing under the message-authentication key, for a message in pieces.
    fn hash(&self) -> Polyval {
        Polyval::new(&self.authentication, GhashKey::of)
    }

    /// Makes `hash`, which is zeros, the hash of a message at hand.
    fn hash_of(&self, aad: &[u8], data: &[u8], hash: &mut [u8; 16]) {
        let lengths = [aad.len() as u64, data.len() as u64];
        let last = Polyval::lengths(lengths);
        if !polyval(&self.authentication, [aad, data], &last, hash) {
            let mut portable = self.hash();
            portable.add(aad);
            portable.add(data);
            *hash = portable.finish(lengths);
        }
    }
}

/// The highest bit of the last byte.
const LAST_BIT: u128 = 1 << 127;

/// A nonce as a number. What bytes are put together from by ones and by fours waits for each of them when it is
/// loaded as a whole, as long as the cipher takes.
fn number_of(nonce: &[u8; 12]) -> u128 {
    let (words, _) = nonce.as_chunks::<4>();
    words.iter().rev().fold(0, |number, word| number << 32 | u128::from(u32::from_le_bytes(*word)))
}

/// Makes the hash of a message its tag.
fn seal<C: Engine>(engine: &C, hash: &mut [u8; 16], nonce: &[u8; 12]) -> Result<(), EngineError> {
    let sum = u128::from_le_bytes(*hash) ^ number_of(nonce);
    *hash = (sum & !LAST_BIT).to_le_bytes();
    engine.ecb(Direction::Encrypt, hash.as_mut_slice().into())
}

/// Runs the key stream that `tag` begins, from block `number` on.
fn crypt(
    engine: &impl Engine,
    tag: &[u8; 16],
    number: usize,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), EngineError> {
    let first: Tag = Array((u128::from_le_bytes(*tag) | LAST_BIT).to_le_bytes());
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
        let mut tag = Tag::default();
        self.encrypt_with_tag(&nonce.0, associated_data, buffer, &mut tag.0).map_err(|_| Error)?;
        Ok(tag)
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
            let Err(EngineError::MessageLength { mode, what: named, given, most: limit }) =
                check_lengths(aad, data)
            else {
                panic!("a byte too many of {what} is accepted");
            };
            assert_eq!((named, given, limit), (what, most as u64 + 1, most as u64));
            assert_eq!(mode, Mode::GcmSiv);
        }
    }
}
