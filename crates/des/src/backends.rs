//! The tables of implementations: of DES, and of the two orders of triple DES.

use alloc::boxed::Box;

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, consts::U8};
use lanecrypt_core::{
    Backend, Cipher, CipherDescription, ConstantTime, CpuEngine, Engine, Error, Implementation,
    Platform, on_cleared_stack,
};
use lanecrypt_slicing::Word;

use crate::{Bitslice, Ede2, Ede3, Eee2, Eee3, Keying, Reference, Single, Table32};

/// DES and every way this crate computes it.
pub static DES: CipherDescription = CipherDescription {
    name: "des",
    standard: "FIPS 46-3",
    block_bytes: 8,
    key_bytes: &[8],
    backends: backends!(des, DesKeys),
};

/// Triple DES, encrypt-decrypt-encrypt, under two or three keys.
pub static TDES: CipherDescription = CipherDescription {
    name: "tdes",
    standard: "SP 800-67",
    block_bytes: 8,
    key_bytes: &[16, 24],
    backends: backends!(tdes, EdeKeys),
};

/// Triple DES, three times encryption, under two or three keys.
pub static TDES_EEE: CipherDescription = CipherDescription {
    name: "tdes-eee",
    standard: "ANSI X9.52",
    block_bytes: 8,
    key_bytes: &[16, 24],
    backends: backends!(tdes_eee, EeeKeys),
};

/// The implementations under the keys of one description; `$families` is the module of
/// `crate::cuda` that has its kernel families.
macro_rules! backends {
    ($families:ident, $keys:ty) => {{
        #[cfg(not(feature = "cuda"))]
        const ALL: &[Backend] = &cpu_backends::<$keys>();
        #[cfg(feature = "cuda")]
        const ALL: &[Backend] = {
            use crate::cuda::$families::{BITSLICE, CONFLICT_FREE, TABLE_SHARED};
            const ON_DEVICES: &[Backend] = &lanecrypt_cuda::backends!(
                "table-shared" => TABLE_SHARED,
                "table-conflict-free" => CONFLICT_FREE,
                "bitslice" => BITSLICE,
            );
            const ON_CPU: &[Backend] = &cpu_backends::<$keys>();
            &lanecrypt_core::joined::<{ ON_CPU.len() + ON_DEVICES.len() }>(ON_CPU, ON_DEVICES)
        };
        ALL
    }};
}
use backends;

const fn cpu_backends<K: Keys>() -> [Backend; 4] {
    const LOOKS_UP: ConstantTime = ConstantTime::No("table addresses depend on key and data");
    const fn row(
        id: &'static str,
        lanes: usize,
        constant_time: ConstantTime,
        summary: &'static str,
        create: lanecrypt_core::Create,
    ) -> Backend {
        let platform = Platform::Cpu;
        Backend { id, platform, lanes, constant_time, summary, available: || Ok(()), create }
    }
    [
        row(
            "reference",
            1,
            LOOKS_UP,
            "as FIPS 46-3 reads, a permutation at a time",
            create::<ReferenceCiphers, K>,
        ),
        row(
            "table32",
            1,
            LOOKS_UP,
            "eight tables of S-box and permutation",
            create::<Table32Ciphers, K>,
        ),
        row(
            "bitslice-u32",
            32,
            ConstantTime::Yes,
            "32 blocks, a bit of each in a word",
            create::<BitsliceCiphers<u32>, K>,
        ),
        row(
            "bitslice-u64",
            64,
            ConstantTime::Yes,
            "64 blocks, a bit of each in a word",
            create::<BitsliceCiphers<u64>, K>,
        ),
    ]
}

/// One implementation under every keying.
trait Ciphers {
    /// Its type for a keying.
    type Of<K: Keying>: Implementation<BlockSize = U8, KeySize = K::Size>
        + core::fmt::Debug
        + 'static;
}

struct ReferenceCiphers;
struct Table32Ciphers;
struct BitsliceCiphers<W>(W);

impl Ciphers for ReferenceCiphers {
    type Of<K: Keying> = Reference<K>;
}
impl Ciphers for Table32Ciphers {
    type Of<K: Keying> = Table32<K>;
}
impl<W: Word> Ciphers for BitsliceCiphers<W> {
    type Of<K: Keying> = Bitslice<W, K>;
}

/// The keys that a description takes.
trait Keys {
    /// The description itself.
    const CIPHER: &'static CipherDescription;

    /// Makes an engine for a key whose length was checked.
    fn engine<C: Ciphers>(key: &[u8]) -> Result<Box<dyn Engine>, Error>;
}

struct DesKeys;
struct EdeKeys;
struct EeeKeys;

impl Keys for DesKeys {
    const CIPHER: &'static CipherDescription = &DES;

    fn engine<C: Ciphers>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
        keyed::<Self, Cipher<C::Of<Single>>>(key)
    }
}

impl Keys for EdeKeys {
    const CIPHER: &'static CipherDescription = &TDES;

    fn engine<C: Ciphers>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
        match key.len() {
            16 => keyed::<Self, Cipher<C::Of<Ede2>>>(key),
            _ => keyed::<Self, Cipher<C::Of<Ede3>>>(key),
        }
    }
}

impl Keys for EeeKeys {
    const CIPHER: &'static CipherDescription = &TDES_EEE;

    fn engine<C: Ciphers>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
        match key.len() {
            16 => keyed::<Self, Cipher<C::Of<Eee2>>>(key),
            _ => keyed::<Self, Cipher<C::Of<Eee3>>>(key),
        }
    }
}

fn create<C: Ciphers, K: Keys>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    K::CIPHER.check_key(key)?;
    K::engine::<C>(key)
}

fn keyed<K, C>(key: &[u8]) -> Result<Box<dyn Engine>, Error>
where
    K: Keys,
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
    C: core::fmt::Debug + Send + Sync + 'static,
{
    let wrong_length = |_| Error::KeyLength {
        cipher: K::CIPHER.name,
        given: key.len(),
        accepted: K::CIPHER.key_bytes,
    };
    on_cleared_stack(|| {
        Ok(Box::new(CpuEngine::new(C::new_from_slice(key).map_err(wrong_length)?)) as _)
    })
}
