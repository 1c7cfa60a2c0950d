//! Arithmetic in GF(2^128), for any modulus of degree 128, and the three notations that modes have of it.
//!
//! An element is a polynomial over GF(2) of degree 127 or less, written as a number: bit i is the coefficient of x^i. A
//! modulus is given as its coefficients below x^128. Products are long multiplication and long division, a coefficient
//! at a time, and share nothing with the shifts that the modes' own definitions are written in.

use core::iter;

/// The modulus of GCM (SP 800-38D, section 6.3) and of XTS (IEEE 1619, section 5.2): x^128 + x^7 + x^2 + x + 1.
pub const MODULUS: u128 = 0x87;

/// The modulus of POLYVAL (RFC 8452, section 3): x^128 + x^127 + x^126 + x^121 + 1.
pub const POLYVAL_MODULUS: u128 = 1 << 127 | 1 << 126 | 1 << 121 | 1;

/// x^-128 modulo [`POLYVAL_MODULUS`] (RFC 8452, section 3): x^127 + x^124 + x^121 + x^114 + 1.
const POLYVAL_INVERSE: u128 = 1 << 127 | 1 << 124 | 1 << 121 | 1 << 114 | 1;

/// Coefficients of the product of two elements, before it is reduced.
const PRODUCT: usize = 255;

/// The product of `left` and `right` modulo `modulus`.
///
/// ```
/// use lanecrypt_reference::gf128::{MODULUS, multiply};
/// assert_eq!(multiply(1 << 127, 1 << 1, MODULUS), 0x87); // x^128
/// ```
#[must_use]
pub fn multiply(left: u128, right: u128, modulus: u128) -> u128 {
    let mut product = [false; PRODUCT];
    for i in (0..128).filter(|i| left >> i & 1 == 1) {
        for j in 0..128 {
            product[i + j] ^= right >> j & 1 == 1;
        }
    }
    // From the highest on: x^k is x^(k-128) times what x^128 is.
    for k in (128..PRODUCT).rev() {
        if product[k] {
            product[k] = false;
            for j in 0..128 {
                product[k - 128 + j] ^= modulus >> j & 1 == 1;
            }
        }
    }
    (0..128).filter(|&i| product[i]).fold(0, |sum, i| sum | 1 << i)
}

/// The element whose square `element` is, modulo [`MODULUS`]: squaring 128 times is the identity.
#[must_use]
pub fn square_root(element: u128) -> u128 {
    (0..127).fold(element, |square, _| multiply(square, square, MODULUS))
}

/// The element that a block of GHASH is, and the other way round: the leftmost bit of the first byte is the coefficient
/// of 1 (SP 800-38D, section 6.3).
#[must_use]
pub const fn of_ghash(block: [u8; 16]) -> u128 {
    u128::from_be_bytes(block).reverse_bits()
}

/// The block of GHASH that an element is.
#[must_use]
pub const fn to_ghash(element: u128) -> [u8; 16] {
    element.reverse_bits().to_be_bytes()
}

/// The product of two blocks of GHASH.
#[must_use]
pub fn ghash_product(left: [u8; 16], right: [u8; 16]) -> [u8; 16] {
    to_ghash(multiply(of_ghash(left), of_ghash(right), MODULUS))
}

/// The product of two blocks of POLYVAL, which is that of the field times x^-128 (RFC 8452, section 3); the lowest bit of
/// the first byte is the coefficient of 1.
#[must_use]
pub fn polyval_product(left: [u8; 16], right: [u8; 16]) -> [u8; 16] {
    let [left, right] = [left, right].map(u128::from_le_bytes);
    let product = multiply(left, right, POLYVAL_MODULUS);
    multiply(product, POLYVAL_INVERSE, POLYVAL_MODULUS).to_le_bytes()
}

/// The masks of an XTS data unit from the `first` on, a block each and without an end: each is the one before times x, the
/// lowest bit of the first byte being the coefficient of 1 (IEEE 1619, section 5.2).
///
/// ```
/// use lanecrypt_reference::gf128::xts_masks;
/// let first = 1_u128.to_le_bytes();
/// assert_eq!(xts_masks(first).nth(128), Some(0x87_u128.to_le_bytes()));
/// ```
pub fn xts_masks(first: [u8; 16]) -> impl Iterator<Item = [u8; 16]> {
    let step = |mask: &u128| Some(multiply(1 << 1, *mask, MODULUS));
    iter::successors(Some(u128::from_le_bytes(first)), step).map(u128::to_le_bytes)
}

/// How many of these blocks are independent: 128 where all blocks are sums of them, so that they serve as a basis.
///
/// ```
/// use lanecrypt_reference::gf128::{basis, rank};
/// assert_eq!(rank(&basis()), 128);
/// assert_eq!(rank(&[[1; 16], [2; 16], [3; 16]]), 2);
/// ```
#[must_use]
pub fn rank(blocks: &[[u8; 16]]) -> usize {
    // With the highest bit of each found once, a block is reduced by those that have its highest bit.
    let mut by_highest_bit = [0_u128; 128];
    for block in blocks {
        let mut rest = u128::from_le_bytes(*block);
        while let Some(bit) = rest.checked_ilog2() {
            let known = &mut by_highest_bit[bit as usize];
            if *known == 0 {
                *known = rest;
                break;
            }
            rest ^= *known;
        }
    }
    by_highest_bit.iter().filter(|kept| **kept != 0).count()
}

/// The 128 blocks in which one bit is set: a basis of all blocks, in any notation. What is linear in a block is right for
/// all of them where it is right for these.
#[must_use]
pub const fn basis() -> [[u8; 16]; 128] {
    let mut blocks = [[0; 16]; 128];
    let mut i = 0;
    while i < 128 {
        blocks[i] = (1_u128 << i).to_le_bytes();
        i += 1;
    }
    blocks
}
