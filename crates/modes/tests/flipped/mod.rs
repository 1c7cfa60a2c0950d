//! Changing one bit of a message, for tests that it is refused then.

/// Flips bit `number`, modulo the number of all bits, of these strings one after the other.
pub(crate) fn flip_bit(parts: &mut [&mut [u8]], number: usize) {
    let bits: usize = parts.iter().map(|part| 8 * part.len()).sum();
    let mut bit = number % bits;
    for part in parts {
        if bit < 8 * part.len() {
            part[bit / 8] ^= 1 << (bit % 8);
            break;
        }
        bit -= 8 * part.len();
    }
}
