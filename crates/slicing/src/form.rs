//! A sliced cipher: its key schedule, its forms, and the type that runs one of them on one
//! instruction set.

#![allow(
    clippy::inline_always,
    reason = "a mode is handed on to the region of its instructions, and each call on the way would copy it"
)]

use core::fmt;

use cipher::{Array, BlockCipherDecClosure, BlockCipherEncClosure, InOutBuf, array::ArraySize};
use lanecrypt_core::{
    BlockPass, Chains, ConstantTime, Counter, Direction, Dispatch, GcmPass, Implementation,
    Operation, Unavailable, backend, modes,
};

use crate::{
    Body, Isa, Rest, State,
    batch::{Ctr, Ecb, batch_lanes},
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

/// The rounds of a form, whatever the key size: what is compiled once for each instruction set.
pub trait Core: Sized + Send + Sync + 'static {
    /// Bytes of a block.
    type BlockSize: ArraySize<ArrayType<u8>: Copy>;
    /// The round keys of one direction as the rounds take them: one word where the lanes all have
    /// the same, to be broadcast on use.
    type Keys: ?Sized;
}

// ANCHOR: form
/// Rounds on the instruction set `I`.
pub trait Rounds<I: Isa>: Core {
    /// A batch of blocks.
    type State: State<I>;

    /// Batches that run side by side, where one alone waits for its latencies: 1, 2, 4 or 8.
    const GROUPS: usize = 1;

    /// Runs batches in the direction of the keys. `#[inline(always)]`.
    fn run<const G: usize>(keys: &Self::Keys, isa: I, states: &mut [Self::State; G]);

    /// Runs the `blocks` that are left over, fewer than [`GROUPS`](Self::GROUPS) batches: by
    /// default as batches, padded. `#[inline(always)]`.
    #[inline(always)]
    fn rest(isa: I, blocks: usize, rest: impl Rest<Self>) {
        let _ = blocks;
        rest.pad(isa);
    }
}

/// A way to slice a cipher of one key size: by bits, by bytes, or not at all where an instruction
/// does a round.
pub trait Form: Sized + Send + Sync + 'static {
    /// What is kept of a key.
    type Schedule: Schedule;
    /// Its rounds.
    type Core: Core<BlockSize = <Self::Schedule as Schedule>::BlockSize>;
    /// The round keys of one direction. Cleared when dropped.
    type Keys;

    /// Makes them, once a call. `#[inline(always)]`, so that the instruction set serves here too.
    fn keys(schedule: &Self::Schedule, direction: Direction) -> Self::Keys;

    /// Them as the rounds take them.
    fn view(keys: &Self::Keys) -> &<Self::Core as Core>::Keys;
}

/// A form on the instruction set `I`.
pub trait RunsOn<I: Isa>: Form<Core: Rounds<I>> {
    /// How many blocks [`run_short`](Self::run_short) runs at once of a call with `blocks` blocks, where that is
    /// faster than a batch, padded; by default it never is.
    #[must_use]
    #[inline]
    fn short_at_once(blocks: usize) -> Option<usize> {
        let _ = blocks;
        None
    }

    /// Runs as many blocks as [`short_at_once`](Self::short_at_once) has a number for, and fewer than a
    /// batch.
    ///
    /// # Panics
    /// By default: `short_at_once` has no number then.
    fn run_short(
        schedule: &Self::Schedule,
        isa: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, BlockOf<Self::Schedule>>,
    ) {
        let _ = (schedule, isa, direction);
        unreachable!("{} blocks, which run as a batch", blocks.len());
    }

    /// [`Implementation::run_whole`] of a cipher that has this form and `schedule`. By default there is no such way.
    #[inline]
    fn run_whole(
        schedule: &Self::Schedule,
        isa: I,
        operation: &Operation<'_>,
        data: &mut InOutBuf<'_, '_, u8>,
    ) -> bool {
        let _ = (schedule, isa, operation, data);
        false
    }

