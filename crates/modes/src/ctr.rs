//! CTR (SP 800-38A, 6.5) with the names of the crate `ctr` 0.10: counters of 32, 64 and 128 bits, big-endian
//! and little-endian.
//!
//! ```
//! use lanecrypt_aes::Aes128;
//! use lanecrypt_modes::{cipher::{KeyIvInit, StreamCipher, StreamCipherSeek}, ctr::Ctr64LE};
//!
//! let mut stream = Ctr64LE::<Aes128>::new(&[0x42; 16].into(), &[0x24; 16].into());
//! let mut data = *b"any length";
//! stream.apply_keystream(&mut data);
//! stream.seek(0_u32);
//! stream.apply_keystream(&mut data);
//! assert_eq!(&data, b"any length");
//! ```

use core::{fmt, marker::PhantomData};

use ::cipher::{
    AlgorithmName, Array, Block, BlockSizeUser, InOutBuf, InnerIvInit, Iv, IvSizeUser, IvState,
    OverflowError, StreamCipher, StreamCipherCounter, StreamCipherError, StreamCipherSeek,
    array::ArraySize,
    common::{InnerUser, SetIvState},
    consts::{U8, U16},
    stream::SeekNum,
    typenum::Unsigned,
};
use lanecrypt_core::{Counter, Engine, Error, Operation, Secret, modes};

use crate::BlockEngine;

pub use ::cipher;

/// Where in its block a counter is, and how many bits it has.
pub mod flavors {
    macro_rules! flavors {
        ($($name:ident: $text:literal;)*) => {$(
            #[doc = $text]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
        )*};
    }
    flavors! {
        Ctr128BE: "The last 128 bits, big-endian.";
        Ctr128LE: "The first 128 bits, little-endian.";
        Ctr64BE: "The last 64 bits, big-endian.";
        Ctr64LE: "The first 64 bits, little-endian.";
        Ctr32BE: "The last 32 bits, big-endian.";
        Ctr32LE: "The first 32 bits, little-endian.";
    }
}

/// A counter in blocks of `B` bytes: one of [`flavors`]. The other bytes of the block stay as they are in the
/// IV when the counter wraps.
pub trait CtrFlavor<B: ArraySize>: sealed::Sealed {
    /// Numbers of blocks, from 0 at the IV.
    type Backend: StreamCipherCounter + Into<u128>;
    /// For [`AlgorithmName`].
    const NAME: &'static str;
    /// Whether the counter is the first bytes of the block, least significant first; otherwise the last ones.
    const IS_LITTLE_ENDIAN: bool;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! flavors {
    ($($flavor:ident: $backend:ty, $is_little_endian:literal, $($block:ty)*;)*) => {$(
        impl sealed::Sealed for flavors::$flavor {}
        $(impl CtrFlavor<$block> for flavors::$flavor {
            type Backend = $backend;
            const NAME: &'static str = stringify!($flavor);
            const IS_LITTLE_ENDIAN: bool = $is_little_endian;
        })*
    )*};
}
flavors! {
    Ctr128BE: u128, false, U16;
    Ctr128LE: u128, true, U16;
    Ctr64BE: u64, false, U8 U16;
    Ctr64LE: u64, true, U8 U16;
    Ctr32BE: u32, false, U8 U16;
    Ctr32LE: u32, true, U8 U16;
}

/// CTR with a big-endian counter of 128 bits.
pub type Ctr128BE<C> = CtrCore<C, flavors::Ctr128BE>;
/// CTR with a little-endian counter of 128 bits.
pub type Ctr128LE<C> = CtrCore<C, flavors::Ctr128LE>;
/// CTR with a big-endian counter of 64 bits.
pub type Ctr64BE<C> = CtrCore<C, flavors::Ctr64BE>;
/// CTR with a little-endian counter of 64 bits.
pub type Ctr64LE<C> = CtrCore<C, flavors::Ctr64LE>;
/// CTR with a big-endian counter of 32 bits.
pub type Ctr32BE<C> = CtrCore<C, flavors::Ctr32BE>;
/// CTR with a little-endian counter of 32 bits.
pub type Ctr32LE<C> = CtrCore<C, flavors::Ctr32LE>;

/// A CTR stream that can seek, with the counter that `F` says.
///
/// It ends where the crate `ctr` ends it: the last block of the counter is not given out, so that no block is
/// given out twice; the `unchecked_*` methods wrap. A call that starts inside a block costs one block more.
///
/// # Panics
/// The methods of RustCrypto's traits panic where the engine fails; CPU engines do not.
/// [`try_apply`](Self::try_apply) returns the error.
#[derive(Clone)]
pub struct CtrCore<C: BlockSizeUser, F> {
    engine: C,
    iv: Block<C>,
    /// The number of the next block, modulo the counter.
    next: u128,
    /// Bytes of the block before it that were not used yet, less than a block.
    left: usize,
    flavor: PhantomData<F>,
}

impl<C: BlockSizeUser, F> CtrCore<C, F> {
    /// The stream itself: in the crate `ctr` the core is another type.
    #[must_use]
    pub fn from_core(core: Self) -> Self {
        core
    }

