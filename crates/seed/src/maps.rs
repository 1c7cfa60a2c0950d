//! SEED's S-boxes as inversion in GF(2^8) between affine maps, in the form of
//! [`lanecrypt_slicing::matrix`]: a matrix and the constant that is added.

/// Before inversion: both S-boxes.
pub(crate) const BEFORE: u64 = 0x0bcc_b02e_1618_3c70;
/// After inversion: S0.
pub(crate) const AFTER_S0: (u64, i32) = (0x9a5c_7193_dadf_ace8, 0xa9);
/// After inversion: S1.
pub(crate) const AFTER_S1: (u64, i32) = (0x6c46_dac0_0bd2_d78f, 0x38);

#[cfg(test)]
mod tests {
    use lanecrypt_reference::{
        gf256::{AES_MODULUS, inverse},
        sbox::SEED,
    };
    use lanecrypt_slicing::matrix::apply;

    use super::*;

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
}
