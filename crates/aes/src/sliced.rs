//! Bit-sliced AES, generic over the word: a block a lane, 32 at a time on `u32`, 64 on `u64`.
//!
//! Word `8i + b` holds bit `b` of byte `i` of every block. SubBytes is sixteen passes of the
//! circuit, ShiftRows is free (bytes are renamed), MixColumns is XORs, and nothing is ever
//! shifted. Constant-time: no branch and no address depends on key or data.

use core::marker::PhantomData;

use cipher::{Array, typenum::Unsigned};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_slicing::{Word, slice, unslice};

use crate::{
    compact::{self, PlaneKey},
    sbox,
    schedule::{KeyLength, MAX_ROUND_KEYS},
};

/// A byte of every lane, bit by bit.
type Byte<W> = [W; 8];
/// The sixteen bytes of every lane.
type State<W> = [Byte<W>; 16];

fn add_round_key<W: Word>(state: &mut State<W>, key: &State<W>) {
    for (word, key) in state.as_flattened_mut().iter_mut().zip(key.as_flattened()) {
        *word ^= *key;
    }
}

fn sub_bytes<W: Word>(state: &mut State<W>) {
    for byte in state {
        *byte = sbox::sbox(*byte);
    }
}

fn inv_sub_bytes<W: Word>(state: &mut State<W>) {
    for byte in state {
        *byte = sbox::inv_sbox(*byte);
    }
}

/// The column after ShiftRows (`step` 1) or InvShiftRows (`step` 3).
fn shifted_column<W: Word>(state: &State<W>, column: usize, step: usize) -> [Byte<W>; 4] {
    core::array::from_fn(|row| state[row + 4 * ((column + row * step) % 4)])
}

fn shift_rows<W: Word>(state: &mut State<W>, step: usize) {
    let before = *state;
    for column in 0..4 {
        state[4 * column..][..4].copy_from_slice(&shifted_column(&before, column, step));
    }
}

fn add<W: Word>(left: Byte<W>, right: Byte<W>) -> Byte<W> {
    core::array::from_fn(|bit| left[bit] ^ right[bit])
}

/// Multiplication by x: renames the bits and adds the modulus 0x1b.
fn times_x<W: Word>(byte: Byte<W>) -> Byte<W> {
    let [b0, b1, b2, b3, b4, b5, b6, b7] = byte;
    [b7, b0 ^ b7, b1, b2 ^ b7, b3 ^ b7, b4, b5, b6]
}

// ANCHOR: mix_column
fn mix_column<W: Word>([a, b, c, d]: [Byte<W>; 4]) -> [Byte<W>; 4] {
    // 2a + 3b + c + d = 2(a + b) + b + (c + d), and so on round the column.
    let (ab, bc, cd, da) = (add(a, b), add(b, c), add(c, d), add(d, a));
    [
        add(times_x(ab), add(b, cd)),
        add(times_x(bc), add(c, da)),
        add(times_x(cd), add(d, ab)),
        add(times_x(da), add(a, bc)),
    ]
}
// ANCHOR_END: mix_column

fn shift_rows_and_mix_columns<W: Word>(state: &mut State<W>) {
    let before = *state;
    for column in 0..4 {
        let mixed = mix_column(shifted_column(&before, column, 1));
        state[4 * column..][..4].copy_from_slice(&mixed);
    }
}

fn inv_mix_columns<W: Word>(state: &mut State<W>) {
    for column in state.as_chunks_mut::<4>().0 {
        // The inverse matrix is MixColumns times circ(5, 0, 4, 0): a + 4(a + c).
        let [a, b, c, d] = *column;
        let ac = times_x(times_x(add(a, c)));
        let bd = times_x(times_x(add(b, d)));
        *column = mix_column([add(a, ac), add(b, bd), add(c, ac), add(d, bd)]);
    }
}

// ANCHOR: encrypt
fn encrypt<W: Word>(state: &mut State<W>, keys: &[State<W>]) {
    let [first, middle @ .., last] = keys else {
        return;
    };
    add_round_key(state, first);
    for key in middle {
        sub_bytes(state);
        shift_rows_and_mix_columns(state);
        add_round_key(state, key);
    }
    sub_bytes(state);
    shift_rows(state, 1);
    add_round_key(state, last);
}
// ANCHOR_END: encrypt

