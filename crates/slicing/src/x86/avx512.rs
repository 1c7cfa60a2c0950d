//! AVX-512 with byte permutations and GFNI: 512 bits, three-input look-ups of bits, affine maps and
//! inversion of bytes.

#![allow(clippy::inline_always, reason = "an operation is an instruction")]

use core::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm512_add_epi8, _mm512_add_epi32, _mm512_and_si512,
    _mm512_broadcast_i32x4, _mm512_cmplt_epu8_mask, _mm512_gf2p8affine_epi64_epi8,
    _mm512_gf2p8affineinv_epi64_epi8, _mm512_loadu_si512, _mm512_mask_shuffle_epi32,
    _mm512_mask_storeu_epi8, _mm512_mask_storeu_epi64, _mm512_mask_sub_epi8,
    _mm512_maskz_loadu_epi8, _mm512_maskz_loadu_epi64, _mm512_or_si512, _mm512_permutexvar_epi8,
    _mm512_set_epi64, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_shuffle_epi8, _mm512_shuffle_i64x2, _mm512_slli_epi16, _mm512_slli_epi32,
    _mm512_srli_epi16, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_sub_epi8,
    _mm512_ternarylogic_epi32, _mm512_unpackhi_epi16, _mm512_unpackhi_epi64, _mm512_unpacklo_epi16,
    _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use cipher::{
    Array, InOutBuf,
    array::ArraySize,
    consts::{U64, U512},
};

use super::{Avx512Xmm, Avx512Ymm};
use crate::{
    BitLanes, BlockBytes, BlockLanes, ByteLanes, Bytes, FieldBytes, OnBitLanes, SplatBytes, Word,
    bits::{self, LANE_BITS},
    bytes::check,
    matrix, short,
    simd::{registers, word_operators},
};

