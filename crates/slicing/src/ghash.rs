//! GHASH, the hash of GCM (SP 800-38D, 6.4), by instructions for products of polynomials over GF(2).
//!
//! The standard writes the coefficient of 1 leftmost. A block whose bytes are reversed is a 128-bit
//! number whose top bit is that coefficient, and products of such numbers are products of the
//! polynomials but for one place, which the key makes up for: it is multiplied by x once. What is
//! left is reduction modulo x^128 + x^127 + x^126 + x^121 + 1, from below, two times 64 bits
//! (Gueron and Kounavis, "Intel Carry-Less Multiplication Instruction", and RFC 8452, appendix A).
//!
//! Constant-time: no branch and no address depends on key or data.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::{consts::U1, typenum::Unsigned};
use lanecrypt_core::{HashPowers, Secret};

use crate::{AesBlocks, Body};

/// Registers that are multiplied before they are reduced; powers of the key are kept for as many of the
/// widest.
const REGISTERS: usize = 8;
/// x^127 + x^126 + x^121, the upper half of the modulus: what its lowest term becomes.
const MODULUS: u128 = 0xc2 << 120;

pub(crate) type Block = [u8; 16];

/// Blocks up to which no powers are made for a string that comes before they are kept.
const FEWEST: usize = 2;

/// Powers that are kept.
pub(crate) const POWERS: usize = size_of::<HashPowers>() / size_of::<Block>();

/// An instruction set that multiplies polynomials over GF(2), on registers of blocks as
/// [`AesBlocks`] has them; a block is two halves of 64 bits, the lower one first.
pub trait Carryless: AesBlocks {
    /// The same instructions on single blocks.
    type One: Carryless<Lanes = U1, One = Self::One>;

    /// The token of the same instructions on single blocks.
    fn one(self) -> Self::One;

    /// A block in the first lane, and zeros.
    fn widen(self, block: <Self::One as AesBlocks>::Blocks) -> Self::Blocks;

    /// The sum of all lanes.
    fn sum(self, blocks: Self::Blocks) -> <Self::One as AesBlocks>::Blocks;

    /// The bytes of every block in reverse order.
    fn reverse(self, blocks: Self::Blocks) -> Self::Blocks;

    /// The halves of every block exchanged.
    fn exchange(self, blocks: Self::Blocks) -> Self::Blocks;

    /// The lower half of every block in the place of the upper, and zeros.
    fn low_up(self, blocks: Self::Blocks) -> Self::Blocks;

    /// The upper half of every block in the place of the lower, and zeros.
    fn high_down(self, blocks: Self::Blocks) -> Self::Blocks;

    /// The product of a half of every block of `a` and one of `b`: of the upper one of `a` where
    /// bit 0 of `HALVES` is set, and of `b` where bit 4 is.
    fn multiply<const HALVES: i32>(self, a: Self::Blocks, b: Self::Blocks) -> Self::Blocks;
}

/// A sum of products of 256 bits, not reduced.
#[derive(Clone, Copy)]
struct Products<I: Carryless> {
    low: I::Blocks,
    middle: I::Blocks,
    high: I::Blocks,
}

impl<I: Carryless> Products<I> {
    #[inline(always)]
    fn none(isa: I) -> Self {
        let zero = isa.broadcast(&[0; 16]);
        Self { low: zero, middle: zero, high: zero }
    }

    #[inline(always)]
    fn new(isa: I, a: I::Blocks, b: I::Blocks) -> Self {
        Self {
            low: isa.multiply::<0x00>(a, b),
            middle: isa.multiply::<0x01>(a, b) ^ isa.multiply::<0x10>(a, b),
            high: isa.multiply::<0x11>(a, b),
        }
    }

    #[inline(always)]
    fn add(&mut self, other: Self) {
        self.low ^= other.low;
        self.middle ^= other.middle;
        self.high ^= other.high;
    }

    /// The lower and the upper 128 bits.
    #[inline(always)]
    fn halves(self, isa: I) -> [I::Blocks; 2] {
        [self.low ^ isa.low_up(self.middle), self.high ^ isa.high_down(self.middle)]
    }

    /// The same of the sum of all lanes. Without `map` of an array, which may stay a function, that has no instructions
    /// but those of every CPU.
    #[inline(always)]
    fn summed_halves(self, isa: I) -> [<I::One as AesBlocks>::Blocks; 2] {
        let [low, high] = self.halves(isa);
        [isa.sum(low), isa.sum(high)]
    }
}

