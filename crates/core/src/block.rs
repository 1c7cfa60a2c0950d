//! From one way of computing a cipher to a type with RustCrypto's traits.

#![allow(
    clippy::inline_always,
    reason = "a mode is handed on to the region of its instructions, and each call on the way would copy it"
)]

use core::{fmt, marker::PhantomData};

use cipher::{
    AlgorithmName, Array, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt,
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    InOutBuf, Key, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser, array::ArraySize,
    typenum::Unsigned,
};

use crate::{
    BlockPass, Chains, ConstantTime, Counter, Direction, Dispatch, Engine, Error, GcmPass, Mode,
    Operation, SerialMode, Unavailable,
    backend::{self, Call, InPackets, OneByOne, ShortCbcDecryption, ShortCtr},
    bulk,
    engine::whole_blocks,
    modes::{self, wiped},
    on_cleared_stack, on_cleared_stack_of,
};

/// A block of implementation `I`.
pub type Block<I> = Array<u8, <I as Implementation>::BlockSize>;

// ANCHOR: implementation
/// One way to compute one cipher with one key size.
///
/// It says what the CPU must have for it, how to key itself, how to run many blocks, and how to run
/// a few without the price of a batch; [`Cipher`] does the rest. An implementation clears its keys
/// when dropped (feature `zeroize`).
pub trait Implementation: Clone + Send + Sync {
    /// Bytes of a block.
    type BlockSize: ArraySize<ArrayType<u8>: Copy>;
    /// Bytes of a key.
    type KeySize: ArraySize;
    /// Blocks of a full batch.
    type Lanes: ArraySize;
    /// Proof that this CPU has the instructions it needs: `()` where it needs none.
    type Token: Copy + Send + Sync;
    /// Round keys of one direction in the form that batches want, made once a call.
    type BatchKeys;

    /// The algorithm's name as RustCrypto spells it, `"Aes128"`.
    const NAME: &'static str;
    /// Its constant-time claim, key schedule included.
    const CONSTANT_TIME: ConstantTime;

    /// The token, if this CPU has the instructions.
    ///
    /// # Errors
    /// The instructions that it lacks.
    fn detect() -> Result<Self::Token, Unavailable>;

    /// Keys the cipher.
    fn new(token: Self::Token, key: &Array<u8, Self::KeySize>) -> Self;

    /// Keys the cipher by `keying` and then overwrites the stack that this used: by default what
    /// [`on_cleared_stack`] does. An implementation that knows that it takes less overrides it.
    fn on_cleared_stack<R>(keying: impl FnOnce() -> R) -> R {
        on_cleared_stack(keying)
    }

    /// The round keys of a direction, for batches.
    fn batch_keys(&self, direction: Direction) -> Self::BatchKeys;

    /// Runs any number of blocks in the direction of the keys; fastest for multiples of
    /// [`Lanes`](Self::Lanes).
    fn run_batches(&self, keys: &Self::BatchKeys, blocks: InOutBuf<'_, '_, Block<Self>>);

