//! Memory for long messages: jobs run side by side, but not with 4 GiB each.

use std::sync::{Condvar, Mutex, PoisonError};

/// Bytes that messages may take together; a longer message runs when it has them all.
const BUDGET: u64 = 8 << 30;

static FREE: Mutex<u64> = Mutex::new(BUDGET);
static GIVEN_BACK: Condvar = Condvar::new();

/// A share of the budget, given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    bytes: u64,
}

/// Waits until `bytes` are free, and takes them. Whoever holds a share must not ask for another.
pub(super) fn take(bytes: u64) -> Share {
    let bytes = bytes.min(BUDGET);
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut free =
        GIVEN_BACK.wait_while(free, |free| *free < bytes).unwrap_or_else(PoisonError::into_inner);
    *free -= bytes;
    Share { bytes }
}

impl Drop for Share {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        GIVEN_BACK.notify_all();
    }
}