/// Reduces the numbers of 256 bits whose halves these are, lane by lane.
#[inline(always)]
fn reduce<I: Carryless>(isa: I, [mut low, high]: [I::Blocks; 2]) -> I::Blocks {
    let modulus = isa.broadcast(&MODULUS.to_le_bytes());
    for _ in 0..2 {
        // The lowest half times the modulus makes that half zero; the rest of it is a half up.
        low = isa.exchange(low) ^ isa.multiply::<0x10>(low, modulus);
    }
    low ^ high
}

/// A hash on its way, in groups of blocks: the first block and the hash so far times as high a power of the key
/// as there are blocks in the group, the next times the one below, and so on down to the key itself. The
/// sum of a group is reduced once.
///
/// A group comes a register at a time, so that other work goes between them, and in any order: the first
/// waits for the hash so far.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "it holds secrets")]
pub struct Hashing<I: Carryless> {
    sum: <I::One as AesBlocks>::Blocks,
    products: Products<I>,
}

impl<I: Carryless> Hashing<I> {
    /// On the hash so far.
    #[inline(always)]
    pub fn new(isa: I, hash: &[u8; 16]) -> Self {
        let one = isa.one();
        Self { sum: one.reverse(one.load(hash)), products: Products::none(isa) }
    }

    /// Adds a register, of which the first block is followed by `left - 1` others in its group; what the register
    /// has more than that counts for nothing. `is_first` says that it is the group's first.
    ///
    /// # Panics
    /// Where there are fewer powers than `left`.
    #[inline(always)]
    pub fn add(
        &mut self,
        isa: I,
        powers: &HashPowers,
        left: usize,
        is_first: bool,
        blocks: I::Blocks,
    ) {
        self.add_reversed(isa, powers, left, is_first, isa.reverse(blocks));
    }

    /// [`add`](Self::add) of blocks whose bytes are in reverse order.
    #[inline(always)]
    fn add_reversed(
        &mut self,
        isa: I,
        powers: &HashPowers,
        left: usize,
        is_first: bool,
        blocks: I::Blocks,
    ) {
        let mut factor = blocks;
        if is_first {
            factor ^= isa.widen(self.sum);
        }
        let powers = &powers[POWERS - left..];
        let power = match powers.get(..I::Lanes::USIZE) {
            Some(powers) => isa.load(powers.as_flattened()),
            None => isa.load_part(powers.as_flattened()), // times zero, whatever is there
        };
        self.products.add(Products::new(isa, factor, power));
    }

    /// Ends a group.
    #[inline(always)]
    pub fn reduce(&mut self, isa: I) {
        self.sum = reduce(isa.one(), self.products.summed_halves(isa));
        self.products = Products::none(isa);
    }

    /// Adds a string, filled up with zeros to whole blocks.
    #[inline(always)]
    pub fn absorb(&mut self, isa: I, powers: &HashPowers, bytes: &[u8]) {
        self.absorb_as::<false>(isa, powers, bytes);
    }

    /// [`absorb`](Self::absorb) of blocks whose bytes are in this order.
    #[inline(always)]
    fn absorb_as<const REVERSED: bool>(&mut self, isa: I, powers: &HashPowers, bytes: &[u8]) {
        let (lanes, mut rest) = (I::Lanes::USIZE, bytes);
        let group = REGISTERS * 16 * lanes;
        if bytes.len() >= group {
            // Made where they are cleared.
            let mut sums = Secret::new([[0; 16]; POWERS]);
            sum_halves(isa, powers, &mut sums);
            while let Some((blocks, others)) = rest.split_at_checked(group) {
                self.absorb_group::<REVERSED>(isa, powers, &sums, blocks);
                rest = others;
            }
        }
        if rest.is_empty() {
            return;
        }
        let blocks = rest.len().div_ceil(16);
        for (i, part) in rest.chunks(16 * lanes).enumerate() {
            let register = reversed::<I, REVERSED>(isa, isa.load_part(part));
            self.add_reversed(isa, powers, blocks - lanes * i, i == 0, register);
        }
        self.reduce(isa);
    }

