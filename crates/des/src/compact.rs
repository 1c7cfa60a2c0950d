//! Up to four blocks, constant-time: the path for a single block and for the tail of a batch.
//!
//! All eight S-boxes of a block work at once in the nibbles of a word, S1 in the top one. Entry `x`
//! of the table holds the outputs of all eight for input `x`; a tree of selections, by one input
//! bit after the other, finds the outputs for inputs that differ from box to box. Nothing is
//! looked up: the whole table is read every time.

use lanecrypt_core::Direction;
use lanecrypt_reference::des::{P, SBOXES};

use crate::{
    halves,
    schedule::{Keying, Rounds, key_bit},
};

/// Blocks in a state.
pub(crate) const BLOCKS: usize = 4;

/// The same half of each block.
type Half = [u32; BLOCKS];

/// The lowest bit of every nibble.
const NIBBLES: u32 = 0x1111_1111;

/// Outputs of the eight S-boxes for the same input.
const OUTPUTS: [u32; 64] = {
    let mut outputs = [0; 64];
    let mut i = 0;
    while i < 64 * 8 {
        let (x, sbox) = (i / 8, i % 8);
        outputs[x] |= (SBOXES[sbox][x] as u32) << (28 - 4 * sbox);
        i += 1;
    }
    outputs
};

/// Permutation P as rotations: under `ROTATED[r]` lie the bits that go `r` places to the left.
const ROTATED: [u32; 32] = {
    let mut masks = [0; 32];
    let mut to = 0;
    while to < 32 {
        let from = P[to] as usize - 1;
        masks[(from + 32 - to) % 32] |= 1 << (31 - to);
        to += 1;
    }
    masks
};

fn permute(word: u32) -> u32 {
    let mut result = 0;
    for (by, mask) in (0..).zip(ROTATED) {
        result |= word.rotate_left(by) & mask;
    }
    result
}

/// A round key: word `j` has the key bits of input `j` of all S-boxes, in the nibbles' lowest bits.
pub(crate) type NibbleKey = [u32; 6];

pub(crate) fn nibble_key(round_key: u64) -> NibbleKey {
    core::array::from_fn(|input| {
        (0..8).fold(0, |word, sbox| word << 4 | u32::from(key_bit(round_key, sbox, input)))
    })
}

/// For every block a mask with a nibble of ones where input `j` of an S-box is one. Input `j` of
/// S-box `s` is bit `4s - 1 + j` of the half, from the left.
fn selector(right: &Half, key: &NibbleKey, j: usize) -> Half {
    right.map(|half| ((half.rotate_right(4).rotate_left(j as u32) ^ key[j]) & NIBBLES) * 0xf)
}

fn select(zero: u32, one: u32, by: u32) -> u32 {
    zero ^ (zero ^ one) & by
}

/// Halves the number of candidates by one input bit.
fn narrow<const N: usize>(candidates: &[[Half; 2]; N], by: &Half) -> [Half; N] {
    core::array::from_fn(|i| {
        let [zero, one] = &candidates[i];
        core::array::from_fn(|block| select(zero[block], one[block], by[block]))
    })
}

fn pairs<const N: usize, const M: usize>(words: [Half; N]) -> [[Half; 2]; M] {
    core::array::from_fn(|i| [words[2 * i], words[2 * i + 1]])
}

/// Adds f of the right halves to the left ones.
fn add_f(left: &mut Half, right: &Half, key: &NibbleKey) {
    let leaves: [[Half; 2]; 32] =
        core::array::from_fn(|i| [[OUTPUTS[2 * i]; BLOCKS], [OUTPUTS[2 * i + 1]; BLOCKS]]);
    let by = |j| selector(right, key, j);
    let sixteen: [[Half; 2]; 16] = pairs(narrow(&leaves, &by(5)));
    let eight: [[Half; 2]; 8] = pairs(narrow(&sixteen, &by(4)));
    let four: [[Half; 2]; 4] = pairs(narrow(&eight, &by(3)));
    let two: [[Half; 2]; 2] = pairs(narrow(&four, &by(2)));
    let [one]: [[Half; 2]; 1] = pairs(narrow(&two, &by(1)));
    let [outputs] = narrow(&[one], &by(0));
    for (left, output) in left.iter_mut().zip(outputs) {
        *left ^= permute(output);
    }
}

/// Runs up to [`BLOCKS`] blocks.
pub(crate) fn run<K: Keying>(
    keys: &Rounds<K, NibbleKey>,
    direction: Direction,
    blocks: &mut [[u8; 8]],
) {
    let mut halves = [[0; BLOCKS]; 2];
    for (i, block) in blocks.iter().enumerate() {
        [halves[0][i], halves[1][i]] = halves::load(*block);
    }
    keys.run(direction, &mut halves, add_f);
    for (i, block) in blocks.iter_mut().enumerate() {
        *block = halves::store([halves[0][i], halves[1][i]]);
    }
}
