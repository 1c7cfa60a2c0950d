//! SM4 on NVIDIA GPUs: the RustCrypto type, and the kernel families beside each other.
//!
//! ```
//! use lanecrypt_cuda::Device;
//! use lanecrypt_sm4::{cipher::BlockCipherEncrypt, cuda};
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let block = 0x01234567_89abcdef_fedcba98_76543210_u128.to_be_bytes();
//!         let cipher = cuda::Sm4::new(&device, &block.into())?;
//!         let mut blocks = vec![block.into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0][..4], [0x68, 0x1e, 0xdf, 0x34]);
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

use crate::{CpuForms, RoundKeys, schedule::PAIRS};

/// SM4 whose bulk methods run on a GPU.
pub type Sm4 = OnDevice<crate::Sm4>;

/// One copy of four tables in shared memory.
pub static TABLE_SHARED: Family = Family::new(
    &crate::SM4,
    "one copy of four tables in shared memory",
    ConstantTime::LOOKS_UP,
    &[&programs::SM4_TABLE_SHARED],
    key_pair,
);

/// Four tables replicated over the banks of shared memory.
pub static CONFLICT_FREE: Family = Family::new(
    &crate::SM4,
    "four tables in every bank",
    ConstantTime::LOOKS_UP,
    &[&programs::SM4_CONFLICT_FREE],
    key_pair,
);

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(
    &crate::SM4,
    "32 blocks a thread, a bit of each in a register",
    ConstantTime::Yes,
    &[&programs::SM4_BITSLICE],
    key_pair,
);

/// Batches: many messages, each under a key of its own, by four tables in every bank.
pub static BATCHES: BatchFamily = BatchFamily::new(&crate::SM4, &batch::SM4);

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

/// `Sm4Keys` of `kernels/sm4/keys.cuh`: a word per round.
fn kernel_keys(keys: &[[u32; 2]; PAIRS]) -> Keys {
    Keys::new(Zeroizing::new(keys.as_flattened().to_vec()))
}

impl DeviceChoices for CpuForms {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
