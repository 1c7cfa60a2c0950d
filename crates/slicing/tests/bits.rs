//! Bit lanes of every instruction set against their definitions: transposes, operators, look-ups.

#[macro_use]
mod every_isa;

use cipher::typenum::Unsigned;
use every_isa::{STEP, few_cases, noise};
use lanecrypt_slicing::{BitLanes, Body, OnBitLanes, Portable, Word};
use proptest::{array::uniform3, prelude::*};

/// Blocks to planes, `work` on them, and back.
fn through<I: BitLanes>(
    isa: I,
    block: usize,
    blocks: &[u8],
    work: impl FnOnce(&mut [I::Word]),
) -> Vec<u8> {
    let mut planes = vec![isa.splat(0x5a5a_5a5a); 8 * block];
    isa.slice(blocks, &mut planes);
    work(&mut planes);
    let mut output = vec![0xee; blocks.len()];
    isa.unslice(&mut planes, &mut output);
    output
}

/// Blocks of 8 or 16 bytes as integers.
fn integers(blocks: &[u8], block: usize) -> Vec<u128> {
    let integer =
        |block: &[u8]| block.iter().rev().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
    blocks.chunks_exact(block).map(integer).collect()
}

/// Planes that change places are bits that do, in every block by itself. So every bit is in the lane
/// of its block, and none is lost.
struct PlanesAreBits {
    block: usize,
}

impl<I: BitLanes> Body<I> for PlanesAreBits {
    type Output = ();

    fn run(self, isa: I) {
        let blocks = noise(I::Lanes::USIZE * self.block, 1);
        let bits = 8 * self.block;
        for by in (0..bits).step_by(STEP) {
            let moved = through(isa, self.block, &blocks, |planes| planes.rotate_left(by));
            let rotated = |x: u128| match self.block {
                8 => u128::from((x as u64).rotate_right(by as u32)),
                _ => x.rotate_right(by as u32),
            };
            let expected: Vec<_> = integers(&blocks, self.block).into_iter().map(rotated).collect();
            assert_eq!(integers(&moved, self.block), expected, "{isa:?}, planes moved by {by}");
        }
    }
}

/// The order of planes is that of bits: the same bit in every lane is that bit in every block.
struct PlanesAreInOrder {
    block: usize,
}

impl<I: BitLanes> Body<I> for PlanesAreInOrder {
    type Output = ();

    fn run(self, isa: I) {
        let one = noise(self.block, 2);
        let bit = |at: usize| u32::from(one[at / 8] >> (at % 8) & 1).wrapping_neg();
        let mut planes: Vec<_> = (0..8 * self.block).map(|at| isa.splat(bit(at))).collect();
        let mut blocks = vec![0; I::Lanes::USIZE * self.block];
        isa.unslice(&mut planes, &mut blocks);
        assert_eq!(blocks, one.repeat(I::Lanes::USIZE), "{isa:?}");
    }
}

#[test]
fn transposes_are_as_defined() {
    for block in [8, 16] {
        on_bit_lanes!(PlanesAreBits { block });
        on_bit_lanes!(PlanesAreInOrder { block });
    }
}

/// Lanes of machine words, which can be looked at from outside.
#[test]
fn a_lane_is_a_block() {
    for at in (0..64 * 8).step_by(STEP) {
        let mut blocks = [0; 64 * 8];
        blocks[at] = 0b100;
        let expected = |position| u64::from(position == at % 8 * 8 + 2) << (at / 8);
        let mut planes = [!0_u64; 64];
        BitLanes::slice(Portable::<u64>::new(), &blocks, &mut planes);
        for (position, plane) in planes.into_iter().enumerate() {
            assert_eq!(plane, expected(position), "byte {at}, plane {position}");
        }
        let Some(blocks) = blocks.first_chunk::<{ 32 * 8 }>().filter(|_| at < 32 * 8) else {
            continue;
        };
        let mut planes = [!0_u32; 64];
        BitLanes::slice(Portable::<u32>::new(), blocks, &mut planes);
        for (position, plane) in planes.into_iter().enumerate() {
            assert_eq!(u64::from(plane), expected(position), "byte {at}, plane {position}");
        }
    }
}

/// Operators on planes are operators on blocks.
struct Operators<'a>(&'a [Vec<u8>; 3]);

