//! Camellia's S-boxes are inversion in GF(2^8) between the affine maps of `src/maps.rs`: the rounds use those
//! only where a CPU has the instructions.

#[allow(dead_code, reason = "what the rounds alone use")]
#[path = "../src/maps.rs"]
mod maps;

use lanecrypt_reference::{
    gf256::{AES_MODULUS, inverse},
    sbox::CAMELLIA,
};
use lanecrypt_slicing::matrix::apply;
use maps::{AFTER_SBOX1, AFTER_SBOX2, AFTER_SBOX3, BEFORE, BEFORE_SBOX4, INTO_BASIS, OUT_OF_BASIS};

#[test]
fn maps_make_the_sboxes() {
    for byte in 0..=255_u8 {
        let basis = apply(INTO_BASIS, byte);
        let plain = [basis ^ BEFORE; 3];
        let sbox4 = apply(BEFORE_SBOX4.0, basis) ^ BEFORE_SBOX4.1.cast_unsigned() as u8;
        let inputs = [plain[0], plain[1], plain[2], sbox4];
        let maps = [AFTER_SBOX1, AFTER_SBOX2, AFTER_SBOX3, AFTER_SBOX1];
        for (i, (input, (matrix, constant))) in inputs.into_iter().zip(maps).enumerate() {
            let image = apply(matrix, inverse(input, AES_MODULUS)) ^ constant.cast_unsigned() as u8;
            let expected = CAMELLIA[i][usize::from(byte)];
            assert_eq!(apply(OUT_OF_BASIS, image), expected, "SBOX{} of {byte:#x}", i + 1);
        }
    }
}
