//! The kernels: the ciphers', as `cargo xtask codegen` writes them from their plans, and that of GHASH.

/// The kernels of a cipher, or of GHASH.
#[derive(Debug)]
pub struct Program {
    /// The name of the cipher or the hash.
    pub(crate) name: &'static str,
    /// All its kernels; of a cipher's, `emit_wgsl` of `lanecrypt-circuit` says what they are called and bind.
    pub(crate) wgsl: &'static str,
    /// Bytes of a block.
    pub(crate) block_bytes: usize,
}

impl Program {
    /// The cipher's name; the members of a cipher's family have one program.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// The source of all its kernels.
    #[must_use]
    pub const fn wgsl(&self) -> &'static str {
        self.wgsl
    }
}

macro_rules! programs {
    ($($(#[$doc:meta])* $program:ident $name:literal $block_bytes:literal;)*) => {$(
        $(#[$doc])*
        pub static $program: Program = Program {
            name: $name,
            wgsl: include_str!(concat!("../wgsl/", $name, ".wgsl")),
            block_bytes: $block_bytes,
        };
    )*};
}
programs! {
    /// AES.
    AES "aes" 16;
    /// ARIA.
    ARIA "aria" 16;
    /// Camellia.
    CAMELLIA "camellia" 16;
    /// DES and triple DES.
    DES "des" 8;
    /// HIGHT.
    HIGHT "hight" 8;
    /// SEED.
    SEED "seed" 16;
    /// SM4.
    SM4 "sm4" 16;
}

/// GHASH, by the kernel `hash`.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) static GHASH: Program =
    Program { name: "ghash", wgsl: include_str!("ghash.wgsl"), block_bytes: 16 };
