//! SEED on NVIDIA GPUs: the RustCrypto type, and the kernel families beside each other.
//!
//! ```
//! use lanecrypt_cuda::Device;
//! use lanecrypt_seed::{cipher::BlockCipherEncrypt, cuda};
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let cipher = cuda::Seed128::new(&device, &[0; 16].into())?;
//!         let block = 0x00010203_04050607_08090a0b_0c0d0e0f_u128.to_be_bytes();
//!         let mut blocks = vec![block.into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0][..4], [0x5e, 0xba, 0xc6, 0xe0]);
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```
//!
//! One kernel serves both directions: which it is, is in the order of the round keys.
//!
//! | family | how | constant-time |
//! |---|---|---|
//! | [`TABLE_SHARED`] | one copy of four tables in shared memory | no |
//! | [`CONFLICT_FREE`] | four tables in every bank | addresses vary, bank conflicts cannot |
//! | [`BITSLICE`] | 32 blocks per thread, no look-ups | yes |

use cipher::Array;
use lanecrypt_core::{ConstantTime, Direction};
use lanecrypt_cuda::{
    BatchFamily, CipherKernels, DeviceChoices, Family, KeyPair, Keys, OnDevice,
    kernels::{batch, programs},
};
use lanecrypt_slicing::Schedule;
use zeroize::Zeroizing;

use crate::{CpuForms, RoundKeys, schedule::ROUNDS};

/// SEED whose bulk methods run on a GPU.
pub type Seed128 = OnDevice<crate::Seed128>;

/// One copy of four tables in shared memory.
pub static TABLE_SHARED: Family = Family::new(
    &crate::SEED,
    "one copy of four tables in shared memory",
    ConstantTime::LOOKS_UP,
    &[&programs::SEED_TABLE_SHARED],
    key_pair,
);

/// Four tables replicated over the banks of shared memory.
pub static CONFLICT_FREE: Family = Family::new(
    &crate::SEED,
    "four tables in every bank",
    ConstantTime::LOOKS_UP,
    &[&programs::SEED_CONFLICT_FREE],
    key_pair,
);

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(
    &crate::SEED,
    "32 blocks a thread, a bit of each in a register",
    ConstantTime::Yes,
    &[&programs::SEED_BITSLICE],
    key_pair,
);

/// Batches: many messages, each under a key of its own, by four tables in every bank.
pub static BATCHES: BatchFamily = BatchFamily::new(&crate::SEED, &batch::SEED);

/// What the types of users take.
pub static KERNELS: CipherKernels =
    CipherKernels { fastest: &CONFLICT_FREE, constant_time: &BITSLICE, batches: Some(&BATCHES) };

/// The keys from one whose length the family has checked.
fn key_pair(key: &[u8]) -> KeyPair {
    let keys = RoundKeys::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    KeyPair {
        encrypt: kernel_keys(&keys.of(Direction::Encrypt)),
        decrypt: kernel_keys(&keys.of(Direction::Decrypt)),
    }
}

/// `SeedKeys` of `kernels/seed/keys.cuh`: two words per round.
fn kernel_keys(keys: &[[u32; 2]; ROUNDS]) -> Keys {
    Keys::new(Zeroizing::new(keys.as_flattened().to_vec()))
}

impl DeviceChoices for CpuForms {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
