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