/// A token of AVX-512, whatever the registers that it is for.
macro_rules! avx512 {
    ($(#[$doc:meta])* $name:ident) => {
        $crate::simd::isa!(
            $(#[$doc])*
            $name, "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,gfni,aes,vaes,pclmulqdq,vpclmulqdq",
            "this CPU has no AVX-512 with byte permutations (VBMI), GFNI and VAES",
            |found| {
                use $crate::x86::detect::Features;
                found.has(Features::AVX512 | Features::GFNI | Features::VAES)
            }
        );
    };
}
pub(super) use avx512;

avx512!(
    /// 512 bits, with the instructions of GFNI and AES: Ice Lake and later, Zen 4 and later.
    Avx512
);

/// A register of 512 bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct B512(pub(super) __m512i);

impl B512 {
    /// Crate-private: safe code can make a register without the token.
    #[inline(always)]
    pub(crate) fn of(register: __m512i) -> Self {
        Self(register)
    }
}

word_operators!([] B512, _mm512_xor_si512, _mm512_and_si512, _mm512_or_si512, _mm512_set1_epi32(-1));

impl Word for B512 {
    const TERNARY: bool = true;

    #[inline(always)]
    fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        Self(registers!(_mm512_ternarylogic_epi32::<TABLE>(a.0, b.0, c.0)))
    }
}

impl Bytes for B512 {
    const ROTATIONS_AT_ONCE: bool = true;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(registers!(_mm512_add_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self(registers!(_mm512_sub_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        times(self, const { matrix::rotation(BY) })
    }

    #[inline(always)]
    fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
        times(self, const { matrix::rotation(A) ^ matrix::rotation(B) ^ matrix::rotation(C) })
    }
}

/// A matrix times every byte.
#[inline(always)]
fn times(bytes: B512, matrix: u64) -> B512 {
    B512(registers! {
        _mm512_gf2p8affine_epi64_epi8::<0>(bytes.0, _mm512_set1_epi64(matrix.cast_signed()))
    })
}

impl FieldBytes for B512 {
    #[inline(always)]
    fn affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let matrix = registers!(_mm512_set1_epi64(MATRIX.cast_signed()));
        Self(registers!(_mm512_gf2p8affine_epi64_epi8::<CONSTANT>(self.0, matrix)))
    }

    #[inline(always)]
    fn inverse_affine<const MATRIX: u64, const CONSTANT: i32>(self) -> Self {
        let matrix = registers!(_mm512_set1_epi64(MATRIX.cast_signed()));
        Self(registers!(_mm512_gf2p8affineinv_epi64_epi8::<CONSTANT>(self.0, matrix)))
    }

    #[inline(always)]
    fn masked<const BEFORE: u64, const AFTER: u64>(self, _mask: Self, matrix: u64) -> Self {
        times(self, matrix)
    }
}

impl BlockBytes for B512 {
    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        Self(registers!(_mm512_add_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn shuffled<const ORDER: u128>(self) -> Self {
        let order = broadcast(const { &ORDER.to_le_bytes() });
        Self(registers!(_mm512_shuffle_epi8(self.0, order.0)))
    }

    #[inline(always)]
    fn mixed<const LOW: u64, const HIGH: u64>(self) -> Self {
        // Eight bytes as a matrix, transposed, and then applied to the rows of the sums; both turn
        // the bits of a row round.
        let (low, high) =
            const { (matrix::rows(LOW).cast_signed(), matrix::rows(HIGH).cast_signed()) };
        let units = registers!(_mm512_set1_epi64(matrix::UNITS.cast_signed()));
        let rows = registers!(_mm512_set_epi64(high, low, high, low, high, low, high, low));
        let columns = registers!(_mm512_gf2p8affine_epi64_epi8::<0>(units, self.0));
        Self(registers!(_mm512_gf2p8affine_epi64_epi8::<0>(rows, columns)))
    }
}

/// The same 16 bytes four times.
#[inline(always)]
fn broadcast(block: &[u8; 16]) -> B512 {
    // SAFETY: 16 bytes can be read; every caller has the token or a value of the type.
    B512(unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(block.as_ptr().cast())) })
}

impl BlockLanes for Avx512 {
    const BLOCKS: usize = 4;
    const MATRICES: bool = true;

    #[inline(always)]
    fn broadcast(self, block: &[u8; 16]) -> B512 {
        broadcast(block)
    }

    #[inline(always)]
    fn load(self, blocks: &[u8]) -> B512 {
        short::check(blocks.len(), Self::BLOCKS);
        // SAFETY: as many bytes as the mask has lanes can be read.
        B512(unsafe { _mm512_maskz_loadu_epi64(first_lanes(blocks.len()), blocks.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, register: B512, blocks: &mut [u8]) {
        short::check(blocks.len(), Self::BLOCKS);
        let lanes = first_lanes(blocks.len());
        // SAFETY: as many bytes as the mask has lanes can be written.
        unsafe { _mm512_mask_storeu_epi64(blocks.as_mut_ptr().cast(), lanes, register.0) }
    }
}

/// The mask of the 64-bit lanes that a number of bytes fills, at most 64.
#[inline(always)]
fn first_lanes(bytes: usize) -> u8 {
    ((1_u32 << (bytes / 8)) - 1) as u8
}

#[inline(always)]
pub(super) fn load(bytes: &[u8; 64]) -> B512 {
    // SAFETY: 64 bytes can be read; every caller has the token or a value of this type.
    B512(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
}

#[inline(always)]
pub(super) fn store(register: B512, bytes: &mut [u8; 64]) {
    // SAFETY: 64 bytes can be written; the value proves that there is AVX-512.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register.0) }
}

/// The first bytes of a register, and zeros.
#[inline(always)]
pub(super) fn load_part(bytes: &[u8]) -> B512 {
    // SAFETY: as many bytes as the mask has can be read; every caller has the token.
    B512(unsafe { _mm512_maskz_loadu_epi8(first_bytes(bytes.len()), bytes.as_ptr().cast()) })
}

#[inline(always)]
pub(super) fn store_part(register: B512, bytes: &mut [u8]) {
    let mask = first_bytes(bytes.len());
    // SAFETY: as many bytes as the mask has can be written; the value proves that there is AVX-512.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), mask, register.0) }
}

/// The mask of the first bytes of a register.
#[inline(always)]
fn first_bytes(length: usize) -> u64 {
    assert!(length <= 64, "{length} bytes of a register of 64");
    u64::MAX.checked_shr(64 - length as u32).unwrap_or(0)
}

/// For each place of a register, the place that its byte comes from.
type Order = [u8; 64];

/// A matrix of `rows` by `columns` bytes becomes one of `columns` by `rows`; with `reversed` rows
/// are taken from the last to the first.
const fn transposed(rows: usize, columns: usize, reversed: bool) -> Order {
    let mut order = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (column, row) = (i / rows, i % rows);
        let row = if reversed { rows - 1 - row } else { row };
        order[i] = (row * columns + column) as u8;
        i += 1;
    }
    order
}

/// Eight blocks of 8 bytes, or eight squares of bits; its own inverse.
static SQUARE: Order = transposed(8, 8, false);
/// The same with the rows reversed, as the transpose of bits wants them.
static SQUARE_REVERSED: Order = transposed(8, 8, true);

#[inline(always)]
fn permute(register: B512, order: &Order) -> B512 {
    let order = load(order);
    B512(registers!(_mm512_permutexvar_epi8(order.0, register.0)))
}

/// In every 64 bits, a square: bit `b` of byte `i` becomes bit `i` of byte `7 - b`.
#[inline(always)]
fn transpose_bits(squares: B512) -> B512 {
    // The squares as matrices, applied to bytes with a single bit.
    let units = registers!(_mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed()));
    B512(registers!(_mm512_gf2p8affine_epi64_epi8::<0>(units, squares.0)))
}

/// Transposes a matrix of 8 by 8 parts of 64 bits.
#[inline(always)]
fn transpose_parts64(rows: &mut [B512; 8]) {
    let before = *rows;
    for k in 0..4 {
        let (even, odd) = (before[2 * k].0, before[2 * k + 1].0);
        rows[2 * k] = B512(registers!(_mm512_unpacklo_epi64(even, odd)));
        rows[2 * k + 1] = B512(registers!(_mm512_unpackhi_epi64(even, odd)));
    }
    let before = *rows;
    for c in 0..4 {
        let i = c / 2 * 4 + c % 2;
        let (low, high) = (before[i].0, before[i + 2].0);
        rows[i] = B512(registers!(_mm512_shuffle_i64x2::<0x88>(low, high)));
        rows[i + 2] = B512(registers!(_mm512_shuffle_i64x2::<0xdd>(low, high)));
    }
    let before = *rows;
    for i in 0..4 {
        let (low, high) = (before[i].0, before[i + 4].0);
        rows[i] = B512(registers!(_mm512_shuffle_i64x2::<0x88>(low, high)));
        rows[i + 4] = B512(registers!(_mm512_shuffle_i64x2::<0xdd>(low, high)));
    }
}

impl SplatBytes for Avx512 {
    type Bytes = B512;

    #[inline(always)]
    fn splat(self, four: u32) -> B512 {
        B512(registers!(_mm512_set1_epi32(four.cast_signed())))
    }
}

impl ByteLanes for Avx512 {
    type Lanes = U64;

    /// With `r` the digits of a register's number, `i` those of a block's in a register and `j` those
    /// of a byte's:
    ///
    /// ```text
    /// r | i j     64 bytes of blocks a register
    /// j | i r     bytes transposed: byte j of 64 blocks a register
    /// ```
    #[inline(always)]
    fn slice(self, blocks: &[u8], bytes: &mut [B512]) {
        check(blocks.len(), bytes.len(), 64);
        for (register, row) in bytes.iter_mut().zip(blocks.as_chunks::<64>().0) {
            *register = load(row);
        }
        transpose_bytes(bytes);
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [B512], blocks: &mut [u8]) {
        check(blocks.len(), bytes.len(), 64);
        transpose_bytes(bytes);
        for (register, row) in bytes.iter().zip(blocks.as_chunks_mut::<64>().0) {
            store(*register, row);
        }
    }

    #[inline(always)]
    fn add_unsliced<N: ArraySize>(
        self,
        bytes: &mut [B512],
        blocks: &mut InOutBuf<'_, '_, Array<u8, N>>,
    ) -> bool {
        check(N::USIZE * blocks.len(), bytes.len(), 64);
        transpose_bytes(bytes);
        for (i, register) in bytes.iter().enumerate() {
            let row = Array::slice_as_flattened(blocks.get_in()).as_chunks::<64>().0[i];
            let sum = *register ^ load(&row);
            store(sum, &mut Array::slice_as_flattened_mut(blocks.get_out()).as_chunks_mut().0[i]);
        }
        true
    }

    #[inline(always)]
    fn count(self, first: u128, bytes: &mut [B512]) -> bool {
        let digits = first.to_be_bytes();
        let digits = &digits[16 - bytes.len()..];
        for (register, digit) in bytes.iter_mut().zip(digits) {
            *register = B512(registers!(_mm512_set1_epi8(digit.cast_signed())));
        }
        let last = bytes.len() - 1;
        let start = bytes[last];
        bytes[last] = start.add(load(if bytes.len() == 16 { &FOURS } else { &EIGHTS }));
        // Lanes whose last byte has wrapped carry into the byte before, and on where that is full.
        // A counter is public, so that a branch on it is none on a secret.
        let mut carry = registers!(_mm512_cmplt_epu8_mask(bytes[last].0, start.0));
        for j in (0..last).rev() {
            if carry == 0 {
                break;
            }
            bytes[j] = B512(registers! {
                _mm512_mask_sub_epi8(bytes[j].0, carry, bytes[j].0, _mm512_set1_epi8(-1))
            });
            if digits[j] != 0xff {
                carry = 0;
            }
        }
        true
    }
}

/// The number of the block that a lane has, for blocks of 16 bytes, four to a register, and of 8.
static FOURS: Order = transposed(16, 4, false);
static EIGHTS: Order = transposed(8, 8, false);

/// Byte `j` of the block `i` in register `r` becomes byte `r` of the block `i` in register `j`; its own
/// inverse. The lowest binary digits of both numbers are exchanged by shifts, which need another port
/// than shuffles, the others together.
#[inline(always)]
fn transpose_bytes(rows: &mut [B512]) {
    in_pairs::<0, 1>(rows);
    if rows.len() == 16 {
        // Digits of the number of a 16-bit part, the highest first, and three of a register's:
        // abc, xyz   bcx, ayz   cxy, abz   xyz, abc
        in_pairs::<3, 8>(rows);
        in_pairs::<3, 4>(rows);
        in_pairs::<3, 2>(rows);
    } else {
        in_pairs::<1, 2>(rows);
        in_pairs::<2, 4>(rows);
    }
}

/// Does step `STEP` of [`transpose_bytes`] to every two registers that are so far apart.
#[inline(always)]
fn in_pairs<const STEP: usize, const DISTANCE: usize>(rows: &mut [B512]) {
    for pair in rows.chunks_exact_mut(2 * DISTANCE) {
        let (low, high) = pair.split_at_mut(DISTANCE);
        for (a, b) in low.iter_mut().zip(high) {
            (*a, *b) = match STEP {
                0 => exchange_bytes(*a, *b),
                1 => exchange_parts16(*a, *b),
                2 => exchange_parts32(*a, *b),
                _ => interleave_parts16(*a, *b),
            };
        }
    }
}

/// The odd bytes of the first and the even ones of the second change places: by choices, which the
/// compiler makes no shuffle of.
#[inline(always)]
fn exchange_bytes(a: B512, b: B512) -> (B512, B512) {
    registers! {{
        let even = B512(_mm512_set1_epi16(0x00ff));
        let (up, down) = (_mm512_slli_epi16::<8>(b.0), _mm512_srli_epi16::<8>(a.0));
        (B512::choose(even, a, B512(up)), B512::choose(even, B512(down), b))
    }}
}

#[inline(always)]
fn exchange_parts16(a: B512, b: B512) -> (B512, B512) {
    registers! {{
        let even = B512(_mm512_set1_epi32(0x0000_ffff));
        let (up, down) = (_mm512_slli_epi32::<16>(b.0), _mm512_srli_epi32::<16>(a.0));
        (B512::choose(even, a, B512(up)), B512::choose(even, B512(down), b))
    }}
}

#[inline(always)]
fn exchange_parts32(a: B512, b: B512) -> (B512, B512) {
    registers! {(
        B512(_mm512_mask_shuffle_epi32::<0xa0>(a.0, 0xaaaa, b.0)),
        B512(_mm512_mask_shuffle_epi32::<0xf5>(b.0, 0x5555, a.0)),
    )}
}

/// The parts of 16 bits of two registers by turns: those of the first halves of 128 bits, and those
/// of the second.
#[inline(always)]
fn interleave_parts16(a: B512, b: B512) -> (B512, B512) {
    registers!((B512(_mm512_unpacklo_epi16(a.0, b.0)), B512(_mm512_unpackhi_epi16(a.0, b.0))))
}

/// Bytes `8 * part ..` of 64 blocks of `block` bytes as squares of bits. With `i k` the three-bit
/// digits of a block's number, `j` those of a byte's and `b` of a bit's:
///
/// ```text
/// i | k j b                          eight blocks of 8 bytes a register
/// i | j k b     bytes transposed
/// j | i k b     registers transposed, 64 bits each
/// j | i b k     bits transposed
/// j | b i k     bytes transposed: eight planes of 64 blocks each a register
/// ```
#[inline(always)]
pub(super) fn to_squares(blocks: &[u8], block: usize, first: usize, part: usize) -> [B512; 8] {
    let mut rows = [B512(registers!(_mm512_set1_epi32(0))); 8];
    for (i, row) in rows.iter_mut().enumerate() {
        let eight = eight_blocks(blocks, block, first + 8 * i, 8 * part);
        *row = permute(eight, &SQUARE_REVERSED);
    }
    transpose_parts64(&mut rows);
    for row in &mut rows {
        *row = permute(transpose_bits(*row), &SQUARE);
    }
    rows
}

/// The inverse of [`to_squares`].
#[inline(always)]
pub(super) fn from_squares(
    mut rows: [B512; 8],
    blocks: &mut [u8],
    block: usize,
    first: usize,
    part: usize,
) {
    for row in &mut rows {
        *row = transpose_bits(permute(*row, &SQUARE_REVERSED));
    }
    transpose_parts64(&mut rows);
    for (i, row) in rows.iter().enumerate() {
        put_eight_blocks(permute(*row, &SQUARE), blocks, block, first + 8 * i, 8 * part);
    }
}

impl BitLanes for Avx512 {
    type Word = B512;
    type Lanes = U512;

    #[inline(always)]
    fn suited(self, blocks: usize, work: impl OnBitLanes) {
        match blocks {
            ..=128 => work.run(Avx512Xmm::from(self)),
            129..=256 => work.run(Avx512Ymm::from(self)),
            _ => work.run(self),
        }
    }

    #[inline(always)]
    fn splat(self, mask: u32) -> B512 {
        SplatBytes::splat(self, mask)
    }

    #[inline(always)]
    fn lane_bit(self, bit: usize) -> B512 {
        load(&LANE_BITS[bit])
    }

    /// With `h` the highest digit of a block's number and the others as in `to_squares`:
    ///
    /// ```text
    /// h j | b i k     of every 64 blocks by themselves
    /// j h | b i k     where they are put
    /// j b | h i k     registers transposed, 64 bits each: a plane of 512 blocks each
    /// ```
    #[inline(always)]
    fn slice(self, blocks: &[u8], planes: &mut [B512]) {
        let block = bits::check(blocks.len(), planes.len(), 512);
        for (part, planes) in planes.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            for h in 0..8 {
                for (j, row) in to_squares(blocks, block, 64 * h, part).iter().enumerate() {
                    planes[8 * j + h] = *row;
                }
            }
            for rows in planes.as_chunks_mut().0 {
                transpose_parts64(rows);
            }
        }
    }

    #[inline(always)]
    fn unslice(self, planes: &mut [B512], blocks: &mut [u8]) {
        let block = bits::check(blocks.len(), planes.len(), 512);
        for (part, planes) in planes.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            for rows in planes.as_chunks_mut().0 {
                transpose_parts64(rows);
            }
            for h in 0..8 {
                let mut rows = [planes[h]; 8];
                for (j, row) in rows.iter_mut().enumerate() {
                    *row = planes[8 * j + h];
                }
                from_squares(rows, blocks, block, 64 * h, part);
            }
        }
    }
}

/// Eight bytes, from `start` on, of eight blocks of 8 or 16 bytes.
#[inline(always)]
fn eight_blocks(blocks: &[u8], block: usize, first: usize, start: usize) -> B512 {
    if block == 8 {
        let mut eight = [0; 64];
        eight.copy_from_slice(&blocks[8 * first..][..64]);
        return load(&eight);
    }
    let mut eight = [0; 64];
    for (i, part) in eight.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        part.copy_from_slice(&blocks[block * (first + i) + start..][..8]);
    }
    load(&eight)
}

/// The inverse of [`eight_blocks`].
#[inline(always)]
fn put_eight_blocks(eight: B512, blocks: &mut [u8], block: usize, first: usize, start: usize) {
    let mut bytes = [0; 64];
    store(eight, &mut bytes);
    if block == 8 {
        blocks[8 * first..][..64].copy_from_slice(&bytes);
        return;
    }
    for (i, part) in bytes.as_chunks::<8>().0.iter().enumerate() {
        blocks[block * (first + i) + start..][..8].copy_from_slice(part);
    }
}