    /// [`Implementation::gcm`] of a cipher that has this form and `schedule`. By default there is none.
    #[inline]
    fn gcm(
        schedule: &Self::Schedule,
        isa: I,
        pass: &mut GcmPass<'_>,
        data: &mut InOutBuf<'_, '_, u8>,
    ) -> bool {
        let _ = (schedule, isa, pass, data);
        false
    }

    /// [`Implementation::chains_at_once`] of such a cipher.
    #[must_use]
    #[inline]
    fn chains_at_once() -> usize {
        modes::MOST_CHAINS
    }

    /// [`Implementation::run_chains`] of a cipher that has this form and `schedule`. By default there is no such way.
    #[inline]
    fn run_chains(schedule: &Self::Schedule, isa: I, chains: &mut Chains<'_, '_, '_>) -> bool {
        let _ = (schedule, isa, chains);
        false
    }

    /// [`Implementation::run_block`] of a cipher that has this form and `schedule`. By default there is no such way.
    #[inline(always)]
    fn run_block(
        schedule: &Self::Schedule,
        isa: I,
        direction: Direction,
        block: &mut BlockPass<'_, '_, '_, <Self::Schedule as Schedule>::BlockSize>,
    ) -> bool {
        let _ = (schedule, isa, direction, block);
        false
    }

    /// [`Implementation::encrypt_with`] of `cipher`, which has this form and `schedule`. Forms whose rounds are
    /// a few instructions override this and run the mode as a [`Body`]. It is `Some`, and taken from where it is:
    /// handed on by value it would be copied, in one piece right after its parts were stored, for which a CPU waits as
    /// long as for three rounds of AES.
    #[inline(always)]
    fn encrypt_with(
        cipher: &impl Implementation<BlockSize = <Self::Schedule as Schedule>::BlockSize>,
        schedule: &Self::Schedule,
        isa: I,
        mode: &mut Option<
            impl BlockCipherEncClosure<BlockSize = <Self::Schedule as Schedule>::BlockSize>,
        >,
    ) {
        let _ = (schedule, isa);
        if let Some(mode) = mode.take() {
            backend::encrypt_with(cipher, mode);
        }
    }

    /// [`Implementation::decrypt_with`] likewise.
    #[inline(always)]
    fn decrypt_with(
        cipher: &impl Implementation<BlockSize = <Self::Schedule as Schedule>::BlockSize>,
        schedule: &Self::Schedule,
        isa: I,
        mode: &mut Option<
            impl BlockCipherDecClosure<BlockSize = <Self::Schedule as Schedule>::BlockSize>,
        >,
    ) {
        let _ = (schedule, isa);
        if let Some(mode) = mode.take() {
            backend::decrypt_with(cipher, mode);
        }
    }
}
// ANCHOR_END: form

/// What [`RunsOn::short_at_once`] is of code that runs one block, or up to `several` as if they
/// were `several`.
#[must_use]
#[inline]
pub fn one_or(several: usize, blocks: usize) -> Option<usize> {
    match blocks {
        1 => Some(1),
        _ if blocks <= several => Some(several),
        _ => None,
    }
}

/// Runs fewer blocks than a batch by whichever is faster: as the form does, or `padded` to a batch.
#[inline]
pub(crate) fn run_short<'inp, 'out, F: RunsOn<I>, I: Isa>(
    schedule: &F::Schedule,
    isa: I,
    direction: Direction,
    blocks: InOutBuf<'inp, 'out, BlockOf<F::Schedule>>,
    padded: impl FnOnce(InOutBuf<'inp, 'out, BlockOf<F::Schedule>>),
) {
    if F::short_at_once(blocks.len()).is_some() {
        F::run_short(schedule, isa, direction, blocks);
    } else {
        padded(blocks);
    }
}

/// [`run_short`] with a stack frame of its own, which the choice of an instruction set does not take then.
#[inline(never)]
pub(crate) fn run_short_apart<'inp, 'out, F: RunsOn<I>, I: Isa>(
    schedule: &F::Schedule,
    isa: I,
    direction: Direction,
    blocks: InOutBuf<'inp, 'out, BlockOf<F::Schedule>>,
    padded: impl FnOnce(InOutBuf<'inp, 'out, BlockOf<F::Schedule>>),
) {
    run_short::<F, I>(schedule, isa, direction, blocks, padded);
}

