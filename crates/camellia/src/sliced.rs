//! Bit-sliced Camellia, generic over the word: a block a lane, 32 at a time on `u32`, 64 on `u64`.
//!
//! A word holds the same bit of every block; byte 0 is the one that RFC 3713 writes first. F is eight passes of one circuit: SBOX2, SBOX3 and SBOX4 differ from
//! SBOX1 by rotations of a byte, which are names, and so are the rotations of FL. P is XORs.
//! Constant-time: no branch and no address depends on key or data.

use core::marker::PhantomData;

use cipher::{Array, typenum::Unsigned};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_slicing::{Word, slice, unslice};

use crate::{
    compact,
    linear::p,
    sbox,
    schedule::{KeyLength, Steps, Subkey, Subkeys},
};

/// The same bit of the eight bytes of a half, of every lane.
type Row<W> = [W; 8];
/// A half of every lane, row by row, the bytes' least significant bits first.
type Half<W> = [Row<W>; 8];

/// Bits by which the S-boxes rotate SBOX1's input to the left, byte by byte of the half.
const INPUT_ROTATION: [usize; 8] = [0, 0, 0, 1, 0, 0, 1, 0];
/// Bits by which they rotate its output to the left.
const OUTPUT_ROTATION: [usize; 8] = [0, 1, 7, 0, 1, 7, 0, 0];

/// Row `bit` of a half whose bytes are rotated to the left: a renaming.
fn rotated<W: Word>(half: &Half<W>, bit: usize, by: [usize; 8]) -> Row<W> {
    core::array::from_fn(|byte| half[(bit + 8 - by[byte]) % 8][byte])
}

fn add<W: Word>(to: &mut Row<W>, from: Row<W>) {
    for (word, from) in to.iter_mut().zip(from) {
        *word ^= from;
    }
}

// ANCHOR: f
/// Adds F of a half.
fn add_f<W: Word>(to: &mut Half<W>, half: &Half<W>, key: &Half<W>) {
    let mut sums = *half;
    for (row, key) in sums.iter_mut().zip(key) {
        add(row, *key);
    }
    let mut rows: Half<W> = core::array::from_fn(|bit| rotated(&sums, bit, INPUT_ROTATION));
    substitute(&mut rows);
    for (bit, row) in to.iter_mut().enumerate() {
        add(row, p(rotated(&rows, bit, OUTPUT_ROTATION)));
    }
}

/// SBOX1 of every byte.
///
/// The words of neighbouring bytes are neighbours, so compilers make vectors of them, as long as
/// this loop is on its own: inside F they unroll it.
#[allow(clippy::needless_range_loop, reason = "columns of rows")]
#[inline(never)]
fn substitute<W: Word>(rows: &mut Half<W>) {
    for byte in 0..8 {
        let image = sbox::sbox(core::array::from_fn(|bit| rows[bit][byte]));
        for bit in 0..8 {
            rows[bit][byte] = image[bit];
        }
    }
}
// ANCHOR_END: f

/// The byte and the bit in it where bit `i` of a 32-bit part is, from the least significant on;
/// `part` is 0 for the left one.
const fn place(part: usize, i: usize) -> (usize, usize) {
    (4 * part + 3 - i / 8, i % 8)
}

/// Adds to the right part the left one AND the key's, rotated left by one bit.
fn add_rotated_and<W: Word>(half: &mut Half<W>, key: &Half<W>) {
    for i in 0..32 {
        let (byte, bit) = place(0, (i + 31) % 32);
        let product = half[bit][byte] & key[bit][byte];
        let (byte, bit) = place(1, i);
        half[bit][byte] ^= product;
    }
}

/// Adds to the left part the right one OR the key's.
fn add_or<W: Word>(half: &mut Half<W>, key: &Half<W>) {
    for (row, key) in half.iter_mut().zip(key) {
        for byte in 0..4 {
            row[byte] ^= row[byte + 4] | key[byte + 4];
        }
    }
}

/// The steps on planes.
struct Planes<W>(PhantomData<W>);

impl<W: Word> Steps for Planes<W> {
    type Half = Half<W>;
    type Key = BroadcastKey<W>;

