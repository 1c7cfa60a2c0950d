//! SEED's S-boxes are inversion in GF(2^8) between the affine maps of `src/maps.rs`: the rounds use those
//! only where a CPU has the instructions.

#[path = "../src/maps.rs"]
mod maps;

use lanecrypt_reference::{
    gf256::{AES_MODULUS, inverse},
    sbox::SEED,
};
use lanecrypt_slicing::matrix::apply;
use maps::{AFTER_S0, AFTER_S1, BEFORE};

#[test]
fn maps_make_the_sboxes() {
    for byte in 0..=255_u8 {
        let inverse = inverse(apply(BEFORE, byte), AES_MODULUS);
        for (sbox, (matrix, constant)) in SEED.iter().zip([AFTER_S0, AFTER_S1]) {
            assert_eq!(
                apply(matrix, inverse) ^ constant.cast_unsigned() as u8,
                sbox[usize::from(byte)]
            );
        }
    }
}
