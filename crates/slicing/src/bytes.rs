//! Instruction sets as rows of byte lanes, for ciphers that are sliced by bytes.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

mod gapped;
mod packed;
mod planes;

use core::fmt::Debug;

use cipher::{Array, InOutBuf, array::ArraySize};

use crate::{Isa, Word};

pub use gapped::Gapped;
pub use planes::InPlanes;

/// A row of byte lanes: byte `j` of many blocks, one block a lane.
///
/// A cipher of additions modulo 256, XORs and rotations of bytes is written once over this trait.
/// No operation carries anything from one lane into another, and none branches or looks anything
/// up.
///
/// | type | lanes | an addition | a rotation |
/// |---|---|---|---|
/// | `u8` | 1 | 1 operation | 1 |
/// | `u32`, `u64`: lanes side by side | 4, 8 | 6 | 5 |
/// | [`Gapped`]: lanes with zero bits between | 3, 7 | 2 | 5 |
/// | [`InPlanes`]: a word a bit | those of the word | 34 | none |
/// | SIMD registers | 16, 32, 64 | 1 | 5, or 1 with GFNI |
pub trait Bytes: Copy + Debug + Send + Sync + 'static {
    /// The sum modulo 256, lane by lane.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// The difference modulo 256, lane by lane.
    #[must_use]
    fn subtract(self, other: Self) -> Self;

    /// The XOR, lane by lane.
    #[must_use]
    fn xor(self, other: Self) -> Self;

    /// Every lane rotated by `BY` bits, 0 to 7, towards its most significant bit.
    #[must_use]
    fn rotate_left<const BY: u32>(self) -> Self;

    /// The XOR of the rotations by `A`, `B` and `C`, lane by lane.
    #[must_use]
    #[inline(always)]
    fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
        self.rotate_left::<A>().xor(self.rotate_left::<B>()).xor(self.rotate_left::<C>())
    }
}

/// Byte lanes with the arithmetic of GF(2^8) modulo x^8 + x^4 + x^3 + x + 1: what S-boxes that are
/// inversion between affine maps want.
///
/// A map is a matrix in the form of [`matrix`](crate::matrix) and a constant that is added.
pub trait FieldBytes: Bytes + Word {
    /// `MATRIX` times every byte, plus `CONSTANT`.
    #[must_use]
    fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self;

    /// `MATRIX` times the inverse of every byte (that of 0 is 0), plus `CONSTANT`.
    #[must_use]
    fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self;
}

/// What makes rows of byte lanes.
pub trait SplatBytes: Copy {
    /// A row of lanes.
    type Bytes: Bytes;

    /// The same byte in every lane; `four` is the byte four times, which SIMD registers are filled
    /// with by a load alone.
    fn splat(self, four: u32) -> Self::Bytes;
}

/// An instruction set whose registers carry a byte of many blocks, one block a lane.
///
/// ```
/// use lanecrypt_slicing::{ByteLanes, Bytes, Portable};
///
/// /// Works on any of them.
/// fn mix<B: Bytes>(a: B, b: B) -> B {
///     a.add(b.rotate_left::<3>())
/// }
///
/// let isa = Portable::<u64>::new();
/// let mut bytes = [0u64; 8]; // byte j of 8 blocks of 8 bytes in bytes[j]
/// ByteLanes::slice(isa, &[0x81; 64], &mut bytes);
/// bytes[0] = mix(bytes[0], bytes[1]);
/// let mut blocks = [0; 64];
/// ByteLanes::unslice(isa, &mut bytes, &mut blocks);
/// assert_eq!(blocks[..2], [0x81 + 0x0c, 0x81]);
/// ```
pub trait ByteLanes: Isa + SplatBytes {
    /// Blocks that a row carries at once.
    type Lanes: ArraySize;

