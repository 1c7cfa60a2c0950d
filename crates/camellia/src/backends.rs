//! The table of Camellia's implementations.

use alloc::boxed::Box;

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, consts::U16};
use lanecrypt_core::{
    Backend, Cipher, CipherDescription, ConstantTime, CpuEngine, Engine, Error, Implementation,
    Platform, on_cleared_stack,
};
use lanecrypt_slicing::Word;

use crate::{Bitslice, Key128, Key192, Key256, KeyLength, Reference, Table32};

/// Camellia and every way this crate computes it.
pub static CAMELLIA: CipherDescription = CipherDescription {
    name: "camellia",
    standard: "RFC 3713",
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    backends: BACKENDS,
};

const LOOKS_UP: ConstantTime = ConstantTime::No("table addresses depend on key and data");

const CPU_BACKENDS: [Backend; 4] = [
    Backend {
        id: "reference",
        platform: Platform::Cpu,
        lanes: 1,
        constant_time: LOOKS_UP,
        summary: "as RFC 3713 reads, a byte at a time",
        available: || Ok(()),
        create: create::<ReferenceCiphers>,
    },
    Backend {
        id: "table32",
        platform: Platform::Cpu,
        lanes: 1,
        constant_time: LOOKS_UP,
        summary: "four tables of S-box and permutation",
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
];

#[cfg(not(feature = "cuda"))]
const BACKENDS: &[Backend] = &CPU_BACKENDS;

#[cfg(feature = "cuda")]
const BACKENDS: &[Backend] = {
    use crate::cuda::{BITSLICE, CONFLICT_FREE, CONFLICT_FREE_MERGED, TABLE_GLOBAL, TABLE_SHARED};
    const ON_DEVICES: &[Backend] = &lanecrypt_cuda::backends!(
        "table-global" => TABLE_GLOBAL,
        "table-shared" => TABLE_SHARED,
        "table-conflict-free-merged" => CONFLICT_FREE_MERGED,
        "table-conflict-free" => CONFLICT_FREE,
        "bitslice" => BITSLICE,
    );
    &lanecrypt_core::joined::<{ CPU_BACKENDS.len() + ON_DEVICES.len() }>(&CPU_BACKENDS, ON_DEVICES)
};

/// One implementation with all key sizes.
trait Ciphers {
    /// Its type for a key size.
    type Of<K: KeyLength>: Implementation<BlockSize = U16, KeySize = K::Size>
        + core::fmt::Debug
        + 'static;
}

struct ReferenceCiphers;
struct Table32Ciphers;
struct BitsliceCiphers<W>(W);

impl Ciphers for ReferenceCiphers {
    type Of<K: KeyLength> = Reference<K>;
}
impl Ciphers for Table32Ciphers {
    type Of<K: KeyLength> = Table32<K>;
}
impl<W: Word> Ciphers for BitsliceCiphers<W> {
    type Of<K: KeyLength> = Bitslice<W, K>;
}

/// Makes an engine for a key of whichever length.
fn create<C: Ciphers>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    fn keyed<C>(key: &[u8]) -> Result<Box<dyn Engine>, Error>
    where
        C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
        C: core::fmt::Debug + Send + Sync + 'static,
    {
        let wrong_length = |_| Error::KeyLength {
            cipher: CAMELLIA.name,
            given: key.len(),
            accepted: CAMELLIA.key_bytes,
        };
        on_cleared_stack(|| {
            Ok(Box::new(CpuEngine::new(C::new_from_slice(key).map_err(wrong_length)?)) as _)
        })
    }
    CAMELLIA.check_key(key)?;
    match key.len() {
        16 => keyed::<Cipher<C::Of<Key128>>>(key),
        24 => keyed::<Cipher<C::Of<Key192>>>(key),
        _ => keyed::<Cipher<C::Of<Key256>>>(key),
    }
}
