//! What JavaScript calls. All go through one buffer: a call reads what the page has written there and leaves there what it
//! answers, of the length that it returns.
#![allow(unsafe_code, reason = "names that JavaScript sees; there is no unsafe block")]

use std::sync::{Mutex, PoisonError};

static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Gives the buffer this length and says where it is.
#[unsafe(no_mangle)]
extern "C" fn buffer(bytes: usize) -> *mut u8 {
    with_buffer(|buffer| {
        buffer.resize(bytes, 0);
        buffer.as_mut_ptr()
    })
}

/// What the form offers, as JSON.
#[unsafe(no_mangle)]
extern "C" fn known() -> usize {
    answer(lanecrypt_roof::known())
}

/// Predictions for the counts in the buffer's first line and the card in its second, which may be empty, as JSON; or what
/// is wrong with them, in an object.
#[unsafe(no_mangle)]
extern "C" fn predict() -> usize {
    let text = with_buffer(|buffer| String::from_utf8_lossy(buffer).into_owned());
    let (counts, card) = text.split_once('\n').unwrap_or((&text, ""));
    answer(match lanecrypt_roof::answer(counts, card) {
        Ok(predictions) => lanecrypt_roof::json(&predictions),
        Err(what) => format!(r#"{{"error":"{}"}}"#, what.replace(['"', '\\'], "'")),
    })
}

fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    work(&mut BUFFER.lock().unwrap_or_else(PoisonError::into_inner))
}

fn answer(text: String) -> usize {
    with_buffer(|buffer| {
        *buffer = text.into_bytes();
        buffer.len()
    })
}
