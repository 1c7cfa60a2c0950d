//! A sliced cipher: its key schedule, its forms, and the type that runs one of them on one
//! instruction set.

use core::fmt;

use cipher::{Array, InOutBuf, array::ArraySize};
use lanecrypt_core::{ConstantTime, Counter, Direction, Implementation, Unavailable, bulk};

use crate::{
    Isa, Job, Rest, State,
    batch::{Ctr, Ecb},
};

/// What a cipher keeps of a key: compact, the same for every form and instruction set, and cleared
/// when dropped.
pub trait Schedule: Clone + Send + Sync {
    /// Bytes of a block.
    type BlockSize: ArraySize<ArrayType<u8>: Copy>;
    /// Bytes of a key.
    type KeySize: ArraySize;
    /// The algorithm's name as RustCrypto spells it.
    const NAME: &'static str;

    /// The key schedule. Constant-time.
    fn new(key: &Array<u8, Self::KeySize>) -> Self;
}

/// A block of a schedule's cipher.
pub type BlockOf<S> = Array<u8, <S as Schedule>::BlockSize>;

/// A way to slice a cipher: by bits, by bytes, or not at all where an instruction does a round.
pub trait Form: Sized + Send + Sync + 'static {
    /// What is kept of a key.
    type Schedule: Schedule;
    /// The round keys of one direction as the rounds take them: one word where the lanes all have
    /// the same, to be broadcast on use. Cleared when dropped.
    type Keys;

    /// Makes them, once a call. `#[inline(always)]`, so that the instruction set serves here too.
    fn keys(schedule: &Self::Schedule, direction: Direction) -> Self::Keys;
}

/// A form whose rounds run on the instruction set `I`.
pub trait Rounds<I: Isa>: Form {
    /// A batch of blocks.
    type State: State<I>;

    /// Batches that run side by side, where one alone waits for its latencies: 1, 2, 4 or 8.
    const GROUPS: usize = 1;

    /// Runs batches in the direction of the keys. `#[inline(always)]`.
    fn run<const G: usize>(keys: &Self::Keys, isa: I, states: &mut [Self::State; G]);

    /// Runs the `blocks` that are left of a job, fewer than [`GROUPS`](Self::GROUPS) batches: by
    /// default as batches, padded. `#[inline(always)]`.
    #[allow(clippy::inline_always, reason = "to be compiled with the instruction set")]
    #[inline(always)]
    fn rest(isa: I, blocks: usize, rest: impl Rest<Self>) {
        let _ = blocks;
        rest.pad(isa);
    }

    /// CBC decryption of the first of these blocks, of as many as the return value says; `previous`
    /// is the block of ciphertext before them and becomes the last of them. A form that has a way
    /// of its own overrides this.
    #[inline]
    fn cbc_decrypt(
        keys: &Self::Keys,
        isa: I,
        previous: &mut BlockOf<Self::Schedule>,
        blocks: InOutBuf<'_, '_, BlockOf<Self::Schedule>>,
    ) -> usize {
        let _ = (keys, isa, previous, blocks);
        0
    }

    /// XTS of the first of these blocks, of as many as the return value says; `mask` is that of the
    /// first, and becomes the one after the last of those. A form that has a way of its own
    /// overrides this.
    #[inline]
    fn xts(
        keys: &Self::Keys,
        isa: I,
        mask: &mut [u8; 16],
        blocks: InOutBuf<'_, '_, BlockOf<Self::Schedule>>,
    ) -> usize {
        let _ = (keys, isa, mask, blocks);
        0
    }

    /// Runs fewer blocks than a batch, by whatever is fastest; by default a batch, padded.
    fn few(
        schedule: &Self::Schedule,
        isa: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, BlockOf<Self::Schedule>>,
    ) {
        padded::<Self, I>(schedule, isa, direction, blocks);
    }
}

/// Runs blocks as a batch, padded to its length: what [`Rounds::few`] does unless told otherwise.
pub fn padded<F: Rounds<I>, I: Isa>(
    schedule: &F::Schedule,
    isa: I,
    direction: Direction,
    blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>,
) {
    let keys = isa.run(MakeKeys::<F> { schedule, direction });
    isa.run(Ecb::<F, _> { keys: &keys, blocks });
}

/// A key schedule's keys for a form.
pub(crate) struct MakeKeys<'a, F: Form> {
    pub(crate) schedule: &'a F::Schedule,
    pub(crate) direction: Direction,
}

impl<F: Form, I: Isa> Job<I> for MakeKeys<'_, F> {
    type Output = F::Keys;

    #[allow(clippy::inline_always, reason = "to be compiled with the instruction set")]
    #[inline(always)]
    fn run(self, _: I) -> F::Keys {
        F::keys(self.schedule, self.direction)
    }
}

/// The cipher of form `F` on the instruction set `I`: constant-time where the instruction set is,
/// key schedule included.
pub struct Sliced<F: Form, I> {
    schedule: F::Schedule,
    isa: I,
}

impl<F: Form, I: Copy> Clone for Sliced<F, I> {
    fn clone(&self) -> Self {
        Self { schedule: self.schedule.clone(), isa: self.isa }
    }
}

impl<F: Rounds<I>, I: Isa> Implementation for Sliced<F, I> {
    type BlockSize = <F::Schedule as Schedule>::BlockSize;
    type KeySize = <F::Schedule as Schedule>::KeySize;
    type Lanes = <F::State as State<I>>::Lanes;
    type Token = I;
    type BatchKeys = F::Keys;

    const NAME: &'static str = F::Schedule::NAME;
    const CONSTANT_TIME: ConstantTime = I::CONSTANT_TIME;

    fn detect() -> Result<I, Unavailable> {
        I::detect()
    }

    fn new(isa: I, key: &Array<u8, Self::KeySize>) -> Self {
        Self { schedule: F::Schedule::new(key), isa }
    }

    fn batch_keys(&self, direction: Direction) -> F::Keys {
        self.isa.run(MakeKeys::<F> { schedule: &self.schedule, direction })
    }

    fn batches(&self, keys: &F::Keys, blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>) {
        self.isa.run(Ecb::<F, _> { keys, blocks });
    }

    fn few(&self, direction: Direction, blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>) {
        F::few(&self.schedule, self.isa, direction, blocks);
    }

    fn ctr(
        &self,
        keys: &F::Keys,
        counter: Counter,
        blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>,
    ) {
        self.isa.run(Ctr::<F, _> { keys, counter, blocks });
    }

    fn cbc_decrypt(
        &self,
        keys: &F::Keys,
        previous: &mut BlockOf<F::Schedule>,
        mut blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>,
    ) {
        let done = F::cbc_decrypt(keys, self.isa, previous, blocks.reborrow());
        bulk::cbc_decrypt(self, keys, previous, blocks.split_at(done).1);
    }

    fn xts(
        &self,
        keys: &F::Keys,
        mask: &mut [u8; 16],
        mut blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>,
    ) {
        let done = F::xts(keys, self.isa, mask, blocks.reborrow());
        bulk::xts(self, keys, mask, blocks.split_at(done).1);
    }
}

impl<F: Form, I> fmt::Debug for Sliced<F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sliced").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<F: Form, I> zeroize::ZeroizeOnDrop for Sliced<F, I> where F::Schedule: zeroize::ZeroizeOnDrop {}
