//! CBC, CFB and OFB of whole blocks: one type for all and both directions, by the step that each takes.

use core::{fmt, marker::PhantomData};

use cipher::{
    AlgorithmName, Array, Block, BlockModeDecBackend, BlockModeDecClosure, BlockModeDecrypt,
    BlockModeEncBackend, BlockModeEncClosure, BlockModeEncrypt, BlockSizeUser, InOut, InOutBuf,
    InnerIvInit, Iv, IvSizeUser, IvState, ParBlocks, ParBlocksSizeUser,
    array::ArraySize,
    common::{InnerUser, SetIvState},
    consts::U64,
    inout::NotEqualError,
};
use lanecrypt_core::{ChainedMode, Direction, Engine, Error, clear_bytes, modes};

use crate::ofb;

/// CBC (SP 800-38A, 6.2), with the names of the crate `cbc` 0.2.
pub mod cbc {
    pub use ::cipher;

    /// Encrypts in CBC; padding comes with [`BlockModeEncrypt`](cipher::BlockModeEncrypt).
    pub type Encryptor<C> = super::Chained<C, Encrypt>;
    /// Decrypts in CBC, many blocks at once.
    pub type Decryptor<C> = super::Chained<C, Decrypt>;
    /// Encrypts many messages in CBC side by side, without padding.
    pub type BatchEncryptor<C> = crate::Batch<C, Encrypt>;

    /// The step of [`Encryptor`].
    #[derive(Clone, Copy, Debug)]
    pub enum Encrypt {}
    /// The step of [`Decryptor`].
    #[derive(Clone, Copy, Debug)]
    pub enum Decrypt {}
}

/// CFB with segments of a whole block (SP 800-38A, 6.3), with the names of the crate `cfb-mode` 0.9.
pub mod cfb {
    pub use ::cipher;

    /// Encrypts in CFB.
    pub type Encryptor<C> = super::Chained<C, Encrypt>;
    /// Decrypts in CFB, many blocks at once.
    pub type Decryptor<C> = super::Chained<C, Decrypt>;
    /// Encrypts in CFB a message that comes in pieces of any length.
    pub type BufEncryptor<C> = crate::Buffered<C, Encrypt>;
    /// Decrypts in CFB a message that comes in pieces of any length.
    pub type BufDecryptor<C> = crate::Buffered<C, Decrypt>;
    /// Encrypts many messages in CFB side by side.
    pub type BatchEncryptor<C> = crate::Batch<C, Encrypt>;

    /// The step of [`Encryptor`].
    #[derive(Clone, Copy, Debug)]
    pub enum Encrypt {}
    /// The step of [`Decryptor`].
    #[derive(Clone, Copy, Debug)]
    pub enum Decrypt {}
}

/// An engine that says the size of its blocks by a type.
pub trait BlockEngine: Engine + BlockSizeUser<BlockSize: ArraySize<ArrayType<u8>: Copy>> {}
impl<C: Engine + BlockSizeUser<BlockSize: ArraySize<ArrayType<u8>: Copy>>> BlockEngine for C {}

/// What is done to whole blocks.
pub trait Step {
    /// For error texts.
    const NAME: &'static str;
    /// The type that takes it, for [`AlgorithmName`].
    const TYPE: &'static str;
    /// The mode and its direction.
    const MODE: ChainedMode;
}

/// A step that encrypts.
pub trait Encrypts: Step {}
/// A step that decrypts.
pub trait Decrypts: Step {}

impl Encrypts for cbc::Encrypt {}
impl Decrypts for cbc::Decrypt {}
impl Encrypts for cfb::Encrypt {}
impl Decrypts for cfb::Decrypt {}
impl Encrypts for ofb::Apply {}
impl Decrypts for ofb::Apply {}

