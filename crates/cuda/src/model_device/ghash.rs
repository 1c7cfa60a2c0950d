//! The kernels of GHASH on the model device.

use ghash::{GHash, universal_hash::UniversalHash};
use lanecrypt_kernels::{gcm, ghash::PARAMETER_WORDS};
use zerocopy::IntoBytes;

use super::{Model, toy};
use crate::device::driver::Shape;

/// A kernel by matrices: threads of a group, their rows, blocks that they take at once, and words of
/// its matrices.
struct ByMatrices {
    threads: u64,
    rows: u64,
    blocks: u64,
    words: u64,
}

const MATRICES: ByMatrices = ByMatrices { threads: 128, rows: 16, blocks: 256, words: 68 * 128 };
const WIDE_MATRICES: ByMatrices =
    ByMatrices { threads: 128, rows: 64, blocks: 1024, words: 17 * 128 * 4 };

impl Model {
    /// The kernels of GHASH: what they read and write is what the others do.
    pub(super) fn ghash(&self, name: &str, shape: Shape, parameters: &[u64]) {
        let [input, output, blocks, powers, units, unit_blocks, sums, step, tail, rest] =
            parameters[..10]
        else {
            panic!("no parameters of GHASH")
        };
        let threads = u64::from(shape.grid) * u64::from(shape.threads);
        // The tail's blocks and that of the lengths.
        let behind = rest.div_ceil(16) + (parameters[12] >> 1 & 1);
        let write = |i: u64, element: u128| self.write_at(output + 16 * i, &element.to_be_bytes());
        match name {
            "ghash_powers" => {
                let h = self.element_at(input);
                for digit in 0..4 {
                    let factor = power(h, 1 << (8 * digit));
                    let next = |last: &u128| Some(times(*last, factor));
                    let powers = std::iter::successors(Some(1 << 127), next).take(256);
                    (256 * digit..).zip(powers).for_each(|(i, power)| write(i, power));
                }
                assert_eq!(blocks, 1025, "the powers, and one more");
                write(1024, power(h, units));
            }
            // The key in place of the matrices.
            "ghash_matrices_words" | "ghash_wide_matrices_words" => {
                self.write_at(output, &vec![0x77; 4 * blocks as usize]);
                write(0, self.element_at(powers + 16));
            }
            "ghash_tables" => {
                // A thread's blocks end where the message does.
                let factor = self.element_at(powers + 16 * 1024);
                for thread in 0..threads {
                    let from_end = threads - 1 - thread;
                    let first = (blocks - 1 - from_end) % threads;
                    let mine = (first..blocks).step_by(threads as usize);
                    let sum =
                        mine.fold(0, |sum, i| times(sum, factor) ^ self.element_at(input + 16 * i));
                    write(thread, sum);
                }
            }
            "ghash_matrices" => {
                self.rows([input, output, blocks, powers, units], &MATRICES, threads);
            }
            "ghash_wide_matrices" => {
                self.rows([input, output, blocks, powers, units], &WIDE_MATRICES, threads);
            }
            "ghash_weigh" => {
                let h = self.element_at(powers + 16);
                let ranges = blocks / sums;
                let mut warps = vec![0; threads as usize / 32];
                let mut last = (0, 1 << 127);
                for i in (0..blocks).rev() {
                    let range = i / sums;
                    let end = (range + 1) * (units / ranges) + (range + 1).min(units % ranges);
                    let exponent = (units - end) * unit_blocks + (sums - 1 - i % sums) * step + 1;
                    let exponent = exponent + behind;
                    // Only what a range without units has comes before that of the one behind it.
                    let (below, factor) = if exponent < last.0 { (0, 1 << 127) } else { last };
                    last = (exponent, times(factor, power(h, exponent - below)));
                    let warp = i % threads / 32;
                    warps[warp as usize] ^= times(self.element_at(input + 16 * i), last.1);
                }
                (0..).zip(warps).for_each(|(warp, sum)| write(warp, sum));
            }
            "ghash_finish" => {
                assert_eq!(self.read_at(parameters[16], 4), [0; 4], "a ticket");
                let h = self.element_at(powers + 16);
                let mut sum = (0..blocks).fold(0, |sum, i| sum ^ self.element_at(input + 16 * i));
                let [state, front_blocks] = [parameters[13], parameters[14]];
                let front = &parameters[17..25].as_bytes()[..16 * front_blocks as usize];
                if parameters[12] & 1 == 1 {
                    let further = units + behind + front_blocks;
                    sum ^= times(self.element_at(state), power(h, further));
                }
                for (block, after) in front.chunks(16).zip((1..=front_blocks).rev()) {
                    sum ^= times(element(block), power(h, units + behind + after));
                }
                let mut end = 0;
                if rest > 0 {
                    for piece in self.read_at(tail, rest).chunks(16) {
                        let mut block = [0; 16];
                        block[..piece.len()].copy_from_slice(piece);
                        end = times(end ^ u128::from_be_bytes(block), h);
                    }
                }
                if parameters[12] & 2 == 2 {
                    let lengths = u128::from(parameters[10]) << 64 | u128::from(parameters[11]);
                    end = times(end ^ lengths, h);
                }
                sum ^= end ^ element(parameters[25..].as_bytes());
                write(0, sum);
            }
            _ => panic!("no kernel {name}"),
        }
    }

