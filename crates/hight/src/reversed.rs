//! HIGHT in the byte order of KISA's C source: the standard's, reversed.
//!
//! KISA's arrays are indexed as the standard numbers bytes, so that P0 and MK0 come first, where
//! the standard's hexadecimal writes P7 and MK15 first.

use cipher::{
    Array,
    consts::{U8, U16},
};
use lanecrypt_core::{Block, Direction, Implementation};

/// `I` with the bytes of key and blocks reversed: `rev(I(rev(key), rev(block)))`.
#[derive(Clone)]
pub struct Reversed<I>(I);

fn reverse(blocks: &mut [Array<u8, U8>]) {
    for block in blocks {
        block.0 = u64::from_le_bytes(block.0).to_be_bytes();
    }
}

impl<I: Implementation<BlockSize = U8, KeySize = U16>> Implementation for Reversed<I> {
    type BlockSize = U8;
    type KeySize = U16;
    type Lanes = I::Lanes;
    type BatchKeys = I::BatchKeys;

    const NAME: &'static str = "HightKisa";

    fn new(key: &Array<u8, U16>) -> Self {
        let mut reversed = *key;
        reversed.reverse();
        let inner = I::new(&reversed);
        #[cfg(feature = "zeroize")]
        zeroize::Zeroize::zeroize(&mut reversed.0);
        Self(inner)
    }

    fn batch_keys(&self) -> I::BatchKeys {
        self.0.batch_keys()
    }

    fn batch(
        &self,
        keys: &I::BatchKeys,
        direction: Direction,
        blocks: &mut Array<Block<Self>, I::Lanes>,
    ) {
        reverse(blocks);
        self.0.batch(keys, direction, blocks);
        reverse(blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        reverse(blocks);
        self.0.few(direction, blocks);
        reverse(blocks);
    }
}

impl<I> core::fmt::Debug for Reversed<I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reversed").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<I: zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Reversed<I> {}
