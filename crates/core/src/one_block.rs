//! What computes a cipher block by block, as an implementation.

use cipher::{Array, InOutBuf, array::ArraySize, consts::U1};

use crate::{Block, ConstantTime, Direction, Implementation, Unavailable};

/// One way to compute one cipher, block by block: references, and tables.
///
/// It is an [`Implementation`] of one lane.
pub trait OneBlock: Clone + Send + Sync {
    /// Bytes of a block.
    type BlockSize: ArraySize<ArrayType<u8>: Copy>;
    /// Bytes of a key.
    type KeySize: ArraySize;

    /// The algorithm's name as RustCrypto spells it.
    const NAME: &'static str;
    /// Its constant-time claim, key schedule included.
    const CONSTANT_TIME: ConstantTime;

    /// Keys the cipher.
    fn new(key: &Array<u8, Self::KeySize>) -> Self;

    /// Runs a block in place.
    fn run(&self, direction: Direction, block: &mut Array<u8, Self::BlockSize>);
}

impl<O: OneBlock> Implementation for O {
    type BlockSize = O::BlockSize;
    type KeySize = O::KeySize;
    type Lanes = U1;
    type Token = ();
    type BatchKeys = Direction;

    const NAME: &'static str = O::NAME;
    const CONSTANT_TIME: ConstantTime = O::CONSTANT_TIME;

    fn detect() -> Result<(), Unavailable> {
        Ok(())
    }

    fn new((): (), key: &Array<u8, Self::KeySize>) -> Self {
        O::new(key)
    }

    fn batch_keys(&self, direction: Direction) -> Direction {
        direction
    }

    fn run_batches(&self, direction: &Direction, blocks: InOutBuf<'_, '_, Block<Self>>) {
        for mut block in blocks {
            let mut copy = block.clone_in();
            self.run(*direction, &mut copy);
            *block.get_out() = copy;
        }
    }

    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.run_batches(&direction, blocks);
    }
}