fn decrypt<W: Word>(state: &mut State<W>, keys: &[State<W>]) {
    let [last, middle @ .., first] = keys else {
        return;
    };
    add_round_key(state, first);
    for key in middle.iter().rev() {
        shift_rows(state, 3);
        inv_sub_bytes(state);
        add_round_key(state, key);
        inv_mix_columns(state);
    }
    shift_rows(state, 3);
    inv_sub_bytes(state);
    add_round_key(state, last);
}

/// Every bit of every round key as a word full of it.
pub struct BroadcastKeys<W: Word> {
    states: [State<W>; MAX_ROUND_KEYS],
    count: usize,
}

impl<W: Word> core::fmt::Debug for BroadcastKeys<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BroadcastKeys").finish_non_exhaustive()
    }
}

impl<W: Word> BroadcastKeys<W> {
    fn new(keys: &[PlaneKey]) -> Self {
        let mut states = [[[W::splat(false); 8]; 16]; MAX_ROUND_KEYS];
        for (state, key) in states.iter_mut().zip(keys) {
            for (i, byte) in state.iter_mut().enumerate() {
                for (word, plane) in byte.iter_mut().zip(key) {
                    *word = W::splat(plane >> i & 1 == 1);
                }
            }
        }
        Self { states, count: keys.len() }
    }
}

#[cfg(feature = "zeroize")]
impl<W: Word> Drop for BroadcastKeys<W> {
    fn drop(&mut self) {
        let words = self.states.as_flattened_mut().as_flattened_mut();
        words.fill(W::splat(false));
        // Keeps the writes above from being optimised away: the array is used afterwards.
        core::hint::black_box(words);
    }
}

/// Bit-sliced AES on words of type `W`. Constant-time, key schedule included.
#[derive(Clone)]
pub struct Bitslice<W, K: KeyLength> {
    keys: Array<PlaneKey, K::RoundKeys>,
    word: PhantomData<W>,
}

impl<W: Word, K: KeyLength> Bitslice<W, K> {
    fn full(keys: &BroadcastKeys<W>, direction: Direction, bytes: &mut [u8]) {
        let mut state = [[W::splat(false); 8]; 16];
        slice(bytes, state.as_flattened_mut());
        let keys = &keys.states[..keys.count];
        match direction {
            Direction::Encrypt => encrypt(&mut state, keys),
            Direction::Decrypt => decrypt(&mut state, keys),
        }
        unslice(state.as_flattened_mut(), bytes);
    }
}

impl<W: Word, K: KeyLength> Implementation for Bitslice<W, K> {
    type BlockSize = cipher::consts::U16;
    type KeySize = K::Size;
    type Lanes = W::Lanes;
    type BatchKeys = BroadcastKeys<W>;

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        let expanded = compact::expand(key);
        let keys = Array::from_fn(|round| compact::plane_key(&expanded.blocks()[round]));
        Self { keys, word: PhantomData }
    }

    fn batch_keys(&self) -> BroadcastKeys<W> {
        BroadcastKeys::new(&self.keys)
    }

    fn batch(
        &self,
        keys: &BroadcastKeys<W>,
        direction: Direction,
        blocks: &mut Array<Block<Self>, W::Lanes>,
    ) {
        debug_assert_eq!(W::Lanes::USIZE, W::LANES, "a block a lane");
        Self::full(keys, direction, Array::slice_as_flattened_mut(blocks));
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        let bytes = Array::slice_as_flattened_mut(blocks);
        for four in bytes.as_chunks_mut::<16>().0.chunks_mut(compact::BLOCKS) {
            compact::run(&self.keys, direction, four);
        }
    }
}

#[cfg(feature = "zeroize")]
impl<W, K: KeyLength> Drop for Bitslice<W, K> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(self.keys.as_mut_slice().as_flattened_mut());
    }
}

impl<W, K: KeyLength> core::fmt::Debug for Bitslice<W, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bitslice").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<W, K: KeyLength> zeroize::ZeroizeOnDrop for Bitslice<W, K> {}
