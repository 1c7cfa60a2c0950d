//! 32-bit lanes of every instruction set against words one by one.

#[macro_use]
mod every_isa;

use cipher::{InOutBuf, consts::U16, typenum::Unsigned};
use every_isa::{STEP, noise};
use lanecrypt_slicing::{Body, WordLanes, Words};

/// Blocks as the words that they are.
fn words(blocks: &[u8]) -> Vec<[u32; 4]> {
    let words =
        |block: &[u8; 16]| std::array::from_fn(|j| u32::from_le_bytes(block.as_chunks::<4>().0[j]));
    blocks.as_chunks::<16>().0.iter().map(words).collect()
}

/// Every operation, on rows of blocks and on the words of the blocks.
struct Operations;

impl<I: WordLanes> Body<I> for Operations {
    type Output = ();

    #[inline]
    fn run(self, isa: I) {
        for seed in (0..20).step_by(STEP) {
            let blocks = noise(16 * I::Lanes::USIZE, seed);
            let mut rows = [isa.splat(0); 4];
            isa.slice(&blocks, &mut rows);
            let [a, b, c, d] = rows;
            let key = isa.splat(0x8000_0001);
            let rows = [a.add(b), c.subtract(d), a.rotate_left::<9>(), d.rotate_left::<27>() ^ key];
            let mut results = vec![0xee; blocks.len()];
            isa.unslice(rows, &mut results);
            for (i, [a, b, c, d]) in words(&blocks).into_iter().enumerate() {
                let expected = [
                    a.wrapping_add(b),
                    c.wrapping_sub(d),
                    a.rotate_left(9),
                    d.rotate_right(5) ^ 0x8000_0001,
                ];
                assert_eq!(words(&results)[i], expected, "block {i} on {isa:?}");
            }
        }
    }
}

/// Counter blocks made in lanes, and rows added to memory, as if they had been written and read.
struct Counters;

impl<I: WordLanes> Body<I> for Counters {
    type Output = ();

    #[inline]
    fn run(self, isa: I) {
        let length = 16 * I::Lanes::USIZE;
        let carries = u128::from(u32::MAX);
        for first in [0, 1 << 127 | 0x0123_4567_89ab_cdef, carries - 64, carries - 3, u128::MAX - 7]
        {
            let mut blocks = vec![0; length];
            for (i, block) in (0..).zip(blocks.as_chunks_mut::<16>().0) {
                *block = first.wrapping_add(i).to_be_bytes();
            }
            let mut rows = [isa.splat(0); 4];
            if !isa.count(first, &mut rows) {
                isa.slice(&blocks, &mut rows);
            }
            let mut back = vec![0; length];
            isa.unslice(rows, &mut back);
            assert_eq!(back, blocks, "from {first:x} on {isa:?}");

            let mut data = noise(length, 5);
            let sums: Vec<u8> = data.iter().zip(&blocks).map(|(a, b)| a ^ b).collect();
            let mut buffer = InOutBuf::from(&mut data[..]).into_chunks::<U16>().0;
            if isa.add_unsliced(rows, &mut buffer) {
                assert_eq!(data, sums, "on {isa:?}");
            }
        }
    }
}

/// Blocks of another number than there are lanes.
struct WrongLength;

impl<I: WordLanes> Body<I> for WrongLength {
    type Output = ();

    #[inline]
    fn run(self, isa: I) {
        let mut rows = [isa.splat(0); 4];
        isa.slice(&vec![0; 16 * I::Lanes::USIZE + 16], &mut rows);
    }
}

#[test]
fn rows_compute_what_words_compute() {
    on_bit_and_byte_lanes!(Operations);
}

#[test]
fn counters_are_those_of_memory() {
    on_bit_and_byte_lanes!(Counters);
}

#[test]
#[should_panic(expected = "one block a lane")]
fn another_number_of_blocks_is_refused() {
    on_each!(WrongLength; lanecrypt_slicing::Portable<u32>);
}
