//! HIGHT over lanes of bytes, one text for all of them: bit-sliced on planes, byte-sliced on words
//! with or without gaps, and a single block on `u8`.
//!
//! Constant-time wherever the lanes are: no branch and no address depends on key or data.

#![allow(clippy::inline_always, reason = "a round is to run on registers, whatever the lanes")]

use core::marker::PhantomData;

use cipher::{
    Array,
    consts::{U8, U16},
    typenum::Unsigned,
};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_slicing::{Bytes, Gapped, Planes};

use crate::{lanes::LaneBytes, schedule::Subkeys};

/// The bytes of every lane, in the order of the block: `X[7]` comes first.
type State<B> = [B; 8];

/// Where bytes `X[0]` to `X[7]` are in a round, so that none is ever moved: the standard's round
/// makes `X[j]` the `X[j + 1]` of the next one, here it gets that name.
///
/// ```text
///            state[0]  [1]   [2]   [3]   [4]   [5]   [6]   [7]
/// round 0      X7      X6    X5    X4    X3    X2    X1    X0
/// round 1      X0      X7    X6    X5    X4    X3    X2    X1
/// round 2      X1      X0    X7    X6    X5    X4    X3    X2
/// ```
const fn places(round: usize) -> [usize; 8] {
    let mut places = [0; 8];
    let mut j = 0;
    while j < 8 {
        places[j] = (7 + 8 + round % 8 - j) % 8;
        j += 1;
    }
    places
}

// ANCHOR: round
/// Round `ROUND`, modulo 8, with subkeys `sk`; `plus` is the addition of bytes, or to decrypt
/// their subtraction. The four steps touch different bytes, so that their order is free.
#[inline(always)]
fn round<B: LaneBytes, const ROUND: usize>(
    x: &mut State<B>,
    sk: &[B; 4],
    plus: impl Fn(B, B) -> B,
) {
    let [x0, x1, x2, x3, x4, x5, x6, x7] = const { places(ROUND) };
    x[x1] = plus(x[x1], x[x0].f1().xor(sk[0]));
    x[x5] = plus(x[x5], x[x4].f1().xor(sk[2]));
    x[x3] = x[x3].xor(x[x2].f0().add(sk[1]));
    x[x7] = x[x7].xor(x[x6].f0().add(sk[3]));
}
// ANCHOR_END: round

/// The four whitening keys `wk` on the bytes as they are named in round `ROUND`, modulo 8.
#[inline(always)]
fn whiten<B: LaneBytes, const ROUND: usize>(x: &mut State<B>, wk: &[B], plus: impl Fn(B, B) -> B) {
    let [x0, _, x2, _, x4, _, x6, _] = const { places(ROUND) };
    x[x0] = plus(x[x0], wk[0]);
    x[x2] = x[x2].xor(wk[1]);
    x[x4] = plus(x[x4], wk[2]);
    x[x6] = x[x6].xor(wk[3]);
}

#[inline(always)]
fn encrypt<B: LaneBytes>(x: &mut State<B>, keys: &Subkeys<B>) {
    whiten::<B, 0>(x, &keys.whitening[..4], B::add);
    for sk in keys.rounds.as_chunks::<8>().0 {
        round::<B, 0>(x, &sk[0], B::add);
        round::<B, 1>(x, &sk[1], B::add);
        round::<B, 2>(x, &sk[2], B::add);
        round::<B, 3>(x, &sk[3], B::add);
        round::<B, 4>(x, &sk[4], B::add);
        round::<B, 5>(x, &sk[5], B::add);
        round::<B, 6>(x, &sk[6], B::add);
        round::<B, 7>(x, &sk[7], B::add);
    }
    // The last round keeps the names: its X[7] is the ciphertext's and belongs in front.
    whiten::<B, 7>(x, &keys.whitening[4..], B::add);
    *x = core::array::from_fn(|i| x[(i + 7) % 8]);
}

