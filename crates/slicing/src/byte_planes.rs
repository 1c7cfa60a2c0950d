//! Up to 64 bytes, of one block or of several, as eight planes: for what is too short for a batch.
//!
//! Here a lane is a byte, not a block. With `i` the bits of a byte's index and `b` those of a bit's,
//!
//! ```text
//! i5 i4 i3 | i2 i1 i0 | b2 b1 b0        bit b of byte i in memory: eight squares of 8 by 8 bits
//! b2 b1 b0 | i5 i4 i3 | i2 i1 i0        bit i of plane b
//! ```

/// Transposes the 8x8 bit matrix whose rows are the bytes of `square`.
fn transpose8(mut square: u64) -> u64 {
    // Row bits and column bits change places, the lowest of each first.
    for (distance, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let difference: u64 = (square ^ square >> distance) & mask;
        square ^= difference ^ difference << distance;
    }
    square
}

/// The planes of `squares`, eight bytes each, at most eight of them: bit `8i + j` of plane `b` is
/// bit `b` of byte `j` (the least significant first) of square `i`. Lanes beyond are zero.
///
/// ```
/// use lanecrypt_slicing::{byte_planes, unslice_bytes};
///
/// let planes = byte_planes(&[0x0000_0000_0000_ff01]);
/// assert_eq!((planes[0], planes[7]), (0b11, 0b10));
/// let mut squares = [0];
/// unslice_bytes(&planes, &mut squares);
/// assert_eq!(squares, [0xff01]);
/// ```
#[must_use]
pub fn byte_planes(squares: &[u64]) -> [u64; 8] {
    debug_assert!(squares.len() <= 8, "a plane has 64 lanes");
    let mut planes = [0; 8];
    for (i, square) in squares.iter().enumerate() {
        let rows = transpose8(*square).to_le_bytes();
        for (plane, row) in planes.iter_mut().zip(rows) {
            *plane |= u64::from(row) << (8 * i);
        }
    }
    planes
}

/// The inverse of [`byte_planes`].
pub fn unslice_bytes(planes: &[u64; 8], squares: &mut [u64]) {
    debug_assert!(squares.len() <= 8, "a plane has 64 lanes");
    for (i, square) in squares.iter_mut().enumerate() {
        let rows = planes.map(|plane| plane.to_le_bytes()[i]);
        *square = transpose8(u64::from_le_bytes(rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_bit_lands_where_the_definition_says(squares: [u64; 8], count in 0..=8_usize) {
            let planes = byte_planes(&squares[..count]);
            for (lane, bytes) in squares.map(u64::to_le_bytes).as_flattened().iter().enumerate() {
                for (bit, plane) in planes.iter().enumerate() {
                    let expected = if lane < 8 * count { byte_bit(*bytes, bit) } else { 0 };
                    prop_assert_eq!(plane >> lane & 1, expected);
                }
            }
            let mut back = [0; 8];
            unslice_bytes(&planes, &mut back[..count]);
            prop_assert_eq!(&back[..count], &squares[..count]);
        }
    }

    fn byte_bit(byte: u8, bit: usize) -> u64 {
        u64::from(byte >> bit & 1)
    }
}
