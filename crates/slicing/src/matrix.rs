//! 8x8 matrices over GF(2) as the GFNI instructions take them, and constant arithmetic on them.
//!
//! The row of output bit `i` is byte `7 - i`; bit `j` of a row is the coefficient of input bit `j`.

/// The matrix times a byte.
#[must_use]
pub const fn apply(matrix: u64, byte: u8) -> u8 {
    let rows = matrix.to_be_bytes();
    let mut image = 0;
    let mut i = 0;
    while i < 8 {
        image |= (((rows[i] & byte).count_ones() & 1) as u8) << i;
        i += 1;
    }
    image
}

/// `MATRIX` times every byte of a word, without a branch or an address that depends on it.
#[allow(clippy::inline_always, reason = "to be compiled with an instruction set, in loops")]
#[must_use]
#[inline(always)]
pub const fn apply_to_bytes<const MATRIX: u64>(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let columns = const { columns(MATRIX) };
    let mut image = 0;
    let mut j = 0;
    while j < 8 {
        // Bit j of every byte: all ones where it is set.
        let bits = word >> j & LOW;
        image ^= (bits << 8).wrapping_sub(bits) & (LOW * columns[j] as u64);
        j += 1;
    }
    image
}

/// `x -> after(mask & before(x))`, from `BEFORE` [`transposed`].
#[allow(clippy::inline_always, reason = "to be compiled with an instruction set, in loops")]
#[must_use]
#[inline(always)]
pub const fn masked<const BEFORE_TRANSPOSED: u64>(after: u64, mask: u8) -> u64 {
    apply_to_bytes::<BEFORE_TRANSPOSED>(after & (0x0101_0101_0101_0101 * mask as u64))
}

/// Rows and columns exchanged.
#[must_use]
pub const fn transposed(matrix: u64) -> u64 {
    u64::from_be_bytes(columns(matrix))
}

/// The images of the bytes with a single bit, lowest bit first.
const fn columns(matrix: u64) -> [u8; 8] {
    let mut columns = [0; 8];
    let mut j = 0;
    while j < 8 {
        columns[j] = apply(matrix, 1 << j);
        j += 1;
    }
    columns
}

/// From the images of the bytes with a single bit, lowest bit first.
#[must_use]
pub const fn from_columns(columns: [u8; 8]) -> u64 {
    let mut rows = [0; 8];
    let mut i = 0;
    while i < 8 {
        let mut j = 0;
        while j < 8 {
            rows[i] |= (columns[j] >> i & 1) << j;
            j += 1;
        }
        i += 1;
    }
    u64::from_be_bytes(rows)
}

/// `x -> left(right(x))`.
#[must_use]
pub const fn compose(left: u64, right: u64) -> u64 {
    let mut columns = [0; 8];
    let mut j = 0;
    while j < 8 {
        columns[j] = apply(left, apply(right, 1 << j));
        j += 1;
    }
    from_columns(columns)
}

/// The inverse of a matrix that has one; for constants, as it tries every byte.
#[must_use]
pub const fn inverse(matrix: u64) -> u64 {
    let mut columns = [0; 8];
    let mut byte = 0_u16;
    while byte < 256 {
        let image = apply(matrix, byte as u8);
        if image.is_power_of_two() {
            columns[image.trailing_zeros() as usize] = byte as u8;
        }
        byte += 1;
    }
    from_columns(columns)
}

/// The rotation by `by` bits towards the most significant one.
#[must_use]
pub const fn rotation(by: u32) -> u64 {
    let mut columns = [0; 8];
    let mut j = 0;
    while j < 8 {
        columns[j] = (1u8 << j).rotate_left(by);
        j += 1;
    }
    from_columns(columns)
}

/// The bytes with a single bit, the highest bit first: as rows of an operand, what transposes a
/// matrix.
#[cfg(target_arch = "x86_64")]
pub(crate) const UNITS: u64 = 0x0102_0408_1020_4080;

/// Every byte with its bits turned round.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn rows(sums: u64) -> u64 {
    sums.reverse_bits().swap_bytes()
}

/// A byte as it is.
pub const IDENTITY: u64 = rotation(0);
/// A byte shifted up by a bit, whose top bit is lost.
pub const SHIFT_UP: u64 = from_columns([2, 4, 8, 16, 32, 64, 128, 0]);
/// The top bit of a byte as its lowest.
pub const TOP_BIT: u64 = from_columns([0, 0, 0, 0, 0, 0, 0, 1]);

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: u64 = 0xf1e3_c78f_1f3e_7cf8; // of the AES S-box

    #[test]
    fn constants_are_what_they_say() {
        for byte in 0..=255 {
            assert_eq!(apply(IDENTITY, byte), byte);
            assert_eq!(apply(SHIFT_UP, byte), byte << 1);
            assert_eq!(apply(TOP_BIT, byte), byte >> 7);
            assert_eq!(apply(rotation(3), byte), byte.rotate_left(3));
        }
    }

    #[test]
    fn matrices_compose_and_invert() {
        for byte in 0..=255 {
            let image = apply(MATRIX, byte);
            assert_eq!(apply(inverse(MATRIX), image), byte);
            assert_eq!(apply(compose(MATRIX, SHIFT_UP), byte), apply(MATRIX, byte << 1));
            let word = u64::from_le_bytes([byte, 1, 2, 3, 0xff, byte, !byte, 0]);
            let images = word.to_le_bytes().map(|byte| apply(MATRIX, byte));
            let mask = byte.wrapping_mul(0x35);
            let all = masked::<{ transposed(MATRIX) }>(SHIFT_UP, mask);
            assert_eq!(apply(all, byte), apply(SHIFT_UP, mask & apply(MATRIX, byte)));
            assert_eq!(apply_to_bytes::<MATRIX>(word).to_le_bytes(), images);
        }
    }
}