    /// The stream itself.
    #[must_use]
    pub fn get_core(&self) -> &Self {
        self
    }
}

impl<C: BlockEngine, F: CtrFlavor<C::BlockSize>> CtrCore<C, F> {
    const BLOCK: usize = C::BlockSize::USIZE;

    /// XORs the key stream over `data` and moves on by its length.
    ///
    /// # Errors
    /// [`Error::KeystreamEnd`]: nothing is written then. The engine's own errors: the output and the position are
    /// unspecified then.
    pub fn try_apply(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if self.check_remaining(data.len()).is_err() {
            let block = Self::BLOCK as u128;
            let here = self.next.saturating_mul(block) - self.left as u128;
            let position = here.saturating_add(data.len() as u128);
            let length = last_number::<_, F>().saturating_mul(block);
            return Err(Error::KeystreamEnd { position, length });
        }
        self.apply_wrapping(data)
    }

    /// [`try_apply`](Self::try_apply), past the end too, where the counter wraps.
    fn apply_wrapping(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let head = self.left.min(data.len());
        let (mut head, rest) = data.split_at(head);
        if !head.is_empty() {
            let mut block = Secret::new([0; 16]);
            let block = &mut block[..Self::BLOCK];
            self.run(self.next.wrapping_sub(1), (&mut *block).into())?;
            head.xor_in2out(&block[Self::BLOCK - self.left..][..head.len()]);
            self.left -= head.len();
        }
        let (blocks, bytes) = (rest.len().div_ceil(Self::BLOCK), rest.len());
        if blocks > 0 {
            self.run(self.next, rest)?;
            self.next = self.next.wrapping_add(blocks as u128) & last_number::<_, F>();
            self.left = blocks * Self::BLOCK - bytes;
        }
        Ok(())
    }

    /// Runs the key stream from block `number` on.
    fn run(&self, number: u128, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        key_stream::<_, _, F>(&self.engine, &self.iv, number, data)
    }
}

/// The number of the last block of a counter: all its bits.
fn last_number<B: ArraySize, F: CtrFlavor<B>>() -> u128 {
    u128::MAX >> (u128::BITS - 8 * size_of::<F::Backend>() as u32)
}

/// The counter block `number` blocks after `iv`.
fn block_after<B: ArraySize, F: CtrFlavor<B>>(iv: &Array<u8, B>, number: u128) -> Array<u8, B> {
    let mut block = iv.clone();
    let bytes = size_of::<F::Backend>();
    let at = if F::IS_LITTLE_ENDIAN { 0 } else { block.len() - bytes };
    let mut counter = [0; 16];
    counter[..bytes].copy_from_slice(&block[at..at + bytes]);
    if F::IS_LITTLE_ENDIAN {
        counter = u128::from_le_bytes(counter).wrapping_add(number).to_le_bytes();
    } else {
        counter[..bytes].reverse();
        counter = u128::from_le_bytes(counter).wrapping_add(number).to_le_bytes();
        counter[..bytes].reverse();
    }
    block[at..at + bytes].copy_from_slice(&counter[..bytes]);
    block
}

/// XORs the key stream over `data`, from block `number` after `iv` on. Big-endian counters, and little-endian ones of
/// 32 bits, are operations of an engine, up to where 64 bits of 128 wrap; others are written out, as many blocks at
/// once as [`modes`] take.
pub(crate) fn key_stream<E: Engine + ?Sized, B: ArraySize, F: CtrFlavor<B>>(
    engine: &E,
    iv: &Array<u8, B>,
    mut number: u128,
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    if F::IS_LITTLE_ENDIAN && size_of::<F::Backend>() == 4 {
        let next = Counter::read(&block_after::<B, F>(iv, number), engine.block_bytes())?;
        return engine.run(Operation::Ctr32Le(next), data);
    }
    if F::IS_LITTLE_ENDIAN {
        return modes::ctr_with(engine, data, |offset, blocks| {
            let first = block_after::<B, F>(iv, number.wrapping_add(offset));
            fill(&first, last_number::<B, F>(), blocks);
        });
    }
    loop {
        let next = Counter::read(&block_after::<B, F>(iv, number), engine.block_bytes())?;
        if size_of::<F::Backend>() == 4 {
            return engine.run(Operation::Ctr32(next), data);
        }
        let mask = last_number::<B, F>();
        let before_wrap = (mask - (next.value() & mask)).saturating_add(1);
        let bytes = before_wrap.saturating_mul(iv.len() as u128).min(data.len() as u128);
        let (piece, rest) = data.split_at(bytes as usize);
        engine.run(Operation::Ctr(next), piece)?;
        if rest.is_empty() {
            return Ok(());
        }
        (number, data) = (number.wrapping_add(before_wrap), rest);
    }
}

/// Writes little-endian counter blocks over `blocks`, from `first` on; the bits of `mask` count.
fn fill(first: &[u8], mask: u128, blocks: &mut [u8]) {
    if let Ok(first) = <[u8; 8]>::try_from(first) {
        let (first, mask) = (u64::from_le_bytes(first), mask as u64);
        for (i, block) in (0_u64..).zip(blocks.as_chunks_mut::<8>().0) {
            *block = (first & !mask | first.wrapping_add(i) & mask).to_le_bytes();
        }
    } else if let Ok(first) = <[u8; 16]>::try_from(first) {
        let first = u128::from_le_bytes(first);
        for (i, block) in (0_u128..).zip(blocks.as_chunks_mut::<16>().0) {
            *block = (first & !mask | first.wrapping_add(i) & mask).to_le_bytes();
        }
    }
}

impl<C: BlockEngine, F: CtrFlavor<C::BlockSize>> StreamCipher for CtrCore<C, F> {
    fn check_remaining(&self, data_len: usize) -> Result<(), StreamCipherError> {
        let Ok(blocks) = usize::try_from(last_number::<_, F>() - self.next) else { return Ok(()) };
        if data_len.saturating_sub(self.left).div_ceil(Self::BLOCK) > blocks {
            return Err(StreamCipherError);
        }
        Ok(())
    }

