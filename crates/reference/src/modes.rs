//! The modes of operation, one block at a time, as the standards write them.
//!
//! ECB, CBC, CFB, OFB and CTR are those of NIST SP 800-38A, GCM is that of SP 800-38D, XTS that of
//! IEEE 1619. All work in place, add no padding, and take any [`BlockCipher`] with blocks of 1 to
//! [`MAX_BLOCK_BYTES`] bytes. When a function returns an error, the data is as it was.

mod feedback;
mod gcm;

use thiserror::Error;

pub use feedback::{cfb_decrypt, cfb_encrypt, ofb};
pub use gcm::{ctr32, gcm_decrypt, gcm_encrypt, ghash, ghash_product};

/// The longest block that the modes take, in bytes: 128 bits.
pub const MAX_BLOCK_BYTES: usize = 16;

/// A block cipher with its key.
///
/// The modes call both operations with slices of exactly [`block_bytes`](Self::block_bytes) bytes;
/// what an implementation does with other lengths is its own affair.
pub trait BlockCipher {
    /// The block length in bytes, the same at every call.
    fn block_bytes(&self) -> usize;

    /// Encrypts one block in place.
    fn encrypt_block(&self, block: &mut [u8]);

    /// Decrypts one block in place: undoes [`encrypt_block`](Self::encrypt_block).
    fn decrypt_block(&self, block: &mut [u8]);
}

/// Why a mode refuses its input. All lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModeError {
    /// The data is not whole blocks, and the mode has no padding.
    #[error("{mode} was given {given} bytes, but takes only multiples of the {block}-byte block")]
    PartialBlock {
        /// The mode's name.
        mode: &'static str,
        /// The length of the data.
        given: usize,
        /// The length of a block.
        block: usize,
    },
    /// The IV, counter block or tweak is not one block long.
    #[error("{mode} was given an IV of {given} bytes, but takes exactly {accepted}")]
    InitializationVector {
        /// The mode's name.
        mode: &'static str,
        /// The length of the IV.
        given: usize,
        /// The only length accepted.
        accepted: usize,
    },
    /// The cipher's block length does not suit the mode.
    #[error("{mode} was given a cipher with {given}-byte blocks, but takes {accepted} bytes")]
    BlockLength {
        /// The mode's name.
        mode: &'static str,
        /// The cipher's block length.
        given: usize,
        /// The lengths accepted, in words.
        accepted: &'static str,
    },
    /// An XTS data unit shorter than one block: there is nothing to steal from.
    #[error("XTS was given a data unit of {given} bytes, but takes 16 or more")]
    ShortDataUnit {
        /// The length of the data unit.
        given: usize,
    },
}

/// Encrypts `data` in place in ECB mode (SP 800-38A, section 6.1).
///
/// # Errors
/// [`ModeError::PartialBlock`] or [`ModeError::BlockLength`].
pub fn ecb_encrypt(cipher: &impl BlockCipher, data: &mut [u8]) -> Result<(), ModeError> {
    let block_bytes = whole_blocks("ECB", cipher, data)?;
    for block in data.chunks_exact_mut(block_bytes) {
        cipher.encrypt_block(block);
    }
    Ok(())
}

/// Decrypts `data` in place in ECB mode (SP 800-38A, section 6.1).
///
/// # Errors
/// [`ModeError::PartialBlock`] or [`ModeError::BlockLength`].
pub fn ecb_decrypt(cipher: &impl BlockCipher, data: &mut [u8]) -> Result<(), ModeError> {
    let block_bytes = whole_blocks("ECB", cipher, data)?;
    for block in data.chunks_exact_mut(block_bytes) {
        cipher.decrypt_block(block);
    }
    Ok(())
}

/// Encrypts `data` in place in CBC mode with a one-block `iv` (SP 800-38A, section 6.2).
///
/// # Errors
/// [`ModeError::PartialBlock`], [`ModeError::InitializationVector`] or [`ModeError::BlockLength`].
pub fn cbc_encrypt(cipher: &impl BlockCipher, iv: &[u8], data: &mut [u8]) -> Result<(), ModeError> {
    let block_bytes = whole_blocks("CBC", cipher, data)?;
    let mut chain = one_block("CBC", block_bytes, iv)?;
    for block in data.chunks_exact_mut(block_bytes) {
        xor_into(block, &chain);
        cipher.encrypt_block(block);
        chain[..block_bytes].copy_from_slice(block);
    }
    Ok(())
}

