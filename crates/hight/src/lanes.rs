//! HIGHT's auxiliary functions F0 and F1 on every kind of byte lanes.
//!
//! F0 XORs the rotations by 1, 2 and 7, F1 those by 3, 4 and 6. In both, two amounts are
//! neighbours.

#![allow(
    clippy::inline_always,
    reason = "an operation of a few instructions, met a thousand times a batch"
)]

use cipher::{
    array::ArraySize,
    consts::{U1, U3, U4, U7, U8},
};
use lanecrypt_slicing::{Bytes, Gapped, Planes, Word};

use crate::table;

/// Byte lanes that HIGHT runs on.
pub trait LaneBytes: Bytes {
    /// The number of lanes as a type, which RustCrypto's traits want.
    type Lanes: ArraySize;

    /// F0 of every lane.
    #[inline(always)]
    #[must_use]
    fn f0(self) -> Self {
        self.rotate_left::<1>().xor(self.rotate_left::<2>()).xor(self.rotate_left::<7>())
    }

    /// F1 of every lane.
    #[inline(always)]
    #[must_use]
    fn f1(self) -> Self {
        self.rotate_left::<3>().xor(self.rotate_left::<4>()).xor(self.rotate_left::<6>())
    }
}

impl LaneBytes for u8 {
    type Lanes = U1;
}

impl LaneBytes for u32 {
    type Lanes = U4;
}

impl LaneBytes for u64 {
    type Lanes = U8;
}

impl<W: Word> LaneBytes for Planes<W> {
    type Lanes = W::Lanes;
}

/// Look-ups, as P3 has it: eight operations and three loads.
impl LaneBytes for Gapped<u32> {
    type Lanes = U3;

    #[inline(always)]
    fn f0(self) -> Self {
        look_up(self, &table::F0)
    }

    #[inline(always)]
    fn f1(self) -> Self {
        look_up(self, &table::F1)
    }
}

/// Every lane, from bits 0, 12 and 24 on, replaced by its entry of a table.
#[inline(always)]
fn look_up(lanes: Gapped<u32>, table: &[u8; 256]) -> Gapped<u32> {
    let entry = |byte: u32| u32::from(table[byte as usize & 0xff]);
    Gapped(entry(lanes.0) | entry(lanes.0 >> 12) << 12 | entry(lanes.0 >> 24) << 24)
}

/// Thirteen operations; P3 counts fifteen.
impl LaneBytes for Gapped<u64> {
    type Lanes = U7;

    #[inline(always)]
    fn f0(self) -> Self {
        rotations::<1, 7>(self)
    }

    #[inline(always)]
    fn f1(self) -> Self {
        rotations::<3, 6>(self)
    }
}

/// The XOR of the rotations by `Y`, `Y + 1` and `X`, with the neighbours in one: `y = x ^ x << 1`
/// fits a lane and its gap, and is then rotated by `Y`, its ninth bit coming round with the others.
///
/// ```text
///        gap 7 6 5 4 3 2 1 0                     7   6   5   4   3   2   1   0
/// x        0 x7  . . .  x0             Y = 1:   y6  y5  y4  y3  y2  y1  y0          y << 1
/// x << 1  x7 x6  . . .   0                                              y8  y7      y >> 7
/// y       y8 y7  . . .  y0             X = 7:   x0                                  x << 7
///                                                   x7  x6  x5  x4  x3  x2  x1      x >> 1
/// ```
#[inline(always)]
fn rotations<const Y: u32, const X: u32>(lanes: Gapped<u64>) -> Gapped<u64> {
    const ONES: u64 = Gapped::<u64>::ONES;
    let x = lanes.0;
    let y = x ^ x << 1;
    let (y_up, x_up) = (y & (ONES * (0xff >> Y)), x & (ONES * (0xff >> X)));
    let (y_round, x_round) = (y ^ y_up, x ^ x_up);
    Gapped(y_up << Y ^ y_round >> (8 - Y) ^ (x_up << X | x_round >> (8 - X)))
}

#[cfg(test)]
mod tests {
    use lanecrypt_reference::hight;

    use super::*;

    /// F0 and F1 of every byte, with other bytes in the neighbouring lanes.
    fn agrees<B: LaneBytes>() {
        for first in 0..=255_u8 {
            let mut blocks = [0; 64 * 8];
            let blocks = &mut blocks[..B::LANES * 8];
            for (i, byte) in blocks.iter_mut().enumerate() {
                *byte = first.wrapping_add((i as u8).wrapping_mul(93));
            }
            for (ours, plain) in [
                (B::f0 as fn(B) -> B, hight::f0 as fn(u8) -> u8),
                (B::f1 as fn(B) -> B, hight::f1 as fn(u8) -> u8),
            ] {
                let mut lanes = [B::splat(0); 8];
                B::slice(blocks, &mut lanes);
                let mut results = [0; 64 * 8];
                let results = &mut results[..B::LANES * 8];
                B::unslice(&mut lanes.map(ours), results);
                assert!(blocks.iter().zip(&*results).all(|(&byte, &result)| plain(byte) == result));
            }
        }
    }

    #[test]
    fn lanes_are_bytes() {
        agrees::<u8>();
        agrees::<u32>();
        agrees::<u64>();
        agrees::<Gapped<u32>>();
        agrees::<Gapped<u64>>();
        agrees::<Planes<u32>>();
        agrees::<Planes<u64>>();
    }
}
