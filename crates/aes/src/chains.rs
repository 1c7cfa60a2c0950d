//! Serial modes of several messages side by side, whose states stay in registers from one block to the next: a round
//! takes as long as many take to begin.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{InOutBuf, typenum::Unsigned};
use lanecrypt_core::{Chains, Direction, SerialMode};
use lanecrypt_slicing::{AesBlocks, Body, SingleBlocks};

use crate::{
    modes::in_fewest,
    schedule::Block,
    whole::{SIDE_BY_SIDE, rounds},
};

/// Messages under keys of encryption.
#[repr(C)] // as `Chains` itself
pub(crate) struct KeyedChains<'a, 'inp, 'out> {
    pub(crate) chains: Chains<'a, 'inp, 'out>,
    pub(crate) keys: &'a [Block],
}

impl<I: AesBlocks> Body<I> for KeyedChains<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { chains: Chains { mut texts, mut registers, bytes, mode }, keys } = self;
        while !texts.is_empty() {
            let count = texts.len().min(SIDE_BY_SIDE * I::Lanes::USIZE);
            let (some, others) = texts.split_at_mut(count);
            let (some_registers, other_registers) = registers.split_at_mut(16 * count);
            in_fewest!(count, I::Lanes::USIZE, |G| chains::<I, G>(
                isa,
                keys,
                Chains { texts: some, registers: some_registers, bytes: bytes.clone(), mode }
            ));
            (texts, registers) = (others, other_registers);
        }
    }
}

/// Runs an expression for the number of each register below `$most`. A loop whose steps are many, or not known, stays a
/// loop, and states that it numbers are memory, which every round writes.
macro_rules! for_each_register {
    ($most:ident, |$number:ident| $run:expr) => {
        for_each_register!($most, |$number| $run, 0 1 2 3 4 5 6 7)
    };
    ($most:ident, |$number:ident| $run:expr, $($register:literal)*) => {$(
        if const { $register < $most } {
            let $number = $register;
            $run;
        }
    )*};
}

/// Runs messages whose states fit into `G` registers.
#[inline(always)]
fn chains<I: AesBlocks, const G: usize>(
    isa: I,
    keys: &[Block],
    Chains { texts, registers, bytes, mode }: Chains<'_, '_, '_>,
) {
    let length = registers.len();
    let part = |register: usize| {
        let start = register * 16 * I::Lanes::USIZE;
        start.min(length)..(start + 16 * I::Lanes::USIZE).min(length)
    };
    let mut states = [isa.broadcast(&[0; 16]); G];
    for_each_register!(G, |i| states[i] = isa.load_part(&registers[part(i)]));
    let mut at = bytes.start;
    while at < bytes.end {
        if mode == SerialMode::Cbc {
            for_each_register!(G, |i| states[i] ^= gather(isa, texts, i, at));
        }
        rounds(isa, keys, Direction::Encrypt, &mut states);
        if mode == SerialMode::Cbc {
            for_each_register!(G, |i| scatter(isa, states[i], texts, i, at));
        } else {
            for_each_register!(G, |i| {
                let sum = states[i] ^ gather(isa, texts, i, at);
                scatter(isa, sum, texts, i, at);
                if mode == SerialMode::Cfb {
                    states[i] = sum;
                }
            });
        }
        at += 16;
    }
    for_each_register!(G, |i| isa.store_part(states[i], &mut registers[part(i)]));
}

/// The blocks at byte `at` of the messages whose states are in register `number`, and zeros where there are no more
/// messages.
///
/// A register that is full has a way of its own, on which all checks but one only lead to panics: with a choice for each
/// message, every load and store would be behind a branch that is taken.
#[inline(always)]
fn gather<I: AesBlocks>(
    isa: I,
    texts: &[InOutBuf<'_, '_, u8>],
    number: usize,
    at: usize,
) -> I::Blocks {
    let (single, lanes) = (isa.single(), I::Lanes::USIZE);
    let mut blocks = [single.broadcast(&[0; 16]); 4];
    if let Some(texts) = texts.get(number * lanes..(number + 1) * lanes) {
        for lane in 0..lanes {
            blocks[lane] = single.load(&texts[lane].get_in()[at..at + 16]);
        }
        return isa.join(blocks);
    }
    for (lane, block) in blocks.iter_mut().enumerate().take(lanes) {
        if let Some(text) = texts.get(number * lanes + lane) {
            *block = single.load(&text.get_in()[at..at + 16]);
        }
    }
    isa.join(blocks)
}

/// Stores a register likewise.
#[inline(always)]
fn scatter<I: AesBlocks>(
    isa: I,
    register: I::Blocks,
    texts: &mut [InOutBuf<'_, '_, u8>],
    number: usize,
    at: usize,
) {
    let (single, lanes) = (isa.single(), I::Lanes::USIZE);
    let blocks: [SingleBlocks<I>; 4] = isa.split(register);
    if let Some(texts) = texts.get_mut(number * lanes..(number + 1) * lanes) {
        for lane in 0..lanes {
            single.store(blocks[lane], &mut texts[lane].get_out()[at..at + 16]);
        }
        return;
    }
    for (lane, block) in blocks.into_iter().enumerate().take(lanes) {
        if let Some(text) = texts.get_mut(number * lanes + lane) {
            single.store(block, &mut text.get_out()[at..at + 16]);
        }
    }
}
