//! Modes on whole blocks in registers: an operation of any length is one body, by the CPU's AES instructions.
//!
//! Batches fill the registers; what is left runs in as few as it needs.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{InOutBuf, typenum::Unsigned};
use lanecrypt_core::{Counter, Direction};
use lanecrypt_slicing::{AesBlocks, Body, Carryless, SingleBlocks, eight_masks};

use crate::{
    schedule::Block,
    whole::{SIDE_BY_SIDE, rounds},
};

/// Runs an expression with `$count`, the fewest registers side by side that hold this many bytes: 1, 2, 4 or 8.
/// Without bytes it runs nothing.
///
/// Comparisons, not a `match`: that becomes a jump by a table, which the search of machine code (`ct`) does not follow.
macro_rules! in_fewest {
    ($bytes:expr, $register:expr, |$count:ident| $run:expr) => {
        if $bytes > 4 * $register {
            const $count: usize = SIDE_BY_SIDE;
            $run
        } else if $bytes > 2 * $register {
            const $count: usize = 4;
            $run
        } else if $bytes > $register {
            const $count: usize = 2;
            $run
        } else if $bytes > 0 {
            const $count: usize = 1;
            $run
        }
    };
}
pub(crate) use in_fewest;

/// Runs `$batch::<_, G>` over as many registers as fill a batch, over and over, and then over what is left.
macro_rules! in_batches {
    ($data:expr, $bytes:expr, |$piece:ident| $batch:ident($($argument:expr),*)) => {{
        let mut rest = $data;
        while rest.len() >= SIDE_BY_SIDE * $bytes {
            let ($piece, others) = rest.split_at(SIDE_BY_SIDE * $bytes);
            $batch::<_, SIDE_BY_SIDE>($($argument),*);
            rest = others;
        }
        let $piece = rest;
        in_fewest!($piece.len(), $bytes, |G| $batch::<_, G>($($argument),*));
    }};
}

/// Adds registers to data, of which the last may be a part, or wanting.
#[inline(always)]
fn add<I: AesBlocks, const G: usize>(
    isa: I,
    registers: &[I::Blocks; G],
    mut data: InOutBuf<'_, '_, u8>,
) {
    let bytes = 16 * I::Lanes::USIZE;
    if data.len() == G * bytes {
        let mut sums = *registers;
        for (sum, blocks) in sums.iter_mut().zip(data.get_in().chunks_exact(bytes)) {
            *sum ^= isa.load(blocks);
        }
        for (sum, blocks) in sums.iter().zip(data.get_out().chunks_exact_mut(bytes)) {
            isa.store(*sum, blocks);
        }
        return;
    }
    for register in registers {
        let length = bytes.min(data.len());
        let (mut part, rest) = data.split_at(length);
        let sum = *register ^ isa.load_part(part.get_in());
        isa.store_part(sum, part.get_out());
        data = rest;
    }
}

/// CTR of any length, in which 32 bits of the counter count: the last, or the first, least significant byte first.
#[repr(C)] // `ct` knows where the data is, here and below
pub(crate) struct Ctr<'a, 'inp, 'out> {
    data: &'a mut InOutBuf<'inp, 'out, u8>,
    /// The upper half of the counter; see `BlockPass` for why the halves lie apart.
    high: u64,
    keys: &'a [Block],
    is_little_endian: bool,
    low: u64,
}

impl<'a, 'inp, 'out> Ctr<'a, 'inp, 'out> {
    #[inline(always)]
    pub(crate) fn new(
        keys: &'a [Block],
        first: Counter,
        is_little_endian: bool,
        data: &'a mut InOutBuf<'inp, 'out, u8>,
    ) -> Self {
        let (high, low) = ((first.value() >> 64) as u64, first.value() as u64);
        Self { data, high, keys, is_little_endian, low }
    }
}

/// Whether over this number of bytes the last 32 bits of a counter count as all do.
pub(crate) fn counts_alike(first: Counter, bytes: usize) -> bool {
    bytes.div_ceil(16) as u64 <= first.blocks_before_wrap32()
}

impl<I: Carryless> Body<I> for Ctr<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { data, high, keys, is_little_endian, low } = self;
        let first = isa.single().count(u128::from(high) << 64 | u128::from(low));
        let mut counters = Counters::from(isa, isa.join([first; 4]), is_little_endian);
        let bytes = 16 * I::Lanes::USIZE;
        in_batches!(data.reborrow(), bytes, |piece| ctr(isa, keys, &mut counters, piece));
    }
}

