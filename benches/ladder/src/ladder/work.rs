//! What all rungs do: AES-128 in counter mode, and the same by somebody else's code.

use aes::Aes128;
use anyhow::{Result, ensure};
use cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use ctr::Ctr32BE;
use lanecrypt_cuda::{Device, DeviceBuffer};
use lanecrypt_ladder::{Job, Listing};
use lanecrypt_reference::sbox;
use rayon::prelude::*;
use std::time::Duration;

use crate::rung::{Keys, Rung};

/// That of FIPS 197, appendix A.1.
const KEY: [u8; 16] = [
    0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
];
/// The first counter, whose number is 0.
const COUNTER: [u8; 16] = *b"twelve bytes\0\0\0\0";
/// Bytes behind the output that a kernel must leave alone.
const MARGIN: usize = 4096;
/// What they hold.
const UNTOUCHED: u8 = 0x5a;
/// Bytes that a core encrypts at once.
const CHUNK: usize = 1 << 20;

/// FIPS 197, 5.2.
fn round_keys() -> [[u8; 16]; 11] {
    let mut keys = [KEY; 11];
    let mut constant = 1u8;
    for i in 1..11 {
        let mut word: [u8; 4] = core::array::from_fn(|j| keys[i - 1][12 + (j + 1) % 4]);
        word = word.map(|byte| sbox::AES[usize::from(byte)]);
        word[0] ^= constant;
        constant = doubled(constant);
        for column in 0..4 {
            for row in 0..4 {
                word[row] ^= keys[i - 1][4 * column + row];
                keys[i][4 * column + row] = word[row];
            }
        }
    }
    keys
}

/// Twice an element of GF(2^8).
fn doubled(byte: u8) -> u8 {
    (byte << 1) ^ ((byte >> 7) * 0x1b)
}

/// A column (2 S(x), S(x), S(x), 3 S(x)) for each byte, then the S-box.
fn table() -> Vec<u8> {
    let columns = sbox::AES.iter().flat_map(|&s| [doubled(s), s, s, doubled(s) ^ s]);
    columns.chain(sbox::AES).collect()
}

/// A block as words.
fn words(block: &[u8; 16]) -> impl Iterator<Item = u32> {
    let (words, _) = block.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word))
}

/// Bits of a block, from the lowest of the first byte on.
fn bits(block: &[u8; 16]) -> impl Iterator<Item = bool> {
    block.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}

/// Bit b of row r as word 8 r + b, whose byte c is full of that of column c.
fn planes(block: &[u8; 16]) -> impl Iterator<Item = u32> {
    let bits: Vec<bool> = bits(block).collect();
    (0..32).map(move |plane| {
        let column = |c: usize| bits[32 * c + plane];
        u32::from_le_bytes(core::array::from_fn(|c| if column(c) { 0xff } else { 0 }))
    })
}

/// What follows the addresses in a kernel's parameters.
fn parameters(keys: Keys) -> Vec<u64> {
    let round_keys = round_keys();
    let mut parameters: Vec<u32> = words(&COUNTER).collect();
    match keys {
        Keys::Memory => {}
        Keys::Words => parameters.extend(round_keys.iter().flat_map(words)),
        Keys::Bits => {
            let bits = round_keys.iter().flat_map(bits);
            parameters.extend(bits.map(|bit| if bit { u32::MAX } else { 0 }));
        }
        Keys::Planes => {
            parameters.extend(round_keys.iter().flat_map(words));
            parameters.extend(round_keys[1..10].iter().flat_map(planes));
        }
    }
    let (pairs, _) = parameters.as_chunks::<2>();
    pairs.iter().map(|[low, high]| u64::from(*high) << 32 | u64::from(*low)).collect()
}

/// Data, and what must become of it.
pub(crate) struct Work {
    input: Vec<u8>,
    expected: Vec<u8>,
}

