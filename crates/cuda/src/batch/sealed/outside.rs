//! The place outside: what reads there, or writes, by whom, and in which order.

use std::{
    ops::Range,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use lanecrypt_core::Direction;

/// What reads `buffer` from a place outside, and what writes there; by any thread.
pub(super) type Read<'a, E> = &'a (dyn Fn(&mut [u8], u64) -> Result<(), E> + Sync);
type Write<'a, E> = &'a (dyn Fn(&[u8], u64) -> Result<(), E> + Sync);
/// What is told which bytes of the caller's memory are complete; by any thread.
type Told<'a, E> = &'a (dyn Fn(Range<u64>) -> Result<(), E> + Sync);
/// What writes one piece behind the other; one thread at a time calls it.
type Append<'a, E> = &'a (dyn Fn(&[u8]) -> Result<(), E> + Sync);

/// The place outside.
pub(super) enum Outside<'a, E> {
    Read(Read<'a, E>),
    Write(Write<'a, E>),
    InOrder(InOrder<'a, E>),
    /// Memory of the caller's, of which every run has its parts.
    Memory {
        /// Whether the device copies there by itself.
        is_pinned: bool,
        told: Told<'a, E>,
    },
}

impl<E> Outside<'_, E> {
    pub(super) fn direction(&self) -> Direction {
        match self {
            Self::Read(_) => Direction::Decrypt,
            Self::Write(_) | Self::InOrder(_) | Self::Memory { .. } => Direction::Encrypt,
        }
    }

    /// What a run has until its end.
    pub(super) fn awaited(&self) -> Awaited<'_> {
        match self {
            Self::InOrder(in_order) => Awaited(Some(&in_order.turns)),
            _ => Awaited(None),
        }
    }
}

/// What takes the runs one after the other, in their order, of whatever thread.
pub(super) struct InOrder<'a, E> {
    turns: Turns,
    append: Append<'a, E>,
}

impl<'a, E> InOrder<'a, E> {
    pub(super) fn new(append: Append<'a, E>) -> Self {
        Self { turns: Turns::default(), append }
    }

    /// Writes pieces of the run of this number once all before it are written; nothing where one of
    /// them failed.
    pub(super) fn write<'p>(
        &self,
        run: u64,
        pieces: impl IntoIterator<Item = &'p [u8]>,
    ) -> Result<(), E> {
        if !self.turns.wait_for(run) {
            return Ok(());
        }
        pieces.into_iter().try_for_each(|piece| (self.append)(piece))?;
        self.turns.next();
        Ok(())
    }
}

/// Whose turn it is.
///
/// A thread waits with the first of its runs, and runs are taken in order: so the run whose turn it is is the
/// first one of a thread that waits for no other.
#[derive(Default)]
struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The run that writes, or is the next to.
    turn: u64,
    /// Nothing is written any more.
    is_over: bool,
}

impl Turns {
    /// Waits until all runs before this one are written; whether it is to be written.
    fn wait_for(&self, run: u64) -> bool {
        let mut state = self.state();
        while state.turn != run && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_over
    }

    fn next(&self) {
        self.state().turn += 1;
        self.changed.notify_all();
    }

    fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dropped without its end, as a run is that failed or whose thread panics, it ends the call: no thread waits for it.
pub(super) struct Awaited<'a>(Option<&'a Turns>);

impl Awaited<'_> {
    /// The run was written.
    pub(super) fn end(&mut self) {
        self.0 = None;
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if let Some(turns) = self.0 {
            turns.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn runs_are_written_in_order() {
        let written = Mutex::new(Vec::new());
        let append = |piece: &[u8]| -> Result<(), ()> {
            written.lock().expect("no panic").extend_from_slice(piece);
            Ok(())
        };
        let in_order = InOrder::new(&append);
        thread::scope(|scope| {
            for run in [3, 1, 2, 0] {
                let in_order = &in_order;
                scope.spawn(move || in_order.write(run, [&[run as u8][..], &[9]]));
            }
        });
        assert_eq!(written.into_inner().expect("no panic"), [0, 9, 1, 9, 2, 9, 3, 9]);
    }

    #[test]
    fn nobody_waits_for_a_run_that_failed() {
        let written = Mutex::new(Vec::new());
        let append = |piece: &[u8]| {
            written.lock().expect("no panic").extend_from_slice(piece);
            if piece == [1] { Err("full") } else { Ok(()) }
        };
        let outside = Outside::InOrder(InOrder::new(&append));
        let Outside::InOrder(in_order) = &outside else { return };
        thread::scope(|scope| {
            let later = scope.spawn(|| in_order.write(2, [&[2][..]]));
            let run = |number: u8| {
                let mut awaited = outside.awaited();
                in_order.write(number.into(), [&[number][..]]).map(|()| awaited.end())
            };
            assert_eq!([run(0), run(1)], [Ok(()), Err("full")]);
            assert_eq!(later.join().expect("no panic"), Ok(()));
        });
        assert_eq!(written.into_inner().expect("no panic"), [0, 1]);
    }
}
