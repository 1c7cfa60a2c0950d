//! Additions of bytes in a machine word ("Layouts").

// ANCHOR: answer
/// Lane `i` of seven begins at bit `9 i`.
const WITH_GAPS: u64 =
    0xff << 54 | 0xff << 45 | 0xff << 36 | 0xff << 27 | 0xff << 18 | 0xff << 9 | 0xff;
/// The top bit of each of eight bytes.
const TOP: u64 = 0x8080_8080_8080_8080;

/// Two operations: what runs into the gaps is cleared.
fn add_with_gaps(a: u64, b: u64) -> u64 {
    (a + b) & WITH_GAPS
}

/// Six operations: seven bits of each byte are added, and the top bits by XOR.
fn add_side_by_side(a: u64, b: u64) -> u64 {
    ((a & !TOP) + (b & !TOP)) ^ ((a ^ b) & TOP)
}

#[test]
fn no_carry_leaves_its_byte() {
    let spread = |bytes: [u8; 8], stride: usize, lanes: usize| -> u64 {
        (0..lanes).map(|i| u64::from(bytes[i]) << (stride * i)).sum()
    };
    for byte in 0..=255_u8 {
        let a = [byte, 255, 0, 128, byte, 127, 1, byte];
        for other in 0..=255_u8 {
            let b = [other, 255, other, 128, 255, 1, other, other];
            let sum: [u8; 8] = std::array::from_fn(|i| a[i].wrapping_add(b[i]));
            let [with_gaps, beside] = [(9, 7), (8, 8)]
                .map(|(stride, lanes)| [a, b, sum].map(|bytes| spread(bytes, stride, lanes)));
            assert_eq!(add_with_gaps(with_gaps[0], with_gaps[1]), with_gaps[2]);
            assert_eq!(add_side_by_side(beside[0], beside[1]), beside[2]);
        }
    }
}
// ANCHOR_END: answer
