//! What a backend did that the file does not say.

use lanecrypt::Direction;

/// Bytes of a text that are shown, from the 16-byte boundary before the first wrong byte.
const SHOWN: usize = 16;

/// One way in which a case fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The direction, where it matters.
    pub direction: Option<Direction>,
    /// What differs.
    pub what: String,
}

impl Difference {
    pub(super) fn new(direction: Option<Direction>, what: impl Into<String>) -> Self {
        Self { direction, what: what.into() }
    }
}

/// Where `found` differs from `expected`, with the bytes around; `None` where they are the same.
/// Both are a piece of a text that starts `offset` bytes into it.
pub(super) fn first_difference(expected: &[u8], found: &[u8], offset: u64) -> Option<String> {
    if expected == found {
        return None;
    }
    if expected.len() != found.len() {
        return Some(format!("{} bytes for {}", found.len(), expected.len()));
    }
    let at = expected.iter().zip(found).position(|(a, b)| a != b)?;
    let start = at / SHOWN * SHOWN;
    let shown = start..expected.len().min(start + SHOWN);
    Some(format!(
        "byte {} differs; from byte {} on, expected {} found {}",
        offset + at as u64,
        offset + start as u64,
        hex::encode(&expected[shown.clone()]),
        hex::encode(&found[shown]),
    ))
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn names_the_first_wrong_byte() {
        let expected = [7; 40];
        let mut found = expected;
        assert_eq!(first_difference(&expected, &found, 0), None);
        found[33] = 8;
        let text = first_difference(&expected, &found, 64).expect("they differ");
        assert_eq!(
            text,
            "byte 97 differs; from byte 96 on, expected 0707070707070707 found 0708070707070707"
        );
    }
}
