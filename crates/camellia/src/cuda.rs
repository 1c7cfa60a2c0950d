//! Camellia on NVIDIA GPUs: RustCrypto types, and the kernel families beside each other.
//!
//! ```
//! use lanecrypt_camellia::{cipher::BlockCipherEncrypt, cuda};
//! use lanecrypt_cuda::Device;
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let cipher = cuda::Camellia128::new(&device, &[0; 16].into())?;
//!         let mut blocks = vec![[0; 16].into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0][..4], [0x3d, 0x02, 0x80, 0x25]);
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```
//!
//! One kernel serves both directions: which it is, is in the order of the subkeys.
//!
//! | family | how | constant-time |
//! |---|---|---|
//! | [`TABLE_GLOBAL`] | P2's merged table in global memory | no |
//! | [`TABLE_SHARED`] | one copy of it in shared memory | no |
//! | [`CONFLICT_FREE_MERGED`] | a copy of it in every bank | addresses vary, bank conflicts cannot |
//! | [`CONFLICT_FREE`] | four tables in every bank, where they fit | the same |
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

use crate::{CpuForms, Key128, Key192, Key256, KeyLength, Subkeys, schedule::GROUP, words::parts};

/// Camellia-128 whose bulk methods run on a GPU.
pub type Camellia128 = OnDevice<crate::Camellia128>;
/// Camellia-192 whose bulk methods run on a GPU.
pub type Camellia192 = OnDevice<crate::Camellia192>;
/// Camellia-256 whose bulk methods run on a GPU.
pub type Camellia256 = OnDevice<crate::Camellia256>;

/// Groups of six rounds that the longer keys have.
const MAX_GROUPS: usize = 4;

/// P2's merged table in global memory.
pub static TABLE_GLOBAL: Family = Family::new(
    &crate::CAMELLIA,
    "P2's merged table in global memory",
    ConstantTime::LOOKS_UP,
    &[&programs::CAMELLIA_TABLE_GLOBAL],
    key_pair,
);

/// One copy of the merged table in shared memory.
pub static TABLE_SHARED: Family = Family::new(
    &crate::CAMELLIA,
    "one copy of the merged table in shared memory",
    ConstantTime::LOOKS_UP,
    &[&programs::CAMELLIA_TABLE_SHARED],
    key_pair,
);

/// The merged table replicated over the banks of shared memory.
pub static CONFLICT_FREE_MERGED: Family = Family::new(
    &crate::CAMELLIA,
    "the merged table in every bank",
    ConstantTime::LOOKS_UP,
    &[&programs::CAMELLIA_CONFLICT_FREE_MERGED],
    key_pair,
);

/// Four tables replicated over the banks, or the merged one where they do not fit.
pub static CONFLICT_FREE: Family = Family::new(
    &crate::CAMELLIA,
    "four tables in every bank, else the merged one",
    ConstantTime::LOOKS_UP,
    &[&programs::CAMELLIA_CONFLICT_FREE_FOUR, &programs::CAMELLIA_CONFLICT_FREE_MERGED],
    key_pair,
);

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(
    &crate::CAMELLIA,
    "32 blocks a thread, a bit of each in a register",
    ConstantTime::Yes,
    &[&programs::CAMELLIA_BITSLICE],
    key_pair,
);

/// Batches: many messages, each under a key of its own, by four tables in every bank.
pub static BATCHES: BatchFamily = BatchFamily::new(&crate::CAMELLIA, &batch::CAMELLIA);

/// What the types of users take.
pub static KERNELS: CipherKernels =
    CipherKernels { fastest: &CONFLICT_FREE, constant_time: &BITSLICE, batches: Some(&BATCHES) };

fn key_pair(key: &[u8]) -> KeyPair {
    match key.len() {
        16 => sized_key_pair::<Key128>(key),
        24 => sized_key_pair::<Key192>(key),
        _ => sized_key_pair::<Key256>(key),
    }
}

/// The keys from one whose length the family has checked.
fn sized_key_pair<K: KeyLength>(key: &[u8]) -> KeyPair {
    let key = Zeroizing::new(Array::from_fn(|i| key[i]));
    let subkeys = Subkeys::<K>::new(&key);
    KeyPair {
        encrypt: kernel_keys(&subkeys.of(Direction::Encrypt)),
        decrypt: kernel_keys(&subkeys.of(Direction::Decrypt)),
    }
}

/// `CamelliaKeys` of `kernels/camellia/keys.cuh`: start, rounds, layers, end, number of groups.
fn kernel_keys(subkeys: &[u64]) -> Keys {
    let (rounds, layers) = (2 * GROUP * MAX_GROUPS, 4 * (MAX_GROUPS - 1));
    let mut words = Zeroizing::new(Vec::with_capacity(4 + rounds + layers + 4 + 4));
    let (start, rest) = subkeys.split_at(2);
    let (middle, end) = rest.split_at(rest.len() - 2);
    let groups = middle.chunks(GROUP + 2);
    words.extend(start.iter().flat_map(|&key| parts(key)));
    words.extend(groups.clone().flat_map(|group| &group[..GROUP]).flat_map(|&key| parts(key)));
    words.resize(4 + rounds, 0);
    words.extend(groups.clone().flat_map(|group| &group[GROUP..]).flat_map(|&key| parts(key)));
    words.resize(4 + rounds + layers, 0);
    words.extend(end.iter().flat_map(|&key| parts(key)));
    words.extend([groups.len() as u32, 0, 0, 0]);
    Keys::new(words)
}

impl<K: KeyLength> DeviceChoices for CpuForms<K> {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
