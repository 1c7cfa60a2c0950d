//! Byte lanes of every instruction set against bytes one by one, and the maps of S-boxes against
//! their definitions.

#[macro_use]
mod every_isa;

use std::marker::PhantomData;

use cipher::typenum::Unsigned;
use every_isa::{STEP, few_cases, noise};
use lanecrypt_core::Counter;
use lanecrypt_reference::gf256;
use lanecrypt_slicing::{
    BitLanes, BitState, Body, ByteLanes, ByteState, Bytes, FieldBytes, Gapped, InPlanes, Isa,
    Portable, SplatBytes, State, matrix, spread,
};
use proptest::prelude::*;

/// Bytes of a block in the tests that have no reason for another.
const BLOCK: usize = 16;

/// Blocks as rows of byte lanes: as an instruction set has them, or in its bit planes.
trait Rows<I: Isa> {
    type Row: Bytes;
    const LANES: usize;

    fn splat(isa: I, byte: u8) -> Self::Row;
    fn slice(isa: I, blocks: &[u8]) -> Vec<Self::Row>;
    fn unslice(isa: I, rows: Vec<Self::Row>) -> Vec<u8>;
}

struct AsBytes;
struct AsPlanes;

impl<I: ByteLanes> Rows<I> for AsBytes {
    type Row = I::Bytes;
    const LANES: usize = I::Lanes::USIZE;

    fn splat(isa: I, byte: u8) -> Self::Row {
        isa.splat(spread(byte))
    }

    fn slice(isa: I, blocks: &[u8]) -> Vec<Self::Row> {
        let mut rows = vec![isa.splat(0); blocks.len() / I::Lanes::USIZE];
        isa.slice(blocks, &mut rows);
        rows
    }

    fn unslice(isa: I, mut rows: Vec<Self::Row>) -> Vec<u8> {
        let mut blocks = vec![0xee; I::Lanes::USIZE * rows.len()];
        isa.unslice(&mut rows, &mut blocks);
        blocks
    }
}

impl<I: BitLanes> Rows<I> for AsPlanes {
    type Row = [I::Word; 8];
    const LANES: usize = I::Lanes::USIZE;

    fn splat(isa: I, byte: u8) -> Self::Row {
        InPlanes(isa).splat(spread(byte))
    }

    fn slice(isa: I, blocks: &[u8]) -> Vec<Self::Row> {
        let mut rows = vec![[isa.splat(0); 8]; blocks.len() / I::Lanes::USIZE];
        isa.slice(blocks, rows.as_flattened_mut());
        rows
    }

    fn unslice(isa: I, mut rows: Vec<Self::Row>) -> Vec<u8> {
        let mut blocks = vec![0xee; I::Lanes::USIZE * rows.len()];
        isa.unslice(rows.as_flattened_mut(), &mut blocks);
        blocks
    }
}

/// Every operation over lanes is that over single bytes.
struct Operations<'a, R> {
    left: &'a [u8],
    right: &'a [u8],
    rows: PhantomData<R>,
}

impl<'a, R> Operations<'a, R> {
    fn on(left: &'a [u8], right: &'a [u8]) -> Self {
        Self { left, right, rows: PhantomData }
    }
}

impl<I: Isa, R: Rows<I>> Body<I> for Operations<'_, R> {
    type Output = ();

    fn run(self, isa: I) {
        // As many bytes as there are, from the start again where a batch has more.
        let batch = R::LANES * BLOCK;
        for start in (0..self.left.len()).step_by(batch) {
            let part = |data: &[u8]| -> Vec<u8> {
                data.iter().copied().cycle().skip(start).take(batch).collect()
            };
            all_agree::<I, R>(isa, &part(self.left), &part(self.right));
        }
    }
}

fn all_agree<I: Isa, R: Rows<I>>(isa: I, left: &[u8], right: &[u8]) {
    let agree = |name: &str, ours: fn(R::Row, R::Row) -> R::Row, plain: fn(u8, u8) -> u8| {
        let pairs = R::slice(isa, left).into_iter().zip(R::slice(isa, right));
        let ours = R::unslice(isa, pairs.map(|(a, b)| ours(a, b)).collect());
        let plain: Vec<u8> = left.iter().zip(right).map(|(&a, &b)| plain(a, b)).collect();
        assert_eq!(ours, plain, "{isa:?}: {name}");
    };
    agree("sum", Bytes::add, u8::wrapping_add);
    agree("difference", Bytes::subtract, u8::wrapping_sub);
    agree("XOR", Bytes::xor, |a, b| a ^ b);
    // Operations on results, so that what they leave between the lanes is seen.
    agree(
        "mixture",
        |a, b| a.subtract(b).add(a.add(b)).rotate_left::<3>().subtract(b.rotate_left::<7>()),
        |a, b| a.wrapping_add(a).rotate_left(3).wrapping_sub(b.rotate_left(7)),
    );
    macro_rules! rotations {
        ($($by:literal)*) => {$(
            agree("rotation", |a, _| a.rotate_left::<$by>(), |a, _| a.rotate_left($by));
        )*};
        (xor $($a:literal $b:literal $c:literal),*) => {$(
            agree(
                "XOR of rotations",
                |x, _| x.xor_rotations::<$a, $b, $c>(),
                |x, _| x.rotate_left($a) ^ x.rotate_left($b) ^ x.rotate_left($c),
            );
        )*};
    }
    rotations!(0 1 2 3 4 5 6 7);
    rotations!(xor 1 2 7, 3 4 6, 0 1 2, 0 3 5, 6 7 0, 5 2 5);
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn every_operation_is_that_of_u8(left: u64, right: u64) {
        let (left, right) = (noise(64 * BLOCK, left), noise(64 * BLOCK, right));
        on_byte_lanes!(Operations::<AsBytes>::on(&left, &right));
        on_bit_lanes!(Operations::<AsPlanes>::on(&left, &right));
    }
}

