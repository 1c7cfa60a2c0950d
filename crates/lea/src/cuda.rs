//! LEA on NVIDIA GPUs: RustCrypto types, and the kernel family.
//!
//! ```
//! use lanecrypt_cuda::Device;
//! use lanecrypt_lea::{cipher::BlockCipherEncrypt, cuda};
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let key = 0x0f1e2d3c_4b5a6978_8796a5b4_c3d2e1f0_u128.to_be_bytes();
//!         let block = 0x10111213_14151617_18191a1b_1c1d1e1f_u128.to_be_bytes();
//!         let cipher = cuda::Lea128::new(&device, &key.into())?;
//!         let mut blocks = vec![block.into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0][..4], [0x9f, 0xc8, 0x4e, 0x35]);
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```
//!
//! | family | how | constant-time |
//! |---|---|---|
//! | [`WORDS`] | one block per thread, in 32-bit words | yes |

use alloc::vec::Vec;

use cipher::Array;
use lanecrypt_core::ConstantTime;
use lanecrypt_cuda::{
    BatchFamily, CipherKernels, DeviceChoices, Family, KeyPair, Keys, OnDevice,
    kernels::{batch, programs},
};
use lanecrypt_slicing::Schedule;
use zeroize::Zeroizing;

use crate::{
    CpuForms, Key128, Key192, Key256,
    schedule::{KeyLength, MOST_ROUNDS, RoundKey, RoundKeys},
};

/// LEA-128 whose bulk methods run on a GPU.
pub type Lea128 = OnDevice<crate::Lea128>;
/// LEA-192 whose bulk methods run on a GPU.
pub type Lea192 = OnDevice<crate::Lea192>;
/// LEA-256 whose bulk methods run on a GPU.
pub type Lea256 = OnDevice<crate::Lea256>;

// ANCHOR: family
/// One block per thread, in 32-bit words.
pub static WORDS: Family = Family::new(
    &crate::LEA,
    "a block a thread, in 32-bit words",
    ConstantTime::Yes,
    &[&programs::LEA_WORDS],
    key_pair,
);
// ANCHOR_END: family

/// Batches: many messages, each under a key of its own.
pub static BATCHES: BatchFamily = BatchFamily::new(&crate::LEA, &batch::LEA);

/// What the types of users take.
pub static KERNELS: CipherKernels =
    CipherKernels { fastest: &WORDS, constant_time: &WORDS, batches: Some(&BATCHES) };

// ANCHOR: keys
/// The keys from one whose length the family has checked.
fn key_pair(key: &[u8]) -> KeyPair {
    match key.len() {
        16 => sized::<Key128>(key),
        24 => sized::<Key192>(key),
        _ => sized::<Key256>(key),
    }
}

fn sized<K: KeyLength>(key: &[u8]) -> KeyPair {
    let keys = RoundKeys::<K>::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    let rounds = keys.fours().as_flattened();
    KeyPair { encrypt: kernel_keys(rounds.iter()), decrypt: kernel_keys(rounds.iter().rev()) }
}

/// `LeaKeys` of `kernels/lea/keys.cuh`.
fn kernel_keys<'a>(rounds: impl ExactSizeIterator<Item = &'a RoundKey>) -> Keys {
    let count = rounds.len();
    let mut words = Zeroizing::new(Vec::with_capacity(6 * MOST_ROUNDS + 4));
    words.extend(rounds.flatten());
    words.resize(6 * MOST_ROUNDS, 0);
    words.extend([count as u32, 0, 0, 0]);
    Keys::new(words)
}
// ANCHOR_END: keys

impl<K: KeyLength> DeviceChoices for CpuForms<K> {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
