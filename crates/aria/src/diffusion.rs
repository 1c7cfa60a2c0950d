//! The diffusion layer A with few additions: of blocks as words, and of planes.

pub(crate) use crate::linear::diffuse;
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
