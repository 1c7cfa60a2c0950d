//! One block or up to eight, constant-time: the path for single blocks, short tails and the key
//! schedule.
//!
//! Halves stay 64-bit words, on which P and FL are a few operations; only for the S-boxes the bytes
//! of all halves become lanes of eight planes, and the circuit runs once over all of them.

use lanecrypt_slicing::{byte_planes, unslice_bytes};

use crate::{sbox, schedule::RoundFunction, words};

/// Blocks that the planes have lanes for.
pub(crate) const BLOCKS: usize = 8;

/// F by the circuit.
pub(crate) struct Circuit;

/// The bytes of a half that go through SBOX2, SBOX3 and SBOX4, all of which rotate: SBOX1's output
/// to the left, its output to the right, its input to the left.
const SBOX2: u64 = 0x00ff_0000_ff00_0000;
const SBOX3: u64 = 0x0000_ff00_00ff_0000;
const SBOX4: u64 = 0x0000_00ff_0000_ff00;

/// `word` with the bytes under `mask` rotated left by `BY` bits, each in itself.
fn rotate_bytes<const BY: u32>(word: u64, mask: u64) -> u64 {
    let kept = 0x0101_0101_0101_0101 * (0xff << BY & 0xff);
    let rotated = word << BY & kept | word >> (8 - BY) & !kept;
    word ^ (word ^ rotated) & mask
}

/// P on both parts, as four additions of a rotated part.
fn p(half: u64) -> u64 {
    let [mut left, mut right] = words::parts(half);
    left ^= right.rotate_left(8);
    right ^= left.rotate_left(16);
    left ^= right.rotate_right(8);
    right ^= left.rotate_right(8);
    words::join([right, left])
}

impl RoundFunction for Circuit {
    fn f<const N: usize>(halves: [u64; N]) -> [u64; N] {
        let mut squares = halves.map(|half| rotate_bytes::<1>(half, SBOX4));
        let planes = sbox::sbox(byte_planes(&squares));
        unslice_bytes(&planes, &mut squares);
        squares.map(|square| {
            let rotated = rotate_bytes::<7>(rotate_bytes::<1>(square, SBOX2), SBOX3);
            p(rotated)
        })
    }
}

/// Runs up to [`BLOCKS`] blocks under the subkeys of a direction.
pub(crate) fn run(keys: &[u64], blocks: &mut [[u8; 16]]) {
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
