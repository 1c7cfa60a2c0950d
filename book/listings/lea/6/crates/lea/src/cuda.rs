//! LEA on NVIDIA GPUs: RustCrypto types, and the kernel family.
//!
//! ```
//! use lanecrypt_cuda::Device;
//! use lanecrypt_lea::{cipher::BlockCipherEncrypt, cuda};
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let cipher = cuda::Lea128::new(&device, &[0; 16].into())?;
//!         let mut blocks = vec![[0; 16].into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0], blocks[1]);
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```

use alloc::vec::Vec;

use cipher::Array;
use lanecrypt_core::{ConstantTime, Direction};
use lanecrypt_cuda::{
    CipherKernels, DeviceChoices, Family, KeyPair, Keys, OnDevice, kernels::programs,
};
use lanecrypt_slicing::Schedule;
use zeroize::Zeroizing;

use crate::{
    CpuForms, Key128, Key192, Key256,
    schedule::{KeyLength, MOST_ROUNDS, RoundKeys},
};

/// LEA-128 whose bulk methods run on a GPU.
pub type Lea128 = OnDevice<crate::Lea128>;
/// LEA-192 whose bulk methods run on a GPU.
pub type Lea192 = OnDevice<crate::Lea192>;
/// LEA-256 whose bulk methods run on a GPU.
pub type Lea256 = OnDevice<crate::Lea256>;

// ANCHOR: family
/// One thread a block, in 32-bit words.
pub static WORDS: Family = Family::new(
    &crate::LEA,
    "a block a thread, in 32-bit words",
    ConstantTime::Yes,
    &[&programs::LEA_WORDS],
    key_pair,
);
// ANCHOR_END: family

/// What the types of users take.
pub static KERNELS: CipherKernels =
    CipherKernels { fastest: &WORDS, constant_time: &WORDS, batches: None };

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
    KeyPair {
        encrypt: kernel_keys(&keys, Direction::Encrypt),
        decrypt: kernel_keys(&keys, Direction::Decrypt),
    }
}

/// `LeaKeys` of `kernels/lea/keys.cuh`.
fn kernel_keys<K: KeyLength>(keys: &RoundKeys<K>, direction: Direction) -> Keys {
    let (keys, rounds) = keys.of(direction);
    let mut words = Zeroizing::new(Vec::with_capacity(6 * MOST_ROUNDS + 4));
    words.extend(keys.as_flattened());
    words.extend([rounds as u32, 0, 0, 0]);
    Keys::new(words)
}
// ANCHOR_END: keys

impl<K: KeyLength> DeviceChoices for CpuForms<K> {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
