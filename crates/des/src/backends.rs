//! The tables of implementations: of DES, and of the two orders of triple DES.

use lanecrypt_core::{Backend, CipherDescription, all_backends, cpu_backends};
use lanecrypt_slicing::{Fastest, bit_backends};

use crate::{Bits, CpuForms, Ede2, Ede3, Eee2, Eee3, Reference, Single, Table32};

/// A table; `$families` is the module of `crate::cuda` that has its kernel families.
macro_rules! describe {
    ($(#[$doc:meta])* $cipher:ident, $name:literal, $standard:literal, $families:ident,
        $key_bytes:expr, $keys:tt) => {
        $(#[$doc])*
        pub static $cipher: CipherDescription = CipherDescription {
            name: $name,
            standard: $standard,
            block_bytes: 8,
            key_bytes: $key_bytes,
            backends: {
                const ONE_BY_ONE: &[Backend] = cpu_backends!($cipher, $keys;
                    "reference", "as FIPS 46-3 reads, a permutation at a time" => |K| Reference<K>;
                    "table32", "eight tables of S-box and permutation" => |K| Table32<K>;
                    "default", "the fastest constant-time one of this CPU" => |K| Fastest<CpuForms<K>>;
                );
                const BY_BITS: &[Backend] = bit_backends!($cipher, $keys; |K| Bits<K>);
                #[cfg(not(feature = "cuda"))]
                const ON_DEVICES: &[Backend] = &[];
                #[cfg(feature = "cuda")]
                const ON_DEVICES: &[Backend] = {
                    use crate::cuda::$families::{BITSLICE, CONFLICT_FREE, TABLE_SHARED};
                    &lanecrypt_cuda::backends!(
                        "table-shared" => TABLE_SHARED,
                        "table-conflict-free" => CONFLICT_FREE,
                        "bitslice" => BITSLICE,
                    )
                };
                #[cfg(not(feature = "wgpu"))]
                const ON_OTHER_GPUS: &[Backend] = &[];
                #[cfg(feature = "wgpu")]
                const ON_OTHER_GPUS: &[Backend] =
                    &[lanecrypt_wgpu::backend!("bitslice" => crate::wgpu::$cipher)];
                all_backends!(ONE_BY_ONE, BY_BITS, ON_DEVICES, ON_OTHER_GPUS)
            },
            #[cfg(not(feature = "cuda"))]
            kernels: None,
            #[cfg(feature = "cuda")]
            kernels: Some(|| &crate::cuda::$families::KERNELS),
        };
    };
}
describe!(
    /// DES and every way this crate computes it.
    DES, "des", "FIPS 46-3", des, &[8], [Single]
);
describe!(
    /// Triple DES, encrypt-decrypt-encrypt, under two or three keys.
    TDES, "tdes", "SP 800-67", tdes, &[16, 24], [Ede2, Ede3]
);
describe!(
    /// Triple DES, three times encryption, under two or three keys.
    TDES_EEE, "tdes-eee", "ANSI X9.52", tdes_eee, &[16, 24], [Eee2, Eee3]
);
