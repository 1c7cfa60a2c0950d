//! HIGHT sliced by bytes and by bits, one block per lane, on every instruction set: one text for all, and
//! for a single block.
//!
//! Constant-time wherever the lanes are: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::marker::PhantomData;

use cipher::{
    Array, InOutBuf,
    consts::{U8, U128},
    typenum::Unsigned,
};
use lanecrypt_core::{Chains, Direction, Secret};
use lanecrypt_slicing::{
    BitLanes, BitState, ByteLanes, ByteState, Bytes as Lanes, Choices, Core, Form, Gapped,
    InPlanes, Portable, Rounds, RunsOn, SplatBytes, chains_in_lanes, padded,
};

use crate::schedule::{ByteOrder, Keys, Subkeys};

/// HIGHT sliced by bytes, which blocks and keys have in the order `O`.
#[derive(Debug)]
pub struct Bytes<O>(PhantomData<fn() -> O>);

/// HIGHT sliced by bits.
#[derive(Debug)]
pub struct Bits<O>(PhantomData<fn() -> O>);

/// HIGHT on whatever CPU there is.
#[derive(Debug)]
pub struct CpuForms<O>(PhantomData<fn() -> O>);

impl<O: ByteOrder> Choices for CpuForms<O> {
    type Schedule = Subkeys<O>;
    type Lanes = U128;
    type Fast = Bytes<O>;
    type Plain = Bytes<O>;
}

lanecrypt_slicing::compiled_here!(fast: ByteRounds, plain: ByteRounds);

/// The bytes of every lane, in the standard's order: `X[7]` comes first.
pub(crate) type State<B> = [B; 8];

/// Where bytes `X[0]` to `X[7]` are in a round, so that none is ever moved: the standard's round
/// makes `X[j]` the `X[j + 1]` of the next one, here it gets that name.
///
/// ```text
///            state[0]  [1]   [2]   [3]   [4]   [5]   [6]   [7]
/// round 0      X7      X6    X5    X4    X3    X2    X1    X0
/// round 1      X0      X7    X6    X5    X4    X3    X2    X1
/// round 2      X1      X0    X7    X6    X5    X4    X3    X2
/// ```
pub(crate) const fn places(round: usize) -> [usize; 8] {
    let mut places = [0; 8];
    let mut j = 0;
    while j < 8 {
        places[j] = (7 + 8 + round % 8 - j) % 8;
        j += 1;
    }
    places
}

/// The rounds, `G` batches side by side. To decrypt, additions become subtractions.
pub(crate) struct OnLanes<L, const G: usize> {
    pub(crate) lanes: L,
    pub(crate) direction: Direction,
}

impl<L: SplatBytes, const G: usize> OnLanes<L, G> {
    #[inline(always)]
    fn plus(&self, a: L::Bytes, b: L::Bytes) -> L::Bytes {
        match self.direction {
            Direction::Encrypt => a.add(b),
            Direction::Decrypt => a.subtract(b),
        }
    }

    // ANCHOR: round
    /// A round on bytes at these places, with subkeys `sk`. The four steps touch different bytes, so
    /// that their order is free.
    #[inline(always)]
    pub(crate) fn round(
        &self,
        places: [usize; 8],
        states: &mut [State<L::Bytes>; G],
        sk: &[u32; 4],
    ) {
        let [x0, x1, x2, x3, x4, x5, x6, x7] = places;
        for x in states {
            x[x1] = self.plus(x[x1], f1(x[x0]).xor(self.lanes.splat(sk[0])));
            x[x5] = self.plus(x[x5], f1(x[x4]).xor(self.lanes.splat(sk[2])));
            x[x3] = x[x3].xor(f0(x[x2]).add(self.lanes.splat(sk[1])));
            x[x7] = x[x7].xor(f0(x[x6]).add(self.lanes.splat(sk[3])));
        }
    }
    // ANCHOR_END: round

    /// The four whitening keys `wk` on the bytes as they are named in round `ROUND`, modulo 8.
    #[inline(always)]
    pub(crate) fn whiten<const ROUND: usize>(&self, states: &mut [State<L::Bytes>; G], wk: &[u32]) {
        let [x0, _, x2, _, x4, _, x6, _] = const { places(ROUND) };
        for x in states {
            x[x0] = self.plus(x[x0], self.lanes.splat(wk[0]));
            x[x2] = x[x2].xor(self.lanes.splat(wk[1]));
            x[x4] = self.plus(x[x4], self.lanes.splat(wk[2]));
            x[x6] = x[x6].xor(self.lanes.splat(wk[3]));
        }
    }

