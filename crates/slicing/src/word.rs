//! The word that sliced ciphers are generic over.

#![allow(
    clippy::inline_always,
    reason = "an operation of an instruction or a few, met a thousand times a batch"
)]

use core::fmt::Debug;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use cipher::{
    array::ArraySize,
    consts::{U32, U64},
};

/// A machine word as a row of one-bit lanes.
///
/// It promises bitwise operations only: sliced code never shifts a word, never asks how wide it
/// is, and so runs at any width. Implementations are `#[inline(always)]`.
pub trait Word:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + BitXorAssign
    + Not<Output = Self>
{
    /// Lanes of the word: blocks that it carries at once.
    const LANES: usize;
    /// Their number as a type, which RustCrypto's traits want.
    type Lanes: ArraySize;

    /// Whether [`lut3`](Self::lut3) is one instruction, so that circuits of it are the shorter ones.
    const TERNARY: bool;

    /// The same bit in every lane.
    fn splat(bit: bool) -> Self;

    /// A function of three bits, lane by lane: bit `4a + 2b + c` of `TABLE`, as `vpternlog` and
    /// `lop3` have it.
    ///
    /// Words without such an instruction compute it from gates, for tests of circuits.
    #[must_use]
    #[inline(always)]
    fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        // The upper half is the function where `a` is set; a half is chosen by `b` and `c`.
        let half = |table: i32| match table & 0xf {
            0b0000 => a & !a,
            0b0001 => !(b | c),
            0b0010 => !b & c,
            0b0011 => !b,
            0b0100 => b & !c,
            0b0101 => !c,
            0b0110 => b ^ c,
            0b0111 => !(b & c),
            0b1000 => b & c,
            0b1001 => !(b ^ c),
            0b1010 => c,
            0b1011 => !b | c,
            0b1100 => b,
            0b1101 => b | !c,
            0b1110 => b | c,
            _ => a | !a,
        };
        let (set, clear) = (half(TABLE >> 4), half(TABLE));
        clear ^ (a & (set ^ clear))
    }

    /// The bits of `bytes` in order, least significant first. For the transposes.
    ///
    /// # Panics
    /// Where `bytes` is not `LANES / 8` long.
    fn from_le_bytes(bytes: &[u8]) -> Self;

    /// The inverse of [`from_le_bytes`](Self::from_le_bytes).
    ///
    /// # Panics
    /// Where `bytes` is not `LANES / 8` long.
    fn to_le_bytes(self, bytes: &mut [u8]);

    /// Exchanges, between two rows of a bit matrix, the bits of `low` that `mask(distance)` leaves
    /// out with the bits of `high` that it covers:
    ///
    /// ```text
    /// low  = [ A | B ]      low  = [ A | C ]     columns in runs of `distance`,
    /// high = [ C | D ]  ->  high = [ B | D ]     least significant on the left
    /// ```
    fn exchange(low: &mut Self, high: &mut Self, distance: usize);
}

macro_rules! word {
    ($($word:ty, $lanes:ty);*) => {$(
        impl Word for $word {
            const LANES: usize = <$word>::BITS as usize;
            type Lanes = $lanes;
            const TERNARY: bool = false;

            #[inline(always)]
            fn splat(bit: bool) -> Self {
                (bit as $word).wrapping_neg()
            }

            #[inline(always)]
            fn from_le_bytes(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$word>()];
                array.copy_from_slice(bytes);
                <$word>::from_le_bytes(array)
            }

            #[inline(always)]
            fn to_le_bytes(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&<$word>::to_le_bytes(self));
            }

            #[inline(always)]
            fn exchange(low: &mut Self, high: &mut Self, distance: usize) {
                // Ones in every other run of `distance` bits, the lowest run first.
                let mask = <$word>::MAX / ((1 << distance) + 1);
                let difference = ((*low >> distance) ^ *high) & mask;
                *high ^= difference;
                *low ^= difference << distance;
            }
        }
    )*};
}
word!(u32, U32; u64, U64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table on every input, a lane an input.
    #[test]
    fn look_ups_are_their_tables() {
        macro_rules! check {
            ($($high:literal)*) => {$( check!(row $high; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15); )*};
            (row $high:literal; $($low:literal)*) => {$({
                const TABLE: i32 = 16 * $high + $low;
                let result = u32::lut3::<TABLE>(0xf0, 0xcc, 0xaa);
                assert_eq!(result & 0xff, TABLE as u32, "table {TABLE:#04x}");
            })*};
        }
        check!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    }
}