impl Work {
    /// Of this number of bytes, which is a multiple of 16.
    pub(crate) fn new(bytes: usize) -> Self {
        let mut input = vec![0; bytes];
        input.par_chunks_mut(8).enumerate().for_each(|(i, bytes)| {
            // No two blocks are alike.
            let word = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        });
        let mut expected = input.clone();
        expected.par_chunks_mut(CHUNK).enumerate().for_each(|(i, bytes)| {
            let mut cipher = Ctr32BE::<Aes128>::new(&KEY.into(), &COUNTER.into());
            cipher.seek(i as u64 * CHUNK as u64);
            cipher.apply_keystream(bytes);
        });
        Self { input, expected }
    }

    /// The data on a device.
    pub(crate) fn on(&self, device: &Device) -> Result<Place<'_>> {
        let keys = round_keys().concat();
        let mut marked = vec![UNTOUCHED; self.input.len() + MARGIN];
        let mut output = DeviceBuffer::zeroed(device, marked.len())?;
        output.write(0, &marked)?;
        marked.fill(0);
        Ok(Place {
            work: self,
            input: DeviceBuffer::from_host(device, &self.input)?,
            output,
            table: DeviceBuffer::from_host(device, &table())?,
            keys: DeviceBuffer::from_host(device, &keys)?,
            result: marked,
        })
    }
}

/// Work on a device.
pub(crate) struct Place<'a> {
    work: &'a Work,
    input: DeviceBuffer,
    output: DeviceBuffer,
    table: DeviceBuffer,
    keys: DeviceBuffer,
    /// What was read from there.
    result: Vec<u8>,
}

impl Place<'_> {
    /// Blocks of all data.
    pub(crate) fn blocks(&self) -> u64 {
        self.work.input.len() as u64 / 16
    }

    /// Encrypts so many blocks, and returns the device's time.
    pub(crate) fn run(&mut self, listing: &Listing, rung: &Rung, blocks: u64) -> Result<Duration> {
        Ok(listing.run(Job {
            input: Some(&self.input),
            output: &mut self.output,
            blocks,
            table: &self.table,
            words: &parameters(rung.keys),
            keys: (rung.keys == Keys::Memory).then_some(&self.keys),
        })?)
    }

    /// Encrypts so many blocks into memory that has been marked, and returns how many are wrong.
    ///
    /// # Errors
    /// Also where something behind them was written to.
    pub(crate) fn wrong_blocks(
        &mut self,
        listing: &Listing,
        rung: &Rung,
        blocks: u64,
    ) -> Result<u64> {
        let bytes = 16 * blocks as usize;
        let all = (bytes + MARGIN).min(self.result.len());
        self.result[..all].fill(UNTOUCHED);
        self.output.write(0, &self.result[..all])?;
        self.run(listing, rung, blocks)?;
        self.output.read(0, &mut self.result[..all])?;
        let (result, behind) = self.result[..all].split_at(bytes);
        ensure!(
            behind.iter().all(|byte| *byte == UNTOUCHED),
            "{} writes behind {blocks} blocks",
            rung.entry.name
        );
        let pairs = result.par_chunks(16).zip(self.work.expected.par_chunks(16));
        Ok(pairs.filter(|(given, expected)| given != expected).count() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_keys_are_those_of_the_standard() {
        let last = round_keys()[10];
        assert_eq!(u128::from_be_bytes(last), 0xd014_f9a8_c9ee_2589_e13f_0cc8_b663_0ca6);
    }

    #[test]
    fn planes_are_bits_by_row() {
        let mut block = [0; 16];
        block[4 * 2 + 1] = 8; // bit 3 of row 1, column 2
        let planes: Vec<u32> = planes(&block).collect();
        assert_eq!(planes.iter().filter(|plane| **plane != 0).count(), 1);
        assert_eq!(planes[8 + 3], 0x00ff_0000);
    }

    #[test]
    fn parameters_are_as_long_as_the_listings_say() {
        let bytes = |keys| 8 * parameters(keys).len();
        assert_eq!(bytes(Keys::Memory), 16);
        assert_eq!(bytes(Keys::Words), 16 + 11 * 16);
        assert_eq!(bytes(Keys::Bits), 16 + 11 * 512);
        assert_eq!(bytes(Keys::Planes), 16 + 11 * 16 + 9 * 128);
    }
}
