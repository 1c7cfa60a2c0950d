//! S-boxes as tables, computed from the definitions in the standards and never typed in.

use crate::gf256::{self, AES_MODULUS, CAMELLIA_MODULUS, SEED_MODULUS, SM4_MODULUS};

/// The AES S-box: inversion in GF(2^8), then [`AES_AFFINE`] (FIPS 197, section 5.1.1).
pub const AES: [u8; 256] = aes();

/// The inverse of the AES S-box (FIPS 197, section 5.3.2).
pub const AES_INVERSE: [u8; 256] = invert(&AES);

/// The affine map of the AES S-box: output bit i is
/// b(i) ^ b(i+4) ^ b(i+5) ^ b(i+6) ^ b(i+7) ^ c(i), indexes modulo 8, with c = 0x63.
pub const AES_AFFINE: AffineMap = rotating(0b1111_0001, 0x63);

/// ARIA's S-box S2: the 247th power, which is the 8th power of the inverse, then [`ARIA_AFFINE`]
/// (RFC 5794, section 2.4.2). S1 is [`AES`].
pub const ARIA_S2: [u8; 256] = {
    let mut table = [0; 256];
    let mut input = 0;
    while input < 256 {
        table[input] = ARIA_AFFINE.apply(gf256::power(input as u8, 247, AES_MODULUS));
        input += 1;
    }
    table
};

/// The inverse of ARIA's S-box S2.
pub const ARIA_S2_INVERSE: [u8; 256] = invert(&ARIA_S2);

/// The affine map of ARIA's S-box S2 (New Block Cipher: ARIA, ICISC 2003, section 2.2). The matrix
/// is printed there with the least significant bit at the left and at the top.
pub const ARIA_AFFINE: AffineMap = AffineMap {
    rows: [
        0b0101_1110_u8.reverse_bits(),
        0b0011_1101_u8.reverse_bits(),
        0b1101_0111_u8.reverse_bits(),
        0b1001_1101_u8.reverse_bits(),
        0b0010_1100_u8.reverse_bits(),
        0b1000_0001_u8.reverse_bits(),
        0b0101_1101_u8.reverse_bits(),
        0b1101_0011_u8.reverse_bits(),
    ],
    constant: 0xe2,
};

/// Camellia's S-boxes SBOX1 to SBOX4 (RFC 3713, section 2.4.1).
pub const CAMELLIA: [[u8; 256]; 4] = camellia();

/// SEED's S-boxes S0 and S1: the powers 247 and 251, which are linear images of the inverse, each
/// followed by an affine map (RFC 4269, section 2.2).
pub const SEED: [[u8; 256]; 2] = seed();

// ANCHOR: sm4
/// SM4's S-box: [`SM4_AFFINE`], inversion in its field, and [`SM4_AFFINE`] again. GB/T 32907 has the table alone; the
/// definition is that of Analysis of the SMS4 Block Cipher (ACISP 2007, section 3).
pub const SM4: [u8; 256] = {
    let mut table = [0; 256];
    let mut input = 0;
    while input < 256 {
        let inverse = gf256::inverse(SM4_AFFINE.apply(input as u8), SM4_MODULUS);
        table[input] = SM4_AFFINE.apply(inverse);
        input += 1;
    }
    table
};

/// The affine map of SM4's S-box, before inversion and after it: output bit i is
/// b(i) ^ b(i+1) ^ b(i+2) ^ b(i+5) ^ b(i+7) ^ c(i), indexes modulo 8, with c = 0xd3.
pub const SM4_AFFINE: AffineMap = rotating(0b1010_0111, 0xd3);
// ANCHOR_END: sm4

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
    /// The map whose matrix is printed with the most significant bit at the left and at the top.
    const fn printed(matrix: [u8; 8], constant: u8) -> Self {
        let [b7, b6, b5, b4, b3, b2, b1, b0] = matrix;
        Self { rows: [b0, b1, b2, b3, b4, b5, b6, b7], constant }
    }

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

/// The map of which each row is the one before, rotated by a bit.
const fn rotating(first: u8, constant: u8) -> AffineMap {
    let mut rows = [0; 8];
    let mut row = 0;
    while row < 8 {
        rows[row as usize] = first.rotate_left(row);
        row += 1;
    }
    AffineMap { rows, constant }
}

const fn aes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut input = 0;
    while input < 256 {
        let inverse = gf256::inverse(input as u8, AES_MODULUS);
        table[input] = AES_AFFINE.apply(inverse);
        input += 1;
    }
    table
}

