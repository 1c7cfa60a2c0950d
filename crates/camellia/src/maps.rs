//! Camellia's S-boxes as inversion in GF(2^8) between affine maps, in the form of
//! [`lanecrypt_slicing::matrix`].
//!
//! Bytes are kept in the basis in which SBOX1 inverts: `x` as `INNER` times `x`. What an S-box gives
//! is brought into it by the map after inversion, so that a round has no other map, but for the two
//! bytes that go through SBOX4, whose input is rotated.

use lanecrypt_slicing::matrix::{SHIFT_UP, TOP_BIT, apply, compose, inverse, rotation};

/// Before inversion, and after it: SBOX1.
const INNER: (u64, u8) = (0xff38_108a_a65c_c0bc, 0x08);
const OUTER: (u64, u8) = (0xeb36_241e_33d3_b1b7, 0x6e);

/// Into the basis, and out of it.
pub(crate) const INTO_BASIS: u64 = INNER.0;
pub(crate) const OUT_OF_BASIS: u64 = inverse(INNER.0);

/// What is added in the basis before inversion, to all bytes but those of SBOX4.
pub(crate) const BEFORE: u8 = INNER.1;
/// The rotation of SBOX4's input, in the basis, and what is added before inversion.
pub(crate) const BEFORE_SBOX4: (u64, i32) = (in_basis(rotation(1)), INNER.1 as i32);

/// After inversion, into the basis: SBOX1 (and SBOX4), SBOX2, SBOX3.
pub(crate) const AFTER_SBOX1: (u64, i32) = after(0);
pub(crate) const AFTER_SBOX2: (u64, i32) = after(1);
pub(crate) const AFTER_SBOX3: (u64, i32) = after(7);

/// A shift of 32 bits by one, from out of the basis into it: of a byte itself, and what it gets from
/// the byte below.
pub(crate) const SHIFTED: u64 = compose(INTO_BASIS, SHIFT_UP);
pub(crate) const CARRIED: u64 = compose(INTO_BASIS, TOP_BIT);

const fn in_basis(matrix: u64) -> u64 {
    compose(INTO_BASIS, compose(matrix, OUT_OF_BASIS))
}

const fn after(turn: u32) -> (u64, i32) {
    let matrix = compose(INTO_BASIS, compose(rotation(turn), OUTER.0));
    (matrix, apply(INTO_BASIS, OUTER.1.rotate_left(turn)) as i32)
}
