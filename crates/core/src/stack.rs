//! What a key expansion leaves on the stack is overwritten.

/// Bytes of stack that are overwritten: more than any key expansion of ours takes, which
/// `ct/tests/residue.rs` holds.
const CLEARED_BYTES: usize = 8 << 10;

/// Runs `work`, a key expansion, and then overwrites the stack where its temporaries were (feature
/// `zeroize`; without it only runs `work`).
///
/// What this cannot reach: registers, what the compiler spilled in the frames of the callers, and
/// the copy that is left where a keyed cipher is moved later.
#[inline]
pub fn on_cleared_stack<R>(work: impl FnOnce() -> R) -> R {
    on_cleared_stack_of::<CLEARED_BYTES, R>(work)
}

/// [`on_cleared_stack`] for work that takes up to `BYTES` of stack, as where a key expansion also runs
/// the cipher.
#[inline]
pub fn on_cleared_stack_of<const BYTES: usize, R>(work: impl FnOnce() -> R) -> R {
    // Dropped after the result is in its place: a result that is a variable here would be copied.
    #[cfg(feature = "zeroize")]
    let _last = Clears::<BYTES>;
    in_its_own_frame(work)
}

/// Overwrites `BYTES` bytes of stack below the frame that it is dropped in.
#[cfg(feature = "zeroize")]
struct Clears<const BYTES: usize>;

#[cfg(feature = "zeroize")]
impl<const BYTES: usize> Drop for Clears<BYTES> {
    fn drop(&mut self) {
        zeroize::zeroize_stack::<BYTES>();
    }
}

#[cfg_attr(feature = "zeroize", inline(never))]
fn in_its_own_frame<R>(work: impl FnOnce() -> R) -> R {
    work()
}
