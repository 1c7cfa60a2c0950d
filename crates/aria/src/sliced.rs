//! Bit-sliced ARIA, generic over the word: a block a lane, 32 at a time on `u32`, 64 on `u64`.
//!
//! A word holds the same bit of every block. The substitution layers are four
//! passes each of four circuits, the diffusion layer is XORs, and nothing is ever shifted.
//! Constant-time: no branch and no address depends on key or data.

use core::marker::PhantomData;

use cipher::{Array, typenum::Unsigned};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_slicing::{Word, slice, unslice};

use crate::{
    compact,
    diffusion::diffuse,
    sbox,
    schedule::{BothKeys, Bytes, KeyLength, Layer, RoundKey, RoundKeys, Steps},
};

/// A byte of every lane, bit by bit.
type Byte<W> = [W; 8];
/// The sixteen bytes of every lane, in the order of [`position`].
type State<W> = [Byte<W>; 16];

/// Where byte `i` is in a state: those that go through the same S-box are neighbours.
///
/// ```text
/// g1 g0 | s1 s0        byte s of group g, in a block
/// s1 s0 | g1 g0        its position
/// ```
const fn position(i: usize) -> usize {
    4 * (i % 4) + i / 4
}

// ANCHOR: steps
/// The steps on planes.
struct Planes<W>(PhantomData<W>);

impl<W: Word> Steps for Planes<W> {
    type State = State<W>;
    type Key = BroadcastKey<W>;

    fn add(state: &mut State<W>, key: &BroadcastKey<W>) {
        for (word, key) in state.as_flattened_mut().iter_mut().zip(key.0.as_flattened()) {
            *word ^= *key;
        }
    }

    fn substitute(state: &mut State<W>, layer: Layer) {
        let (forward, inverse) = state.split_at_mut(8);
        let (forward, inverse) = match layer {
            Layer::One => (forward, inverse),
            Layer::Two => (inverse, forward),
        };
        let (first, second) = forward.split_at_mut(4);
        apply::<0, W>(first);
        apply::<1, W>(second);
        let (first, second) = inverse.split_at_mut(4);
        apply::<2, W>(first);
        apply::<3, W>(second);
    }

    fn substitute_and_diffuse(state: &mut State<W>, layer: Layer) {
        Self::substitute(state, layer);
        diffuse_rows(state);
    }
}

/// Puts some bytes through a circuit.
///
/// Compilers make vectors of the same bit of two bytes, as long as this loop is on its own: inside a
/// round they unroll it.
#[inline(never)]
fn apply<const SBOX: usize, W: Word>(bytes: &mut [Byte<W>]) {
    for byte in bytes {
        *byte = circuit::<SBOX, W>(*byte);
    }
}

/// The circuit of an S-box, 0 to 3 in the order of SL1.
#[allow(clippy::inline_always, reason = "see `apply`")]
#[inline(always)]
pub(crate) fn circuit<const SBOX: usize, W: Word>(byte: Byte<W>) -> Byte<W> {
    match SBOX {
        0 => sbox::sbox1(byte),
        1 => sbox::sbox2(byte),
        2 => sbox::inv_sbox1(byte),
        _ => sbox::inv_sbox2(byte),
    }
}

/// The diffusion layer, a bit of every byte after the other.
#[allow(clippy::needless_range_loop, reason = "columns of rows")]
#[inline(never)]
fn diffuse_rows<W: Word>(state: &mut State<W>) {
    for bit in 0..8 {
        let sums = diffuse(core::array::from_fn(|i| state[position(i)][bit]));
        for i in 0..16 {
            state[position(i)][bit] = sums[i];
        }
    }
}
// ANCHOR_END: steps

/// Every bit of a round key as a word full of it.
#[derive(Clone)]
struct BroadcastKey<W>(State<W>);

impl<W: Word> BroadcastKey<W> {
    fn new(key: &Bytes) -> Self {
        let broadcast = |byte: u8| core::array::from_fn(|bit| W::splat(byte >> bit & 1 == 1));
        Self(core::array::from_fn(|i| broadcast(key[position(i)]))) // position is its own inverse
    }
}

impl<W: Word> Default for BroadcastKey<W> {
    fn default() -> Self {
        Self([[W::splat(false); 8]; 16])
    }
}

impl<W: Word> RoundKey for BroadcastKey<W> {}

/// The round keys of both directions as a batch wants them.
pub struct BroadcastKeys<W: Word, K: KeyLength> {
    keys: BothKeys<K, BroadcastKey<W>>,
}

impl<W: Word, K: KeyLength> core::fmt::Debug for BroadcastKeys<W, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BroadcastKeys").finish_non_exhaustive()
    }
}

/// Runs a block a lane.
fn run<W: Word, K: KeyLength>(keys: &RoundKeys<K, BroadcastKey<W>>, bytes: &mut [u8]) {
    let mut planes = [[W::splat(false); 8]; 16];
    slice(bytes, planes.as_flattened_mut());
    let mut state = core::array::from_fn(|i| planes[position(i)]);
    keys.run::<Planes<W>>(&mut state);
    planes = core::array::from_fn(|i| state[position(i)]);
    unslice(planes.as_flattened_mut(), bytes);
}

/// Bit-sliced ARIA on words of type `W`. Constant-time, key schedule included.
#[derive(Clone)]
pub struct Bitslice<W, K: KeyLength> {
    keys: BothKeys<K, Bytes>,
    word: PhantomData<W>,
}

impl<W: Word, K: KeyLength> Implementation for Bitslice<W, K> {
    type BlockSize = cipher::consts::U16;
    type KeySize = K::Size;
    type Lanes = W::Lanes;
    type BatchKeys = BroadcastKeys<W, K>;

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self { keys: compact::expand(key), word: PhantomData }
    }

    fn batch_keys(&self) -> BroadcastKeys<W, K> {
        BroadcastKeys { keys: self.keys.map(BroadcastKey::new) }
    }

    fn batch(
        &self,
        keys: &BroadcastKeys<W, K>,
        direction: Direction,
        blocks: &mut Array<Block<Self>, W::Lanes>,
    ) {
        debug_assert_eq!(W::Lanes::USIZE, W::LANES, "a block a lane");
        run(keys.keys.of(direction), Array::slice_as_flattened_mut(blocks));
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        let keys = self.keys.of(direction);
        if blocks.len() <= compact::BLOCKS {
            compact::run(keys, Array::slice_as_flattened_mut(blocks).as_chunks_mut().0);
            return;
        }
        let keys = keys.map(BroadcastKey::<W>::new);
        for few in blocks.chunks_mut(W::LANES) {
            let mut padded = Array::<Block<Self>, W::Lanes>::default();
            padded[..few.len()].copy_from_slice(few);
            run(&keys, Array::slice_as_flattened_mut(&mut padded));
            few.copy_from_slice(&padded[..few.len()]);
        }
    }
}

impl<W, K: KeyLength> core::fmt::Debug for Bitslice<W, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bitslice").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<W, K: KeyLength> zeroize::ZeroizeOnDrop for Bitslice<W, K> {}