    /// Runs fewer blocks than a batch, or a single one.
    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<Self>>);

    /// Runs a block by itself: by default as [`run_short`](Self::run_short) does.
    #[inline]
    fn run_single(&self, direction: Direction, block: &mut Block<Self>) {
        self.run_short(direction, InOutBuf::from_mut(block));
    }

    /// Whether `blocks` is less than a batch, so that [`run_short`](Self::run_short) runs them.
    #[must_use]
    #[inline]
    fn is_short(blocks: usize) -> bool {
        blocks < Self::Lanes::USIZE
    }

    /// How this number of blocks, at least one, is run: by [`run_short`](Self::run_short) if they
    /// [are](Self::is_short), else by [`run_batches`](Self::run_batches).
    fn dispatch(&self, blocks: usize) -> Dispatch {
        let lanes = Self::Lanes::USIZE;
        if Self::is_short(blocks) { Dispatch::Short(lanes) } else { Dispatch::Batches(lanes) }
    }

    /// XORs the CTR key stream that starts with `counter` over any number of blocks, under batch
    /// keys of encryption.
    fn ctr(&self, keys: &Self::BatchKeys, counter: Counter, blocks: InOutBuf<'_, '_, Block<Self>>) {
        bulk::ctr(self, keys, counter, blocks);
    }

    /// Runs an operation in which blocks run side by side, but not ECB, over data of any length: where the
    /// implementation has a way of its own for it, and returns whether it has. By default it has none.
    ///
    /// By reference: a copy would be loaded in larger pieces than it was just stored in, and wait for them.
    fn run_whole(&self, operation: &Operation<'_>, data: &mut InOutBuf<'_, '_, u8>) -> bool {
        let _ = (operation, data);
        false
    }

    /// Runs one block of data, where the implementation has a way for that in which nothing is between the cipher and
    /// the sums, and returns whether it has. By default it has none.
    #[inline]
    fn run_block(
        &self,
        direction: Direction,
        block: &mut BlockPass<'_, '_, '_, Self::BlockSize>,
    ) -> bool {
        let _ = (direction, block);
        false
    }

    /// Adds masks of XTS to whole blocks of 16 bytes and leaves them in `masks`, which is as long: `mask` is the first
    /// of them, and becomes the one after the last.
    fn add_next_masks(&self, mask: &mut [u8; 16], masks: &mut [u8], data: &mut [u8]) {
        bulk::add_next_masks(mask, masks, data);
    }

    /// Adds these masks to the data, which is as long.
    fn add_masks(&self, masks: &[u8], data: &mut [u8]) {
        bulk::add_masks(masks, data);
    }

    /// CTR and GHASH of the ciphertext in one pass, as [`Engine::gcm`] has it. By default there is none.
    fn gcm(&self, pass: &mut GcmPass<'_>, data: &mut InOutBuf<'_, '_, u8>) -> bool {
        let _ = (pass, data);
        false
    }

    /// As [`Engine::chains_at_once`].
    fn chains_at_once(&self) -> usize {
        modes::MOST_CHAINS
    }

    /// Runs messages in a serial mode, as [`Engine::run_chains`] has it, where the implementation has a way of its own
    /// for that, and returns whether it has. By default it has none.
    fn run_chains(&self, chains: &mut Chains<'_, '_, '_>) -> bool {
        let _ = chains;
        false
    }

    /// Gives a mode of RustCrypto's a backend that encrypts. By default that is one of
    /// [`run_short`](Self::run_short) and [`run_batches`](Self::run_batches); an implementation whose rounds
    /// are a few instructions gives one that is compiled into the mode.
    fn encrypt_with(&self, mode: impl BlockCipherEncClosure<BlockSize = Self::BlockSize>) {
        backend::encrypt_with(self, mode);
    }

    /// As [`encrypt_with`](Self::encrypt_with), of a backend that decrypts.
    fn decrypt_with(&self, mode: impl BlockCipherDecClosure<BlockSize = Self::BlockSize>) {
        backend::decrypt_with(self, mode);
    }
}
// ANCHOR_END: implementation

/// A token that every CPU has.
pub trait AnyCpu: Copy {
    /// The token.
    fn get() -> Self;
}

impl AnyCpu for () {
    fn get() -> Self {}
}

/// A keyed block cipher with RustCrypto's traits, computed by `I`.
#[derive(Clone)]
pub struct Cipher<I: Implementation> {
    implementation: I,
}

impl<I: Implementation> Cipher<I> {
    /// Keys the cipher on a CPU that has its instructions.
    pub fn with_token(token: I::Token, key: &Key<Self>) -> Self {
        I::on_cleared_stack(|| Self { implementation: I::new(token, key) })
    }

    /// The implementation.
    pub fn implementation(&self) -> &I {
        &self.implementation
    }

    /// Runs any number of blocks.
    #[inline]
    fn blocks(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<I>>) {
        if I::is_short(blocks.len()) {
            self.implementation.run_short(direction, blocks);
        } else {
            self.batches(direction, blocks);
        }
    }

    /// Runs at least a batch, whose keys are on the stack of this alone.
    #[inline(never)]
    fn batches(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.implementation.run_batches(&self.implementation.batch_keys(direction), blocks);
    }

    // What modes need of the stack is taken by each of them alone, and not by ECB, whose calls may be short:
    // therefore none of them is inlined.

    /// XORs the CTR key stream over any length.
    #[inline(never)]
    fn key_stream(&self, first: Counter, data: InOutBuf<'_, '_, u8>) {
        if Self::is_short_message(data.len()) {
            let mode = ShortCtr { counter: first, data, block: PhantomData };
            return self.implementation.encrypt_with(mode);
        }
        let (blocks, mut tail) = data.into_chunks();
        let whole = blocks.len();
        if whole > 0 {
            let keys = self.implementation.batch_keys(Direction::Encrypt);
            self.implementation.ctr(&keys, first, blocks);
        }
        if !tail.is_empty() {
            let mut keystream = Block::<I>::default();
            wiped(&mut keystream, |keystream| {
                first.plus(whole as u128).fill(keystream);
                self.implementation.run_short(Direction::Encrypt, InOutBuf::from_mut(keystream));
                tail.xor_in2out(&keystream[..tail.len()]);
            });
        }
    }

    /// Whether a message of `bytes` bytes is given to [`Implementation::encrypt_with`]: fewer blocks than a batch,
    /// of which the stack has room for one.
    fn is_short_message(bytes: usize) -> bool {
        let batch = I::Lanes::USIZE * I::BlockSize::USIZE;
        batch <= SMALL_BATCH && bytes < batch
    }

