//! The padding of PKCS #7 (RFC 5652, 6.3), in constant time.

use subtle::{Choice, ConstantTimeEq, ConstantTimeGreater};

/// Fills the block from `used` on with the number of bytes that are missing.
pub(crate) fn add(block: &mut [u8], used: usize) {
    let missing = block.len() - used;
    block[used..].fill(missing as u8);
}

/// Bytes before the padding; `None` where it is none. The time tells that, and nothing else.
pub(crate) fn remove(block: &[u8]) -> Option<usize> {
    let count = *block.last()?;
    let bytes = block.len() as u8;
    let mut is_good = !count.ct_eq(&0) & !count.ct_gt(&bytes);
    for (from_end, byte) in (0..bytes).zip(block.iter().rev()) {
        let is_padding: Choice = count.ct_gt(&from_end);
        is_good &= !is_padding | byte.ct_eq(&count);
    }
    bool::from(is_good).then(|| block.len() - usize::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
