//! A message of GCM (SP 800-38D) that comes in pieces.

use core::fmt;

use cipher::InOutBuf;
use lanecrypt_core::{
    Counter, Direction, Engine, Error, GcmPass, Mode, Secret,
    modes::{
        self,
        gcm::{MAX_AAD_BYTES, MAX_MESSAGE_BYTES},
    },
};

use crate::{Ghash, GhashKey, gcm::check_block};

const BLOCK: usize = 16;

/// Where in a message the next piece belongs.
///
/// Decryption gives plaintext out before the tag is known to be right: whoever uses it must wait for
/// [`tag`](Self::tag). [`Gcm`](crate::Gcm) is for messages that are at hand.
///
/// Every call takes the hash key and an engine, which must be those of the first call; so that a caller
/// may run long pieces on an engine with threads.
///
/// The tags of two different messages under one IV give the hash key away, and whoever has that forges
/// tags. So [`tag`](Self::tag) takes the message. A clone is for a context that is copied: one of the two
/// is to be given up, or both are to get the same data.
///
/// ```
/// use lanecrypt_aes::Aes128;
/// use lanecrypt_core::{Direction, Engine};
/// use lanecrypt_modes::{Gcm, GcmMessage, GhashKey, cipher::KeyInit};
///
/// let engine = Aes128::new(&[7; 16].into());
/// let mut h = [0; 16];
/// engine.ecb(Direction::Encrypt, h.as_mut_slice().into())?;
/// let key = GhashKey::new(&h.into());
///
/// let mut message = GcmMessage::new(&key, &engine, b"never twice!")?;
/// message.associate(&key, b"header")?;
/// let mut data = *b"two pieces";
/// for piece in data.chunks_mut(4) {
///     message.run(&key, &engine, Direction::Encrypt, piece.into())?;
/// }
/// let tag = message.tag(&key);
/// Gcm::<Aes128>::of(engine)?.decrypt(b"never twice!", b"header", data.as_mut_slice().into(), &tag)?;
/// assert_eq!(&data, b"two pieces");
/// # Ok::<(), lanecrypt_core::Error>(())
/// ```
#[derive(Clone)]
pub struct GcmMessage {
    first: [u8; BLOCK],
    /// J0, encrypted: what hides the hash in the tag.
    mask: Secret<[u8; BLOCK]>,
    hash: Ghash,
    /// What was not hashed yet, as it is no whole block.
    rest: [u8; BLOCK],
    rest_bytes: usize,
    aad_bytes: u64,
    data_bytes: u64,
    /// The block of key stream at hand.
    keystream: Secret<[u8; BLOCK]>,
}

impl GcmMessage {
    /// The beginning of a message.
    ///
    /// # Errors
    /// [`Error::EmptyIv`]; [`Error::BlockLength`] for blocks of other than 16 bytes; the engine's own errors.
    pub fn new<E: Engine + ?Sized>(key: &GhashKey, engine: &E, iv: &[u8]) -> Result<Self, Error> {
        if iv.is_empty() {
            return Err(Error::EmptyIv);
        }
        Self::from_first(key, engine, key.first_counter(iv))
    }

    /// The beginning of the message whose counter block J0 is `first`.
    pub(crate) fn from_first<E: Engine + ?Sized>(
        key: &GhashKey,
        engine: &E,
        first: [u8; BLOCK],
    ) -> Result<Self, Error> {
        check_block(engine)?;
        let mut mask = Secret::new(first);
        engine.ecb(Direction::Encrypt, mask.as_mut_slice().into())?;
        Ok(Self {
            first,
            mask,
            hash: key.start(),
            rest: [0; BLOCK],
            rest_bytes: 0,
            aad_bytes: 0,
            data_bytes: 0,
            keystream: Secret::new([0; BLOCK]),
        })
    }

    /// Adds associated data, which comes before all data.
    ///
    /// # Errors
    /// [`Error::LateAssociatedData`], [`Error::MessageLength`].
    pub fn associate(&mut self, key: &GhashKey, aad: &[u8]) -> Result<(), Error> {
        if self.data_bytes > 0 {
            return Err(Error::LateAssociatedData);
        }
        let given = self.aad_bytes.saturating_add(aad.len() as u64);
        if given > MAX_AAD_BYTES {
            let (what, most) = ("associated data", MAX_AAD_BYTES);
            return Err(Error::MessageLength { mode: Mode::Gcm, what, given, most });
        }
        self.aad_bytes = given;
        self.absorb(key, aad);
        Ok(())
    }

    /// Encrypts or decrypts the next piece, of any length. An empty piece changes nothing: associated
    /// data may still come after it, if it may come before.
    ///
    /// # Errors
    /// [`Error::MessageLength`], [`Error::BlockLength`]: nothing is written then. The engine's own errors.
    pub fn run<E: Engine + ?Sized>(
        &mut self,
        key: &GhashKey,
        engine: &E,
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let given = self.data_bytes.saturating_add(data.len() as u64);
        if given > MAX_MESSAGE_BYTES {
            let (what, most) = ("data", MAX_MESSAGE_BYTES);
            return Err(Error::MessageLength { mode: Mode::Gcm, what, given, most });
        }
        check_block(engine)?;
        if data.is_empty() {
            return Ok(());
        }
        if self.data_bytes == 0 {
            self.fill_up(key);
        }
        let used = (self.data_bytes % BLOCK as u64) as usize;
        let head = if used == 0 { 0 } else { data.len().min(BLOCK - used) };
        let (head, data) = data.split_at(head);
        self.run_part(key, direction, head);
        let whole = data.len() / BLOCK * BLOCK;
        let (blocks, tail) = data.split_at(whole);
        if !blocks.is_empty() {
            self.run_blocks(key, engine, direction, blocks)?;
        }
        if !tail.is_empty() {
            *self.keystream = self.counter();
            engine.ecb(Direction::Encrypt, self.keystream.as_mut_slice().into())?;
            self.run_part(key, direction, tail);
        }
        Ok(())
    }

