//! Instruction sets as rows of one-bit lanes: blocks to planes and back.
//!
//! With `l` the bits of a lane number and `p` those of a bit position inside the block, the bit at
//! index `l.. p..` of the buffer goes to index `p.. l..` of the planes. A word is one or more
//! columns of 32 or 64 bits. A square of as many rows as a column has bits is transposed in all
//! columns at once, by swapping one row bit with one column bit after the other, the highest first:
//!
//! ```text
//! block 64q + r, 8 bytes from byte 8s on   ->   column q of word 64s + r   ->   transposed
//! ```

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{
    array::ArraySize,
    consts::{U32, U64},
    typenum::Unsigned,
};

use crate::{Isa, Portable, Word};

/// An instruction set whose words carry a bit of many blocks, one block per lane.
pub trait BitLanes: Isa {
    /// A row of lanes.
    type Word: Word;
    /// Blocks that it carries at once.
    type Lanes: ArraySize;

    /// The word whose 32-bit parts are all `mask`; all ones or all zeros for the same bit in every
    /// lane.
    fn splat(self, mask: u32) -> Self::Word;

    /// A byte of a key, given four times, as a word of each bit in every lane, the lowest first.
    #[inline(always)]
    fn splat_byte(self, four: u32) -> [Self::Word; 8] {
        let mut planes = [self.splat(0); 8];
        for (bit, plane) in planes.iter_mut().enumerate() {
            *plane = self.splat((four >> bit & 1).wrapping_neg());
        }
        planes
    }

    /// Fills 64 or 128 `planes` from [`Lanes`](Self::Lanes) blocks: lane `i` of `planes[p]` is bit
    /// `p % 8` of byte `p / 8` of block `i`.
    ///
    /// # Panics
    /// Where `blocks` is not as many blocks of `planes.len() / 8` bytes, or the number of planes no
    /// multiple of 64.
    fn slice(self, blocks: &[u8], planes: &mut [Self::Word]);

    /// The inverse of [`slice`](Self::slice); leaves `planes` overwritten with intermediate values.
    ///
    /// # Panics
    /// As [`slice`](Self::slice).
    fn unslice(self, planes: &mut [Self::Word], blocks: &mut [u8]);

    /// Does work on a number of blocks, at most [`Lanes`](Self::Lanes), with the same instructions on as
    /// few lanes as hold them, where that is faster.
    #[inline(always)]
    fn suited(self, blocks: usize, work: impl OnBitLanes) {
        let _ = blocks;
        work.run(self);
    }

    /// The word that has bit `bit` of its number in every lane.
    ///
    /// # Panics
    /// If no lane's number has this bit.
    fn lane_bit(self, bit: usize) -> Self::Word;

    /// Fills planes from consecutive counter blocks, big-endian, the first of them `first` modulo 2
    /// to the power of `planes.len()`: what [`slice`](Self::slice) makes of them, by an addition.
    ///
    /// # Panics
    /// Where `planes.len()` is no multiple of 8.
    #[inline(always)]
    fn count(self, first: u128, planes: &mut [Self::Word]) {
        assert_eq!(planes.len() % 8, 0, "blocks are bytes");
        let lane_bits = Self::Lanes::USIZE.trailing_zeros() as usize;
        let mut carry = self.splat(0);
        // From the lowest bit of the last byte on.
        let bytes = planes.as_chunks_mut::<8>().0.iter_mut().rev();
        for (number, (planes, byte)) in bytes.zip(first.to_le_bytes()).enumerate() {
            for (bit, plane) in planes.iter_mut().enumerate() {
                let digit = self.splat(u32::from(byte >> bit & 1).wrapping_neg());
                if 8 * number + bit < lane_bits {
                    let lane = self.lane_bit(8 * number + bit);
                    *plane = Word::xor3(lane, digit, carry);
                    carry = Word::lut3::<MAJORITY>(lane, digit, carry);
                } else {
                    *plane = digit ^ carry;
                    carry &= digit;
                }
            }
        }
    }
}

/// The table of a carry.
pub(crate) const MAJORITY: i32 = 0xe8;

/// In row `b` the bits of a register whose lane numbers have bit `b`.
pub(crate) static LANE_BITS: [[u8; 64]; 9] = {
    let mut rows = [[0; 64]; 9];
    let mut index = 0;
    while index < 9 * 512 {
        let (bit, lane) = (index / 512, index % 512);
        rows[bit][lane / 8] |= ((lane >> bit & 1) as u8) << (lane % 8);
        index += 1;
    }
    rows
};

/// A byte as a mask for each bit, lowest first: 32 ones where it is set, for [`BitLanes::splat`].
#[must_use]
#[inline(always)]
pub const fn masks(byte: u8) -> [u32; 8] {
    let mut masks = [0; 8];
    let mut bit = 0;
    while bit < 8 {
        masks[bit] = ((byte >> bit & 1) as u32).wrapping_neg();
        bit += 1;
    }
    masks
}

/// Work on whichever bit lanes it is given. Implementations are `#[inline(always)]`.
pub trait OnBitLanes {
    /// Does it.
    fn run<I: BitLanes>(self, isa: I);
}

/// A word as columns of bits that shift by themselves.
pub(crate) trait Columns: Word {
    /// Bytes of a column: 4 or 8.
    const BYTES: usize;
    /// Columns of a word.
    const COUNT: usize;

