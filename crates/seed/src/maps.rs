//! SEED's S-boxes as inversion in GF(2^8) between affine maps, in the form of
//! [`lanecrypt_slicing::matrix`]: a matrix and the constant that is added.

/// Before inversion: both S-boxes.
pub(crate) const BEFORE: u64 = 0x0bcc_b02e_1618_3c70;
/// After inversion: S0.
pub(crate) const AFTER_S0: (u64, i32) = (0x9a5c_7193_dadf_ace8, 0xa9);
/// After inversion: S1.
pub(crate) const AFTER_S1: (u64, i32) = (0x6c46_dac0_0bd2_d78f, 0x38);
