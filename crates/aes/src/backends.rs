//! The table of AES's implementations.

use alloc::boxed::Box;

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use lanecrypt_core::{
    Backend, Cipher, CipherDescription, ConstantTime, CpuEngine, Engine, Error, Platform,
    Unavailable, on_cleared_stack,
};
use lanecrypt_slicing::Word;

use crate::{Bitslice, Key128, Key192, Key256, KeyLength, Reference, Table32};

/// AES and every way this crate computes it.
pub static AES: CipherDescription = CipherDescription {
    name: "aes",
    standard: "FIPS 197",
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    backends: BACKENDS,
};

const LOOKS_UP: ConstantTime = ConstantTime::No("table addresses depend on key and data");

const CPU_BACKENDS: [Backend; 5] = [
    Backend {
        id: "reference",
        platform: Platform::Cpu,
        lanes: 1,
        constant_time: LOOKS_UP,
        summary: "as FIPS 197 reads, a byte at a time",
        available: || Ok(()),
        create: create::<ReferenceCiphers>,
    },
    Backend {
        id: "table32",
        platform: Platform::Cpu,
        lanes: 1,
        constant_time: LOOKS_UP,
        summary: "four T-tables on 32-bit words",
        available: || Ok(()),
        create: create::<Table32Ciphers>,
    },
    Backend {
        id: "bitslice-u32",
        platform: Platform::Cpu,
        lanes: 32,
        constant_time: ConstantTime::Yes,
        summary: "32 blocks, a bit of each in a word",
        available: || Ok(()),
        create: create::<BitsliceCiphers<u32>>,
    },
    Backend {
        id: "bitslice-u64",
        platform: Platform::Cpu,
        lanes: 64,
        constant_time: ConstantTime::Yes,
        summary: "64 blocks, a bit of each in a word",
        available: || Ok(()),
        create: create::<BitsliceCiphers<u64>>,
    },
    Backend {
        id: "hardware",
        platform: Platform::Cpu,
        lanes: 64,
        constant_time: ConstantTime::Yes,
        summary: "AES instructions, through the aes crate",
        available: || {
            let missing = Unavailable::of_the_cpu("this CPU has no AES instructions");
            aes::hardware_accelerated().then_some(()).ok_or(missing)
        },
        create: create::<HardwareCiphers>,
    },
];

#[cfg(not(feature = "cuda"))]
const BACKENDS: &[Backend] = &CPU_BACKENDS;

#[cfg(feature = "cuda")]
const BACKENDS: &[Backend] = {
    use crate::cuda::{
        BITSLICE, BYTEWISE, CONFLICT_FREE, CONFLICT_FREE_ONE, CONFLICT_FREE_TWO, TABLE_GLOBAL,
        TABLE_SHARED,
    };
    const ON_DEVICES: &[Backend] = &lanecrypt_cuda::backends!(
        "bytewise" => BYTEWISE,
        "table-global" => TABLE_GLOBAL,
        "table-shared" => TABLE_SHARED,
        "table-conflict-free-1" => CONFLICT_FREE_ONE,
        "table-conflict-free-2" => CONFLICT_FREE_TWO,
        "table-conflict-free" => CONFLICT_FREE,
        "bitslice" => BITSLICE,
    );
    &lanecrypt_core::joined::<{ CPU_BACKENDS.len() + ON_DEVICES.len() }>(&CPU_BACKENDS, ON_DEVICES)
};

/// One implementation with all key sizes.
trait Ciphers {
    /// Its type for a key size.
    type Of<K: KeyLength>: KeyInit
        + BlockCipherEncrypt<BlockSize = cipher::consts::U16>
        + BlockCipherDecrypt
        + core::fmt::Debug
        + Send
        + Sync
        + 'static;
}

struct ReferenceCiphers;
struct Table32Ciphers;
struct BitsliceCiphers<W>(W);
struct HardwareCiphers;

impl Ciphers for ReferenceCiphers {
    type Of<K: KeyLength> = Cipher<Reference<K>>;
}
impl Ciphers for Table32Ciphers {
    type Of<K: KeyLength> = Cipher<Table32<K>>;
}
impl<W: Word> Ciphers for BitsliceCiphers<W> {
    type Of<K: KeyLength> = Cipher<Bitslice<W, K>>;
}
impl Ciphers for HardwareCiphers {
    type Of<K: KeyLength> = K::Hardware;
}

/// Makes an engine for a key of whichever length.
fn create<C: Ciphers>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    fn keyed<C>(key: &[u8]) -> Result<Box<dyn Engine>, Error>
    where
        C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
        C: core::fmt::Debug + Send + Sync + 'static,
    {
        let wrong_length =
            |_| Error::KeyLength { cipher: AES.name, given: key.len(), accepted: AES.key_bytes };
        on_cleared_stack(|| {
            Ok(Box::new(CpuEngine::new(C::new_from_slice(key).map_err(wrong_length)?)) as _)
        })
    }
    AES.check_key(key)?;
    match key.len() {
        16 => keyed::<C::Of<Key128>>(key),
        24 => keyed::<C::Of<Key192>>(key),
        _ => keyed::<C::Of<Key256>>(key),
    }
}
