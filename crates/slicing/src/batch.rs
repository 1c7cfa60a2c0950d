//! Blocks through the rounds of a sliced cipher: whole batches, several side by side, and what is
//! left over, padded.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{Array, InOutBuf, array::ArraySize, typenum::Unsigned};
use lanecrypt_core::Counter;

use crate::{BitLanes, Body, ByteLanes, Bytes, Core, Isa, Rounds, WordLanes};

/// A batch of blocks in the form in which rounds take it.
pub trait State<I: Isa>: Copy {
    /// Blocks of a batch.
    type Lanes: ArraySize;

    /// A state without blocks.
    fn new(isa: I) -> Self;

    /// Takes a batch of blocks.
    fn load(&mut self, isa: I, blocks: &[u8]);

    /// Gives the blocks back; the state is overwritten with intermediate values.
    fn store(&mut self, isa: I, blocks: &mut [u8]);

    /// XORs a batch of blocks to those at hand.
    fn add(&mut self, isa: I, blocks: &[u8]);

    /// XORs the blocks to those of a buffer; the state is overwritten with intermediate values.
    /// `scratch` has room for them.
    #[inline(always)]
    fn add_to<N: ArraySize>(
        &mut self,
        isa: I,
        blocks: &mut InOutBuf<'_, '_, Array<u8, N>>,
        scratch: &mut [u8],
    ) {
        self.store(isa, scratch);
        add(blocks, scratch);
    }

    /// Takes the counter blocks from `first` on. `scratch` has room for them.
    #[inline(always)]
    fn count(&mut self, isa: I, first: Counter, scratch: &mut [u8]) {
        first.fill(scratch);
        self.load(isa, scratch);
    }
}

/// Bytes `0..N` of a batch of blocks, a row of lanes each.
#[derive(Clone, Copy, Debug)]
pub struct ByteState<B, const N: usize>(pub [B; N]);

impl<I: ByteLanes, const N: usize> State<I> for ByteState<I::Bytes, N> {
    type Lanes = I::Lanes;

    #[inline(always)]
    fn new(isa: I) -> Self {
        Self([isa.splat(0); N])
    }

    #[inline(always)]
    fn load(&mut self, isa: I, blocks: &[u8]) {
        isa.slice(blocks, &mut self.0);
    }

    #[inline(always)]
    fn store(&mut self, isa: I, blocks: &mut [u8]) {
        isa.unslice(&mut self.0, blocks);
    }

    #[inline(always)]
    fn add(&mut self, isa: I, blocks: &[u8]) {
        let mut others = Self::new(isa);
        others.load(isa, blocks);
        for (row, other) in self.0.iter_mut().zip(others.0) {
            *row = row.xor(other);
        }
    }

    #[inline(always)]
    fn add_to<M: ArraySize>(
        &mut self,
        isa: I,
        blocks: &mut InOutBuf<'_, '_, Array<u8, M>>,
        scratch: &mut [u8],
    ) {
        if !isa.add_unsliced(&mut self.0, blocks) {
            self.store(isa, scratch);
            add(blocks, scratch);
        }
    }

    #[inline(always)]
    fn count(&mut self, isa: I, first: Counter, scratch: &mut [u8]) {
        if !isa.count(first.value(), &mut self.0) {
            first.fill(scratch);
            self.load(isa, scratch);
        }
    }
}

/// Bits `0..N` of a batch of blocks, a row of lanes each.
#[derive(Clone, Copy, Debug)]
pub struct BitState<W, const N: usize>(pub [W; N]);

impl<I: BitLanes, const N: usize> State<I> for BitState<I::Word, N> {
    type Lanes = I::Lanes;

    #[inline(always)]
    fn new(isa: I) -> Self {
        Self([isa.splat(0); N])
    }

    #[inline(always)]
    fn load(&mut self, isa: I, blocks: &[u8]) {
        isa.slice(blocks, &mut self.0);
    }

    #[inline(always)]
    fn store(&mut self, isa: I, blocks: &mut [u8]) {
        isa.unslice(&mut self.0, blocks);
    }

    #[inline(always)]
    fn add(&mut self, isa: I, blocks: &[u8]) {
        let mut others = Self::new(isa);
        others.load(isa, blocks);
        for (row, other) in self.0.iter_mut().zip(others.0) {
            *row ^= other;
        }
    }