    /// Adds as many blocks as there are powers for, by three products each (Karatsuba). None of them waits for the
    /// hash so far: that is multiplied by itself, so that from one group to the next there is one product, and
    /// one reduction.
    #[inline(always)]
    fn absorb_group<const REVERSED: bool>(
        &mut self,
        isa: I,
        powers: &HashPowers,
        sums: &HashPowers,
        group: &[u8],
    ) {
        let (lanes, one) = (I::Lanes::USIZE, isa.one());
        let first = POWERS - REGISTERS * lanes;
        let mut products = Products::none(isa);
        for i in 0..REGISTERS {
            let blocks = isa.load(&group[16 * lanes * i..][..16 * lanes]);
            let blocks = reversed::<I, REVERSED>(isa, blocks);
            let sum = blocks ^ isa.exchange(blocks);
            let at = first + lanes * i;
            let power = isa.load(powers[at..at + lanes].as_flattened());
            let sum_of_power = isa.load(sums[at..at + lanes].as_flattened());
            products.add(Products {
                low: isa.multiply::<0x00>(blocks, power),
                middle: isa.multiply::<0x00>(sum, sum_of_power),
                high: isa.multiply::<0x11>(blocks, power),
            });
        }
        products.middle ^= products.low ^ products.high;
        let mut halves = products.summed_halves(isa);
        let carried = Products::new(one, self.sum, one.load(&powers[first])).halves(one);
        for (half, carried) in halves.iter_mut().zip(carried) {
            *half ^= carried;
        }
        self.sum = reduce(one, halves);
    }

    /// [`absorb_as`](Self::absorb_as) by a key times x, and the powers for a string of this length or a longer one.
    #[inline(always)]
    fn absorb_by_key<const REVERSED: bool>(
        &mut self,
        isa: I,
        key: &Block,
        powers: &HashPowers,
        bytes: &[u8],
    ) {
        if bytes.len() > 16 * FEWEST {
            return self.absorb_as::<REVERSED>(isa, powers, bytes);
        }
        // One after the other: powers would take longer than the products.
        let one = isa.one();
        let key = one.load(key);
        for part in bytes.chunks(16) {
            self.sum ^= reversed::<_, REVERSED>(one, one.load_part(part));
            self.sum = product(one, self.sum, key);
        }
    }

    /// The hash, as a block.
    #[inline(always)]
    pub fn block(self, isa: I) -> <I::One as AesBlocks>::Blocks {
        isa.one().reverse(self.sum)
    }
}

/// Blocks with their bytes in reverse order, in which they may be already.
#[inline(always)]
fn reversed<I: Carryless, const ALREADY: bool>(isa: I, blocks: I::Blocks) -> I::Blocks {
    if ALREADY { blocks } else { isa.reverse(blocks) }
}

/// Adds a string to a hash; `REVERSED` is the order of the bytes of its blocks.
pub(crate) struct Absorb<'a, const REVERSED: bool> {
    pub(crate) powers: &'a HashPowers,
    pub(crate) hash: &'a mut Block,
    pub(crate) bytes: &'a [u8],
}

impl<I: Carryless, const REVERSED: bool> Body<I> for Absorb<'_, REVERSED> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { powers, hash, bytes } = self;
        let mut hashing = Hashing::new(isa, hash);
        hashing.absorb_as::<REVERSED>(isa, powers, bytes);
        isa.one().store(hashing.block(isa), hash);
    }
}

/// [`Absorb`] of a few blocks, by the powers of the key that they need, which are made for it: all that is there is
/// the key, times x.
pub(crate) struct AbsorbFew<'a, const REVERSED: bool> {
    pub(crate) first: &'a Block,
    pub(crate) hash: &'a mut Block,
    pub(crate) bytes: &'a [u8],
}

impl<I: Carryless, const REVERSED: bool> Body<I> for AbsorbFew<'_, REVERSED> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { first, hash, bytes } = self;
        let mut hashing = Hashing::new(isa, hash);
        let powers = powers_for(isa, first, bytes.len());
        hashing.absorb_by_key::<REVERSED>(isa, first, &powers, bytes);
        isa.one().store(hashing.block(isa), hash);
    }
}

/// POLYVAL (RFC 8452, 3) of two strings, each filled up with zeros to whole blocks, and of a last block: GHASH of blocks
/// in reverse order under the key times x (appendix A), and that the key here is.
pub(crate) struct Polyval<'a> {
    pub(crate) key: &'a Block,
    pub(crate) strings: [&'a [u8]; 2],
    pub(crate) last: &'a Block,
    /// What it becomes, zeros before.
    pub(crate) hash: &'a mut Block,
}

