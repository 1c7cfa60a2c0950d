//! The backends that RustCrypto's modes are given, and serial operations as such a mode.

use core::{
    cell::{Cell, OnceCell},
    marker::PhantomData,
};

use cipher::{
    Array, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockSizeUser, InOut, InOutBuf, ParBlocks, ParBlocksSizeUser,
    array::ArraySize, consts::U8, typenum::Unsigned,
};

use crate::{
    Block, Counter, Direction, Dispatch, Implementation, SerialMode,
    block::block_of,
    modes::{wiped, xor},
};

/// [`Implementation::encrypt_with`] of short calls and batches.
#[inline(never)] // its keys would be on the stack of modes that are compiled together with the cipher
pub fn encrypt_with<I: Implementation>(
    implementation: &I,
    mode: impl BlockCipherEncClosure<BlockSize = I::BlockSize>,
) {
    mode.call(&Call::new(implementation));
}

/// [`Implementation::decrypt_with`] of short calls and batches.
#[inline(never)]
pub fn decrypt_with<I: Implementation>(
    implementation: &I,
    mode: impl BlockCipherDecClosure<BlockSize = I::BlockSize>,
) {
    mode.call(&Call::new(implementation));
}

/// The backend handed to RustCrypto's modes: it lives for one call and keeps that call's keys.
pub(crate) struct Call<'a, I: Implementation> {
    implementation: &'a I,
    encrypt_keys: OnceCell<I::BatchKeys>,
    decrypt_keys: OnceCell<I::BatchKeys>,
    /// Whether fewer blocks than a batch have not been run yet.
    is_first: Cell<bool>,
}

impl<'a, I: Implementation> Call<'a, I> {
    pub(crate) fn new(implementation: &'a I) -> Self {
        Self {
            implementation,
            encrypt_keys: OnceCell::new(),
            decrypt_keys: OnceCell::new(),
            is_first: Cell::new(true),
        }
    }

    fn one(&self, direction: Direction, block: InOut<'_, '_, Block<I>>) {
        // In place, for want of a way from one block to a buffer of one.
        self.run_short(direction, InOutBuf::from_mut(block.into_out_with_copied_in()));
    }

    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.implementation.run_short(direction, blocks);
    }

    /// Encrypts any number of blocks.
    pub(crate) fn encrypt(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        if I::is_short(blocks.len()) {
            self.tail(Direction::Encrypt, blocks);
        } else {
            self.batches(Direction::Encrypt, blocks);
        }
    }

    /// Fewer blocks than a batch. Where they are padded to one, the keys for it are kept from the second time on:
    /// the first may be the last, and keys that are kept are moved.
    fn tail(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<I>>) {
        if blocks.is_empty() {
            return;
        }
        match self.implementation.dispatch(blocks.len()) {
            Dispatch::Batches(_) if !self.is_first.replace(false) => {
                self.batches(direction, blocks);
            }
            _ => self.run_short(direction, blocks),
        }
    }

    fn batches(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<I>>) {
        let keys = match direction {
            Direction::Encrypt => &self.encrypt_keys,
            Direction::Decrypt => &self.decrypt_keys,
        };
        let keys = keys.get_or_init(|| self.implementation.batch_keys(direction));
        self.implementation.run_batches(keys, blocks);
    }
}

impl<I: Implementation> BlockSizeUser for Call<'_, I> {
    type BlockSize = I::BlockSize;
}

impl<I: Implementation> ParBlocksSizeUser for Call<'_, I> {
    type ParBlocksSize = I::Lanes;
}

impl<I: Implementation> BlockCipherEncBackend for Call<'_, I> {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        self.one(Direction::Encrypt, block);
    }
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.batches(Direction::Encrypt, blocks.into_buf());
    }
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.tail(Direction::Encrypt, blocks);
    }
}

impl<I: Implementation> BlockCipherDecBackend for Call<'_, I> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        self.one(Direction::Decrypt, block);
    }
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.batches(Direction::Decrypt, blocks.into_buf());
    }
    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.tail(Direction::Decrypt, blocks);
    }
}

/// Blocks that RustCrypto's modes hand over at once. They run what is left one by one, so that with a whole batch
/// a packet would never reach it; and eight blocks are enough to keep instructions for AES busy.
pub type Packet = U8;

/// A mode of RustCrypto's, which is given a backend that takes a [`Packet`] at once.
pub(crate) struct InPackets<M> {
    pub(crate) mode: M,
}