    #[inline(always)]
    fn count(&mut self, isa: I, first: Counter, _: &mut [u8]) {
        isa.count(first.value(), &mut self.0);
    }
}

/// The four words of a batch of blocks of 16 bytes, a row of lanes each.
#[derive(Clone, Copy, Debug)]
pub struct WordState<W>(pub [W; 4]);

impl<I: WordLanes> State<I> for WordState<I::Words> {
    type Lanes = I::Lanes;

    #[inline(always)]
    fn new(isa: I) -> Self {
        Self([isa.splat(0); 4])
    }

    #[inline(always)]
    fn load(&mut self, isa: I, blocks: &[u8]) {
        isa.slice(blocks, &mut self.0);
    }

    #[inline(always)]
    fn store(&mut self, isa: I, blocks: &mut [u8]) {
        isa.unslice(self.0, blocks);
    }

    #[inline(always)]
    fn add(&mut self, isa: I, blocks: &[u8]) {
        let mut others = Self::new(isa);
        others.load(isa, blocks);
        for (row, other) in self.0.iter_mut().zip(others.0) {
            *row ^= other;
        }
    }

    #[inline(always)]
    fn add_to<N: ArraySize>(
        &mut self,
        isa: I,
        blocks: &mut InOutBuf<'_, '_, Array<u8, N>>,
        scratch: &mut [u8],
    ) {
        if !isa.add_unsliced(self.0, blocks) {
            self.store(isa, scratch);
            add(blocks, scratch);
        }
    }

    #[inline(always)]
    fn count(&mut self, isa: I, first: Counter, scratch: &mut [u8]) {
        if !isa.count(first.value(), &mut self.0) {
            first.fill(scratch);
            self.load(isa, scratch);
        }
    }
}

/// Blocks of `N` bytes, in place or from one buffer to another.
pub type Blocks<'inp, 'out, N> = InOutBuf<'inp, 'out, Array<u8, N>>;

/// Every block by itself.
pub(crate) struct Ecb<'a, 'inp, 'out, C: Core> {
    pub(crate) keys: &'a C::Keys,
    pub(crate) blocks: Blocks<'inp, 'out, C::BlockSize>,
}

/// The key stream of counter blocks, added to blocks.
pub(crate) struct Ctr<'a, 'inp, 'out, C: Core> {
    pub(crate) keys: &'a C::Keys,
    pub(crate) counter: Counter,
    pub(crate) blocks: Blocks<'inp, 'out, C::BlockSize>,
}

impl<C: Rounds<I>, I: Isa> Body<I> for Ecb<'_, '_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let blocks = run::<C, I, _>(isa, self.keys, &mut EcbPass, self.blocks);
        if !blocks.is_empty() {
            C::rest(isa, blocks.len(), Self { blocks, ..self });
        }
    }
}

impl<C: Rounds<I>, I: Isa> Body<I> for Ctr<'_, '_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let mut pass = CtrPass { counter: self.counter, scratch: Array::default() };
        let blocks = run::<C, I, _>(isa, self.keys, &mut pass, self.blocks);
        if !blocks.is_empty() {
            C::rest(isa, blocks.len(), Self { counter: pass.counter, blocks, ..self });
        }
    }
}

/// What is left over: fewer blocks than a batch. Implementations are `#[inline(always)]`.
pub trait Rest<C: Core> {
    /// Runs it as a batch of `I`, which has the room, padded.
    fn pad<I: Isa>(self, isa: I)
    where
        C: Rounds<I>;
}

impl<C: Core> Rest<C> for Ecb<'_, '_, '_, C> {
    #[inline(always)]
    fn pad<I: Isa>(self, isa: I)
    where
        C: Rounds<I>,
    {
        pad::<C, I, _>(isa, self.keys, &mut EcbPass, self.blocks);
    }
}

impl<C: Core> Rest<C> for Ctr<'_, '_, '_, C> {
    #[inline(always)]
    fn pad<I: Isa>(self, isa: I)
    where
        C: Rounds<I>,
    {
        let mut pass = CtrPass { counter: self.counter, scratch: Array::default() };
        pad::<C, I, _>(isa, self.keys, &mut pass, self.blocks);
    }
}

/// A rest that notes the lanes of the batch it would become, and runs nothing.
struct Probe<'a>(&'a mut usize);

