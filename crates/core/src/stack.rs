//! What a key expansion leaves on the stack is overwritten.

/// Bytes of stack that are overwritten: more than any key expansion of ours takes when optimised,
/// which `crates/lanecrypt/tests/residue.rs` holds.
#[cfg(feature = "zeroize")]
const CLEARED_BYTES: usize = 8 << 10;

/// Runs `work`, a key expansion, then overwrites the stack below the caller's frame where its
/// temporaries were (feature `zeroize`; without it only runs `work`).
///
/// What this cannot reach: registers, what the compiler spilled in the frames of the callers, and
/// copies that were made where `work`'s result, or a keyed cipher, was moved.
#[inline]
pub fn on_cleared_stack<R>(work: impl FnOnce() -> R) -> R {
    let result = in_its_own_frame(work);
    #[cfg(feature = "zeroize")]
    zeroize::zeroize_stack::<CLEARED_BYTES>();
    result
}

#[cfg_attr(feature = "zeroize", inline(never))]
fn in_its_own_frame<R>(work: impl FnOnce() -> R) -> R {
    work()
}
