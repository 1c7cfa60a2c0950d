//! Blocks to planes and back: bit-matrix transposes.
//!
//! With `l` the bits of a lane number and `p` those of a bit position inside the block, the bit at
//! index `l.. p..` of the buffer goes to index `p.. l..` of the planes. A buffer of `L` blocks is
//! cut into squares of `L` lanes by `L` bit positions, and each square is transposed by swapping
//! one lane bit with one position bit after the other, the highest first.

#![allow(
    clippy::inline_always,
    reason = "shapes are constants of the caller, and the loops then unroll"
)]

use crate::Word;

/// Fills `planes` from `W::LANES` blocks: bit `i` of `planes[p]` is bit `p % 8` of byte `p / 8` of
/// block `i`.
///
/// # Panics
/// Where `blocks` is not `W::LANES` blocks of `planes.len() / 8` bytes each, or the number of
/// planes no multiple of the lanes.
pub fn slice<W: Word>(blocks: &[u8], planes: &mut [W]) {
    slice_units::<W, 1>(blocks, planes);
}

/// The inverse of [`slice()`]; leaves `planes` overwritten with intermediate values.
///
/// # Panics
/// As [`slice()`].
pub fn unslice<W: Word>(planes: &mut [W], blocks: &mut [u8]) {
    unslice_units::<W, 1>(planes, blocks);
}

/// [`slice()`] with lanes of `UNIT` bits, 1 or 8, so that a word has `W::LANES / UNIT` of them.
#[inline(always)]
pub(crate) fn slice_units<W: Word, const UNIT: usize>(blocks: &[u8], words: &mut [W]) {
    let block = check::<W, UNIT>(blocks.len(), words);
    let bytes = W::LANES / 8;
    for (column, square) in words.chunks_exact_mut(W::LANES / UNIT).enumerate() {
        for (row, word) in blocks.chunks_exact(block).zip(square.iter_mut()) {
            *word = W::from_le_bytes(&row[column * bytes..][..bytes]);
        }
        transpose::<W, UNIT>(square);
    }
}

/// The inverse of [`slice_units`].
#[inline(always)]
pub(crate) fn unslice_units<W: Word, const UNIT: usize>(words: &mut [W], blocks: &mut [u8]) {
    let block = check::<W, UNIT>(blocks.len(), words);
    let bytes = W::LANES / 8;
    for (column, square) in words.chunks_exact_mut(W::LANES / UNIT).enumerate() {
        transpose::<W, UNIT>(square);
        for (row, word) in blocks.chunks_exact_mut(block).zip(square.iter()) {
            word.to_le_bytes(&mut row[column * bytes..][..bytes]);
        }
    }
}

/// Checks the shapes and returns the bytes of a block.
fn check<W: Word, const UNIT: usize>(bytes: usize, words: &[W]) -> usize {
    assert_eq!(words.len() % (W::LANES / UNIT), 0, "words come in squares");
    assert_eq!(bytes * 8, words.len() * W::LANES, "one block a lane");
    words.len() * UNIT / 8
}

/// Transposes a square of `W::LANES / UNIT` rows in place, as a matrix of units of `UNIT` bits.
#[inline(always)]
pub(crate) fn transpose<W: Word, const UNIT: usize>(square: &mut [W]) {
    let mut distance = square.len() / 2;
    while distance > 0 {
        for pair in square.chunks_exact_mut(2 * distance) {
            let (low, high) = pair.split_at_mut(distance);
            for (low, high) in low.iter_mut().zip(high) {
                W::exchange(low, high, distance * UNIT);
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
