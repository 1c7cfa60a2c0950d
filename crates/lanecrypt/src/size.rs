//! Numbers of bytes as people write them, for programs over this library.
//!
//! ```
//! use lanecrypt::size::{parse_bytes, size_name};
//!
//! assert_eq!(parse_bytes("64K"), Ok(65_536));
//! assert_eq!(size_name(65_536), "64 KiB");
//! ```

/// Bytes from text such as `4096`, `64K` or `4G`, with K, M, G and T as powers of 1024.
///
/// # Errors
/// A sentence that says what is accepted.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        Some(b't' | b'T') => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'));
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "a number of bytes is digits and then K, M, G, T or nothing".to_owned())
}

/// The shortest exact name of a number of bytes: `64 KiB`, `1500 B`.
#[must_use]
pub fn size_name(bytes: usize) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse_bytes("16"), Ok(16));
        assert_eq!(parse_bytes("64k"), Ok(64 << 10));
        assert_eq!(parse_bytes("2M"), Ok(2 << 20));
        assert_eq!(parse_bytes("4G"), Ok(4 << 30));
        assert_eq!(parse_bytes("5t"), Ok(5 << 40));
        for wrong in ["", "K", "-1", "+1", "1.5M", "99999999999999999999", "12Q", "1µ"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_named_exactly() {
        for (bytes, name) in
            [(0, "0 B"), (16, "16 B"), (1500, "1500 B"), (4096, "4 KiB"), (6 << 20, "6 MiB")]
        {
            assert_eq!(size_name(bytes), name);
        }
        assert_eq!(size_name(4 << 30), "4 GiB");
    }
}
