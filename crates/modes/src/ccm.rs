//! CCM (NIST SP 800-38C, RFC 3610) over any engine with blocks of 16 bytes, with the names of the crate `ccm` 0.6.
//!
//! ```
//! use lanecrypt_aes::Aes128;
//! use lanecrypt_modes::ccm::{Ccm, Key, Nonce, aead::{AeadInOut, KeyInit}, consts::{U12, U16}};
//!
//! type Aes128Ccm = Ccm<Aes128, U16, U12>;
//! let cipher = Aes128Ccm::new(&Key::<Aes128Ccm>::from([7; 16]));
//! let (nonce, mut data) = (Nonce::from([1; 12]), *b"a message");
//! let tag = cipher.encrypt_inout_detached(&nonce, b"", data.as_mut_slice().into())?;
//! cipher.decrypt_inout_detached(&nonce, b"", data.as_mut_slice().into(), &tag)?;
//! assert_eq!(&data, b"a message");
//! # Ok::<(), lanecrypt_modes::ccm::Error>(())
//! ```

use core::{fmt, marker::PhantomData};

use aead::TagPosition;
use cipher::{
    Array, BlockSizeUser, InOutBuf,
    array::ArraySize,
    consts::{U4, U6, U7, U8, U9, U10, U11, U12, U13, U14, U16},
};
use lanecrypt_core::{
    ChainedMode, Counter, Direction, Engine, Error as EngineError, Mode, Operation, Secret,
    modes::gcm::in_pieces,
};
use subtle::ConstantTimeEq;

use crate::{cleared, zeros_after_errors};

pub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser};
pub use cipher::consts;

/// A nonce of `NonceSize` bytes.
pub type Nonce<NonceSize> = Array<u8, NonceSize>;
/// A tag of `TagSize` bytes.
pub type Tag<TagSize> = Array<u8, TagSize>;

/// Lengths of tags, in bytes: the even ones from 4 to 16 (SP 800-38C, A.1).
pub trait TagSize: ArraySize {}
/// Lengths of nonces, in bytes: 7 to 13 (SP 800-38C, A.1).
pub trait NonceSize: ArraySize {}

macro_rules! sizes {
    ($size:ident: $($bytes:ty)*) => {$(impl $size for $bytes {})*};
}
sizes!(TagSize: U4 U6 U8 U10 U12 U14 U16);
sizes!(NonceSize: U7 U8 U9 U10 U11 U12 U13);

/// CCM with the cipher `C`, and with the lengths of tags and nonces, in bytes, that `aead`'s traits need:
/// `Ccm<Aes128, U16, U12>` is what TLS 1.3 has in `TLS_AES_128_CCM_SHA256` (RFC 8446).
///
/// [`encrypt`](Self::encrypt) and [`decrypt`](Self::decrypt) take nonces and tags of any length that the standard has.
/// A nonce must never be used twice under one key. A message has less than 2^(8 (15 - n)) bytes, where n is the length
/// of its nonce: with 13 bytes, 65,535.
///
/// The tag is a CBC-MAC, each block of which waits for the one before it; GCM is many times as fast.
///
/// Decryption writes the plaintext before its tag is known. Where the tag is wrong, the plaintext is encrypted again
/// before the call returns, and the output is the ciphertext: in place, what was there before. No other thread should
/// read the output during the call. Tags are compared in constant time.
#[derive(Clone)]
pub struct Ccm<C, TagSize = U16, NonceSize = U12> {
    engine: C,
    sizes: PhantomData<(TagSize, NonceSize)>,
}

impl<C: Engine, T, N> Ccm<C, T, N> {
    /// With an engine that has its key.
    ///
    /// # Errors
    /// [`Error::BlockLength`](EngineError::BlockLength) for blocks of other than 16 bytes.
    pub fn of(engine: C) -> Result<Self, EngineError> {
        match engine.block_bytes() {
            16 => Ok(Self { engine, sizes: PhantomData }),
            given => Err(EngineError::BlockLength { mode: Mode::Ccm, given }),
        }
    }

    /// The engine.
    pub fn engine(&self) -> &C {
        &self.engine
    }

    /// Encrypts `data` and fills `tag`.
    ///
    /// # Errors
    /// [`Error::NonceLength`](EngineError::NonceLength), [`Error::TagLength`](EngineError::TagLength),
    /// [`Error::MessageLength`](EngineError::MessageLength): nothing is written then. The engine's own errors: the
    /// output is unspecified then.
    pub fn encrypt(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), EngineError> {
        let message = CcmMessage::new(nonce, aad, data.len(), tag.len())?;
        let full = message.run(&self.engine, Direction::Encrypt, data)?;
        tag.copy_from_slice(&full[..tag.len()]);
        Ok(())
    }

