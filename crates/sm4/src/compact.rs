//! One block or up to four, constant-time, where there are no instructions for S-boxes: the path for single blocks,
//! short tails and the key schedule.
//!
//! Words stay words; only for the S-boxes the bytes of all of them become lanes of eight planes.

use lanecrypt_slicing::{byte_planes, unslice_bytes};

use crate::{
    sbox,
    schedule::{PAIRS, Sboxes},
    words,
};

/// Blocks up to which this is clearly faster than a batch.
pub(crate) const BLOCKS: usize = 4;

/// Words whose bytes the planes have lanes for.
const WORDS: usize = 16;

/// The S-boxes by the circuit.
pub(crate) struct Circuit;

impl Sboxes for Circuit {
    fn tau<const N: usize>(words: [u32; N]) -> [u32; N] {
        const { assert!(N <= WORDS, "a lane for every byte") };
        let mut squares = [0; WORDS / 2];
        let squares = &mut squares[..N.div_ceil(2)];
        for (i, word) in words.iter().enumerate() {
            squares[i / 2] |= u64::from(*word) << (32 * (i % 2));
        }
        unslice_bytes(&sbox::sbox(byte_planes(squares)), squares);
        core::array::from_fn(|i| (squares[i / 2] >> (32 * (i % 2))) as u32)
    }
}

/// Runs up to [`BLOCKS`] blocks under the round keys of a direction.
pub(crate) fn run(keys: &[[u32; 2]; PAIRS], blocks: &mut [[u8; 16]]) {
    match blocks {
        [] => {}
        [block] => words::run::<Circuit, 1>(keys, core::array::from_mut(block)),
        _ => {
            let mut padded = [[0; 16]; BLOCKS];
            padded[..blocks.len()].copy_from_slice(blocks);
            words::run::<Circuit, BLOCKS>(keys, &mut padded);
            blocks.copy_from_slice(&padded[..blocks.len()]);
        }
    }
}