impl<I: BitLanes> Body<I> for Operators<'_> {
    type Output = ();

    fn run(self, isa: I) {
        let data = self.0.each_ref().map(|data| &data[..I::Lanes::USIZE * 8]);
        let [a, b, c] = data.map(|blocks| {
            let mut planes = vec![isa.splat(0); 64];
            isa.slice(blocks, &mut planes);
            planes
        });
        let check = |ours: fn(I::Word, I::Word, I::Word) -> I::Word,
                     plain: fn(u8, u8, u8) -> u8| {
            let mut planes: Vec<_> =
                a.iter().zip(&b).zip(&c).map(|((a, b), c)| ours(*a, *b, *c)).collect();
            let mut output = vec![0; data[0].len()];
            isa.unslice(&mut planes, &mut output);
            let bytes = data[0].iter().zip(data[1]).zip(data[2]);
            let expected: Vec<u8> = bytes.map(|((a, b), c)| plain(*a, *b, *c)).collect();
            assert_eq!(output, expected, "{isa:?}");
        };
        check(|a, b, _| a ^ b, |a, b, _| a ^ b);
        check(|a, b, _| a & b, |a, b, _| a & b);
        check(|a, b, _| a | b, |a, b, _| a | b);
        check(|a, _, _| !a, |a, _, _| !a);
        check(I::Word::xor3, |a, b, c| a ^ b ^ c);
        check(assigned, |a, b, c| ((a ^ b) & c) | a);
    }
}

/// The operators that assign.
fn assigned<W: Word>(a: W, b: W, c: W) -> W {
    let mut result = a;
    result ^= b;
    result &= c;
    result |= a;
    result
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn operators_are_those_of_bytes(seeds in uniform3(any::<u64>())) {
        let data = seeds.map(|seed| noise(512 * 8, seed));
        on_bit_lanes!(Operators(&data));
    }
}

/// Every function of three bits on every input, block `i` having the input `i % 8`.
struct LookUps;

impl<I: BitLanes> Body<I> for LookUps {
    type Output = ();

    fn run(self, isa: I) {
        let mut inputs = vec![0; I::Lanes::USIZE * 8];
        for (i, block) in inputs.chunks_exact_mut(8).enumerate() {
            block[0] = i as u8 % 8;
        }
        let mut planes = vec![isa.splat(0); 64];
        isa.slice(&inputs, &mut planes);
        for (part, tables) in every_table(planes[2], planes[1], planes[0]).chunks(64).enumerate() {
            let mut output = vec![0; inputs.len()];
            isa.unslice(&mut tables.to_vec(), &mut output);
            for (i, block) in integers(&output, 8).into_iter().enumerate() {
                for bit in 0..64 {
                    let table = 64 * part + bit;
                    let expected = (table >> (i % 8) & 1) as u128;
                    assert_eq!(
                        block >> bit & 1,
                        expected,
                        "{isa:?}, table {table:#04x}, block {i}"
                    );
                }
            }
        }
    }
}

fn every_table<W: Word>(a: W, b: W, c: W) -> Vec<W> {
    macro_rules! tables {
        ($($high:literal)*) => {
            [$( tables!(row $high; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) ),*].concat()
        };
        (row $high:literal; $($low:literal)*) => {
            [$( W::lut3::<{ 16 * $high + $low }>(a, b, c) ),*]
        };
    }
    tables!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
}

#[test]
fn look_ups_are_their_tables() {
    on_bit_lanes!(LookUps);
}

/// Planes of counters are those of counter blocks, whichever bit the carry stops at and wherever in
/// the lanes it starts.
struct Counters {
    block: usize,
}

impl<I: BitLanes> Body<I> for Counters {
    type Output = ();

    fn run(self, isa: I) {
        let (lanes, bits) = (I::Lanes::USIZE, 8 * self.block);
        let noise = u128::from_le_bytes(*noise(16, 3).first_chunk().expect("16 bytes"));
        for bit in (0..=bits).step_by(STEP) {
            let power = 1_u128.checked_shl(bit as u32).unwrap_or(0);
            for before in [0, 1, lanes / 2 + 1, lanes - 1, lanes] {
                // Ones below the bit that the carry stops at, noise above it.
                let above = noise & !power.wrapping_sub(1) & !power;
                self.check(isa, above.wrapping_add(power.wrapping_sub(before as u128)));
            }
        }
    }
}

