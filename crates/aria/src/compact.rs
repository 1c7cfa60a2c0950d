//! One block or up to four, constant-time: the path for single blocks, short tails and the key
//! schedule.
//!
//! Blocks stay words, on which the diffusion layer is a few operations; only for a substitution
//! layer all bytes become lanes of eight planes:
//!
//! ```text
//! p1 p0 | g1 g0 | s1 s0        byte s of group g of block p
//! ```
//!
//! All four circuits run over all lanes, and every lane keeps the result of its own.

use lanecrypt_slicing::{byte_planes, unslice_bytes};

use crate::{
    diffusion::{Words, bytes, diffuse_words, words},
    schedule::{self, Block, KeySteps, Layer, Steps},
    sliced::circuit,
};

/// Blocks that the planes have lanes for.
pub(crate) const BLOCKS: usize = 4;

/// The lanes of the first bytes of all groups.
const FIRST: u64 = 0x1111_1111_1111_1111;

/// The steps on `N` blocks, at most [`BLOCKS`].
struct Circuits<const N: usize>;

impl<const N: usize> Steps for Circuits<N> {
    type State = [Words; N];
    type Key = Block;

    fn add(&self, state: &mut [Words; N], key: &Block) {
        let key = words(key);
        for block in state {
            for (word, key) in block.iter_mut().zip(key) {
                *word ^= key;
            }
        }
    }

    fn substitute(&self, state: &mut [Words; N], layer: Layer) {
        let mut squares = [0; 2 * BLOCKS];
        let squares = &mut squares[..2 * N];
        let halves = state.as_flattened().as_chunks::<2>().0;
        for (square, [low, high]) in squares.iter_mut().zip(halves) {
            *square = u64::from(*high) << 32 | u64::from(*low);
        }
        unslice_bytes(&substitute_lanes(byte_planes(squares), layer), squares);
        let halves = state.as_flattened_mut().as_chunks_mut::<2>().0;
        for (half, square) in halves.iter_mut().zip(squares) {
            *half = [*square as u32, (*square >> 32) as u32];
        }
    }

    fn substitute_and_diffuse(&self, state: &mut [Words; N], layer: Layer) {
        self.substitute(state, layer);
        for block in state {
            *block = diffuse_words(*block);
        }
    }
}

/// A substitution layer on planes.
fn substitute_lanes(planes: [u64; 8], layer: Layer) -> [u64; 8] {
    let first = match layer {
        Layer::One => FIRST,
        Layer::Two => FIRST << 2,
    };
    let images = [
        (circuit::<0, u64>(planes), first),
        (circuit::<1, u64>(planes), first << 1),
        (circuit::<2, u64>(planes), first.rotate_left(2)),
        (circuit::<3, u64>(planes), first.rotate_left(3)),
    ];
    core::array::from_fn(|bit| {
        images.iter().fold(0, |sum, (image, lanes)| sum | image[bit] & lanes)
    })
}

/// Runs up to [`BLOCKS`] blocks under the round keys of a direction.
pub(crate) fn run(keys: &[Block], blocks: &mut [Block]) {
    match blocks {
        [] => {}
        [block] => *block = run_all(keys, [*block])[0],
        _ => {
            let mut padded = [[0; 16]; BLOCKS];
            padded[..blocks.len()].copy_from_slice(blocks);
            padded = run_all(keys, padded);
            blocks.copy_from_slice(&padded[..blocks.len()]);
        }
    }
}

fn run_all<const N: usize>(keys: &[Block], blocks: [Block; N]) -> [Block; N] {
    let mut state = blocks.map(|block| words(&block));
    schedule::run(&Circuits::<N>, keys, &mut state);
    state.map(bytes)
}

/// The steps of the key schedule by circuits.
pub(crate) struct KeyCircuits;

impl KeySteps for KeyCircuits {
    fn round(&self, block: Block, layer: Layer) -> Block {
        let mut state = [words(&block)];
        Circuits.substitute_and_diffuse(&mut state, layer);
        bytes(state[0])
    }
}
