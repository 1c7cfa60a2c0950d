//! Room for the powers of a hash key, which are put there once: without a lock, so without `std`, and no thread waits.

use core::{
    cell::UnsafeCell,
    mem::MaybeUninit,
    panic::RefUnwindSafe,
    sync::atomic::{AtomicU8, Ordering},
};

use lanecrypt_core::HashPowers;

/// Room for powers, which are put there once. Cleared when dropped (feature `zeroize`).
pub(crate) struct Kept {
    state: AtomicU8,
    room: UnsafeCell<MaybeUninit<HashPowers>>,
}

/// Nothing is there, and no thread puts anything there.
const EMPTY: u8 = 0;
/// A thread does.
#[cfg(any(target_has_atomic = "8", test))]
const FILLING: u8 = 1;
/// The powers are there, and do not change any more.
const FULL: u8 = 2;

// SAFETY: the room is written by the one thread that made `FILLING` of `EMPTY`, and is read where the state is
// `FULL`, which that thread wrote after it: nothing changes it then but a drop, which has it alone.
unsafe impl Sync for Kept {}
/// A panic leaves it empty or full, or `FILLING` for ever, and then it is never read.
impl RefUnwindSafe for Kept {}

impl Kept {
    #[inline]
    pub(crate) fn nothing() -> Self {
        Self { state: AtomicU8::new(EMPTY), room: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&HashPowers> {
        let is_full = self.state.load(Ordering::Acquire) == FULL;
        // SAFETY: `FULL` says that the room was written, and that nobody writes there while it is borrowed.
        is_full.then(|| unsafe { (*self.room.get()).assume_init_ref() })
    }

    /// Keeps powers unless another thread has kept some, or is about to. A CPU that cannot compare and exchange has
    /// none: no instructions make them there.
    pub(crate) fn keep(&self, powers: &HashPowers) {
        #[cfg(target_has_atomic = "8")]
        let is_ours = {
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            self.state.compare_exchange(EMPTY, FILLING, success, failure).is_ok()
        };
        #[cfg(not(target_has_atomic = "8"))]
        let is_ours = false;
        if is_ours {
            // SAFETY: this thread alone has made `FILLING` of `EMPTY`, and nobody reads before `FULL`.
            unsafe { (*self.room.get()).write(*powers) };
            self.state.store(FULL, Ordering::Release);
        }
    }
}

#[cfg(test)]
impl Kept {
    /// As it is while another thread puts powers there.
    pub(crate) fn being_filled() -> Self {
        let kept = Self::nothing();
        kept.state.store(FILLING, Ordering::Relaxed);
        kept
    }
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        let clone = Self::nothing();
        if let Some(powers) = self.get() {
            clone.keep(powers);
        }
        clone
    }
}

#[cfg(feature = "zeroize")]
impl Drop for Kept {
    fn drop(&mut self) {
        // An empty one too: where it was moved, what lay on the stack went with it.
        let room = self.room.get_mut();
        room.write([[0; 16]; size_of::<HashPowers>() / 16]);
        // The optimiser must take the zeros for read, and so write them.
        core::hint::black_box(room);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn what_is_kept_first_stays() {
        let kept = Kept::nothing();
        assert!(kept.get().is_none());
        assert!(kept.clone().get().is_none());
        std::thread::scope(|scope| {
            for byte in 1..=3 {
                let kept = &kept;
                scope.spawn(move || {
                    kept.keep(&[[byte; 16]; 32]);
                    let is_whole = |powers: &HashPowers| powers.iter().all(|it| *it == powers[0]);
                    assert!(kept.get().is_none_or(is_whole));
                });
            }
        });
        let first = *kept.get().expect("one of them");
        assert_ne!(first, [[0; 16]; 32]);
        kept.keep(&[[9; 16]; 32]);
        assert_eq!(kept.get(), Some(&first));
        assert_eq!(kept.clone().get(), Some(&first));
    }
}