impl Counters {
    fn check<I: BitLanes>(&self, isa: I, first: u128) {
        let mut planes = vec![isa.splat(0x5a5a_5a5a); 8 * self.block];
        isa.count(first, &mut planes);
        let mut blocks = vec![0; I::Lanes::USIZE * self.block];
        isa.unslice(&mut planes, &mut blocks);
        for (lane, block) in blocks.chunks_exact(self.block).enumerate() {
            let expected = first.wrapping_add(lane as u128).to_be_bytes();
            let expected = &expected[16 - self.block..];
            assert_eq!(block, expected, "{isa:?}: lane {lane} from {first:#x} on");
        }
    }
}

#[test]
fn counters_are_those_of_blocks() {
    for block in [8, 16] {
        on_bit_lanes!(Counters { block });
    }
}

/// Work that was given lanes suited to a number of blocks.
struct Suited;

/// How many lanes there are.
struct Lanes<'a>(&'a mut usize);

impl OnBitLanes for Lanes<'_> {
    fn run<I: BitLanes>(self, isa: I) {
        *self.0 = I::Lanes::USIZE;
        PlanesAreInOrder { block: 8 }.run(isa);
    }
}

impl<I: BitLanes> Body<I> for Suited {
    type Output = ();

    fn run(self, isa: I) {
        for blocks in (0..=I::Lanes::USIZE).rev().step_by(STEP) {
            let mut lanes = 0;
            isa.suited(blocks, Lanes(&mut lanes));
            assert!(blocks <= lanes && lanes <= I::Lanes::USIZE, "{isa:?}: {blocks} in {lanes}");
            let narrow = format!("{isa:?}") == "Avx512(())" && blocks <= 256;
            let expected =
                if narrow { blocks.next_power_of_two().max(128) } else { I::Lanes::USIZE };
            assert_eq!(lanes, expected, "{isa:?}: {blocks} blocks");
        }
    }
}

#[test]
fn lanes_suit_the_number_of_blocks() {
    on_bit_lanes!(Suited);
}

/// What `slice` and `unslice` must refuse: bytes of blocks, and planes, for a number of lanes.
struct Refused;

impl<I: BitLanes> Body<I> for Refused {
    type Output = ();

    fn run(self, isa: I) {
        let lanes = I::Lanes::USIZE;
        let shapes =
            [(lanes * 8 - 1, 64), (lanes * 8, 128), (lanes * 16, 64), (lanes * 9, 72), (lanes, 8)];
        for (bytes, planes) in shapes {
            let what = format!("{isa:?}: {bytes} bytes and {planes} planes");
            refused(&what, || isa.slice(&vec![0; bytes], &mut vec![isa.splat(0); planes]));
            refused(&what, || isa.unslice(&mut vec![isa.splat(0); planes], &mut vec![0; bytes]));
        }
    }
}

fn refused(what: &str, work: impl FnOnce()) {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    assert!(result.is_err(), "{what} are not refused");
}

#[test]
fn other_shapes_are_refused() {
    on_bit_lanes!(Refused);
}

/// What is detected here is what the standard library detects.
#[test]
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn instruction_sets_are_detected() {
    use lanecrypt_slicing::{AesNi, Avx2, Avx2Aes, Avx2Gfni, Avx2Vaes, Avx512, Isa, Sse2};
    let avx2 = is_x86_feature_detected!("avx2");
    let aes = avx2 && is_x86_feature_detected!("aes");
    let vaes = aes && is_x86_feature_detected!("vaes");
    let gfni = vaes && is_x86_feature_detected!("gfni");
    let avx512 = gfni
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2");
    assert!(Sse2::detect().is_ok());
    let shuffles = is_x86_feature_detected!("ssse3") && is_x86_feature_detected!("pclmulqdq");
    assert_eq!(AesNi::detect().is_ok(), shuffles && is_x86_feature_detected!("aes"));
    assert_eq!(Avx2::detect().is_ok(), avx2);
    assert_eq!(Avx2Aes::detect().is_ok(), aes);
    assert_eq!(Avx2Vaes::detect().is_ok(), vaes);
    assert_eq!(Avx2Gfni::detect().is_ok(), gfni);
    assert_eq!(Avx512::detect().is_ok(), avx512);
    assert!(Avx512::detect().err().is_none_or(|missing| missing.is_of_the_cpu()));
}

#[test]
#[cfg(target_arch = "aarch64")]
fn instruction_sets_are_detected() {
    use lanecrypt_slicing::{Neon, NeonAes};
    assert!(Neon::detect().is_ok());
    assert_eq!(NeonAes::detect().is_ok(), std::arch::is_aarch64_feature_detected!("aes"));
}
