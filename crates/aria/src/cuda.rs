//! ARIA on NVIDIA GPUs: RustCrypto types, and the kernel families beside each other.
//!
//! ```
//! use lanecrypt_aria::{cipher::BlockCipherEncrypt, cuda};
//! use lanecrypt_cuda::Device;
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let key = 0x00010203_04050607_08090a0b_0c0d0e0f_u128.to_be_bytes();
//!         let cipher = cuda::Aria128::new(&device, &key.into())?;
//!         let block = 0x00112233_44556677_8899aabb_ccddeeff_u128.to_be_bytes();
//!         let mut blocks = vec![block.into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0][..4], [0xd7, 0x18, 0xfb, 0xd6]);
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```
//!
//! Decryption takes the same rounds with transformed keys, so one kernel serves both directions.
//!
//! | family | how | constant-time |
//! |---|---|---|
//! | [`BYTEWISE`] | P1's 8-bit form, 16 threads per block | no |
//! | [`TABLE_SHARED`] | P1's 32-bit form, one copy of four tables in shared memory | no |
//! | [`CONFLICT_FREE`] | four tables in every bank | addresses vary, bank conflicts cannot |
//! | [`BITSLICE`] | 32 blocks per thread, no look-ups | yes |

use alloc::vec::Vec;

use cipher::Array;
use lanecrypt_core::{ConstantTime, Direction};
use lanecrypt_cuda::{
    BatchFamily, CipherKernels, DeviceChoices, Family, KeyPair, Keys, OnDevice,
    kernels::{batch, programs},
};
use lanecrypt_slicing::Schedule;
use zeroize::Zeroizing;

use crate::{CpuForms, Key128, Key192, Key256, KeyLength, RoundKeys, schedule::Block};

/// ARIA-128 whose bulk methods run on a GPU.
pub type Aria128 = OnDevice<crate::Aria128>;
/// ARIA-192 whose bulk methods run on a GPU.
pub type Aria192 = OnDevice<crate::Aria192>;
/// ARIA-256 whose bulk methods run on a GPU.
pub type Aria256 = OnDevice<crate::Aria256>;

/// Round keys of the longest key: 16 rounds and the last addition.
const MAX_ROUND_KEYS: usize = 17;

/// P1's 8-bit form: sixteen threads per block.
pub static BYTEWISE: Family = Family::new(
    &crate::ARIA,
    "P1's 8-bit form: 16 threads a block",
    ConstantTime::LOOKS_UP,
    &[&programs::ARIA_BYTEWISE],
    plain_keys,
);

/// P1's 32-bit form: one copy of four tables in shared memory.
pub static TABLE_SHARED: Family = Family::new(
    &crate::ARIA,
    "one copy of four tables in shared memory",
    ConstantTime::LOOKS_UP,
    &[&programs::ARIA_TABLE_SHARED],
    folded_keys,
);

/// Four tables replicated over the banks of shared memory.
pub static CONFLICT_FREE: Family = Family::new(
    &crate::ARIA,
    "four tables in every bank",
    ConstantTime::LOOKS_UP,
    &[&programs::ARIA_CONFLICT_FREE],
    folded_keys,
);

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(
    &crate::ARIA,
    "32 blocks a thread, a bit of each in a register",
    ConstantTime::Yes,
    &[&programs::ARIA_BITSLICE],
    plain_keys,
);

/// Batches: many messages, each under a key of its own, by four tables in every bank.
pub static BATCHES: BatchFamily = BatchFamily::new(&crate::ARIA, &batch::ARIA);

/// What the types of users take.
pub static KERNELS: CipherKernels =
    CipherKernels { fastest: &CONFLICT_FREE, constant_time: &BITSLICE, batches: Some(&BATCHES) };

fn plain_keys(key: &[u8]) -> KeyPair {
    key_pair(key, |key, _| key)
}

fn folded_keys(key: &[u8]) -> KeyPair {
    key_pair(key, fold)
}

fn key_pair(key: &[u8], between: impl Fn(Words, bool) -> Words) -> KeyPair {
    match key.len() {
        16 => sized_key_pair::<Key128>(key, between),
        24 => sized_key_pair::<Key192>(key, between),
        _ => sized_key_pair::<Key256>(key, between),
    }
}

/// The keys from one whose length the family has checked.
fn sized_key_pair<K: KeyLength>(key: &[u8], between: impl Fn(Words, bool) -> Words) -> KeyPair {
    let key = Zeroizing::new(Array::from_fn(|i| key[i]));
    let keys = RoundKeys::<K>::new(&key);
    KeyPair {
        encrypt: kernel_keys(keys.of(Direction::Encrypt), &between),
        decrypt: kernel_keys(keys.of(Direction::Decrypt), &between),
    }
}

/// A round key as little-endian words.
type Words = [u32; 4];

fn words(key: &Block) -> Words {
    let bytes = key.as_chunks::<4>().0;
    core::array::from_fn(|i| u32::from_le_bytes(bytes[i]))
}

/// Every word becomes the sum of three.
fn mix_words([x, y, z, w]: Words) -> Words {
    [x ^ y ^ z, x ^ z ^ w, x ^ y ^ w, y ^ z ^ w]
}

// ANCHOR: fold
/// The key that, added before `diffuse` of `kernels/aria/aria.cuh`, is the same as `key` after it.
/// That function is its own inverse.
fn fold(key: Words, is_odd: bool) -> Words {
    let swap_pairs = |word: u32| word.rotate_left(16).swap_bytes();
    let [x, y, z, w] = mix_words(key);
    mix_words(if is_odd {
        [x, swap_pairs(y), z.rotate_left(16), w.swap_bytes()]
    } else {
        [x.rotate_left(16), y.swap_bytes(), z, swap_pairs(w)]
    })
}
// ANCHOR_END: fold

/// `AriaKeys` of `kernels/aria/keys.cuh`: first, up to 15 between, last, number of rounds.
fn kernel_keys(keys: &[Block], between: impl Fn(Words, bool) -> Words) -> Keys {
    let rounds = keys.len() - 1;
    let mut kernel_words = Zeroizing::new(Vec::with_capacity(4 * MAX_ROUND_KEYS + 4));
    kernel_words.extend(words(&keys[0]));
    for (i, key) in keys[1..rounds].iter().enumerate() {
        kernel_words.extend(between(words(key), i % 2 == 0));
    }
    kernel_words.resize(4 * (MAX_ROUND_KEYS - 1), 0);
    kernel_words.extend(words(&keys[rounds]));
    kernel_words.extend([rounds as u32, 0, 0, 0]);
    Keys::new(kernel_words)
}

impl<K: KeyLength> DeviceChoices for CpuForms<K> {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
