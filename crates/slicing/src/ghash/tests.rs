//! Products and hashes at every width against the standard, a bit at a time.

extern crate std;
use std::vec::Vec;

use lanecrypt_reference::gf128::{basis, ghash_product, polyval_product};

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
        let first = times_x(&h.to_be_bytes());
        let mut powers = [[0; 16]; POWERS];
        isa.run(MakePowers { first: &first, powers: &mut powers });
        for count in 0..blocks.len() {
            let mut sum = [0x5a; 16];
            let expected = blocks[..count].iter().fold(u128::from_be_bytes(sum), |sum, block| {
                product(sum ^ u128::from_be_bytes(*block), h)
            });
            let bytes = blocks[..count].as_flattened();
            isa.run(Absorb::<false> { powers: &powers, hash: &mut sum, bytes });
            assert_eq!(u128::from_be_bytes(sum), expected, "{isa:?}, {count} blocks");
            if count <= REGISTERS * I::Lanes::USIZE {
                let mut sum = [0x5a; 16];
                isa.run(AbsorbFew::<false> { first: &first, hash: &mut sum, bytes });
                assert_eq!(u128::from_be_bytes(sum), expected, "{isa:?}, {count}, by few powers");
            }
            let mut sum = [0x5a; 16];
            let bytes = reversed[..count].as_flattened();
            isa.run(Absorb::<true> { powers: &powers, hash: &mut sum, bytes });
            assert_eq!(u128::from_be_bytes(sum), expected, "{isa:?}, {count} reversed blocks");
        }
    }
}

/// All products of two basis blocks, by the definition: of the block whose number comes first under the key whose number
/// comes second.
fn products(multiply: fn(Block, Block) -> Block) -> Vec<[Block; 128]> {
    basis().map(|block| basis().map(|key| multiply(block, key))).into()
}

/// Every way to multiply on all 128 times 128 pairs of basis blocks: a block alone, at each place of a group, and as the
/// hash that a group begins with. The powers are all the same here, so that at each place it is this pair.
fn check_basis<I: Carryless>() {
    let Ok(isa) = I::detect() else {
        std::println!("{}: {:?}", core::any::type_name::<I>(), I::detect().err());
        return;
    };
    let (ghash, polyval) = (products(ghash_product), products(polyval_product));
    let group = REGISTERS * I::Lanes::USIZE;
    for (number, key) in basis().iter().enumerate() {
        let first = times_x(key);
        let powers = [first; POWERS];
        let expected = ghash.iter().map(|products| products[number]);
        for (block, expected) in basis().into_iter().zip(expected) {
            let what = || std::format!("{isa:?}: {block:02x?} under {key:02x?}");
            let absorb = |hash: Block, bytes: &[u8]| {
                let mut hash = hash;
                isa.run(Absorb::<false> { powers: &powers, hash: &mut hash, bytes });
                hash
            };
            assert_eq!(absorb([0; 16], &block), expected, "{}", what());
            let mut few = [0; 16];
            isa.run(AbsorbFew::<false> { first: &first, hash: &mut few, bytes: &block });
            assert_eq!(few, expected, "{}, by the key alone", what());
            let mut reversed = block;
            reversed.reverse();
            let mut hash = [0; 16];
            isa.run(Absorb::<true> { powers: &powers, hash: &mut hash, bytes: &reversed });
            assert_eq!(hash, expected, "{}, reversed", what());
            for count in [group - 1, group] {
                let mut blocks = [[0; 16]; POWERS];
                assert_eq!(absorb(block, blocks[..count].as_flattened()), expected, "{}", what());
                for place in 0..count {
                    blocks[place] = block;
                    let found = absorb([0; 16], blocks[..count].as_flattened());
                    assert_eq!(found, expected, "{}, at {place} of {count}", what());
                    blocks[place] = [0; 16];
                }
            }
        }
        for (products, block) in polyval.iter().zip(basis()) {
            let mut hash = [0; 16];
            isa.run(Polyval { key, strings: [&[], &[]], last: &block, hash: &mut hash });
            assert_eq!(hash, products[number], "{isa:?}: POLYVAL, {block:02x?} under {key:02x?}");
        }
    }
}

/// The powers that are made, on every basis block: what the others are is products that are tested.
fn check_powers<I: Carryless>() {
    let Ok(isa) = I::detect() else { return };
    for key in basis() {
        let mut powers = [[0; 16]; POWERS];
        isa.run(MakePowers { first: &times_x(&key), powers: &mut powers });
        let mut expected = key;
        for power in powers.iter().rev().take(REGISTERS * I::Lanes::USIZE) {
            assert_eq!(*power, times_x(&expected), "{isa:?}: a power of {key:02x?}");
            expected = ghash_product(expected, key);
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn every_width_multiplies_the_basis() {
    check_basis::<crate::AesNi>();
    check_basis::<crate::Avx2Vaes>();
    check_basis::<crate::Avx2Gfni>();
    check_basis::<crate::Avx512>();
    check_powers::<crate::AesNi>();
    check_powers::<crate::Avx2Vaes>();
    check_powers::<crate::Avx2Gfni>();
    check_powers::<crate::Avx512>();
}

#[test]
#[cfg(target_arch = "aarch64")]
fn neon_multiplies_the_basis() {
    check_basis::<crate::NeonAes>();
    check_powers::<crate::NeonAes>();
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
