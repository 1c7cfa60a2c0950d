//! The tables of HIGHT's implementations: the same ones in both byte orders.

use lanecrypt_core::{Backend, CipherDescription, all_backends, cpu_backends};
use lanecrypt_slicing::{Fastest, Gapped, Portable, Sliced, bit_backends};

use crate::{Bits, Bytes, CpuForms, Kisa, LookUps, Reference, Standard, Table};

/// A table; `$families` is the module of `crate::cuda` that has its kernel families.
macro_rules! describe {
    ($(#[$doc:meta])* $cipher:ident, $name:literal, $families:ident, $order:ty) => {
        $(#[$doc])*
        pub static $cipher: CipherDescription = CipherDescription {
            name: $name,
            standard: "ISO/IEC 18033-3",
            block_bytes: 8,
            key_bytes: &[16],
            backends: {
                const ONE_BY_ONE: &[Backend] = cpu_backends!($cipher;
                    "reference", "as the standard reads, a byte at a time" => Reference<$order>;
                    "table", "F0 and F1 as tables of bytes" => Table<$order>;
                    "default", "the fastest constant-time one of this CPU" => Fastest<CpuForms<$order>>;
                );
                const BY_BITS: &[Backend] = bit_backends!($cipher; Bits<$order>);
                const BY_BYTES: &[Backend] = cpu_backends!($cipher;
                    "byteslice-u32-gap", "3 blocks, a byte of each in a word, with gaps; F0 and F1 as tables"
                        => Sliced<Bytes<$order>, LookUps>;
                    "byteslice-u64-gap", "7 blocks, a byte of each in a word, with gaps"
                        => Sliced<Bytes<$order>, Portable<Gapped<u64>>>;
                    "byteslice-u32", "4 blocks, a byte of each in a word"
                        => Sliced<Bytes<$order>, Portable<u32>>;
                    "byteslice-u64", "8 blocks, a byte of each in a word"
                        => Sliced<Bytes<$order>, Portable<u64>>;
                    #[cfg(target_arch = "x86_64")]
                    "byteslice-sse2", "16 blocks, a byte of each in a register"
                        => Sliced<Bytes<$order>, lanecrypt_slicing::Sse2>;
                    #[cfg(target_arch = "x86_64")]
                    "byteslice-avx2", "32 blocks, a byte of each in a register"
                        => Sliced<Bytes<$order>, lanecrypt_slicing::Avx2>;
                    #[cfg(target_arch = "x86_64")]
                    "gfni-avx2", "32 blocks, a byte of each in a register; rotations by GFNI"
                        => Sliced<Bytes<$order>, lanecrypt_slicing::Avx2Gfni>;
                    #[cfg(target_arch = "x86_64")]
                    "gfni-avx512", "64 blocks, a byte of each in a register; rotations by GFNI"
                        => Sliced<Bytes<$order>, lanecrypt_slicing::Avx512>;
                    #[cfg(target_arch = "aarch64")]
                    "byteslice-neon", "16 blocks, a byte of each in a register"
                        => Sliced<Bytes<$order>, lanecrypt_slicing::Neon>;
                );
                #[cfg(not(feature = "cuda"))]
                const ON_DEVICES: &[Backend] = &[];
                #[cfg(feature = "cuda")]
                const ON_DEVICES: &[Backend] = {
                    use crate::cuda::$families::{
                        BITSLICE, BYTESLICE, BYTESLICE_UNCOALESCED, TABLE, TABLE_UNCOALESCED,
                    };
                    &lanecrypt_cuda::backends!(
                        "table-shared-uncoalesced" => TABLE_UNCOALESCED,
                        "table-shared" => TABLE,
                        "byteslice-uncoalesced" => BYTESLICE_UNCOALESCED,
                        "byteslice" => BYTESLICE,
                        "bitslice" => BITSLICE,
                    )
                };
                #[cfg(not(feature = "wgpu"))]
                const ON_OTHER_GPUS: &[Backend] = &[];
                #[cfg(feature = "wgpu")]
                const ON_OTHER_GPUS: &[Backend] =
                    &[lanecrypt_wgpu::backend!("bitslice" => crate::wgpu::$cipher)];
                all_backends!(ONE_BY_ONE, BY_BITS, BY_BYTES, ON_DEVICES, ON_OTHER_GPUS)
            },
            #[cfg(not(feature = "cuda"))]
            kernels: None,
            #[cfg(feature = "cuda")]
            kernels: Some(|| &crate::cuda::$families::KERNELS),
        };
    };
}
describe!(
    /// HIGHT and every way this crate computes it, in the standard's byte order.
    HIGHT, "hight", standard, Standard
);
describe!(
    /// HIGHT in the byte order of KISA's C source.
    HIGHT_KISA, "hight-kisa", kisa, Kisa
);
