//! Byte lanes with zero bits between them, so that a carry has somewhere to go (P3, 3.2).
//!
//! ```text
//! u32   |  lane 2  | 0000 |  lane 1  | 0000 |  lane 0  |             lane i from bit 12i on
//!        31      24 23  20 19      12 11   8 7        0
//!
//! u64   | 0 | lane 6 | 0 | lane 5 |  ...  | 0 | lane 1 | 0 | lane 0 |  lane i from bit 9i on
//!        63  61    54 53  52    45         17  16     9  8   7     0
//! ```
//!
//! Between operations the gaps are zero. An addition carries into the gap and one mask clears it;
//! a subtraction borrows from a bit that is put there first.
//!
//! The XOR of rotations by `A`, `A + 1` and `C` makes one of the neighbours first: `y = x ^ x << 1` fits
//! a lane and its gap, and is then rotated by `A`, its ninth bit coming round with the others. The top
//! lane of a u32 has no gap, so there the rotations are made one by one.
//!
//! ```text
//!        gap 7 6 5 4 3 2 1 0                     7   6   5   4   3   2   1   0
//! x        0 x7  . . .  x0             A = 1:   y6  y5  y4  y3  y2  y1  y0          y << 1
//! x << 1  x7 x6  . . .   0                                              y8  y7      y >> 7
//! y       y8 y7  . . .  y0             C = 7:   x0                                  x << 7
//!                                                   x7  x6  x5  x4  x3  x2  x1      x >> 1
//! ```

#![allow(
    clippy::inline_always,
    reason = "an operation of a few instructions, met a thousand times a batch"
)]

use cipher::consts::{U3, U7};

use super::{check, packed::transpose};
use crate::{ByteLanes, Bytes, Portable, SplatBytes};

/// Byte lanes in a word, with gaps: three in `u32`, seven in `u64`.
///
/// The word is public for operations that know the layout: lane `i` starts at bit 12 `i` of `u32`,
/// at bit 9 `i` of `u64`, and the other bits must be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gapped<W>(pub W);

macro_rules! gapped {
    ($word:ty, lanes: $lanes:literal, $count:ty, stride: $stride:literal) => {
        impl Gapped<$word> {
            /// The lowest bit of every lane.
            pub const ONES: $word = {
                let (mut ones, mut lane) = (0, 0);
                while lane < $lanes {
                    ones |= 1 << ($stride * lane);
                    lane += 1;
                }
                ones
            };

            /// The bits of the lanes, gaps left out.
            pub const LANE_BITS: $word = Self::ONES * 0xff;

            /// Whether the top lane has a gap above it, too.
            const GAP_ABOVE_ALL: bool = Self::LANE_BITS.leading_zeros() > 0;

            /// For each bit of a lane number, the highest first: where the lanes that have it are
            /// in packed lanes once the higher bits are dealt with, and how far they must move.
            const MOVES: [($word, u32); 3] = {
                let mut moves = [(0, 0); 3];
                let mut at = 0;
                while at < 3 {
                    let bit = 4 >> at;
                    let mut lane = 0;
                    while lane < $lanes {
                        if lane & bit != 0 {
                            let moved = ($stride - 8) * (lane & !(2 * bit - 1));
                            moves[at].0 |= 0xff << (8 * lane + moved);
                        }
                        lane += 1;
                    }
                    moves[at].1 = ($stride - 8) * bit;
                    at += 1;
                }
                moves
            };

            /// Packed lanes, with lane `i` from bit 8i on, moved apart.
            #[inline(always)]
            fn spread(packed: $word) -> Self {
                Self(Self::MOVES.into_iter().fold(packed, |word, (lanes, by)| {
                    let moving = word & lanes;
                    word ^ moving ^ (moving << by)
                }))
            }

            /// The inverse of `spread`.
            #[inline(always)]
            fn pack(self) -> $word {
                Self::MOVES.into_iter().rev().fold(self.0, |word, (lanes, by)| {
                    let moving = word & (lanes << by);
                    word ^ moving ^ (moving >> by)
                })
            }
        }

        impl Bytes for Gapped<$word> {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // The top lane of a u32 has no gap above it: its carry leaves the word.
                Self(self.0.wrapping_add(other.0) & Self::LANE_BITS)
            }

            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                // The bit above every lane; every gap stays zero or keeps what was not borrowed.
                const LENT: $word = Gapped::<$word>::ONES << 8;
                Self((self.0 | LENT).wrapping_sub(other.0) & Self::LANE_BITS)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                Self(self.0 ^ other.0)
            }

            #[inline(always)]
            fn rotate_left<const BY: u32>(self) -> Self {
                const { assert!(BY < 8, "a byte has 8 bits") };
                // What moves up, the low 8 - BY bits of a lane, and what comes round below it.
                let stays = self.0 & const { Self::ONES * (0xff >> BY) };
                Self((stays << BY) | ((self.0 ^ stays) >> (8 - BY)))
            }

            #[inline(always)]
            fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
                if B != A + 1 || !Self::GAP_ABOVE_ALL {
                    return self
                        .rotate_left::<A>()
                        .xor(self.rotate_left::<B>())
                        .xor(self.rotate_left::<C>());
                }
                let x = self.0;
                let y = x ^ x << 1;
                let (y_up, x_up) = (y & (Self::ONES * (0xff >> A)), x & (Self::ONES * (0xff >> C)));
                let (y_round, x_round) = (y ^ y_up, x ^ x_up);
                Self(y_up << A ^ y_round >> (8 - A) ^ (x_up << C | x_round >> (8 - C)))
            }
        }

        impl SplatBytes for Portable<Gapped<$word>> {
            type Bytes = Gapped<$word>;

            #[inline(always)]
            fn splat(self, four: u32) -> Gapped<$word> {
                Gapped(Gapped::<$word>::ONES * <$word>::from(four as u8))
            }
        }

        impl ByteLanes for Portable<Gapped<$word>> {
            type Lanes = $count;

            #[inline(always)]
            fn slice(self, blocks: &[u8], bytes: &mut [Gapped<$word>]) {
                // A square of packed lanes: one block per row, the last row zero.
                const SIDE: usize = size_of::<$word>();
                check(blocks.len(), bytes.len(), $lanes);
                let block = bytes.len();
                for (column, out) in bytes.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                    let mut square = [0; SIDE];
                    for (row, word) in blocks.chunks_exact(block).zip(&mut square) {
                        *word = <$word>::from_le_bytes(row.as_chunks().0[column]);
                    }
                    transpose::<$word>(&mut square);
                    *out = square.map(Gapped::<$word>::spread);
                }
            }

            #[inline(always)]
            fn unslice(self, bytes: &mut [Gapped<$word>], blocks: &mut [u8]) {
                const SIDE: usize = size_of::<$word>();
                check(blocks.len(), bytes.len(), $lanes);
                let block = bytes.len();
                for (column, lanes) in bytes.as_chunks::<SIDE>().0.iter().enumerate() {
                    let mut square = lanes.map(Gapped::<$word>::pack);
                    transpose::<$word>(&mut square);
                    for (row, word) in blocks.chunks_exact_mut(block).zip(square) {
                        row.as_chunks_mut().0[column] = word.to_le_bytes();
                    }
                }
            }
        }
    };
}
gapped!(u32, lanes: 3, U3, stride: 12);
gapped!(u64, lanes: 7, U7, stride: 9);
