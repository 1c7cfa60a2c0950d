//! The table of AES's implementations.

use lanecrypt_core::{Backend, CipherDescription, all_backends, cpu_backends};
use lanecrypt_slicing::{Fastest, bit_backends};

use crate::{Bits, CpuForms, Key128, Key192, Key256, Reference, RoundKeys, Table32};

/// AES and every way this crate computes it.
pub static AES: CipherDescription = CipherDescription {
    name: "aes",
    standard: "FIPS 197",
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    backends: BACKENDS,
    #[cfg(not(feature = "cuda"))]
    kernels: None,
    #[cfg(feature = "cuda")]
    kernels: Some(|| &crate::cuda::KERNELS),
};

const ONE_BY_ONE: &[Backend] = cpu_backends!(AES, [Key128, Key192, Key256];
    "reference", "as FIPS 197 reads, a byte at a time" => |K| Reference<K>;
    "table32", "four T-tables on 32-bit words" => |K| Table32<K>;
    "default", "the fastest constant-time one of this CPU" => |K| Fastest<CpuForms<RoundKeys<K>>>;
);
const BY_BITS: &[Backend] = bit_backends!(AES, [Key128, Key192, Key256]; |K| Bits<RoundKeys<K>>);
const BY_INSTRUCTIONS: &[Backend] = cpu_backends!(AES, [Key128, Key192, Key256];
    #[cfg(target_arch = "x86_64")]
    "aes-ni", "AES instructions on single blocks, eight side by side"
        => |K| lanecrypt_slicing::Sliced<crate::Whole<RoundKeys<K>>, lanecrypt_slicing::AesNi>;
    #[cfg(target_arch = "x86_64")]
    "vaes-avx2", "AES instructions on two blocks, eight times side by side"
        => |K| lanecrypt_slicing::Sliced<crate::Whole<RoundKeys<K>>, lanecrypt_slicing::Avx2Vaes>;
    #[cfg(target_arch = "x86_64")]
    "vaes-avx512", "AES instructions on four blocks, eight times side by side"
        => |K| lanecrypt_slicing::Sliced<crate::Whole<RoundKeys<K>>, lanecrypt_slicing::Avx512>;
    #[cfg(target_arch = "aarch64")]
    "aes-neon", "AES instructions on single blocks, eight side by side"
        => |K| lanecrypt_slicing::Sliced<crate::Whole<RoundKeys<K>>, lanecrypt_slicing::NeonAes>;
);

#[cfg(not(feature = "cuda"))]
const ON_DEVICES: &[Backend] = &[];
#[cfg(feature = "cuda")]
const ON_DEVICES: &[Backend] = {
    use crate::cuda::{
        BITSLICE, BYTEWISE, CONFLICT_FREE, CONFLICT_FREE_ONE, CONFLICT_FREE_TWO, FASTEST, MIXED,
        TABLE_GLOBAL, TABLE_SHARED,
    };
    &lanecrypt_cuda::backends!(
        "bytewise" => BYTEWISE,
        "table-global" => TABLE_GLOBAL,
        "table-shared" => TABLE_SHARED,
        "table-conflict-free-1" => CONFLICT_FREE_ONE,
        "table-conflict-free-2" => CONFLICT_FREE_TWO,
        "table-conflict-free" => CONFLICT_FREE,
        "bitslice" => BITSLICE,
        "mixed" => MIXED,
        "fastest" => FASTEST,
    )
};

#[cfg(not(feature = "wgpu"))]
const ON_OTHER_GPUS: &[Backend] = &[];
#[cfg(feature = "wgpu")]
const ON_OTHER_GPUS: &[Backend] = &[lanecrypt_wgpu::backend!("bitslice" => crate::wgpu::BITSLICE)];

const BACKENDS: &[Backend] =
    all_backends!(ONE_BY_ONE, BY_BITS, BY_INSTRUCTIONS, ON_DEVICES, ON_OTHER_GPUS);
