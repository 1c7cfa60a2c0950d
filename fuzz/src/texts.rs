//! What people and programs write in a line: names of ciphers, lists of backends, numbers of bytes, places of objects; and
//! the JSON that machines hand each other.

use std::{fmt::Display, str::FromStr};

use lanecrypt::{BackendChoice, CIPHERS, CipherName, registry::Selection, size::parse_bytes};
use lanecrypt_objects::{Location, Plan, Receipt};
use lanecrypt_tink::{Template, job::SealingJob};

/// Whatever the text, each reader gives a value or an error of a few lines; a value that is written reads as itself.
///
/// # Panics
/// Where that does not hold.
pub fn texts(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if text.len() < 200 {
        names(&text);
    }
    written_again(SealingJob::from_json(&text), SealingJob::to_json, SealingJob::from_json);
    written_again(Plan::from_json(&text), Plan::to_json, Plan::from_json);
    written_again(Receipt::from_json(&text), Receipt::to_json, Receipt::from_json);
}

fn names(text: &str) {
    if let Ok(name) = text.parse::<CipherName>() {
        let again: CipherName = name.to_string().parse().expect("its own name");
        assert_eq!(again.to_string(), name.to_string());
    }
    short(text.parse::<CipherName>());
    short(text.parse::<BackendChoice>());
    short(text.parse::<Template>());
    short(Location::from_str(text));
    short(Selection::parse(text, CIPHERS));
    short(parse_bytes(text));
}

/// An error may name the text once, and what is accepted.
fn short<T, E: Display>(read: Result<T, E>) {
    let length = read.err().map_or(0, |error| error.to_string().len());
    assert!(length < 5000, "an error of {length} bytes");
}

fn written_again<T, E: Display>(
    read: Result<T, E>,
    write: impl Fn(&T) -> Result<String, E>,
    reread: impl Fn(&str) -> Result<T, E>,
) {
    let value = match read {
        Ok(value) => value,
        Err(error) => return short(Err::<(), _>(error)),
    };
    let text = |value: &T| write(value).map_err(|error| error.to_string()).expect("it was read");
    let written = text(&value);
    let again = reread(&written).map_err(|error| error.to_string()).expect("it was written");
    assert_eq!(text(&again), written);
}
