//! From one way of computing a cipher to a type with RustCrypto's traits.

use core::{cell::OnceCell, fmt};

use cipher::{
    AlgorithmName, Array, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt,
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    InOutBuf, Key, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser, array::ArraySize,
    typenum::Unsigned,
};

use crate::{Direction, on_cleared_stack};

/// A block of implementation `I`.
pub type Block<I> = Array<u8, <I as Implementation>::BlockSize>;

// ANCHOR: implementation
/// One way to compute one cipher with one key size.
///
/// It says how to key itself, how to run a full batch of [`Lanes`](Self::Lanes) blocks and how to
/// run a few blocks without the price of a batch; [`Cipher`] does the rest. An implementation
/// clears its keys when dropped (feature `zeroize`).
pub trait Implementation: Clone + Send + Sync {
    /// Bytes of a block.
    type BlockSize: ArraySize;
    /// Bytes of a key.
    type KeySize: ArraySize;
    /// Blocks of a full batch.
    type Lanes: ArraySize;
    /// Round keys in the form that a batch wants, made once a call when the first batch comes.
    type BatchKeys;

    /// The algorithm's name as RustCrypto spells it, `"Aes128"`.
    const NAME: &'static str;

    /// Keys the cipher.
    fn new(key: &Array<u8, Self::KeySize>) -> Self;

    /// The round keys for batches.
    fn batch_keys(&self) -> Self::BatchKeys;

    /// Runs a full batch in place.
    fn batch(
        &self,
        keys: &Self::BatchKeys,
        direction: Direction,
        blocks: &mut Array<Block<Self>, Self::Lanes>,
    );

    /// Runs fewer blocks than a batch, in place.
    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]);
}
// ANCHOR_END: implementation

/// A keyed block cipher with RustCrypto's traits, computed by `I`.
#[derive(Clone)]
pub struct Cipher<I: Implementation> {
    implementation: I,
}

impl<I: Implementation> KeySizeUser for Cipher<I> {
    type KeySize = I::KeySize;
}

impl<I: Implementation> BlockSizeUser for Cipher<I> {
    type BlockSize = I::BlockSize;
}

impl<I: Implementation> ParBlocksSizeUser for Cipher<I> {
    type ParBlocksSize = I::Lanes;
}

impl<I: Implementation> KeyInit for Cipher<I> {
    fn new(key: &Key<Self>) -> Self {
        on_cleared_stack(|| Self { implementation: I::new(key) })
    }
}

impl<I: Implementation> fmt::Debug for Cipher<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {{ ... }}", I::NAME) // as the `des`, `camellia` and `aria` crates have it
    }
}

impl<I: Implementation> AlgorithmName for Cipher<I> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(I::NAME)
    }
}

#[cfg(feature = "zeroize")]
impl<I: Implementation + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Cipher<I> {}

impl<I: Implementation> BlockCipherEncrypt for Cipher<I> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = I::BlockSize>) {
        f.call(&Lanes::new(&self.implementation));
    }
}

impl<I: Implementation> BlockCipherDecrypt for Cipher<I> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = I::BlockSize>) {
        f.call(&Lanes::new(&self.implementation));
    }
}

/// The backend that the type itself is, as RustCrypto's types are: it keeps no keys for batches from
/// one call to the next, so `encrypt_with_backend` hands a [`Lanes`] on instead.
impl<I: Implementation> BlockCipherEncBackend for Cipher<I> {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        Lanes::new(&self.implementation).encrypt_block(block);
    }
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        Lanes::new(&self.implementation).encrypt_par_blocks(blocks);
    }
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        Lanes::new(&self.implementation).encrypt_tail_blocks(blocks);
    }
}

/// See its counterpart.
impl<I: Implementation> BlockCipherDecBackend for Cipher<I> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        Lanes::new(&self.implementation).decrypt_block(block);
    }
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        Lanes::new(&self.implementation).decrypt_par_blocks(blocks);
    }
    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        Lanes::new(&self.implementation).decrypt_tail_blocks(blocks);
    }
}

/// The backend handed to RustCrypto's modes: it lives for one call and keeps that call's keys.
struct Lanes<'a, I: Implementation> {
    implementation: &'a I,
    batch_keys: OnceCell<I::BatchKeys>,
}

impl<'a, I: Implementation> Lanes<'a, I> {
    fn new(implementation: &'a I) -> Self {
        Self { implementation, batch_keys: OnceCell::new() }
    }

    fn one(&self, direction: Direction, mut block: InOut<'_, '_, Block<I>>) {
        let mut copy = block.clone_in();
        self.implementation.few(direction, core::slice::from_mut(&mut copy));
        *block.get_out() = copy;
    }

    fn batch(&self, direction: Direction, mut blocks: InOut<'_, '_, Array<Block<I>, I::Lanes>>) {
        let keys = self.batch_keys.get_or_init(|| self.implementation.batch_keys());
        let mut copy = blocks.clone_in();
        self.implementation.batch(keys, direction, &mut copy);
        *blocks.get_out() = copy;
    }

    fn tail(&self, direction: Direction, mut blocks: InOutBuf<'_, '_, Block<I>>) {
        debug_assert!(blocks.len() < I::Lanes::USIZE, "a tail is shorter than a batch");
        for mut block in blocks.reborrow() {
            *block.get_out() = block.clone_in();
        }
        self.implementation.few(direction, blocks.get_out());
    }
}

impl<I: Implementation> BlockSizeUser for Lanes<'_, I> {
    type BlockSize = I::BlockSize;
}

impl<I: Implementation> ParBlocksSizeUser for Lanes<'_, I> {
    type ParBlocksSize = I::Lanes;
}

impl<I: Implementation> BlockCipherEncBackend for Lanes<'_, I> {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        self.one(Direction::Encrypt, block);
    }
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.batch(Direction::Encrypt, blocks);
    }
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.tail(Direction::Encrypt, blocks);
    }
}

impl<I: Implementation> BlockCipherDecBackend for Lanes<'_, I> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        self.one(Direction::Decrypt, block);
    }
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.batch(Direction::Decrypt, blocks);
    }
    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.tail(Direction::Decrypt, blocks);
    }
}