#[inline(always)]
fn decrypt<B: LaneBytes>(x: &mut State<B>, keys: &Subkeys<B>) {
    *x = core::array::from_fn(|i| x[(i + 1) % 8]);
    whiten::<B, 7>(x, &keys.whitening[4..], B::subtract);
    for sk in keys.rounds.as_chunks::<8>().0.iter().rev() {
        round::<B, 7>(x, &sk[7], B::subtract);
        round::<B, 6>(x, &sk[6], B::subtract);
        round::<B, 5>(x, &sk[5], B::subtract);
        round::<B, 4>(x, &sk[4], B::subtract);
        round::<B, 3>(x, &sk[3], B::subtract);
        round::<B, 2>(x, &sk[2], B::subtract);
        round::<B, 1>(x, &sk[1], B::subtract);
        round::<B, 0>(x, &sk[0], B::subtract);
    }
    whiten::<B, 0>(x, &keys.whitening[..4], B::subtract);
}

/// Runs `B::LANES` blocks in place.
#[inline]
fn run<B: LaneBytes>(keys: &Subkeys<B>, direction: Direction, blocks: &mut [u8]) {
    let mut state = [B::splat(0); 8];
    B::slice(blocks, &mut state);
    match direction {
        Direction::Encrypt => encrypt(&mut state, keys),
        Direction::Decrypt => decrypt(&mut state, keys),
    }
    B::unslice(&mut state, blocks);
}

/// The lanes of a few blocks: of the constant-time ones, those that a full word costs least.
type Few = Gapped<u64>;

/// Blocks up to which running them one by one costs less than a word of [`Few`].
const SINGLES: usize = 2;

/// Runs any number of blocks, of eight bytes each, without the price of a wide batch:
/// constant-time, that is, in a time that depends on their number alone.
fn run_few(keys: &Subkeys<u8>, direction: Direction, blocks: &mut [u8]) {
    let few_keys = (blocks.len() > 8 * SINGLES).then(|| keys.splat::<Few>());
    for few in blocks.chunks_mut(8 * Few::LANES) {
        match &few_keys {
            Some(keys) if few.len() > 8 * SINGLES => {
                let mut padded = [0; 8 * Few::LANES];
                padded[..few.len()].copy_from_slice(few);
                run(keys, direction, &mut padded);
                few.copy_from_slice(&padded[..few.len()]);
            }
            _ => few.chunks_mut(8).for_each(|block| run(keys, direction, block)),
        }
    }
}

/// HIGHT on the lanes of `B`, key schedule included constant-time unless `B` is `Gapped<u32>`.
#[derive(Clone)]
pub struct Sliced<B> {
    keys: Subkeys<u8>,
    lanes: PhantomData<B>,
}

/// Bit-sliced HIGHT on words of type `W`. Constant-time, key schedule included.
pub type Bitslice<W> = Sliced<Planes<W>>;

impl<B: LaneBytes> Implementation for Sliced<B> {
    type BlockSize = U8;
    type KeySize = U16;
    type Lanes = B::Lanes;
    type BatchKeys = Subkeys<B>;

    const NAME: &'static str = "Hight";

    fn new(key: &Array<u8, U16>) -> Self {
        Self { keys: Subkeys::expand(&key.0), lanes: PhantomData }
    }

    fn batch_keys(&self) -> Subkeys<B> {
        self.keys.splat()
    }

    fn batch(
        &self,
        keys: &Subkeys<B>,
        direction: Direction,
        blocks: &mut Array<Block<Self>, B::Lanes>,
    ) {
        debug_assert_eq!(B::Lanes::USIZE, B::LANES, "a block a lane");
        run(keys, direction, Array::slice_as_flattened_mut(blocks));
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        run_few(&self.keys, direction, Array::slice_as_flattened_mut(blocks));
    }
}

impl<B> core::fmt::Debug for Sliced<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sliced").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<B> zeroize::ZeroizeOnDrop for Sliced<B> {}
