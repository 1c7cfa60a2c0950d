//! The choice of an instruction set for the types that users name: the same for every cipher.

#![allow(
    clippy::inline_always,
    reason = "a mode is handed on to the region of its instructions, and each call on the way would copy it"
)]

use core::fmt;

use cipher::{Array, BlockCipherDecClosure, BlockCipherEncClosure, InOutBuf, array::ArraySize};
use lanecrypt_core::{
    BlockPass, Chains, ConstantTime, Counter, Direction, Dispatch, GcmPass, Implementation,
    Operation, Unavailable, bulk, on_cleared_stack_of,
};

#[cfg(target_arch = "aarch64")]
use crate::neon::{Neon, NeonAes};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::wasm::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::x86::{AesNi, Avx2, Avx2Aes, Avx2Gfni, Avx2Vaes, Avx512, Sse2};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::xts_masks::{AddMasks, AddNextMasks};
use crate::{
    BlockOf, Core, Form, Isa, LanesBody, Portable, Rounds, RunsOn, Schedule,
    batch::{Blocks, Ctr, Ecb},
    form::{self, MakeKeys},
    isa::Found,
};

/// Instruction sets from the best on, `Fast` where there are instructions for S-boxes (GFNI, AES),
/// `Plain` where there are not.
macro_rules! choices {
    (fast: $($fast:ident)*; plain: $($plain:ident)*; $portable:ident) => {
        /// An instruction set that this CPU has, the one that serves sliced ciphers best.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "the names are those of the tokens")]
        pub enum Choice {
            $($fast($fast),)*
            $($plain($plain),)*
            $portable(Portable<u64>),
        }

        impl Choice {
            /// The best that this CPU has.
            #[must_use]
            #[inline]
            pub fn get() -> Self {
                let found = Found::get();
                $(if let Some(isa) = $fast::detect_in(found) {
                    return Self::$fast(isa);
                })*
                $(if let Some(isa) = $plain::detect_in(found) {
                    return Self::$plain(isa);
                })*
                let _ = found;
                Self::$portable(Portable::new())
            }
        }

        /// A form on every instruction set with instructions for S-boxes.
        pub trait OnFast: Form<Core: FastCore> $(+ RunsOn<$fast>)* {}
        impl<F: Form<Core: FastCore> $(+ RunsOn<$fast>)*> OnFast for F {}

        /// A form on every other instruction set.
        pub trait OnPlain: Form<Core: PlainCore> $(+ RunsOn<$plain>)* + RunsOn<Portable<u64>> {}
        impl<F: Form<Core: PlainCore> $(+ RunsOn<$plain>)* + RunsOn<Portable<u64>>> OnPlain for F {}

        /// [`FastCore::run_fast`].
        #[doc(hidden)] // for the macro
        pub fn run_fast<C: Core $(+ Rounds<$fast>)*>(
            keys: &C::Keys,
            mode: BatchMode,
            blocks: Blocks<'_, '_, C::BlockSize>,
        ) {
            match Choice::get() {
                $(Choice::$fast(isa) => run::<C, _>(isa, keys, mode, blocks),)*
                _ => {
                    let _ = (keys, mode, blocks);
                    unreachable!("{MADE_HERE}")
                }
            }
        }

        /// [`PlainCore::run_plain`].
        #[doc(hidden)] // for the macro
        pub fn run_plain<C: Core $(+ Rounds<$plain>)* + Rounds<Portable<u64>>>(
            keys: &C::Keys,
            mode: BatchMode,
            blocks: Blocks<'_, '_, C::BlockSize>,
        ) {
            match Choice::get() {
                $(Choice::$plain(isa) => run::<C, _>(isa, keys, mode, blocks),)*
                Choice::$portable(isa) => run::<C, _>(isa, keys, mode, blocks),
                #[allow(unreachable_patterns, reason = "a target may have no other")]
                _ => unreachable!("{MADE_HERE}"),
            }
        }

        /// Runs one expression with the instruction set and another with the form it is for.
        macro_rules! on_choice {
            ($choice:expr, |$isa:ident| $for_fast:expr, $for_plain:expr) => {
                match $choice {
                    $(Choice::$fast($isa) => $for_fast,)*
                    $(Choice::$plain($isa) => $for_plain,)*
                    Choice::$portable($isa) => $for_plain,
                }
            };
        }
    };
}
#[cfg(target_arch = "x86_64")]
choices!(fast: Avx512 Avx2Gfni Avx2Vaes Avx2Aes AesNi; plain: Avx2 Sse2; Words);
#[cfg(target_arch = "aarch64")]
choices!(fast: NeonAes; plain: Neon; Words);
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
choices!(fast: ; plain: Simd128; Words);
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
choices!(fast: ; plain: ; Words);

