//! What SIMD registers of 128 and 256 bits have in common: columns of 64 bits, the byte transposes
//! made of interleaving, affine maps as look-ups of nibbles, and sums of bytes as shuffles.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use crate::{NONE, matrix};

/// The 64-bit columns at `start`, `start + stride` and so on.
#[inline(always)]
pub(crate) fn columns<const N: usize>(bytes: &[u8], start: usize, stride: usize) -> [i64; N] {
    let mut columns = [0; N];
    for (i, column) in columns.iter_mut().enumerate() {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[start + i * stride..][..8]);
        *column = i64::from_le_bytes(eight);
    }
    columns
}

/// The inverse of [`columns`].
#[inline(always)]
pub(crate) fn put_columns<const N: usize>(
    columns: [i64; N],
    bytes: &mut [u8],
    start: usize,
    stride: usize,
) {
    for (i, column) in columns.iter().enumerate() {
        bytes[start + i * stride..][..8].copy_from_slice(&column.to_le_bytes());
    }
}

/// Ones in every other run of `distance` bits, the lowest run first.
pub(crate) const fn mask(distance: u32) -> i64 {
    (u64::MAX / ((1 << distance) + 1)).cast_signed()
}

/// The bits that a byte rotated by `by` bits keeps of its shift upwards, in four bytes.
#[cfg(target_arch = "x86_64")] // elsewhere bytes shift by themselves
pub(crate) const fn kept(by: u32) -> i32 {
    crate::spread(0xff << by).cast_signed()
}

/// A register of bytes that can be interleaved with another.
pub(crate) trait Interleave: Copy {
    /// The bytes of both by turns, in every 128 bits by themselves: of their lower halves, and of
    /// their upper ones.
    fn interleave(self, other: Self) -> [Self; 2];
}

/// Interleaves a register with the one half of them further on, `STAGES` times.
///
/// With `r` the bits of a register's number and `b` those of a byte's place in 128 bits, one stage
/// rotates the index `r.. b3 b2 b1 b0` by one bit to the left.
#[inline(always)]
fn rotate_index<T: Interleave, const N: usize, const STAGES: usize>(registers: &mut [T; N]) {
    for _ in 0..STAGES {
        let before = *registers;
        for i in 0..N / 2 {
            let [low, high] = before[i].interleave(before[i + N / 2]);
            registers[2 * i] = low;
            registers[2 * i + 1] = high;
        }
    }
}

/// Rows of blocks, as they lie in memory, to rows of their bytes.
///
/// ```text
/// 16 bytes   r3 r2 r1 r0 | j3 j2 j1 j0   to   j3 j2 j1 j0 | r3 r2 r1 r0
///  8 bytes      r2 r1 r0 | b j2 j1 j0    to   j2 j1 j0 | r2 r1 r0 b        b: block of two in a row
/// ```
#[inline(always)]
pub(crate) fn bytes_to_rows<T: Interleave>(registers: &mut [T]) {
    if registers.len() == 16 {
        for registers in registers.as_chunks_mut::<16>().0 {
            rotate_index::<T, 16, 4>(registers);
        }
    } else {
        for registers in registers.as_chunks_mut::<8>().0 {
            rotate_index::<T, 8, 4>(registers);
        }
    }
}

/// The inverse of [`bytes_to_rows`].
#[inline(always)]
pub(crate) fn rows_to_bytes<T: Interleave>(registers: &mut [T]) {
    if registers.len() == 16 {
        for registers in registers.as_chunks_mut::<16>().0 {
            rotate_index::<T, 16, 4>(registers);
        }
    } else {
        for registers in registers.as_chunks_mut::<8>().0 {
            rotate_index::<T, 8, 3>(registers);
        }
    }
}

/// The sum of three rotations, as a matrix.
pub(crate) struct Rotations<const A: u32, const B: u32, const C: u32>;

impl<const A: u32, const B: u32, const C: u32> Rotations<A, B, C> {
    pub(crate) const MATRIX: u64 = matrix::rotation(A) ^ matrix::rotation(B) ^ matrix::rotation(C);
}

/// An affine map as its values on the lower nibble and on the upper one.
pub(crate) struct Nibbles {
    pub(crate) low: [u8; 16],
    pub(crate) high: [u8; 16],
    /// Nothing needs to be looked up.
    pub(crate) is_identity: bool,
}

impl Nibbles {
    pub(crate) const fn new(matrix: u64, constant: u8) -> Self {
        let is_identity = matrix == matrix::IDENTITY && constant == 0;
        let mut tables = Self { low: [0; 16], high: [0; 16], is_identity };
        let mut nibble = 0;
        while nibble < 16 {
            tables.low[nibble] = matrix::apply(matrix, nibble as u8) ^ constant;
            tables.high[nibble] = matrix::apply(matrix, (nibble as u8) << 4);
            nibble += 1;
        }
        tables
    }
}

/// The affine map of the AES S-box (FIPS 197, 5.1.1): inversion, then this matrix and constant.
const AES: (u64, u8) = (0xf1e3_c78f_1f3e_7cf8, 0x63);

/// An affine map in the forms that look-ups want. AES instructions invert between maps of their own,
/// `AES` after it or the inverse of that before it.
pub(crate) struct Affine<const MATRIX: u64, const CONSTANT: i32>;

impl<const MATRIX: u64, const CONSTANT: i32> Affine<MATRIX, CONSTANT> {
    const CONSTANT_BYTE: u8 = CONSTANT.cast_unsigned() as u8;
    pub(crate) const ALONE: Nibbles = Nibbles::new(MATRIX, Self::CONSTANT_BYTE);
    /// After encryption.
    pub(crate) const AFTER_AES: Nibbles = {
        let undone = matrix::compose(MATRIX, matrix::inverse(AES.0));
        Nibbles::new(undone, matrix::apply(undone, AES.1) ^ Self::CONSTANT_BYTE)
    };
    /// Before decryption.
    pub(crate) const BEFORE_AES: Nibbles = Nibbles::new(
        matrix::compose(AES.0, MATRIX),
        matrix::apply(AES.0, Self::CONSTANT_BYTE) ^ AES.1,
    );
}

/// Where the last round of AES takes the byte of each place from, so that its shift of rows is undone
/// before: in encryption and in decryption.
pub(crate) const UNSHIFTED: [u8; 16] = [0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3];
pub(crate) const SHIFTED: [u8; 16] = [0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11];

/// Sums of bytes as shuffles: in each, byte `i` takes one summand more, or none.
pub(crate) struct Summands<const LOW: u64, const HIGH: u64>;

impl<const LOW: u64, const HIGH: u64> Summands<LOW, HIGH> {
    pub(crate) const ORDERS: [[u8; 16]; 8] = {
        let mut orders = [[NONE; 16]; 8];
        let mut i = 0;
        while i < 16 {
            let sums = if i < 8 { LOW } else { HIGH }.to_le_bytes()[i % 8];
            let (mut k, mut j) = (0, 0);
            while j < 8 {
                if sums >> j & 1 == 1 {
                    orders[k][i] = (i / 8 * 8 + j) as u8;
                    k += 1;
                }
                j += 1;
            }
            i += 1;
        }
        orders
    };
    /// The most summands of a sum.
    pub(crate) const COUNT: usize = {
        let (mut most, mut i) = (0, 0);
        while i < 16 {
            let sums = if i < 8 { LOW } else { HIGH }.to_le_bytes()[i % 8];
            if sums.count_ones() > most {
                most = sums.count_ones();
            }
            i += 1;
        }
        most as usize
    };
}
