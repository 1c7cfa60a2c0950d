//! Bit-sliced SEED, generic over the word: a block a lane, 32 at a time on `u32`, 64 on `u64`.
//!
//! A plane holds the same bit of every block. G is two passes each of two circuits, and XORs:
//! every mask drops one of the four S-box outputs. Additions modulo 2^32 ripple through 32 planes.
//! Constant-time: no branch and no address depends on key or data.

use core::marker::PhantomData;

use cipher::{Array, consts::U16, typenum::Unsigned};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_slicing::{Word, slice, unslice};

use crate::{
    compact, sbox,
    schedule::{KeyWord, NAME, RoundKeys, Steps},
};

/// The same bit of the four bytes of a word, of every lane, in the order of [`place`].
type Row<W> = [W; 4];
/// A 32-bit word of every lane: rows of the bytes' bits, the least significant first.
type Quarter<W> = [Row<W>; 8];

/// Where byte `i` of a word, counted from the least significant, is in a row: those that go through
/// the same S-box are neighbours.
const fn place(i: usize) -> usize {
    i % 2 * 2 + i / 2
}

fn xor<W: Word>(to: &mut Quarter<W>, from: &Quarter<W>) {
    for (to, from) in to.as_flattened_mut().iter_mut().zip(from.as_flattened()) {
        *to ^= *from;
    }
}

// ANCHOR: add
/// Adds modulo 2^32: five operations a bit, two of them between one carry and the next.
#[inline(never)] // as fast as in line, and less code
fn add<W: Word>(to: &mut Quarter<W>, from: &Quarter<W>) {
    let mut carry = W::splat(false);
    for byte in 0..4 {
        for bit in 0..8 {
            let (a, b) = (to[bit][place(byte)], from[bit][place(byte)]);
            let differ = a ^ b;
            to[bit][place(byte)] = differ ^ carry;
            carry = a & b ^ differ & carry;
        }
    }
}
// ANCHOR_END: add

// ANCHOR: g
fn g<W: Word>(word: &mut Quarter<W>) {
    substitute::<0, W>(word);
    substitute::<1, W>(word);
    for (bit, row) in word.iter_mut().enumerate() {
        *row = diffuse(*row, bit / 2);
    }
}

/// S-box `SBOX` of both bytes that go through it.
///
/// Compilers make vectors of the same bit of both bytes, as long as this loop is on its own: inside
/// a round they unroll it.
#[allow(clippy::needless_range_loop, reason = "columns of rows")]
#[inline(never)]
fn substitute<const SBOX: usize, W: Word>(word: &mut Quarter<W>) {
    for byte in 2 * SBOX..2 * SBOX + 2 {
        let column = core::array::from_fn(|bit| word[bit][byte]);
        let image = match SBOX {
            0 => sbox::sbox0(column),
            _ => sbox::sbox1(column),
        };
        for bit in 0..8 {
            word[bit][byte] = image[bit];
        }
    }
}

/// One bit of every byte of G's result. Mask `pair` drops it, and byte `j` has the output of byte
/// `i` under mask `(i + j) % 4`: the sum of all outputs but that of byte `(pair - j) % 4`.
fn diffuse<W: Word>([y0, y2, y1, y3]: Row<W>, pair: usize) -> Row<W> {
    let (y01, y23) = (y0 ^ y1, y2 ^ y3);
    // `without[i]` is the sum of all but the output of byte `i`.
    let without = [y1 ^ y23, y0 ^ y23, y01 ^ y3, y01 ^ y2];
    [0, 2, 1, 3].map(|j| without[(pair + 4 - j) % 4])
}
// ANCHOR_END: g

/// The steps on planes.
struct Planes<W>(PhantomData<W>);

impl<W: Word> Steps for Planes<W> {
    type Word = Quarter<W>;
    type Key = BroadcastKey<W>;

    fn xor_key(word: &mut Quarter<W>, key: &BroadcastKey<W>) {
        xor(word, &key.0);
    }

    fn xor(word: &mut Quarter<W>, other: &Quarter<W>) {
        xor(word, other);
    }

    fn add(word: &mut Quarter<W>, other: &Quarter<W>) {
        add(word, other);
    }

    fn g(word: &mut Quarter<W>) {
        g(word);
    }
}

/// Every bit of half a round key as a word full of it.
#[derive(Clone)]
struct BroadcastKey<W>(Quarter<W>);

impl<W: Word> BroadcastKey<W> {
    fn new(key: u32) -> Self {
        let bytes = key.to_le_bytes();
        Self(core::array::from_fn(|bit| {
            core::array::from_fn(|i| W::splat(bytes[place(i)] >> bit & 1 == 1)) // its own inverse
        }))
    }
}

impl<W: Word> Default for BroadcastKey<W> {
    fn default() -> Self {
        Self([[W::splat(false); 4]; 8])
    }
}

impl<W: Word> KeyWord for BroadcastKey<W> {}

/// The round keys as a batch wants them.
pub struct BroadcastKeys<W: Word> {
    keys: RoundKeys<BroadcastKey<W>>,
}

impl<W: Word> core::fmt::Debug for BroadcastKeys<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BroadcastKeys").finish_non_exhaustive()
    }
}

/// The index among a block's 128 planes of a bit of what is at `place` in a row of `word`: words are
/// stored with their most significant byte first.
const fn plane(word: usize, bit: usize, place_in_row: usize) -> usize {
    8 * (4 * word + 3 - place(place_in_row)) + bit
}

/// The halves, two words each, of the blocks whose planes these are.
fn halves<W: Word>(planes: &[W; 128]) -> [[Quarter<W>; 2]; 2] {
    let row = |word, bit| core::array::from_fn(|i| planes[plane(word, bit, i)]);
    let word = |word| core::array::from_fn(|bit| row(word, bit));
    [[word(0), word(1)], [word(2), word(3)]]
}

/// The inverse of [`halves`].
fn store<W: Word>(halves: &[[Quarter<W>; 2]; 2], planes: &mut [W; 128]) {
    for (word, rows) in halves.as_flattened().iter().enumerate() {
        for (bit, row) in rows.iter().enumerate() {
            for (i, value) in row.iter().enumerate() {
                planes[plane(word, bit, i)] = *value;
            }
        }
    }
}

/// Bit-sliced SEED on words of type `W`. Constant-time, key schedule included.
#[derive(Clone)]
pub struct Bitslice<W> {
    keys: RoundKeys<u32>,
    word: PhantomData<W>,
}

impl<W: Word> Implementation for Bitslice<W> {
    type BlockSize = U16;
    type KeySize = U16;
    type Lanes = W::Lanes;
    type BatchKeys = BroadcastKeys<W>;

    const NAME: &'static str = NAME;

    fn new(key: &Array<u8, U16>) -> Self {
        Self { keys: RoundKeys::expand::<compact::Circuits>(&key.0), word: PhantomData }
    }

    fn batch_keys(&self) -> BroadcastKeys<W> {
        BroadcastKeys { keys: self.keys.map(|&key| BroadcastKey::new(key)) }
    }

    fn batch(
        &self,
        keys: &BroadcastKeys<W>,
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

impl<W> core::fmt::Debug for Bitslice<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bitslice").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<W> zeroize::ZeroizeOnDrop for Bitslice<W> {}