impl<M: BlockSizeUser> BlockSizeUser for InPackets<M> {
    type BlockSize = M::BlockSize;
}

impl<M: BlockCipherEncClosure> BlockCipherEncClosure for InPackets<M> {
    #[allow(clippy::inline_always, reason = "to be compiled with the cipher's instruction set")]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = M::BlockSize>>(self, backend: &B) {
        self.mode.call(&PacketBackend { backend });
    }
}

impl<M: BlockCipherDecClosure> BlockCipherDecClosure for InPackets<M> {
    #[allow(clippy::inline_always, reason = "to be compiled with the cipher's instruction set")]
    #[inline(always)]
    fn call<B: BlockCipherDecBackend<BlockSize = M::BlockSize>>(self, backend: &B) {
        self.mode.call(&PacketBackend { backend });
    }
}

/// That backend, over one that takes more at once, or fewer.
struct PacketBackend<'a, B> {
    backend: &'a B,
}

impl<B: BlockSizeUser> BlockSizeUser for PacketBackend<'_, B> {
    type BlockSize = B::BlockSize;
}

impl<B: BlockSizeUser> ParBlocksSizeUser for PacketBackend<'_, B> {
    type ParBlocksSize = Packet;
}

/// Implements a direction of [`PacketBackend`].
macro_rules! in_packets {
    ($backend:ident: $block:ident, $par_blocks:ident, $tail_blocks:ident) => {
        #[allow(clippy::inline_always, reason = "as above")]
        impl<B: $backend> $backend for PacketBackend<'_, B> {
            #[inline(always)]
            fn $block(&self, block: InOut<'_, '_, cipher::Block<B>>) {
                self.backend.$block(block);
            }
            #[inline(always)]
            fn $par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
                let (several, rest) = blocks.into_buf().into_chunks::<B::ParBlocksSize>();
                for blocks in several {
                    self.backend.$par_blocks(blocks);
                }
                if Packet::USIZE % B::ParBlocksSize::USIZE != 0 {
                    self.backend.$tail_blocks(rest);
                }
            }
            #[inline(always)]
            fn $tail_blocks(&self, blocks: InOutBuf<'_, '_, cipher::Block<B>>) {
                let (several, rest) = blocks.into_chunks::<B::ParBlocksSize>();
                for blocks in several {
                    self.backend.$par_blocks(blocks);
                }
                self.backend.$tail_blocks(rest);
            }
        }
    };
}
in_packets!(BlockCipherEncBackend: encrypt_block, encrypt_par_blocks, encrypt_tail_blocks);
in_packets!(BlockCipherDecBackend: decrypt_block, decrypt_par_blocks, decrypt_tail_blocks);

/// A serial operation over whole blocks, as a mode: so it is compiled with the cipher's instructions, and
/// between two blocks there is nothing but their sum.
///
/// By reference: a copy would be loaded in one piece right after its parts were stored, which costs as much as half a
/// block.
#[repr(C)] // `ct` knows where the data is
pub(crate) struct OneByOne<'a, 'inp, 'out, N: ArraySize> {
    /// Whole blocks.
    pub(crate) data: &'a mut InOutBuf<'inp, 'out, u8>,
    pub(crate) iv: &'a Array<u8, N>,
    pub(crate) mode: SerialMode,
}

impl<N: ArraySize> BlockSizeUser for OneByOne<'_, '_, '_, N> {
    type BlockSize = N;
}

impl<N: ArraySize<ArrayType<u8>: Copy>> BlockCipherEncClosure for OneByOne<'_, '_, '_, N> {
    #[allow(clippy::inline_always, reason = "to be compiled with the cipher's instruction set")]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = N>>(self, backend: &B) {
        let Self { data, iv, mode } = self;
        // A copy for each block, which stays in a register of the CPU.
        let mut register = *iv;
        for mut block in data.reborrow().into_chunks::<N>().0 {
            let mut next = register;
            match mode {
                SerialMode::Cbc => {
                    xor(&mut next, block.get_in());
                    backend.encrypt_block((&mut next).into());
                    *block.get_out() = next;
                }
                SerialMode::Cfb => {
                    backend.encrypt_block((&mut next).into());
                    xor(&mut next, block.get_in());
                    *block.get_out() = next;
                }
                SerialMode::Ofb => {
                    backend.encrypt_block((&mut next).into());
                    let mut sum = *block.get_in();
                    xor(&mut sum, &next);
                    *block.get_out() = sum;
                }
            }
            register = next;
        }
    }
}

