//! HIGHT on NVIDIA GPUs: RustCrypto types, and the kernel families beside each other.
//!
//! ```
//! use lanecrypt_cuda::Device;
//! use lanecrypt_hight::{cipher::BlockCipherEncrypt, cuda};
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let key = 0x00112233_44556677_8899aabb_ccddeeff_u128.to_be_bytes();
//!         let cipher = cuda::Hight::new(&device, &key.into())?;
//!         let mut blocks = vec![[0; 8].into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0], 0x00f4_18ae_d94f_03f2_u64.to_be_bytes());
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```
//!
//! The families stand in a module for each byte order.
//!
//! | family | how | constant-time |
//! |---|---|---|
//! | `TABLE` | F0 and F1 in shared memory, coalesced | no |
//! | `TABLE_UNCOALESCED` | the same, a thread's blocks side by side | no |
//! | `BYTESLICE` | a byte of four blocks in a register, coalesced | yes |
//! | `BYTESLICE_UNCOALESCED` | the same, a thread's blocks side by side | yes |
//! | `BITSLICE` | 32 blocks per thread, a bit of each in a register | yes |

use alloc::vec::Vec;

use cipher::Array;
use lanecrypt_cuda::{CipherKernels, DeviceChoices, KeyPair, Keys, OnDevice};
use lanecrypt_slicing::Schedule;
use zeroize::Zeroizing;

use crate::{
    CpuForms, Kisa, Standard,
    schedule::{ByteOrder, ROUNDS, Subkeys},
};

/// HIGHT whose bulk methods run on a GPU.
pub type Hight = OnDevice<crate::Hight>;
/// HIGHT in KISA's byte order, whose bulk methods run on a GPU.
pub type HightKisa = OnDevice<crate::HightKisa>;

/// The families of one byte order.
macro_rules! families {
    ($module:ident, $cipher:ident, $keys:path, $doc:literal) => {
        #[doc = $doc]
        pub mod $module {
            use lanecrypt_core::ConstantTime;
            use lanecrypt_cuda::{CipherKernels, Family, kernels::programs};

            /// F0 and F1 in shared memory, coalesced access.
            pub static TABLE: Family = Family::new(
                &crate::$cipher,
                "F0 and F1 in shared memory, coalesced",
                ConstantTime::LOOKS_UP,
                &[&programs::HIGHT_TABLE],
                $keys,
            );
            /// F0 and F1 in shared memory, a thread's four blocks side by side.
            pub static TABLE_UNCOALESCED: Family = Family::new(
                &crate::$cipher,
                "F0 and F1 in shared memory, uncoalesced",
                ConstantTime::LOOKS_UP,
                &[&programs::HIGHT_TABLE_UNCOALESCED],
                $keys,
            );
            /// A byte of four blocks in a register, coalesced access.
            pub static BYTESLICE: Family = Family::new(
                &crate::$cipher,
                "a byte of 4 blocks in a register, coalesced",
                ConstantTime::Yes,
                &[&programs::HIGHT_BYTESLICE],
                $keys,
            );
            /// A byte of four blocks in a register, a thread's four blocks side by side.
            pub static BYTESLICE_UNCOALESCED: Family = Family::new(
                &crate::$cipher,
                "a byte of 4 blocks in a register, uncoalesced",
                ConstantTime::Yes,
                &[&programs::HIGHT_BYTESLICE_UNCOALESCED],
                $keys,
            );
            /// Bit-sliced, 32 blocks per thread.
            pub static BITSLICE: Family = Family::new(
                &crate::$cipher,
                "32 blocks a thread, a bit of each in a register",
                ConstantTime::Yes,
                &[&programs::HIGHT_BITSLICE],
                $keys,
            );
            /// What the types of users take.
            pub static KERNELS: CipherKernels =
                CipherKernels { fastest: &BITSLICE, constant_time: &BITSLICE, batches: None };
        }
    };
}
families!(standard, HIGHT, super::standard_keys, "Blocks and keys as the standard writes them.");
families!(kisa, HIGHT_KISA, super::kisa_keys, "Blocks and keys in the order of KISA's C source.");

fn standard_keys(key: &[u8]) -> KeyPair {
    key_pair::<Standard>(key)
}

fn kisa_keys(key: &[u8]) -> KeyPair {
    key_pair::<Kisa>(key)
}

/// The keys from one whose length the family has checked. Both directions take the same.
fn key_pair<O: ByteOrder>(key: &[u8]) -> KeyPair {
    let keys = Subkeys::<O>::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    KeyPair { encrypt: kernel_keys(&keys), decrypt: kernel_keys(&keys) }
}

/// `HightKeys` of `kernels/hight/keys.cuh`: every byte four times in a word, and the byte order.
fn kernel_keys<O: ByteOrder>(keys: &Subkeys<O>) -> Keys {
    let mut words = Zeroizing::new(Vec::with_capacity(4 * ROUNDS + 8 + 4));
    let keys = keys.fours();
    words.extend(keys.rounds.as_flattened().iter().chain(&keys.whitening));
    words.extend([u32::from(O::IS_REVERSED), 0, 0, 0]);
    Keys::new(words)
}

impl DeviceChoices for CpuForms<Standard> {
    fn kernels() -> &'static CipherKernels {
        &standard::KERNELS
    }
}

impl DeviceChoices for CpuForms<Kisa> {
    fn kernels() -> &'static CipherKernels {
        &kisa::KERNELS
    }
}