/// Decrypts `data` in place in CBC mode with a one-block `iv` (SP 800-38A, section 6.2).
///
/// # Errors
/// [`ModeError::PartialBlock`], [`ModeError::InitializationVector`] or [`ModeError::BlockLength`].
pub fn cbc_decrypt(cipher: &impl BlockCipher, iv: &[u8], data: &mut [u8]) -> Result<(), ModeError> {
    let block_bytes = whole_blocks("CBC", cipher, data)?;
    let mut chain = one_block("CBC", block_bytes, iv)?;
    for block in data.chunks_exact_mut(block_bytes) {
        let mut ciphertext = [0; MAX_BLOCK_BYTES];
        ciphertext[..block_bytes].copy_from_slice(block);
        cipher.decrypt_block(block);
        xor_into(block, &chain);
        chain = ciphertext;
    }
    Ok(())
}

/// Encrypts or decrypts `data` in place in CTR mode: the two are the same (SP 800-38A, section
/// 6.5).
///
/// `initial_counter` is the whole first counter block, one big-endian integer; each block adds 1,
/// modulo 2^(8 * block bytes). The data may have any length.
///
/// # Errors
/// [`ModeError::InitializationVector`] or [`ModeError::BlockLength`].
pub fn ctr(
    cipher: &impl BlockCipher,
    initial_counter: &[u8],
    data: &mut [u8],
) -> Result<(), ModeError> {
    let block_bytes = block_length("CTR", cipher)?;
    let mut counter = one_block("CTR", block_bytes, initial_counter)?;
    for piece in data.chunks_mut(block_bytes) {
        let mut keystream = counter;
        cipher.encrypt_block(&mut keystream[..block_bytes]);
        xor_into(piece, &keystream);
        increment(&mut counter[..block_bytes]);
    }
    Ok(())
}

/// The tweak of data unit `number`: 16 bytes, least significant first (IEEE 1619, section 5.1).
#[must_use]
pub const fn xts_tweak(number: u128) -> [u8; 16] {
    number.to_le_bytes()
}

/// Encrypts one data unit in place in XTS mode (IEEE 1619, section 5.3).
///
/// `tweak` is the 16 bytes that go into `tweak_cipher` ([`xts_tweak`] makes them of a number). A
/// length that is no multiple of 16 uses ciphertext stealing. Both ciphers have 16-byte blocks.
///
/// # Errors
/// [`ModeError::BlockLength`], [`ModeError::InitializationVector`] or [`ModeError::ShortDataUnit`].
pub fn xts_encrypt(
    data_cipher: &impl BlockCipher,
    tweak_cipher: &impl BlockCipher,
    tweak: &[u8],
    data: &mut [u8],
) -> Result<(), ModeError> {
    let mut mask = XtsMask::new(data_cipher, tweak_cipher, tweak, data.len())?;
    let (blocks, tail) = split_tail(data);
    for block in blocks.chunks_exact_mut(16) {
        mask.apply(block, |block| data_cipher.encrypt_block(block));
        mask.advance();
    }
    if !tail.is_empty() {
        // CC is the last whole block, encrypted; the tail takes its first bytes and lends its own.
        let stolen = last_block(blocks);
        steal(stolen, tail);
        mask.apply(stolen, |block| data_cipher.encrypt_block(block));
    }
    Ok(())
}

/// Decrypts one data unit in place in XTS mode (IEEE 1619, section 5.4); see [`xts_encrypt`].
///
/// # Errors
/// [`ModeError::BlockLength`], [`ModeError::InitializationVector`] or [`ModeError::ShortDataUnit`].
pub fn xts_decrypt(
    data_cipher: &impl BlockCipher,
    tweak_cipher: &impl BlockCipher,
    tweak: &[u8],
    data: &mut [u8],
) -> Result<(), ModeError> {
    let mut mask = XtsMask::new(data_cipher, tweak_cipher, tweak, data.len())?;
    let (blocks, tail) = split_tail(data);
    let stolen_at = if tail.is_empty() { blocks.len() } else { blocks.len() - 16 };
    let (blocks, stolen) = blocks.split_at_mut(stolen_at);
    for block in blocks.chunks_exact_mut(16) {
        mask.apply(block, |block| data_cipher.decrypt_block(block));
        mask.advance();
    }
    if !tail.is_empty() {
        // The last whole block was encrypted under the tweak after the one of the block before it.
        let mut next = mask.clone();
        next.advance();
        next.apply(stolen, |block| data_cipher.decrypt_block(block));
        steal(stolen, tail);
        mask.apply(stolen, |block| data_cipher.decrypt_block(block));
    }
    Ok(())
}

