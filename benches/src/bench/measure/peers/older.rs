//! Baselines whose traits are those of an older `cipher`: `kisaseed` and `lea`.

use std::fmt;

use lanecrypt::{
    Direction, Engine, Error, Mode, Operation,
    cipher::{InOutBuf, typenum::U16},
    lea::LEA,
    modes,
    registry::CipherDescription,
    seed::SEED,
};

/// A cipher with blocks of 16 bytes.
trait Older: Sized + Send + Sync + 'static {
    /// Under a key of a length that it has.
    fn keyed(key: &[u8]) -> Self;

    /// Runs a block.
    fn run(&self, direction: Direction, block: &mut [u8; BLOCK]);
}

const BLOCK: usize = 16;

impl Older for kisaseed::SEED {
    fn keyed(key: &[u8]) -> Self {
        cipher_0_4::KeyInit::new_from_slice(key).expect("its key length is ours")
    }

    fn run(&self, direction: Direction, block: &mut [u8; BLOCK]) {
        use cipher_0_4::{BlockDecrypt, BlockEncrypt};
        match direction {
            Direction::Encrypt => self.encrypt_block(block.into()),
            Direction::Decrypt => self.decrypt_block(block.into()),
        }
    }
}

/// The types of `lea`, one a key size.
macro_rules! lea {
    ($($cipher:ident)*) => {$(
        impl Older for lea::$cipher {
            fn keyed(key: &[u8]) -> Self {
                lea::cipher::NewBlockCipher::new_from_slice(key).expect("its key lengths are ours")
            }

            fn run(&self, direction: Direction, block: &mut [u8; BLOCK]) {
                use lea::cipher::{BlockDecrypt, BlockEncrypt};
                match direction {
                    Direction::Encrypt => self.encrypt_block(block.into()),
                    Direction::Decrypt => self.decrypt_block(block.into()),
                }
            }
        }
    )*};
}
lea!(Lea128 Lea192 Lea256);

/// Such a cipher as an engine: modes over it are ours, a block at a time.
struct OneByOne<C>(C);

/// SEED of `kisaseed`.
///
/// # Errors
/// [`Error::KeyLength`].
pub(crate) fn seed(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    create::<kisaseed::SEED>(&SEED, key)
}

/// LEA of `lea`.
///
/// # Errors
/// [`Error::KeyLength`].
pub(crate) fn lea(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    match key.len() {
        16 => create::<lea::Lea128>(&LEA, key),
        24 => create::<lea::Lea192>(&LEA, key),
        _ => create::<lea::Lea256>(&LEA, key),
    }
}

fn create<C: Older>(cipher: &CipherDescription, key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    cipher.check_key(key)?;
    Ok(Box::new(OneByOne(C::keyed(key))))
}

impl<C> fmt::Debug for OneByOne<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneByOne").finish_non_exhaustive()
    }
}

impl<C: Older> Engine for OneByOne<C> {
    fn block_bytes(&self) -> usize {
        BLOCK
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let Operation::Ecb(direction) = operation else {
            return modes::by_ecb(self, operation, data);
        };
        let given = data.len();
        let (blocks, tail) = data.into_chunks::<U16>();
        if !tail.is_empty() {
            return Err(Error::NotWholeBlocks { mode: Mode::Ecb, given, block: BLOCK });
        }
        for mut block in blocks {
            let mut theirs = block.clone_in().0;
            self.0.run(direction, &mut theirs);
            block.get_out().0 = theirs;
        }
        Ok(())
    }
}
