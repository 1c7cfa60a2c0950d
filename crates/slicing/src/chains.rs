//! Serial modes of several messages side by side, a message in each lane: the states stay in lanes from one block to
//! the next.
//!
//! Elsewhere (`Chains::run_by`) each step copies registers to the cipher's blocks and back, and adds a row by code that
//! is not compiled with the cipher's instructions.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::array;

use cipher::{Array, InOutBuf, array::ArraySize, typenum::Unsigned};
use lanecrypt_core::{Chains, Direction, Secret, SerialMode};

use crate::{Body, Core, Isa, Rounds, RunsOn, State, batch::run_rounds, form::MakeKeys};

/// Blocks of each message that are gathered at once: of 16 bytes, a line of the cache. A check of a message's length
/// takes as long as copying a block; and what was copied long ago is in the cache, where a row of wide registers can be
/// loaded from it, while from several stores that are still on their way it cannot.
const GATHERED: usize = 4;

/// [`RunsOn::run_chains`] in batches, a message in each lane. There is no such way, and nothing is done, for few
/// messages, which run faster block by block: half as many as blocks that a call of ECB runs so
/// ([`RunsOn::short_at_once`]), since here keys for batches are made once.
pub fn chains_in_lanes<F: RunsOn<I>, I: Isa>(
    schedule: &F::Schedule,
    isa: I,
    chains: &mut Chains<'_, '_, '_>,
) -> bool {
    if F::short_at_once(2 * chains.texts.len()).is_some() {
        return false;
    }
    let keys = isa.run(MakeKeys::<F> { schedule, direction: Direction::Encrypt });
    isa.run(InBatches::<F::Core> { chains: chains.reborrow(), keys: F::view(&keys) });
    true
}

/// Messages under keys of encryption.
#[repr(C)] // as `Chains` itself
struct InBatches<'a, 'inp, 'out, C: Core> {
    chains: Chains<'a, 'inp, 'out>,
    keys: &'a C::Keys,
}

impl<C: Rounds<I>, I: Isa> Body<I> for InBatches<'_, '_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { chains: Chains { mut texts, mut registers, bytes, mode }, keys } = self;
        let lanes = <C::State as State<I>>::Lanes::USIZE;
        while !texts.is_empty() {
            let count = texts.len().min(C::GROUPS * lanes);
            let (some, others) = texts.split_at_mut(count);
            let (some_registers, other_registers) =
                registers.split_at_mut(count * C::BlockSize::USIZE);
            let some =
                Chains { texts: some, registers: some_registers, bytes: bytes.clone(), mode };
            // As many batches side by side as the form likes, or one: rounds are thousands of instructions.
            macro_rules! groups {
                ($($groups:literal)*) => {
                    if C::GROUPS == 1 || count <= lanes {
                        side_by_side::<C, I, 1>(isa, keys, some);
                    } $(else if const { C::GROUPS == $groups } {
                        side_by_side::<C, I, $groups>(isa, keys, some);
                    })*
                };
            }
            groups!(2 4 8);
            (texts, registers) = (others, other_registers);
        }
    }
}

/// Blocks of a batch, one of each message.
type Row<C, I> =
    Array<Array<u8, <C as Core>::BlockSize>, <<C as Rounds<I>>::State as State<I>>::Lanes>;

