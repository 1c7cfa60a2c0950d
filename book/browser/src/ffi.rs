//! What JavaScript calls. All go through one buffer: a call reads what the page has written there and leaves there what it
//! answers, of the length that it returns. Keys are published ones or of no use outside the page, and stay in it.
#![allow(unsafe_code, reason = "names that JavaScript sees; there is no unsafe block")]

use std::sync::{Mutex, PoisonError};

use lanecrypt::Direction;

static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Gives the buffer this length, what is in it as far as that goes, and says where it is.
#[unsafe(no_mangle)]
extern "C" fn buffer(bytes: usize) -> *mut u8 {
    with_buffer(|buffer| {
        buffer.resize(bytes, 0);
        buffer.as_mut_ptr()
    })
}

/// The ciphers as JSON, in the order of their numbers.
#[unsafe(no_mangle)]
extern "C" fn ciphers() -> usize {
    answer(crate::ciphers())
}

/// The source of a cipher's kernels.
#[unsafe(no_mangle)]
extern "C" fn kernels(cipher: usize) -> usize {
    answer(crate::numbered(cipher).family.program().wgsl())
}

/// What the kernels take of the key in the buffer: masks, 16 KiB, then the name of the kernel.
#[unsafe(no_mangle)]
extern "C" fn keys(cipher: usize, decrypts: bool) -> usize {
    let keys =
        with_buffer(|key| crate::keys(crate::numbered(cipher).family, direction(decrypts), key));
    answer(keys)
}

/// Runs the key at the buffer's start over the blocks behind it, as the reference reads or by the fastest code.
#[unsafe(no_mangle)]
extern "C" fn run(cipher: usize, decrypts: bool, is_reference: bool, key_bytes: usize) -> usize {
    let backend = if is_reference { "reference" } else { "default" };
    with_buffer(|buffer| {
        let (key, blocks) = buffer.split_at_mut(key_bytes);
        crate::run(
            (crate::numbered(cipher).cipher.name, backend),
            direction(decrypts),
            key,
            blocks,
        );
        buffer.len()
    })
}

fn direction(decrypts: bool) -> Direction {
    if decrypts { Direction::Decrypt } else { Direction::Encrypt }
}

fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    work(&mut BUFFER.lock().unwrap_or_else(PoisonError::into_inner))
}

fn answer(bytes: impl Into<Vec<u8>>) -> usize {
    with_buffer(|buffer| {
        *buffer = bytes.into();
        buffer.len()
    })
}