    /// The rounds in the order of the direction. Registers have no numbers at run time, so that with
    /// states in registers eight rounds are written out.
    #[inline(always)]
    fn rounds(&self, x: &mut [State<L::Bytes>; G], keys: &Keys<u32>) {
        if L::Bytes::IN_MEMORY {
            for i in 0..keys.rounds.len() {
                let round = match self.direction {
                    Direction::Encrypt => i,
                    Direction::Decrypt => keys.rounds.len() - 1 - i,
                };
                self.round(places(round), x, &keys.rounds[round]);
            }
            return;
        }
        let eights = keys.rounds.as_chunks::<8>().0;
        match self.direction {
            Direction::Encrypt => {
                for sk in eights {
                    self.round(const { places(0) }, x, &sk[0]);
                    self.round(const { places(1) }, x, &sk[1]);
                    self.round(const { places(2) }, x, &sk[2]);
                    self.round(const { places(3) }, x, &sk[3]);
                    self.round(const { places(4) }, x, &sk[4]);
                    self.round(const { places(5) }, x, &sk[5]);
                    self.round(const { places(6) }, x, &sk[6]);
                    self.round(const { places(7) }, x, &sk[7]);
                }
            }
            Direction::Decrypt => {
                for sk in eights.iter().rev() {
                    self.round(const { places(7) }, x, &sk[7]);
                    self.round(const { places(6) }, x, &sk[6]);
                    self.round(const { places(5) }, x, &sk[5]);
                    self.round(const { places(4) }, x, &sk[4]);
                    self.round(const { places(3) }, x, &sk[3]);
                    self.round(const { places(2) }, x, &sk[2]);
                    self.round(const { places(1) }, x, &sk[1]);
                    self.round(const { places(0) }, x, &sk[0]);
                }
            }
        }
    }

    #[inline(always)]
    fn encrypt(&self, x: &mut [State<L::Bytes>; G], keys: &Keys<u32>) {
        self.whiten::<0>(x, &keys.whitening[..4]);
        self.rounds(x, keys);
        // The last round keeps the names: its X[7] is the ciphertext's and belongs in front.
        self.whiten::<7>(x, &keys.whitening[4..]);
        for [x0, x1, x2, x3, x4, x5, x6, x7] in x {
            [*x0, *x1, *x2, *x3, *x4, *x5, *x6, *x7] = [*x7, *x0, *x1, *x2, *x3, *x4, *x5, *x6];
        }
    }

    #[inline(always)]
    fn decrypt(&self, x: &mut [State<L::Bytes>; G], keys: &Keys<u32>) {
        for [x0, x1, x2, x3, x4, x5, x6, x7] in x.iter_mut() {
            [*x0, *x1, *x2, *x3, *x4, *x5, *x6, *x7] = [*x1, *x2, *x3, *x4, *x5, *x6, *x7, *x0];
        }
        self.whiten::<7>(x, &keys.whitening[4..]);
        self.rounds(x, keys);
        self.whiten::<0>(x, &keys.whitening[..4]);
    }
}

/// F0: the XOR of the rotations by 1, 2 and 7.
#[inline(always)]
fn f0<B: Lanes>(byte: B) -> B {
    byte.xor_rotations::<1, 2, 7>()
}

/// F1: the XOR of the rotations by 3, 4 and 6.
#[inline(always)]
fn f1<B: Lanes>(byte: B) -> B {
    byte.xor_rotations::<3, 4, 6>()
}

/// Runs batches.
#[inline(always)]
fn run<L: SplatBytes, const G: usize>(
    lanes: L,
    keys: &DirectedKeys,
    states: &mut [State<L::Bytes>; G],
) {
    if keys.is_reversed {
        reverse(states);
    }
    // Two texts, so that the direction is a constant of each.
    match keys.direction {
        Direction::Encrypt => {
            let direction = Direction::Encrypt;
            OnLanes::<L, G> { lanes, direction }.encrypt(states, &keys.keys);
        }
        Direction::Decrypt => {
            let direction = Direction::Decrypt;
            OnLanes::<L, G> { lanes, direction }.decrypt(states, &keys.keys);
        }
    }
    if keys.is_reversed {
        reverse(states);
    }
}

/// Between the standard's order of bytes and the other one.
#[inline(always)]
fn reverse<B: Copy, const G: usize>(states: &mut [State<B>; G]) {
    for [x0, x1, x2, x3, x4, x5, x6, x7] in states {
        [*x0, *x1, *x2, *x3, *x4, *x5, *x6, *x7] = [*x7, *x6, *x5, *x4, *x3, *x2, *x1, *x0];
    }
}

/// The keys, every byte four times, for a direction.
#[derive(Debug)]
pub struct DirectedKeys {
    pub(crate) keys: Secret<Keys<u32>>,
    pub(crate) direction: Direction,
    /// Whether bytes of blocks are in the reverse of the standard's order.
    pub(crate) is_reversed: bool,
}

impl DirectedKeys {
    #[inline(always)]
    fn new<O: ByteOrder>(schedule: &Subkeys<O>, direction: Direction) -> Self {
        Self { keys: schedule.fours(), direction, is_reversed: O::IS_REVERSED }
    }
}