#[inline(always)]
fn ctr<I: Carryless, const G: usize>(
    isa: I,
    keys: &[Block],
    counters: &mut Counters<I::Blocks>,
    data: InOutBuf<'_, '_, u8>,
) {
    let keystream: [I::Blocks; G] = counters.keystream(isa, keys);
    add(isa, &keystream, data);
}

/// Counter blocks, a register at a time, of which the last 32 bits count, or the first. Big-endian ones are kept
/// with their bytes in reverse order, so that the number is the lowest word of each block.
#[derive(Clone, Copy)]
pub(crate) struct Counters<B> {
    next: B,
    step: B,
    is_little_endian: bool,
}

impl<B: Copy> Counters<B> {
    /// From the block on that all lanes have.
    #[inline(always)]
    pub(crate) fn from<I: Carryless<Blocks = B>>(
        isa: I,
        mut first: B,
        is_little_endian: bool,
    ) -> Self {
        let lanes = I::Lanes::USIZE;
        let numbers = |number: fn(usize) -> usize| {
            let mut blocks = [[0; 16]; 4];
            for (i, block) in blocks.iter_mut().enumerate() {
                block[0] = number(i) as u8;
            }
            isa.load(blocks[..lanes].as_flattened())
        };
        if !is_little_endian {
            first = isa.reverse(first);
        }
        Self {
            next: isa.add32(first, numbers(|i| i)),
            step: numbers(|_| I::Lanes::USIZE),
            is_little_endian,
        }
    }

    #[inline(always)]
    pub(crate) fn take<I: Carryless<Blocks = B>>(&mut self, isa: I) -> B {
        let number = self.next;
        self.next = isa.add32(number, self.step);
        if self.is_little_endian { number } else { isa.reverse(number) }
    }

    /// The key stream of the next `G` registers.
    #[inline(always)]
    pub(crate) fn keystream<I: Carryless<Blocks = B>, const G: usize>(
        &mut self,
        isa: I,
        keys: &[Block],
    ) -> [B; G] {
        let mut states = [isa.broadcast(&[0; 16]); G];
        for state in &mut states {
            *state = self.take(isa);
        }
        rounds(isa, keys, Direction::Encrypt, &mut states);
        states
    }
}

/// CBC or CFB decryption of whole blocks, under keys of `direction`.
#[repr(C)]
pub(crate) struct ChainDecrypt<'a, 'inp, 'out> {
    pub(crate) data: &'a mut InOutBuf<'inp, 'out, u8>,
    pub(crate) keys: &'a [Block],
    /// What the cipher does: in CBC it decrypts the ciphertext, in CFB it encrypts the ciphertext before.
    pub(crate) direction: Direction,
    pub(crate) iv: &'a Block,
}

impl<I: AesBlocks> Body<I> for ChainDecrypt<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { data, keys, direction, iv } = self;
        let mut previous = isa.single().load(iv);
        let bytes = 16 * I::Lanes::USIZE;
        in_batches!(data.reborrow(), bytes, |piece| chain_decrypt(
            isa,
            keys,
            direction,
            &mut previous,
            piece
        ));
    }
}

/// What is added is loaded after the rounds, which have the registers to themselves; and the last first, since in place
/// an output takes the place of what is added to the next.
#[inline(always)]
fn chain_decrypt<I: AesBlocks, const G: usize>(
    isa: I,
    keys: &[Block],
    direction: Direction,
    previous: &mut SingleBlocks<I>,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let bytes = 16 * I::Lanes::USIZE;
    let first = joined(isa, *previous, data.get_in());
    if let Some(last) = data.get_in().last_chunk::<16>() {
        *previous = isa.single().load(last);
    }
    let mut states = [first; G];
    if data.len() < G * bytes {
        let (before, ciphertext) = (before(isa, first, data.get_in()), load(isa, data.get_in()));
        let added: [I::Blocks; G] = match direction {
            Direction::Decrypt => {
                states = ciphertext;
                before
            }
            Direction::Encrypt => {
                states = before;
                ciphertext
            }
        };
        rounds(isa, keys, direction, &mut states);
        for (state, added) in states.iter_mut().zip(added) {
            *state ^= added;
        }
        return store(isa, &states, data);
    }
    let input = data.get_in();
    match direction {
        Direction::Decrypt => {
            for (state, blocks) in states.iter_mut().zip(input.chunks_exact(bytes)) {
                *state = isa.load(blocks);
            }
        }
        Direction::Encrypt => {
            let shifted = input[bytes - 16..].chunks_exact(bytes);
            for (state, blocks) in states[1..].iter_mut().zip(shifted) {
                *state = isa.load(blocks);
            }
        }
    }
    rounds(isa, keys, direction, &mut states);
    for (i, state) in states.iter().enumerate().rev() {
        let added = match direction {
            Direction::Decrypt if i == 0 => first,
            Direction::Decrypt => isa.load(&data.get_in()[i * bytes - 16..][..bytes]),
            Direction::Encrypt => isa.load(&data.get_in()[i * bytes..][..bytes]),
        };
        isa.store(*state ^ added, &mut data.get_out()[i * bytes..][..bytes]);
    }
}