impl Choice {
    /// Whether it has instructions for S-boxes.
    fn has_sboxes(self) -> bool {
        on_choice!(self, |_isa| true, false)
    }
}

/// Runs a body with the best lanes for whole blocks that this CPU has, if it has any.
pub fn run_in_lanes<B: LanesBody>(body: B) -> B::Output {
    on_choice!(Choice::get(), |isa| isa.run(WithLanes(body)), {
        let _ = isa;
        body.without()
    })
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
struct WithLanes<B>(B);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl<I: crate::BlockLanes, B: LanesBody> crate::Body<I> for WithLanes<B> {
    type Output = B::Output;

    #[inline(always)]
    fn run(self, isa: I) -> B::Output {
        self.0.with(isa)
    }
}

/// Runs `work`, which makes keys, and overwrites the stack that it takes (feature `zeroize`): `FAST` bytes at most
/// where there are instructions for S-boxes, `PLAIN` elsewhere. `ct/tests/residue.rs` holds that
/// they are enough.
#[inline]
pub fn on_cleared_stack<const FAST: usize, const PLAIN: usize, R>(work: impl FnOnce() -> R) -> R {
    if Choice::get().has_sboxes() {
        on_cleared_stack_of::<FAST, R>(work)
    } else {
        on_cleared_stack_of::<PLAIN, R>(work)
    }
}

/// What whole batches become.
#[derive(Clone, Copy, Debug)]
pub enum BatchMode {
    /// Blocks, each by itself, in the direction of the keys.
    Ecb,
    /// Sums with the key stream of counter blocks from this one on, under keys of encryption.
    Ctr(Counter),
}

/// Rounds that serve where there are instructions for S-boxes. [`compiled_here!`](crate::compiled_here) makes of them
/// code that is compiled with the cipher: thousands of instructions that would be compiled with each crate that
/// encrypts, and for each size of the keys.
pub trait FastCore: Core {
    /// Runs any number of blocks on the instruction set of this CPU.
    ///
    /// # Panics
    /// Where this CPU has no instructions for S-boxes.
    fn run_fast(keys: &Self::Keys, mode: BatchMode, blocks: Blocks<'_, '_, Self::BlockSize>);
}

/// Rounds that serve elsewhere, likewise.
pub trait PlainCore: Core {
    /// Runs any number of blocks on the instruction set of this CPU.
    ///
    /// # Panics
    /// Where this CPU has instructions for S-boxes.
    fn run_plain(keys: &Self::Keys, mode: BatchMode, blocks: Blocks<'_, '_, Self::BlockSize>);
}

/// Compiles the rounds that [`Choices`] names, in the crate that says this: [`FastCore`] of one type and [`PlainCore`]
/// of another, or of the same.
#[macro_export]
macro_rules! compiled_here {
    (fast: $fast:ty, plain: $plain:ty $(,)?) => {
        impl $crate::FastCore for $fast {
            #[inline(never)]
            fn run_fast(
                keys: &<Self as $crate::Core>::Keys,
                mode: $crate::BatchMode,
                blocks: $crate::Blocks<'_, '_, <Self as $crate::Core>::BlockSize>,
            ) {
                $crate::run_fast::<Self>(keys, mode, blocks);
            }
        }

        impl $crate::PlainCore for $plain {
            #[inline(never)]
            fn run_plain(
                keys: &<Self as $crate::Core>::Keys,
                mode: $crate::BatchMode,
                blocks: $crate::Blocks<'_, '_, <Self as $crate::Core>::BlockSize>,
            ) {
                $crate::run_plain::<Self>(keys, mode, blocks);
            }
        }
    };
}

/// Runs batches on one instruction set.
fn run<C: Rounds<I>, I: Isa>(
    isa: I,
    keys: &C::Keys,
    mode: BatchMode,
    blocks: Blocks<'_, '_, C::BlockSize>,
) {
    match mode {
        BatchMode::Ecb => isa.run(Ecb::<C> { keys, blocks }),
        BatchMode::Ctr(counter) => isa.run(Ctr::<C> { keys, counter, blocks }),
    }
}

/// What a cipher runs where: a form for instruction sets with instructions for S-boxes, and one for
/// the others. It may be the same.
pub trait Choices: 'static {
    /// What is kept of a key.
    type Schedule: Schedule;
    /// Blocks of a batch, on every CPU.
    type Lanes: ArraySize;
    /// The form where there are instructions for S-boxes.
    type Fast: OnFast<Schedule = Self::Schedule>;
    /// The form elsewhere.
    type Plain: OnPlain<Schedule = Self::Schedule>;

    /// Runs a block by itself, where that is the same on every instruction set, and returns whether it is. By default
    /// it is not.
    #[inline]
    fn run_single(
        schedule: &Self::Schedule,
        direction: Direction,
        block: &mut BlockOf<Self::Schedule>,
    ) -> bool {
        let _ = (schedule, direction, block);
        false
    }
}

