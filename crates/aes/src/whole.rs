//! AES on whole blocks in registers, by the CPU's AES instructions.
//!
//! Eight registers run side by side, since a round takes as long as eight take to begin.
//! Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use core::marker::PhantomData;

use cipher::{
    Array, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockSizeUser, InOut, InOutBuf, ParBlocks, ParBlocksSizeUser,
    array::ArraySize, consts::U16, typenum::Unsigned,
};
use lanecrypt_core::{
    BlockInput, BlockPass, Chains, Clear, Direction, GcmPass, Implementation, Operation, Secret,
    backend::Packet,
};
use lanecrypt_slicing::{AesBlocks, BodyOver, Carryless, Core, Form, Rounds, RunsOn, WholeBlocks};

use crate::{
    chains::KeyedChains,
    gcm::Gcm,
    modes::{ChainDecrypt, Ctr, Xts, counts_alike},
    schedule::{AesSchedule, Block, MAX_ROUND_KEYS},
};

type Blocks<'inp, 'out> = InOutBuf<'inp, 'out, Array<u8, U16>>;

/// AES on whole blocks, with key schedule `S`.
#[derive(Debug)]
pub struct Whole<S>(PhantomData<fn() -> S>);

/// The round keys of a direction, which for decryption are those of the equivalent inverse cipher.
#[derive(Clone)]
pub struct DirectedKeys {
    /// As many as the key length has.
    keys: [Block; MAX_ROUND_KEYS],
    count: usize,
    direction: Direction,
}

impl DirectedKeys {
    #[inline(always)]
    fn used(&self) -> &[Block] {
        &self.keys[..self.count]
    }
}

impl Clear for DirectedKeys {
    fn clear(&mut self) {
        self.keys.clear();
    }
}

impl core::fmt::Debug for DirectedKeys {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DirectedKeys").finish_non_exhaustive()
    }
}

// ANCHOR: rounds
/// Runs registers of blocks side by side.
#[inline(always)]
pub(crate) fn rounds<I: AesBlocks, const G: usize>(
    isa: I,
    keys: &[Block],
    direction: Direction,
    states: &mut [I::Blocks; G],
) {
    let [first, middle @ .., last] = keys else {
        return;
    };
    let key = isa.broadcast(first);
    for state in states.iter_mut() {
        *state ^= key;
    }
    match direction {
        Direction::Encrypt => {
            for key in middle {
                let key = isa.broadcast(key);
                for state in states.iter_mut() {
                    *state = isa.encrypt_round(*state, key);
                }
            }
            let key = isa.broadcast(last);
            for state in states.iter_mut() {
                *state = isa.encrypt_last(*state, key);
            }
        }
        Direction::Decrypt => {
            for key in middle {
                let key = isa.broadcast(key);
                for state in states.iter_mut() {
                    *state = isa.decrypt_round(*state, key);
                }
            }
            let key = isa.broadcast(last);
            for state in states.iter_mut() {
                *state = isa.decrypt_last(*state, key);
            }
        }
    }
}
// ANCHOR_END: rounds

impl<S: AesSchedule> Form for Whole<S> {
    type Schedule = S;
    type Core = WholeRounds;
    type Keys = Secret<DirectedKeys>;

    #[inline(always)]
    fn keys(schedule: &S, direction: Direction) -> Self::Keys {
        let keys = schedule.of(direction);
        let count = keys.len();
        let room = [[0; 16]; MAX_ROUND_KEYS];
        let mut directed = Secret::new(DirectedKeys { keys: room, count, direction });
        directed.keys[..count].copy_from_slice(&keys);
        directed
    }

    #[inline(always)]
    fn view(keys: &Self::Keys) -> &DirectedKeys {
        keys
    }
}

/// Registers side by side.
pub(crate) const SIDE_BY_SIDE: usize = 8;

/// The rounds of [`Whole`], whatever the key size.
#[derive(Debug)]
pub enum WholeRounds {}

impl Core for WholeRounds {
    type BlockSize = U16;
    type Keys = DirectedKeys;
}

impl<I: Carryless> Rounds<I> for WholeRounds {
    type State = WholeBlocks<I::Blocks>;

    const GROUPS: usize = SIDE_BY_SIDE;

    #[inline(always)]
    fn run<const G: usize>(keys: &DirectedKeys, isa: I, states: &mut [Self::State; G]) {
        let mut registers = [states[0].0; G];
        for (register, state) in registers.iter_mut().zip(states.iter()) {
            *register = state.0;
        }
        rounds(isa, keys.used(), keys.direction, &mut registers);
        for (register, state) in registers.iter().zip(states) {
            state.0 = *register;
        }
    }
}

