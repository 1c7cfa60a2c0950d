//! GCM in one pass on whole blocks in registers: the key stream, and GHASH of the ciphertext between its rounds.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{InOutBuf, typenum::Unsigned};
use lanecrypt_core::{Direction, GcmPass, HashPowers, modes};
use lanecrypt_slicing::{AesBlocks, Body, Carryless, Hashing};

use crate::{
    modes::{Counters, in_fewest},
    schedule::Block,
    whole::{SIDE_BY_SIDE, rounds},
};

/// A message, or blocks within one, under round keys of encryption.
#[repr(C)] // `ct` knows where the data and the pass are
pub(crate) struct Gcm<'a, 'p, 'inp, 'out> {
    pub(crate) data: &'a mut InOutBuf<'inp, 'out, u8>,
    pub(crate) pass: &'a mut GcmPass<'p>,
    pub(crate) keys: &'a [Block],
}

impl<I: Carryless> Body<I> for Gcm<'_, '_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { data, pass: GcmPass { direction, counter, powers, hash, whole }, keys } = self;
        let data = data.reborrow();
        let Some(three) = in_three(keys) else { unreachable!("AES has ten rounds at least") };
        let end = whole.map(|aad| modes::gcm::lengths([aad.len() as u64, data.len() as u64]));
        let mut pass = Pass {
            keys: three,
            powers,
            counters: Counters::from(isa, isa.broadcast(&modes::gcm::counter(counter, 0)), false),
            hashing: Hashing::new(isa, hash),
            ciphertext: [isa.broadcast(&[0; 16]); SIDE_BY_SIDE],
        };
        pass.hashing.absorb(isa, powers, whole.unwrap_or_default());
        let direction = *direction;
        let rest = match direction {
            Direction::Encrypt => pass.batches::<true>(isa, data),
            Direction::Decrypt => pass.batches::<false>(isa, data),
        };
        let one = isa.one();
        let mut mask = [one.broadcast(&[0; 16])];
        if whole.is_some() {
            mask = [one.load(counter)];
            rounds(one, keys, Direction::Encrypt, &mut mask);
        }
        let bytes = 16 * I::Lanes::USIZE;
        if let (true, Some(end)) = (rest.is_empty(), end) {
            pass.end(isa, true, end);
        }
        in_fewest!(rest.len(), bytes, |G| pass.rest::<G>(isa, keys, direction, rest, end));
        one.store(pass.hashing.block(isa) ^ mask[0], *hash);
    }
}

/// The first round key; of those between, as many as a batch has registers after the others; the last.
type InThree<'a> = (&'a Block, (&'a [Block], &'a [Block; SIDE_BY_SIDE]), &'a Block);

#[inline(always)]
fn in_three(keys: &[Block]) -> Option<InThree<'_>> {
    let [first, middle @ .., last] = keys else {
        return None;
    };
    Some((first, middle.split_last_chunk()?, last))
}

/// What goes from one batch to the next.
struct Pass<'a, I: Carryless> {
    keys: InThree<'a>,
    powers: &'a HashPowers,
    counters: Counters<I::Blocks>,
    hashing: Hashing<I>,
    /// To be hashed in the next batch.
    ciphertext: [I::Blocks; SIDE_BY_SIDE],
}