/// Camellia's f, after the addition of 0xc5 to its input (specification, section 4.4.4).
const CAMELLIA_F: AffineMap = AffineMap::printed(
    [
        0b0100_0100, // a2 + a6
        0b1000_0010, // a1 + a7
        0b0010_1001, // a3 + a5 + a8
        0b0010_0001, // a3 + a8
        0b0001_0010, // a4 + a7
        0b0100_1000, // a2 + a5
        0b1000_0001, // a1 + a8
        0b0001_0100, // a4 + a6
    ],
    0,
);

/// Camellia's h, and the addition of 0x6e to its output (specification, section 4.4.4).
const CAMELLIA_H: AffineMap = AffineMap::printed(
    [
        0b0100_1100, // a2 + a5 + a6
        0b0100_0100, // a2 + a6
        0b0001_0010, // a4 + a7
        0b0100_0001, // a2 + a8
        0b0010_0010, // a3 + a7
        0b1000_0001, // a1 + a8
        0b1000_1000, // a1 + a5
        0b0010_0100, // a3 + a6
    ],
    0x6e,
);

/// The basis of Camellia's field over GF(2) in which SBOX1 reads and writes its bytes, the element
/// of the least significant bit first: 1, a, a^2, a^3, b, ab, a^2 b, a^3 b with b the class of x and
/// a = b^238 (specification, section 4.4.4).
const CAMELLIA_BASIS: [u8; 8] = {
    let beta = 2;
    let alpha = gf256::power(beta, 238, CAMELLIA_MODULUS);
    let mut basis = [1; 8];
    let mut i = 0;
    while i < 8 {
        let of_alpha = gf256::power(alpha, i % 4, CAMELLIA_MODULUS);
        let of_beta = gf256::power(beta, i / 4, CAMELLIA_MODULUS);
        basis[i as usize] = gf256::multiply(of_alpha, of_beta, CAMELLIA_MODULUS);
        i += 1;
    }
    basis
};

/// The element whose coordinates in [`CAMELLIA_BASIS`] are `byte`.
const fn camellia_element(byte: u8) -> u8 {
    let mut element = 0;
    let mut bit = 0;
    while bit < 8 {
        if byte >> bit & 1 == 1 {
            element ^= CAMELLIA_BASIS[bit];
        }
        bit += 1;
    }
    element
}

/// The element of GF(2^8), modulo [`CAMELLIA_MODULUS`], that SBOX1 inverts for an input.
#[must_use]
pub const fn camellia_inverted(input: u8) -> u8 {
    camellia_element(CAMELLIA_F.apply(input ^ 0xc5))
}

const fn camellia() -> [[u8; 256]; 4] {
    let mut elements = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        elements[byte] = camellia_element(byte as u8);
        byte += 1;
    }
    let coordinates = invert(&elements);
    let mut tables = [[0; 256]; 4];
    let mut input = 0;
    while input < 256 {
        let inverse = gf256::inverse(camellia_inverted(input as u8), CAMELLIA_MODULUS);
        let output = CAMELLIA_H.apply(coordinates[inverse as usize]);
        tables[0][input] = output;
        tables[1][input] = output.rotate_left(1);
        tables[2][input] = output.rotate_right(1);
        tables[3][(input as u8).rotate_right(1) as usize] = output; // SBOX4(x) = SBOX1(x <<< 1)
        input += 1;
    }
    tables
}

const fn seed() -> [[u8; 256]; 2] {
    // Both matrices have the same rows, in another order.
    let first = AffineMap::printed(
        [
            0b1000_1010,
            0b1111_1110,
            0b1000_0101,
            0b0100_0010,
            0b0100_0101,
            0b0010_0001,
            0b1000_1000,
            0b0001_0100,
        ],
        169,
    );
    let second = AffineMap::printed(
        [
            0b0100_0101,
            0b1000_0101,
            0b1111_1110,
            0b0010_0001,
            0b1000_1010,
            0b1000_1000,
            0b0100_0010,
            0b0001_0100,
        ],
        56,
    );
    let mut tables = [[0; 256]; 2];
    let mut input = 0;
    while input < 256 {
        tables[0][input] = first.apply(gf256::power(input as u8, 247, SEED_MODULUS));
        tables[1][input] = second.apply(gf256::power(input as u8, 251, SEED_MODULUS));
        input += 1;
    }
    tables
}
