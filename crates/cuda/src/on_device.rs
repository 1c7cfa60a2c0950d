//! What users take of a cipher's kernels, and RustCrypto's block-cipher traits over them with a CPU cipher beside.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use cipher::{
    AlgorithmName, Block, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncClosure,
    BlockCipherEncrypt, BlockSizeUser, InOutBuf, Key, KeyInit,
};
use lanecrypt_core::{Cipher, CipherDescription, ConstantTime, Direction};
use lanecrypt_slicing::{Choices, Fastest};

use crate::{BatchFamily, Device, Engine, Error, Family, Operation};

/// The kernels that types of users take of one cipher, whatever the key's length.
#[derive(Debug)]
pub struct CipherKernels {
    /// The fastest; those of most ciphers look tables up, at addresses that depend on key and data.
    pub fastest: &'static Family,
    /// The fastest that are constant-time.
    pub constant_time: &'static Family,
    /// Those of batches, where the cipher has them.
    pub batches: Option<&'static BatchFamily>,
}

impl CipherKernels {
    /// Those of a cipher, if it has kernels.
    #[must_use]
    pub fn of(cipher: &CipherDescription) -> Option<&'static Self> {
        cipher.kernels?().downcast_ref()
    }
}

/// A CPU cipher that has kernels.
pub trait DeviceCipher: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + AlgorithmName {
    /// Those of this cipher.
    fn kernels() -> &'static CipherKernels;

    /// The fastest of them.
    #[must_use]
    fn family() -> &'static Family {
        Self::kernels().fastest
    }

    /// The fastest that are constant-time.
    #[must_use]
    fn constant_time_family() -> &'static Family {
        Self::kernels().constant_time
    }
}

/// A sliced cipher, as the choice of its forms, that has kernels: what a crate implements for its
/// own type, where it cannot implement [`DeviceCipher`] for core's.
pub trait DeviceChoices: Choices {
    /// Those of this cipher.
    fn kernels() -> &'static CipherKernels;
}

impl<C: DeviceChoices> DeviceCipher for Cipher<Fastest<C>> {
    fn kernels() -> &'static CipherKernels {
        C::kernels()
    }
}

/// A block cipher whose bulk methods run on a device.
///
/// `encrypt_blocks`, `encrypt_blocks_inout`, `encrypt_blocks_b2b` and their decrypting
/// counterparts send the whole slice down in one piece, unless it is a single block. Single blocks,
/// and everything that goes through `encrypt_with_backend` (which is how mode crates call a cipher), run on the CPU cipher
/// `C`: a launch costs more than thousands of blocks there. For modes on the device use the
/// engine: [`lanecrypt_core::Ctr`] over [`engine`](Self::engine), and [`lanecrypt_core::modes`].
///
/// RustCrypto's traits cannot fail. On a device error the rest of the data runs on the CPU, the
/// error is logged and counted ([`fallbacks`](Self::fallbacks)); [`try_run`](Self::try_run)
/// reports it instead.
pub struct OnDevice<C> {
    engine: Engine,
    cpu: C,
    fallbacks: AtomicU64,
}

impl<C: DeviceCipher> OnDevice<C> {
    /// Keys the cipher on `device`, by its fastest kernels. Those of most ciphers look tables up, at
    /// addresses that depend on key and data: [`claim`](Self::claim) tells.
    ///
    /// # Errors
    /// Those of [`Family::engine`].
    pub fn new(device: &Device, key: &Key<C>) -> Result<Self, Error> {
        Self::of_family(C::family(), device, key)
    }

    /// Keys the cipher on `device`, by its fastest constant-time kernels.
    ///
    /// # Errors
    /// Those of [`Family::engine`].
    pub fn constant_time(device: &Device, key: &Key<C>) -> Result<Self, Error> {
        Self::of_family(C::constant_time_family(), device, key)
    }

    /// Keys the cipher on `device`, by kernels of one's choice.
    ///
    /// # Errors
    /// [`Error::OtherCipher`] for kernels of another cipher; those of [`Family::engine`].
    pub fn of_family(family: &Family, device: &Device, key: &Key<C>) -> Result<Self, Error> {
        let (given, expected) = (family.cipher().name, C::family().cipher().name);
        if given != expected {
            return Err(Error::OtherCipher { given, expected });
        }
        let engine = family.engine(device, key)?;
        Ok(Self { engine, cpu: C::new(key), fallbacks: AtomicU64::new(0) })
    }

