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
use lanecrypt_core::Secret;

use crate::{AesBlocks, Job};

/// The most powers of the key that are kept: as many blocks go between one reduction and the next.
const POWERS: usize = 32;
/// Registers that are multiplied before they are reduced.
const REGISTERS: usize = 8;
/// x^127 + x^126 + x^121, the upper half of the modulus: what its lowest term becomes.
const MODULUS: u128 = 0xc2 << 120;

type Block = [u8; 16];

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

    /// The sum over all lanes, reduced.
    #[inline(always)]
    fn reduce(self, isa: I) -> <I::One as AesBlocks>::Blocks {
        let one = isa.one();
        let mut low = isa.sum(self.low ^ isa.low_up(self.middle));
        let high = isa.sum(self.high ^ isa.high_down(self.middle));
        let modulus = one.broadcast(&MODULUS.to_le_bytes());
        for _ in 0..2 {
            // The lowest half times the modulus makes that half zero; the rest of it is a half up.
            low = one.exchange(low) ^ one.multiply::<0x10>(low, modulus);
        }
        low ^ high
    }
}

/// Adds `G` registers of blocks to a hash: the first block and the hash so far times the first of as
/// many powers, the second times the second, and so on.
#[inline(always)]
fn absorb<I: Carryless, const G: usize>(
    isa: I,
    powers: &[u8],
    blocks: &[u8],
    sum: <I::One as AesBlocks>::Blocks,
) -> <I::One as AesBlocks>::Blocks {
    let bytes = 16 * I::Lanes::USIZE;
    let zero = isa.broadcast(&[0; 16]);
    let mut products = Products::<I> { low: zero, middle: zero, high: zero };
    // From the last on, since the first waits for the sum.
    for i in (0..G).rev() {
        let mut block = isa.reverse(isa.load(&blocks[i * bytes..][..bytes]));
        if i == 0 {
            block ^= isa.widen(sum);
        }
        let power = isa.load(&powers[i * bytes..][..bytes]);
        products.add(Products::new(isa, block, power));
    }
    products.reduce(isa)
}

/// Adds as many groups of `G` registers as there are, and returns the blocks that are left.
#[inline(always)]
fn groups<'a, I: Carryless, const G: usize>(
    isa: I,
    powers: &[Block; POWERS],
    mut blocks: &'a [u8],
    sum: &mut <I::One as AesBlocks>::Blocks,
) -> &'a [u8] {
    let count = G * I::Lanes::USIZE;
    let powers = powers[POWERS - count..].as_flattened();
    while let Some((group, rest)) = blocks.split_at_checked(16 * count) {
        *sum = absorb::<I, G>(isa, powers, group, *sum);
        blocks = rest;
    }
    blocks
}

/// Adds blocks to a hash.
struct Absorb<'a> {
    powers: &'a [Block; POWERS],
    sum: &'a mut Block,
    blocks: &'a [u8],
}

impl<I: Carryless> Job<I> for Absorb<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { powers, blocks, .. } = self;
        let one = isa.one();
        let mut sum = one.reverse(one.load(self.sum));
        let blocks = groups::<I, REGISTERS>(isa, powers, blocks, &mut sum);
        let blocks = groups::<I, { REGISTERS / 4 }>(isa, powers, blocks, &mut sum);
        let blocks = groups::<I::One, { REGISTERS / 4 }>(one, powers, blocks, &mut sum);
        groups::<I::One, 1>(one, powers, blocks, &mut sum);
        one.store(one.reverse(sum), self.sum);
    }
}

/// The powers of a hash key, from the highest that is used on, each times x.
struct MakePowers<'a>(&'a Block);

impl<I: Carryless> Job<I> for MakePowers<'_> {
    type Output = Secret<[Block; POWERS]>;

    #[inline(always)]
    fn run(self, isa: I) -> Self::Output {
        let one = isa.one();
        let mut powers = Secret::new([[0; 16]; POWERS]);
        let key = u128::from_be_bytes(*self.0);
        // Times x: the top coefficient that falls out becomes the modulus.
        let first = (key << 1) ^ ((key >> 127).wrapping_neg() & (MODULUS | 1));
        powers[POWERS - 1] = first.to_le_bytes();
        let mut known = 1;
        // Twice as many at a time, none of which waits for another.
        while known < REGISTERS * I::Lanes::USIZE {
            let highest = one.load(&powers[POWERS - known]);
            for i in 0..known {
                let power = one.load(&powers[POWERS - 1 - i]);
                let product = Products::<I::One>::new(one, power, highest).reduce(one);
                one.store(product, &mut powers[POWERS - 1 - known - i]);
            }
            known *= 2;
        }
        powers
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
    powers: Secret<[Block; POWERS]>,
}

impl HashKey {
    /// Of the hash key H, the block of zeros encrypted; `None` where this CPU multiplies no
    /// polynomials.
    #[must_use]
    pub fn new(h: &[u8; 16]) -> Option<Self> {
        run_carryless(MakePowers(h)).map(|powers| Self { powers })
    }

    /// Adds whole blocks to a hash, which is zero in the beginning.
    ///
    /// # Panics
    /// Where `blocks` is no multiple of 16 bytes.
    pub fn absorb(&self, hash: &mut [u8; 16], blocks: &[u8]) {
        assert!(blocks.len().is_multiple_of(16), "whole blocks, not {} bytes", blocks.len());
        let done = run_carryless::<_, ()>(Absorb { powers: &self.powers, sum: hash, blocks });
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
        let top_and_bottom = [1, 1 << 127, u128::MAX, 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e];
        for h in top_and_bottom {
            let powers = isa.run(MakePowers(&h.to_be_bytes()));
            for count in 0..blocks.len() {
                let mut sum = [0x5a; 16];
                let expected =
                    blocks[..count].iter().fold(u128::from_be_bytes(sum), |sum, block| {
                        product(sum ^ u128::from_be_bytes(*block), h)
                    });
                let blocks = blocks[..count].as_flattened();
                isa.run(Absorb { powers: &powers, sum: &mut sum, blocks });
                assert_eq!(u128::from_be_bytes(sum), expected, "{isa:?}, {count} blocks");
            }
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
