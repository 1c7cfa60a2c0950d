//! ARIA's S-boxes are inversion in GF(2^8) between the affine maps of `src/maps.rs`: the rounds use those
//! only where a CPU has the instructions.

#[path = "../src/maps.rs"]
mod maps;

use lanecrypt_reference::{
    gf256::{AES_MODULUS, inverse},
    sbox::{AES, AES_INVERSE, ARIA_S2, ARIA_S2_INVERSE},
};
use lanecrypt_slicing::matrix::apply;
use maps::{AFTER_S1, AFTER_S2, BEFORE_S1_INVERSE, BEFORE_S2_INVERSE};

#[test]
fn maps_make_the_sboxes() {
    let map =
        |(matrix, constant): (u64, i32), byte| apply(matrix, byte) ^ constant.cast_unsigned() as u8;
    let inverse = |byte| inverse(byte, AES_MODULUS);
    for byte in 0..=255_u8 {
        let i = usize::from(byte);
        assert_eq!(map(AFTER_S1, inverse(byte)), AES[i]);
        assert_eq!(map(AFTER_S2, inverse(byte)), ARIA_S2[i]);
        assert_eq!(inverse(map(BEFORE_S1_INVERSE, byte)), AES_INVERSE[i]);
        assert_eq!(inverse(map(BEFORE_S2_INVERSE, byte)), ARIA_S2_INVERSE[i]);
    }
}
