//! The hardware path: AES instructions, through the `aes` crate.

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit, consts::U16};

/// A type of the `aes` crate, as [`KeyLength::Hardware`](crate::KeyLength::Hardware).
///
/// That crate looks for AES-NI, VAES or ARMv8 instructions when it is keyed; where a CPU has none
/// it falls back to a constant-time software implementation of its own.
pub trait Hardware:
    BlockSizeUser<BlockSize = U16>
    + KeyInit
    + BlockCipherEncrypt
    + BlockCipherDecrypt
    + Clone
    + core::fmt::Debug
    + Send
    + Sync
    + 'static
{
}

impl Hardware for aes::Aes128 {}
impl Hardware for aes::Aes192 {}
impl Hardware for aes::Aes256 {}

#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
cpufeatures::new!(aes_instructions, "aes");

/// Whether this CPU has AES instructions that the `aes` crate uses.
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) fn detected() -> bool {
    aes_instructions::get()
}

/// Whether this CPU has AES instructions that the `aes` crate uses.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn detected() -> bool {
    false
}
