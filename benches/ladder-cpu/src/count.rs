//! Words that count: the rungs' own text on them tells how many operations a batch takes, and the ports of a core how many
//! cycles that is at the least.

use std::{
    cell::Cell,
    fmt,
    marker::PhantomData,
    ops::{Add, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not},
};

use cipher::{
    array::ArraySize,
    consts::{U16, U64, U256, U512},
};
use lanecrypt_core::Unavailable;
use lanecrypt_slicing::{
    BitLanes, BlockBytes, Body, ByteLanes, Bytes, FieldBytes, Isa, SplatBytes, Word, WordLanes,
    Words,
};

/// Operations on registers, by the ports that can do them. Loads, stores and moves have ports of their own or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Logic, which every port for registers does.
    pub(crate) logic: u64,
    /// Maps of bytes, shifts and rotations, which on 512 bits port 0 does alone.
    pub(crate) maps: u64,
    /// Shuffles, which on 512 bits port 5 does alone.
    pub(crate) shuffles: u64,
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            logic: self.logic + other.logic,
            maps: self.maps + other.maps,
            shuffles: self.shuffles + other.shuffles,
        }
    }
}

thread_local! {
    static DONE: Cell<Count> = const { Cell::new(Count { logic: 0, maps: 0, shuffles: 0 }) };
}

fn done(logic: u64, maps: u64, shuffles: u64) {
    DONE.with(|done| done.set(done.get() + Count { logic, maps, shuffles }));
}

/// What `S` does for these blocks.
pub(crate) fn count<S: Set>(body: impl Body<Counting<S>>) -> Count {
    DONE.with(Cell::take);
    Counting::<S>(PhantomData).run(body);
    DONE.with(Cell::take)
}

/// What is counted for an instruction set.
pub(crate) trait Set: 'static {
    /// Whether a function of three bits is one instruction.
    const TERNARY: bool;
    /// Ports for logic: those for integers of Intel's Golden Cove, or those for registers of this width.
    const PORTS: f64;
    /// How these are called together.
    const ALL: &'static str;
    /// Whether maps and shuffles have one port each.
    const ONE_PORT: bool;
    /// Transposes 128 planes, either way.
    const PLANES: Count;
    /// Bits of a word.
    type Bits: ArraySize;

    /// The cycles that these operations take at the least, and what takes them.
    fn cycles(count: Count) -> (f64, &'static str) {
        let all = (count.logic + count.maps + count.shuffles) as f64 / Self::PORTS;
        let (maps, shuffles) = (count.maps as f64, count.shuffles as f64);
        if Self::ONE_PORT && maps > all.max(shuffles) {
            (maps, "port 0")
        } else if Self::ONE_PORT && shuffles > all {
            (shuffles, "port 5")
        } else {
            (all, Self::ALL)
        }
    }
}

/// Two squares of 64 by 64 bits, whose halves are exchanged six times by six operations for each two rows.
const SQUARES: u64 = 2 * 6 * 32 * 6;

/// Words of 64 bits.
pub(crate) enum OnWords {}
/// AVX2.
pub(crate) enum OnAvx2 {}
/// AVX-512 with GFNI.
pub(crate) enum OnAvx512 {}

impl Set for OnWords {
    const TERNARY: bool = false;
    const PORTS: f64 = 5.0;
    const ALL: &'static str = "five ports";
    const ONE_PORT: bool = false;
    const PLANES: Count = Count { logic: SQUARES, maps: 0, shuffles: 0 };
    type Bits = U64;
}

impl Set for OnAvx2 {
    const TERNARY: bool = false;
    const PORTS: f64 = 3.0;
    const ALL: &'static str = "three ports";
    const ONE_PORT: bool = false;
    // And every register is put together of four parts, or taken apart.
    const PLANES: Count = Count { logic: SQUARES, maps: 0, shuffles: 3 * 128 };
    type Bits = U256;
}

impl Set for OnAvx512 {
    const TERNARY: bool = true;
    const PORTS: f64 = 2.0;
    const ALL: &'static str = "ports 0 and 5";
    const ONE_PORT: bool = true;
    // Bits within registers by a map, 128 times. Bytes within registers twice, parts of 64 bits between eight registers
    // twice, by three steps of eight shuffles, and every register is put together of eight parts, or taken apart.
    const PLANES: Count = Count { logic: 0, maps: 128, shuffles: 2 * 128 + 2 * 16 * 24 + 6 * 128 };
    type Bits = U512;
}

/// The instruction set that counts.
pub(crate) struct Counting<S>(PhantomData<fn() -> S>);

/// A register that is counted, and has nothing in it.
pub(crate) struct Counted<S>(PhantomData<fn() -> S>);

macro_rules! plain {
    ($($type:ident)*) => {$(
        impl<S> Clone for $type<S> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<S> Copy for $type<S> {}
        impl<S> fmt::Debug for $type<S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    )*};
}
plain!(Counting Counted);

macro_rules! gates {
    ($($gate:ident $function:ident $assign:ident $assign_function:ident),*) => {$(
        impl<S> $gate for Counted<S> {
            type Output = Self;

            fn $function(self, _: Self) -> Self {
                done(1, 0, 0);
                self
            }
        }
        impl<S> $assign for Counted<S> {
            fn $assign_function(&mut self, _: Self) {
                done(1, 0, 0);
            }
        }
    )*};
}
gates!(
    BitXor bitxor BitXorAssign bitxor_assign,
    BitAnd bitand BitAndAssign bitand_assign,
    BitOr bitor BitOrAssign bitor_assign
);

