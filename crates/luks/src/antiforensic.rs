//! The anti-forensic splitter (LUKS1 on-disk format 1.2.3, section 2.4): a key blown up so that the
//! loss of any part of it is the loss of the key.

use zeroize::Zeroizing;

use crate::hash::Hash;

/// The key of `key_bytes` bytes whose stripes follow one another in `material`.
///
/// Each stripe but the last is added to what came before and diffused; the last one is added.
pub(crate) fn merge(material: &[u8], key_bytes: usize, hash: Hash) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(vec![0; key_bytes]);
    let mut stripes = material.chunks_exact(key_bytes.max(1)).peekable();
    while let Some(stripe) = stripes.next() {
        key.iter_mut().zip(stripe).for_each(|(byte, other)| *byte ^= other);
        if stripes.peek().is_some() {
            diffuse(&mut key, hash);
        }
    }
    key
}

/// Replaces each part as long as a digest by the digest of its number and itself.
fn diffuse(key: &mut [u8], hash: Hash) {
    let mut before = Zeroizing::new([0; 64]);
    for (number, part) in (0_u32..).zip(key.chunks_mut(hash.bytes())) {
        let before = &mut before[..part.len()];
        before.copy_from_slice(part);
        hash.digest([&number.to_be_bytes(), before], part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inverse, as a formatter has it: all stripes but the last are given.
    fn split(key: &[u8], stripes: usize, hash: Hash) -> Vec<u8> {
        let mut material: Vec<u8> = (0..key.len() * (stripes - 1)).map(|i| (i * 7) as u8).collect();
        let mut sum = vec![0; key.len()];
        for stripe in material.chunks_exact(key.len()) {
            sum.iter_mut().zip(stripe).for_each(|(byte, other)| *byte ^= other);
            diffuse(&mut sum, hash);
        }
        material.extend(sum.iter().zip(key).map(|(sum, key)| sum ^ key));
        material
    }

    #[test]
    fn what_is_split_is_merged() {
        for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha512] {
            for key_bytes in [16, 20, 32, 33, 48, 64, 65] {
                for stripes in [1, 2, 3, 4000] {
                    let key: Vec<u8> = (0..key_bytes).map(|i| i as u8 ^ 0xa5).collect();
                    let mut material = split(&key, stripes, hash);
                    assert_eq!(*merge(&material, key_bytes, hash), key, "{hash:?} {stripes}");
                    // Any bit of it matters.
                    let at = material.len() / 3;
                    material[at] ^= 1;
                    assert_ne!(*merge(&material, key_bytes, hash), key, "{hash:?} {stripes}");
                }
            }
        }
    }

    /// The diffusion of a part longer than a digest, by hand.
    #[test]
    fn parts_are_numbered_from_zero_and_cut() {
        let mut key = [7; 40];
        diffuse(&mut key, Hash::Sha256);
        let mut expected = [0; 32];
        Hash::Sha256.digest([&[0; 4], &[7; 32]], &mut expected);
        assert_eq!(key[..32], expected);
        Hash::Sha256.digest([&[0, 0, 0, 1], &[7; 8]], &mut expected);
        assert_eq!(key[32..], expected[..8]);
    }
}
