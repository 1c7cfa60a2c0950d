//! AES sliced by bits, one block per lane, on every instruction set: for CPUs without AES instructions.
//!
//! Word `8i + b` holds bit `b` of byte `i` of every block. SubBytes is sixteen passes of the
//! circuit, ShiftRows is free (bytes are renamed), MixColumns is XORs, and nothing is ever
//! shifted. Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::marker::PhantomData;

use cipher::{
    Array, InOutBuf,
    consts::{U16, U32},
};
use lanecrypt_core::{Clear, Direction, Secret};
use lanecrypt_slicing::{BitLanes, BitState, Choices, Core, Form, Rounds, RunsOn, Word};

use crate::{
    Whole, compact, sbox,
    schedule::{AesSchedule, MAX_ROUND_KEYS},
};

/// AES sliced by bits, with key schedule `S`.
#[derive(Debug)]
pub struct Bits<S>(PhantomData<fn() -> S>);

/// AES on whatever CPU there is, with key schedule `S`.
#[derive(Debug)]
pub struct CpuForms<S>(PhantomData<fn() -> S>);

impl<S: AesSchedule> Choices for CpuForms<S> {
    type Schedule = S;
    type Lanes = U32;
    type Fast = Whole<S>;
    type Plain = Bits<S>;
}

lanecrypt_slicing::compiled_here!(fast: crate::whole::WholeRounds, plain: BitRounds);

/// A byte of every lane, bit by bit.
type Byte<W> = [W; 8];
/// The sixteen bytes of every lane.
pub(crate) type State<W> = [Byte<W>; 16];

/// Adds a round key, one mask per bit.
#[inline(always)]
pub(crate) fn add_round_key<I: BitLanes>(isa: I, state: &mut State<I::Word>, key: &[[u32; 8]; 16]) {
    for (word, mask) in state.as_flattened_mut().iter_mut().zip(key.as_flattened()) {
        *word ^= isa.splat(*mask);
    }
}

#[inline(always)]
pub(crate) fn sub_bytes<W: Word>(state: &mut State<W>) {
    for byte in state {
        *byte = sbox::sbox(*byte);
    }
}

#[inline(always)]
pub(crate) fn inv_sub_bytes<W: Word>(state: &mut State<W>) {
    for byte in state {
        *byte = sbox::inv_sbox(*byte);
    }
}

/// ShiftRows (`step` 1) or InvShiftRows (`step` 3).
#[inline(always)]
pub(crate) fn shift_rows<W: Word>(state: &mut State<W>, step: usize) {
    let before = *state;
    for column in 0..4 {
        for row in 0..4 {
            state[row + 4 * column] = before[row + 4 * ((column + row * step) % 4)];
        }
    }
}

#[inline(always)]
fn add<W: Word>(left: Byte<W>, right: Byte<W>) -> Byte<W> {
    let mut sum = left;
    for (sum, right) in sum.iter_mut().zip(right) {
        *sum ^= right;
    }
    sum
}

/// Multiplication by x: renames the bits and adds the modulus 0x1b.
#[inline(always)]
fn times_x<W: Word>(byte: Byte<W>) -> Byte<W> {
    let [b0, b1, b2, b3, b4, b5, b6, b7] = byte;
    [b7, b0 ^ b7, b1, b2 ^ b7, b3 ^ b7, b4, b5, b6]
}

// ANCHOR: mix_column
#[inline(always)]
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

#[inline(always)]
pub(crate) fn mix_columns<W: Word>(state: &mut State<W>) {
    for column in state.as_chunks_mut::<4>().0 {
        *column = mix_column(*column);
    }
}

#[inline(always)]
pub(crate) fn inv_mix_columns<W: Word>(state: &mut State<W>) {
    for column in state.as_chunks_mut::<4>().0 {
        // The inverse matrix is MixColumns times circ(5, 0, 4, 0): a + 4(a + c).
        let [a, b, c, d] = *column;
        let ac = times_x(times_x(add(a, c)));
        let bd = times_x(times_x(add(b, d)));
        *column = mix_column([add(a, ac), add(b, bd), add(c, ac), add(d, bd)]);
    }
}

