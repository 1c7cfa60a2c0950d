//! Who may touch which sectors now: readers share, a writer is alone, and no request overtakes another.

use std::{
    ops::Range,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// What a request does with its sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The sectors that requests hold or wait for.
///
/// A request waits for the earlier ones that it conflicts with and for no other: so requests never wait in a
/// circle, and none waits for ever. There are at most as many as threads, so a list is searched.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    /// In the order in which they came.
    claims: Vec<Claim>,
}

#[derive(Debug)]
struct Claim {
    number: u64,
    access: Access,
    sectors: Range<u64>,
}

/// Sectors that are held, until it is dropped.
#[must_use]
#[derive(Debug)]
pub(crate) struct Held<'a> {
    claims: &'a Claims,
    number: u64,
}

impl Claims {
    /// Waits until `sectors` may be accessed.
    pub(crate) fn hold(&self, access: Access, sectors: Range<u64>) -> Held<'_> {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.claims.push(Claim { number, access, sectors });
        while queue.must_wait(number) {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        Held { claims: self, number }
    }

    /// No panic leaves the queue half changed.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Whether an earlier claim conflicts with this one.
    fn must_wait(&self, number: u64) -> bool {
        let own = self.claims.iter().position(|claim| claim.number == number);
        let (earlier, rest) = self.claims.split_at(own.unwrap_or(0));
        rest.first().is_some_and(|own| earlier.iter().any(|other| own.conflicts(other)))
    }
}

impl Claim {
    fn conflicts(&self, other: &Self) -> bool {
        let overlap =
            self.sectors.start < other.sectors.end && other.sectors.start < self.sectors.end;
        overlap && (self.access == Access::Write || other.access == Access::Write)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut queue = self.claims.lock();
        queue.claims.retain(|claim| claim.number != self.number);
        if !queue.claims.is_empty() {
            self.claims.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    /// Whether one who comes second waits for the first.
    fn waits(first: (Access, Range<u64>), second: (Access, Range<u64>)) -> bool {
        let (claims, is_through) = (Claims::default(), AtomicBool::new(false));
        thread::scope(|scope| {
            let held = claims.hold(first.0, first.1);
            scope.spawn(|| {
                let _held = claims.hold(second.0, second.1);
                is_through.store(true, Ordering::SeqCst);
            });
            // Long enough for a thread that need not wait.
            for _ in 0..100 {
                thread::sleep(Duration::from_millis(1));
                if is_through.load(Ordering::SeqCst) {
                    return false;
                }
            }
            drop(held);
            true
        })
    }

    #[test]
    fn only_conflicts_wait() {
        use Access::{Read, Write};
        assert!(!waits((Read, 0..10), (Read, 0..10)));
        assert!(waits((Read, 0..10), (Write, 9..11)));
        assert!(waits((Write, 9..11), (Read, 0..10)));
        assert!(waits((Write, 0..10), (Write, 3..4)));
        assert!(!waits((Write, 0..10), (Write, 10..11)));
        assert!(!waits((Write, 5..10), (Write, 0..5)));
    }

    #[test]
    fn a_writer_is_alone() {
        let (claims, counter) = (Claims::default(), Mutex::new([0_u32; 8]));
        thread::scope(|scope| {
            for seed in 0..8_u64 {
                let (claims, counter) = (&claims, &counter);
                scope.spawn(move || {
                    for round in 0..200 {
                        let first = (seed * 7 + round * 5) % 6;
                        let _held = claims.hold(Access::Write, first..first + 3);
                        for sector in first..first + 3 {
                            let read = counter.lock().expect("no panic")[sector as usize];
                            thread::yield_now();
                            counter.lock().expect("no panic")[sector as usize] = read + 1;
                        }
                    }
                });
            }
        });
        assert_eq!(counter.lock().expect("no panic").iter().sum::<u32>(), 8 * 200 * 3);
        assert!(claims.lock().claims.is_empty());
    }
}
