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
//! | [`BYTEWISE`] | P1's 8-bit form, 16 threads a block | no |
//! | [`TABLE_GLOBAL`] | T-tables in global memory | no |
//! | [`TABLE_SHARED`] | one copy of the T-tables in shared memory | no |
//! | [`CONFLICT_FREE`] | T-tables replicated over the banks | addresses vary, bank conflicts cannot |
//! | [`BITSLICE`] | 32 blocks a thread, no look-ups | yes |

use alloc::vec::Vec;

use lanecrypt_core::ConstantTime;
use lanecrypt_cuda::{
    DeviceCipher, Family, Kernel, KeyPair, Keys, OnDevice, Program, Unit, program,
};
use zeroize::Zeroizing;

use crate::{
    Aes, KeyLength, compact,
    schedule::{MAX_ROUND_KEYS, RoundKeys},
};

/// AES-128 whose bulk methods run on a GPU.
pub type Aes128 = OnDevice<crate::Aes128>;
/// AES-192 whose bulk methods run on a GPU.
pub type Aes192 = OnDevice<crate::Aes192>;
/// AES-256 whose bulk methods run on a GPU.
pub type Aes256 = OnDevice<crate::Aes256>;

const LOOKS_UP: ConstantTime = ConstantTime::No("table addresses depend on key and data");

/// P1's 8-bit form: sixteen threads a block.
pub static BYTEWISE: Family = Family {
    cipher: &crate::AES,
    summary: "P1's 8-bit form: 16 threads a block",
    lanes: 16,
    keys: key_pair,
    constant_time: LOOKS_UP,
    // The S-box and a byte a thread.
    programs: &[program!(
        AES_BYTEWISE,
        "aes_bytewise",
        256,
        256 + 256,
        Unit { threads: 16, blocks: 1, aligned: false }
    )],
};

/// T-tables in global memory.
pub static TABLE_GLOBAL: Family = Family {
    cipher: &crate::AES,
    summary: "T-tables in global memory",
    lanes: 256,
    keys: key_pair,
    constant_time: LOOKS_UP,
    programs: &[program!(AES_TABLE, "aes_table_global", 256, 0, Unit::THREAD)],
};

/// One copy of the T-tables in shared memory.
pub static TABLE_SHARED: Family = Family {
    cipher: &crate::AES,
    summary: "one copy of the T-tables in shared memory",
    lanes: 1024,
    keys: key_pair,
    constant_time: LOOKS_UP,
    // Four tables of 256 words and one of 256 bytes.
    programs: &[program!(AES_TABLE, "aes_table_shared", 1024, 4 * 1024 + 256, Unit::THREAD)],
};

/// A table of 256 words in every bank, and what lies before a pair of them: see
/// `kernels/common/conflict_free.cuh`.
const SINGLE_BYTES: u32 = 32 << 10;
const PAIR_ORIGIN: u32 = 1024;

// ANCHOR: conflict_free
macro_rules! conflict_free {
    ($module:ident, $prefix:literal, $table_bytes:expr) => {{
        let program = program!($module, $prefix, 1024, $table_bytes, Unit::THREAD);
        Program {
            // The inverse S-box is a table of its own.
            ecb_decrypt: Kernel {
                shared_bytes: $table_bytes + SINGLE_BYTES,
                ..program.ecb_decrypt
            },
            // A thread block takes the counters that a thread each of it has, at aligned starts.
            ctr: Kernel {
                unit: Unit { threads: 1024, blocks: 1024, aligned: true },
                ..program.ctr
            },
            ..program
        }
    }};
}

/// T-tables replicated over the banks of shared memory: four, two or one of them, as many as fit.
pub static CONFLICT_FREE: Family = Family {
    cipher: &crate::AES,
    summary: "as many T-tables in every bank as fit",
    lanes: 1024,
    keys: key_pair,
    constant_time: LOOKS_UP,
    programs: &[CONFLICT_FREE_4, CONFLICT_FREE_2, CONFLICT_FREE_1],
};

/// Two replicated T-tables, which 99 KiB of shared memory hold.
pub static CONFLICT_FREE_TWO: Family = Family {
    cipher: &crate::AES,
    summary: "two T-tables in every bank, one rotation",
    lanes: 1024,
    keys: key_pair,
    constant_time: LOOKS_UP,
    programs: &[CONFLICT_FREE_2],
};

/// One replicated T-table, which 64 KiB of shared memory hold.
pub static CONFLICT_FREE_ONE: Family = Family {
    cipher: &crate::AES,
    summary: "one T-table in every bank, three rotations",
    lanes: 1024,
    keys: key_pair,
    constant_time: LOOKS_UP,
    programs: &[CONFLICT_FREE_1],
};

const CONFLICT_FREE_4: Program =
    conflict_free!(AES_CONFLICT_FREE_4, "aes_conflict_free_4", PAIR_ORIGIN + 4 * SINGLE_BYTES);
// ANCHOR_END: conflict_free
const CONFLICT_FREE_2: Program =
    conflict_free!(AES_CONFLICT_FREE_2, "aes_conflict_free_2", PAIR_ORIGIN + 2 * SINGLE_BYTES);
const CONFLICT_FREE_1: Program =
    conflict_free!(AES_CONFLICT_FREE_1, "aes_conflict_free_1", SINGLE_BYTES);

/// Bit-sliced, 32 blocks a thread.
pub static BITSLICE: Family = Family {
    cipher: &crate::AES,
    summary: "a column of 32 blocks a thread, a bit of each in a register",
    lanes: 256,
    keys: key_pair,
    constant_time: ConstantTime::Yes,
    programs: &[program!(
        AES_BITSLICE,
        "aes_bitslice",
        512,
        // The round keys, a word for every bit of them.
        MAX_ROUND_KEYS as u32 * 128 * 4,
        Unit { threads: 32, blocks: 256, aligned: false }
    )],
};

/// The keys of both directions: decryption is the equivalent inverse cipher.
fn key_pair(key: &[u8]) -> KeyPair {
    let keys = compact::expand(key);
    let inverse = keys.inverse(compact::inv_mix_columns_of);
    KeyPair { encrypt: kernel_keys(&keys), decrypt: kernel_keys(&inverse) }
}

// ANCHOR: kernel_keys
/// `AesKeys` of `kernels/aes/keys.cuh`: first, up to 13 between, last, number of rounds.
fn kernel_keys(keys: &RoundKeys) -> Keys {
    let blocks = keys.blocks();
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

impl<K: KeyLength> DeviceCipher for Aes<K> {
    fn family() -> &'static Family {
        &CONFLICT_FREE
    }
}
