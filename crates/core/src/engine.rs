//! The bulk interface: byte buffers through one block cipher under one key.

use core::fmt;

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, InOutBuf, typenum::Unsigned};

use crate::{Chains, Counter, Error, Mode, Operation, modes};

/// Which way the cipher runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Plaintext to ciphertext.
    Encrypt,
    /// Ciphertext to plaintext.
    Decrypt,
}

impl Direction {
    /// Both, in the order in which tests run them.
    pub const BOTH: [Self; 2] = [Self::Encrypt, Self::Decrypt];
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        })
    }
}

/// Powers of a GHASH key, as many as `lanecrypt_slicing::HashKey` keeps, from the highest on.
pub type HashPowers = [[u8; 16]; 32];

/// A whole message of GCM (SP 800-38D), or whole blocks within one, for [`Engine::gcm`].
pub struct GcmPass<'a> {
    /// Whether what is hashed, the ciphertext, is the output or the input.
    pub direction: Direction,
    /// The counter block before that of the first block of data: J0 where the message begins. Its last 32 bits
    /// count, and wrap.
    pub counter: [u8; 16],
    /// Those of `lanecrypt_slicing::HashKey::with_powers`.
    pub powers: &'a HashPowers,
    /// The hash so far, which becomes that with the data, or the tag of a whole message, of which it was zero.
    pub hash: &'a mut [u8; 16],
    /// The associated data of a whole message; `None` for blocks within one.
    pub whole: Option<&'a [u8]>,
}

impl fmt::Debug for GcmPass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcmPass").field("direction", &self.direction).finish_non_exhaustive()
    }
}

/// How a call runs its blocks: which of an implementation's ways it takes, and how wide that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// The code for fewer blocks than a batch, this many of them at once.
    Short(usize),
    /// Batches of this many blocks, the last one padded.
    Batches(usize),
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(lanes) => write!(f, "{lanes} at once"),
            Self::Batches(lanes) => write!(f, "batches of {lanes}"),
        }
    }
}

/// One block cipher under one key, over whole buffers of any size.
///
/// Buffers are byte slices in an [`InOutBuf`], so that input and output are either the same
/// memory or disjoint; `(&mut data[..]).into()` works in place and `InOutBuf::new(input, output)`
/// out of place. On an error the output is unspecified and must not be used.
pub trait Engine: fmt::Debug + Send + Sync {
    /// Bytes of a block.
    fn block_bytes(&self) -> usize;

    /// Bytes of scratch memory with which [`modes`] feed this engine best.
    fn chunk_bytes(&self) -> usize {
        modes::STACK_CHUNK
    }

    /// Runs `operation` over `data`. An engine matches what it does well, and gives the rest to
    /// [`modes::by_ecb`], which needs [`Operation::Ecb`] alone.
    ///
    /// # Errors
    /// Those of [`Operation::check`], before anything is written, or a device error.
    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error>;

    /// [`run`](Self::run) with [`Operation::Ecb`].
    ///
    /// # Errors
    /// As [`run`](Self::run).
    fn ecb(&self, direction: Direction, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.run(Operation::Ecb(direction), data)
    }

    /// [`run`](Self::run) with [`Operation::Ctr`] from the counter block `counter` on.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    fn ctr(&self, counter: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.run(Operation::Ctr(Counter::read(counter, self.block_bytes())?), data)
    }

    /// Encrypts or decrypts data and hashes the ciphertext in one pass, where the engine has such a one for this
    /// pass, and returns whether it has. By default it has none, and nothing is written.
    ///
    /// Decryption gives plaintext out before the caller knows whether the tag is right.
    ///
    /// # Errors
    /// A device error.
    fn gcm(&self, pass: GcmPass<'_>, data: InOutBuf<'_, '_, u8>) -> Result<bool, Error> {
        let _ = (pass, data);
        Ok(false)
    }

    /// How many messages this engine likes to have side by side in [`run_chains`](Self::run_chains): as many as fill
    /// its lanes.
    fn chains_at_once(&self) -> usize {
        modes::MOST_CHAINS
    }

    /// Runs some whole blocks of several messages side by side in a serial mode.
    ///
    /// [`SerialMode::run_messages`](crate::SerialMode::run_messages) runs messages of different lengths so.
    ///
    /// # Errors
    /// Those of [`Chains::check`], before anything is written; a device error.
    fn run_chains(&self, chains: Chains<'_, '_, '_>) -> Result<(), Error> {
        let block = self.block_bytes();
        chains.check(block)?;
        chains.run_by(block, &mut |registers| self.ecb(Direction::Encrypt, registers.into()))
    }

    /// How a call of [`ecb`](Self::ecb) runs `blocks` blocks, at least one, where the engine knows:
    /// for reports, which mark where that changes.
    fn dispatch(&self, blocks: usize) -> Option<Dispatch> {
        let _ = blocks;
        None
    }
}

