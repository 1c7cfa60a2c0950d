//! The rows of a cipher's table for its sliced forms: one for each instruction set that they run on.

/// The rows of a form sliced by bits: `bit_backends!(CIPHER, [Key types]; |K| Form<K>)`, or without
/// the key types for a cipher that has one.
#[macro_export]
macro_rules! bit_backends {
    ($cipher:path $(, $keys:tt)?; $(|$k:ident|)? $form:ty) => {
        $crate::core::cpu_backends!($cipher $(, $keys)?;
            "bitslice-u32", "32 blocks, a bit of each in a word"
                => $(|$k|)? $crate::Sliced<$form, $crate::Portable<u32>>;
            "bitslice-u64", "64 blocks, a bit of each in a word"
                => $(|$k|)? $crate::Sliced<$form, $crate::Portable<u64>>;
            #[cfg(target_arch = "x86_64")]
            "bitslice-sse2", "128 blocks, a bit of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Sse2>;
            #[cfg(target_arch = "x86_64")]
            "bitslice-avx2", "256 blocks, a bit of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx2>;
            #[cfg(target_arch = "x86_64")]
            "bitslice-avx512", "512 blocks, a bit of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx512>;
            #[cfg(target_arch = "aarch64")]
            "bitslice-neon", "128 blocks, a bit of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Neon>;
        )
    };
}

/// The rows of a form sliced by bytes whose S-boxes are inversion between affine maps:
/// `byte_backends!(CIPHER, [Key types]; |K| Form<K>)`.
#[macro_export]
macro_rules! byte_backends {
    ($cipher:path $(, $keys:tt)?; $(|$k:ident|)? $form:ty) => {
        $crate::core::cpu_backends!($cipher $(, $keys)?;
            #[cfg(target_arch = "x86_64")]
            "aes-ssse3", "16 blocks by bytes, S-boxes by AES instructions"
                => $(|$k|)? $crate::Sliced<$form, $crate::AesNi>;
            #[cfg(target_arch = "x86_64")]
            "aes-avx2", "32 blocks by bytes, S-boxes by AES instructions"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx2Aes>;
            #[cfg(target_arch = "x86_64")]
            "vaes-avx2", "32 blocks by bytes, S-boxes by AES instructions of 256 bits"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx2Vaes>;
            #[cfg(target_arch = "x86_64")]
            "gfni-avx2", "32 blocks by bytes, S-boxes by GFNI"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx2Gfni>;
            #[cfg(target_arch = "x86_64")]
            "gfni-avx512", "64 blocks by bytes, S-boxes by GFNI"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx512>;
            #[cfg(target_arch = "aarch64")]
            "aes-neon", "16 blocks by bytes, S-boxes by AES instructions"
                => $(|$k|)? $crate::Sliced<$form, $crate::NeonAes>;
        )
    };
}

/// The rows of a form sliced by words of 32 bits: `word_backends!(CIPHER, [Key types]; |K| Form<K>)`.
#[macro_export]
macro_rules! word_backends {
    ($cipher:path $(, $keys:tt)?; $(|$k:ident|)? $form:ty) => {
        $crate::core::cpu_backends!($cipher $(, $keys)?;
            "wordslice-u32", "1 block, a word of it in a word"
                => $(|$k|)? $crate::Sliced<$form, $crate::Portable<u32>>;
            #[cfg(target_arch = "x86_64")]
            "wordslice-sse2", "4 blocks, a word of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Sse2>;
            #[cfg(target_arch = "x86_64")]
            "wordslice-avx2", "8 blocks, a word of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx2>;
            #[cfg(target_arch = "x86_64")]
            "wordslice-avx512", "16 blocks, a word of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Avx512>;
            #[cfg(target_arch = "aarch64")]
            "wordslice-neon", "4 blocks, a word of each in a register"
                => $(|$k|)? $crate::Sliced<$form, $crate::Neon>;
        )
    };
}