impl<O: ByteOrder> Form for Bytes<O> {
    type Schedule = Subkeys<O>;
    type Core = ByteRounds;
    type Keys = DirectedKeys;

    #[inline(always)]
    fn keys(schedule: &Subkeys<O>, direction: Direction) -> DirectedKeys {
        DirectedKeys::new(schedule, direction)
    }

    #[inline(always)]
    fn view(keys: &DirectedKeys) -> &DirectedKeys {
        keys
    }
}

/// The rounds of [`Bytes`], whatever the order of bytes.
#[derive(Debug)]
pub enum ByteRounds {}

impl Core for ByteRounds {
    type BlockSize = U8;
    type Keys = DirectedKeys;
}

impl<I: ByteLanes> Rounds<I> for ByteRounds {
    type State = ByteState<I::Bytes, 8>;

    /// Two where there are 32 registers.
    const GROUPS: usize = if I::Lanes::USIZE == 64 { 2 } else { 1 };

    #[inline(always)]
    fn run<const G: usize>(keys: &DirectedKeys, isa: I, states: &mut [Self::State; G]) {
        let mut bytes = [states[0].0; G];
        for (bytes, state) in bytes.iter_mut().zip(states.iter()) {
            *bytes = state.0;
        }
        run::<I, G>(isa, keys, &mut bytes);
        for (bytes, state) in bytes.iter().zip(states) {
            state.0 = *bytes;
        }
    }
}

impl<O: ByteOrder, I: ByteLanes> RunsOn<I> for Bytes<O> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        // What rotates at once runs a batch in the time of a block.
        let is_one = blocks == 1 && !I::Bytes::ROTATIONS_AT_ONCE;
        let is_word = blocks <= GAPPED && (GAPPED..=WIDE).contains(&I::Lanes::USIZE);
        (is_one || is_word).then_some(at_once(blocks))
    }

    fn run_short(
        schedule: &Subkeys<O>,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U8>>,
    ) {
        run_few(schedule, direction, blocks);
    }

    fn run_chains(schedule: &Subkeys<O>, isa: I, chains: &mut Chains<'_, '_, '_>) -> bool {
        chains_in_lanes::<Self, I>(schedule, isa, chains)
    }
}

/// Lanes of a word with gaps.
const GAPPED: usize = <Portable<Gapped<u64>> as ByteLanes>::Lanes::USIZE;

/// Lanes up to which a batch of registers costs more than a word with gaps.
const WIDE: usize = 16;

/// Blocks up to which words with gaps cost less than a batch that is sliced by bits.
const NARROW: usize = 4 * GAPPED;

/// Blocks that [`run_few`] runs at once.
const fn at_once(blocks: usize) -> usize {
    if blocks == 1 { 1 } else { GAPPED }
}

/// Runs any number of blocks without the price of a wide batch: constant-time, that is, in a time
/// that depends on their number alone.
fn run_few<O: ByteOrder>(
    schedule: &Subkeys<O>,
    direction: Direction,
    blocks: InOutBuf<'_, '_, Array<u8, U8>>,
) {
    if at_once(blocks.len()) == 1 {
        padded::<Bytes<O>, _>(schedule, Portable::<u8>::new(), direction, blocks);
    } else {
        padded::<Bytes<O>, _>(schedule, Portable::<Gapped<u64>>::new(), direction, blocks);
    }
}

impl<O: ByteOrder> Form for Bits<O> {
    type Schedule = Subkeys<O>;
    type Core = BitRounds;
    type Keys = DirectedKeys;

    #[inline(always)]
    fn keys(schedule: &Subkeys<O>, direction: Direction) -> DirectedKeys {
        DirectedKeys::new(schedule, direction)
    }

    #[inline(always)]
    fn view(keys: &DirectedKeys) -> &DirectedKeys {
        keys
    }
}

/// The rounds of [`Bits`], whatever the order of bytes.
#[derive(Debug)]
pub enum BitRounds {}

impl Core for BitRounds {
    type BlockSize = U8;
    type Keys = DirectedKeys;
}

impl<I: BitLanes> Rounds<I> for BitRounds {
    type State = BitState<I::Word, 64>;

    #[inline(always)]
    fn run<const G: usize>(keys: &DirectedKeys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            for bytes in state.0.as_chunks_mut::<8>().0.as_chunks_mut::<8>().0 {
                run::<_, 1>(InPlanes(isa), keys, core::array::from_mut(bytes));
            }
        }
    }
}

impl<O: ByteOrder, I: BitLanes> RunsOn<I> for Bits<O> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        (blocks <= NARROW).then_some(at_once(blocks))
    }

    fn run_short(
        schedule: &Subkeys<O>,
        _: I,
        direction: Direction,
        blocks: InOutBuf<'_, '_, Array<u8, U8>>,
    ) {
        run_few(schedule, direction, blocks);
    }
}