macro_rules! steps {
    ($($step:ty: $name:literal, $type:literal, $mode:expr;)*) => {$(
        impl Step for $step {
            const NAME: &'static str = $name;
            const TYPE: &'static str = $type;
            const MODE: ChainedMode = $mode;
        }
    )*};
}
steps! {
    cbc::Encrypt: "CBC", "cbc::Encryptor", ChainedMode::Cbc(Direction::Encrypt);
    cbc::Decrypt: "CBC", "cbc::Decryptor", ChainedMode::Cbc(Direction::Decrypt);
    cfb::Encrypt: "CFB", "cfb::Encryptor", ChainedMode::Cfb(Direction::Encrypt);
    cfb::Decrypt: "CFB", "cfb::Decryptor", ChainedMode::Cfb(Direction::Decrypt);
    ofb::Apply: "OFB", "Ofb", ChainedMode::Ofb;
}

/// A mode that chains blocks, with cipher `C`, in the middle of a message.
///
/// # Panics
/// The methods of RustCrypto's traits panic where the engine fails; CPU engines do not.
/// [`try_blocks`](Self::try_blocks) returns the error.
#[derive(Clone)]
pub struct Chained<C: BlockSizeUser, S> {
    engine: C,
    previous: Block<C>,
    step: PhantomData<S>,
}

impl<C: BlockEngine, S: Step> Chained<C, S> {
    /// Runs whole blocks, the next ones of the message.
    ///
    /// # Errors
    /// The engine's own: the output and the state are unspecified then.
    pub fn try_blocks(&mut self, blocks: InOutBuf<'_, '_, Block<C>>) -> Result<(), Error> {
        // In place: there is no way from a buffer of blocks to one of their bytes.
        let bytes = Array::slice_as_flattened_mut(blocks.into_out_with_copied_in());
        S::MODE.run_blocks(&self.engine, &mut self.previous, bytes.into())
    }

    /// Runs any number of bytes, of a mode that is a key stream; `used` bytes of its block are used, less than a block.
    pub(crate) fn try_bytes(
        &mut self,
        used: &mut usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        S::MODE.run_bytes(&self.engine, &mut self.previous, used, data)
    }

    fn blocks(&mut self, blocks: InOutBuf<'_, '_, Block<C>>) {
        if let Err(error) = self.try_blocks(blocks) {
            panic!("{}: {error}", S::NAME);
        }
    }
}

impl<C: BlockEngine> cfb::Encryptor<C> {
    /// Encrypts a message of any length in place.
    ///
    /// # Panics
    /// Where the engine fails.
    pub fn encrypt(self, data: &mut [u8]) {
        self.encrypt_inout(data.into());
    }

    /// Encrypts a message of any length into another buffer.
    ///
    /// # Errors
    /// [`NotEqualError`] where the lengths differ.
    ///
    /// # Panics
    /// Where the engine fails.
    pub fn encrypt_b2b(self, input: &[u8], output: &mut [u8]) -> Result<(), NotEqualError> {
        self.encrypt_inout(InOutBuf::new(input, output)?);
        Ok(())
    }

    /// Encrypts a message of any length.
    ///
    /// # Panics
    /// Where the engine fails.
    pub fn encrypt_inout(self, data: InOutBuf<'_, '_, u8>) {
        expect(modes::cfb_encrypt(&self.engine, &self.previous, data));
    }
}

impl<C: BlockEngine> cfb::Decryptor<C> {
    /// Decrypts a message of any length in place.
    ///
    /// # Panics
    /// Where the engine fails.
    pub fn decrypt(self, data: &mut [u8]) {
        self.decrypt_inout(data.into());
    }

    /// Decrypts a message of any length into another buffer.
    ///
    /// # Errors
    /// [`NotEqualError`] where the lengths differ.
    ///
    /// # Panics
    /// Where the engine fails.
    pub fn decrypt_b2b(self, input: &[u8], output: &mut [u8]) -> Result<(), NotEqualError> {
        self.decrypt_inout(InOutBuf::new(input, output)?);
        Ok(())
    }

    /// Decrypts a message of any length.
    ///
    /// # Panics
    /// Where the engine fails.
    pub fn decrypt_inout(self, data: InOutBuf<'_, '_, u8>) {
        expect(modes::cfb_decrypt(&self.engine, &self.previous, data));
    }
}

fn expect(result: Result<(), Error>) {
    if let Err(error) = result {
        panic!("CFB: {error}");
    }
}

impl<C: BlockSizeUser, S> BlockSizeUser for Chained<C, S> {
    type BlockSize = C::BlockSize;
}

