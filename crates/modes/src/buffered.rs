//! CFB of messages that come in pieces of any length: the types `Buf*` of the crate `cfb-mode`.

use core::{fmt, marker::PhantomData};

use cipher::{AlgorithmName, Block, BlockSizeUser, InnerIvInit, Iv, IvSizeUser, common::InnerUser};
use lanecrypt_core::{ChainedMode, Direction, Error, clear_bytes};

use crate::{BlockEngine, Step, cfb};

/// CFB with cipher `C`, in the middle of a message: [`cfb::BufEncryptor`] and [`cfb::BufDecryptor`].
///
/// # Panics
/// All but [`get_state`](Self::get_state) and [`from_state`](Self::from_state) panic where the engine fails; CPU
/// engines do not.
#[derive(Clone)]
pub struct Buffered<C: BlockSizeUser, S> {
    engine: C,
    /// The block of key stream at hand, of which ciphertext has taken the place so far.
    block: Block<C>,
    /// Bytes of it that were used, less than a block.
    used: usize,
    step: PhantomData<S>,
}

impl<C: BlockEngine> cfb::BufEncryptor<C> {
    /// Encrypts the next piece in place.
    pub fn encrypt(&mut self, data: &mut [u8]) {
        self.run(data);
    }
}

impl<C: BlockEngine> cfb::BufDecryptor<C> {
    /// Decrypts the next piece in place.
    pub fn decrypt(&mut self, data: &mut [u8]) {
        self.run(data);
    }
}

impl<C: BlockSizeUser, S> Buffered<C, S> {
    /// The block at hand, and how many bytes of it were used.
    #[must_use]
    pub fn get_state(&self) -> (&Block<C>, usize) {
        (&self.block, self.used)
    }

    /// Goes on from a state.
    ///
    /// # Panics
    /// Where `used` is a block or more.
    #[must_use]
    pub fn from_state(engine: C, block: &Block<C>, used: usize) -> Self {
        let bytes = block.len();
        assert!(
            used < bytes,
            "{used} bytes used of a block of {bytes}; it has fewer before its end"
        );
        Self { engine, block: block.clone(), used, step: PhantomData }
    }
}

impl<C: BlockEngine, S: Step> Buffered<C, S> {
    fn run(&mut self, data: &mut [u8]) {
        if let Err(error) = self.try_run(data) {
            panic!("{}: {error}", S::NAME);
        }
    }

    fn try_run(&mut self, data: &mut [u8]) -> Result<(), Error> {
        let left = self.block.len() - self.used;
        let ends_block = data.len() >= left;
        let (head, rest) = data.split_at_mut(left.min(data.len()));
        S::MODE.use_register(&mut self.block, &mut self.used, head.into());
        if ends_block {
            S::MODE.run_bytes(&self.engine, &mut self.block, &mut self.used, rest.into())?;
            // The next block of key stream is made at once: it is part of the state.
            if self.used == 0 {
                self.engine.ecb(Direction::Encrypt, self.block.as_mut_slice().into())?;
            }
        }
        Ok(())
    }
}

impl<C: BlockSizeUser, S> IvSizeUser for Buffered<C, S> {
    type IvSize = C::BlockSize;
}

impl<C: BlockSizeUser, S> InnerUser for Buffered<C, S> {
    type Inner = C;
}

impl<C: BlockEngine, S: Step> InnerIvInit for Buffered<C, S> {
    fn inner_iv_init(engine: C, iv: &Iv<Self>) -> Self {
        let mut buffered = Self::from_state(engine, iv, 0);
        if let Err(error) =
            buffered.engine.ecb(Direction::Encrypt, (&mut buffered.block[..]).into())
        {
            panic!("{}: {error}", S::NAME);
        }
        buffered
    }
}

impl<C: BlockSizeUser + AlgorithmName, S: Step> AlgorithmName for Buffered<C, S> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match S::MODE {
            ChainedMode::Cfb(Direction::Encrypt) => "cfb::BufEncryptor<",
            _ => "cfb::BufDecryptor<",
        })?;
        C::write_alg_name(f)?;
        f.write_str(">")
    }
}

impl<C: BlockSizeUser, S> Drop for Buffered<C, S> {
    fn drop(&mut self) {
        // Key stream.
        clear_bytes(&mut self.block);
    }
}

impl<C: BlockSizeUser, S: Step> fmt::Debug for Buffered<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(S::NAME).finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: BlockSizeUser + zeroize::ZeroizeOnDrop, S> zeroize::ZeroizeOnDrop for Buffered<C, S> {}
