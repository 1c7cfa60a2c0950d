//! The padding of PKCS #7 (RFC 5652, 6.3), in constant time: whole blocks of ECB and CBC for messages of any
//! length.
//!
//! Whoever can ask whether the padding of a ciphertext is right can decrypt it (Vaudenay, 2002): answer so
//! only where the ciphertext was authenticated, or to its owner.
//!
//! ```
//! use lanecrypt_modes::padding;
//!
//! let mut block = *b"ten bytes.......";
//! padding::add(&mut block, 10);
//! assert_eq!(block, *b"ten bytes.\x06\x06\x06\x06\x06\x06");
//! assert_eq!(padding::remove(&block), Some(10));
//! ```

use subtle::{Choice, ConstantTimeEq, ConstantTimeGreater};

/// Bytes of the longest block: their number is a byte.
const LONGEST: usize = 255;

/// Fills the last block of a message, of which `used` bytes are there, less than a block, with the number of
/// bytes that are missing.
///
/// # Panics
/// Where `used` is not within the block, or the block has more than 255 bytes.
pub fn add(block: &mut [u8], used: usize) {
    let bytes = block.len();
    assert!(
        used < bytes && bytes <= LONGEST,
        "{used} bytes of a block of {bytes}; it has 1 to 255"
    );
    block[used..].fill((bytes - used) as u8);
}

/// Bytes before the padding of the last block; `None` where that is none, as in a block of more than 255 bytes. The
/// time tells which of the two, and nothing else.
#[must_use]
pub fn remove(block: &[u8]) -> Option<usize> {
    let count = *block.last()?;
    let bytes = u8::try_from(block.len()).ok()?;
    let mut is_good = !count.ct_eq(&0) & !count.ct_gt(&bytes);
    for (from_end, byte) in (0..bytes).zip(block.iter().rev()) {
        let is_padding: Choice = count.ct_gt(&from_end);
        is_good &= !is_padding | byte.ct_eq(&count);
    }
    bool::from(is_good).then(|| block.len() - usize::from(count))
}

#[cfg(test)]
mod tests {
    use super::{add, remove};

    #[test]
    fn only_what_was_added_is_removed() {
        for used in 0..16 {
            let mut block = [0xee; 16];
            add(&mut block, used);
            assert_eq!(remove(&block), Some(used));
            for wrong in used..16 {
                block[wrong] ^= 0x40;
                assert_eq!(remove(&block), None, "byte {wrong} of {used}");
                block[wrong] ^= 0x40;
            }
        }
        assert_eq!(remove(&[0; 8]), None);
        assert_eq!(remove(&[9; 8]), None, "more than a block");
        assert_eq!(remove(&[]), None);
    }

    #[test]
    fn blocks_have_at_most_255_bytes() {
        let mut block = [0xee; 256];
        assert_eq!(remove(&[1; 256]), None);
        add(&mut block[..255], 0);
        assert_eq!(remove(&block[..255]), Some(0));
        add(&mut block[..1], 0);
        assert_eq!(remove(&block[..1]), Some(0));
    }

    #[test]
    #[should_panic(expected = "255 bytes of a block of 256")]
    fn longer_blocks_are_refused() {
        add(&mut [0; 256], 255);
    }

    #[test]
    #[should_panic(expected = "16 bytes of a block of 16")]
    fn full_blocks_are_refused() {
        add(&mut [0; 16], 16);
    }
}