impl<S: AesSchedule, I: Carryless> RunsOn<I> for Whole<S> {
    fn short_at_once(blocks: usize) -> Option<usize> {
        Some(if blocks < Packet::USIZE { 1 } else { Packet::USIZE })
    }

    fn run_whole(
        schedule: &S,
        isa: I,
        operation: &Operation<'_>,
        data: &mut InOutBuf<'_, '_, u8>,
    ) -> bool {
        let direction = match *operation {
            Operation::Cbc(Direction::Decrypt, _) => Direction::Decrypt,
            Operation::Xts(direction, _) => direction,
            _ => Direction::Encrypt,
        };
        let keys = schedule.of(direction);
        let keys = &**keys;
        match *operation {
            Operation::Ctr(first) if counts_alike(first, data.len()) => {
                isa.run(Ctr::new(keys, first, false, data));
            }
            Operation::Ctr32(first) => isa.run(Ctr::new(keys, first, false, data)),
            Operation::Ctr32Le(first) => isa.run(Ctr::new(keys, first, true, data)),
            Operation::Cbc(Direction::Decrypt, iv) | Operation::Cfb(Direction::Decrypt, iv) => {
                // A pointer alone, where a slice would be copied in one piece right after its parts were stored.
                let Ok(iv) = iv.try_into() else { return false };
                isa.run(ChainDecrypt { data, keys, direction, iv });
            }
            Operation::Xts(_, mask) => isa.run(Xts { data, keys, direction, mask }),
            _ => return false,
        }
        true
    }

    fn gcm(schedule: &S, isa: I, pass: &mut GcmPass<'_>, data: &mut InOutBuf<'_, '_, u8>) -> bool {
        isa.run(Gcm { data, pass, keys: &schedule.of(Direction::Encrypt) });
        true
    }

    fn chains_at_once() -> usize {
        SIDE_BY_SIDE * I::Lanes::USIZE
    }

    fn run_chains(schedule: &S, isa: I, chains: &mut Chains<'_, '_, '_>) -> bool {
        isa.run(KeyedChains { chains: chains.reborrow(), keys: &schedule.of(Direction::Encrypt) });
        true
    }

    fn run_short(schedule: &S, isa: I, direction: Direction, blocks: Blocks<'_, '_>) {
        isa.run_over(Short { keys: &**schedule.of(direction), direction }, blocks);
    }

    #[inline(always)]
    fn run_block(
        schedule: &S,
        isa: I,
        direction: Direction,
        block: &mut BlockPass<'_, '_, '_, U16>,
    ) -> bool {
        isa.run_over(Short { keys: &**schedule.of(direction), direction }, block);
        true
    }

    #[inline(always)]
    fn encrypt_with(
        _: &impl Implementation<BlockSize = U16>,
        schedule: &S,
        isa: I,
        mode: &mut Option<impl BlockCipherEncClosure<BlockSize = U16>>,
    ) {
        isa.run_over(Encrypts { keys: &**schedule.of(Direction::Encrypt) }, mode);
    }

    #[inline(always)]
    fn decrypt_with(
        _: &impl Implementation<BlockSize = U16>,
        schedule: &S,
        isa: I,
        mode: &mut Option<impl BlockCipherDecClosure<BlockSize = U16>>,
    ) {
        isa.run_over(Decrypts { keys: &**schedule.of(Direction::Decrypt) }, mode);
    }
}

/// A mode of RustCrypto's that encrypts, compiled together with this cipher: between blocks there are no calls.
struct Encrypts<'a, N: ArraySize> {
    keys: &'a Array<Block, N>,
}

impl<I: AesBlocks, N: ArraySize, M> BodyOver<I, &mut Option<M>> for Encrypts<'_, N>
where
    M: BlockCipherEncClosure<BlockSize = U16>,
{
    #[inline(always)]
    fn run_over(self, isa: I, mode: &mut Option<M>) {
        if let Some(mode) = mode.take() {
            mode.call(&Backend { isa, keys: self.keys });
        }
    }
}

/// The same of a mode that decrypts.
struct Decrypts<'a, N: ArraySize> {
    keys: &'a Array<Block, N>,
}

impl<I: AesBlocks, N: ArraySize, M> BodyOver<I, &mut Option<M>> for Decrypts<'_, N>
where
    M: BlockCipherDecClosure<BlockSize = U16>,
{
    #[inline(always)]
    fn run_over(self, isa: I, mode: &mut Option<M>) {
        if let Some(mode) = mode.take() {
            mode.call(&Backend { isa, keys: self.keys });
        }
    }
}

/// What such a mode is given: the round keys of the direction that it wants.
struct Backend<'a, I, N: ArraySize> {
    isa: I,
    keys: &'a Array<Block, N>,
}

