//! What the model does in place of the kernels of modes, and of those that go through chains and masks.

use super::{Model, Shape};

impl Model {
    pub(super) fn read_at(&self, address: u64, bytes: u64) -> Vec<u8> {
        self.with(address..address + bytes, |memory| memory.to_vec())
    }

    pub(super) fn write_at(&self, address: u64, data: &[u8]) {
        let end = address + data.len() as u64;
        self.with(address..end, |memory| memory.copy_from_slice(data));
    }

    pub(super) fn copy_rows(
        &self,
        input: u64,
        output: u64,
        bytes: u64,
        [from, to, width]: [u64; 3],
    ) {
        assert!(bytes.is_multiple_of(width), "whole rows");
        for row in 0..bytes / width {
            let data = self.read_at(input + row * from, width);
            self.write_at(output + row * to, &data);
        }
    }

    pub(super) fn add_key_stream(
        &self,
        input: u64,
        output: u64,
        bytes: u64,
        [first, second, _]: [u64; 3],
    ) {
        assert!((1..16).contains(&bytes), "a part of a block");
        let key_stream = [first.to_le_bytes(), second.to_le_bytes()];
        let data = self.read_at(input, bytes);
        let sum = data.iter().zip(key_stream.as_flattened()).map(|(x, y)| x ^ y);
        self.write_at(output, &sum.collect::<Vec<_>>());
    }

    pub(super) fn numbers(&self, output: u64, blocks: u64, [low, high, _]: [u64; 3]) {
        let first = u128::from(high) << 64 | u128::from(low);
        for i in 0..blocks {
            let number = first.wrapping_add(u128::from(i));
            self.write_at(output + 16 * i, &number.to_le_bytes());
        }
    }

    /// The block of masks at `address`.
    pub(super) fn mask_at(&self, address: u64) -> u128 {
        u128::from_le_bytes(self.read_at(address, 16).try_into().expect("16 bytes"))
    }

    pub(super) fn masks(
        &self,
        input: u64,
        output: u64,
        blocks: u64,
        [first, step, unit]: [u64; 3],
    ) {
        for i in 0..blocks {
            let block = first + i * step;
            let mask = self.mask_at(input + 16 * (block / unit));
            let mask = (0..block % unit).fold(mask, |mask, _| times_x(mask));
            self.write_at(output + 16 * i, &mask.to_le_bytes());
        }
    }

    /// A range starts with the mask that was made for it, a unit with its first one.
    pub(super) fn xts(
        &self,
        range: u64,
        [input, output, blocks]: [u64; 3],
        [unit, units, starts]: [u64; 3],
        run: impl Fn(&mut [u8]),
    ) {
        for (warp, start) in (0..).zip((0..blocks).step_by(range as usize)) {
            let mut mask = self.mask_at(starts + 16 * warp);
            for i in start..blocks.min(start + range) {
                if i > start {
                    mask = times_x(mask);
                }
                if i % unit == 0 {
                    mask = self.mask_at(units + 16 * (i / unit));
                }
                let mut block = self.read_at(input + 16 * i, 16);
                let add = |block: &mut [u8]| {
                    block.iter_mut().zip(mask.to_le_bytes()).for_each(|(byte, mask)| *byte ^= mask);
                };
                add(&mut block);
                run(&mut block);
                add(&mut block);
                self.write_at(output + 16 * i, &block);
            }
        }
    }

    /// Ranges as the kernels' warps have them, from the first on: where a range changes the block
    /// before the next one, that one must have it from elsewhere.
    pub(super) fn chain(
        &self,
        range: u64,
        [input, output, blocks]: [u64; 3],
        [first, second, saved]: [u64; 3],
        combine: impl Fn(&[u8], &mut [u8]),
    ) {
        for (warp, start) in (0..blocks).step_by(range as usize).enumerate() {
            let mut previous = match warp as u64 {
                0 => [first.to_le_bytes(), second.to_le_bytes()].concat(),
                _ if saved == 0 => self.read_at(input + 16 * (start - 1), 16),
                warp => self.read_at(saved + 16 * (warp - 1), 16),
            };
            let mut data = self.read_at(input + 16 * start, 16 * range.min(blocks - start));
            for block in data.chunks_mut(16) {
                let ciphertext = block.to_vec();
                combine(&previous, block);
                previous = ciphertext;
            }
            self.write_at(output + 16 * start, &data);
        }
    }
}

/// Blocks of the ranges that a kernel has: one for each of its warps, or runs of a queue.
pub(super) fn range(name: &str, shape: Shape, blocks: u64) -> u64 {
    if name.starts_with("aes_mixed_") {
        return 1024;
    }
    let warps = u64::from(shape.grid) * u64::from(shape.threads) / 32;
    blocks.div_ceil(32).div_ceil(warps) * 32
}

/// The next mask of a unit.
fn times_x(mask: u128) -> u128 {
    (mask << 1) ^ if mask >> 127 == 1 { 0x87 } else { 0 }
}
