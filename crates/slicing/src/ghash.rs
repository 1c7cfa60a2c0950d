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

use core::fmt;

use cipher::{consts::U1, typenum::Unsigned};
use lanecrypt_core::{HashPowers, Secret};

use crate::{AesBlocks, Job};

/// Registers that are multiplied before they are reduced; powers of the key are kept for as many of the
/// widest.
const REGISTERS: usize = 8;
/// x^127 + x^126 + x^121, the upper half of the modulus: what its lowest term becomes.
const MODULUS: u128 = 0xc2 << 120;

type Block = [u8; 16];

/// The coefficient of 1 alone.
const ONE: Block = 0x80_u128.to_le_bytes();

/// Powers that are kept.
const POWERS: usize = size_of::<HashPowers>() / size_of::<Block>();

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
        self.sum = reduce(isa.one(), self.products.halves(isa).map(|half| isa.sum(half)));
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
        for group in bytes.chunks(REGISTERS * 16 * I::Lanes::USIZE) {
            let blocks = group.len().div_ceil(16);
            let mut left = blocks;
            for part in group.chunks(16 * I::Lanes::USIZE) {
                let is_whole = part.len() == 16 * I::Lanes::USIZE;
                let mut register = if is_whole { isa.load(part) } else { isa.load_part(part) };
                if !REVERSED {
                    register = isa.reverse(register);
                }
                self.add_reversed(isa, powers, left, left == blocks, register);
                left = left.saturating_sub(I::Lanes::USIZE);
            }
            self.reduce(isa);
        }
    }

    /// The hash, as a block.
    #[inline(always)]
    pub fn block(self, isa: I) -> <I::One as AesBlocks>::Blocks {
        isa.one().reverse(self.sum)
    }
}

/// Adds a string to a hash; `REVERSED` is the order of the bytes of its blocks.
struct Absorb<'a, const REVERSED: bool> {
    powers: &'a HashPowers,
    hash: &'a mut Block,
    bytes: &'a [u8],
}

impl<I: Carryless, const REVERSED: bool> Job<I> for Absorb<'_, REVERSED> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { powers, hash, bytes } = self;
        let mut hashing = Hashing::new(isa, hash);
        hashing.absorb_as::<REVERSED>(isa, powers, bytes);
        isa.one().store(hashing.block(isa), hash);
    }
}

/// The powers of a hash key, from the highest that is used on, each times x.
struct MakePowers<'a>(&'a Block);

impl<I: Carryless> Job<I> for MakePowers<'_> {
    type Output = Secret<HashPowers>;

    #[inline(always)]
    fn run(self, isa: I) -> Self::Output {
        let mut powers = Secret::new([[0; 16]; POWERS]);
        let key = u128::from_be_bytes(*self.0);
        // Times x: the top coefficient that falls out becomes the modulus.
        let first = (key << 1) ^ ((key >> 127).wrapping_neg() & (MODULUS | 1));
        powers[POWERS - 1] = first.to_le_bytes();
        // Twice as many at a time, none of which waits for another: in single blocks until they fill a register.
        let mut known = 1;
        while known < I::Lanes::USIZE {
            double(isa.one(), &mut powers, known);
            known *= 2;
        }
        while known < REGISTERS * I::Lanes::USIZE {
            double(isa, &mut powers, known);
            known *= 2;
        }
        powers
    }
}

/// Makes as many powers as are known, which fill registers.
#[inline(always)]
fn double<I: Carryless>(isa: I, powers: &mut HashPowers, known: usize) {
    let lanes = I::Lanes::USIZE;
    let highest = isa.broadcast(&powers[POWERS - known]);
    for at in (POWERS - known..POWERS).step_by(lanes) {
        let power = isa.load(powers[at..at + lanes].as_flattened());
        let product = reduce(isa, Products::new(isa, power, highest).halves(isa));
        isa.store(product, powers[at - known..at - known + lanes].as_flattened_mut());
    }
}

/// A key of GHASH on a CPU that has instructions for it. Cleared when dropped.
///
/// ```
/// use lanecrypt_slicing::HashKey;
///
/// // Test case 2 of the GCM specification: H is AES of zeros under the key of zeros.
/// let h = 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128.to_be_bytes();
/// if let Some(key) = HashKey::new(&h) {
///     let mut hash = [0; 16];
///     key.absorb(&mut hash, &0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78_u128.to_be_bytes());
///     key.absorb(&mut hash, &128_u128.to_be_bytes());
///     assert_eq!(hash, 0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885_u128.to_be_bytes());
/// }
/// ```
#[derive(Clone)]
pub struct HashKey {
    powers: Secret<HashPowers>,
}

impl HashKey {
    /// Of the hash key H, the block of zeros encrypted; `None` where this CPU multiplies no
    /// polynomials.
    #[must_use]
    #[inline] // so that the powers are made where they stay
    pub fn new(h: &[u8; 16]) -> Option<Self> {
        run_carryless(MakePowers(h)).map(|powers| Self { powers })
    }

    /// The key whose [`powers`](Self::powers) these are, on the CPU that made them.
    #[must_use]
    pub fn of_powers(powers: &HashPowers) -> Self {
        Self { powers: Secret::new(*powers) }
    }

