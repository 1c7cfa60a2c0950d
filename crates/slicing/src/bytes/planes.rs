//! Byte lanes as bit planes: eight words, bit `b` of every lane in word `b`.
//!
//! An XOR is eight, a rotation renames the planes and an addition is a ripple-carry adder of
//! gates. Bits are summed from the lowest on; the lowest has no carry coming in and the highest
//! none going out, so that an addition is 2 + 6 * 5 + 2 = 34 operations, or 2 + 6 * 2 + 1 = 15 of three inputs.

#![allow(
    clippy::inline_always,
    reason = "an operation of a few instructions, met a thousand times a batch"
)]

use crate::{BitLanes, Bytes, SplatBytes, Word, bits::MAJORITY};

/// The table of the borrow of `a - b - c`: `b` and `c` against `!a`.
const BORROW: i32 = 0x8e;

/// Byte lanes as bit planes: lane `l` of `planes[b]` has bit `b` of byte `l`.
impl<W: Word> Bytes for [W; 8] {
    const IN_MEMORY: bool = true;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut sum = self;
        let mut carry = self[0] & other[0];
        sum[0] ^= other[0];
        for bit in 1..7 {
            // Where a and b are equal they are the carry; where they differ it goes on.
            let differ = self[bit] ^ other[bit];
            sum[bit] = differ ^ carry;
            carry = if W::TERNARY {
                W::lut3::<MAJORITY>(self[bit], other[bit], carry)
            } else {
                self[bit] ^ (differ & (self[bit] ^ carry))
            };
        }
        sum[7] ^= other[7] ^ carry;
        sum
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        let mut difference = self;
        difference[0] ^= other[0];
        let mut borrow = difference[0] & other[0];
        for bit in 1..7 {
            // Where a and b are equal the borrow goes on; where they differ it becomes b.
            let differ = self[bit] ^ other[bit];
            difference[bit] = differ ^ borrow;
            borrow = if W::TERNARY {
                W::lut3::<BORROW>(self[bit], other[bit], borrow)
            } else {
                borrow ^ (differ & (other[bit] ^ borrow))
            };
        }
        difference[7] ^= other[7] ^ borrow;
        difference
    }

    #[inline(always)]
    fn xor(mut self, other: Self) -> Self {
        for (plane, other) in self.iter_mut().zip(other) {
            *plane ^= other;
        }
        self
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        let mut rotated = self;
        for (bit, plane) in rotated.iter_mut().enumerate() {
            *plane = self[(bit + 8 - BY as usize) % 8];
        }
        rotated
    }
}

/// The bit lanes of `I` as byte lanes, eight words per row.
#[derive(Clone, Copy, Debug)]
pub struct InPlanes<I>(pub I);

impl<I: BitLanes> SplatBytes for InPlanes<I> {
    type Bytes = [I::Word; 8];

    #[inline(always)]
    fn splat(self, four: u32) -> [I::Word; 8] {
        self.0.splat_byte(four)
    }
}