/// What XTS XORs to a block before and after the cipher: E(tweak) * alpha^j for block j.
#[derive(Clone)]
struct XtsMask([u8; 16]);

impl XtsMask {
    /// The mask of block 0, after all checks on the input.
    fn new(
        data_cipher: &impl BlockCipher,
        tweak_cipher: &impl BlockCipher,
        tweak: &[u8],
        data_unit_bytes: usize,
    ) -> Result<Self, ModeError> {
        for given in [data_cipher.block_bytes(), tweak_cipher.block_bytes()] {
            if given != 16 {
                return Err(ModeError::BlockLength { mode: "XTS", given, accepted: "16" });
            }
        }
        if data_unit_bytes < 16 {
            return Err(ModeError::ShortDataUnit { given: data_unit_bytes });
        }
        let mut mask = one_block("XTS", 16, tweak)?;
        tweak_cipher.encrypt_block(&mut mask);
        Ok(Self(mask))
    }

    /// Multiplies by alpha in GF(2^128) with x^128 + x^7 + x^2 + x + 1, least significant byte
    /// first (IEEE 1619, section 5.2).
    fn advance(&mut self) {
        let value = u128::from_le_bytes(self.0);
        let reduction = if value >> 127 == 1 { 0x87 } else { 0 };
        self.0 = (value << 1 ^ reduction).to_le_bytes();
    }

    fn apply(&self, block: &mut [u8], operation: impl Fn(&mut [u8])) {
        xor_into(block, &self.0);
        operation(block);
        xor_into(block, &self.0);
    }
}

/// The whole 16-byte blocks of `data`, and the rest.
fn split_tail(data: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    data.split_at_mut(data.len() - data.len() % 16)
}

fn last_block(blocks: &mut [u8]) -> &mut [u8] {
    let start = blocks.len().saturating_sub(16);
    &mut blocks[start..]
}

/// Exchanges the short last block with the first bytes of the one before: in both directions the
/// tail becomes the start of that block, and that block keeps its own end.
fn steal(block: &mut [u8], tail: &mut [u8]) {
    block[..tail.len()].swap_with_slice(tail);
}

/// XORs `mask` to `block`, over the length of the shorter.
pub(crate) fn xor_into(block: &mut [u8], mask: &[u8]) {
    for (byte, mask) in block.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

/// Adds one to a big-endian number of any length, which wraps.
fn increment(counter: &mut [u8]) {
    for byte in counter.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return; // no carry
        }
    }
}

fn block_length(mode: &'static str, cipher: &impl BlockCipher) -> Result<usize, ModeError> {
    match cipher.block_bytes() {
        block_bytes @ 1..=MAX_BLOCK_BYTES => Ok(block_bytes),
        given => Err(ModeError::BlockLength { mode, given, accepted: "1 to 16" }),
    }
}

fn whole_blocks(
    mode: &'static str,
    cipher: &impl BlockCipher,
    data: &[u8],
) -> Result<usize, ModeError> {
    let block = block_length(mode, cipher)?;
    if data.len().is_multiple_of(block) {
        Ok(block)
    } else {
        Err(ModeError::PartialBlock { mode, given: data.len(), block })
    }
}

/// `iv` in the first `block_bytes` bytes of a buffer that fits any block.
fn one_block(
    mode: &'static str,
    block_bytes: usize,
    iv: &[u8],
) -> Result<[u8; MAX_BLOCK_BYTES], ModeError> {
    if iv.len() != block_bytes {
        let (given, accepted) = (iv.len(), block_bytes);
        return Err(ModeError::InitializationVector { mode, given, accepted });
    }
    let mut block = [0; MAX_BLOCK_BYTES];
    block[..block_bytes].copy_from_slice(iv);
    Ok(block)
}
