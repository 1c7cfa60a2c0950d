//! Instruction sets as rows of 32-bit lanes, for ciphers of additions, rotations and XORs of words.
//!
//! ```text
//! block i in memory      word 0 | word 1 | word 2 | word 3        little-endian
//! row j                  word j of block 0 | of block 1 | ...     a block a lane
//! ```

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{Array, InOutBuf, array::ArraySize, consts::U1};

use crate::{Isa, Portable, Word};

/// A row of 32-bit lanes.
pub trait Words: Word {
    /// The sums modulo 2^32.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// The differences modulo 2^32.
    #[must_use]
    fn subtract(self, other: Self) -> Self;

    /// Every lane rotated to the left, by 1 to 31 bits.
    #[must_use]
    fn rotate_left<const BY: i32>(self) -> Self;
}

/// An instruction set whose registers carry a 32-bit word of many blocks, one block per lane.
///
/// ```
/// use lanecrypt_slicing::{Portable, WordLanes, Words};
///
/// /// Works on any of them.
/// fn mix<W: Words>(a: W, b: W) -> W {
///     a.add(b.rotate_left::<9>())
/// }
///
/// let isa = Portable::<u32>::new();
/// let mut words = [isa.splat(0); 4];
/// isa.slice(&[1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &mut words);
/// words[0] = mix(words[0], words[1]);
/// let mut block = [0; 16];
/// isa.unslice(words, &mut block);
/// assert_eq!(block[..8], [1, 4, 0, 0, 2, 0, 0, 0]);
/// ```
pub trait WordLanes: Isa {
    /// A row of lanes.
    type Words: Words;
    /// Blocks that a row carries at once.
    type Lanes: ArraySize;

    /// The same word in every lane.
    fn splat(self, word: u32) -> Self::Words;

    /// Fills four rows from [`Lanes`](Self::Lanes) blocks of 16 bytes: a lane of `words[j]` is the
    /// little-endian word `j` of its block. Which lane a block has is the instruction set's own
    /// business.
    ///
    /// # Panics
    /// Where `blocks` is not as many blocks.
    fn slice(self, blocks: &[u8], words: &mut [Self::Words; 4]);

    /// The inverse of [`slice`](Self::slice).
    ///
    /// # Panics
    /// As [`slice`](Self::slice).
    fn unslice(self, words: [Self::Words; 4], blocks: &mut [u8]);

    /// [`unslice`](Self::unslice), XORed to blocks in memory; `false`, and nothing done, where there
    /// is no faster way than that.
    ///
    /// # Panics
    /// As [`unslice`](Self::unslice).
    fn add_unsliced<N: ArraySize>(
        self,
        words: [Self::Words; 4],
        blocks: &mut InOutBuf<'_, '_, Array<u8, N>>,
    ) -> bool {
        let _ = (words, blocks);
        false
    }

    /// Fills rows from consecutive counter blocks, big-endian, the first of them `first`; `false`
    /// where there is no faster way than [`slice`](Self::slice).
    fn count(self, first: u128, words: &mut [Self::Words; 4]) -> bool {
        let _ = (first, words);
        false
    }
}

impl Words for u32 {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn rotate_left<const BY: i32>(self) -> Self {
        Self::rotate_left(self, BY.cast_unsigned())
    }
}

/// One lane. The additions of two in a wider word would want masks, and gain nothing.
macro_rules! portable {
    ($($word:ty)*) => {$(
        impl WordLanes for Portable<$word> {
            type Words = u32;
            type Lanes = U1;

            #[inline(always)]
            fn splat(self, word: u32) -> u32 {
                word
            }

            #[inline(always)]
            fn slice(self, blocks: &[u8], words: &mut [u32; 4]) {
                check(blocks.len(), 1);
                for (word, bytes) in words.iter_mut().zip(blocks.as_chunks().0) {
                    *word = u32::from_le_bytes(*bytes);
                }
            }

            #[inline(always)]
            fn unslice(self, words: [u32; 4], blocks: &mut [u8]) {
                check(blocks.len(), 1);
                for (word, bytes) in words.iter().zip(blocks.as_chunks_mut().0) {
                    *bytes = word.to_le_bytes();
                }
            }
        }
    )*};
}
portable!(u32 u64);

/// The words of a big-endian number, the highest first.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[inline(always)]
pub(crate) fn big_endian(number: u128) -> [u32; 4] {
    [(number >> 96) as u32, (number >> 64) as u32, (number >> 32) as u32, number as u32]
}