    /// The key that is this one to the power `exponent`, one at least: adding a block of zeros to a hash
    /// under it is adding `exponent` blocks of zeros under this one. The time depends on the exponent, never on the key.
    #[must_use]
    pub fn power(&self, exponent: u64) -> Self {
        // The block of 1, multiplied by the squares of the key that the exponent has.
        let mut result = Secret::new(ONE);
        let mut square = self.clone();
        let mut rest = exponent.max(1);
        loop {
            if rest & 1 == 1 {
                square.absorb(&mut result, &[0; 16]);
            }
            rest >>= 1;
            if rest == 0 {
                return Self::another(&result);
            }
            let mut next = Secret::new(ONE);
            square.absorb(&mut next, &[0; 32]);
            square = Self::another(&next);
        }
    }

    /// A key where there was one before.
    fn another(h: &Block) -> Self {
        match Self::new(h) {
            Some(key) => key,
            None => panic!("a key is made where there are the instructions"),
        }
    }

    /// Powers of the key, times x: those that [`Hashing`] takes.
    #[must_use]
    pub fn powers(&self) -> &HashPowers {
        &self.powers
    }

    /// Adds a string, filled up with zeros to whole blocks, to a hash, which is zero in the beginning.
    pub fn absorb(&self, hash: &mut [u8; 16], bytes: &[u8]) {
        self.absorb_as::<false>(hash, bytes);
    }

    /// [`absorb`](Self::absorb) of blocks whose bytes are in reverse order, which POLYVAL has (RFC 8452,
    /// appendix A); those of the hash are not.
    pub fn absorb_reversed(&self, hash: &mut [u8; 16], bytes: &[u8]) {
        self.absorb_as::<true>(hash, bytes);
    }

    fn absorb_as<const REVERSED: bool>(&self, hash: &mut [u8; 16], bytes: &[u8]) {
        let done = run_carryless::<_, ()>(Absorb::<REVERSED> { powers: &self.powers, hash, bytes });
        assert!(done.is_some(), "a key is made where there are the instructions");
    }
}

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashKey").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for HashKey {}

/// Runs a job with the widest instructions of this CPU, the same ones every time.
macro_rules! run_on_first {
    ($($isa:ident)*) => {
        #[inline]
        fn run_carryless<J, R>(job: J) -> Option<R>
        where
            J: $(Job<crate::$isa, Output = R> +)*
        {
            $(if let Ok(isa) = <crate::$isa as crate::Isa>::detect() {
                return Some(crate::Isa::run(isa, job));
            })*
            let _ = job;
            None
        }
    };
}
#[cfg(target_arch = "x86_64")]
run_on_first!(Avx512 Avx2Vaes AesNi);
#[cfg(target_arch = "aarch64")]
run_on_first!(NeonAes);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
run_on_first!();

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    /// The product of SP 800-38D, 6.3, a bit at a time: the leftmost one is the coefficient of 1.
    fn product(x: u128, y: u128) -> u128 {
        let (mut sum, mut shifted) = (0, y);
        for i in (0..128).rev() {
            sum ^= (x >> i & 1).wrapping_neg() & shifted;
            shifted = shifted >> 1 ^ (shifted & 1).wrapping_neg() & 0xe1 << 120;
        }
        sum
    }

    fn check<I: Carryless>() {
        let Ok(isa) = I::detect() else {
            std::println!("{}: {:?}", core::any::type_name::<I>(), I::detect().err());
            return;
        };
        let blocks: [Block; 150] = core::array::from_fn(|i| {
            let i = i as u128 + 1;
            (i * i).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes()
        });
        let reversed = blocks.map(|block| u128::from_be_bytes(block).to_le_bytes());
        let top_and_bottom = [1, 1 << 127, u128::MAX, 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e];
        for h in top_and_bottom {
            let powers = isa.run(MakePowers(&h.to_be_bytes()));
            for count in 0..blocks.len() {
                let mut sum = [0x5a; 16];
                let expected =
                    blocks[..count].iter().fold(u128::from_be_bytes(sum), |sum, block| {
                        product(sum ^ u128::from_be_bytes(*block), h)
                    });
                let bytes = blocks[..count].as_flattened();
                isa.run(Absorb::<false> { powers: &powers, hash: &mut sum, bytes });
                assert_eq!(u128::from_be_bytes(sum), expected, "{isa:?}, {count} blocks");
                let mut sum = [0x5a; 16];
                let bytes = reversed[..count].as_flattened();
                isa.run(Absorb::<true> { powers: &powers, hash: &mut sum, bytes });
                assert_eq!(u128::from_be_bytes(sum), expected, "{isa:?}, {count} reversed blocks");
            }
        }
    }

    #[test]
    fn a_power_of_a_key_stands_for_blocks_of_zeros() {
        let Some(key) = HashKey::new(&0x66e9_4bd4_ef8a_2c3b_u128.to_be_bytes()) else { return };
        let key = HashKey::of_powers(key.powers());
        for exponent in [1, 2, 3, 4, 5, 63, 64, 1000, 1 << 14, (1 << 14) + 7] {
            let (mut expected, mut found) = ([0x5a; 16], [0x5a; 16]);
            for _ in 0..exponent {
                key.absorb(&mut expected, &[0; 16]);
            }
            key.power(exponent).absorb(&mut found, &[0; 16]);
            assert_eq!(found, expected, "{exponent}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_width_multiplies_alike() {
        check::<crate::AesNi>();
        check::<crate::Avx2Vaes>();
        check::<crate::Avx2Gfni>();
        check::<crate::Avx512>();
    }

    #[test]
    #[cfg(target_arch = "aarch64")]
    fn neon_multiplies_alike() {
        check::<crate::NeonAes>();
    }
}
