//! The table of LEA's implementations.

use lanecrypt_core::{Backend, CipherDescription, all_backends, cpu_backends};
use lanecrypt_slicing::{Fastest, word_backends};

use crate::{CpuForms, Key128, Key192, Key256, Reference, Words};

/// LEA and every way this crate computes it.
pub static LEA: CipherDescription = CipherDescription {
    name: "lea",
    standard: "KS X 3246",
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    backends: BACKENDS,
    #[cfg(not(feature = "cuda"))]
    kernels: None,
    #[cfg(feature = "cuda")]
    kernels: Some(|| &crate::cuda::KERNELS),
};

// ANCHOR: on_cpus
const ONE_BY_ONE: &[Backend] = cpu_backends!(LEA, [Key128, Key192, Key256];
    "reference", "as KS X 3246 reads" => |K| Reference<K>;
    "default", "the fastest constant-time one of this CPU" => |K| Fastest<CpuForms<K>>;
);
const BY_WORDS: &[Backend] = word_backends!(LEA, [Key128, Key192, Key256]; |K| Words<K>);
// ANCHOR_END: on_cpus

#[cfg(not(feature = "cuda"))]
const ON_DEVICES: &[Backend] = &[];
#[cfg(feature = "cuda")]
const ON_DEVICES: &[Backend] = &lanecrypt_cuda::backends!("words" => crate::cuda::WORDS);

const BACKENDS: &[Backend] = all_backends!(ONE_BY_ONE, BY_WORDS, ON_DEVICES);