#[test]
#[cfg_attr(miri, ignore = "the property above has the same operations, and fewer pairs")]
fn every_operation_is_right_for_every_pair_of_bytes() {
    let pairs = || (0..=u16::MAX).map(u16::to_be_bytes);
    let left: Vec<u8> = pairs().map(|[left, _]| left).collect();
    let right: Vec<u8> = pairs().map(|[_, right]| right).collect();
    on_byte_lanes!(Operations::<AsBytes>::on(&left, &right));
    on_bit_lanes!(Operations::<AsPlanes>::on(&left, &right));
}

/// Rows that change places are bytes that do, in every block by itself; and the same byte in every
/// lane is that byte in every block.
struct RowsAreBytes<R> {
    block: usize,
    rows: PhantomData<R>,
}

impl<I: Isa, R: Rows<I>> Body<I> for RowsAreBytes<R> {
    type Output = ();

    fn run(self, isa: I) {
        let blocks = noise(R::LANES * self.block, 3);
        for by in 0..self.block {
            let mut rows = R::slice(isa, &blocks);
            rows.rotate_left(by);
            let mut expected = blocks.clone();
            expected.chunks_exact_mut(self.block).for_each(|block| block.rotate_left(by));
            assert_eq!(R::unslice(isa, rows), expected, "{isa:?}, rows moved by {by}");
        }
        let rows = blocks[..self.block].iter().map(|byte| R::splat(isa, *byte)).collect();
        let expected = blocks[..self.block].repeat(R::LANES);
        assert_eq!(R::unslice(isa, rows), expected, "{isa:?}");
    }
}

#[test]
fn transposes_are_as_defined() {
    for block in [8, 16] {
        on_byte_lanes!(RowsAreBytes::<AsBytes> { block, rows: PhantomData });
        on_bit_lanes!(RowsAreBytes::<AsPlanes> { block, rows: PhantomData });
    }
}

/// A byte that is set alone arrives in its lane alone: `slice` without `unslice`.
fn a_byte_is_in_its_lane<I, R>(isa: I, lane: impl Fn(usize, u8) -> R::Row)
where
    I: Isa,
    R: Rows<I, Row: PartialEq>,
{
    for at in (0..R::LANES * BLOCK).step_by(STEP) {
        let mut blocks = vec![0; R::LANES * BLOCK];
        blocks[at] = 0xa7;
        for (j, row) in R::slice(isa, &blocks).into_iter().enumerate() {
            let expected = if j == at % BLOCK { 0xa7 } else { 0 };
            assert_eq!(row, lane(at / BLOCK, expected), "byte {at} in row {j}");
        }
    }
}

#[test]
fn machine_words_are_as_drawn() {
    let (u32, u64) = (Portable::<u32>::new(), Portable::<u64>::new());
    a_byte_is_in_its_lane::<_, AsBytes>(Portable::<u8>::new(), |_, byte| byte);
    a_byte_is_in_its_lane::<_, AsBytes>(u32, |lane, byte| u32::from(byte) << (8 * lane));
    a_byte_is_in_its_lane::<_, AsBytes>(u64, |lane, byte| u64::from(byte) << (8 * lane));
    let gapped = Portable::<Gapped<u32>>::new();
    a_byte_is_in_its_lane::<_, AsBytes>(gapped, |lane, byte| {
        Gapped(u32::from(byte) << (12 * lane))
    });
    let gapped = Portable::<Gapped<u64>>::new();
    a_byte_is_in_its_lane::<_, AsBytes>(gapped, |lane, byte| Gapped(u64::from(byte) << (9 * lane)));
    a_byte_is_in_its_lane::<_, AsPlanes>(u32, |lane, byte| {
        std::array::from_fn(|bit| u32::from(byte >> bit & 1) << lane)
    });
    a_byte_is_in_its_lane::<_, AsPlanes>(u64, |lane, byte| {
        std::array::from_fn(|bit| u64::from(byte >> bit & 1) << lane)
    });
}

/// Affine maps of every byte, and of its inverse.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "no other CPU has instructions for them")
)]
struct Maps;

impl<I: ByteLanes<Bytes: FieldBytes>> Body<I> for Maps {
    type Output = ();

