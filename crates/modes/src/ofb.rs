//! OFB (SP 800-38A, 6.4) as a stream, with the names of the crate `ofb` 0.7.

use core::fmt;

use ::cipher::{
    BlockSizeUser, InOutBuf, InnerIvInit, Iv, IvSizeUser, StreamCipher, StreamCipherError,
    common::InnerUser,
};
use lanecrypt_core::Error;

use crate::{BlockEngine, Chained};

pub use ::cipher;

/// OFB with cipher `C`: a key stream without end, and without seeking, since every block of it is made
/// of the one before.
#[derive(Clone)]
pub struct Ofb<C: BlockSizeUser> {
    /// Its state is the block of key stream that the position is in, or the IV.
    core: OfbCore<C>,
    /// Bytes of it that were used, less than a block; 0 where the next one is not made yet.
    used: usize,
}

/// Many messages in OFB side by side.
pub type BatchOfb<C> = crate::Batch<C, Apply>;

/// OFB of whole blocks; encryption and decryption are the same.
pub type OfbCore<C> = Chained<C, Apply>;

/// The step of [`OfbCore`] and [`BatchOfb`].
#[derive(Clone, Copy, Debug)]
pub enum Apply {}

impl<C: BlockSizeUser> Ofb<C> {
    /// The stream after the blocks that `core` has run.
    #[must_use]
    pub fn from_core(core: OfbCore<C>) -> Self {
        Self { core, used: 0 }
    }

    /// What runs the blocks. Its state is the block of key stream that the position is in, or the IV.
    #[must_use]
    pub fn get_core(&self) -> &OfbCore<C> {
        &self.core
    }
}

impl<C: BlockEngine> Ofb<C> {
    /// XORs the key stream over `data` and moves on by its length.
    ///
    /// # Errors
    /// The engine's own: the output and the state are unspecified then.
    pub fn try_apply(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.core.try_bytes(&mut self.used, data)
    }
}

impl<C: BlockSizeUser> IvSizeUser for Ofb<C> {
    type IvSize = C::BlockSize;
}

impl<C: BlockSizeUser> InnerUser for Ofb<C> {
    type Inner = C;
}

impl<C: BlockSizeUser> InnerIvInit for Ofb<C> {
    fn inner_iv_init(engine: C, iv: &Iv<Self>) -> Self {
        Self::from_core(OfbCore::inner_iv_init(engine, iv))
    }
}

impl<C: BlockEngine> StreamCipher for Ofb<C> {
    fn check_remaining(&self, _: usize) -> Result<(), StreamCipherError> {
        Ok(())
    }

    /// # Panics
    /// Where the engine fails; CPU engines do not.
    fn unchecked_apply_keystream_inout(&mut self, buf: InOutBuf<'_, '_, u8>) {
        if let Err(error) = self.try_apply(buf) {
            panic!("OFB: {error}");
        }
    }

    fn unchecked_write_keystream(&mut self, buf: &mut [u8]) {
        buf.fill(0);
        self.unchecked_apply_keystream_inout(buf.into());
    }
}

impl<C: BlockSizeUser> fmt::Debug for Ofb<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ofb").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: BlockSizeUser + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Ofb<C> {}
