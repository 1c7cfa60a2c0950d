//! Arithmetic in GF(2^8), for any modulus of degree 8.
//!
//! An element is a polynomial over GF(2) of degree 7 or less, written as a byte: bit i is the
//! coefficient of x^i (FIPS 197, section 4). Sums are XOR; products are taken modulo a polynomial
//! of degree 8, which is what tells one cipher's field from another's.
//!
//! A modulus is given as its nine coefficients, `0x11b` for x^8 + x^4 + x^3 + x + 1. Only moduli of
//! degree 8 exist here, so the bit of x^8 is taken as set whether it is given or not, and higher
//! bits are ignored. The ring is a field, and [`inverse`] an inverse, when the modulus is
//! irreducible.

/// The modulus of AES, x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2).
pub const AES_MODULUS: u16 = 0x11b;

/// The modulus of Camellia, x^8 + x^6 + x^5 + x^3 + 1 (specification, section 4.4.4).
pub const CAMELLIA_MODULUS: u16 = 0x169;

/// The modulus of SEED, x^8 + x^6 + x^5 + x + 1 (RFC 4269, section 2.2).
pub const SEED_MODULUS: u16 = 0x163;

/// The modulus of SM4, x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1 (Analysis of the SMS4 Block Cipher, ACISP 2007, section 3).
pub const SM4_MODULUS: u16 = 0x1f5;

/// The product of `left` and `right` modulo `modulus`.
///
/// ```
/// use lanecrypt_reference::gf256::{AES_MODULUS, multiply};
/// assert_eq!(multiply(0x57, 0x83, AES_MODULUS), 0xc1); // FIPS 197, section 4.2
/// ```
#[must_use]
pub const fn multiply(left: u8, right: u8, modulus: u16) -> u8 {
    let mut product = 0;
    let mut shifted = left; // left * x^bit
    let mut bit = 0;
    while bit < 8 {
        if right >> bit & 1 == 1 {
            product ^= shifted;
        }
        shifted = multiply_by_x(shifted, modulus);
        bit += 1;
    }
    product
}

/// The product of `element` and x modulo `modulus`: XTIME of FIPS 197, section 4.2.
#[must_use]
pub const fn multiply_by_x(element: u8, modulus: u16) -> u8 {
    let [_, reduction] = modulus.to_be_bytes(); // x^8 = the other coefficients
    if element & 0x80 == 0 { element << 1 } else { (element << 1) ^ reduction }
}

/// The multiplicative inverse of `element` modulo an irreducible `modulus`, and 0 for 0.
///
/// The non-zero elements are a group of order 255, so the inverse is the 254th power; that formula
/// also takes 0 to 0, as S-boxes want it. For a reducible modulus the result is that power and
/// nothing more.
#[must_use]
pub const fn inverse(element: u8, modulus: u16) -> u8 {
    // 254 = 2 + 4 + 8 + 16 + 32 + 64 + 128
    let mut power = 1;
    let mut square = element;
    let mut bit = 1;
    while bit < 8 {
        square = multiply(square, square, modulus);
        power = multiply(power, square, modulus);
        bit += 1;
    }
    power
}

/// `element` to the power `exponent` modulo `modulus`; the power 0 is 1.
#[must_use]
pub const fn power(element: u8, exponent: u8, modulus: u16) -> u8 {
    let mut power = 1;
    let mut bit = 8;
    while bit > 0 {
        bit -= 1;
        power = multiply(power, power, modulus);
        if exponent >> bit & 1 == 1 {
            power = multiply(power, element, modulus);
        }
    }
    power
}