    /// Fills 8 or 16 rows from [`Lanes`](Self::Lanes) blocks: a lane of `bytes[j]` is byte `j` of
    /// its block. Which lane a block has is the instruction set's own business.
    ///
    /// # Panics
    /// Where `blocks` is not as many blocks of `bytes.len()` bytes, or `bytes.len()` neither 8
    /// nor 16.
    fn slice(self, blocks: &[u8], bytes: &mut [Self::Bytes]);

    /// The inverse of [`slice`](Self::slice); leaves `bytes` overwritten with intermediate values.
    ///
    /// # Panics
    /// As [`slice`](Self::slice).
    fn unslice(self, bytes: &mut [Self::Bytes], blocks: &mut [u8]);

    /// [`unslice`](Self::unslice), XORed to blocks in memory; `false`, and nothing done, where there
    /// is no faster way than that.
    ///
    /// # Panics
    /// As [`unslice`](Self::unslice).
    fn add_unsliced<N: ArraySize>(
        self,
        bytes: &mut [Self::Bytes],
        blocks: &mut InOutBuf<'_, '_, Array<u8, N>>,
    ) -> bool {
        let _ = (bytes, blocks);
        false
    }

    /// Fills rows from consecutive counter blocks, big-endian, the first of them `first`; `false`
    /// where there is no faster way than [`slice`](Self::slice).
    fn count(self, first: u128, bytes: &mut [Self::Bytes]) -> bool {
        let _ = (first, bytes);
        false
    }
}

/// A byte four times, for [`ByteLanes::splat`].
#[must_use]
pub const fn spread(byte: u8) -> u32 {
    byte as u32 * 0x0101_0101
}