    /// The tag, which ends the message.
    ///
    /// ```compile_fail,E0382
    /// # use lanecrypt_modes::{GcmMessage, GhashKey};
    /// fn two_tags(message: GcmMessage, key: &GhashKey) -> [[u8; 16]; 2] {
    ///     [message.tag(key), message.tag(key)]
    /// }
    /// ```
    #[must_use]
    pub fn tag(mut self, key: &GhashKey) -> [u8; BLOCK] {
        self.fill_up(key);
        let mut tag = key.finish(self.hash, [self.aad_bytes, self.data_bytes]);
        for (byte, mask) in tag.iter_mut().zip(*self.mask) {
            *byte ^= mask;
        }
        tag
    }

    /// The counter block of the next block.
    fn counter(&self) -> [u8; BLOCK] {
        modes::gcm::counter(&self.first, (self.data_bytes / BLOCK as u64) as u32)
    }

    /// A part of the block at hand.
    fn run_part(&mut self, key: &GhashKey, direction: Direction, mut data: InOutBuf<'_, '_, u8>) {
        if direction == Direction::Decrypt {
            self.absorb(key, data.get_in());
        }
        let used = (self.data_bytes % BLOCK as u64) as usize;
        data.xor_in2out(&self.keystream[used..used + data.len()]);
        if direction == Direction::Encrypt {
            self.absorb(key, data.get_out());
        }
        self.data_bytes += data.len() as u64;
    }

    /// Whole blocks; nothing waits to be hashed. In one pass where the engine has one, otherwise in pieces that stay
    /// in the first cache.
    fn run_blocks<E: Engine + ?Sized>(
        &mut self,
        key: &GhashKey,
        engine: &E,
        direction: Direction,
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let bytes = data.len() as u64;
        let before = Counter::from(self.first).plus32((self.data_bytes / BLOCK as u64).into());
        let is_done = key.by_powers(&mut self.hash, |powers, hash| {
            let mut counter = self.first;
            before.fill(&mut counter);
            let pass = GcmPass { direction, counter, powers, hash, whole: None };
            engine.gcm(pass, data.reborrow())
        });
        if is_done.transpose()? != Some(true) {
            modes::gcm::run_hashed(engine, direction, before, data, |ciphertext| {
                key.add(&mut self.hash, ciphertext);
            })?;
        }
        self.data_bytes += bytes;
        Ok(())
    }

    /// Hashes bytes, and keeps what is no whole block.
    fn absorb(&mut self, key: &GhashKey, mut bytes: &[u8]) {
        if self.rest_bytes > 0 {
            let (part, after) = bytes.split_at(bytes.len().min(BLOCK - self.rest_bytes));
            self.rest[self.rest_bytes..][..part.len()].copy_from_slice(part);
            self.rest_bytes += part.len();
            bytes = after;
            if self.rest_bytes < BLOCK {
                return;
            }
            self.fill_up(key);
        }
        let (blocks, rest) = bytes.split_at(bytes.len() / BLOCK * BLOCK);
        key.add(&mut self.hash, blocks);
        self.rest[..rest.len()].copy_from_slice(rest);
        self.rest_bytes = rest.len();
    }

    /// Hashes what is left, with zeros up to a whole block.
    fn fill_up(&mut self, key: &GhashKey) {
        key.add(&mut self.hash, &self.rest[..self.rest_bytes]);
        self.rest_bytes = 0;
    }
}

impl fmt::Debug for GcmMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcmMessage").field("bytes", &self.data_bytes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_aes::{Aes128, cipher::KeyInit};

    use super::*;

    fn started() -> (Aes128, GhashKey, GcmMessage) {
        let cipher = Aes128::new(&[1; 16].into());
        let key = GhashKey::new(&[2; 16].into());
        let message = GcmMessage::new(&key, &cipher, &[3; 12]).expect("an IV");
        (cipher, key, message)
    }

    /// The state is set to one near the end, which takes 64 GiB of data to come to.
    #[test]
    fn a_message_has_an_end() {
        let (cipher, key, mut message) = started();
        message.data_bytes = MAX_MESSAGE_BYTES - 32;
        let mut run = |data: &mut [u8]| message.run(&key, &cipher, Direction::Encrypt, data.into());
        for length in [33, 48, 1000] {
            let mut data = [0; 1000];
            let error = run(&mut data[..length]).expect_err("more than one IV is for");
            let Error::MessageLength { what: "data", given, most, .. } = error else {
                panic!("{error}");
            };
            assert_eq!((given, most), ((1 << 36) - 64 + length as u64, (1 << 36) - 32));
            assert_eq!(data, [0; 1000], "nothing is written");
        }
        run(&mut [0; 32]).expect("the last bytes");
        run(&mut []).expect("nothing more");
        assert!(run(&mut [0]).is_err(), "a byte more");
    }

    /// Its end is two exabytes away.
    #[test]
    fn associated_data_has_an_end() {
        let (_, key, mut message) = started();
        message.aad_bytes = MAX_AAD_BYTES - 2;
        message.associate(&key, &[0; 2]).expect("the last bytes");
        message.associate(&key, &[]).expect("nothing more");
        let error = message.associate(&key, &[0]).expect_err("a byte more");
        let Error::MessageLength { what: "associated data", given, most, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((given, most), (1 << 61, (1 << 61) - 1));
    }
}
