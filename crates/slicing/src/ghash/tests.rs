//! Products and hashes at every width against the standard, a bit at a time.

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
