//! S-boxes as tables, computed from the definitions in the standards and never typed in.

use crate::gf256;

/// The AES S-box: inversion in GF(2^8), then [`AES_AFFINE`] (FIPS 197, section 5.1.1).
pub const AES: [u8; 256] = aes();

/// The inverse of the AES S-box (FIPS 197, section 5.3.2).
pub const AES_INVERSE: [u8; 256] = invert(&AES);

/// The affine map of the AES S-box: output bit i is
/// b(i) ^ b(i+4) ^ b(i+5) ^ b(i+6) ^ b(i+7) ^ c(i), indexes modulo 8, with c = 0x63.
pub const AES_AFFINE: AffineMap = aes_affine();

/// An affine map over GF(2) from 8 bits to 8 bits: a matrix, then a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffineMap {
    /// Row i: the mask of the input bits whose XOR is output bit i, both counted from the least
    /// significant bit.
    pub rows: [u8; 8],
    /// What is added, by XOR, to the result of the matrix.
    pub constant: u8,
}

impl AffineMap {
    /// The image of `input`.
    #[must_use]
    pub const fn apply(&self, input: u8) -> u8 {
        let mut output = self.constant;
        let mut bit = 0;
        while bit < 8 {
            let parity = (self.rows[bit] & input).count_ones() % 2 == 1;
            output ^= (parity as u8) << bit;
            bit += 1;
        }
        output
    }
}

/// The table of the permutation that undoes `sbox`.
///
/// `sbox` must be a permutation ([`is_permutation`]). Otherwise an output that several inputs share
/// gets the largest of them, and a value that is no output gets 0.
#[must_use]
pub const fn invert(sbox: &[u8; 256]) -> [u8; 256] {
    let mut inverted = [0; 256];
    let mut input = 0;
    while input < 256 {
        inverted[sbox[input] as usize] = input as u8;
        input += 1;
    }
    inverted
}

/// Whether every byte is an output of `sbox`, so that it can be inverted.
#[must_use]
pub const fn is_permutation(sbox: &[u8; 256]) -> bool {
    let mut seen = [false; 256];
    let mut input = 0;
    while input < 256 {
        if seen[sbox[input] as usize] {
            return false;
        }
        seen[sbox[input] as usize] = true;
        input += 1;
    }
    true
}

const fn aes_affine() -> AffineMap {
    let mut rows = [0; 8];
    let mut row = 0;
    while row < 8 {
        // Row 0 takes the input bits 0, 4, 5, 6 and 7; each row is the one before, rotated.
        rows[row as usize] = 0b1111_0001_u8.rotate_left(row);
        row += 1;
    }
    AffineMap { rows, constant: 0x63 }
}

const fn aes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut input = 0;
    while input < 256 {
        let inverse = gf256::inverse(input as u8, gf256::AES_MODULUS);
        table[input] = AES_AFFINE.apply(inverse);
        input += 1;
    }
    table
}
