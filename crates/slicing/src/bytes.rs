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

use crate::{Isa, Word, matrix};

pub use gapped::Gapped;
pub use planes::InPlanes;

/// A row of byte lanes: byte `j` of many blocks, one block per lane.
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
/// | [`InPlanes`]: one word per bit | those of the word | 34 | none |
/// | SIMD registers | 16, 32, 64 | 1 | 5, or 1 with GFNI |
pub trait Bytes: Copy + Debug + Send + Sync + 'static {
    /// Whether [`xor_rotations`](Self::xor_rotations) is one instruction.
    const ROTATIONS_AT_ONCE: bool = false;

    /// Whether a row is more than registers hold, so that it can be told by a number as well.
    const IN_MEMORY: bool = false;

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

    /// The inverse of `MATRIX` times every byte, plus `CONSTANT`: an inverse S-box.
    #[must_use]
    #[inline(always)]
    fn affine_inverse<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        self.affine::<MATRIX, CONSTANT>().inverse_affine::<{ matrix::IDENTITY }, 0>()
    }

    /// One more in every lane where the top bit of `carry` is set.
    #[must_use]
    #[inline(always)]
    fn add_top_bit(self, carry: Self) -> Self {
        self.add(carry.affine::<{ matrix::TOP_BIT }, 0>())
    }

    /// `AFTER` times what `mask` leaves of `BEFORE` times every byte; `matrix` is all of that
    /// ([`matrix::masked`](crate::matrix::masked)), which is one instruction with GFNI.
    #[must_use]
    #[inline(always)]
    fn masked<const BEFORE: u64, const AFTER: u64>(self, mask: Self, matrix: u64) -> Self {
        let _ = matrix;
        (self.affine::<BEFORE, 0>() & mask).affine::<AFTER, 0>()
    }
}

/// What makes rows of byte lanes.
pub trait SplatBytes: Copy {
    /// A row of lanes.
    type Bytes: Bytes;

    /// The same byte in every lane; `four` is the byte four times, which SIMD registers are filled
    /// with by a load alone.
    fn splat(self, four: u32) -> Self::Bytes;
}

/// An instruction set whose registers carry a byte of many blocks, one block per lane.
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

/// A byte four times, for [`SplatBytes::splat`].
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
