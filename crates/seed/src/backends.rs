//! The table of SEED's implementations.

use alloc::boxed::Box;

use cipher::{KeyInit, typenum::Unsigned};
use lanecrypt_core::{
    Backend, Cipher, CipherDescription, ConstantTime, CpuEngine, Engine, Error, Implementation,
    Platform, on_cleared_stack,
};

use crate::{Bitslice, Reference, Table32};

/// SEED and every way this crate computes it.
pub static SEED: CipherDescription = CipherDescription {
    name: "seed",
    standard: "RFC 4269",
    block_bytes: 16,
    key_bytes: &[16],
    backends: BACKENDS,
};

const LOOKS_UP: ConstantTime = ConstantTime::No("table addresses depend on key and data");
const YES: ConstantTime = ConstantTime::Yes;

const CPU_BACKENDS: [Backend; 4] = [
    row::<Reference>("reference", LOOKS_UP, "as RFC 4269 reads, a byte at a time"),
    row::<Table32>("table32", LOOKS_UP, "four tables of S-box and masks"),
    row::<Bitslice<u32>>("bitslice-u32", YES, "32 blocks, a bit of each in a word"),
    row::<Bitslice<u64>>("bitslice-u64", YES, "64 blocks, a bit of each in a word"),
];

#[cfg(not(feature = "cuda"))]
const BACKENDS: &[Backend] = &CPU_BACKENDS;

#[cfg(feature = "cuda")]
const BACKENDS: &[Backend] = {
    use crate::cuda::{BITSLICE, CONFLICT_FREE, TABLE_SHARED};
    const ON_DEVICES: &[Backend] = &lanecrypt_cuda::backends!(
        "table-shared" => TABLE_SHARED,
        "table-conflict-free" => CONFLICT_FREE,
        "bitslice" => BITSLICE,
    );
    &lanecrypt_core::joined::<{ CPU_BACKENDS.len() + ON_DEVICES.len() }>(&CPU_BACKENDS, ON_DEVICES)
};

const fn row<I: Implementation + core::fmt::Debug + 'static>(
    id: &'static str,
    constant_time: ConstantTime,
    summary: &'static str,
) -> Backend {
    Backend {
        id,
        platform: Platform::Cpu,
        lanes: I::Lanes::USIZE,
        constant_time,
        summary,
        available: || Ok(()),
        create: create::<I>,
    }
}

/// Makes an engine.
fn create<I: Implementation + core::fmt::Debug + 'static>(
    key: &[u8],
) -> Result<Box<dyn Engine>, Error> {
    let wrong_length =
        |_| Error::KeyLength { cipher: SEED.name, given: key.len(), accepted: SEED.key_bytes };
    on_cleared_stack(|| {
        let keyed = Cipher::<I>::new_from_slice(key).map_err(wrong_length)?;
        Ok(Box::new(CpuEngine::new(keyed)) as _)
    })
}