impl<I: AesBlocks, N: ArraySize> Backend<'_, I, N> {
    #[inline(always)]
    fn one(&self, direction: Direction, mut block: InOut<'_, '_, Array<u8, U16>>) {
        let isa = self.isa.single();
        let mut states = [isa.load(block.get_in())];
        rounds(isa, self.keys, direction, &mut states);
        isa.store(states[0], block.get_out());
    }

    /// Registers side by side hold as many blocks as a mode hands over at once.
    #[inline(always)]
    fn several(&self, direction: Direction, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        let blocks = blocks.into_buf();
        match I::Lanes::USIZE {
            1 => run_registers::<I, 8>(self.isa, self.keys, direction, blocks),
            2 => run_registers::<I, 4>(self.isa, self.keys, direction, blocks),
            _ => run_registers::<I, 2>(self.isa, self.keys, direction, blocks),
        };
    }
}

impl<I, N: ArraySize> BlockSizeUser for Backend<'_, I, N> {
    type BlockSize = U16;
}

impl<I, N: ArraySize> ParBlocksSizeUser for Backend<'_, I, N> {
    type ParBlocksSize = Packet;
}

impl<I: AesBlocks, N: ArraySize> BlockCipherEncBackend for Backend<'_, I, N> {
    #[inline(always)]
    fn encrypt_block(&self, block: InOut<'_, '_, Array<u8, U16>>) {
        self.one(Direction::Encrypt, block);
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.several(Direction::Encrypt, blocks);
    }
}

impl<I: AesBlocks, N: ArraySize> BlockCipherDecBackend for Backend<'_, I, N> {
    #[inline(always)]
    fn decrypt_block(&self, block: InOut<'_, '_, Array<u8, U16>>) {
        self.one(Direction::Decrypt, block);
    }

    #[inline(always)]
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.several(Direction::Decrypt, blocks);
    }
}

/// Fewer blocks than a batch.
struct Short<'a, N: ArraySize> {
    keys: &'a Array<Block, N>,
    direction: Direction,
}

impl<I: AesBlocks, N: ArraySize> BodyOver<I, Blocks<'_, '_>> for Short<'_, N> {
    #[inline(always)]
    fn run_over(self, isa: I, blocks: Blocks<'_, '_>) {
        let Self { keys, direction } = self;
        let backend = Backend { isa, keys };
        let (several, rest) = blocks.into_chunks();
        for blocks in several {
            backend.several(direction, blocks);
        }
        for block in rest {
            backend.one(direction, block);
        }
    }
}

impl<I: AesBlocks, N: ArraySize> BodyOver<I, &mut BlockPass<'_, '_, '_, U16>> for Short<'_, N> {
    #[inline(always)]
    fn run_over(self, isa: I, block: &mut BlockPass<'_, '_, '_, U16>) {
        let counter = block.counter();
        let (isa, mut data) = (isa.single(), block.data.reborrow());
        let input = isa.load(data.get_in());
        let (mut states, mut sum) = match block.input {
            BlockInput::Data => ([input], isa.broadcast(&[0; 16])),
            BlockInput::Register(register) => ([isa.load(register)], input),
            BlockInput::Counter => ([isa.count(counter)], input),
        };
        if let Some(before) = block.before {
            states[0] ^= isa.load(before);
        }
        if let Some(after) = block.after {
            sum ^= isa.load(after);
        }
        rounds(isa, self.keys, self.direction, &mut states);
        isa.store(states[0] ^ sum, data.get_out());
    }
}

/// Runs as many blocks as fill `G` registers, over and over, and returns the rest.
#[inline(always)]
fn run_registers<'inp, 'out, I: AesBlocks, const G: usize>(
    isa: I,
    keys: &[Block],
    direction: Direction,
    mut blocks: Blocks<'inp, 'out>,
) -> Blocks<'inp, 'out> {
    let (lanes, bytes) = (I::Lanes::USIZE, 16 * I::Lanes::USIZE);
    while blocks.len() >= G * lanes {
        let (mut piece, rest) = blocks.split_at(G * lanes);
        let mut states = [isa.broadcast(&[0; 16]); G];
        for (state, blocks) in states.iter_mut().zip(input(&piece).chunks_exact(bytes)) {
            *state = isa.load(blocks);
        }
        rounds(isa, keys, direction, &mut states);
        for (state, blocks) in states.iter().zip(output(&mut piece).chunks_exact_mut(bytes)) {
            isa.store(*state, blocks);
        }
        blocks = rest;
    }
    blocks
}

#[inline(always)]
fn input<'a>(blocks: &'a Blocks<'_, '_>) -> &'a [u8] {
    Array::slice_as_flattened(blocks.get_in())
}

#[inline(always)]
fn output<'a>(blocks: &'a mut Blocks<'_, '_>) -> &'a mut [u8] {
    Array::slice_as_flattened_mut(blocks.get_out())
}
