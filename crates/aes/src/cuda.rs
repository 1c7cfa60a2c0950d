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

use alloc::{boxed::Box, format, vec::Vec};

use cipher::Key;
use lanecrypt_core::{ConstantTime, Unavailable};
use lanecrypt_cuda::{
    Device, DeviceCipher, Engine, Error, Kernel, Keys, OnDevice, Program, Properties, Unit, kernels,
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

/// A way to compute AES on a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name in the registry, after `cuda-`.
    pub name: &'static str,
    /// Its constant-time claim.
    pub constant_time: ConstantTime,
    /// The programs to choose from: the first that fits the device.
    programs: &'static [Program],
}

const LOOKS_UP: ConstantTime = ConstantTime::No("table addresses depend on key and data");

const THREAD: Unit = Unit { threads: 1, blocks: 1, aligned: false };

/// Three kernels that are launched alike.
macro_rules! program {
    ($module:ident, $prefix:literal, $threads:literal, $shared:expr, $unit:expr) => {
        Program {
            module: &kernels::$module,
            ecb_encrypt: Kernel {
                name: concat!($prefix, "_ecb_encrypt"),
                shared_bytes: $shared,
                threads: $threads,
                unit: $unit,
            },
            ecb_decrypt: Kernel {
                name: concat!($prefix, "_ecb_decrypt"),
                shared_bytes: $shared,
                threads: $threads,
                unit: $unit,
            },
            ctr: Kernel {
                name: concat!($prefix, "_ctr"),
                shared_bytes: $shared,
                threads: $threads,
                unit: Unit { aligned: $unit.blocks > 1, ..$unit },
            },
        }
    };
}

/// P1's 8-bit form: sixteen threads a block.
pub static BYTEWISE: Family = Family {
    name: "bytewise",
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
    name: "table-global",
    constant_time: LOOKS_UP,
    programs: &[program!(AES_TABLE, "aes_table_global", 256, 0, THREAD)],
};

/// One copy of the T-tables in shared memory.
pub static TABLE_SHARED: Family = Family {
    name: "table-shared",
    constant_time: LOOKS_UP,
    // Four tables of 256 words and one of 256 bytes.
    programs: &[program!(AES_TABLE, "aes_table_shared", 1024, 4 * 1024 + 256, THREAD)],
};

/// A table of 256 words in every bank, and what lies before a pair of them: see
/// `kernels/common/conflict_free.cuh`.
const SINGLE_BYTES: u32 = 32 << 10;
const PAIR_ORIGIN: u32 = 1024;

// ANCHOR: conflict_free
macro_rules! conflict_free {
    ($module:ident, $prefix:literal, $table_bytes:expr) => {{
        let program = program!($module, $prefix, 1024, $table_bytes, THREAD);
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
    name: "table-conflict-free",
    constant_time: LOOKS_UP,
    programs: &[CONFLICT_FREE_4, CONFLICT_FREE_2, CONFLICT_FREE_1],
};

/// Two replicated T-tables, which 99 KiB of shared memory hold.
pub static CONFLICT_FREE_TWO: Family =
    Family { name: "table-conflict-free-2", constant_time: LOOKS_UP, programs: &[CONFLICT_FREE_2] };

/// One replicated T-table, which 64 KiB of shared memory hold.
pub static CONFLICT_FREE_ONE: Family =
    Family { name: "table-conflict-free-1", constant_time: LOOKS_UP, programs: &[CONFLICT_FREE_1] };

const CONFLICT_FREE_4: Program =
    conflict_free!(AES_CONFLICT_FREE_4, "aes_conflict_free_4", PAIR_ORIGIN + 4 * SINGLE_BYTES);
// ANCHOR_END: conflict_free
const CONFLICT_FREE_2: Program =
    conflict_free!(AES_CONFLICT_FREE_2, "aes_conflict_free_2", PAIR_ORIGIN + 2 * SINGLE_BYTES);
const CONFLICT_FREE_1: Program =
    conflict_free!(AES_CONFLICT_FREE_1, "aes_conflict_free_1", SINGLE_BYTES);

/// Bit-sliced, 32 blocks a thread.
pub static BITSLICE: Family = Family {
    name: "bitslice",
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

/// Every family.
pub static FAMILIES: &[&Family] = &[
    &BYTEWISE,
    &TABLE_GLOBAL,
    &TABLE_SHARED,
    &CONFLICT_FREE_ONE,
    &CONFLICT_FREE_TWO,
    &CONFLICT_FREE,
    &BITSLICE,
];

impl Family {
    /// The program of this family that fits a device best.
    ///
    /// # Errors
    /// [`Unavailable`] naming the shared memory that even the smallest would need.
    pub fn program(&self, properties: &Properties) -> Result<&'static Program, Unavailable> {
        let fits = |program: &&Program| program.kernels().iter().all(|k| k.fits(properties));
        self.programs.iter().find(fits).ok_or_else(|| {
            let bytes = |program: &Program| program.kernels().map(|k| k.shared_bytes);
            let needed = self.programs.iter().flat_map(bytes).max().unwrap_or(0);
            Unavailable::because_of(format!(
                "a thread block has {} bytes of shared memory on {}, up to {needed} are needed",
                properties.shared_bytes_per_block, properties.name,
            ))
        })
    }

    /// An engine of this family under a key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// [`Error::Data`] for other key lengths; [`Error::Unavailable`] as [`Family::program`].
    pub fn engine(&self, device: &Device, key: &[u8]) -> Result<Engine, Error> {
        crate::AES.check_key(key).map_err(Error::Data)?;
        let program = self.program(device.properties())?;
        let keys = compact::expand(key);
        let inverse = keys.inverse(compact::inv_mix_columns_of);
        Ok(Engine::new(device, program, 16, kernel_keys(&keys), kernel_keys(&inverse)))
    }
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
    fn engine(device: &Device, key: &Key<Self>) -> Result<Engine, Error> {
        CONFLICT_FREE.engine(device, key)
    }
}

/// Makes a family's engine for the registry.
pub(crate) fn boxed(
    device: fn() -> Result<Device, Error>,
    family: &Family,
    key: &[u8],
) -> Result<Box<dyn lanecrypt_core::Engine>, lanecrypt_core::Error> {
    Ok(Box::new(family.engine(&device()?, key)?))
}

/// Whether a family runs on a device.
pub(crate) fn available(
    device: fn() -> Result<Device, Error>,
    family: &Family,
) -> Result<(), Unavailable> {
    let as_unavailable = |error: Error| match error {
        Error::Unavailable(unavailable) => unavailable,
        other => Unavailable::because_of(format!("{other}")),
    };
    let device = device().map_err(as_unavailable)?;
    family.program(device.properties()).map(drop)
}
