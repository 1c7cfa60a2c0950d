//! SM4's S-box as inversion in the field of the AES instructions between affine maps, in the form of
//! [`lanecrypt_slicing::matrix`], and L on bytes.
//!
//! The S-box is `A Inv(A x + c) + c` in a field of its own; `F` carries that field to AES's:
//! `S(x) = A F' Inv(F A x + F c) + c` with F' the inverse of F. The forms keep every byte as `F A x`, so that a round
//! needs no map before inversion: `F c` goes into the round keys, and what comes after inversion gives bytes of that
//! kind.

use lanecrypt_reference::{
    gf256::{self, AES_MODULUS, SM4_MODULUS},
    sbox::SM4_AFFINE,
};
use lanecrypt_slicing::matrix::{IDENTITY, apply, compose, from_columns, inverse, rotation};

/// A matrix and the constant that is added.
pub(crate) type Map = (u64, i32);

/// A.
const A: u64 = {
    let mut columns = [0; 8];
    let mut j = 0;
    while j < 8 {
        columns[j] = SM4_AFFINE.apply(1 << j) ^ SM4_AFFINE.constant;
        j += 1;
    }
    from_columns(columns)
};

/// F: the powers of x become those of a root of SM4's modulus.
const F: u64 = {
    let mut root = 2;
    while !is_root(root) {
        root += 1;
    }
    let mut columns = [0; 8];
    let mut j = 0;
    while j < 8 {
        columns[j] = gf256::power(root, j as u8, AES_MODULUS);
        j += 1;
    }
    from_columns(columns)
};

/// Whether SM4's modulus is zero there, in AES's field.
const fn is_root(element: u8) -> bool {
    let (mut sum, mut exponent) = (0, 0);
    while exponent <= 8 {
        if SM4_MODULUS >> exponent & 1 == 1 {
            sum ^= gf256::power(element, exponent, AES_MODULUS);
        }
        exponent += 1;
    }
    sum == 0
}

/// `x -> x << left >> right`.
const fn shifted(left: u32, right: u32) -> u64 {
    let mut columns = [0; 8];
    let mut j = 0;
    while j < 8 {
        columns[j] = (1u8 << j) << left >> right;
        j += 1;
    }
    from_columns(columns)
}

/// F A: from a byte to what stands for it.
pub(crate) const INTO: u64 = compose(F, A);
/// From what stands for a byte to the byte.
pub(crate) const OUT_OF: u64 = inverse(INTO);
/// F c, four times.
pub(crate) const OFFSET: u32 = 0x0101_0101 * apply(F, SM4_AFFINE.constant) as u32;

/// The rest of the S-box after inversion, then a matrix, as what stands for the result.
const fn after(matrix: u64) -> Map {
    let whole = compose(INTO, matrix);
    (compose(whole, compose(A, inverse(F))), apply(whole, SM4_AFFINE.constant) as i32)
}

// Byte `j` of L of a word, from the highest on, is `P0 b(j) + P1 b(j + 1) + P1 b(j + 2) + P3 b(j + 3)`, indexes modulo
// 4, with b the outputs of the S-boxes: the shifts by 2 within a byte, and what they carry from the next one.
//
//   P0 = 1 + (<< 2)    P1 = (<< 2) + (>> 6)    P3 = 1 + (>> 6) = P0 + P1

/// P0 of the S-box's output.
pub(crate) const AFTER_0: Map = after(IDENTITY ^ shifted(2, 0));
/// P1 of it.
pub(crate) const AFTER_1: Map = after(rotation(2));
/// P3 of it.
pub(crate) const AFTER_3: Map = after(IDENTITY ^ shifted(0, 6));

// Byte `j` of L' is the sum of `K(i) b(j + i)`: rotations by 13 and 23 bits are those by 5 and 7 of the next byte and
// the one after it, and what they carry.

/// K0 of the S-box's output.
pub(crate) const AFTER_KEY_0: Map = after(IDENTITY);
/// K1 of it.
pub(crate) const AFTER_KEY_1: Map = after(shifted(5, 0));
/// K2 of it.
pub(crate) const AFTER_KEY_2: Map = after(shifted(0, 3) ^ shifted(7, 0));
/// K3 of it.
pub(crate) const AFTER_KEY_3: Map = after(shifted(0, 1));