    /// Decrypts `data` if `tag` is the right one.
    ///
    /// # Errors
    /// [`Error::NonceLength`](EngineError::NonceLength), [`Error::TagLength`](EngineError::TagLength),
    /// [`Error::MessageLength`](EngineError::MessageLength): nothing is written then.
    /// [`Error::NotAuthentic`](EngineError::NotAuthentic): the output is the ciphertext then. The engine's own
    /// errors: the output is zeros then.
    pub fn decrypt(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), EngineError> {
        let message = CcmMessage::new(nonce, aad, data.len(), tag.len())?;
        let decrypted = message.run(&self.engine, Direction::Decrypt, data.reborrow());
        let result = decrypted.and_then(|expected| {
            if bool::from(expected[..tag.len()].ct_eq(tag)) {
                return Ok(());
            }
            let first = message.counter(1);
            self.engine.run(Operation::Ctr(first), data.get_out().into())?;
            Err(EngineError::NotAuthentic)
        });
        zeros_after_errors(result, data.get_out())
    }
}

/// Bytes that are encrypted at once with the first block of the MAC, which waits for none: that block, the mask of the
/// tag, and the key stream of a short message.
const AT_ONCE: usize = 256;

/// Bytes of a message whose key stream is made at once.
const SHORT: usize = AT_ONCE - 32;

/// The length of associated data, which are not empty, as it stands before them: a number and its bytes (SP 800-38C,
/// A.2.2).
fn length_of(aad: u64) -> (u128, usize) {
    let length = u128::from(aad);
    match length {
        0..0xff00 => (length, 2),
        0xff00..=0xffff_ffff => (0xfffe << 32 | length, 6),
        _ => (0xffff << 64 | length, 10),
    }
}

/// What is public of a message: its nonce, its associated data and its lengths.
struct CcmMessage<'a> {
    nonce: &'a [u8],
    aad: &'a [u8],
    /// Bytes of data.
    length: usize,
    /// Bytes of the tag.
    tag: usize,
}

impl<'a> CcmMessage<'a> {
    /// Checks all lengths.
    fn new(nonce: &'a [u8], aad: &'a [u8], length: usize, tag: usize) -> Result<Self, EngineError> {
        if !(7..=13).contains(&nonce.len()) {
            return Err(EngineError::NonceLength { given: nonce.len() });
        }
        if !(4..=16).contains(&tag) || !tag.is_multiple_of(2) {
            return Err(EngineError::TagLength { mode: Mode::Ccm, given: tag });
        }
        let message = Self { nonce, aad, length, tag };
        let (given, most) = (length as u64, u64::MAX >> (64 - 8 * message.length_bytes()));
        if given > most {
            return Err(EngineError::MessageLength { mode: Mode::Ccm, what: "data", given, most });
        }
        Ok(message)
    }

    /// Bytes of the counter, and of the length in the first block: q of SP 800-38C.
    fn length_bytes(&self) -> usize {
        15 - self.nonce.len()
    }

    /// A block of flags, nonce and number: what the MAC begins with, and counters (SP 800-38C, A.2.1 and A.3).
    fn block(&self, flags: usize, number: usize) -> [u8; 16] {
        let mut block = (number as u128).to_be_bytes();
        block[0] = (flags | (self.length_bytes() - 1)) as u8;
        block[1..=self.nonce.len()].copy_from_slice(self.nonce);
        block
    }

    /// The first block of the MAC, which has all lengths (SP 800-38C, A.2.1).
    fn first_block(&self) -> [u8; 16] {
        let has_aad = usize::from(!self.aad.is_empty());
        self.block(has_aad << 6 | ((self.tag - 2) / 2) << 3, self.length)
    }

    /// The counter of block `number` of the key stream, whose block 0 masks the tag.
    fn counter(&self, number: usize) -> Counter {
        Counter::from(self.block(0, number))
    }

    /// Encrypts or decrypts the data and returns the whole tag.
    fn run(
        &self,
        engine: &impl Engine,
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<Secret<[u8; 16]>, EngineError> {
        let is_short = self.length <= SHORT;
        let mut at_once = Secret::new([0; AT_ONCE]);
        let used = 32 + if is_short { self.length.next_multiple_of(16) } else { 0 };
        let blocks = &mut at_once[..used];
        let (first, counters) = blocks.split_at_mut(16);
        first.copy_from_slice(&self.first_block());
        for (number, counter) in (0..).zip(counters.as_chunks_mut::<16>().0) {
            *counter = self.block(0, number);
        }
        engine.ecb(Direction::Encrypt, (&mut *blocks).into())?;
        let (first, rest) = blocks.split_at_mut(16);
        let (mask, key_stream) = rest.split_at(16);
        let mut mac = Mac { register: Secret::new([0; 16]), engine };
        mac.register.copy_from_slice(first);
        mac.associate(self.aad)?;
        if is_short {
            mac.crypt(direction, data, |mut data| {
                data.xor_in2out(&key_stream[..data.len()]);
                Ok(())
            })?;
        } else {
            in_pieces(engine, data, |number, piece| {
                mac.crypt(direction, piece, |piece| {
                    engine.run(Operation::Ctr(self.counter(1 + number)), piece)
                })
            })?;
        }
        let mut tag = mac.register;
        tag.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        Ok(tag)
    }
}

/// A CBC-MAC behind its first block.
struct Mac<'a, E> {
    register: Secret<[u8; 16]>,
    engine: &'a E,
}