impl<S> Not for Counted<S> {
    type Output = Self;

    fn not(self) -> Self {
        done(1, 0, 0);
        self
    }
}

impl<S: Set> Word for Counted<S> {
    const TERNARY: bool = S::TERNARY;

    fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        if S::TERNARY {
            done(1, 0, 0);
            return a;
        }
        // The only one outside of circuits.
        assert_eq!(TABLE, 0x96, "a sum of three");
        a ^ b ^ c
    }
}

impl<S: Set> Bytes for Counted<S> {
    fn add(self, other: Self) -> Self {
        self ^ other
    }

    fn subtract(self, other: Self) -> Self {
        self ^ other
    }

    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    fn rotate_left<const BY: u32>(self) -> Self {
        done(0, 1, 0);
        self
    }
}

impl<S: Set> FieldBytes for Counted<S> {
    fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        done(0, 1, 0);
        self
    }

    fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        done(0, 1, 0);
        self
    }
}

impl<S: Set> BlockBytes for Counted<S> {
    fn add32(self, other: Self) -> Self {
        self ^ other
    }

    fn shuffled<const ORDER: u128>(self) -> Self {
        done(0, 0, 1);
        self
    }

    fn mixed<const LOW: u64, const HIGH: u64>(self) -> Self {
        done(0, 1, 0);
        self
    }
}

impl<S: Set> Words for Counted<S> {
    fn add(self, other: Self) -> Self {
        self ^ other
    }

    fn subtract(self, other: Self) -> Self {
        self ^ other
    }

    fn rotate_left<const BY: i32>(self) -> Self {
        done(0, 1, 0);
        self
    }
}

impl<S: Set> Isa for Counting<S> {
    fn detect() -> Result<Self, Unavailable> {
        Ok(Self(PhantomData))
    }

    fn run<B: Body<Self>>(self, body: B) -> B::Output {
        body.run(self)
    }
}

impl<S: Set> BitLanes for Counting<S> {
    type Word = Counted<S>;
    type Lanes = S::Bits;

    fn splat(self, _: u32) -> Counted<S> {
        Counted(PhantomData)
    }

    fn lane_bit(self, _: usize) -> Counted<S> {
        Counted(PhantomData)
    }

    fn slice(self, _: &[u8], _: &mut [Counted<S>]) {
        let Count { logic, maps, shuffles } = S::PLANES;
        done(logic, maps, shuffles);
    }

    fn unslice(self, planes: &mut [Counted<S>], blocks: &mut [u8]) {
        BitLanes::slice(self, blocks, planes);
    }
}

impl<S: Set> SplatBytes for Counting<S> {
    type Bytes = Counted<S>;

    fn splat(self, _: u32) -> Counted<S> {
        Counted(PhantomData)
    }
}

impl<S: Set> ByteLanes for Counting<S> {
    type Lanes = U64;

    /// Four steps of sixteen: one of shifts and choices, three of shuffles.
    fn slice(self, _: &[u8], _: &mut [Counted<S>]) {
        done(16, 16, 48);
    }

    fn unslice(self, bytes: &mut [Counted<S>], blocks: &mut [u8]) {
        ByteLanes::slice(self, blocks, bytes);
    }
}

impl<S: Set> WordLanes for Counting<S> {
    type Words = Counted<S>;
    type Lanes = U16;

    fn splat(self, _: u32) -> Counted<S> {
        Counted(PhantomData)
    }

    /// Two steps of four.
    fn slice(self, _: &[u8], _: &mut [Counted<S>; 4]) {
        done(0, 0, 8);
    }

    fn unslice(self, _: [Counted<S>; 4], _: &mut [u8]) {
        done(0, 0, 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rung_04;
    #[cfg(target_arch = "x86_64")]
    use crate::rung_08;

    #[test]
    fn gates_are_those_of_the_text() {
        let bits = count::<OnWords>(rung_04::Blocks(&[0; 32], &mut [[0; 16]; 64]));
        // A circuit of 114 gates for each byte; for each bit of a byte three sums before it and four of L, which also has
        // three for each bit of a word.
        let rounds = 32 * (4 * 114 + 8 * (4 * (3 + 4) + 3));
        assert_eq!(bits.logic, rounds + 2 * SQUARES);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn maps_are_those_of_the_text() {
        let bytes = count::<OnAvx512>(rung_08::Blocks(&[0; 32], &mut [[0; 16]; 64]));
        assert_eq!(bytes.maps, 32 * 8 + 2 * 16 + 2 * 16);
        assert_eq!(bytes.shuffles, 96);
    }

    #[test]
    fn the_fullest_port_binds() {
        let count = Count { logic: 10, maps: 6, shuffles: 0 };
        assert_eq!(OnAvx512::cycles(count), (8.0, "ports 0 and 5"));
        assert_eq!(OnAvx512::cycles(Count { maps: 12, ..count }), (12.0, "port 0"));
        assert_eq!(OnAvx512::cycles(Count { shuffles: 20, ..count }), (20.0, "port 5"));
        assert_eq!(OnWords::cycles(Count { maps: 15, ..count }), (5.0, "five ports"));
    }
}
