//! The hardware path: AES instructions, through the `aes` crate.

use cipher::{BlockSizeUser, KeyInit, consts::U16};

/// A type of the `aes` crate, as in [`KeyLength`](crate::KeyLength).
///
/// That crate looks for AES-NI, VAES or ARMv8 instructions when it is keyed; where a CPU has none
/// it falls back to a constant-time software implementation of its own.
pub trait Hardware:
    BlockSizeUser<BlockSize = U16> + KeyInit + Clone + core::fmt::Debug + Send + Sync + 'static
{
}

impl<T> Hardware for T where
    T: BlockSizeUser<BlockSize = U16> + KeyInit + Clone + core::fmt::Debug + Send + Sync + 'static
{
}
