//! The word that sliced ciphers are generic over.

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

    /// The same bit in every lane.
    fn splat(bit: bool) -> Self;

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
