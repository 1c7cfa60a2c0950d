//! One block or up to four, constant-time: the path for single blocks, short tails and the key
//! schedule.
//!
//! Words stay words, so that additions are the machine's; only for the S-boxes the bytes of all of
//! them become lanes of eight planes. Both circuits run over all lanes, and every lane keeps the
//! result of its own.

use lanecrypt_slicing::{byte_planes, unslice_bytes};

use crate::{
    sbox,
    schedule::ROUNDS,
    words::{self, G, MASKS},
};

/// Blocks up to which this is clearly faster than a batch.
pub(crate) const BLOCKS: usize = 4;

/// Words whose bytes the planes have lanes for.
const WORDS: usize = 16;

/// The lanes of S0: the even bytes of every word.
const EVEN: u64 = 0x5555_5555_5555_5555;

/// G by the circuits.
pub(crate) struct Circuits;

impl G for Circuits {
    fn g<const N: usize>(words: [u32; N]) -> [u32; N] {
        const { assert!(N <= WORDS, "a lane for every byte") };
        let mut squares = [0; WORDS / 2];
        let squares = &mut squares[..N.div_ceil(2)];
        for (i, word) in words.iter().enumerate() {
            squares[i / 2] |= u64::from(*word) << (32 * (i % 2));
        }
        unslice_bytes(&substitute(byte_planes(squares)), squares);
        core::array::from_fn(|i| diffuse((squares[i / 2] >> (32 * (i % 2))) as u32))
    }
}

/// S0 of the even bytes and S1 of the odd ones.
fn substitute(planes: [u64; 8]) -> [u64; 8] {
    let (even, odd) = (sbox::sbox0(planes), sbox::sbox1(planes));
    core::array::from_fn(|bit| odd[bit] ^ (odd[bit] ^ even[bit]) & EVEN)
}

/// What `turn` bytes further up in a result are masks of the S-box outputs.
pub(crate) const fn masks(turn: usize) -> u32 {
    let mut masks = [0; 4];
    let mut j = 0;
    while j < 4 {
        masks[j] = MASKS[(2 * j + 4 - turn) % 4];
        j += 1;
    }
    u32::from_le_bytes(masks)
}

/// The rest of G: every byte of the result has every S-box output under a mask.
fn diffuse(image: u32) -> u32 {
    let [m0, m1, m2, m3] = const { [masks(0), masks(1), masks(2), masks(3)] };
    image & m0 ^ image.rotate_left(8) & m1 ^ image.rotate_left(16) & m2 ^ image.rotate_left(24) & m3
}

/// Runs up to [`BLOCKS`] blocks under the round keys of a direction.
pub(crate) fn run(keys: &[[u32; 2]; ROUNDS], blocks: &mut [[u8; 16]]) {
    match blocks {
        [] => {}
        [block] => words::run::<Circuits, 1>(keys, core::array::from_mut(block)),
        _ => {
            let mut padded = [[0; 16]; BLOCKS];
            padded[..blocks.len()].copy_from_slice(blocks);
            words::run::<Circuits, BLOCKS>(keys, &mut padded);
            blocks.copy_from_slice(&padded[..blocks.len()]);
        }
    }
}
