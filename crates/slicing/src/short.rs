//! Whole blocks of 16 bytes in the lanes of a register, for what is too short for a batch: a round
//! takes as long as for one block, and key material needs hardly any preparation.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{Array, InOutBuf, consts::U16};
use lanecrypt_core::Direction;

use crate::{BlockOf, Body, ByteLanes, FieldBytes, Form, Schedule};

/// A register whose lanes of 128 bits are blocks: what [`FieldBytes`] does to every byte, and moves
/// inside a block.
pub trait BlockBytes: FieldBytes {
    /// The sums modulo 2^32 of words whose lowest byte is the first.
    #[must_use]
    fn add32(self, other: Self) -> Self;

    /// Byte `i` of every block becomes the byte of it that byte `i` of `ORDER`, from the lowest on,
    /// names; zero where that is [`NONE`].
    #[must_use]
    fn shuffled<const ORDER: u128>(self) -> Self;

    /// Byte `i` of every block's first eight becomes the sum of those of the eight for which byte
    /// `i` of `LOW` has a bit, both from the lowest on; with `HIGH` the same in the other eight.
    #[must_use]
    fn mixed<const LOW: u64, const HIGH: u64>(self) -> Self;
}

/// In an order of bytes: zero.
pub const NONE: u8 = 0x80;

/// An instruction set whose registers carry whole blocks of 16 bytes.
///
/// ```
/// # #[cfg(target_arch = "x86_64")] {
/// use lanecrypt_slicing::{Avx512, BlockBytes, BlockLanes, Isa, Body};
///
/// /// Every block with its bytes reversed.
/// struct Reverse<'a>(&'a mut [u8]);
///
/// impl<I: BlockLanes> Body<I> for Reverse<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn run(self, isa: I) {
///         const REVERSED: u128 = u128::from_be_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
///         let blocks = isa.load(self.0).shuffled::<REVERSED>();
///         isa.store(blocks, self.0);
///     }
/// }
///
/// let mut block: [u8; 16] = core::array::from_fn(|i| i as u8);
/// if let Ok(isa) = Avx512::detect() {
///     isa.run(Reverse(&mut block));
///     assert_eq!(block[0], 15);
/// }
/// # }
/// ```
pub trait BlockLanes: ByteLanes<Bytes: BlockBytes> {
    /// Blocks of a register.
    const BLOCKS: usize;
    /// Whether it has instructions for affine maps of bytes.
    const MATRICES: bool;

    /// The same 16 bytes in every lane.
    fn broadcast(self, block: &[u8; 16]) -> Self::Bytes;

    /// Up to [`BLOCKS`](Self::BLOCKS) blocks; further lanes are zero.
    ///
    /// # Panics
    /// Where these are more, or not whole blocks.
    fn load(self, blocks: &[u8]) -> Self::Bytes;

    /// The inverse of [`load`](Self::load), of as many blocks as there is room for.
    ///
    /// # Panics
    /// As [`load`](Self::load).
    fn store(self, register: Self::Bytes, blocks: &mut [u8]);
}

/// Checks the length for [`BlockLanes::load`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(crate) fn check(bytes: usize, blocks: usize) {
    assert!(bytes <= 16 * blocks && bytes.is_multiple_of(16), "whole blocks, as many as fit");
}

/// Work on whole blocks in lanes, as a key schedule is that runs a few rounds, or code without lanes.
pub trait LanesBody {
    /// What comes of it.
    type Output;

    /// Does it in lanes. `#[inline(always)]`.
    fn with<I: BlockLanes>(self, isa: I) -> Self::Output;

    /// Does it where there are none.
    fn without(self) -> Self::Output;
}

/// A form that also runs on whole blocks in lanes.
pub trait BlockRounds: Form<Schedule: Schedule<BlockSize = U16>> {
    /// The round keys of one direction for it; cleared when dropped, where they are not borrowed.
    type BlockKeys<'a>;

    /// Makes them. `#[inline(always)]`.
    fn block_keys(schedule: &Self::Schedule, direction: Direction) -> Self::BlockKeys<'_>;

    /// Runs the blocks of `N` registers in the direction of the keys. `#[inline(always)]`.
    fn run_blocks<I: BlockLanes, const N: usize>(
        keys: &Self::BlockKeys<'_>,
        isa: I,
        registers: &mut [I::Bytes; N],
    );
}

/// Registers that run side by side at most: further ones take longer than waiting for them.
pub const REGISTERS: usize = 4;

/// What [`RunsOn::short_at_once`](crate::RunsOn::short_at_once) is of [`in_lanes`], where it is faster
/// than a batch for as many blocks as a number of registers hold.
#[must_use]
#[inline]
pub fn lanes_at_once<I: BlockLanes>(registers: usize, blocks: usize) -> Option<usize> {
    (blocks <= registers * I::BLOCKS).then_some(I::BLOCKS)
}

/// Runs blocks in lanes: faster than a padded batch for not much more than [`REGISTERS`] of them.
pub fn in_lanes<F: BlockRounds, I: BlockLanes>(
    schedule: &F::Schedule,
    isa: I,
    direction: Direction,
    blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>,
) {
    isa.run(InLanes::<F> { schedule, direction, blocks });
}

type Blocks<'inp, 'out> = InOutBuf<'inp, 'out, Array<u8, U16>>;

struct InLanes<'a, 'inp, 'out, F: Form> {
    schedule: &'a F::Schedule,
    direction: Direction,
    blocks: Blocks<'inp, 'out>,
}

impl<F: BlockRounds, I: BlockLanes> Body<I> for InLanes<'_, '_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let keys = F::block_keys(self.schedule, self.direction);
        let mut blocks = self.blocks;
        while !blocks.is_empty() {
            blocks = match blocks.len().div_ceil(I::BLOCKS) {
                1 => side_by_side::<F, I, 1>(isa, &keys, blocks),
                2 => side_by_side::<F, I, 2>(isa, &keys, blocks),
                _ => side_by_side::<F, I, REGISTERS>(isa, &keys, blocks),
            };
        }
    }
}

/// Runs as many blocks as `N` registers hold and returns the rest.
#[inline(always)]
fn side_by_side<'inp, 'out, F: BlockRounds, I: BlockLanes, const N: usize>(
    isa: I,
    keys: &F::BlockKeys<'_>,
    blocks: Blocks<'inp, 'out>,
) -> Blocks<'inp, 'out> {
    let length = blocks.len().min(N * I::BLOCKS);
    let (mut piece, rest) = blocks.split_at(length);
    let mut registers = [isa.splat(0); N];
    for (i, register) in registers.iter_mut().enumerate() {
        let (start, end) = (length.min(I::BLOCKS * i), length.min(I::BLOCKS * (i + 1)));
        *register = isa.load(Array::slice_as_flattened(&piece.get_in()[start..end]));
    }
    F::run_blocks(keys, isa, &mut registers);
    for (i, register) in registers.iter().enumerate() {
        let (start, end) = (length.min(I::BLOCKS * i), length.min(I::BLOCKS * (i + 1)));
        isa.store(*register, Array::slice_as_flattened_mut(&mut piece.get_out()[start..end]));
    }
    rest
}
