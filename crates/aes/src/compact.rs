//! Up to four blocks, constant-time, in eight 64-bit words: the path for a single block, for the
//! tail of a batch and for the key schedule.
//!
//! Here a lane is a byte of a block, not a block. Word `b` holds bit `b` of 64 bytes; the index of
//! a lane, from its most significant bit, is
//!
//! ```text
//! p1 p0 | c1 c0 | r1 r0        block, column, row: byte r + 4c of block p
//! ```
//!
//! so SubBytes is one pass of the circuit over all 64 bytes, ShiftRows rotates row `r` by `4r`
//! inside 16 bits and MixColumns rotates inside 4 bits.

use lanecrypt_core::Direction;
use lanecrypt_slicing::{Word, byte_planes, unslice_bytes};

use crate::{
    sbox,
    schedule::{Block, KeySteps},
};

/// Blocks in a state.
pub(crate) const BLOCKS: usize = 4;

/// Eight bit planes of 64 bytes.
type State = [u64; 8];

/// One bit in every 4, 16 bits: the lanes of row 0, of block `p`'s first lane.
const ROW: u64 = 0x1111_1111_1111_1111;
const BLOCK: u64 = 0x0001_0001_0001_0001;

/// A round key as bit planes of one block: bit `i` of plane `b` is bit `b` of byte `i`.
type PlaneKey = [u64; 8];

fn plane_key(key: &Block) -> PlaneKey {
    load(core::slice::from_ref(key))
}

fn load(blocks: &[Block]) -> State {
    let mut squares = [0; 2 * BLOCKS];
    let bytes = blocks.as_flattened().as_chunks::<8>().0;
    for (square, bytes) in squares.iter_mut().zip(bytes) {
        *square = u64::from_le_bytes(*bytes);
    }
    byte_planes(&squares[..bytes.len()])
}

fn store(state: &State, blocks: &mut [Block]) {
    let mut squares = [0; 2 * BLOCKS];
    let bytes = blocks.as_flattened_mut().as_chunks_mut::<8>().0;
    unslice_bytes(state, &mut squares[..bytes.len()]);
    for (bytes, square) in bytes.iter_mut().zip(squares) {
        *bytes = square.to_le_bytes();
    }
}

fn add_round_key(state: &mut State, key: &PlaneKey) {
    for (word, key) in state.iter_mut().zip(key) {
        *word ^= key * BLOCK;
    }
}

/// Rotates every row `r` of each plane by `step * r` columns to the left.
fn shift_rows(state: &mut State, step: u32) {
    for word in state {
        let before = *word;
        *word = (0..4).fold(0, |rows, row| {
            let bits = before & ROW << row;
            let shift = 4 * (row * step % 4);
            // Lanes that stay inside their block's 16 bits, and those that come round.
            let kept = (0xffff_u64 >> shift) * BLOCK;
            rows | (bits >> shift & kept) | (bits << ((16 - shift) % 64) & !kept)
        });
    }
}

// ANCHOR: mix_columns
/// The planes with row `r + by` of every column in place of row `r`.
fn rotate_rows(word: u64, by: u32) -> u64 {
    let kept = (0xf_u64 >> by) * ROW;
    (word >> by & kept) | (word << (4 - by) & !kept)
}

/// Multiplication of every byte by x: renames the planes and adds the modulus 0x1b.
fn times_x<W: Word>(byte: [W; 8]) -> [W; 8] {
    let [b0, b1, b2, b3, b4, b5, b6, b7] = byte;
    [b7, b0 ^ b7, b1, b2 ^ b7, b3 ^ b7, b4, b5, b6]
}

fn mix_columns(state: &mut State) {
    // 2a + 3b + c + d = 2(a + b) + b + (c + d), with (a, b, c, d) a column from this row on.
    let sums: State = core::array::from_fn(|bit| state[bit] ^ rotate_rows(state[bit], 1));
    let doubled = times_x(sums);
    for bit in 0..8 {
        state[bit] = doubled[bit] ^ rotate_rows(state[bit], 1) ^ rotate_rows(sums[bit], 2);
    }
}
// ANCHOR_END: mix_columns

fn inv_mix_columns(state: &mut State) {
    // The inverse matrix is MixColumns times circ(5, 0, 4, 0): a + 4(a + c).
    let sums: State = core::array::from_fn(|bit| state[bit] ^ rotate_rows(state[bit], 2));
    let fourfold = times_x(times_x(sums));
    for (word, sum) in state.iter_mut().zip(fourfold) {
        *word ^= sum;
    }
    mix_columns(state);
}

/// Runs up to [`BLOCKS`] blocks under the round keys of a direction.
pub(crate) fn run(keys: &[Block], direction: Direction, blocks: &mut [Block]) {
    let [first, middle @ .., last] = keys else {
        return;
    };
    let mut state = load(blocks);
    add_round_key(&mut state, &plane_key(first));
    for key in middle {
        match direction {
            Direction::Encrypt => {
                state = sbox::sbox(state);
                shift_rows(&mut state, 1);
                mix_columns(&mut state);
            }
            Direction::Decrypt => {
                state = sbox::inv_sbox(state);
                shift_rows(&mut state, 3);
                inv_mix_columns(&mut state);
            }
        }
        add_round_key(&mut state, &plane_key(key));
    }
    match direction {
        Direction::Encrypt => {
            state = sbox::sbox(state);
            shift_rows(&mut state, 1);
        }
        Direction::Decrypt => {
            state = sbox::inv_sbox(state);
            shift_rows(&mut state, 3);
        }
    }
    add_round_key(&mut state, &plane_key(last));
    store(&state, blocks);
}

/// The steps of the key schedule by the circuit: no look-up, so that it is constant-time.
pub(crate) struct Circuits;

impl Circuits {
    fn map(block: Block, step: impl Fn(&mut State)) -> Block {
        let mut blocks = [block];
        let mut state = load(&blocks);
        step(&mut state);
        store(&state, &mut blocks);
        blocks[0]
    }
}

impl KeySteps for Circuits {
    fn sub_word(&self, word: [u8; 4]) -> [u8; 4] {
        let mut block = [0; 16];
        block[..4].copy_from_slice(&word);
        Self::map(block, |state| *state = sbox::sbox(*state)).as_chunks::<4>().0[0]
    }

    fn inv_mix_columns(&self, block: Block) -> Block {
        Self::map(block, inv_mix_columns)
    }

    fn mix_columns(&self, block: Block) -> Block {
        Self::map(block, mix_columns)
    }
}
