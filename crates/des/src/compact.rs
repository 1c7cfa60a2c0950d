//! One block, constant-time: what a batch of 64 would be too slow for.
//!
//! All eight S-boxes work at once in the nibbles of a word, S1 in the top one. Entry `x` of the
//! table holds the outputs of all eight for input `x`; a tree of selections, by one input bit after
//! the other, finds the outputs for inputs that differ from box to box. Nothing is looked up: the
//! whole table is read every time.

use lanecrypt_core::Direction;
use lanecrypt_reference::des::{P, SBOXES};

use crate::{
    halves,
    schedule::{Keying, Rounds, key_bit},
};

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

/// A round key in eight bytes, a nibble an S-box, S1 in the top one: bit `j` of a nibble of the first
/// word is the key bit of input `j`, and of the second word that of input `4 + j`.
pub(crate) type NibbleKey = [u32; 2];

pub(crate) fn nibble_key(round_key: u64) -> NibbleKey {
    [[3, 2, 1, 0].as_slice(), &[5, 4]].map(|inputs| {
        (0..8).fold(0, |word, sbox| {
            let nibble = |sum, &input| sum << 1 | u32::from(key_bit(round_key, sbox, input));
            word << 4 | inputs.iter().fold(0, nibble)
        })
    })
}

/// The key bits of input `j` of all S-boxes, in the nibbles' lowest bits; other bits are anything.
fn key_bits(key: &NibbleKey, j: usize) -> u32 {
    key[j / 4] >> (j % 4)
}

/// The key bit of input `j` of an S-box.
pub(crate) fn bit_of(key: &NibbleKey, sbox: usize, j: usize) -> bool {
    key_bits(key, j) >> (28 - 4 * sbox) & 1 == 1
}

/// A nibble of ones where input `j` of an S-box is one. Input `j` of S-box `s` is bit `4s - 1 + j`
/// of the half, from the left.
fn selector(right: u32, key: &NibbleKey, j: usize) -> u32 {
    ((right.rotate_right(4).rotate_left(j as u32) ^ key_bits(key, j)) & NIBBLES) * 0xf
}

/// Halves the number of candidates by one input bit.
fn narrow<const N: usize, const HALF: usize>(candidates: &[u32; N], by: u32) -> [u32; HALF] {
    core::array::from_fn(|i| {
        let (zero, one) = (candidates[2 * i], candidates[2 * i + 1]);
        zero ^ (zero ^ one) & by
    })
}

/// f of the right half.
fn f(right: u32, key: &NibbleKey) -> u32 {
    let by = |j| selector(right, key, j);
    let candidates: [u32; 32] = narrow(&OUTPUTS, by(5));
    let candidates: [u32; 16] = narrow(&candidates, by(4));
    let candidates: [u32; 8] = narrow(&candidates, by(3));
    let candidates: [u32; 4] = narrow(&candidates, by(2));
    let candidates: [u32; 2] = narrow(&candidates, by(1));
    let [outputs] = narrow(&candidates, by(0));
    permute(outputs)
}

/// Runs one block.
pub(crate) fn run<K: Keying>(
    keys: &Rounds<K, NibbleKey>,
    direction: Direction,
    block: &mut [u8; 8],
) {
    let mut halves = halves::load(*block);
    keys.run(direction, &mut halves, |left, right, key| *left ^= f(*right, key));
    *block = halves::store(halves);
}