/// Something that is an [`Engine`] by the one it has within: a pointer to an engine, or a type around
/// one.
pub trait EngineWrapper: fmt::Debug + Send + Sync {
    /// The engine within.
    type Inner: Engine + ?Sized;

    /// The engine within.
    fn inner(&self) -> &Self::Inner;
}

impl<E: Engine + ?Sized> EngineWrapper for &E {
    type Inner = E;

    fn inner(&self) -> &E {
        self
    }
}

#[cfg(feature = "alloc")]
impl<E: Engine + ?Sized> EngineWrapper for alloc::boxed::Box<E> {
    type Inner = E;

    fn inner(&self) -> &E {
        self
    }
}

impl<W: EngineWrapper> Engine for W {
    fn block_bytes(&self) -> usize {
        self.inner().block_bytes()
    }
    fn chunk_bytes(&self) -> usize {
        self.inner().chunk_bytes()
    }
    #[allow(clippy::inline_always, reason = "as the engine within")]
    #[inline(always)]
    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.inner().run(operation, data)
    }
    #[inline]
    fn ecb(&self, direction: Direction, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.inner().ecb(direction, data)
    }
    fn gcm(&self, pass: GcmPass<'_>, data: InOutBuf<'_, '_, u8>) -> Result<bool, Error> {
        self.inner().gcm(pass, data)
    }
    fn chains_at_once(&self) -> usize {
        self.inner().chains_at_once()
    }
    fn run_chains(&self, chains: Chains<'_, '_, '_>) -> Result<(), Error> {
        self.inner().run_chains(chains)
    }
    fn dispatch(&self, blocks: usize) -> Option<Dispatch> {
        self.inner().dispatch(blocks)
    }
}

/// Checks that `data` is whole blocks.
#[inline]
pub(crate) fn whole_blocks(mode: Mode, given: usize, block: usize) -> Result<(), Error> {
    if given.is_multiple_of(block) {
        Ok(())
    } else {
        Err(Error::NotWholeBlocks { mode, given, block })
    }
}

/// A block cipher of another crate as an [`Engine`], through RustCrypto's traits. Our own
/// [`Cipher`](crate::Cipher) is an engine by itself, with modes of its own.
#[derive(Clone)]
pub struct CpuEngine<C> {
    cipher: C,
}

impl<C> CpuEngine<C> {
    /// Wraps a keyed cipher.
    pub fn new(cipher: C) -> Self {
        Self { cipher }
    }
}

impl<C: fmt::Debug> fmt::Debug for CpuEngine<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CpuEngine").field(&self.cipher).finish()
    }
}

impl<C> Engine for CpuEngine<C>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + fmt::Debug + Send + Sync + 'static,
{
    fn block_bytes(&self) -> usize {
        <C as BlockSizeUser>::BlockSize::USIZE
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let Operation::Ecb(direction) = operation else {
            return modes::by_ecb(self, operation, data);
        };
        operation.check(self.block_bytes(), data.len())?;
        let (blocks, _no_tail) = data.into_chunks();
        match direction {
            Direction::Encrypt => self.cipher.encrypt_blocks_inout(blocks),
            Direction::Decrypt => self.cipher.decrypt_blocks_inout(blocks),
        }
        Ok(())
    }
}