    /// The columns whose bytes are at `start`, `start + stride` and so on, least significant first.
    fn gather(bytes: &[u8], start: usize, stride: usize) -> Self;

    /// The inverse of [`gather`](Self::gather).
    fn scatter(self, bytes: &mut [u8], start: usize, stride: usize);

    /// Exchanges, between two rows of a bit matrix, the bits of `low` that `mask(DISTANCE)` leaves
    /// out with the bits of `high` that it covers:
    ///
    /// ```text
    /// low  = [ A | B ]      low  = [ A | C ]     columns in runs of `DISTANCE`,
    /// high = [ C | D ]  ->  high = [ B | D ]     least significant on the left
    /// ```
    fn exchange<const DISTANCE: u32>(low: &mut Self, high: &mut Self);
}

/// [`BitLanes::slice`] for any columns.
#[inline(always)]
pub(crate) fn slice<W: Columns>(blocks: &[u8], planes: &mut [W]) {
    let side = 8 * W::BYTES;
    let block = check(blocks.len(), planes.len(), side * W::COUNT);
    for (column, square) in planes.chunks_exact_mut(side).enumerate() {
        for (row, word) in square.iter_mut().enumerate() {
            *word = W::gather(blocks, block * row + W::BYTES * column, block * side);
        }
        transpose(square);
    }
}

/// [`BitLanes::unslice`] for any columns.
#[inline(always)]
pub(crate) fn unslice<W: Columns>(planes: &mut [W], blocks: &mut [u8]) {
    let side = 8 * W::BYTES;
    let block = check(blocks.len(), planes.len(), side * W::COUNT);
    for (column, square) in planes.chunks_exact_mut(side).enumerate() {
        transpose(square);
        for (row, word) in square.iter().enumerate() {
            word.scatter(blocks, block * row + W::BYTES * column, block * side);
        }
    }
}

/// Checks the shapes of [`BitLanes::slice`] and returns the bytes of a block.
#[inline(always)]
pub(crate) fn check(bytes: usize, planes: usize, lanes: usize) -> usize {
    assert_eq!(planes % 64, 0, "planes come in squares");
    assert_eq!(bytes * 8, planes * lanes, "one block a lane");
    planes / 8
}

/// Transposes a square in every column.
#[inline(always)]
fn transpose<W: Columns>(square: &mut [W]) {
    if W::BYTES == 8 {
        exchange_rows::<W, 32>(square);
    }
    transpose_32(square);
}

/// Transposes two squares of 32 by 32 bits, one in the low halves of the words and one in the high ones.
#[inline]
pub fn transpose_halves(rows: &mut [u64; 32]) {
    transpose_32(rows);
}

/// Transposes the squares of 32 by 32 bits in every column.
#[inline(always)]
fn transpose_32<W: Columns>(square: &mut [W]) {
    exchange_rows::<W, 16>(square);
    exchange_rows::<W, 8>(square);
    exchange_rows::<W, 4>(square);
    exchange_rows::<W, 2>(square);
    exchange_rows::<W, 1>(square);
}

#[inline(always)]
fn exchange_rows<W: Columns, const DISTANCE: u32>(square: &mut [W]) {
    for pair in square.chunks_exact_mut(2 * DISTANCE as usize) {
        let (low, high) = pair.split_at_mut(DISTANCE as usize);
        for (low, high) in low.iter_mut().zip(high) {
            W::exchange::<DISTANCE>(low, high);
        }
    }
}

macro_rules! portable {
    ($($word:ty, $lanes:ty);*) => {$(
        impl Columns for $word {
            const BYTES: usize = size_of::<$word>();
            const COUNT: usize = 1;

            #[inline(always)]
            fn gather(bytes: &[u8], start: usize, _stride: usize) -> Self {
                let mut array = [0; size_of::<$word>()];
                array.copy_from_slice(&bytes[start..][..size_of::<$word>()]);
                <$word>::from_le_bytes(array)
            }

            #[inline(always)]
            fn scatter(self, bytes: &mut [u8], start: usize, _stride: usize) {
                bytes[start..][..size_of::<$word>()].copy_from_slice(&self.to_le_bytes());
            }

            #[inline(always)]
            fn exchange<const DISTANCE: u32>(low: &mut Self, high: &mut Self) {
                // Ones in every other run of `DISTANCE` bits, the lowest run first.
                let mask = <$word>::MAX / ((1 << DISTANCE) + 1);
                let difference = ((*low >> DISTANCE) ^ *high) & mask;
                *high ^= difference;
                *low ^= difference << DISTANCE;
            }
        }

        impl BitLanes for Portable<$word> {
            type Word = $word;
            type Lanes = $lanes;

            #[inline(always)]
            fn lane_bit(self, bit: usize) -> $word {
                <$word>::gather(&LANE_BITS[bit], 0, 0)
            }

            #[inline(always)]
            fn splat(self, mask: u32) -> $word {
                <$word>::from(mask) * (<$word>::MAX / <$word>::from(u32::MAX))
            }

            #[inline(always)]
            fn slice(self, blocks: &[u8], planes: &mut [$word]) {
                slice(blocks, planes);
            }

            #[inline(always)]
            fn unslice(self, planes: &mut [$word], blocks: &mut [u8]) {
                unslice(planes, blocks);
            }
        }
    )*};
}
portable!(u32, U32; u64, U64);
