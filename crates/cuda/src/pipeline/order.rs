//! The order in which results of pieces are written: a piece's turn comes when all before it have come
//! back from the device, so that what fails afterwards comes after all that was written.
//!
//! Writing itself cannot fail, and goes on in several threads at once.

use std::{
    collections::BTreeSet,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::Error;

/// How far pieces are.
#[derive(Default)]
pub(super) struct Order {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// All pieces before this one are back.
    all_before: usize,
    /// Those after it that are.
    others: BTreeSet<usize>,
    /// The first piece that failed.
    failed: Option<usize>,
    /// Why; nothing where a thread panicked, which ends the call anyway.
    error: Option<Error>,
}

impl Order {
    /// Says that a piece is back, and waits for its turn: whether its result is to be written.
    pub(super) fn wait_for_turn(&self, piece: usize) -> bool {
        let mut state = self.state();
        state.others.insert(piece);
        while state.others.first() == Some(&state.all_before) {
            state.others.pop_first();
            state.all_before += 1;
            self.changed.notify_all();
        }
        loop {
            if state.failed.is_some_and(|failed| failed <= piece) {
                return false;
            }
            if state.all_before > piece {
                return true;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that a piece failed: of several the first one counts.
    pub(super) fn fail(&self, piece: usize, error: Error) {
        self.fail_with(piece, Some(error));
    }

    fn fail_with(&self, piece: usize, error: Option<Error>) {
        let mut state = self.state();
        if state.failed.is_none_or(|failed| piece < failed) {
            state.failed = Some(piece);
            state.error = error;
            self.changed.notify_all();
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.state().failed.is_some()
    }

    /// The first piece that failed, and why.
    pub(super) fn into_failure(self) -> Option<(usize, Error)> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.zip(state.error)
    }

    /// What a piece has until its end: other pieces do not wait for one whose thread panics.
    pub(super) fn awaited(&self) -> Awaited<'_> {
        Awaited(Some(self))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dropped without its end, it ends the call. Whether the thread panics would be no measure: it does so for
/// all of a destructor that runs in an earlier panic, and that may pass host memory as well.
pub(super) struct Awaited<'a>(Option<&'a Order>);

impl Awaited<'_> {
    /// Nothing that comes from here on fails.
    pub(super) fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if let Some(order) = self.0 {
            order.fail_with(0, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    fn fault() -> Error {
        Error::NotInPlace
    }

    #[test]
    fn a_piece_waits_for_all_before_it() {
        let order = Order::default();
        let (sender, turns) = mpsc::channel();
        thread::scope(|scope| {
            for piece in [2, 1, 3] {
                let (order, sender) = (&order, sender.clone());
                scope.spawn(move || sender.send((piece, order.wait_for_turn(piece))));
            }
            assert!(turns.recv_timeout(std::time::Duration::from_millis(50)).is_err());
            assert!(order.wait_for_turn(0));
            let mut came: Vec<_> = turns.iter().take(3).collect();
            came.sort_unstable();
            assert_eq!(came, [(1, true), (2, true), (3, true)]);
        });
    }

    #[test]
    fn nothing_is_written_from_the_first_failure_on() {
        let order = Order::default();
        thread::scope(|scope| {
            let later = scope.spawn(|| order.wait_for_turn(4));
            order.fail(3, fault());
            assert!(!later.join().expect("no panic"));
            order.fail(5, fault());
            let second = scope.spawn(|| order.wait_for_turn(2));
            let first = scope.spawn(|| order.wait_for_turn(1));
            order.fail(1, fault());
            assert!(!first.join().expect("no panic") && !second.join().expect("no panic"));
        });
        assert!(order.wait_for_turn(0));
        assert_eq!(order.into_failure().map(|(piece, _)| piece), Some(1));
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let order = Order::default();
        thread::scope(|scope| {
            let waits = scope.spawn(|| order.wait_for_turn(1));
            let panics = scope.spawn(|| {
                let _awaited = order.awaited();
                panic!("a test's");
            });
            assert!(panics.join().is_err());
            assert!(!waits.join().expect("no panic"));
        });
    }
}
