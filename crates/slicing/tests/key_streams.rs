//! Whole blocks in lanes, key streams and counters against their definitions, on every instruction
//! set that this CPU has.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::inline_always, reason = "bodies are to be compiled with the instruction set")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use cipher::{
    Array, InOutBuf,
    array::ArraySize,
    consts::{U8, U16},
    typenum::Unsigned,
};
use lanecrypt_slicing::{
    AesNi, Avx2Aes, Avx2Gfni, Avx2Vaes, Avx512, BlockBytes, BlockLanes, Body, ByteLanes, Isa, NONE,
    SplatBytes,
};
use proptest::{collection::vec, prelude::*};

/// The most blocks of a register, and of a row.
const MOST: usize = 4;
const ROW: usize = 64;

const ORDER: [u8; 16] = [3, NONE, 15, 0, 0, 9, 8, 7, NONE, 1, 2, 4, 5, 6, 10, 14];
const LOW: u64 = 0x8001_ff00_5aa5_3c0f;
const HIGH: u64 = 0x0102_0408_f0e1_d2b4;

/// Every operation on blocks, against its definition.
struct Operations<'a> {
    left: &'a [u8],
    right: &'a [u8],
}

impl<I: BlockLanes> Body<I> for Operations<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let length = self.left.len().min(16 * I::BLOCKS);
        let (left, right) = (&self.left[..length], &self.right[..length]);
        let (a, b) = (isa.load(left), isa.load(right));
        let blocks = |register| {
            let mut bytes = vec![0; length];
            isa.store(register, &mut bytes);
            bytes
        };
        assert_eq!(blocks(a), left, "{isa:?} load and store");
        let sums = words(left).zip(words(right)).flat_map(|(a, b)| a.wrapping_add(b).to_le_bytes());
        assert_eq!(blocks(a.add32(b)), sums.collect::<Vec<_>>(), "{isa:?} add32");
        let shuffled = left.chunks(16).flat_map(|block| {
            ORDER.map(|from| if from == NONE { 0 } else { block[usize::from(from)] })
        });
        let ours = blocks(a.shuffled::<{ u128::from_le_bytes(ORDER) }>());
        assert_eq!(ours, shuffled.collect::<Vec<_>>(), "{isa:?} shuffled");
        let mixed = left.chunks(16).flat_map(|block| {
            let (low, high) = block.split_at(8);
            [mix(low, LOW), mix(high, HIGH)].concat()
        });
        assert_eq!(blocks(a.mixed::<LOW, HIGH>()), mixed.collect::<Vec<_>>(), "{isa:?} mixed");
        if let [block, ..] = left.as_chunks::<16>().0 {
            let everywhere = blocks(isa.broadcast(block));
            assert!(everywhere.chunks(16).all(|lane| lane == block), "{isa:?} broadcast");
        }
        let mut all = vec![0xff; 16 * I::BLOCKS];
        isa.store(a, &mut all);
        assert!(all[length..].iter().all(|byte| *byte == 0), "{isa:?} lanes beyond are zero");
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
}

fn mix(bytes: &[u8], rows: u64) -> Vec<u8> {
    let sum = |row: u8| (0..8).filter(|j| row >> j & 1 == 1).fold(0, |sum, j| sum ^ bytes[j]);
    rows.to_le_bytes().map(sum).to_vec()
}

/// Rows of counters, XORed to blocks of `size` bytes.
struct CountAndAdd<'a> {
    first: u128,
    data: &'a [u8],
    size: usize,
}

impl<I: ByteLanes> Body<I> for CountAndAdd<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let data = &self.data[..I::Lanes::USIZE * self.size];
        let mut bytes = vec![SplatBytes::splat(isa, 0); self.size];
        assert!(isa.count(self.first, &mut bytes), "{isa:?} counts");
        let counters =
            (0..).flat_map(|i| self.first.wrapping_add(i).to_be_bytes()[16 - self.size..].to_vec());
        let expected: Vec<u8> = data.iter().zip(counters).map(|(a, b)| a ^ b).collect();
        let mut sums = data.to_vec();
        let added = if self.size == 16 {
            isa.add_unsliced(&mut bytes, &mut blocks::<U16>(&mut sums))
        } else {
            isa.add_unsliced(&mut bytes, &mut blocks::<U8>(&mut sums))
        };
        assert!(added, "{isa:?} adds");
        assert_eq!(sums, expected, "{isa:?} from {:#x}", self.first);
    }
}

fn blocks<N: ArraySize>(bytes: &mut [u8]) -> InOutBuf<'_, '_, Array<u8, N>> {
    Array::slice_as_chunks_mut(bytes).0.into()
}

/// Runs on what the CPU has, and says what it lacks.
macro_rules! on_every_isa {
    ($body:expr) => {
        on_every_isa!($body; Avx512 Avx2Gfni Avx2Vaes Avx2Aes AesNi)
    };
    ($body:expr; $($isa:ident)*) => {$(
        match $isa::detect() {
            Ok(isa) => isa.run($body),
            Err(missing) => println!("skipped {}: {missing}", stringify!($isa)),
        }
    )*};
}

/// The same, of those whose rows have a way to counters that is not through blocks: rows of 16 bytes have none.
macro_rules! on_every_counting_isa {
    ($body:expr) => {
        on_every_isa!($body; Avx512 Avx2Gfni Avx2Vaes Avx2Aes)
    };
}

proptest! {
    #[test]
    fn blocks_in_lanes(
        left in vec(any::<u8>(), 16 * MOST),
        right in vec(any::<u8>(), 16 * MOST),
        count in 0..=MOST,
    ) {
        on_every_isa!(Operations { left: &left[..16 * count], right: &right[..16 * count] });
    }

    #[test]
    fn counters_and_key_streams(first: u128, data in vec(any::<u8>(), 16 * ROW)) {
        for size in [8, 16] {
            on_every_counting_isa!(CountAndAdd { first, data: &data, size });
        }
    }
}

#[test]
fn counters_carry() {
    let data = [0; 16 * ROW];
    for full in 0..16 {
        for last in 0..=255_u8 {
            // So many bytes of ff above the last one.
            let first = u128::from(last) | (1_u128 << (8 * full)).wrapping_sub(1) << 8;
            for size in [8, 16] {
                on_every_counting_isa!(CountAndAdd { first, data: &data, size });
            }
        }
    }
}

/// A load of more blocks than fit.
struct TooMany;

impl<I: BlockLanes> Body<I> for TooMany {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let load = AssertUnwindSafe(|| {
            let _ = isa.load(&[0; 16 * (MOST + 1)]);
        });
        assert!(catch_unwind(load).is_err(), "{isa:?} refuses them");
    }
}

#[test]
fn more_blocks_than_fit_are_refused() {
    on_every_isa!(TooMany);
}