/// The cipher of `C` on the best instruction set of this CPU. Constant-time, key schedule included.
pub struct Fastest<C: Choices> {
    schedule: C::Schedule,
}

/// The keys of whichever form was chosen.
pub enum FastestKeys<C: Choices> {
    /// Where there are instructions for S-boxes.
    Fast(<C::Fast as Form>::Keys),
    /// Elsewhere.
    Plain(<C::Plain as Form>::Keys),
}

impl<C: Choices> Fastest<C> {
    /// From a key schedule.
    pub fn of(schedule: C::Schedule) -> Self {
        Self { schedule }
    }

    /// The key schedule.
    pub fn schedule(&self) -> &C::Schedule {
        &self.schedule
    }

    /// Runs blocks as a batch, padded to its length.
    #[inline(never)] // its keys would be on the stack of what runs a single block
    fn padded(&self, direction: Direction, blocks: InOutBuf<'_, '_, BlockOf<C::Schedule>>) {
        self.run_batches(&self.batch_keys(direction), blocks);
    }
}

impl<C: Choices> FastestKeys<C> {
    /// Runs any number of blocks.
    fn run(&self, mode: BatchMode, blocks: InOutBuf<'_, '_, BlockOf<C::Schedule>>) {
        match self {
            Self::Fast(keys) => {
                <C::Fast as Form>::Core::run_fast(C::Fast::view(keys), mode, blocks);
            }
            Self::Plain(keys) => {
                <C::Plain as Form>::Core::run_plain(C::Plain::view(keys), mode, blocks);
            }
        }
    }
}

const MADE_HERE: &str = "keys are made for the one choice of the process";

impl<C: Choices> Implementation for Fastest<C> {
    type BlockSize = <C::Schedule as Schedule>::BlockSize;
    type KeySize = <C::Schedule as Schedule>::KeySize;
    type Lanes = C::Lanes;
    type Token = ();
    type BatchKeys = FastestKeys<C>;

