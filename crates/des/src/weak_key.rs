//! Keys that DES is weak under.

use core::fmt;

use crate::schedule::{BLOCK, halves_of_key, rotate28};

/// A weak key was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeakKeyError;

impl fmt::Display for WeakKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key is one of those that DES is weak under")
    }
}

impl core::error::Error for WeakKeyError {}

/// Checks a key of 8, 16 or 24 bytes for the 64 weak, semi-weak and possibly weak keys of DES, and
/// whether parts of it are equal, which makes triple DES two-key or single DES.
///
/// Parity bits are ignored here as in the cipher (the `des` crate compares them as well). Takes
/// the same time for all keys of a length.
///
/// # Errors
/// [`WeakKeyError`] for such a key, and for one of another length, which is no key at all.
pub fn weak_key_test(key: &[u8]) -> Result<(), WeakKeyError> {
    let (parts, rest) = key.as_chunks::<BLOCK>();
    let mut is_weak = !rest.is_empty() || parts.is_empty() || parts.len() > 3;
    for (i, part) in parts.iter().enumerate() {
        let halves = halves_of_key(u64::from_be_bytes(*part));
        is_weak |= halves_of_weak(halves);
        for other in &parts[..i] {
            is_weak |= halves == halves_of_key(u64::from_be_bytes(*other));
        }
    }
    if is_weak { Err(WeakKeyError) } else { Ok(()) }
}

/// Under these keys there are only one, two or four different round keys: both halves of the key
/// repeat every four bits, with an even number of ones among the four.
fn halves_of_weak(halves: [u32; 2]) -> bool {
    halves.iter().fold(true, |weak, &half| {
        weak & (half == rotate28(half, 4)) & ((half & 0xf).count_ones() % 2 == 0)
    })
}