    #[inline(never)]
    fn cbc_decrypt(&self, iv: &[u8], blocks: InOutBuf<'_, '_, Block<I>>) {
        if Self::is_short_message(blocks.len() * I::BlockSize::USIZE) {
            return self.implementation.decrypt_with(ShortCbcDecryption { iv, blocks });
        }
        let keys = self.implementation.batch_keys(Direction::Decrypt);
        bulk::cbc_decrypt(&self.implementation, &keys, &mut block_of(iv), blocks);
    }

    #[inline(never)]
    fn cfb_decrypt(&self, iv: &[u8], blocks: InOutBuf<'_, '_, Block<I>>) {
        let keys = self.implementation.batch_keys(Direction::Encrypt);
        bulk::cfb_decrypt(&self.implementation, &keys, &mut block_of(iv), blocks);
    }

    #[inline(never)]
    fn xts(&self, direction: Direction, mask: &[u8; 16], blocks: InOutBuf<'_, '_, Block<I>>) {
        let keys = self.implementation.batch_keys(direction);
        wiped(&mut { *mask }, |mask| bulk::xts(&self.implementation, &keys, mask, blocks));
    }

    #[inline(always)]
    fn one_by_one(&self, mode: SerialMode, iv: &Block<I>, data: &mut InOutBuf<'_, '_, u8>) {
        let is_key_stream = mode == SerialMode::Ofb;
        let mode = OneByOne { data, iv, mode };
        let work = || self.implementation.encrypt_with(mode);
        if is_key_stream {
            on_cleared_stack_of::<REGISTER_BYTES, ()>(work); // the last block of key stream may be there
        } else {
            work(); // the last block of ciphertext
        }
    }

    /// Messages in a serial mode, under keys for batches that are made once.
    #[inline(never)]
    fn chains(&self, chains: Chains<'_, '_, '_>) -> Result<(), Error> {
        let call = Call::new(&self.implementation);
        chains.run_by(I::BlockSize::USIZE, &mut |registers| {
            call.encrypt(InOutBuf::from(registers).into_chunks().0);
            Ok(())
        })
    }
}

/// The most bytes of a batch of which a short message in CTR or CBC has one on the stack.
const SMALL_BATCH: usize = 2048;

/// Bytes of stack where a serial operation may leave its register.
const REGISTER_BYTES: usize = 512;

/// An IV that was checked, as a block.
pub(crate) fn block_of<N: ArraySize>(iv: &[u8]) -> Array<u8, N> {
    Array::slice_as_array(iv).cloned().unwrap_or_default()
}

impl<I: Implementation> From<I> for Cipher<I> {
    fn from(implementation: I) -> Self {
        Self { implementation }
    }
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

impl<I: Implementation<Token: AnyCpu>> KeyInit for Cipher<I> {
    fn new(key: &Key<Self>) -> Self {
        Self::with_token(AnyCpu::get(), key)
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

impl<I: Implementation + 'static> Cipher<I> {
    /// [`Engine::run`] where blocks run side by side, by reference: what is handed on by value is copied.
    #[inline(never)]
    fn run_any(
        &self,
        operation: &Operation<'_>,
        data: &mut InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        operation.check(self.block_bytes(), data.len())?;
        if data.is_empty() {
            return Ok(());
        }
        match *operation {
            Operation::Ecb(direction) => self.blocks(direction, data.reborrow().into_chunks().0),
            _ if self.implementation.run_whole(operation, data) => {}
            Operation::Ctr(counter) => self.key_stream(counter, data.reborrow()),
            Operation::Cbc(Direction::Decrypt, iv) => {
                self.cbc_decrypt(iv, data.reborrow().into_chunks().0);
            }
            // Fewer blocks than a batch: keys for batches are not worth their while.
            Operation::Cfb(Direction::Decrypt, _) | Operation::Xts(..)
                if I::is_short(data.len() / I::BlockSize::USIZE) =>
            {
                return modes::by_ecb(self, *operation, data.reborrow());
            }
            Operation::Cfb(Direction::Decrypt, iv) => {
                self.cfb_decrypt(iv, data.reborrow().into_chunks().0);
            }
            Operation::Xts(direction, mask) => {
                self.xts(direction, mask, data.reborrow().into_chunks().0);
            }
            Operation::Ctr32(_) | Operation::Ctr32Le(_) => {
                return modes::by_ecb(self, *operation, data.reborrow());
            }
            Operation::Cbc(Direction::Encrypt, _)
            | Operation::Cfb(Direction::Encrypt, _)
            | Operation::Ofb(_) => unreachable!("it runs one by one: {operation:?}"),
        }
        Ok(())
    }

    /// The same where a block waits for the one before it.
    #[inline(always)]
    fn run_serial(
        &self,
        operation: &Operation<'_>,
        data: &mut InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        operation.check(self.block_bytes(), data.len())?;
        let (mode, iv) = match *operation {
            Operation::Cbc(_, iv) => (SerialMode::Cbc, iv),
            Operation::Cfb(_, iv) => (SerialMode::Cfb, iv),
            Operation::Ofb(iv) => (SerialMode::Ofb, iv),
            _ => unreachable!("it is not serial: {operation:?}"),
        };
        // A pointer alone, where a slice would be copied in one piece right after its parts were stored.
        let iv = Array::slice_as_array(iv);
        self.one_by_one(mode, iv.unwrap_or_else(|| unreachable!("it was checked")), data);
        Ok(())
    }
}

impl<I: Implementation + 'static> Engine for Cipher<I> {
    fn block_bytes(&self) -> usize {
        I::BlockSize::USIZE
    }