impl<I: Carryless> Body<I> for Polyval<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { key, strings: [first, second], last, hash } = self;
        let mut hashing = Hashing::new(isa, hash);
        // One by one: of slices in an array on the stack `ct` cannot tell that their lengths are public.
        let powers = powers_for(isa, key, first.len().max(second.len()));
        hashing.absorb_by_key::<true>(isa, key, &powers, first);
        hashing.absorb_by_key::<true>(isa, key, &powers, second);
        hashing.absorb_by_key::<true>(isa, key, &powers, last);
        isa.one().store(hashing.sum, hash);
    }
}

/// Makes the powers of a hash key, from the highest that is used on, each times x.
pub(crate) struct MakePowers<'a> {
    /// The key, times x.
    pub(crate) first: &'a Block,
    pub(crate) powers: &'a mut HashPowers,
}

impl<I: Carryless> Body<I> for MakePowers<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        fill(isa, self.powers, self.first, POWERS);
    }
}

/// A hash key times x, as its bytes are reversed: the top coefficient that falls out becomes the modulus.
pub(crate) fn times_x(h: &Block) -> Block {
    let key = u128::from_be_bytes(*h);
    ((key << 1) ^ ((key >> 127).wrapping_neg() & (MODULUS | 1))).to_le_bytes()
}

/// The powers that a string of `bytes` bytes needs, of a key times x; none where it is as short as to need none.
#[inline(always)]
fn powers_for<I: Carryless>(isa: I, key: &Block, bytes: usize) -> Secret<HashPowers> {
    let mut powers = Secret::new([[0; 16]; POWERS]);
    let blocks = bytes.div_ceil(16);
    if blocks > FEWEST {
        fill(isa, &mut powers, key, blocks);
    }
    powers
}

/// Makes the lowest `needed` powers, or somewhat more: twice as many at a time, none of which waits for another.
#[inline(always)]
fn fill<I: Carryless>(isa: I, powers: &mut HashPowers, first: &Block, needed: usize) {
    let lanes = I::Lanes::USIZE;
    let (register, mut highest) = first_register(isa, first);
    isa.store(register, powers[POWERS - lanes..].as_flattened_mut());
    let mut known = lanes;
    while known < needed.min(REGISTERS * lanes) {
        for at in (POWERS - known..POWERS).step_by(lanes) {
            let power = isa.load(powers[at..at + lanes].as_flattened());
            let higher = product(isa, power, highest);
            isa.store(higher, powers[at - known..at - known + lanes].as_flattened_mut());
        }
        highest = product(isa, highest, highest);
        known *= 2;
    }
}

/// As many of the lowest powers as a register has, and the highest of them in every lane. They are computed in all
/// lanes, and each lane takes its own.
#[inline(always)]
fn first_register<I: Carryless>(isa: I, first: &Block) -> (I::Blocks, I::Blocks) {
    let one = isa.broadcast(first);
    if I::Lanes::USIZE == 1 {
        return (one, one);
    }
    let two = product(isa, one, one);
    if I::Lanes::USIZE == 2 {
        return ((two & lane(isa, 0)) ^ (one & lane(isa, 1)), two);
    }
    let (three, four) = (product(isa, two, one), product(isa, two, two));
    let upper = (four & lane(isa, 0)) ^ (three & lane(isa, 1));
    let lower = (two & lane(isa, 2)) ^ (one & lane(isa, 3));
    (upper ^ lower, four)
}

/// A register of ones in one lane.
#[inline(always)]
fn lane<I: Carryless>(isa: I, number: usize) -> I::Blocks {
    const WIDEST: usize = 4;
    let mut blocks = [[0; 16]; WIDEST];
    blocks[number] = [0xff; 16];
    isa.load(blocks[..I::Lanes::USIZE].as_flattened())
}

/// Makes the sums of the halves of every power that fills registers.
#[inline(always)]
fn sum_halves<I: Carryless>(isa: I, powers: &HashPowers, sums: &mut HashPowers) {
    let lanes = I::Lanes::USIZE;
    for at in (POWERS - REGISTERS * lanes..POWERS).step_by(lanes) {
        let power = isa.load(powers[at..at + lanes].as_flattened());
        isa.store(power ^ isa.exchange(power), sums[at..at + lanes].as_flattened_mut());
    }
}

/// Lane by lane.
#[inline(always)]
fn product<I: Carryless>(isa: I, a: I::Blocks, b: I::Blocks) -> I::Blocks {
    reduce(isa, Products::new(isa, a, b).halves(isa))
}

#[cfg(test)]
mod tests;
