//! ARIA's S-boxes as inversion in GF(2^8) between affine maps, in the form of
//! [`lanecrypt_slicing::matrix`]: a matrix and the constant that is added.

/// After inversion: S1, which is the S-box of AES.
pub(crate) const AFTER_S1: (u64, i32) = (0xf1e3_c78f_1f3e_7cf8, 0x63);
/// After inversion: S2.
pub(crate) const AFTER_S2: (u64, i32) = (0xeafc_b7c3_c273_c66f, 0xe2);
/// Before inversion: the inverse of S1.
pub(crate) const BEFORE_S1_INVERSE: (u64, i32) = (0xa449_9225_4a94_2952, 0x05);
/// Before inversion: the inverse of S2.
pub(crate) const BEFORE_S2_INVERSE: (u64, i32) = (0x1864_50c7_37d6_bdc9, 0x2c);

#[cfg(test)]
mod tests {
    use lanecrypt_reference::{
        gf256::{AES_MODULUS, inverse},
        sbox::{AES, AES_INVERSE, ARIA_S2, ARIA_S2_INVERSE},
    };
    use lanecrypt_slicing::matrix::apply;

    use super::*;

    #[test]
    fn maps_make_the_sboxes() {
        let map = |(matrix, constant): (u64, i32), byte| {
            apply(matrix, byte) ^ constant.cast_unsigned() as u8
        };
        let inverse = |byte| inverse(byte, AES_MODULUS);
        for byte in 0..=255_u8 {
            let i = usize::from(byte);
            assert_eq!(map(AFTER_S1, inverse(byte)), AES[i]);
            assert_eq!(map(AFTER_S2, inverse(byte)), ARIA_S2[i]);
            assert_eq!(inverse(map(BEFORE_S1_INVERSE, byte)), AES_INVERSE[i]);
            assert_eq!(inverse(map(BEFORE_S2_INVERSE, byte)), ARIA_S2_INVERSE[i]);
        }
    }
}
