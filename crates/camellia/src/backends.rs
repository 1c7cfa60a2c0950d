//! The table of Camellia's implementations.

use lanecrypt_core::{Backend, CipherDescription, all_backends, cpu_backends};
use lanecrypt_slicing::{Fastest, bit_backends, byte_backends};

use crate::{Bits, CpuForms, Key128, Key192, Key256, Reference, Table32};

/// Camellia and every way this crate computes it.
pub static CAMELLIA: CipherDescription = CipherDescription {
    name: "camellia",
    standard: "RFC 3713",
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    backends: BACKENDS,
    #[cfg(not(feature = "cuda"))]
    kernels: None,
    #[cfg(feature = "cuda")]
    kernels: Some(|| &crate::cuda::KERNELS),
};

const ONE_BY_ONE: &[Backend] = cpu_backends!(CAMELLIA, [Key128, Key192, Key256];
    "reference", "as RFC 3713 reads, a byte at a time" => |K| Reference<K>;
    "table32", "four tables of S-box and permutation" => |K| Table32<K>;
    "default", "the fastest constant-time one of this CPU" => |K| Fastest<CpuForms<K>>;
);
const BY_BITS: &[Backend] = bit_backends!(CAMELLIA, [Key128, Key192, Key256]; |K| Bits<K>);
const BY_BYTES: &[Backend] =
    byte_backends!(CAMELLIA, [Key128, Key192, Key256]; |K| crate::Bytes<K>);

#[cfg(not(feature = "cuda"))]
const ON_DEVICES: &[Backend] = &[];
#[cfg(feature = "cuda")]
const ON_DEVICES: &[Backend] = {
    use crate::cuda::{BITSLICE, CONFLICT_FREE, CONFLICT_FREE_MERGED, TABLE_GLOBAL, TABLE_SHARED};
    &lanecrypt_cuda::backends!(
        "table-global" => TABLE_GLOBAL,
        "table-shared" => TABLE_SHARED,
        "table-conflict-free-merged" => CONFLICT_FREE_MERGED,
        "table-conflict-free" => CONFLICT_FREE,
        "bitslice" => BITSLICE,
    )
};

#[cfg(not(feature = "wgpu"))]
const ON_OTHER_GPUS: &[Backend] = &[];
#[cfg(feature = "wgpu")]
const ON_OTHER_GPUS: &[Backend] = &[lanecrypt_wgpu::backend!("bitslice" => crate::wgpu::BITSLICE)];

const BACKENDS: &[Backend] =
    all_backends!(ONE_BY_ONE, BY_BITS, BY_BYTES, ON_DEVICES, ON_OTHER_GPUS);
