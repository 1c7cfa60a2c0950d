//! The AES S-boxes from their definition, for the tests that need a table.

/// Product in GF(2^8) modulo x^8+x^4+x^3+x+1, bit by bit.
fn multiply(mut a: u16, b: u16) -> u16 {
    let mut product = 0;
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            product ^= a;
        }
        a <<= 1;
        if a & 0x100 != 0 {
            a ^= 0x11B;
        }
    }
    product
}

/// The S-box: inverse, found by trying all, then the affine map; and its inverse.
pub(crate) fn aes_tables() -> ([u8; 256], [u8; 256]) {
    let (mut forward, mut backward) = ([0; 256], [0; 256]);
    for input in 0..256u16 {
        let inverse = (0..256).find(|&other| multiply(input, other) == 1).unwrap_or(0) as u8;
        let turned = (1..5).fold(inverse, |sum, count| sum ^ inverse.rotate_left(count));
        let output = turned ^ 0x63;
        forward[usize::from(input)] = output;
        backward[usize::from(output)] = input as u8;
    }
    (forward, backward)
}
