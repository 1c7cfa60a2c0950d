//! CFB with segments of a whole block, and OFB: NIST SP 800-38A, sections 6.3 and 6.4.

use super::{BlockCipher, ModeError, block_length, one_block, xor_into};

/// Encrypts `data` in place in CFB mode with a one-block `iv` (SP 800-38A, section 6.3, segments of
/// a whole block); of the last block there may be a part.
///
/// # Errors
/// [`ModeError::InitializationVector`] or [`ModeError::BlockLength`].
pub fn cfb_encrypt(cipher: &impl BlockCipher, iv: &[u8], data: &mut [u8]) -> Result<(), ModeError> {
    let block_bytes = block_length("CFB", cipher)?;
    let mut chain = one_block("CFB", block_bytes, iv)?;
    for segment in data.chunks_mut(block_bytes) {
        cipher.encrypt_block(&mut chain[..block_bytes]);
        xor_into(segment, &chain);
        chain[..segment.len()].copy_from_slice(segment);
    }
    Ok(())
}

/// Decrypts `data` in place in CFB mode; see [`cfb_encrypt`].
///
/// # Errors
/// [`ModeError::InitializationVector`] or [`ModeError::BlockLength`].
pub fn cfb_decrypt(cipher: &impl BlockCipher, iv: &[u8], data: &mut [u8]) -> Result<(), ModeError> {
    let block_bytes = block_length("CFB", cipher)?;
    let mut chain = one_block("CFB", block_bytes, iv)?;
    for segment in data.chunks_mut(block_bytes) {
        let mut output = chain;
        cipher.encrypt_block(&mut output[..block_bytes]);
        chain[..segment.len()].copy_from_slice(segment);
        xor_into(segment, &output);
    }
    Ok(())
}

/// Encrypts or decrypts `data` of any length in place in OFB mode with a one-block `iv`: the two are
/// the same (SP 800-38A, section 6.4).
///
/// # Errors
/// [`ModeError::InitializationVector`] or [`ModeError::BlockLength`].
pub fn ofb(cipher: &impl BlockCipher, iv: &[u8], data: &mut [u8]) -> Result<(), ModeError> {
    let block_bytes = block_length("OFB", cipher)?;
    let mut output = one_block("OFB", block_bytes, iv)?;
    for piece in data.chunks_mut(block_bytes) {
        cipher.encrypt_block(&mut output[..block_bytes]);
        xor_into(piece, &output);
    }
    Ok(())
}