/// A register of `previous` and the first blocks of data, as many as there are.
#[inline(always)]
fn joined<I: AesBlocks>(isa: I, previous: SingleBlocks<I>, data: &[u8]) -> I::Blocks {
    // Not by way of memory: what was just stored in parts would be waited for.
    let mut blocks = [previous; 4];
    for (block, input) in blocks[1..I::Lanes::USIZE].iter_mut().zip(data.chunks_exact(16)) {
        *block = isa.single().load(input);
    }
    isa.join(blocks)
}

/// Registers of the blocks before those of `data`, which may be shorter, after the `first`.
#[inline(always)]
fn before<I: AesBlocks, const G: usize>(isa: I, first: I::Blocks, data: &[u8]) -> [I::Blocks; G] {
    let bytes = 16 * I::Lanes::USIZE;
    let mut registers = [first; G];
    for (i, register) in registers.iter_mut().enumerate().skip(1) {
        let at = (i * bytes).min(data.len());
        *register = isa.load_part(&data[at - 16..(at + bytes - 16).min(data.len())]);
    }
    registers
}

/// Registers of data, which may be shorter; the rest is zeros.
#[inline(always)]
fn load<I: AesBlocks, const G: usize>(isa: I, data: &[u8]) -> [I::Blocks; G] {
    let mut registers = [isa.broadcast(&[0; 16]); G];
    for (register, blocks) in registers.iter_mut().zip(data.chunks(16 * I::Lanes::USIZE)) {
        *register = isa.load_part(blocks);
    }
    registers
}

/// Stores registers over data, which may be shorter.
#[inline(always)]
fn store<I: AesBlocks, const G: usize>(
    isa: I,
    registers: &[I::Blocks; G],
    mut data: InOutBuf<'_, '_, u8>,
) {
    let parts = data.get_out().chunks_mut(16 * I::Lanes::USIZE);
    for (register, part) in registers.iter().zip(parts) {
        isa.store_part(*register, part);
    }
}

/// XTS of whole blocks.
#[repr(C)]
pub(crate) struct Xts<'a, 'inp, 'out> {
    pub(crate) data: &'a mut InOutBuf<'inp, 'out, u8>,
    pub(crate) keys: &'a [Block],
    pub(crate) direction: Direction,
    /// That of the first block.
    pub(crate) mask: &'a Block,
}

impl<I: AesBlocks> Body<I> for Xts<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { data, keys, direction, mask } = self;
        let bytes = 16 * I::Lanes::USIZE;
        let mut masks = [isa.broadcast(mask); SIDE_BY_SIDE];
        let first = eight_masks(*mask);
        for (register, masks) in masks.iter_mut().zip(first.as_flattened().chunks_exact(bytes)) {
            *register = isa.load(masks);
        }
        in_batches!(data.reborrow(), bytes, |piece| xts(isa, keys, direction, &mut masks, piece));
    }
}

/// Runs registers of blocks, of whose masks the first eight are there, and makes the first eight of the next.
#[inline(always)]
fn xts<I: AesBlocks, const G: usize>(
    isa: I,
    keys: &[Block],
    direction: Direction,
    masks: &mut [I::Blocks; SIDE_BY_SIDE],
    data: InOutBuf<'_, '_, u8>,
) {
    // Eight masks fill `8 / lanes` registers; those of the next are x^8 times theirs.
    let stride = 8 / I::Lanes::USIZE;
    for i in stride..G {
        masks[i] = isa.times_x8(masks[i - stride]);
    }
    let mut states = [masks[0]; G];
    let blocks = data.get_in().chunks(16 * I::Lanes::USIZE);
    for ((state, mask), blocks) in states.iter_mut().zip(&*masks).zip(blocks) {
        *state = *mask ^ isa.load_part(blocks);
    }
    rounds(isa, keys, direction, &mut states);
    for (state, mask) in states.iter_mut().zip(&*masks) {
        *state ^= *mask;
    }
    store(isa, &states, data);
    if G == SIDE_BY_SIDE {
        for i in 0..stride {
            masks[i] = isa.times_x8(masks[SIDE_BY_SIDE - stride + i]);
        }
    }
}