impl<C: BlockSizeUser, S> IvSizeUser for Chained<C, S> {
    type IvSize = C::BlockSize;
}

impl<C: BlockSizeUser, S> InnerUser for Chained<C, S> {
    type Inner = C;
}

impl<C: BlockSizeUser, S> InnerIvInit for Chained<C, S> {
    fn inner_iv_init(engine: C, iv: &Iv<Self>) -> Self {
        Self { engine, previous: iv.clone(), step: PhantomData }
    }
}

impl<C: BlockSizeUser, S> IvState for Chained<C, S> {
    fn iv_state(&self) -> Iv<Self> {
        self.previous.clone()
    }
}

impl<C: BlockSizeUser, S> SetIvState for Chained<C, S> {
    fn set_iv(&mut self, iv: &Iv<Self>) {
        self.previous = iv.clone();
    }
}

impl<C: BlockSizeUser + AlgorithmName, S: Step> AlgorithmName for Chained<C, S> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<", S::TYPE)?;
        C::write_alg_name(f)?;
        f.write_str(">")
    }
}

impl<C: BlockSizeUser, S> Drop for Chained<C, S> {
    fn drop(&mut self) {
        // In OFB key stream, in the others ciphertext.
        clear_bytes(&mut self.previous);
    }
}

impl<C: BlockSizeUser, S: Step> fmt::Debug for Chained<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(S::NAME).finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: BlockSizeUser + zeroize::ZeroizeOnDrop, S> zeroize::ZeroizeOnDrop for Chained<C, S> {}

/// What RustCrypto's closures call: 64 blocks at once.
struct Backend<'a, C: BlockSizeUser, S>(&'a mut Chained<C, S>);

impl<C: BlockSizeUser, S> BlockSizeUser for Backend<'_, C, S> {
    type BlockSize = C::BlockSize;
}

impl<C: BlockSizeUser, S> ParBlocksSizeUser for Backend<'_, C, S> {
    type ParBlocksSize = U64;
}

/// The traits of a direction: all of a call in one piece.
macro_rules! direction {
    (
        $mode:ident: $step:ident, $closure:ident, $backend:ident,
        $with_backend:ident, $blocks_inout:ident, $blocks:ident, $blocks_b2b:ident,
        $block:ident, $par_blocks:ident, $tail_blocks:ident
    ) => {
        impl<C: BlockEngine, S: $step> $mode for Chained<C, S> {
            fn $with_backend(&mut self, f: impl $closure<BlockSize = Self::BlockSize>) {
                f.call(&mut Backend(self));
            }

            fn $blocks_inout(&mut self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.blocks(blocks);
            }

            fn $blocks(&mut self, blocks: &mut [Block<Self>]) {
                self.blocks(blocks.into());
            }

            fn $blocks_b2b(
                &mut self,
                in_blocks: &[Block<Self>],
                out_blocks: &mut [Block<Self>],
            ) -> Result<(), NotEqualError> {
                self.blocks(InOutBuf::new(in_blocks, out_blocks)?);
                Ok(())
            }
        }

        impl<C: BlockEngine, S: $step> $backend for Backend<'_, C, S> {
            fn $block(&mut self, block: InOut<'_, '_, Block<Self>>) {
                self.0.blocks(InOutBuf::from_mut(block.into_out_with_copied_in()));
            }

            fn $par_blocks(&mut self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
                self.0.blocks(blocks.into_buf());
            }

            fn $tail_blocks(&mut self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.0.blocks(blocks);
            }
        }
    };
}
direction!(
    BlockModeEncrypt: Encrypts, BlockModeEncClosure, BlockModeEncBackend,
    encrypt_with_backend, encrypt_blocks_inout, encrypt_blocks, encrypt_blocks_b2b,
    encrypt_block, encrypt_par_blocks, encrypt_tail_blocks
);
direction!(
    BlockModeDecrypt: Decrypts, BlockModeDecClosure, BlockModeDecBackend,
    decrypt_with_backend, decrypt_blocks_inout, decrypt_blocks, decrypt_blocks_b2b,
    decrypt_block, decrypt_par_blocks, decrypt_tail_blocks
);
