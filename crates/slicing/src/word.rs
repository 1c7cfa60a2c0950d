//! The words that sliced ciphers are generic over: rows of one-bit lanes.

#![allow(
    clippy::inline_always,
    reason = "an operation of an instruction or a few, met a thousand times a batch"
)]

use core::fmt::Debug;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// A machine word or a SIMD register as a row of one-bit lanes.
///
/// It promises bitwise operations only: sliced code never shifts a word, never asks how wide it
/// is, and so runs at any width. Only an instruction set makes one
/// ([`BitLanes`](crate::BitLanes), [`ByteLanes`](crate::ByteLanes)).
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
    /// Whether [`lut3`](Self::lut3) is one instruction, so that circuits of it are the shorter ones.
    const TERNARY: bool;

    /// A function of three bits, lane by lane: bit `4a + 2b + c` of `TABLE`, as `vpternlog` and
    /// `lop3` have it.
    ///
    /// Words without such an instruction compute it from gates, as few as the table allows where it
    /// is one of those that sliced code uses outside circuits.
    #[must_use]
    #[inline(always)]
    fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        from_known_gates::<Self, TABLE>(a, b, c)
    }

    /// Where a bit of `mask` is set that of `a`, elsewhere that of `b`.
    #[must_use]
    #[inline(always)]
    fn choose(mask: Self, a: Self, b: Self) -> Self {
        Self::lut3::<0xca>(mask, a, b)
    }

    /// The sum of three.
    #[must_use]
    #[inline(always)]
    fn xor3(a: Self, b: Self, c: Self) -> Self {
        Self::lut3::<0x96>(a, b, c)
    }
}

/// A function of three bits from gates, of which some have fewer than any other.
#[inline(always)]
pub(crate) fn from_known_gates<W: Word, const TABLE: i32>(a: W, b: W, c: W) -> W {
    match TABLE {
        0x96 => a ^ b ^ c,
        0xca => c ^ (a & (b ^ c)),
        0xd4 => a & b | (a | b) & !c,
        _ => from_gates::<W, TABLE>(a, b, c),
    }
}

/// Any function of three bits from gates: for each value of `a` one of `b` and `c`.
#[inline(always)]
fn from_gates<W: Word, const TABLE: i32>(a: W, b: W, c: W) -> W {
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

impl Word for u32 {
    const TERNARY: bool = false;
}

impl Word for u64 {
    const TERNARY: bool = false;
}
