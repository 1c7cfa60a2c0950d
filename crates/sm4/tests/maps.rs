//! SM4's S-box and linear layers are what the maps of `src/maps.rs` make of inversion: the rounds use those only where
//! a CPU has the instructions.

#[path = "../src/maps.rs"]
mod maps;

use lanecrypt_reference::{
    gf256::{AES_MODULUS, inverse},
    sbox::SM4,
};
use lanecrypt_slicing::matrix::apply;
use maps::{
    AFTER_0, AFTER_1, AFTER_3, AFTER_KEY_0, AFTER_KEY_1, AFTER_KEY_2, AFTER_KEY_3, INTO, Map,
    OFFSET, OUT_OF,
};

/// A map of inversion, from a byte to a byte.
fn through((matrix, constant): Map, byte: u8) -> u8 {
    let inverse = inverse(apply(INTO, byte) ^ OFFSET as u8, AES_MODULUS);
    apply(OUT_OF, apply(matrix, inverse) ^ constant.cast_unsigned() as u8)
}

/// What a linear layer makes of a byte at the top of a word, the highest byte first.
fn column(layer: fn(u32) -> u32, byte: u8) -> [u8; 4] {
    layer(u32::from(byte) << 24).to_be_bytes()
}

#[test]
fn maps_make_the_sbox_and_the_layers() {
    let l =
        |b: u32| b ^ b.rotate_left(2) ^ b.rotate_left(10) ^ b.rotate_left(18) ^ b.rotate_left(24);
    let l_of_keys = |b: u32| b ^ b.rotate_left(13) ^ b.rotate_left(23);
    for byte in 0..=255_u8 {
        let image = SM4[usize::from(byte)];
        assert_eq!(apply(OUT_OF, apply(INTO, byte)), byte);
        // Byte `j` of the result has the byte that lies `i` further on by map `i`.
        assert_eq!(
            [AFTER_0, AFTER_3, AFTER_1, AFTER_1].map(|map| through(map, byte)),
            column(l, image)
        );
        assert_eq!(
            [AFTER_KEY_0, AFTER_KEY_3, AFTER_KEY_2, AFTER_KEY_1].map(|map| through(map, byte)),
            column(l_of_keys, image)
        );
    }
}