    fn add(half: &mut Half<W>, key: &BroadcastKey<W>) {
        for (row, key) in half.iter_mut().zip(key.0) {
            add(row, key);
        }
    }

    fn add_f(half: &mut Half<W>, other: &Half<W>, key: &BroadcastKey<W>) {
        add_f(half, other, &key.0);
    }

    fn fl(half: &mut Half<W>, key: &BroadcastKey<W>) {
        add_rotated_and(half, &key.0);
        add_or(half, &key.0);
    }

    fn fl_inverse(half: &mut Half<W>, key: &BroadcastKey<W>) {
        add_or(half, &key.0);
        add_rotated_and(half, &key.0);
    }
}

/// Every bit of a subkey as a word full of it.
#[derive(Clone)]
struct BroadcastKey<W>(Half<W>);

impl<W: Word> BroadcastKey<W> {
    fn new(key: u64) -> Self {
        let bytes = key.to_be_bytes();
        Self(core::array::from_fn(|bit| bytes.map(|byte| W::splat(byte >> bit & 1 == 1))))
    }
}

impl<W: Word> Default for BroadcastKey<W> {
    fn default() -> Self {
        Self([[W::splat(false); 8]; 8])
    }
}

impl<W: Word> Subkey for BroadcastKey<W> {}

/// The subkeys as a batch wants them.
pub struct BroadcastKeys<W: Word, K: KeyLength> {
    keys: Subkeys<K, BroadcastKey<W>>,
}

impl<W: Word, K: KeyLength> core::fmt::Debug for BroadcastKeys<W, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BroadcastKeys").finish_non_exhaustive()
    }
}

/// Bit-sliced Camellia on words of type `W`. Constant-time, key schedule included.
#[derive(Clone)]
pub struct Bitslice<W, K: KeyLength> {
    keys: Subkeys<K, u64>,
    word: PhantomData<W>,
}

/// The index among a block's 128 planes of a bit of a byte of a half.
const fn plane(half: usize, bit: usize, byte: usize) -> usize {
    64 * half + 8 * byte + bit
}

fn halves<W: Word>(planes: &[W; 128]) -> [Half<W>; 2] {
    [0, 1].map(|half| {
        let row = |bit| core::array::from_fn(|byte| planes[plane(half, bit, byte)]);
        core::array::from_fn(row)
    })
}

/// The inverse of [`halves`].
fn store<W: Word>(halves: &[Half<W>; 2], planes: &mut [W; 128]) {
    for half in 0..2 {
        for bit in 0..8 {
            for byte in 0..8 {
                planes[plane(half, bit, byte)] = halves[half][bit][byte];
            }
        }
    }
}

impl<W: Word, K: KeyLength> Implementation for Bitslice<W, K> {
    type BlockSize = cipher::consts::U16;
    type KeySize = K::Size;
    type Lanes = W::Lanes;
    type BatchKeys = BroadcastKeys<W, K>;

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self { keys: Subkeys::expand::<compact::Circuit>(key), word: PhantomData }
    }

    fn batch_keys(&self) -> BroadcastKeys<W, K> {
        BroadcastKeys { keys: self.keys.map(|&key| BroadcastKey::new(key)) }
    }

    fn batch(
        &self,
        keys: &BroadcastKeys<W, K>,
        direction: Direction,
        blocks: &mut Array<Block<Self>, W::Lanes>,
    ) {
        debug_assert_eq!(W::Lanes::USIZE, W::LANES, "a block a lane");
        let bytes = Array::slice_as_flattened_mut(blocks);
        let mut planes = [W::splat(false); 128];
        slice(bytes, &mut planes);
        let mut halves = halves(&planes);
        keys.keys.run::<Planes<W>>(direction, &mut halves);
        store(&halves, &mut planes);
        unslice(&mut planes, bytes);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        if blocks.len() <= compact::BLOCKS {
            let blocks = Array::slice_as_flattened_mut(blocks).as_chunks_mut().0;
            compact::run(&self.keys, direction, blocks);
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

impl<W, K: KeyLength> core::fmt::Debug for Bitslice<W, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bitslice").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<W, K: KeyLength> zeroize::ZeroizeOnDrop for Bitslice<W, K> {}
