//! Instruction sets as tokens: a value of one proves that this CPU has its instructions.
//!
//! Everything that makes a SIMD value takes the token, so that safe code cannot run an instruction
//! that the CPU lacks. Work on such values is a [`Body`], and [`Isa::run`] is the only way into the
//! region that is compiled with the instruction set: whatever a body does must be inlined into it
//! (`#[inline(always)]` functions and loops; a closure, `array::map` or `dyn` may stay outside, and
//! then each operation of a few cycles becomes a call).

use core::{fmt, marker::PhantomData};

use lanecrypt_core::{AnyCpu, ConstantTime, Unavailable};

#[cfg(target_arch = "x86_64")]
pub(crate) use crate::x86::Found;

/// What the CPU has, where each instruction set asks for itself.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(crate) struct Found;

#[cfg(not(target_arch = "x86_64"))]
impl Found {
    #[inline]
    pub(crate) fn get() -> Self {
        Self
    }
}

// ANCHOR: isa
/// Work that runs where the instructions of `I` may be used. Implementations are
/// `#[inline(always)]`.
pub trait Body<I: Isa> {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run(self, isa: I) -> Self::Output;
}

/// A [`Body`] over something that is handed on as it is: a packet takes as long as a dozen moves of its buffer from
/// one struct to the next.
pub trait BodyOver<I: Isa, D> {
    /// Does it.
    fn run_over(self, isa: I, data: D);
}

/// An instruction set: a value of the type proves that this CPU has it.
pub trait Isa: Copy + fmt::Debug + Send + Sync + 'static {
    /// Whether the operations on its values take the same time for all of them.
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    /// The token, if this CPU has the instructions.
    ///
    /// # Errors
    /// The instructions that are missing.
    fn detect() -> Result<Self, Unavailable>;

    /// Runs a body with these instructions.
    fn run<B: Body<Self>>(self, body: B) -> B::Output;

    /// Runs a body over data with these instructions. By default that is no region of its own: for what every
    /// CPU has.
    #[inline]
    fn run_over<D, B: BodyOver<Self, D>>(self, body: B, data: D) {
        body.run_over(self, data);
    }
}

// ANCHOR_END: isa

/// What every CPU computes on a machine word, or on another type that needs no instructions of its
/// own, as lanes.
pub struct Portable<W>(PhantomData<fn() -> W>);

impl<W> Portable<W> {
    /// The token.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<W> Default for Portable<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W> Clone for Portable<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Portable<W> {}

impl<W> fmt::Debug for Portable<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Portable")
    }
}

impl<W> AnyCpu for Portable<W> {
    fn get() -> Self {
        Self::new()
    }
}

impl<W: 'static> Isa for Portable<W> {
    fn detect() -> Result<Self, Unavailable> {
        Ok(Self::new())
    }

    #[cfg_attr(not(debug_assertions), inline)]
    fn run<B: Body<Self>>(self, body: B) -> B::Output {
        body.run(self)
    }
}