/// Checks the shapes of [`WordLanes::slice`].
#[inline(always)]
pub(crate) fn check(bytes: usize, lanes: usize) {
    assert_eq!(bytes, 16 * lanes, "one block a lane");
}

/// A register of words that can be interleaved with another.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) trait InterleaveWords: Copy {
    /// The words of both by turns, in every 128 bits by themselves: of their lower halves, and of
    /// their upper ones.
    fn interleave_words(self, other: Self) -> [Self; 2];
}

/// Transposes the squares of four by four words in every 128 bits of four registers. It is its own
/// inverse.
///
/// ```text
/// a0 a1 a2 a3        a0 c0 a1 c1        a0 b0 c0 d0
/// b0 b1 b2 b3   ->   a2 c2 a3 c3   ->   a1 b1 c1 d1
/// c0 c1 c2 c3        b0 d0 b1 d1        a2 b2 c2 d2
/// d0 d1 d2 d3        b2 d2 b3 d3        a3 b3 c3 d3
/// ```
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[inline(always)]
pub(crate) fn transpose<T: InterleaveWords>([a, b, c, d]: [T; 4]) -> [T; 4] {
    let ([ac_low, ac_high], [bd_low, bd_high]) = (a.interleave_words(c), b.interleave_words(d));
    let [first, second] = ac_low.interleave_words(bd_low);
    let [third, fourth] = ac_high.interleave_words(bd_high);
    [first, second, third, fourth]
}

/// [`WordLanes`] for registers of `$bytes` bytes of `$lanes` lanes that `$load` and `$store` move.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
macro_rules! word_lanes {
    ([$($generics:tt)*] $isa:ty, $register:ty, $bytes:literal, $lanes:ty, $load:path, $store:path) => {
        impl<$($generics)*> $crate::WordLanes for $isa {
            type Words = $register;
            type Lanes = $lanes;

            #[inline(always)]
            fn splat(self, word: u32) -> $register {
                $crate::BitLanes::splat(self, word)
            }

            #[inline(always)]
            fn slice(self, blocks: &[u8], words: &mut [$register; 4]) {
                $crate::words::check(blocks.len(), $bytes / 4);
                for (register, row) in words.iter_mut().zip(blocks.as_chunks::<$bytes>().0) {
                    *register = $load(row);
                }
                *words = $crate::words::transpose(*words);
            }

            #[inline(always)]
            fn unslice(self, words: [$register; 4], blocks: &mut [u8]) {
                $crate::words::check(blocks.len(), $bytes / 4);
                let rows = $crate::words::transpose(words);
                for (register, row) in rows.iter().zip(blocks.as_chunks_mut::<$bytes>().0) {
                    $store(*register, row);
                }
            }

            #[inline(always)]
            fn add_unsliced<N: cipher::array::ArraySize>(
                self,
                words: [$register; 4],
                blocks: &mut cipher::InOutBuf<'_, '_, cipher::Array<u8, N>>,
            ) -> bool {
                $crate::words::check(N::USIZE * blocks.len(), $bytes / 4);
                let rows = $crate::words::transpose(words);
                for (i, register) in rows.into_iter().enumerate() {
                    let input = cipher::Array::slice_as_flattened(blocks.get_in());
                    let sum = register ^ $load(&input.as_chunks().0[i]);
                    let output = cipher::Array::slice_as_flattened_mut(blocks.get_out());
                    $store(sum, &mut output.as_chunks_mut().0[i]);
                }
                true
            }

            #[inline(always)]
            fn count(self, first: u128, words: &mut [$register; 4]) -> bool {
                const LANES: u32 = $bytes / 4;
                let [rest @ .., low] = $crate::words::big_endian(first);
                // A carry out of the last word: a counter is public, so that this is no branch on a secret.
                if low > u32::MAX - LANES {
                    return false;
                }
                let mut last = [0; $bytes];
                for (lane, word) in (0..).zip(last.as_chunks_mut().0) {
                    // Registers of several blocks: lane 1 has a block of the second register.
                    let block = lane % 4 * (LANES / 4) + lane / 4;
                    *word = (low + block).to_be_bytes();
                }
                for (register, word) in words.iter_mut().zip(rest) {
                    *register = $crate::WordLanes::splat(self, word.swap_bytes());
                }
                words[3] = $load(&last);
                true
            }
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) use word_lanes;
