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

/// What a launch of these kernels is told, as `HashParameters` of `ghash/ghash.cuh` has it.
struct Told<'a> {
    /// The threads of the launch.
    threads: u64,
    input: u64,
    output: u64,
    blocks: u64,
    powers: u64,
    units: u64,
    unit_blocks: u64,
    sums: u64,
    step: u64,
    tail: u64,
    tail_bytes: u64,
    lengths: u128,
    from_state: bool,
    with_lengths: bool,
    state: u64,
    /// Blocks before the others.
    front: &'a [u8],
    ticket: u64,
    mask: u128,
}

impl<'a> Told<'a> {
    fn new(shape: Shape, parameters: &'a [u64]) -> Self {
        let [input, output, blocks, powers, units, unit_blocks, sums, step, tail, tail_bytes] =
            parameters[..10]
        else {
            panic!("no parameters of GHASH")
        };
        let [aad_bits, text_bits, flags, state, front_blocks] = parameters[10..15] else {
            panic!("no parameters of a message")
        };
        Self {
            threads: u64::from(shape.grid) * u64::from(shape.threads),
            input,
            output,
            blocks,
            powers,
            units,
            unit_blocks,
            sums,
            step,
            tail,
            tail_bytes,
            lengths: u128::from(aad_bits) << 64 | u128::from(text_bits),
            from_state: flags & 1 == 1,
            with_lengths: flags & 2 == 2,
            state,
            front: &parameters[17..25].as_bytes()[..16 * front_blocks as usize],
            ticket: parameters[16],
            mask: element(parameters[25..].as_bytes()),
        }
    }

    /// Blocks behind the units: the tail's, and that of the lengths.
    fn behind(&self) -> u64 {
        self.tail_bytes.div_ceil(16) + u64::from(self.with_lengths)
    }
}

impl Model {
    /// The kernels of GHASH: what they read and write is what the others do.
    pub(super) fn ghash(&self, name: &str, shape: Shape, parameters: &[u64]) {
        let told = Told::new(shape, parameters);
        match name {
            "ghash_powers" => self.powers(&told),
            "ghash_matrices_words" | "ghash_wide_matrices_words" => self.matrix_words(&told),
            "ghash_tables" => self.by_tables(&told),
            "ghash_matrices" => self.by_matrices(&told, &MATRICES),
            "ghash_wide_matrices" => self.by_matrices(&told, &WIDE_MATRICES),
            "ghash_weigh" => self.weigh(&told),
            "ghash_finish" => self.finish(&told),
            _ => panic!("no kernel {name}"),
        }
    }

    fn powers(&self, told: &Told<'_>) {
        let h = self.element_at(told.input);
        for digit in 0..4 {
            let factor = power(h, 1 << (8 * digit));
            let next = |last: &u128| Some(times(*last, factor));
            let powers = std::iter::successors(Some(1 << 127), next).take(256);
            (256 * digit..).zip(powers).for_each(|(i, power)| self.write_sum(told, i, power));
        }
        assert_eq!(told.blocks, 1025, "the powers, and one more");
        self.write_sum(told, 1024, power(h, told.units));
    }

    /// The key in place of the matrices.
    fn matrix_words(&self, told: &Told<'_>) {
        self.write_at(told.output, &vec![0x77; 4 * told.blocks as usize]);
        self.write_sum(told, 0, self.element_at(told.powers + 16));
    }

    /// A thread's blocks end where the message does.
    fn by_tables(&self, told: &Told<'_>) {
        let factor = self.element_at(told.powers + 16 * 1024);
        for thread in 0..told.threads {
            let from_end = told.threads - 1 - thread;
            let first = (told.blocks - 1 - from_end) % told.threads;
            let mine = (first..told.blocks).step_by(told.threads as usize);
            let sum = mine.fold(0, |sum, i| times(sum, factor) ^ self.block(told, i));
            self.write_sum(told, thread, sum);
        }
    }

    fn weigh(&self, told: &Told<'_>) {
        let &Told { units, unit_blocks, sums, step, .. } = told;
        let h = self.element_at(told.powers + 16);
        let ranges = told.blocks / sums;
        let mut warps = vec![0; told.threads as usize / 32];
        let mut last = (0, 1 << 127);
        for i in (0..told.blocks).rev() {
            let range = i / sums;
            let end = (range + 1) * (units / ranges) + (range + 1).min(units % ranges);
            let exponent = (units - end) * unit_blocks + (sums - 1 - i % sums) * step + 1;
            let exponent = exponent + told.behind();
            // Only what a range without units has comes before that of the one behind it.
            let (below, factor) = if exponent < last.0 { (0, 1 << 127) } else { last };
            last = (exponent, times(factor, power(h, exponent - below)));
            let warp = i % told.threads / 32;
            warps[warp as usize] ^= times(self.block(told, i), last.1);
        }
        (0..).zip(warps).for_each(|(warp, sum)| self.write_sum(told, warp, sum));
    }

    fn finish(&self, told: &Told<'_>) {
        assert_eq!(self.read_at(told.ticket, 4), [0; 4], "a ticket");
        let h = self.element_at(told.powers + 16);
        let mut sum = (0..told.blocks).fold(0, |sum, i| sum ^ self.block(told, i));
        let behind = told.units + told.behind();
        let front_blocks = told.front.len() as u64 / 16;
        if told.from_state {
            sum ^= times(self.element_at(told.state), power(h, behind + front_blocks));
        }
        for (block, after) in told.front.chunks(16).zip((1..=front_blocks).rev()) {
            sum ^= times(element(block), power(h, behind + after));
        }
        let mut end = 0;
        if told.tail_bytes > 0 {
            for piece in self.read_at(told.tail, told.tail_bytes).chunks(16) {
                let mut block = [0; 16];
                block[..piece.len()].copy_from_slice(piece);
                end = times(end ^ u128::from_be_bytes(block), h);
            }
        }
        if told.with_lengths {
            end = times(end ^ told.lengths, h);
        }
        self.write_sum(told, 0, sum ^ end ^ told.mask);
    }

    /// Everything in the last row of a group of threads, whose weight is that of the group's end.
    fn by_matrices(&self, told: &Told<'_>, kernel: &ByMatrices) {
        let units = told.units;
        let h = self.element_at(told.powers);
        let groups = told.threads / kernel.threads;
        let zeros = units * kernel.blocks - told.blocks;
        self.read_at(told.powers, 4 * kernel.words);
        let mut start = 0;
        for group in 0..groups {
            let end = start + units / groups + u64::from(group < units % groups);
            let mine = (start * kernel.blocks).max(zeros)..end * kernel.blocks;
            let sum = mine.fold(0, |sum, i| times(sum, h) ^ self.block(told, i - zeros));
            for row in 0..kernel.rows {
                let element = if row + 1 == kernel.rows { sum } else { 0 };
                self.write_sum(told, kernel.rows * group + row, element);
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

    /// Block `i` of the input.
    fn block(&self, told: &Told<'_>, i: u64) -> u128 {
        self.element_at(told.input + 16 * i)
    }

    /// Puts block `i` of the output.
    fn write_sum(&self, told: &Told<'_>, i: u64, sum: u128) {
        self.write_at(told.output + 16 * i, &sum.to_be_bytes());
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
