//! The reader of keysets over any text.

use lanecrypt_tink::Keyset;

/// A text is a keyset or a typed error that does not repeat it; a keyset that was read is written as a text that is read
/// as the same one, and none of its keys is in a Debug text.
///
/// # Panics
/// Where that does not hold.
pub fn keysets(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let keyset = match Keyset::from_json(&text) {
        Ok(keyset) => keyset,
        Err(error) => {
            assert!(error.to_string().len() < 1000, "an error repeats the input");
            return;
        }
    };
    let written = keyset.to_json().expect("what was read can be written");
    let again = Keyset::from_json(&written).expect("what was written can be read");
    assert_eq!(*written, *again.to_json().expect("likewise"));
    let shown = format!("{keyset:?}");
    let values = written.split("\"value\": \"").skip(1);
    for value in values.filter_map(|rest| rest.split('"').next()).filter(|value| value.len() > 20) {
        assert!(!shown.contains(value), "a key is in a Debug text");
    }
}
