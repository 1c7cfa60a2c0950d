//! GCM: NIST SP 800-38D, with the multiplication of its section 6.3 a bit at a time.

use super::{BlockCipher, ModeError, increment, one_block, xor_into};

/// Encrypts `data` in place in GCM mode and returns the whole tag, of which any first bytes may be
/// sent (SP 800-38D, section 7.1). `iv` has any length but zero.
///
/// # Errors
/// [`ModeError::BlockLength`] or [`ModeError::InitializationVector`].
pub fn gcm_encrypt(
    cipher: &impl BlockCipher,
    iv: &[u8],
    aad: &[u8],
    data: &mut [u8],
) -> Result<[u8; 16], ModeError> {
    let state = Gcm::new(cipher, iv)?;
    state.crypt(data);
    Ok(state.tag(aad, data))
}

/// Decrypts `data` in place in GCM mode if `tag`, whole or its first bytes, is the right one
/// (SP 800-38D, section 7.2), and says whether it is; if not, the data is as it was.
///
/// # Errors
/// [`ModeError::BlockLength`] or [`ModeError::InitializationVector`].
pub fn gcm_decrypt(
    cipher: &impl BlockCipher,
    iv: &[u8],
    aad: &[u8],
    data: &mut [u8],
    tag: &[u8],
) -> Result<bool, ModeError> {
    let state = Gcm::new(cipher, iv)?;
    let is_right = !tag.is_empty() && state.tag(aad, data).starts_with(tag);
    if is_right {
        state.crypt(data);
    }
    Ok(is_right)
}

/// CTR whose counter is the last four bytes of the block and wraps; the rest stays as it is
/// (SP 800-38D, sections 6.2 and 6.5). `data` may have any length.
///
/// # Errors
/// [`ModeError::InitializationVector`] or [`ModeError::BlockLength`].
pub fn ctr32(
    cipher: &impl BlockCipher,
    initial_counter: &[u8],
    data: &mut [u8],
) -> Result<(), ModeError> {
    let block_bytes = cipher.block_bytes();
    if !(4..=16).contains(&block_bytes) {
        let (mode, given, accepted) = ("CTR with 32 bits", block_bytes, "4 to 16");
        return Err(ModeError::BlockLength { mode, given, accepted });
    }
    let mut counter = one_block("CTR with 32 bits", block_bytes, initial_counter)?;
    for piece in data.chunks_mut(block_bytes) {
        let mut keystream = counter;
        cipher.encrypt_block(&mut keystream[..block_bytes]);
        xor_into(piece, &keystream);
        increment(&mut counter[block_bytes - 4..block_bytes]);
    }
    Ok(())
}

/// A cipher with its hash key H and the first counter block J0.
struct Gcm<'a, C> {
    cipher: &'a C,
    hash_key: u128,
    first: [u8; 16],
}

impl<'a, C: BlockCipher> Gcm<'a, C> {
    fn new(cipher: &'a C, iv: &[u8]) -> Result<Self, ModeError> {
        let given = cipher.block_bytes();
        if given != 16 {
            return Err(ModeError::BlockLength { mode: "GCM", given, accepted: "16" });
        }
        if iv.is_empty() {
            return Err(ModeError::InitializationVector { mode: "GCM", given: 0, accepted: 12 });
        }
        let mut hash_key = [0; 16];
        cipher.encrypt_block(&mut hash_key);
        let hash_key = u128::from_be_bytes(hash_key);
        let mut first = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        if iv.len() == 12 {
            first[..12].copy_from_slice(iv);
        } else {
            first = ghash(hash_key, &[], iv).to_be_bytes();
        }
        Ok(Self { cipher, hash_key, first })
    }

    fn crypt(&self, data: &mut [u8]) {
        let mut counter = self.first;
        for piece in data.chunks_mut(16) {
            increment(&mut counter[12..]);
            let mut keystream = counter;
            self.cipher.encrypt_block(&mut keystream);
            xor_into(piece, &keystream);
        }
    }

    fn tag(&self, aad: &[u8], ciphertext: &[u8]) -> [u8; 16] {
        let mut tag = self.first;
        self.cipher.encrypt_block(&mut tag);
        xor_into(&mut tag, &ghash(self.hash_key, aad, ciphertext).to_be_bytes());
        tag
    }
}

/// GHASH of two strings, each filled up with zeros, and of their lengths in bits (sections 6.4, 7.1).
/// That of an IV has it for the second, and zero for the first one's length.
/// The key and the hash are big-endian numbers, as their bytes are written.
#[must_use]
pub fn ghash(hash_key: u128, first: &[u8], second: &[u8]) -> u128 {
    let lengths = (first.len() as u128 * 8) << 64 | (second.len() as u128 * 8);
    let mut sum = 0;
    for piece in first.chunks(16).chain(second.chunks(16)) {
        let mut block = [0; 16];
        block[..piece.len()].copy_from_slice(piece);
        sum = ghash_product(sum ^ u128::from_be_bytes(block), hash_key);
    }
    ghash_product(sum ^ lengths, hash_key)
}

/// The product of section 6.3, of big-endian numbers: the leftmost bit is the coefficient of 1.
#[must_use]
pub fn ghash_product(x: u128, y: u128) -> u128 {
    let (mut z, mut v) = (0, y);
    for i in (0..128).rev() {
        if x >> i & 1 == 1 {
            z ^= v;
        }
        v = v >> 1 ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    z
}