    fn run(self, isa: I) {
        let bytes: Vec<u8> = (0..=255).cycle().take(I::Lanes::USIZE * BLOCK).collect();
        assert!(bytes.len() >= 256, "every byte is there");
        let agree = |ours: fn(I::Bytes) -> I::Bytes, plain: &dyn Fn(u8) -> u8| {
            let rows = AsBytes::slice(isa, &bytes).into_iter().map(ours).collect();
            let expected: Vec<u8> = bytes.iter().map(|byte| plain(*byte)).collect();
            assert_eq!(<AsBytes as Rows<I>>::unslice(isa, rows), expected, "{isa:?}");
        };
        macro_rules! maps {
            ($($matrix:expr, $constant:literal;)*) => {$(
                let map = |byte| matrix::apply($matrix, byte) ^ $constant;
                agree(|row| row.affine::<{ $matrix }, $constant>(), &map);
                agree(|row| row.inverse_affine::<{ $matrix }, $constant>(), &|byte| {
                    map(gf256::inverse(byte, gf256::AES_MODULUS))
                });
                agree(|row| row.affine_inverse::<{ $matrix }, $constant>(), &|byte| {
                    gf256::inverse(map(byte), gf256::AES_MODULUS)
                });
            )*};
        }
        maps!(
            matrix::IDENTITY, 0;
            matrix::IDENTITY, 0xff;
            0xf1e3_c78f_1f3e_7cf8, 0x63; // the S-box of AES
            0xa449_9225_4a94_2952, 0x05; // its inverse
            matrix::rotation(3), 0x80;
            matrix::SHIFT_UP, 0x01; // no inverse
            matrix::TOP_BIT, 0x5a;
            0, 0xc3;
            0x0123_4567_89ab_cdef, 0x17;
        );
        agree(|row| row.add_top_bit(row), &|byte| byte.wrapping_add(byte >> 7));
    }
}

#[test]
fn maps_are_those_of_the_field() {
    on_field_bytes!(Maps);
}

/// The counter `value` as a block.
fn counter(value: u128, block: usize) -> Counter {
    Counter::from_block(&value.to_be_bytes()[16 - block..]).expect("8 or 16 bytes")
}

/// Counters whose last byte wraps after a number of blocks, with the bytes before it full up to any.
fn before_carries(block: usize, last: &[u8]) -> Vec<Counter> {
    let full = |bytes: usize| (0..bytes).fold(0_u128, |sum, _| sum << 8 | 0xff) << 8;
    let high = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
    let values = (0..block).flat_map(|bytes| {
        let full = full(bytes);
        last.iter().map(move |last| (high & !0xff) | full | u128::from(*last))
    });
    values.map(|value| counter(value, block)).collect()
}

fn counts<I: Isa, S: State<I>>(isa: I, block: usize, first: Counter) {
    let mut expected = vec![0; S::Lanes::USIZE * block];
    first.fill(&mut expected);
    let mut scratch = vec![0x77; expected.len()];
    let mut state = S::new(isa);
    state.count(isa, first, &mut scratch);
    let mut blocks = vec![0xee; expected.len()];
    state.store(isa, &mut blocks);
    assert_eq!(blocks, expected, "{isa:?} from {first:?}");
}

/// Counter blocks made in lanes are those of [`Counter`], at every carry.
struct Counters;

impl<I: BitLanes + ByteLanes> Body<I> for Counters {
    type Output = ();

    fn run(self, isa: I) {
        let every: Vec<u8> = (0..=255).rev().step_by(STEP).collect();
        let some = [0, 1, 0x7f, 0xff];
        for first in before_carries(8, &every) {
            counts::<I, ByteState<I::Bytes, 8>>(isa, 8, first);
        }
        for first in before_carries(16, &every) {
            counts::<I, ByteState<I::Bytes, 16>>(isa, 16, first);
        }
        for first in before_carries(8, &some) {
            counts::<I, BitState<I::Word, 64>>(isa, 8, first);
        }
        for first in before_carries(16, &some) {
            counts::<I, BitState<I::Word, 128>>(isa, 16, first);
        }
    }
}

#[test]
fn counters_carry() {
    on_bit_and_byte_lanes!(Counters);
}

/// What `slice` and `unslice` must refuse.
struct Refused;

impl<I: ByteLanes> Body<I> for Refused {
    type Output = ();

    fn run(self, isa: I) {
        let lanes = I::Lanes::USIZE;
        for (bytes, rows) in
            [(lanes * 8 - 1, 8), (lanes * 8, 16), (lanes * 16, 8), (lanes * 9, 9), (0, 0)]
        {
            let what = format!("{isa:?}: {bytes} bytes and {rows} rows");
            refused(&what, || isa.slice(&vec![0; bytes], &mut vec![isa.splat(0); rows]));
            refused(&what, || isa.unslice(&mut vec![isa.splat(0); rows], &mut vec![0; bytes]));
        }
    }
}

fn refused(what: &str, work: impl FnOnce()) {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    assert!(result.is_err(), "{what} are not refused");
}

#[test]
fn other_shapes_are_refused() {
    on_byte_lanes!(Refused);
}