impl<C: Core> Rest<C> for Probe<'_> {
    fn pad<I: Isa>(self, _: I)
    where
        C: Rounds<I>,
    {
        *self.0 = <C::State as State<I>>::Lanes::USIZE;
    }
}

/// Blocks per batch in which `blocks` blocks are run: of the first batch, where there are several
/// sizes.
pub(crate) fn batch_lanes<C: Rounds<I>, I: Isa>(isa: I, blocks: usize) -> usize {
    let mut lanes = <C::State as State<I>>::Lanes::USIZE;
    if blocks < C::GROUPS * lanes {
        C::rest(isa, blocks, Probe(&mut lanes));
    }
    lanes
}

/// What goes into the rounds and what becomes of the result.
trait Pass<C: Rounds<I>, I: Isa, N: ArraySize> {
    fn enter(&mut self, isa: I, state: &mut C::State, piece: &Blocks<'_, '_, N>);
    fn leave(&mut self, isa: I, state: &mut C::State, piece: Blocks<'_, '_, N>);
}

struct EcbPass;

impl<C: Rounds<I>, I: Isa, N: ArraySize> Pass<C, I, N> for EcbPass {
    #[inline(always)]
    fn enter(&mut self, isa: I, state: &mut C::State, piece: &Blocks<'_, '_, N>) {
        state.load(isa, Array::slice_as_flattened(piece.get_in()));
    }

    #[inline(always)]
    fn leave(&mut self, isa: I, state: &mut C::State, mut piece: Blocks<'_, '_, N>) {
        state.store(isa, Array::slice_as_flattened_mut(piece.get_out()));
    }
}

struct CtrPass<N: ArraySize, L: ArraySize> {
    counter: Counter,
    scratch: Array<Array<u8, N>, L>,
}

impl<C: Rounds<I>, I: Isa, N: ArraySize> Pass<C, I, N>
    for CtrPass<N, <C::State as State<I>>::Lanes>
{
    #[inline(always)]
    fn enter(&mut self, isa: I, state: &mut C::State, piece: &Blocks<'_, '_, N>) {
        state.count(isa, self.counter, Array::slice_as_flattened_mut(&mut self.scratch));
        self.counter = self.counter.plus(piece.len() as u128);
    }

    #[inline(always)]
    fn leave(&mut self, isa: I, state: &mut C::State, mut piece: Blocks<'_, '_, N>) {
        state.add_to(isa, &mut piece, Array::slice_as_flattened_mut(&mut self.scratch));
    }
}

/// Adds as many bytes of key stream as there are, which are whole blocks: a row of SIMD registers at a
/// time, and what is left of that by words.
#[inline(always)]
fn add<N: ArraySize>(piece: &mut Blocks<'_, '_, N>, keystream: &[u8]) {
    let rows = keystream.len() / 64 * 64;
    add_rows::<N, 64>(piece, 0, &keystream[..rows]);
    add_rows::<N, 8>(piece, rows, &keystream[rows..]);
}

/// Adds rows of `ROW` bytes to those from byte `start` on.
#[inline(always)]
fn add_rows<N: ArraySize, const ROW: usize>(
    piece: &mut Blocks<'_, '_, N>,
    start: usize,
    keystream: &[u8],
) {
    for (i, row) in keystream.as_chunks::<ROW>().0.iter().enumerate() {
        let at = start + ROW * i;
        let mut sum = [0; ROW];
        let input = &Array::slice_as_flattened(piece.get_in())[at..][..ROW];
        for ((sum, byte), mask) in sum.iter_mut().zip(input).zip(row) {
            *sum = byte ^ mask;
        }
        Array::slice_as_flattened_mut(piece.get_out())[at..][..ROW].copy_from_slice(&sum);
    }
}

/// Runs batches side by side, as many as the rounds like, and returns the rest.
///
/// How many that is, is asked in constant blocks here: a cipher's rounds are thousands of
/// instructions, and what is known to be dead is then not generated at all.
#[inline(always)]
fn run<'inp, 'out, C: Rounds<I>, I: Isa, N: ArraySize>(
    isa: I,
    keys: &C::Keys,
    pass: &mut impl Pass<C, I, N>,
    mut blocks: Blocks<'inp, 'out, N>,
) -> Blocks<'inp, 'out, N> {
    macro_rules! groups {
        ($($groups:literal)*) => {$(
            if const { C::GROUPS == $groups } {
                blocks = side_by_side::<C, I, N, $groups>(isa, keys, pass, blocks);
            }
        )*};
    }
    groups!(1 2 4 8);
    blocks
}

