//! The diffusion layer A with few additions: of blocks as words, and of planes.

use lanecrypt_slicing::Word;

use crate::schedule::Block;

/// The four groups of a block, the first byte of each the least significant.
pub(crate) type Words = [u32; 4];

pub(crate) fn words(block: &Block) -> Words {
    let groups = block.as_chunks::<4>().0;
    core::array::from_fn(|i| u32::from_le_bytes(groups[i]))
}

/// The inverse of [`words`].
pub(crate) fn bytes(words: Words) -> Block {
    let mut bytes = [0; 16];
    for (group, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *group = word.to_le_bytes();
    }
    bytes
}

/// A: sums inside the groups, between the groups, and between them once more with the bytes of the
/// groups exchanged before (ARIA specification, section 3.2).
pub(crate) fn diffuse_words(words: Words) -> Words {
    // Every byte of a group becomes the sum of the three others.
    let others = |word: u32| word.rotate_left(8) ^ word.rotate_left(16) ^ word.rotate_left(24);
    diffuse_after_groups(words.map(others))
}

/// What is left of A after the sums inside the groups.
pub(crate) fn diffuse_after_groups(words: Words) -> Words {
    let [a, b, c, d] = add_groups(words);
    let exchanged = (b << 8 & 0xff00_ff00) | (b >> 8 & 0x00ff_00ff);
    add_groups([a, exchanged, c.rotate_left(16), d.swap_bytes()])
}

/// Adds between the groups: each becomes the sum of three.
fn add_groups([a, b, c, d]: Words) -> Words {
    let (ab, cd) = (a ^ b, c ^ d);
    [ab ^ c, a ^ cd, ab ^ d, b ^ cd]
}

// ANCHOR: diffuse
/// A of a bit of every byte, in 48 additions; the sums as they are written in the standard take 96,
/// and those of [`diffuse_words`] 72. Found by a search that is greedy in the distance of every
/// output from the sums so far (Boyar and Peralta, SEA 2010), ties broken at random.
#[allow(clippy::many_single_char_names, clippy::similar_names, reason = "numbered as in RFC 5794")]
#[inline(always)]
pub(crate) fn diffuse<W: Word>(x: [W; 16]) -> [W; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let t0 = x7 ^ x13;
    let t1 = x0 ^ t0;
    let t2 = x10 ^ t1;
    let t3 = x11 ^ x14;
    let t4 = x5 ^ t3;
    let y3 = t2 ^ t4;
    let t5 = x2 ^ x9;
    let t6 = x12 ^ t5;
    let y6 = t2 ^ t6;
    let t7 = x1 ^ x6;
    let t8 = x3 ^ x8;
    let t9 = x4 ^ x15;
    let t10 = x12 ^ t7;
    let t11 = x11 ^ t10;
    let t12 = x0 ^ t4;
    let y9 = t10 ^ t12;
    let t13 = x10 ^ t9;
    let y2 = t11 ^ t13;
    let t14 = x1 ^ t13;
    let y8 = t1 ^ t14;
    let t15 = x13 ^ t8;
    let y7 = t11 ^ t15;
    let t16 = x2 ^ x8;
    let t17 = x3 ^ x9;
    let t18 = x5 ^ x15;
    let t19 = x6 ^ t15;
    let t20 = x4 ^ x14;
    let t21 = x7 ^ t6;
    let t22 = t19 ^ t20;
    let y0 = x9 ^ t22;
    let t23 = x15 ^ t16;
    let y4 = t12 ^ t23;
    let t24 = t11 ^ t21;
    let y12 = x12 ^ t24;
    let t25 = x3 ^ t21;
    let y11 = t20 ^ t25;
    let t26 = x4 ^ t17;
    let y14 = t12 ^ t26;
    let t27 = t18 ^ t19;
    let y10 = x2 ^ t27;
    let t28 = x13 ^ t19;
    let y13 = t2 ^ t28;
    let t29 = x8 ^ t21;
    let y1 = t18 ^ t29;
    let t30 = x14 ^ t14;
    let y5 = t17 ^ t30;
    let t31 = t14 ^ t18;
    let y15 = t23 ^ t31;
    [y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15]
}
// ANCHOR_END: diffuse

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_the_same_map() {
        for bit in 0..16 {
            let planes: [u32; 16] = core::array::from_fn(|i| u32::from(i == bit));
            let block: Block = core::array::from_fn(|i| u8::from(i == bit));
            let sums = diffuse(planes).map(|plane| plane as u8);
            assert_eq!(sums, bytes(diffuse_words(words(&block))), "byte {bit}");
            assert_eq!(sums.iter().sum::<u8>(), 7, "every byte goes to seven");
        }
    }
}