/// Runs as many messages as `G` batches have lanes, or fewer; the other lanes run zeros.
#[inline(always)]
fn side_by_side<C: Rounds<I>, I: Isa, const G: usize>(
    isa: I,
    keys: &C::Keys,
    Chains { texts, registers, bytes, mode }: Chains<'_, '_, '_>,
) {
    let mut rows = Secret::new([(); GATHERED].map(|()| [(); G].map(|()| Row::<C, I>::default())));
    let mut states = [C::State::new(isa); G];
    flattened(&mut rows[0])[..registers.len()].copy_from_slice(registers);
    for (state, row) in states.iter_mut().zip(&rows[0]) {
        state.load(isa, Array::slice_as_flattened(row));
    }
    let (block, mut at) = (C::BlockSize::USIZE, bytes.start);
    while at < bytes.end {
        let several = bytes.end - at >= GATHERED * block;
        let rows = if several { &mut rows[..] } else { &mut rows[..1] };
        match <&mut [_; GATHERED]>::try_from(&mut *rows) {
            Ok(rows) => gather(rows, texts, at),
            Err(_) => gather(array::from_mut(&mut rows[0]), texts, at),
        }
        for row in &mut *rows {
            step::<C, I, G>(isa, keys, mode, &mut states, row);
        }
        match <&mut [_; GATHERED]>::try_from(&mut *rows) {
            Ok(rows) => scatter(rows, texts, at),
            Err(_) => scatter(array::from_mut(&mut rows[0]), texts, at),
        }
        at += rows.len() * block;
    }
    for (state, row) in states.iter_mut().zip(&mut rows[0]) {
        state.store(isa, Array::slice_as_flattened_mut(row));
    }
    registers.copy_from_slice(&flattened(&mut rows[0])[..registers.len()]);
}

/// The bytes of rows that belong together.
#[inline(always)]
fn flattened<N: ArraySize, L: ArraySize>(rows: &mut [Array<Array<u8, N>, L>]) -> &mut [u8] {
    Array::slice_as_flattened_mut(Array::slice_as_flattened_mut(rows))
}

/// Runs a block of each message, whose registers the states are.
#[inline(always)]
fn step<C: Rounds<I>, I: Isa, const G: usize>(
    isa: I,
    keys: &C::Keys,
    mode: SerialMode,
    states: &mut [C::State; G],
    row: &mut [Row<C, I>; G],
) {
    if mode == SerialMode::Cbc {
        for (state, row) in states.iter_mut().zip(&*row) {
            state.add(isa, Array::slice_as_flattened(row));
        }
    }
    run_rounds::<C, I, G>(isa, keys, states);
    for (state, row) in states.iter_mut().zip(row) {
        let mut output = *state;
        if mode != SerialMode::Cbc {
            output.add(isa, Array::slice_as_flattened(row));
        }
        if mode == SerialMode::Cfb {
            *state = output;
        }
        output.store(isa, Array::slice_as_flattened_mut(row));
    }
}

/// Copies a block of each message, at byte `at` and on, to each row.
///
/// All places in rows are known to be there, and a message is looked up once.
#[inline(always)]
fn gather<N: ArraySize, L: ArraySize, const G: usize, const ROWS: usize>(
    rows: &mut [[Array<Array<u8, N>, L>; G]; ROWS],
    texts: &[InOutBuf<'_, '_, u8>],
    at: usize,
) {
    for (batch, texts) in texts.chunks(L::USIZE).enumerate().take(G) {
        for (lane, text) in texts.iter().enumerate().take(L::USIZE) {
            let input = &text.get_in()[at..at + ROWS * N::USIZE];
            for (row, block) in rows.iter_mut().zip(input.chunks_exact(N::USIZE)) {
                row[batch][lane].copy_from_slice(block);
            }
        }
    }
}

/// Copies them back.
#[inline(always)]
fn scatter<N: ArraySize, L: ArraySize, const G: usize, const ROWS: usize>(
    rows: &[[Array<Array<u8, N>, L>; G]; ROWS],
    texts: &mut [InOutBuf<'_, '_, u8>],
    at: usize,
) {
    for (batch, texts) in texts.chunks_mut(L::USIZE).enumerate().take(G) {
        for (lane, text) in texts.iter_mut().enumerate().take(L::USIZE) {
            let output = &mut text.get_out()[at..at + ROWS * N::USIZE];
            for (row, block) in rows.iter().zip(output.chunks_exact_mut(N::USIZE)) {
                block.copy_from_slice(&row[batch][lane]);
            }
        }
    }
}