/// Runs what [`run`] leaves.
#[inline(always)]
fn pad<C: Rounds<I>, I: Isa, N: ArraySize>(
    isa: I,
    keys: &C::Keys,
    pass: &mut impl Pass<C, I, N>,
    mut blocks: Blocks<'_, '_, N>,
) {
    macro_rules! groups {
        ($($groups:literal)*) => {$(
            if const { C::GROUPS >= $groups } {
                blocks = last::<C, I, N, $groups>(isa, keys, pass, blocks);
            }
        )*};
    }
    groups!(1 2 4 8);
    debug_assert!(blocks.is_empty(), "as many batches as run side by side hold what is left");
}

/// Runs blocks if `G` batches hold them, padded if need be, and else returns them: a batch more
/// side by side takes less time than one more alone.
#[inline(always)]
fn last<'inp, 'out, C: Rounds<I>, I: Isa, N: ArraySize, const G: usize>(
    isa: I,
    keys: &C::Keys,
    pass: &mut impl Pass<C, I, N>,
    mut blocks: Blocks<'inp, 'out, N>,
) -> Blocks<'inp, 'out, N> {
    let (length, full) = (blocks.len(), G * <C::State as State<I>>::Lanes::USIZE);
    if length == 0 || length > full {
        return blocks;
    }
    if const { G < C::GROUPS } {
        // Here alone, as what fills as many batches as the form likes has been run.
        if length == full {
            return side_by_side::<C, I, N, G>(isa, keys, pass, blocks);
        }
    }
    let mut padded =
        [(); G].map(|()| Array::<Array<u8, N>, <C::State as State<I>>::Lanes>::default());
    let padded = Array::slice_as_flattened_mut(&mut padded);
    padded[..length].clone_from_slice(blocks.get_in());
    side_by_side::<C, I, N, G>(isa, keys, pass, padded.into());
    blocks.get_out().clone_from_slice(&padded[..length]);
    blocks.split_at(length).1
}

/// Runs as many batches as there are whole ones, `G` side by side, and returns the rest.
#[inline(always)]
fn side_by_side<'inp, 'out, C: Rounds<I>, I: Isa, N: ArraySize, const G: usize>(
    isa: I,
    keys: &C::Keys,
    pass: &mut impl Pass<C, I, N>,
    mut blocks: Blocks<'inp, 'out, N>,
) -> Blocks<'inp, 'out, N> {
    let lanes = <C::State as State<I>>::Lanes::USIZE;
    while blocks.len() >= G * lanes {
        let mut states = [C::State::new(isa); G];
        let (mut piece, rest) = blocks.split_at(G * lanes);
        for (g, state) in states.iter_mut().enumerate() {
            pass.enter(isa, state, &part(&mut piece, g * lanes, lanes));
        }
        run_rounds::<C, I, G>(isa, keys, &mut states);
        for (g, state) in states.iter_mut().enumerate() {
            pass.leave(isa, state, part(&mut piece, g * lanes, lanes));
        }
        blocks = rest;
    }
    blocks
}

/// Runs the rounds of some batches. A debug build compiles them once for an instruction set, as a function,
/// which takes a third of the time; in a release build they are part of each pass, which makes them up to a
/// third faster.
#[inline(always)]
pub(crate) fn run_rounds<C: Rounds<I>, I: Isa, const G: usize>(
    isa: I,
    keys: &C::Keys,
    states: &mut [C::State; G],
) {
    let rounds = Batches::<C, I, G> { keys, states };
    if cfg!(debug_assertions) {
        isa.run(rounds);
    } else {
        rounds.run(isa);
    }
}

struct Batches<'a, C: Rounds<I>, I: Isa, const G: usize> {
    keys: &'a C::Keys,
    states: &'a mut [C::State; G],
}

impl<C: Rounds<I>, I: Isa, const G: usize> Body<I> for Batches<'_, C, I, G> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        C::run(self.keys, isa, self.states);
    }
}

/// Some blocks of a buffer.
#[inline(always)]
fn part<'a, N: ArraySize>(
    piece: &'a mut Blocks<'_, '_, N>,
    start: usize,
    length: usize,
) -> Blocks<'a, 'a, N> {
    let (_before, rest) = piece.reborrow().split_at(start);
    rest.split_at(length).0
}
