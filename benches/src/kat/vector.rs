//! An ordinary line: a plaintext and its ciphertext, both ways, in place and out of place.

use lanecrypt::{Direction, Error, Mode, cipher::InOutBuf, registry::Backend};
use lanecrypt_reference::vectors::{Outcome, Vector};

use super::{
    difference::{Difference, first_difference},
    keyed::{Beside, Keyed},
};

/// What differs, at most once a direction.
pub(super) fn check(vector: &Vector, mode: Mode, backend: &Backend) -> Vec<Difference> {
    let [iv, aad, tag] =
        [&vector.iv, &vector.aad, &vector.tag].map(|field| field.as_deref().unwrap_or_default());
    let keyed = match Keyed::new(backend, mode, &vector.key, Beside { iv, aad, tag }) {
        Ok(keyed) => keyed,
        Err(error) if vector.outcome == Outcome::Rejection && refuses(&error) => return Vec::new(),
        Err(error) => return vec![Difference::new(None, format!("cannot be keyed: {error}"))],
    };
    let (Some(plaintext), Outcome::Success) = (&vector.pt, vector.outcome) else {
        return rejects(&keyed, &vector.ct).into_iter().collect();
    };
    let way = |direction| {
        let (input, expected) = match direction {
            Direction::Encrypt => (plaintext, &vector.ct),
            Direction::Decrypt => (&vector.ct, plaintext),
        };
        let found = in_place(&keyed, direction, input, expected);
        let what = found.or_else(|| out_of_place(&keyed, direction, input, expected));
        what.map(|what| Difference::new(Some(direction), what))
    };
    Direction::BOTH.into_iter().filter_map(way).collect()
}

fn in_place(
    keyed: &Keyed<'_>,
    direction: Direction,
    input: &[u8],
    expected: &[u8],
) -> Option<String> {
    let mut data = input.to_vec();
    if let Err(error) = keyed.apply(direction, data.as_mut_slice().into()) {
        return Some(format!("in place: {error}"));
    }
    first_difference(expected, &data, 0).map(|what| format!("in place: {what}"))
}

fn out_of_place(
    keyed: &Keyed<'_>,
    direction: Direction,
    input: &[u8],
    expected: &[u8],
) -> Option<String> {
    // Poison that is wrong in every byte, so that one left unwritten always shows.
    let mut output: Vec<u8> = expected.iter().map(|byte| !byte).collect();
    let Ok(data) = InOutBuf::new(input, &mut output) else {
        return Some(format!("{} bytes in the file for {}", expected.len(), input.len()));
    };
    if let Err(error) = keyed.apply(direction, data) {
        return Some(format!("out of place: {error}"));
    }
    first_difference(expected, &output, 0).map(|what| format!("out of place: {what}"))
}

/// A line that must be rejected: decryption has to fail for what it was given, and to write nothing.
fn rejects(keyed: &Keyed<'_>, ciphertext: &[u8]) -> Option<Difference> {
    let mut data = ciphertext.to_vec();
    let what = match keyed.apply(Direction::Decrypt, data.as_mut_slice().into()) {
        Err(error) if refuses(&error) && data == ciphertext => return None,
        Err(error) if refuses(&error) => format!("was refused ({error}), but written to"),
        Err(error) => format!("failed for another reason than its input: {error}"),
        Ok(()) => "was accepted, but must be rejected".to_owned(),
    };
    Some(Difference::new(Some(Direction::Decrypt), what))
}

/// Whether an error is about what was given, and not about the machine.
fn refuses(error: &Error) -> bool {
    !matches!(error, Error::Unavailable(_) | Error::Device(_))
}