/// Checks the shapes of [`ByteLanes::slice`].
#[inline(always)]
pub(crate) fn check(blocks: usize, bytes: usize, lanes: usize) {
    assert!(bytes == 8 || bytes == 16, "blocks have 8 or 16 bytes");
    assert_eq!(blocks, bytes * lanes, "one block a lane");
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use proptest::{collection::vec, prelude::*};
    use std::{vec, vec::Vec};

    /// Bytes of a block in the tests; the widest row has 64 lanes.
    const BLOCK: usize = 16;
    const MOST: usize = 64 * BLOCK;

    fn sliced<B: Bytes>(blocks: &[u8]) -> Vec<B> {
        let mut bytes = vec![B::splat(0); BLOCK];
        B::slice(&blocks[..B::LANES * BLOCK], &mut bytes);
        bytes
    }

    fn unsliced<B: Bytes>(mut bytes: Vec<B>) -> Vec<u8> {
        let mut blocks = vec![0; B::LANES * BLOCK];
        B::unslice(&mut bytes, &mut blocks);
        blocks
    }

    /// `ours` over lanes is `plain` over every byte.
    fn agrees<B: Bytes>(
        left: &[u8],
        right: &[u8],
        ours: impl Fn(B, B) -> B,
        plain: impl Fn(u8, u8) -> u8,
    ) {
        let pairs = sliced(left).into_iter().zip(sliced(right));
        let ours = unsliced(pairs.map(|(a, b)| ours(a, b)).collect());
        let plain: Vec<u8> = left.iter().zip(right).map(|(&a, &b)| plain(a, b)).collect();
        assert_eq!(ours, plain[..ours.len()]);
    }

    fn rotations_agree<B: Bytes>(data: &[u8]) {
        agrees::<B>(data, data, |a, _| a.rotate_left::<0>(), |a, _| a);
        agrees::<B>(data, data, |a, _| a.rotate_left::<1>(), |a, _| a.rotate_left(1));
        agrees::<B>(data, data, |a, _| a.rotate_left::<2>(), |a, _| a.rotate_left(2));
        agrees::<B>(data, data, |a, _| a.rotate_left::<3>(), |a, _| a.rotate_left(3));
        agrees::<B>(data, data, |a, _| a.rotate_left::<4>(), |a, _| a.rotate_left(4));
        agrees::<B>(data, data, |a, _| a.rotate_left::<5>(), |a, _| a.rotate_left(5));
        agrees::<B>(data, data, |a, _| a.rotate_left::<6>(), |a, _| a.rotate_left(6));
        agrees::<B>(data, data, |a, _| a.rotate_left::<7>(), |a, _| a.rotate_left(7));
    }

    fn all_agree<B: Bytes>(left: &[u8], right: &[u8]) {
        agrees::<B>(left, right, B::add, u8::wrapping_add);
        agrees::<B>(left, right, B::subtract, u8::wrapping_sub);
        agrees::<B>(left, right, B::xor, |a, b| a ^ b);
        // Operations on results, so that what they leave between the lanes is seen.
        agrees::<B>(
            left,
            right,
            |a, b| a.subtract(b).add(a.add(b)).rotate_left::<3>().subtract(b.rotate_left::<7>()),
            |a, b| a.wrapping_add(a).rotate_left(3).wrapping_sub(b.rotate_left(7)),
        );
        let byte = right[0];
        agrees::<B>(left, left, |a, _| a.add(B::splat(byte)), |a, _| a.wrapping_add(byte));
        rotations_agree::<B>(left);
    }

    /// A byte that is set alone arrives in its lane alone: `slice` without `unslice`.
    fn a_byte_is_in_its_lane<B: Bytes + PartialEq>(lane: impl Fn(usize, u8) -> B) {
        for at in 0..B::LANES * BLOCK {
            let mut blocks = vec![0; B::LANES * BLOCK];
            blocks[at] = 0xa7;
            for (j, bytes) in sliced::<B>(&blocks).into_iter().enumerate() {
                let expected = if j == at % BLOCK { 0xa7 } else { 0 };
                assert_eq!(bytes, lane(at / BLOCK, expected), "byte {at} in row {j}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_operation_is_that_of_u8(left in vec(any::<u8>(), MOST), right in vec(any::<u8>(), MOST)) {
            all_agree::<u8>(&left, &right);
            all_agree::<u32>(&left, &right);
            all_agree::<u64>(&left, &right);
            all_agree::<Gapped<u32>>(&left, &right);
            all_agree::<Gapped<u64>>(&left, &right);
            all_agree::<Planes<u32>>(&left, &right);
            all_agree::<Planes<u64>>(&left, &right);
        }
    }

    #[test]
    fn every_pair_of_bytes_adds_and_subtracts() {
        let left: Vec<u8> = (0..=255).cycle().take(MOST).collect();
        for other in 0..=255 {
            let right = vec![other; MOST];
            all_agree::<u32>(&left, &right);
            all_agree::<u64>(&left, &right);
            all_agree::<Gapped<u32>>(&left, &right);
            all_agree::<Gapped<u64>>(&left, &right);
            all_agree::<Planes<u64>>(&left, &right);
        }
    }

    #[test]
    fn slicing_is_as_drawn() {
        a_byte_is_in_its_lane::<u8>(|_, byte| byte);
        a_byte_is_in_its_lane::<u32>(|lane, byte| u32::from(byte) << (8 * lane));
        a_byte_is_in_its_lane::<u64>(|lane, byte| u64::from(byte) << (8 * lane));
        a_byte_is_in_its_lane(|lane, byte| Gapped(u32::from(byte) << (12 * lane)));
        a_byte_is_in_its_lane(|lane, byte| Gapped(u64::from(byte) << (9 * lane)));
        a_byte_is_in_its_lane::<Planes<u32>>(|lane, byte| {
            core::array::from_fn(|bit| u32::from(byte >> bit & 1) << lane)
        });
        a_byte_is_in_its_lane::<Planes<u64>>(|lane, byte| {
            core::array::from_fn(|bit| u64::from(byte >> bit & 1) << lane)
        });
    }

    #[test]
    #[should_panic(expected = "one block a lane")]
    fn a_short_buffer_is_refused() {
        Bytes::slice(&[0; 55], &mut [Gapped(0_u64); 8]);
    }
}
