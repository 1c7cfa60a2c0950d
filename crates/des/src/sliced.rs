//! Bit-sliced DES, generic over the word: a block a lane, 32 at a time on `u32`, 64 on `u64`.
//!
//! A word holds the same bit of every block. The permutations are names, the S-boxes circuits, and
//! nothing is ever shifted. Constant-time: no branch and no address depends on key or data.

use cipher::{Array, consts::U8, typenum::Unsigned};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_reference::des::P;
use lanecrypt_slicing::{Word, slice, unslice};

use crate::{
    compact::{self, NibbleKey},
    sbox,
    schedule::{self, Keying, Rounds},
};

/// Bits of a half, the standard's bit 1 first.
type Half<W> = [W; 32];
/// Bits of a round key: the six inputs of every S-box, from the left.
#[derive(Clone)]
struct RoundKey<W> {
    bits: [[W; 6]; 8],
}

/// The bit of a half that each S-box output goes to, both from the left: the inverse of P.
const AFTER_P: [usize; 32] = {
    let mut to = [0; 32];
    let mut i = 0;
    while i < 32 {
        to[P[i] as usize - 1] = i;
        i += 1;
    }
    to
};

/// The plane of bit `bit` of half `half` (0 left, 1 right) after the initial permutation, which
/// takes a column of the block's 8x8 bits after the other, each from the last byte to the first.
const fn plane_of(half: usize, bit: usize) -> usize {
    let (byte, column) = (7 - bit % 8, 2 * (bit / 8) + 1 - half);
    8 * byte + 7 - column
}

/// The S-boxes: six inputs and four outputs, least significant first.
fn substitute<W: Word>(sbox: usize, x: [W; 6]) -> [W; 4] {
    match sbox {
        0 => sbox::sbox1(x),
        1 => sbox::sbox2(x),
        2 => sbox::sbox3(x),
        3 => sbox::sbox4(x),
        4 => sbox::sbox5(x),
        5 => sbox::sbox6(x),
        6 => sbox::sbox7(x),
        _ => sbox::sbox8(x),
    }
}

/// Up to so many blocks run faster one by one than as a batch.
const SINGLE_BLOCKS: usize = 3;

// ANCHOR: add_f
/// Adds f of the right half to the left one.
#[inline(always)]
fn add_f<W: Word>(left: &mut Half<W>, right: &Half<W>, key: &RoundKey<W>) {
    macro_rules! add_sboxes {
        ($($sbox:literal)*) => {$({
            // E: the four bits of the same place, and one on either side.
            let x = core::array::from_fn(|i| {
                right[(4 * $sbox + 36 - i) % 32] ^ key.bits[$sbox][5 - i]
            });
            for (i, output) in substitute($sbox, x).into_iter().enumerate() {
                left[AFTER_P[4 * $sbox + 3 - i]] ^= output;
            }
        })*};
    }
    add_sboxes!(0 1 2 3 4 5 6 7);
}
// ANCHOR_END: add_f

/// Every bit of every round key as a word full of it.
pub struct BroadcastKeys<W: Word, K: Keying> {
    rounds: Rounds<K, RoundKey<W>>,
}

impl<W: Word> schedule::RoundKey for RoundKey<W> {}

impl<W: Word> Default for RoundKey<W> {
    fn default() -> Self {
        Self { bits: [[W::splat(false); 6]; 8] }
    }
}

impl<W: Word> RoundKey<W> {
    fn new(key: &NibbleKey) -> Self {
        let bit = |sbox: usize, input: usize| W::splat(compact::bit_of(key, sbox, input));
        let bits = core::array::from_fn(|sbox| core::array::from_fn(|input| bit(sbox, input)));
        Self { bits }
    }
}

impl<W: Word, K: Keying> core::fmt::Debug for BroadcastKeys<W, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BroadcastKeys").finish_non_exhaustive()
    }
}

/// Bit-sliced DES on words of type `W`. Constant-time, key schedule included.
#[derive(Clone)]
pub struct Bitslice<W, K: Keying> {
    keys: Rounds<K, NibbleKey>,
    word: core::marker::PhantomData<W>,
}

impl<W: Word, K: Keying> Bitslice<W, K> {
    fn run(keys: &Rounds<K, RoundKey<W>>, direction: Direction, planes: &mut [W; 64]) {
        let half = |half| core::array::from_fn(|bit| planes[plane_of(half, bit)]);
        let mut halves: [Half<W>; 2] = [half(0), half(1)];
        keys.run(direction, &mut halves, add_f);
        for (half, bits) in halves.iter().enumerate() {
            for (bit, word) in bits.iter().enumerate() {
                planes[plane_of(half, bit)] = *word;
            }
        }
    }
}

impl<W: Word, K: Keying> Implementation for Bitslice<W, K> {
    type BlockSize = U8;
    type KeySize = K::Size;
    type Lanes = W::Lanes;
    type BatchKeys = BroadcastKeys<W, K>;

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        let keys = Rounds::expand(key).map(|&key| compact::nibble_key(key));
        Self { keys, word: core::marker::PhantomData }
    }

    fn batch_keys(&self) -> BroadcastKeys<W, K> {
        BroadcastKeys { rounds: self.keys.map(RoundKey::new) }
    }

    fn batch(
        &self,
        keys: &BroadcastKeys<W, K>,
        direction: Direction,
        blocks: &mut Array<Block<Self>, W::Lanes>,
    ) {
        debug_assert_eq!(W::Lanes::USIZE, W::LANES, "a block a lane");
        let bytes = Array::slice_as_flattened_mut(blocks);
        let mut planes = [W::splat(false); 64];
        slice(bytes, &mut planes);
        Self::run(&keys.rounds, direction, &mut planes);
        unslice(&mut planes, bytes);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        if blocks.len() <= SINGLE_BLOCKS {
            for block in blocks {
                compact::run(&self.keys, direction, &mut block.0);
            }
            return;
        }
        let keys = self.batch_keys();
        for few in blocks.chunks_mut(W::LANES) {
            let mut padded = Array::default();
            padded[..few.len()].copy_from_slice(few);
            self.batch(&keys, direction, &mut padded);
            few.copy_from_slice(&padded[..few.len()]);
        }
    }
}

impl<W, K: Keying> core::fmt::Debug for Bitslice<W, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bitslice").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<W, K: Keying> zeroize::ZeroizeOnDrop for Bitslice<W, K> {}
