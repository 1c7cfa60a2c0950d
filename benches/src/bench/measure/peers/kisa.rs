//! `kisaseed`, a baseline whose traits are those of an older `cipher`.

use std::fmt;

use cipher_0_4::{BlockDecrypt, BlockEncrypt, KeyInit};
use lanecrypt::{
    Direction, Engine, Error, Mode, Operation,
    cipher::{InOutBuf, typenum::U16},
    modes,
    seed::SEED,
};

/// A keyed [`kisaseed::SEED`].
pub(crate) struct KisaSeed(kisaseed::SEED);

impl KisaSeed {
    const BLOCK: usize = 16;

    /// Makes it.
    ///
    /// # Errors
    /// [`Error::KeyLength`].
    pub(crate) fn create(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
        SEED.check_key(key)?;
        let seed = kisaseed::SEED::new_from_slice(key);
        Ok(Box::new(Self(seed.expect("its key length is ours"))))
    }
}

impl fmt::Debug for KisaSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KisaSeed").finish_non_exhaustive()
    }
}

impl Engine for KisaSeed {
    fn block_bytes(&self) -> usize {
        Self::BLOCK
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let Operation::Ecb(direction) = operation else {
            return modes::by_ecb(self, operation, data);
        };
        let given = data.len();
        let (blocks, tail) = data.into_chunks::<U16>();
        if !tail.is_empty() {
            return Err(Error::NotWholeBlocks { mode: Mode::Ecb, given, block: Self::BLOCK });
        }
        for mut block in blocks {
            let mut theirs = block.clone_in().0.into();
            match direction {
                Direction::Encrypt => self.0.encrypt_block(&mut theirs),
                Direction::Decrypt => self.0.decrypt_block(&mut theirs),
            }
            block.get_out().0 = theirs.into();
        }
        Ok(())
    }
}