    fn unchecked_apply_keystream_inout(&mut self, buf: InOutBuf<'_, '_, u8>) {
        if let Err(error) = self.apply_wrapping(buf) {
            panic!("CTR: {error}");
        }
    }

    fn unchecked_write_keystream(&mut self, buf: &mut [u8]) {
        buf.fill(0);
        self.unchecked_apply_keystream_inout(buf.into());
    }
}

impl<C: BlockEngine, F: CtrFlavor<C::BlockSize>> StreamCipherSeek for CtrCore<C, F> {
    fn try_current_pos<T: SeekNum>(&self) -> Result<T, OverflowError> {
        T::from_block_byte(self.next, (Self::BLOCK - self.left) as u8, C::BlockSize::U8)
    }

    fn try_seek<T: SeekNum>(&mut self, pos: T) -> Result<(), StreamCipherError> {
        // As blocks of one byte: with real blocks `SeekNum` panics at a number below zero.
        let (position, _) = pos.into_block_byte::<u128>(1)?;
        let used = (position % Self::BLOCK as u128) as usize;
        let next = position.div_ceil(Self::BLOCK as u128);
        if next > last_number::<_, F>() {
            return Err(StreamCipherError);
        }
        self.next = next;
        self.left = (Self::BLOCK - used) % Self::BLOCK;
        Ok(())
    }
}

impl<C: BlockSizeUser, F> IvSizeUser for CtrCore<C, F> {
    type IvSize = C::BlockSize;
}

impl<C: BlockSizeUser, F> BlockSizeUser for CtrCore<C, F> {
    type BlockSize = C::BlockSize;
}

impl<C: BlockSizeUser, F> InnerUser for CtrCore<C, F> {
    type Inner = C;
}

impl<C: BlockSizeUser, F> InnerIvInit for CtrCore<C, F> {
    fn inner_iv_init(engine: C, iv: &Iv<Self>) -> Self {
        Self { engine, iv: iv.clone(), next: 0, left: 0, flavor: PhantomData }
    }
}

/// The counter block that comes next.
impl<C: BlockSizeUser, F: CtrFlavor<C::BlockSize>> IvState for CtrCore<C, F> {
    fn iv_state(&self) -> Iv<Self> {
        block_after::<_, F>(&self.iv, self.next)
    }
}

impl<C: BlockSizeUser, F: CtrFlavor<C::BlockSize>> SetIvState for CtrCore<C, F> {
    fn set_iv(&mut self, iv: &Iv<Self>) {
        (self.iv, self.next, self.left) = (iv.clone(), 0, 0);
    }

    /// Also in the middle of a block.
    fn peek<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (iv, next, left) = (self.iv.clone(), self.next, self.left);
        let result = f(self);
        (self.iv, self.next, self.left) = (iv, next, left);
        result
    }
}

impl<C: BlockSizeUser + AlgorithmName, F: CtrFlavor<C::BlockSize>> AlgorithmName for CtrCore<C, F> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<", F::NAME)?;
        C::write_alg_name(f)?;
        f.write_str(">")
    }
}

impl<C: BlockSizeUser, F> fmt::Debug for CtrCore<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CtrCore").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: BlockSizeUser + zeroize::ZeroizeOnDrop, F> zeroize::ZeroizeOnDrop for CtrCore<C, F> {}
