//! The field of 2^128 elements on all pairs of basis elements: long multiplication against the standards' own steps.

use lanecrypt_reference::{
    gf128::{
        MODULUS, POLYVAL_MODULUS, basis, ghash_product, multiply, polyval_product, square_root,
        xts_masks,
    },
    modes::{self, BlockCipher},
};

#[test]
fn products_of_the_basis_are_powers_of_x() {
    for modulus in [MODULUS, POLYVAL_MODULUS] {
        // x^k for all exponents, each from the one before.
        let step = |power: &u128| Some(power << 1 ^ (power >> 127).wrapping_neg() & modulus);
        let powers: Vec<u128> = std::iter::successors(Some(1), step).take(255).collect();
        for i in 0..128 {
            for j in 0..128 {
                assert_eq!(multiply(1 << i, 1 << j, modulus), powers[i + j], "x^{i} times x^{j}");
            }
        }
    }
}

#[test]
fn ghash_multiplies_the_basis() {
    for x in basis() {
        for y in basis() {
            let [left, right] = [x, y].map(u128::from_be_bytes);
            let found = modes::ghash_product(left, right).to_be_bytes();
            assert_eq!(found, ghash_product(x, y), "{x:02x?} times {y:02x?}");
        }
    }
}

/// RFC 8452, appendix A: POLYVAL is GHASH of reversed blocks, under the reversed key times x.
#[test]
fn polyval_is_ghash_of_reversed_blocks() {
    let reversed = |block: [u8; 16]| u128::from_be_bytes(block).to_le_bytes();
    let x = (1_u128 << 126).to_be_bytes();
    for key in basis() {
        let times_x = ghash_product(reversed(key), x);
        for block in basis() {
            let found = reversed(ghash_product(reversed(block), times_x));
            assert_eq!(found, polyval_product(block, key), "{block:02x?} under {key:02x?}");
        }
    }
}

#[test]
fn square_roots_are_roots() {
    for i in 0..128 {
        let root = square_root(1 << i);
        assert_eq!(multiply(root, root, MODULUS), 1 << i);
    }
}

/// Shows the masks of XTS: as the tweak's cipher it changes nothing, as the data's it makes zeros.
enum Blank {
    Tweak,
    Data,
}

impl BlockCipher for Blank {
    fn block_bytes(&self) -> usize {
        16
    }

    fn encrypt_block(&self, block: &mut [u8]) {
        if matches!(self, Self::Data) {
            block.fill(0);
        }
    }

    fn decrypt_block(&self, block: &mut [u8]) {
        self.encrypt_block(block);
    }
}

#[test]
fn masks_of_xts_from_the_basis() {
    const BLOCKS: usize = 130; // the lowest bit falls out of the top once
    for first in basis() {
        let expected: Vec<u8> = xts_masks(first).take(BLOCKS).flatten().collect();
        for run in [modes::xts_encrypt, modes::xts_decrypt] {
            let mut masks = vec![0x5a; 16 * BLOCKS];
            run(&Blank::Data, &Blank::Tweak, &first, &mut masks).expect("whole blocks");
            assert_eq!(masks, expected, "from {first:02x?}");
        }
    }
}