impl<I: Carryless> Pass<'_, I> {
    /// Runs whole batches, each of which hashes the ciphertext of the one before it, and returns the rest.
    #[inline(always)]
    fn batches<'inp, 'out, const ENCRYPTS: bool>(
        &mut self,
        isa: I,
        mut data: InOutBuf<'inp, 'out, u8>,
    ) -> InOutBuf<'inp, 'out, u8> {
        let batch = SIDE_BY_SIDE * 16 * I::Lanes::USIZE;
        if data.len() < batch {
            return data;
        }
        let (piece, mut rest) = data.split_at(batch);
        self.batch::<ENCRYPTS, false>(isa, piece);
        while rest.len() >= batch {
            (data, rest) = rest.split_at(batch);
            self.batch::<ENCRYPTS, true>(isa, data);
        }
        for i in (0..SIDE_BY_SIDE).rev() {
            self.hash_register(isa, i);
        }
        self.hashing.reduce(isa);
        rest
    }

    #[inline(always)]
    fn batch<const ENCRYPTS: bool, const HASHES: bool>(
        &mut self,
        isa: I,
        mut piece: InOutBuf<'_, '_, u8>,
    ) {
        let bytes = 16 * I::Lanes::USIZE;
        let mut outputs = self.keystream::<HASHES>(isa);
        for (output, blocks) in outputs.iter_mut().zip(piece.get_in().chunks_exact(bytes)) {
            *output ^= isa.load(blocks);
        }
        if ENCRYPTS {
            self.ciphertext = outputs;
        } else {
            let blocks = piece.get_in().chunks_exact(bytes);
            for (register, blocks) in self.ciphertext.iter_mut().zip(blocks) {
                *register = isa.load(blocks);
            }
        }
        for (output, blocks) in outputs.iter().zip(piece.get_out().chunks_exact_mut(bytes)) {
            isa.store(*output, blocks);
        }
    }

    // ANCHOR: keystream
    /// The key stream of a batch. Meanwhile the ciphertext at hand is hashed, a register in each round: AES and
    /// products are instructions of different ports.
    #[inline(always)]
    fn keystream<const HASHES: bool>(&mut self, isa: I) -> [I::Blocks; SIDE_BY_SIDE] {
        let (first, (before, between), last) = self.keys;
        let mut states = [isa.broadcast(first); SIDE_BY_SIDE];
        for state in &mut states {
            *state ^= self.counters.take(isa);
        }
        for key in before {
            let key = isa.broadcast(key);
            for state in &mut states {
                *state = isa.encrypt_round(*state, key);
            }
        }
        // After the rounds of which the number differs: the compiler would move what comes before these to the
        // next batch.
        for (key, i) in between.iter().zip((0..SIDE_BY_SIDE).rev()) {
            let key = isa.broadcast(key);
            for state in &mut states {
                *state = isa.encrypt_round(*state, key);
            }
            if HASHES {
                self.hash_register(isa, i);
            }
        }
        if HASHES {
            self.hashing.reduce(isa);
        }
        let key = isa.broadcast(last);
        for state in &mut states {
            *state = isa.encrypt_last(*state, key);
        }
        states
    }
    // ANCHOR_END: keystream

    /// Hashes register `i` of a batch.
    #[inline(always)]
    fn hash_register(&mut self, isa: I, i: usize) {
        let left = (SIDE_BY_SIDE - i) * I::Lanes::USIZE;
        self.hashing.add(isa, self.powers, left, i == 0, self.ciphertext[i]);
    }

    /// Runs what fills no batch, at most `G` registers and at least a byte, and hashes it and the block that ends a
    /// message.
    #[inline(always)]
    fn rest<const G: usize>(
        &mut self,
        isa: I,
        keys: &[Block],
        direction: Direction,
        mut data: InOutBuf<'_, '_, u8>,
        end: Option<Block>,
    ) {
        let (lanes, bytes) = (I::Lanes::USIZE, 16 * I::Lanes::USIZE);
        let keystream: [I::Blocks; G] = self.counters.keystream(isa, keys);
        let blocks = data.len().div_ceil(16);
        // There are powers for as many blocks as fill a batch.
        let ends = end.is_some() && blocks < SIDE_BY_SIDE * lanes;
        let blocks = blocks + usize::from(ends);
        for (i, keystream) in keystream.into_iter().enumerate() {
            if data.is_empty() {
                break;
            }
            let length = bytes.min(data.len());
            let (mut part, others) = data.split_at(length);
            data = others;
            let input = isa.load_part(part.get_in());
            let output = keystream ^ input;
            isa.store_part(output, part.get_out());
            let ciphertext = match direction {
                Direction::Encrypt => output & first_bytes(isa, length),
                Direction::Decrypt => input,
            };
            self.hashing.add(isa, self.powers, blocks - lanes * i, i == 0, ciphertext);
        }
        if !ends {
            self.hashing.reduce(isa);
        }
        if let Some(end) = end {
            self.end(isa, !ends, end);
        }
    }

    /// Hashes the block that ends a message, and reduces.
    #[inline(always)]
    fn end(&mut self, isa: I, is_first: bool, block: Block) {
        let block = isa.widen(isa.one().load(&block));
        self.hashing.add(isa, self.powers, 1, is_first, block);
        self.hashing.reduce(isa);
    }
}

/// As many bytes of ones, and zeros after them.
#[inline(always)]
fn first_bytes<I: AesBlocks>(isa: I, length: usize) -> I::Blocks {
    const WIDEST: usize = 64;
    const ONES_AND_ZEROS: [u8; 2 * WIDEST] = {
        let mut bytes = [0; 2 * WIDEST];
        let mut i = 0;
        while i < WIDEST {
            bytes[i] = 0xff;
            i += 1;
        }
        bytes
    };
    isa.load(&ONES_AND_ZEROS[WIDEST - length..][..16 * I::Lanes::USIZE])
}
