//! Byte lanes as bit planes: eight words, bit `b` of every lane in word `b`.
//!
//! An XOR is eight, a rotation renames the planes and an addition is a ripple-carry adder of
//! gates. Bits are summed from the lowest on; the lowest has no carry coming in and the highest
//! none going out, so that an addition is 2 + 6 * 5 + 2 = 34 operations.

#![allow(
    clippy::inline_always,
    reason = "an operation of a few instructions, met a thousand times a batch"
)]

use crate::{Bytes, Word, slice, unslice};

/// Byte lanes as bit planes: bit `l` of `planes[b]` is bit `b` of lane `l`.
pub type Planes<W> = [W; 8];

impl<W: Word> Bytes for Planes<W> {
    const LANES: usize = W::LANES;

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        core::array::from_fn(|bit| W::splat(byte >> bit & 1 == 1))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut sum = self;
        let mut carry = self[0] & other[0];
        sum[0] ^= other[0];
        for bit in 1..7 {
            // Where a and b are equal they are the carry; where they differ it goes on.
            let differ = self[bit] ^ other[bit];
            sum[bit] = differ ^ carry;
            carry = self[bit] ^ (differ & (self[bit] ^ carry));
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
            borrow ^= differ & (other[bit] ^ borrow);
        }
        difference[7] ^= other[7] ^ borrow;
        difference
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        core::array::from_fn(|bit| self[bit] ^ other[bit])
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        const { assert!(BY < 8, "a byte has 8 bits") };
        core::array::from_fn(|bit| self[(bit + 8 - BY as usize) % 8])
    }

    #[inline(always)]
    fn slice(blocks: &[u8], bytes: &mut [Self]) {
        slice(blocks, bytes.as_flattened_mut());
    }

    #[inline(always)]
    fn unslice(bytes: &mut [Self], blocks: &mut [u8]) {
        unslice(bytes.as_flattened_mut(), blocks);
    }
}