    /// Everything in the last row of a group of threads, whose weight is that of the group's end.
    fn rows(
        &self,
        [input, output, blocks, powers, units]: [u64; 5],
        kernel: &ByMatrices,
        threads: u64,
    ) {
        let h = self.element_at(powers);
        let (groups, zeros) = (threads / kernel.threads, units * kernel.blocks - blocks);
        self.read_at(powers, 4 * kernel.words);
        let mut start = 0;
        for group in 0..groups {
            let end = start + units / groups + u64::from(group < units % groups);
            let mine = (start * kernel.blocks).max(zeros)..end * kernel.blocks;
            let sum =
                mine.fold(0, |sum, i| times(sum, h) ^ self.element_at(input + 16 * (i - zeros)));
            for row in 0..kernel.rows {
                let element = if row + 1 == kernel.rows { sum } else { 0 };
                self.write_at(output + 16 * (kernel.rows * group + row), &element.to_be_bytes());
            }
            start = end;
        }
    }

    /// CTR over a text, and the hash of what comes out.
    pub(super) fn gcm(&self, shape: Shape, parameters: &[u64]) {
        let (text, hash) = parameters.split_at(gcm::AES.text_bytes() / 8);
        let [input, output, blocks, high, low] = text[..5] else { panic!("no header") };
        let bytes = hash[9];
        assert_eq!(blocks, bytes / 16, "whole blocks");
        let mut data = self.read_at(input, bytes);
        toy::add_key_stream(&toy::key_of(text).0, [high, low], &mut data);
        self.write_at(output, &data);
        let mut hash = hash[..PARAMETER_WORDS].to_vec();
        hash[8] = output; // the tail
        self.ghash("ghash_finish", shape, &hash);
    }

    /// The block at `address` as GHASH numbers it.
    fn element_at(&self, address: u64) -> u128 {
        element(&self.read_at(address, 16))
    }
}

/// The block as GHASH numbers it.
fn element(block: &[u8]) -> u128 {
    u128::from_be_bytes(block.try_into().expect("16 bytes"))
}

/// GHASH's product (SP 800-38D, 6.3).
pub(super) fn times(x: u128, y: u128) -> u128 {
    let mut hash = GHash::new(&y.to_be_bytes().into());
    hash.update(&[x.to_be_bytes().into()]);
    u128::from_be_bytes(hash.finalize().into())
}

pub(super) fn power(h: u128, exponent: u64) -> u128 {
    (0..64 - exponent.leading_zeros()).rev().fold(1 << 127, |power, bit| {
        let square = times(power, power);
        if exponent >> bit & 1 == 1 { times(square, h) } else { square }
    })
}
