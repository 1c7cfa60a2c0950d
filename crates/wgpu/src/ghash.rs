//! GHASH on a device (SP 800-38D, 6.4): the hash key as matrices of bits, and the launches that hash a piece.

use lanecrypt_core::{HashPowers, Secret};
use lanecrypt_slicing as slicing;
use subtle::ConstantTimeEq;
use wgpu::BufferBinding;
use zeroize::Zeroizing;

use crate::{
    Device, Error,
    device::{MOST_SUMS, PARAMETER_BYTES},
    device_keys::SecretBuffer,
};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;
/// Threads of a workgroup of the kernel.
const WORKGROUP: u64 = 64;
/// There are `4^MOST` sums first at most, then a quarter each time.
const MOST: u32 = MOST_SUMS.ilog2() / 2;
/// Launches that hash a piece at most.
pub(crate) const MOST_LAUNCHES: usize = 1 + MOST as usize;
/// Words of a matrix: 128 rows of a block.
const MATRIX_WORDS: usize = 128 * BLOCK / 4;

/// A hash key on a device and on the host. Both are cleared when it is dropped.
pub(crate) struct HashKey {
    /// The first of the powers, by which it is recognised.
    first: Secret<[u8; BLOCK]>,
    on_host: slicing::HashKey,
    /// A matrix for H to the power of each number of sums.
    matrices: SecretBuffer,
}

impl HashKey {
    /// Of powers that `lanecrypt_slicing` made.
    pub(crate) fn new(device: &Device, powers: &HashPowers) -> Result<Self, Error> {
        let on_host = slicing::HashKey::of_powers(powers);
        // With its room from the start, no copy is left behind.
        let mut words = Zeroizing::new(Vec::with_capacity(MOST_LAUNCHES * MATRIX_WORDS));
        let mut power = on_host.clone();
        words.extend_from_slice(&*matrix(&power));
        for _ in 0..MOST {
            power = power.power(4);
            words.extend_from_slice(&*matrix(&power));
        }
        let matrices = SecretBuffer::new(device, words.len(), words.iter().copied())?;
        Ok(Self { first: first(powers), on_host, matrices })
    }

    /// Whether it is the key with these powers. The time tells whether, and nothing else.
    pub(crate) fn is_of(&self, powers: &HashPowers) -> bool {
        self.first.ct_eq(&*first(powers)).into()
    }

    pub(crate) fn on_host(&self) -> &slicing::HashKey {
        &self.on_host
    }

    /// What a launch multiplies by.
    pub(crate) fn binding(&self, launch: &Launch) -> BufferBinding<'_> {
        self.matrices.part(launch.exponent as usize, 4 * MATRIX_WORDS as u64)
    }
}

/// H itself, in the form in which powers are kept; they are from the highest on.
fn first(powers: &HashPowers) -> Secret<[u8; BLOCK]> {
    Secret::new(powers[powers.len() - 1])
}

/// The words of the matrix that multiplies by a key: what becomes of each bit of a block, word by word from the first on
/// and in each from the highest bit on.
fn matrix(key: &slicing::HashKey) -> Secret<[u32; MATRIX_WORDS]> {
    let mut words = Secret::new([0; MATRIX_WORDS]);
    for (number, row) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let bit = 1_u128 << (32 * (number / 32) + 31 - number % 32);
        let mut product = Secret::new(bit.to_le_bytes());
        key.absorb(&mut product, &[0; BLOCK]);
        for (word, bytes) in row.iter_mut().zip(product.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }
    words
}

/// A launch of the kernel, whose numbers are blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// There are `4^exponent` sums.
    exponent: u32,
    input_at: u64,
    output_at: u64,
    blocks: u64,
    /// Bytes of the last block.
    last_bytes: usize,
}

impl Launch {
    fn sums(&self) -> u64 {
        4_u64.pow(self.exponent)
    }

    /// Workgroups that have its threads.
    pub(crate) fn groups(&self) -> u32 {
        self.sums().div_ceil(WORKGROUP) as u32
    }

    /// `Parameters` of the kernel.
    pub(crate) fn parameters(&self) -> [u8; PARAMETER_BYTES] {
        let mut bytes = [0; PARAMETER_BYTES];
        bytes[..self.last_bytes].fill(0xff);
        let numbers = [self.input_at, self.output_at, self.blocks, self.sums()];
        for (to, number) in bytes[16..].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *to = (number as u32).to_le_bytes();
        }
        bytes
    }
}

/// How many sums are made first of so many blocks, as a power of 4, where a launch may have `groups` workgroups. Each is
/// of four blocks at least.
fn exponent(blocks: u64, groups: u32) -> u32 {
    let most = (blocks / 4).min(u64::from(groups) * WORKGROUP).clamp(1, MOST_SUMS);
    most.ilog2() / 2
}

/// Sums that are made first of so many blocks.
pub(crate) fn sums(blocks: u64, groups: u32) -> u64 {
    4_u64.pow(exponent(blocks, groups))
}

/// The launches that hash a piece of `bytes` bytes, at least one, at the beginning of memory; the last one leaves its
/// only sum at `sums_at`, where there is room for as many as [`sums`] says.
pub(crate) fn launches(bytes: usize, sums_at: u64, groups: u32) -> impl Iterator<Item = Launch> {
    let blocks = bytes.div_ceil(BLOCK) as u64;
    let exponent = exponent(blocks, groups);
    let last_bytes = bytes - (bytes - 1) / BLOCK * BLOCK;
    let first = Launch { exponent, input_at: 0, output_at: sums_at, blocks, last_bytes };
    let others = (0..exponent).rev().map(move |exponent| Launch {
        exponent,
        input_at: sums_at,
        output_at: sums_at,
        blocks: 4_u64.pow(exponent + 1),
        last_bytes: BLOCK,
    });
    core::iter::once(first).chain(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_becomes_a_sum_by_quarters() {
        for (bytes, groups, expected) in [
            (1, 1000, &[1][..]),
            (15 * 16, 1000, &[1]),
            (15 * 16 + 1, 1000, &[4, 1]),
            (32 << 20, 65_535, &[65_536, 16_384, 4096, 1024, 256, 64, 16, 4, 1]),
            (32 << 20, 2, &[64, 16, 4, 1]),
        ] {
            let launches: Vec<_> = launches(bytes, 1 << 21, groups).collect();
            assert_eq!(launches.iter().map(Launch::sums).collect::<Vec<_>>(), expected);
            assert_eq!(launches[0].sums(), sums(bytes.div_ceil(16) as u64, groups));
            assert!(launches.len() <= MOST_LAUNCHES && launches[0].groups() <= groups);
            let inputs = launches.iter().map(|launch| (launch.input_at, launch.blocks));
            let outputs = launches.iter().map(|launch| (launch.output_at, launch.sums()));
            let first = (0, bytes.div_ceil(16) as u64);
            assert!(inputs.eq(core::iter::once(first).chain(outputs).take(launches.len())));
        }
    }

    #[test]
    fn the_last_block_ends_with_the_bytes() {
        for (bytes, last) in [(1, 1), (15, 15), (16, 16), (17, 1), (320, 16), (333, 13)] {
            let launches: Vec<_> = launches(bytes, 1000, 1000).collect();
            let lasts = launches.iter().map(|launch| launch.last_bytes);
            assert!(
                lasts.eq(core::iter::once(last).chain([16; 2]).take(launches.len())),
                "{bytes}"
            );
            let mask = launches[0].parameters();
            assert!(mask[..16].iter().enumerate().all(|(i, &byte)| (byte == 0xff) == (i < last)));
        }
    }
}
