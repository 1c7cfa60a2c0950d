//! Blocks to planes and back: bit-matrix transposes.
//!
//! With `l` the bits of a lane number and `p` those of a bit position inside the block, the bit at
//! index `l.. p..` of the buffer goes to index `p.. l..` of the planes. A buffer of `L` blocks is
//! cut into squares of `L` lanes by `L` bit positions, and each square is transposed by swapping
//! one lane bit with one position bit after the other, the highest first.

use crate::Word;

/// Fills `planes` from `W::LANES` blocks: bit `i` of `planes[p]` is bit `p % 8` of byte `p / 8` of
/// block `i`.
///
/// # Panics
/// Where `blocks` is not `W::LANES` blocks of `planes.len() / 8` bytes each, or the number of
/// planes no multiple of the lanes.
pub fn slice<W: Word>(blocks: &[u8], planes: &mut [W]) {
    let block = check(blocks.len(), planes);
    let bytes = W::LANES / 8;
    for (column, square) in planes.chunks_exact_mut(W::LANES).enumerate() {
        for (row, word) in blocks.chunks_exact(block).zip(square.iter_mut()) {
            *word = W::from_le_bytes(&row[column * bytes..][..bytes]);
        }
        transpose(square);
    }
}

/// The inverse of [`slice()`]; leaves `planes` overwritten with intermediate values.
///
/// # Panics
/// As [`slice()`].
pub fn unslice<W: Word>(planes: &mut [W], blocks: &mut [u8]) {
    let block = check(blocks.len(), planes);
    let bytes = W::LANES / 8;
    for (column, square) in planes.chunks_exact_mut(W::LANES).enumerate() {
        transpose(square);
        for (row, word) in blocks.chunks_exact_mut(block).zip(square.iter()) {
            word.to_le_bytes(&mut row[column * bytes..][..bytes]);
        }
    }
}

/// Checks the shapes and returns the bytes of a block.
fn check<W: Word>(bytes: usize, planes: &[W]) -> usize {
    assert_eq!(planes.len() % W::LANES, 0, "planes come in squares");
    assert_eq!(bytes * 8, planes.len() * W::LANES, "one block a lane");
    planes.len() / 8
}

/// Transposes a square of `W::LANES` rows in place.
fn transpose<W: Word>(square: &mut [W]) {
    let mut distance = W::LANES / 2;
    while distance > 0 {
        for pair in square.chunks_exact_mut(2 * distance) {
            let (low, high) = pair.split_at_mut(distance);
            for (low, high) in low.iter_mut().zip(high) {
                W::exchange(low, high, distance);
            }
        }
        distance /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    fn bit(block: &[u8], position: usize) -> bool {
        block[position / 8] >> (position % 8) & 1 == 1
    }

    fn agrees_with_definition<W: Word>(block: usize, data: &[u8]) {
        let blocks = &data[..W::LANES * block];
        let mut planes = vec![W::splat(false); block * 8];
        slice(blocks, &mut planes);
        let mut lanes = vec![0; W::LANES / 8];
        for (position, plane) in planes.iter().enumerate() {
            plane.to_le_bytes(&mut lanes);
            for (lane, row) in blocks.chunks_exact(block).enumerate() {
                assert_eq!(bit(&lanes, lane), bit(row, position), "lane {lane} bit {position}");
            }
        }
        let mut back = vec![0; blocks.len()];
        unslice(&mut planes, &mut back);
        assert_eq!(back, blocks);
    }

    proptest! {
        #[test]
        fn every_bit_lands_where_the_definition_says(
            data in proptest::collection::vec(any::<u8>(), 64 * 16),
        ) {
            agrees_with_definition::<u32>(8, &data);
            agrees_with_definition::<u32>(16, &data);
            agrees_with_definition::<u64>(8, &data);
            agrees_with_definition::<u64>(16, &data);
        }
    }

    #[test]
    #[should_panic(expected = "one block a lane")]
    fn a_short_buffer_is_refused() {
        slice(&[0; 16], &mut [0u32; 128]);
    }

    #[test]
    fn a_lane_is_a_block() {
        let mut blocks: Vec<u8> = vec![0; 64 * 8];
        blocks[5 * 8 + 3] = 0b100; // block 5, bit 26
        let mut planes = [0u64; 64];
        slice(&blocks, &mut planes);
        for (position, &plane) in planes.iter().enumerate() {
            assert_eq!(plane, if position == 26 { 1 << 5 } else { 0 });
        }
    }
}