/// How blocks are run: where they are few, as [`run_short`] decides.
pub(crate) fn dispatch<F: RunsOn<I>, I: Isa>(isa: I, blocks: usize, is_short: bool) -> Dispatch {
    match F::short_at_once(blocks).filter(|_| is_short) {
        Some(lanes) => Dispatch::Short(lanes),
        None => Dispatch::Batches(batch_lanes::<F::Core, I>(isa, blocks)),
    }
}

/// Runs blocks as a batch, padded to its length.
#[inline(never)] // its keys would be on the stack of what runs a single block
pub fn padded<F: RunsOn<I>, I: Isa>(
    schedule: &F::Schedule,
    isa: I,
    direction: Direction,
    blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>,
) {
    let keys = isa.run(MakeKeys::<F> { schedule, direction });
    isa.run(Ecb::<F::Core> { keys: F::view(&keys), blocks });
}

/// A key schedule's keys for a form.
pub(crate) struct MakeKeys<'a, F: Form> {
    pub(crate) schedule: &'a F::Schedule,
    pub(crate) direction: Direction,
}

impl<F: Form, I: Isa> Body<I> for MakeKeys<'_, F> {
    type Output = F::Keys;

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

impl<F: RunsOn<I>, I: Isa> Implementation for Sliced<F, I> {
    type BlockSize = <F::Schedule as Schedule>::BlockSize;
    type KeySize = <F::Schedule as Schedule>::KeySize;
    type Lanes = <<F::Core as Rounds<I>>::State as State<I>>::Lanes;
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

    fn run_batches(&self, keys: &F::Keys, blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>) {
        self.isa.run(Ecb::<F::Core> { keys: F::view(keys), blocks });
    }

    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>) {
        run_short::<F, I>(&self.schedule, self.isa, direction, blocks, |blocks| {
            padded::<F, I>(&self.schedule, self.isa, direction, blocks);
        });
    }

    fn dispatch(&self, blocks: usize) -> Dispatch {
        dispatch::<F, I>(self.isa, blocks, Self::is_short(blocks))
    }

    fn ctr(
        &self,
        keys: &F::Keys,
        counter: Counter,
        blocks: InOutBuf<'_, '_, BlockOf<F::Schedule>>,
    ) {
        self.isa.run(Ctr::<F::Core> { keys: F::view(keys), counter, blocks });
    }

    fn run_whole(&self, operation: &Operation<'_>, data: &mut InOutBuf<'_, '_, u8>) -> bool {
        F::run_whole(&self.schedule, self.isa, operation, data)
    }

    #[inline]
    fn run_block(
        &self,
        direction: Direction,
        block: &mut BlockPass<'_, '_, '_, Self::BlockSize>,
    ) -> bool {
        F::run_block(&self.schedule, self.isa, direction, block)
    }

    fn gcm(&self, pass: &mut GcmPass<'_>, data: &mut InOutBuf<'_, '_, u8>) -> bool {
        F::gcm(&self.schedule, self.isa, pass, data)
    }

    fn chains_at_once(&self) -> usize {
        F::chains_at_once()
    }

    fn run_chains(&self, chains: &mut Chains<'_, '_, '_>) -> bool {
        F::run_chains(&self.schedule, self.isa, chains)
    }

    #[inline(always)]
    fn encrypt_with(&self, mode: impl BlockCipherEncClosure<BlockSize = Self::BlockSize>) {
        F::encrypt_with(self, &self.schedule, self.isa, &mut Some(mode));
    }

    #[inline(always)]
    fn decrypt_with(&self, mode: impl BlockCipherDecClosure<BlockSize = Self::BlockSize>) {
        F::decrypt_with(self, &self.schedule, self.isa, &mut Some(mode));
    }
}

impl<F: Form, I> fmt::Debug for Sliced<F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sliced").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<F: Form, I> zeroize::ZeroizeOnDrop for Sliced<F, I> where F::Schedule: zeroize::ZeroizeOnDrop {}