// ANCHOR: encrypt
#[inline(always)]
fn encrypt<I: BitLanes>(isa: I, state: &mut State<I::Word>, keys: &[[[u32; 8]; 16]]) {
    let [first, middle @ .., last] = keys else {
        return;
    };
    add_round_key(isa, state, first);
    for key in middle {
        sub_bytes(state);
        shift_rows(state, 1);
        mix_columns(state);
        add_round_key(isa, state, key);
    }
    sub_bytes(state);
    shift_rows(state, 1);
    add_round_key(isa, state, last);
}
// ANCHOR_END: encrypt

/// The equivalent inverse cipher.
#[inline(always)]
fn decrypt<I: BitLanes>(isa: I, state: &mut State<I::Word>, keys: &[[[u32; 8]; 16]]) {
    let [first, middle @ .., last] = keys else {
        return;
    };
    add_round_key(isa, state, first);
    for key in middle {
        inv_sub_bytes(state);
        shift_rows(state, 3);
        inv_mix_columns(state);
        add_round_key(isa, state, key);
    }
    inv_sub_bytes(state);
    shift_rows(state, 3);
    add_round_key(isa, state, last);
}

/// The round keys of a direction, one mask per bit.
#[derive(Clone)]
pub struct MaskKeys {
    /// As many as the key length has.
    pub(crate) keys: [[[u32; 8]; 16]; MAX_ROUND_KEYS],
    pub(crate) count: usize,
    pub(crate) direction: Direction,
}

impl Clear for MaskKeys {
    fn clear(&mut self) {
        self.keys.clear();
    }
}

impl core::fmt::Debug for MaskKeys {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MaskKeys").finish_non_exhaustive()
    }
}

impl<S: AesSchedule> Form for Bits<S> {
    type Schedule = S;
    type Core = BitRounds;
    type Keys = Secret<MaskKeys>;

    #[inline(always)]
    fn keys(schedule: &S, direction: Direction) -> Self::Keys {
        let round_keys = schedule.of(direction);
        let keys = [[[0; 8]; 16]; MAX_ROUND_KEYS];
        let mut masks = Secret::new(MaskKeys { keys, count: round_keys.len(), direction });
        for (masks, key) in masks.keys.iter_mut().zip(round_keys.iter()) {
            for (bits, byte) in masks.iter_mut().zip(key) {
                *bits = lanecrypt_slicing::masks(*byte);
            }
        }
        masks
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &MaskKeys {
        keys
    }
}

/// The rounds of [`Bits`], whatever the key size.
#[derive(Debug)]
pub enum BitRounds {}

impl Core for BitRounds {
    type BlockSize = U16;
    type Keys = MaskKeys;
}

impl<I: BitLanes> Rounds<I> for BitRounds {
    type State = BitState<I::Word, 128>;

    #[inline(always)]
    fn run<const G: usize>(keys: &MaskKeys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            for state in state.0.as_chunks_mut::<8>().0.as_chunks_mut::<16>().0 {
                let round_keys = &keys.keys[..keys.count];
                match keys.direction {
                    Direction::Encrypt => encrypt(isa, state, round_keys),
                    Direction::Decrypt => decrypt(isa, state, round_keys),
                }
            }
        }
    }
}

impl<S: AesSchedule, I: BitLanes> RunsOn<I> for Bits<S> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        (blocks <= FEW).then_some(compact::BLOCKS)
    }

    fn run_short(
        schedule: &S,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U16>>,
    ) {
        let blocks = Array::cast_slice_to_core_mut(blocks.into_out_with_copied_in());
        for four in blocks.chunks_mut(compact::BLOCKS) {
            compact::run(&schedule.of(direction), direction, four);
        }
    }
}

/// Blocks up to which running four at a time costs less than a batch.
const FEW: usize = 24;