    /// Whether its kernels are constant-time.
    pub fn claim(&self) -> ConstantTime {
        self.engine.constant_time()
    }

    /// The engine, for modes and for data on the device.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Bulk calls that ended on the CPU because the device failed.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks.load(Ordering::Relaxed)
    }

    /// ECB over `blocks` on the device, with nothing to fall back to.
    ///
    /// # Errors
    /// [`Error::Interrupted`] by driver errors.
    pub fn try_run(
        &self,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Block<C>>,
    ) -> Result<(), Error> {
        self.engine.run_host_memory(Operation::Ecb(direction), bytes::<C>(blocks))
    }

    fn bulk(&self, direction: Direction, mut blocks: InOutBuf<'_, '_, Block<C>>) {
        if blocks.len() <= 1 {
            return self.on_cpu(direction, blocks);
        }
        let operation = Operation::Ecb(direction);
        let data = bytes::<C>(blocks.reborrow());
        let Err(error) = self.engine.run_recoverably(operation, data) else { return };
        let complete = error.complete_bytes();
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
        log::error!("{self:?} goes on with the CPU: {error}");
        self.on_cpu(direction, blocks.split_at(complete / C::block_size()).1);
    }

    fn on_cpu(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<C>>) {
        match direction {
            Direction::Encrypt => self.cpu.encrypt_blocks_inout(blocks),
            Direction::Decrypt => self.cpu.decrypt_blocks_inout(blocks),
        }
    }
}

impl<C> AsRef<Engine> for OnDevice<C> {
    fn as_ref(&self) -> &Engine {
        &self.engine
    }
}

/// Blocks as bytes.
fn bytes<'i, 'o, C: BlockSizeUser>(blocks: InOutBuf<'i, 'o, Block<C>>) -> InOutBuf<'i, 'o, u8> {
    let length = blocks.len() * C::block_size();
    let (input, output) = blocks.into_raw();
    // SAFETY: an array of bytes has the layout of its bytes, so the same memory is `length` bytes;
    // the borrow and the relation of input to output stay as they were.
    unsafe { InOutBuf::from_raw(input.cast(), output.cast(), length) }
}

impl<C: DeviceCipher> BlockSizeUser for OnDevice<C> {
    type BlockSize = C::BlockSize;
}

impl<C: DeviceCipher> BlockCipherEncrypt for OnDevice<C> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = C::BlockSize>) {
        self.cpu.encrypt_with_backend(f);
    }
    fn encrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.bulk(Direction::Encrypt, blocks);
    }
    fn encrypt_blocks(&self, blocks: &mut [Block<Self>]) {
        self.bulk(Direction::Encrypt, blocks.into());
    }
    fn encrypt_blocks_b2b(
        &self,
        in_blocks: &[Block<Self>],
        out_blocks: &mut [Block<Self>],
    ) -> Result<(), cipher::inout::NotEqualError> {
        self.bulk(Direction::Encrypt, InOutBuf::new(in_blocks, out_blocks)?);
        Ok(())
    }
}

impl<C: DeviceCipher> BlockCipherDecrypt for OnDevice<C> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = C::BlockSize>) {
        self.cpu.decrypt_with_backend(f);
    }
    fn decrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.bulk(Direction::Decrypt, blocks);
    }
    fn decrypt_blocks(&self, blocks: &mut [Block<Self>]) {
        self.bulk(Direction::Decrypt, blocks.into());
    }
    fn decrypt_blocks_b2b(
        &self,
        in_blocks: &[Block<Self>],
        out_blocks: &mut [Block<Self>],
    ) -> Result<(), cipher::inout::NotEqualError> {
        self.bulk(Direction::Decrypt, InOutBuf::new(in_blocks, out_blocks)?);
        Ok(())
    }
}

impl<C: DeviceCipher> fmt::Debug for OnDevice<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write_alg_name(f)?;
        write!(f, " on {} {{ .. }}", self.engine.device().properties().name)
    }
}

impl<C: DeviceCipher> AlgorithmName for OnDevice<C> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write_alg_name(f)
    }
}