/// CTR of a short message, as a mode.
pub(crate) struct ShortCtr<'inp, 'out, N: ArraySize> {
    pub(crate) counter: Counter,
    pub(crate) data: InOutBuf<'inp, 'out, u8>,
    pub(crate) block: PhantomData<N>,
}

impl<N: ArraySize> BlockSizeUser for ShortCtr<'_, '_, N> {
    type BlockSize = N;
}

impl<N: ArraySize> BlockCipherEncClosure for ShortCtr<'_, '_, N> {
    #[allow(clippy::inline_always, reason = "to be compiled with the cipher's instruction set")]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = N>>(self, backend: &B) {
        let Self { mut counter, data, .. } = self;
        let mut keystream = ParBlocks::<B>::default();
        let (blocks, mut tail) = data.into_chunks::<N>();
        let (batches, rest) = blocks.into_chunks::<B::ParBlocksSize>();
        for mut batch in batches {
            counter.fill(Array::slice_as_flattened_mut(&mut keystream));
            counter = counter.plus(keystream.len() as u128);
            backend.encrypt_par_blocks((&mut keystream).into());
            batch.xor_in2out(&keystream);
        }
        // A part of a block is one more, of which the end is not used.
        let (whole, length) = (rest.len(), rest.len() + usize::from(!tail.is_empty()));
        let last = &mut keystream[..length];
        counter.fill(Array::slice_as_flattened_mut(last));
        match last {
            [] => {}
            [block] => backend.encrypt_block(block.into()),
            _ if length == B::ParBlocksSize::USIZE => {
                backend.encrypt_par_blocks((&mut keystream).into());
            }
            _ => backend.encrypt_tail_blocks(last.into()),
        }
        for (mut block, keystream) in rest.into_iter().zip(&keystream) {
            block.xor_in2out(keystream);
        }
        if let Some(block) = keystream.get(whole).filter(|_| !tail.is_empty()) {
            tail.xor_in2out(&block[..tail.len()]);
        }
        wiped(Array::slice_as_flattened_mut(&mut keystream), |_| ());
    }
}

/// CBC decryption of a short message, as a mode.
pub(crate) struct ShortCbcDecryption<'a, 'inp, 'out, N: ArraySize> {
    pub(crate) iv: &'a [u8],
    pub(crate) blocks: InOutBuf<'inp, 'out, Array<u8, N>>,
}

impl<N: ArraySize> BlockSizeUser for ShortCbcDecryption<'_, '_, '_, N> {
    type BlockSize = N;
}

impl<N: ArraySize<ArrayType<u8>: Copy>> BlockCipherDecClosure
    for ShortCbcDecryption<'_, '_, '_, N>
{
    #[allow(clippy::inline_always, reason = "to be compiled with the cipher's instruction set")]
    #[inline(always)]
    fn call<B: BlockCipherDecBackend<BlockSize = N>>(self, backend: &B) {
        let mut previous = block_of::<N>(self.iv);
        let (batches, mut rest) = self.blocks.into_chunks::<B::ParBlocksSize>();
        for mut batch in batches {
            let ciphertext = batch.clone_in();
            let mut plaintext = ciphertext.clone();
            backend.decrypt_par_blocks((&mut plaintext).into());
            previous = add_chain(&mut plaintext, &ciphertext, previous);
            *batch.get_out() = plaintext;
        }
        let mut ciphertext = ParBlocks::<B>::default();
        let ciphertext = &mut ciphertext[..rest.len()];
        ciphertext.copy_from_slice(rest.get_in());
        match ciphertext {
            [] => {}
            [block] => {
                let mut plaintext = *block;
                backend.decrypt_block((&mut plaintext).into());
                xor(&mut plaintext, &previous);
                rest.get_out()[0] = plaintext;
            }
            _ => {
                backend.decrypt_tail_blocks(rest.reborrow());
                add_chain(rest.get_out(), ciphertext, previous);
            }
        }
    }
}

/// Adds to every block the block of ciphertext before it, the first of which is `previous`, and returns the last.
#[allow(clippy::inline_always, reason = "to be compiled with the cipher's instruction set")]
#[inline(always)]
fn add_chain<N: ArraySize<ArrayType<u8>: Copy>>(
    plaintext: &mut [Array<u8, N>],
    ciphertext: &[Array<u8, N>],
    mut previous: Array<u8, N>,
) -> Array<u8, N> {
    for (block, ciphertext) in plaintext.iter_mut().zip(ciphertext) {
        xor(block, &previous);
        previous = *ciphertext;
    }
    previous
}
