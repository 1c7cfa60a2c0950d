//! A cipher of your own, XTEA here, with all of RustCrypto's traits and every mode. Runs without a GPU.
//!
//! `cargo run --package lanecrypt-core --example 2_cipher`

use cipher::{Array, BlockCipherEncrypt, KeyInit, consts::U8, consts::U16};
use lanecrypt_core::{Cipher, ConstantTime, Ctr, Direction, Error, OneBlock};

/// The round keys, two words per cycle.
#[derive(Clone)]
struct Key([[u32; 2]; 32]);

/// Needham and Wheeler, "Tea extensions", 1997.
type Xtea = Cipher<Key>;

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn mix(word: u32, key: u32) -> u32 {
    ((word << 4 ^ word >> 5).wrapping_add(word)) ^ key
}

impl OneBlock for Key {
    type BlockSize = U8;
    type KeySize = U16;

    const NAME: &'static str = "XTEA";
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes; // additions, shifts and XORs alone

    fn new(key: &Array<u8, U16>) -> Self {
        let words: [u32; 4] = std::array::from_fn(|i| word(&key[4 * i..4 * i + 4]));
        let sum = |cycle: u32| cycle.wrapping_mul(0x9e37_79b9);
        let with = |sum: u32, at: u32| sum.wrapping_add(words[at as usize % 4]);
        let pair = |i| (sum(i as u32), sum(i as u32 + 1));
        Self(std::array::from_fn(|i| {
            [with(pair(i).0, pair(i).0), with(pair(i).1, pair(i).1 >> 11)]
        }))
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U8>) {
        let (mut left, mut right) = (word(&block[..4]), word(&block[4..]));
        match direction {
            Direction::Encrypt => self.0.iter().for_each(|[first, second]| {
                left = left.wrapping_add(mix(right, *first));
                right = right.wrapping_add(mix(left, *second));
            }),
            Direction::Decrypt => self.0.iter().rev().for_each(|[first, second]| {
                right = right.wrapping_sub(mix(left, *second));
                left = left.wrapping_sub(mix(right, *first));
            }),
        }
        block[..4].copy_from_slice(&left.to_be_bytes());
        block[4..].copy_from_slice(&right.to_be_bytes());
    }
}

fn main() -> Result<(), Error> {
    let cipher = Xtea::new(&Array::from_fn(|i| i as u8));
    let mut block = Array(*b"ABCDEFGH");
    cipher.encrypt_block(&mut block);
    println!("XTEA: {block:02x?}");
    assert_eq!(block, 0x497d_f3d0_7261_2cb5_u64.to_be_bytes(), "a published vector");

    // It is an engine, too.
    let mut data = *b"any length of bytes";
    Ctr::new(&cipher, &[1; 8])?.try_apply(data.as_mut_slice().into())?;
    Ctr::new(&cipher, &[1; 8])?.try_apply(data.as_mut_slice().into())?;
    assert_eq!(&data, b"any length of bytes");
    Ok(())
}