    // One block, where the caller says of which operation, is then not much more than a call.
    #[inline(always)]
    fn run(&self, operation: Operation<'_>, mut data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if let Some((direction, mut block)) = BlockPass::of(&operation, &mut data) {
            if !self.implementation.run_block(direction, &mut block) {
                block.run_by(|state| self.blocks(direction, InOutBuf::from_mut(state)));
            }
            return Ok(());
        }
        if operation.is_serial() {
            return self.run_serial(&operation, &mut data);
        }
        self.run_any(&operation, &mut data)
    }

    // Small, so that a caller makes the buffer of blocks where it makes that of bytes.
    #[inline]
    fn ecb(&self, direction: Direction, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        whole_blocks(Mode::Ecb, data.len(), self.block_bytes())?;
        if !data.is_empty() {
            self.blocks(direction, data.into_chunks().0);
        }
        Ok(())
    }

    fn gcm(&self, mut pass: GcmPass<'_>, mut data: InOutBuf<'_, '_, u8>) -> Result<bool, Error> {
        Ok(self.implementation.gcm(&mut pass, &mut data))
    }

    fn chains_at_once(&self) -> usize {
        self.implementation.chains_at_once()
    }

    fn run_chains(&self, mut chains: Chains<'_, '_, '_>) -> Result<(), Error> {
        chains.check(self.block_bytes())?;
        if self.implementation.run_chains(&mut chains) {
            return Ok(());
        }
        self.chains(chains)
    }

    fn dispatch(&self, blocks: usize) -> Option<Dispatch> {
        Some(self.implementation.dispatch(blocks))
    }
}

impl<I: Implementation> BlockCipherEncrypt for Cipher<I> {
    #[inline(always)]
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = I::BlockSize>) {
        self.implementation.encrypt_with(InPackets { mode: f });
    }

    // A block by itself needs no mode.
    #[inline]
    fn encrypt_block(&self, block: &mut Block<I>) {
        self.implementation.run_single(Direction::Encrypt, block);
    }

    // All blocks in one piece, where the provided methods cut them into batches.
    fn encrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.blocks(Direction::Encrypt, blocks);
    }

    fn encrypt_blocks(&self, blocks: &mut [Block<I>]) {
        self.blocks(Direction::Encrypt, blocks.into());
    }
}

impl<I: Implementation> BlockCipherDecrypt for Cipher<I> {
    #[inline(always)]
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = I::BlockSize>) {
        self.implementation.decrypt_with(InPackets { mode: f });
    }

    #[inline]
    fn decrypt_block(&self, block: &mut Block<I>) {
        self.implementation.run_single(Direction::Decrypt, block);
    }

    fn decrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        self.blocks(Direction::Decrypt, blocks);
    }

    fn decrypt_blocks(&self, blocks: &mut [Block<I>]) {
        self.blocks(Direction::Decrypt, blocks.into());
    }
}

// The backend that the type itself is, as RustCrypto's types are. It keeps no keys for batches from
// one call to the next, so `encrypt_with_backend` hands a [`Call`] on instead.
impl<I: Implementation> BlockCipherEncBackend for Cipher<I> {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        Call::new(&self.implementation).encrypt_block(block);
    }
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        Call::new(&self.implementation).encrypt_par_blocks(blocks);
    }
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        Call::new(&self.implementation).encrypt_tail_blocks(blocks);
    }
}

impl<I: Implementation> BlockCipherDecBackend for Cipher<I> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<I>>) {
        Call::new(&self.implementation).decrypt_block(block);
    }
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        Call::new(&self.implementation).decrypt_par_blocks(blocks);
    }
    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<I>>) {
        Call::new(&self.implementation).decrypt_tail_blocks(blocks);
    }
}