/// Bytes that are copied to be absorbed: CBC writes where it reads.
const PIECE: usize = 4096;

impl<E: Engine> Mac<'_, E> {
    /// Runs the key stream over data, and adds the plaintext to the MAC.
    fn crypt(
        &mut self,
        direction: Direction,
        mut data: InOutBuf<'_, '_, u8>,
        key_stream: impl FnOnce(InOutBuf<'_, '_, u8>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        if direction == Direction::Encrypt {
            self.add(&[], data.get_in())?;
            return key_stream(data);
        }
        key_stream(data.reborrow())?;
        self.add(&[], data.get_out())
    }

    /// Adds associated data behind their length.
    fn associate(&mut self, aad: &[u8]) -> Result<(), EngineError> {
        if aad.is_empty() {
            return Ok(());
        }
        let (number, bytes) = length_of(aad.len() as u64);
        self.add(&number.to_be_bytes()[16 - bytes..], aad)
    }

    /// Adds what stands before a text, and the text, with zeros up to a whole block.
    fn add(&mut self, head: &[u8], text: &[u8]) -> Result<(), EngineError> {
        if head.len() + text.len() <= AT_ONCE {
            return self.add_by(&mut *Secret::new([0; AT_ONCE]), head, text);
        }
        self.add_by(&mut *Secret::new([0; PIECE]), head, text)
    }

    /// The same with room for whole blocks.
    fn add_by(&mut self, room: &mut [u8], head: &[u8], text: &[u8]) -> Result<(), EngineError> {
        let (mut head, mut text) = (head, text);
        while !(head.is_empty() && text.is_empty()) {
            let (part, rest) = text.split_at(text.len().min(room.len() - head.len()));
            let used = head.len() + part.len();
            let blocks = &mut room[..used.next_multiple_of(16)];
            blocks[..head.len()].copy_from_slice(head);
            blocks[head.len()..used].copy_from_slice(part);
            blocks[used..].fill(0);
            let mode = ChainedMode::Cbc(Direction::Encrypt);
            mode.run_blocks(self.engine, &mut *self.register, blocks.into())?;
            (head, text) = (&[], rest);
        }
        Ok(())
    }
}

impl<C, T, N> fmt::Debug for Ccm<C, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ccm").finish_non_exhaustive()
    }
}

impl<C: KeySizeUser, T, N> KeySizeUser for Ccm<C, T, N> {
    type KeySize = C::KeySize;
}

impl<C: Engine + BlockSizeUser<BlockSize = U16>, T, N> From<C> for Ccm<C, T, N> {
    fn from(engine: C) -> Self {
        Self { engine, sizes: PhantomData }
    }
}

impl<C: Engine + KeyInit + BlockSizeUser<BlockSize = U16>, T, N> KeyInit for Ccm<C, T, N> {
    fn new(key: &Key<Self>) -> Self {
        // Otherwise the cipher that is moved stays where it was made.
        cleared(|| Self::from(C::new(key)))
    }
}

impl<C, T: TagSize, N: NonceSize> AeadCore for Ccm<C, T, N> {
    type NonceSize = N;
    type TagSize = T;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: Engine, T: TagSize, N: NonceSize> AeadInOut for Ccm<C, T, N> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<N>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<T>, Error> {
        let mut tag = Array::default();
        self.encrypt(nonce, associated_data, buffer, &mut tag).map_err(|_| Error)?;
        Ok(tag)
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<N>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<T>,
    ) -> Result<(), Error> {
        self.decrypt(nonce, associated_data, buffer, tag).map_err(|_| Error)
    }
}

#[cfg(feature = "zeroize")]
impl<C: zeroize::ZeroizeOnDrop, T, N> zeroize::ZeroizeOnDrop for Ccm<C, T, N> {}

#[cfg(test)]
mod tests {
    use super::length_of;

    /// The examples of RFC 3610, 2.2.
    #[test]
    fn lengths_of_associated_data_are_as_in_the_rfc() {
        assert_eq!(length_of(1), (0x0001, 2));
        assert_eq!(length_of(0xfeff), (0xfeff, 2));
        assert_eq!(length_of(0xff00), (0xfffe_0000_ff00, 6));
        assert_eq!(length_of(0xffff_ffff), (0xfffe_ffff_ffff, 6));
        assert_eq!(length_of(0x1_0000_0000), (0xffff_0000_0001_0000_0000, 10));
        assert_eq!(length_of(u64::MAX), (0xffff_ffff_ffff_ffff_ffff, 10));
    }
}