    const NAME: &'static str = C::Schedule::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    fn detect() -> Result<(), Unavailable> {
        Ok(())
    }

    fn new((): (), key: &Array<u8, Self::KeySize>) -> Self {
        Self { schedule: C::Schedule::new(key) }
    }

    fn on_cleared_stack<R>(keying: impl FnOnce() -> R) -> R {
        on_cleared_stack::<{ 2 << 10 }, { 8 << 10 }, R>(keying)
    }

    fn batch_keys(&self, direction: Direction) -> FastestKeys<C> {
        let schedule = &self.schedule;
        on_choice!(
            Choice::get(),
            |isa| FastestKeys::Fast(isa.run(MakeKeys::<C::Fast> { schedule, direction })),
            FastestKeys::Plain(isa.run(MakeKeys::<C::Plain> { schedule, direction }))
        )
    }

    fn run_batches(&self, keys: &FastestKeys<C>, blocks: InOutBuf<'_, '_, BlockOf<C::Schedule>>) {
        keys.run(BatchMode::Ecb, blocks);
    }

    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, BlockOf<C::Schedule>>) {
        let (schedule, padded) = (&self.schedule, |blocks| self.padded(direction, blocks));
        on_choice!(
            Choice::get(),
            |isa| form::run_short::<C::Fast, _>(schedule, isa, direction, blocks, padded),
            form::run_short_apart::<C::Plain, _>(schedule, isa, direction, blocks, padded)
        );
    }

    #[inline]
    fn run_single(&self, direction: Direction, block: &mut BlockOf<C::Schedule>) {
        if !C::run_single(&self.schedule, direction, block) {
            self.run_short(direction, InOutBuf::from_mut(block));
        }
    }

    fn dispatch(&self, blocks: usize) -> Dispatch {
        on_choice!(
            Choice::get(),
            |isa| form::dispatch::<C::Fast, _>(isa, blocks, Self::is_short(blocks)),
            form::dispatch::<C::Plain, _>(isa, blocks, Self::is_short(blocks))
        )
    }

    fn ctr(
        &self,
        keys: &FastestKeys<C>,
        counter: Counter,
        blocks: InOutBuf<'_, '_, BlockOf<C::Schedule>>,
    ) {
        keys.run(BatchMode::Ctr(counter), blocks);
    }

    fn add_next_masks(&self, mask: &mut [u8; 16], masks: &mut [u8], data: &mut [u8]) {
        on_choice!(Choice::get(), |isa| isa.run(AddNextMasks { mask, masks, data }), {
            let _ = isa;
            bulk::add_next_masks(mask, masks, data);
        });
    }

    fn add_masks(&self, masks: &[u8], data: &mut [u8]) {
        on_choice!(Choice::get(), |isa| isa.run(AddMasks { masks, data }), {
            let _ = isa;
            bulk::add_masks(masks, data);
        });
    }

    fn run_whole(&self, operation: &Operation<'_>, data: &mut InOutBuf<'_, '_, u8>) -> bool {
        on_choice!(
            Choice::get(),
            |isa| C::Fast::run_whole(&self.schedule, isa, operation, data),
            C::Plain::run_whole(&self.schedule, isa, operation, data)
        )
    }

    #[inline]
    fn run_block(
        &self,
        direction: Direction,
        block: &mut BlockPass<'_, '_, '_, Self::BlockSize>,
    ) -> bool {
        on_choice!(
            Choice::get(),
            |isa| C::Fast::run_block(&self.schedule, isa, direction, block),
            C::Plain::run_block(&self.schedule, isa, direction, block)
        )
    }

    fn gcm(&self, pass: &mut GcmPass<'_>, data: &mut InOutBuf<'_, '_, u8>) -> bool {
        on_choice!(
            Choice::get(),
            |isa| C::Fast::gcm(&self.schedule, isa, pass, data),
            C::Plain::gcm(&self.schedule, isa, pass, data)
        )
    }

    fn chains_at_once(&self) -> usize {
        /// By a token, whose type says for which instruction set.
        fn of<F: RunsOn<I>, I: Isa>(_: I) -> usize {
            F::chains_at_once()
        }
        on_choice!(Choice::get(), |isa| of::<C::Fast, _>(isa), of::<C::Plain, _>(isa))
    }

    fn run_chains(&self, chains: &mut Chains<'_, '_, '_>) -> bool {
        on_choice!(
            Choice::get(),
            |isa| C::Fast::run_chains(&self.schedule, isa, chains),
            C::Plain::run_chains(&self.schedule, isa, chains)
        )
    }

    #[inline(always)]
    fn encrypt_with(&self, mode: impl BlockCipherEncClosure<BlockSize = Self::BlockSize>) {
        encrypt_with(self, &mut Some(mode));
    }

    #[inline(always)]
    fn decrypt_with(&self, mode: impl BlockCipherDecClosure<BlockSize = Self::BlockSize>) {
        decrypt_with(self, &mut Some(mode));
    }
}

/// [`Implementation::encrypt_with`]. What is on the way to it is small and becomes one with its caller, which makes the
/// mode where this takes it from.
#[inline(never)]
fn encrypt_with<C: Choices>(
    cipher: &Fastest<C>,
    mode: &mut Option<impl BlockCipherEncClosure<BlockSize = <C::Schedule as Schedule>::BlockSize>>,
) {
    on_choice!(
        Choice::get(),
        |isa| C::Fast::encrypt_with(cipher, &cipher.schedule, isa, mode),
        C::Plain::encrypt_with(cipher, &cipher.schedule, isa, mode)
    );
}

/// [`Implementation::decrypt_with`] likewise.
#[inline(never)]
fn decrypt_with<C: Choices>(
    cipher: &Fastest<C>,
    mode: &mut Option<impl BlockCipherDecClosure<BlockSize = <C::Schedule as Schedule>::BlockSize>>,
) {
    on_choice!(
        Choice::get(),
        |isa| C::Fast::decrypt_with(cipher, &cipher.schedule, isa, mode),
        C::Plain::decrypt_with(cipher, &cipher.schedule, isa, mode)
    );
}

impl<C: Choices> Clone for Fastest<C> {
    fn clone(&self) -> Self {
        Self { schedule: self.schedule.clone() }
    }
}

impl<C: Choices> fmt::Debug for Fastest<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fastest").finish_non_exhaustive()
    }
}

impl<C: Choices> fmt::Debug for FastestKeys<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FastestKeys").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: Choices> zeroize::ZeroizeOnDrop for Fastest<C> where C::Schedule: zeroize::ZeroizeOnDrop {}
