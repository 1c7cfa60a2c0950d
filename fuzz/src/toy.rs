//! A cipher of any block size, and engines over it that no implementation of ours is like.

use lanecrypt_core::{Direction, Engine, Error, Mode, Operation, cipher::InOutBuf, modes};
use lanecrypt_reference::modes::BlockCipher;

/// A permutation of blocks of any size, in which every byte depends on every byte before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Toy {
    pub(crate) block_bytes: usize,
    pub(crate) chunk_bytes: usize,
    pub(crate) key: u8,
}

impl BlockCipher for Toy {
    fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    fn encrypt_block(&self, block: &mut [u8]) {
        let mut before = self.key;
        for (byte, place) in block.iter_mut().zip(1_u8..) {
            *byte = (*byte ^ before).wrapping_mul(167).wrapping_add(place);
            before = *byte;
        }
        block.reverse();
    }

    fn decrypt_block(&self, block: &mut [u8]) {
        block.reverse();
        let mut before = self.key;
        for (byte, place) in block.iter_mut().zip(1_u8..) {
            let encrypted = *byte;
            // 167 * 23 = 1 modulo 256.
            *byte = encrypted.wrapping_sub(place).wrapping_mul(23) ^ before;
            before = encrypted;
        }
    }
}

impl Engine for Toy {
    fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let Operation::Ecb(direction) = operation else {
            return modes::by_ecb(self, operation, data);
        };
        let (given, block) = (data.len(), self.block_bytes);
        if !given.is_multiple_of(block) {
            return Err(Error::NotWholeBlocks { mode: Mode::Ecb, given, block });
        }
        for block in data.into_out_with_copied_in().chunks_exact_mut(block) {
            match direction {
                Direction::Encrypt => self.encrypt_block(block),
                Direction::Decrypt => self.decrypt_block(block),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockCipher, Toy};

    #[test]
    fn decryption_undoes_encryption() {
        for block_bytes in 1..40 {
            let toy = Toy { block_bytes, chunk_bytes: 0, key: 0x5b };
            let block: Vec<u8> = (0..block_bytes).map(|i| (i * 37) as u8).collect();
            let mut there = block.clone();
            toy.encrypt_block(&mut there);
            assert_ne!(block, there);
            toy.decrypt_block(&mut there);
            assert_eq!(block, there);
        }
    }
}
