//! One block, constant-time: what a whole batch would be too slow for.
//!
//! All eight S-boxes work at once in the nibbles of a word, S1 in the top one. Entry `x` of the
//! table holds the outputs of all eight for input `x`; a tree of selections, by one input bit after
//! the other, finds the outputs for inputs that differ from box to box. Nothing is looked up: the
//! whole table is read every time.

use lanecrypt_core::Direction;
use lanecrypt_reference::des::{P, SBOXES};

use crate::{
    halves,
    schedule::{self, Keying, PerRound, RoundKey},
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

/// A nibble of ones where the lowest bit of the nibble is one.
fn selector(inputs: u32) -> u32 {
    (inputs & NIBBLES) * 0xf
}

/// Halves the number of candidates by one input bit.
fn narrow<const N: usize, const HALF: usize>(candidates: &[u32; N], by: u32) -> [u32; HALF] {
    core::array::from_fn(|i| {
        let (zero, one) = (candidates[2 * i], candidates[2 * i + 1]);
        zero ^ (zero ^ one) & by
    })
}

/// f of the right half. Input `j` of S-box `s` is bit `4s - 1 + j` of the half, from the left.
fn f(right: u32, key: RoundKey) -> u32 {
    let first = selector(right.rotate_right(4) ^ key.outer);
    let last = selector(right.rotate_left(1) ^ key.outer >> 1);
    let right = right ^ key.inner;
    let candidates: [u32; 32] = narrow(&OUTPUTS, last);
    let candidates: [u32; 16] = narrow(&candidates, selector(right));
    let candidates: [u32; 8] = narrow(&candidates, selector(right >> 1));
    let candidates: [u32; 4] = narrow(&candidates, selector(right >> 2));
    let candidates: [u32; 2] = narrow(&candidates, selector(right >> 3));
    let [outputs] = narrow(&candidates, first);
    permute(outputs)
}

/// Runs one block.
pub(crate) fn run<K: Keying>(
    keys: &PerRound<K, RoundKey>,
    direction: Direction,
    block: &mut [u8; 8],
) {
    let mut halves = halves::load(*block);
    schedule::run::<K, _>(keys, direction, &mut halves, f);
    *block = halves::store(halves);
}
