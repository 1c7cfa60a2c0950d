//! A message of GCM (SP 800-38D) that comes in pieces, as `EVP_CipherUpdate` sends it.
//!
//! Plaintext is given out before the tag is known to be right: that is what such an interface is, and
//! its user must wait for `EVP_DecryptFinal_ex`.

use std::sync::Arc;

use lanecrypt::{
    Direction, Engine, Error, Ghash, GhashKey,
    cipher::InOutBuf,
    modes::{self, gcm::HASHED_AT_ONCE},
};
use zeroize::Zeroizing;

use crate::{Algorithm, Key, Reason};

const BLOCK: usize = 16;

/// A cipher and the hash under one key.
pub(crate) struct GcmKey {
    cipher: Arc<Key>,
    hash: GhashKey,
}

impl GcmKey {
    pub(crate) fn new(algorithm: &Algorithm, key: &[u8]) -> Result<Arc<Self>, Reason> {
        let cipher = Key::new(algorithm, key)?;
        let mut h = Zeroizing::new([0; BLOCK]);
        cipher.engine().ecb(Direction::Encrypt, h.as_mut_slice().into())?;
        let hash = GhashKey::new((&*h).into());
        Ok(Arc::new(Self { cipher, hash }))
    }

    /// The counter block J0 of an IV.
    fn first_counter(&self, iv: &[u8]) -> [u8; BLOCK] {
        modes::gcm::first_counter(iv).unwrap_or_else(|| {
            let mut hash = self.hash.start();
            self.hash.add(&mut hash, iv);
            self.hash.finish(hash, [0, iv.len() as u64])
        })
    }
}

/// Where in a message the next piece belongs.
#[derive(Clone)]
pub(crate) struct Message {
    first: [u8; BLOCK],
    /// J0, encrypted: what hides the hash in the tag.
    mask: Zeroizing<[u8; BLOCK]>,
    hash: Ghash,
    /// What was not hashed yet, as it is no whole block.
    rest: [u8; BLOCK],
    rest_bytes: usize,
    aad_bytes: u64,
    data_bytes: u64,
    /// The block of key stream at hand.
    keystream: Zeroizing<[u8; BLOCK]>,
}

impl Message {
    pub(crate) fn new(key: &GcmKey, iv: &[u8]) -> Result<Self, Reason> {
        let first = key.first_counter(iv);
        let mut mask = Zeroizing::new(first);
        key.cipher.engine().ecb(Direction::Encrypt, mask.as_mut_slice().into())?;
        Ok(Self {
            first,
            mask,
            hash: key.hash.start(),
            rest: [0; BLOCK],
            rest_bytes: 0,
            aad_bytes: 0,
            data_bytes: 0,
            keystream: Zeroizing::default(),
        })
    }

    /// Adds associated data, which comes before all data.
    pub(crate) fn associate(&mut self, key: &GcmKey, aad: &[u8]) -> Result<(), Reason> {
        let total = self.aad_bytes.saturating_add(aad.len() as u64);
        if self.data_bytes > 0 || total > modes::gcm::MAX_AAD_BYTES {
            return Err(Reason::Operation);
        }
        self.aad_bytes = total;
        self.absorb(key, aad);
        Ok(())
    }

    /// Encrypts or decrypts a piece.
    pub(crate) fn run(
        &mut self,
        key: &GcmKey,
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Reason> {
        let total = self.data_bytes.saturating_add(data.len() as u64);
        if total > modes::gcm::MAX_MESSAGE_BYTES {
            return Err(Reason::Operation);
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
            self.run_blocks(key, direction, blocks)?;
        }
        if !tail.is_empty() {
            *self.keystream = self.counter();
            key.cipher.engine().ecb(Direction::Encrypt, self.keystream.as_mut_slice().into())?;
            self.run_part(key, direction, tail);
        }
        Ok(())
    }

    /// The tag; the message is over.
    pub(crate) fn tag(&mut self, key: &GcmKey) -> [u8; BLOCK] {
        self.fill_up(key);
        let hash = std::mem::replace(&mut self.hash, key.hash.start());
        let mut tag = key.hash.finish(hash, [self.aad_bytes, self.data_bytes]);
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
    fn run_part(&mut self, key: &GcmKey, direction: Direction, mut data: InOutBuf<'_, '_, u8>) {
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

    /// Whole blocks; nothing waits to be hashed.
    fn run_blocks(
        &mut self,
        key: &GcmKey,
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Reason> {
        let (counter, bytes) = (self.counter(), data.len());
        let hash = &mut self.hash;
        key.cipher.run(bytes, |engine| match direction {
            Direction::Encrypt => encrypt(engine, &key.hash, hash, &counter, data),
            Direction::Decrypt => decrypt(engine, &key.hash, hash, &counter, data),
        })?;
        self.data_bytes += bytes as u64;
        Ok(())
    }

    /// Hashes bytes, and keeps what is no whole block.
    fn absorb(&mut self, key: &GcmKey, mut bytes: &[u8]) {
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
        key.hash.add(&mut self.hash, blocks);
        self.rest[..rest.len()].copy_from_slice(rest);
        self.rest_bytes = rest.len();
    }

    /// Hashes what is left, with zeros up to a whole block.
    fn fill_up(&mut self, key: &GcmKey) {
        key.hash.add(&mut self.hash, &self.rest[..self.rest_bytes]);
        self.rest_bytes = 0;
    }
}

/// Encrypts whole blocks from a counter block on, and hashes them, in one pass as far as the engine
/// has one.
fn encrypt(
    engine: &dyn Engine,
    key: &GhashKey,
    hash: &mut Ghash,
    first: &[u8; BLOCK],
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let done = match key.by_powers(hash) {
        Some((powers, hash)) => engine.ctr32_hashed(first, powers, hash, data.reborrow())?,
        None => 0,
    };
    in_pieces(first, done, data.split_at(done).1, |counter, mut piece| {
        modes::ctr32(engine, counter, piece.reborrow())?;
        key.add(hash, piece.get_out());
        Ok(())
    })
}

/// Hashes whole blocks and decrypts them.
fn decrypt(
    engine: &dyn Engine,
    key: &GhashKey,
    hash: &mut Ghash,
    first: &[u8; BLOCK],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    in_pieces(first, 0, data, |counter, piece| {
        key.add(hash, piece.get_in());
        modes::ctr32(engine, counter, piece)
    })
}

/// Cuts data, `before` bytes after the block of a counter, into pieces that stay in the first cache,
/// each with its counter block.
fn in_pieces(
    first: &[u8; BLOCK],
    before: usize,
    mut data: InOutBuf<'_, '_, u8>,
    mut work: impl FnMut(&[u8; BLOCK], InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut blocks = before / BLOCK;
    while !data.is_empty() {
        let length = HASHED_AT_ONCE.min(data.len());
        let (piece, rest) = data.split_at(length);
        let mut counter = *first;
        lanecrypt::Counter::from(*first).plus32(blocks as u128).fill(&mut counter);
        work(&counter, piece)?;
        blocks += length / BLOCK;
        data = rest;
    }
    Ok(())
}
