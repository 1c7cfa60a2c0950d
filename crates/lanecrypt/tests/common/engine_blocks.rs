//! An engine as the modes of `lanecrypt_reference` take a cipher.

use lanecrypt::{Direction, Engine};
use lanecrypt_reference::modes::BlockCipher;

/// An engine as the block function that the modes are defined over.
pub(crate) struct EngineBlocks(pub(crate) Box<dyn Engine>);

impl EngineBlocks {
    pub(crate) fn run(&self, direction: Direction, block: &mut [u8]) {
        self.0.ecb(direction, block.into()).expect("it takes a block of its size");
    }
}

impl BlockCipher for EngineBlocks {
    fn block_bytes(&self) -> usize {
        self.0.block_bytes()
    }

    fn encrypt_block(&self, block: &mut [u8]) {
        self.run(Direction::Encrypt, block);
    }

    fn decrypt_block(&self, block: &mut [u8]) {
        self.run(Direction::Decrypt, block);
    }
}
