//! CBC and CFB encryption and OFB of many messages under one key, which run side by side: one type for all three, by
//! the step that each takes.

use core::{fmt, marker::PhantomData};

use cipher::{
    AlgorithmName, BlockSizeUser, IvSizeUser,
    common::{InnerInit, InnerUser},
};
use lanecrypt_core::{Engine, MessagesError, SerialMode, modes::ChainedMessage};

use crate::{BlockEngine, cbc, cfb, ofb};

/// A step of which each waits for the one before it.
pub trait SerialStep {
    /// The type that takes it, for [`AlgorithmName`].
    const TYPE: &'static str;
    /// The mode.
    const MODE: SerialMode;
}

macro_rules! steps {
    ($($step:ty: $type:literal, $mode:ident;)*) => {$(
        impl SerialStep for $step {
            const TYPE: &'static str = $type;
            const MODE: SerialMode = SerialMode::$mode;
        }
    )*};
}
steps! {
    cbc::Encrypt: "cbc::BatchEncryptor", Cbc;
    cfb::Encrypt: "cfb::BatchEncryptor", Cfb;
    ofb::Apply: "ofb::BatchOfb", Ofb;
}

/// A serial mode with cipher `C` over many messages under its key: [`cbc::BatchEncryptor`], [`cfb::BatchEncryptor`] and
/// [`ofb::BatchOfb`].
///
/// One message leaves most of a CPU idle, since each of its blocks waits for the one before it. Here blocks of
/// different messages run at the same time. Lengths may differ; it is fastest where many are about as long.
///
/// ```
/// use lanecrypt_aes::Aes128;
/// use lanecrypt_modes::{ChainedMessage, cbc, cipher::{Array, BlockModeEncrypt, KeyInit, KeyIvInit}};
///
/// let mut ivs = [[1; 16], [2; 16], [3; 16]];
/// let mut records = [vec![7; 1504], vec![8; 64], vec![9; 592]];
/// let messages = ivs.iter_mut().zip(&mut records);
/// let mut messages: Vec<_> = messages
///     .map(|(iv, record)| ChainedMessage { iv, data: record.as_mut_slice().into() })
///     .collect();
/// cbc::BatchEncryptor::<Aes128>::new(&[0; 16].into()).run(&mut messages)?;
///
/// let mut alone = [[8; 16].into(); 4];
/// cbc::Encryptor::<Aes128>::new(&[0; 16].into(), &[2; 16].into()).encrypt_blocks(&mut alone);
/// assert_eq!(records[1], Array::slice_as_flattened(&alone));
/// assert_eq!(ivs[1], alone[3].0); // with which the message could go on
/// # Ok::<(), lanecrypt_core::MessagesError>(())
/// ```
#[derive(Clone)]
pub struct Batch<C, S> {
    engine: C,
    step: PhantomData<S>,
}

impl<C: Engine, S: SerialStep> Batch<C, S> {
    /// With an engine that has its key.
    pub fn of(engine: C) -> Self {
        Self { engine, step: PhantomData }
    }

    /// Encrypts messages, in OFB also decrypts them: in CBC of whole blocks, in the others of any length. Each IV
    /// becomes what its message goes on with, as [`ChainedMessage`] has it. Messages are put in order, the longest first.
    ///
    /// # Errors
    /// [`MessagesError::Message`] names the first message whose IV is not a block, or which in CBC is not whole
    /// blocks; nothing is written then. [`MessagesError::Engine`]: all outputs and IVs are unspecified then; CPU
    /// engines do not fail.
    pub fn run(&self, messages: &mut [ChainedMessage<'_>]) -> Result<(), MessagesError> {
        S::MODE.run_messages(&self.engine, messages)
    }
}

impl<C, S> InnerUser for Batch<C, S> {
    type Inner = C;
}

impl<C, S> InnerInit for Batch<C, S> {
    fn inner_init(engine: C) -> Self {
        Self { engine, step: PhantomData }
    }
}

impl<C: BlockEngine, S> BlockSizeUser for Batch<C, S> {
    type BlockSize = C::BlockSize;
}

impl<C: BlockSizeUser, S> IvSizeUser for Batch<C, S> {
    type IvSize = C::BlockSize;
}

impl<C: AlgorithmName, S: SerialStep> AlgorithmName for Batch<C, S> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<", S::TYPE)?;
        C::write_alg_name(f)?;
        f.write_str(">")
    }
}

impl<C, S: SerialStep> fmt::Debug for Batch<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(S::TYPE).finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: zeroize::ZeroizeOnDrop, S> zeroize::ZeroizeOnDrop for Batch<C, S> {}
