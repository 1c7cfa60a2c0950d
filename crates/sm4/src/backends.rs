//! The table of SM4's implementations.

use lanecrypt_core::{Backend, CipherDescription, all_backends, cpu_backends};
use lanecrypt_slicing::{Fastest, bit_backends, byte_backends};

use crate::{Bits, CpuForms, Reference, Table32};

/// SM4 and every way this crate computes it.
pub static SM4: CipherDescription = CipherDescription {
    name: "sm4",
    standard: "GB/T 32907",
    block_bytes: 16,
    key_bytes: &[16],
    backends: BACKENDS,
    #[cfg(not(feature = "cuda"))]
    kernels: None,
    #[cfg(feature = "cuda")]
    kernels: Some(|| &crate::cuda::KERNELS),
};

const ONE_BY_ONE: &[Backend] = cpu_backends!(SM4;
    "reference", "as GB/T 32907 reads, a word at a time" => Reference;
    "table32", "four tables of S-box and linear layer" => Table32;
    "default", "the fastest constant-time one of this CPU" => Fastest<CpuForms>;
);
const BY_BITS: &[Backend] = bit_backends!(SM4; Bits);
const BY_BYTES: &[Backend] = byte_backends!(SM4; crate::Bytes);

#[cfg(not(feature = "cuda"))]
const ON_DEVICES: &[Backend] = &[];
#[cfg(feature = "cuda")]
const ON_DEVICES: &[Backend] = {
    use crate::cuda::{BITSLICE, CONFLICT_FREE, TABLE_SHARED};
    &lanecrypt_cuda::backends!(
        "table-shared" => TABLE_SHARED,
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
