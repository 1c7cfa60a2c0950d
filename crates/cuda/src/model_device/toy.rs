//! The toy cipher that the model device runs in place of the kernels, and families of it.

use cipher::{Array, consts::U16};
use lanecrypt_core::{
    Cipher, CipherDescription, ConstantTime, Counter, Direction, OneBlock, cpu_backends,
};
use lanecrypt_kernels::{HEADER_WORDS, gcm, programs};
use zerocopy::IntoBytes;
use zeroize::Zeroizing;

use crate::{CipherKernels, DeviceCipher, Family, KeyPair, Keys};

/// Every byte by itself, and so that encryption twice is not decryption.
pub(super) fn toy(key: &[u8; 16], direction: Direction, data: &mut [u8]) {
    for (i, (byte, key)) in data.iter_mut().zip(key.iter().cycle()).enumerate() {
        *byte = match direction {
            Direction::Encrypt => (*byte ^ key).rotate_left(3).wrapping_add(i as u8 % 16),
            Direction::Decrypt => byte.wrapping_sub(i as u8 % 16).rotate_right(3) ^ key,
        };
    }
}

/// The key and the direction that a kernel's parameters have.
pub(super) fn key_of(parameters: &[u64]) -> ([u8; 16], Direction) {
    let keys = parameters[HEADER_WORDS / 2..].as_bytes();
    let (key, rest) = keys.split_first_chunk().expect("a key");
    (*key, if rest[0] == 0 { Direction::Encrypt } else { Direction::Decrypt })
}

/// Adds the key stream from a counter on, whose halves these are.
pub(super) fn add_key_stream(key: &[u8; 16], [high, low]: [u64; 2], data: &mut [u8]) {
    let counter = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
    let mut stream = vec![0; data.len().next_multiple_of(16)];
    Counter::from_block(&counter).expect("16 bytes").fill(&mut stream);
    toy(key, Direction::Encrypt, &mut stream);
    data.iter_mut().zip(stream).for_each(|(byte, key)| *byte ^= key);
}

pub(crate) static TOY: CipherDescription = CipherDescription {
    name: "toy",
    standard: "none",
    block_bytes: 16,
    key_bytes: &[16],
    backends: cpu_backends!(TOY; "default", "toy cipher" => Toy;),
    kernels: Some(|| &KERNELS),
};

static KERNELS: CipherKernels =
    CipherKernels { fastest: &FAMILY, constant_time: &CONSTANT_TIME, batches: None };

/// Launched as AES's kernels are, of which the first needs more shared memory than the model has.
pub(crate) static FAMILY: Family = Family::new(
    &TOY,
    "toy cipher",
    ConstantTime::No("it is a toy"),
    &[&programs::AES_CONFLICT_FREE_4, &programs::AES_TABLE_SHARED],
    toy_keys::<64, 60, 10>,
)
.with_gcm(&gcm::AES);

/// The same, with a claim.
pub(crate) static CONSTANT_TIME: Family = Family::new(
    &TOY,
    "toy cipher, constant-time",
    ConstantTime::Yes,
    &[&programs::AES_TABLE_SHARED],
    toy_keys::<64, 60, 10>,
);

/// Bytes from which on [`LARGE`] has another program.
pub(crate) const LARGE_FROM: u64 = 16 * 1024;

/// With a program for large data that needs more shared memory than the model has, and all that a roomy
/// one has.
pub(crate) static LARGE: Family = Family::new(
    &TOY,
    "toy cipher, also for large data",
    ConstantTime::No("it is a toy"),
    &[&programs::AES_TABLE_SHARED],
    toy_keys::<480, 60, 10>,
)
.with_large(&programs::AES_MIXED, LARGE_FROM);

/// With nothing that fits the model.
pub(crate) static TOO_LARGE: Family = Family::new(
    &TOY,
    "toy cipher",
    ConstantTime::Yes,
    &[&programs::AES_CONFLICT_FREE_4],
    toy_keys::<64, 60, 10>,
);

/// Launched as Camellia's kernels are, which have a key stream by itself.
pub(crate) static WITH_KEYSTREAM: Family = Family::new(
    &TOY,
    "toy cipher",
    ConstantTime::Yes,
    &[&programs::CAMELLIA_TABLE_GLOBAL],
    toy_keys::<72, 68, 3>,
);

/// The key, the direction and, where kernels look for one, a count.
pub(crate) fn toy_keys<const WORDS: usize, const COUNT_WORD: usize, const COUNT: u32>(
    key: &[u8],
) -> KeyPair {
    let keys = |is_decryption: u32| {
        let mut words = Zeroizing::new(vec![0; WORDS]);
        for (word, bytes) in words.iter_mut().zip(key.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        words[4] = is_decryption;
        words[COUNT_WORD] = COUNT;
        Keys::new(words)
    };
    KeyPair { encrypt: keys(0), decrypt: keys(1) }
}

/// The toy cipher on the CPU.
#[derive(Clone)]
pub(crate) struct Toy {
    key: [u8; 16],
}

pub(crate) type ToyCipher = Cipher<Toy>;

impl OneBlock for Toy {
    type BlockSize = U16;
    type KeySize = U16;
    const NAME: &'static str = "Toy";
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    fn new(key: &Array<u8, U16>) -> Self {
        Self { key: (*key).into() }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        toy(&self.key, direction, block);
    }
}

impl DeviceCipher for ToyCipher {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
