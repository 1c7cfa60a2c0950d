//! AES on NVIDIA GPUs: RustCrypto types, and the five kernel families beside each other.
//!
//! ```
//! use lanecrypt_aes::{cipher::BlockCipherEncrypt, cuda};
//! use lanecrypt_cuda::Device;
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let cipher = cuda::Aes128::new(&device, &[0; 16].into())?;
//!         let mut blocks = vec![[0; 16].into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0][..4], [0x66, 0xe9, 0x4b, 0xd4]);
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```
//!
//! | family | how | constant-time |
//! |---|---|---|
//! | [`BYTEWISE`] | P1's 8-bit form, 16 threads per block | no |
//! | [`TABLE_GLOBAL`] | T-tables in global memory | no |
//! | [`TABLE_SHARED`] | one copy of the T-tables in shared memory | no |
//! | [`CONFLICT_FREE`] | T-tables replicated over the banks | addresses vary, bank conflicts cannot |
//! | [`BITSLICE`] | 32 blocks per thread, no look-ups | yes |
//! | [`MIXED`] | replicated T-tables and eight blocks per thread, side by side | no |
//! | [`FASTEST`] | [`CONFLICT_FREE`]; [`TABLE_GLOBAL`] for small data, [`MIXED`] for large | no |

use alloc::vec::Vec;

use cipher::Array;
use lanecrypt_core::{ConstantTime, Direction};
use lanecrypt_cuda::{
    BatchFamily, CipherKernels, DeviceCipher, Family, KeyPair, Keys, OnDevice,
    kernels::{Program, batch, gcm, programs},
};
use lanecrypt_slicing::Schedule;
use zeroize::Zeroizing;

use crate::{
    Aes, Key128, Key192, Key256, KeyLength, RoundKeys,
    schedule::{AesSchedule, Block, MAX_ROUND_KEYS},
};

/// AES-128 whose bulk methods run on a GPU.
pub type Aes128 = OnDevice<crate::Aes128>;
/// AES-192 whose bulk methods run on a GPU.
pub type Aes192 = OnDevice<crate::Aes192>;
/// AES-256 whose bulk methods run on a GPU.
pub type Aes256 = OnDevice<crate::Aes256>;

/// P1's 8-bit form: sixteen threads per block.
pub static BYTEWISE: Family = Family::new(
    &crate::AES,
    "P1's 8-bit form: 16 threads a block",
    ConstantTime::LOOKS_UP,
    &[&programs::AES_BYTEWISE],
    key_pair,
);

/// T-tables in global memory.
pub static TABLE_GLOBAL: Family = Family::new(
    &crate::AES,
    "T-tables in global memory",
    ConstantTime::LOOKS_UP,
    &[&programs::AES_TABLE_GLOBAL],
    key_pair,
);

/// One copy of the T-tables in shared memory.
pub static TABLE_SHARED: Family = Family::new(
    &crate::AES,
    "one copy of the T-tables in shared memory",
    ConstantTime::LOOKS_UP,
    &[&programs::AES_TABLE_SHARED],
    key_pair,
);

// ANCHOR: conflict_free
/// T-tables replicated over the banks of shared memory: four, two or one of them, as many as fit.
pub static CONFLICT_FREE: Family = Family::new(
    &crate::AES,
    "as many T-tables in every bank as fit",
    ConstantTime::LOOKS_UP,
    CONFLICT_FREE_PROGRAMS,
    key_pair,
)
.with_gcm(&gcm::AES);
const CONFLICT_FREE_PROGRAMS: &[&Program] = &[
    &programs::AES_CONFLICT_FREE_4,
    &programs::AES_CONFLICT_FREE_2,
    &programs::AES_CONFLICT_FREE_1,
];
// ANCHOR_END: conflict_free

/// Two replicated T-tables, which 99 KiB of shared memory hold.
pub static CONFLICT_FREE_TWO: Family = Family::new(
    &crate::AES,
    "two T-tables in every bank, one rotation",
    ConstantTime::LOOKS_UP,
    &[&programs::AES_CONFLICT_FREE_2],
    key_pair,
);

/// One replicated T-table, which 64 KiB of shared memory hold.
pub static CONFLICT_FREE_ONE: Family = Family::new(
    &crate::AES,
    "one T-table in every bank, three rotations",
    ConstantTime::LOOKS_UP,
    &[&programs::AES_CONFLICT_FREE_1],
    key_pair,
);

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(
    &crate::AES,
    "a column of 32 blocks a thread, a bit of each in a register",
    ConstantTime::Yes,
    &[&programs::AES_BITSLICE],
    key_pair,
);

/// Warps that look up and warps that are bit-sliced in one kernel, on devices with 161 KiB of shared
/// memory.
pub static MIXED: Family = Family::new(
    &crate::AES,
    "T-tables in every bank, and bit-sliced warps beside them",
    ConstantTime::LOOKS_UP,
    &[&programs::AES_MIXED],
    key_pair_with_planes,
);

// ANCHOR: fastest
/// Bytes from which on the mixed kernels are faster than the tables in every mode: their warps take runs
/// of 16 KiB for some 36 us each, so a multiprocessor has enough runs only in data of this length. On an H200,
/// Gbit/s of AES-128 by the tables and mixed: 5,773 and 5,860 of CTR over 64 MiB, 5,550 and 5,960 of ECB;
/// 7,328 and 9,328, and 6,263 and 7,657, over 4 GiB. Over 16 MiB the tables are ahead.
pub const MIXED_FROM: u64 = 64 << 20;

/// Bytes up to which tables in global memory are faster than copies in every bank, which a thread block
/// fills before it begins. On an H200, microseconds of CTR on the device by one and the other: 7.7 and
/// 17.9 over 64 KiB, 8.0 and 16.9 over 256 KiB; of ECB 10.6 and 9.1 over 1 MiB.
pub const GLOBAL_BELOW: u64 = 1 << 20;

/// The fastest for every size: [`CONFLICT_FREE`], but [`TABLE_GLOBAL`] below [`GLOBAL_BELOW`], and [`MIXED`]
/// from [`MIXED_FROM`] on.
pub static FASTEST: Family = Family::new(
    &crate::AES,
    "as many T-tables in every bank as fit; for less than 1 MiB one copy in global memory, from 64 MiB on \
     bit-sliced warps beside them",
    ConstantTime::LOOKS_UP,
    CONFLICT_FREE_PROGRAMS,
    key_pair_with_planes,
)
.with_small(&programs::AES_TABLE_GLOBAL, GLOBAL_BELOW)
.with_large(&programs::AES_MIXED, MIXED_FROM)
.with_gcm(&gcm::AES);
// ANCHOR_END: fastest

/// Batches: many messages, each under a key of its own, by T-tables in every bank.
pub static BATCHES: BatchFamily = BatchFamily::new(&crate::AES, &batch::AES);

/// What the types of users take.
pub static KERNELS: CipherKernels =
    CipherKernels { fastest: &FASTEST, constant_time: &BITSLICE, batches: Some(&BATCHES) };

/// The keys of both directions: decryption is the equivalent inverse cipher.
fn key_pair(key: &[u8]) -> KeyPair {
    match key.len() {
        16 => sized_key_pair::<Key128>(key),
        24 => sized_key_pair::<Key192>(key),
        _ => sized_key_pair::<Key256>(key),
    }
}

/// The keys from one whose length the family has checked.
fn sized_key_pair<K: KeyLength>(key: &[u8]) -> KeyPair {
    let keys = RoundKeys::<K>::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    KeyPair {
        encrypt: kernel_keys(&keys.of(Direction::Encrypt)),
        decrypt: kernel_keys(&keys.of(Direction::Decrypt)),
    }
}

// ANCHOR: kernel_keys
/// `AesKeys` of `kernels/aes/keys.cuh`: first, up to 13 between, last, number of rounds.
fn kernel_keys(blocks: &[Block]) -> Keys {
    let rounds = blocks.len() - 1;
    let mut words = Zeroizing::new(Vec::with_capacity(4 * MAX_ROUND_KEYS + 4));
    let columns = |block: &[u8; 16]| {
        let bytes = block.as_chunks::<4>().0;
        core::array::from_fn::<u32, 4, _>(|column| u32::from_le_bytes(bytes[column]))
    };
    words.extend(blocks[..rounds].iter().flat_map(columns));
    words.resize(4 * (MAX_ROUND_KEYS - 1), 0);
    words.extend(columns(&blocks[rounds]));
    words.extend([rounds as u32, 0, 0, 0]);
    Keys::new(words)
}
// ANCHOR_END: kernel_keys

/// The same, with planes.
fn key_pair_with_planes(key: &[u8]) -> KeyPair {
    let KeyPair { encrypt, decrypt } = key_pair(key);
    KeyPair { encrypt: with_planes(&encrypt), decrypt: with_planes(&decrypt) }
}

// ANCHOR: with_planes
/// `MixedKeys` of `kernels/aes/keys.cuh`: after the keys 32 words for each between the first and the last,
/// of which word `p` has bit `p` of column `c` in every bit of byte `c`.
fn with_planes(keys: &Keys) -> Keys {
    let middle = &keys.words()[4..4 * (MAX_ROUND_KEYS - 1)];
    let mut words = Zeroizing::new(Vec::with_capacity(keys.words().len() + 8 * middle.len()));
    words.extend_from_slice(keys.words());
    for columns in middle.as_chunks::<4>().0 {
        words.extend((0..32).map(|bit| {
            u32::from_le_bytes(columns.map(|column| if column >> bit & 1 == 1 { 0xff } else { 0 }))
        }));
    }
    Keys::new(words)
}
// ANCHOR_END: with_planes

impl<K: KeyLength> DeviceCipher for Aes<K> {
    fn kernels() -> &'static CipherKernels {
        &KERNELS
    }
}
