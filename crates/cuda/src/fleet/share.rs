//! Tasks that the devices of a fleet share: whoever is free takes the next, and what a device did not end
//! goes back to the others.

use std::{
    collections::VecDeque,
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use super::roster::{FleetReport, Roster, Seat};
use crate::Error;

/// A task that a device did not end.
pub(crate) struct Unfinished<T> {
    /// Bytes of it that are complete.
    pub(crate) complete: usize,
    /// What is left to be done, by others.
    pub(crate) rest: Vec<T>,
    /// Why, for which the device drops out.
    pub(crate) error: Error,
}

/// What is left when no device is, and how it went.
pub(crate) struct Shared<T> {
    pub(crate) rest: Vec<T>,
    pub(crate) report: FleetReport,
}

/// Runs tasks, the first ones first: `run` gets who takes it, and returns its bytes.
pub(crate) fn share<T: Send>(
    roster: &Roster,
    tasks: Vec<T>,
    run: impl Fn(Seat, T) -> Result<usize, Unfinished<T>> + Sync,
) -> Shared<T> {
    let report = Mutex::new(FleetReport::of(roster.devices().len()));
    let list = List::new(tasks);
    let work = |seat| work(roster, &list, &report, &run, seat);
    loop {
        // Seldom twice: where the last of those who had a seat failed.
        let seats = roster.seats(list.lock().waiting.len());
        let Some((&own, others)) = seats.split_first() else { break };
        thread::scope(|scope| {
            for &seat in others {
                if let Err(error) = thread::Builder::new().spawn_scoped(scope, move || work(seat)) {
                    log::warn!("fewer threads than wanted run tasks of a fleet: {error}");
                    break;
                }
            }
            work(own);
        });
    }
    let rest = mem::take(&mut list.lock().waiting).into();
    Shared { rest, report: report.into_inner().unwrap_or_else(PoisonError::into_inner) }
}

/// Takes tasks for one device, until there are none or it drops out.
fn work<T>(
    roster: &Roster,
    list: &List<T>,
    report: &Mutex<FleetReport>,
    run: &impl Fn(Seat, T) -> Result<usize, Unfinished<T>>,
    seat: Seat,
) {
    while let Some(task) = list.take(|| roster.is_there(seat.member)) {
        let mut running = Running { list, rest: Vec::new() };
        let result = run(seat, task);
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(bytes) => report.bytes[seat.member] += bytes,
            Err(Unfinished { complete, rest, error }) => {
                report.bytes[seat.member] += complete;
                let dropped = roster.drop_out(seat.member, error);
                if report.dropped.iter().all(|before| before.member != seat.member) {
                    report.dropped.push(dropped);
                }
                running.rest = rest;
            }
        }
    }
}

/// What has not been taken yet.
struct List<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    /// Tasks that somebody runs, of which something may come back.
    running: usize,
}

impl<T> List<T> {
    fn new(tasks: Vec<T>) -> Self {
        let state = State { waiting: tasks.into(), running: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next task; waits as long as one may come back from somebody else. None for who is not there.
    fn take(&self, is_there: impl Fn() -> bool) -> Option<T> {
        let mut state = self.lock();
        loop {
            if !is_there() {
                return None;
            }
            if let Some(task) = state.waiting.pop_front() {
                state.running += 1;
                return Some(task);
            }
            if state.running == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that is run. Dropped, also by a panic, it says that it is no longer, and puts back what is left.
struct Running<'a, T> {
    list: &'a List<T>,
    rest: Vec<T>,
}

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        let mut state = self.list.lock();
        state.running -= 1;
        for task in mem::take(&mut self.rest).into_iter().rev() {
            state.waiting.push_front(task);
        }
        drop(state);
        self.list.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, time::Duration};

    use super::*;
    use crate::{model_device::Model, tests::faults::watched};

    fn roster(devices: usize) -> Roster {
        let devices: Vec<_> = (0..devices).map(|_| Model::default().device()).collect();
        Roster::new(&devices).expect("there are some")
    }

    #[test]
    fn a_slow_device_takes_less() {
        watched(|| {
            let shared = share(&roster(2), (0..60).collect(), |seat, _: usize| {
                thread::sleep(Duration::from_millis(if seat.member == 0 { 20 } else { 1 }));
                Ok(16)
            });
            let [slow, fast] = shared.report.bytes[..] else { panic!("two devices") };
            assert_eq!(slow + fast, 60 * 16);
            assert!(slow > 0 && fast > 3 * slow, "{slow} and {fast}");
        });
    }

    /// Who has nothing to do waits for what others may not end.
    #[test]
    fn what_fails_last_runs_elsewhere() {
        watched(|| {
            let both = Barrier::new(2);
            let shared = share(&roster(2), vec![1, 2], |seat, task: usize| {
                if task < 10 {
                    both.wait();
                }
                if seat.member == 1 {
                    // The other one has come to the end of the list meanwhile.
                    thread::sleep(Duration::from_millis(30));
                    let rest = vec![10 * task, 100 * task];
                    return Err(Unfinished { complete: 3, rest, error: Error::NotInPlace });
                }
                Ok(task)
            });
            assert!(shared.rest.is_empty());
            let [first, second] = shared.report.bytes[..] else { panic!("two devices") };
            assert!([1 + 220, 2 + 110].contains(&first) && second == 3, "{first}, {second}");
            assert_eq!(shared.report.dropped.len(), 1);
        });
    }

    #[test]
    fn what_nobody_ends_is_left_in_order() {
        watched(|| {
            let roster = roster(3);
            let fail = |_: Seat, task: usize| {
                let error = Error::NotInPlace;
                Err::<usize, _>(Unfinished { complete: 0, rest: vec![task], error })
            };
            // One thread at a time: each fails, and another round begins.
            let shared = share(&roster, vec![7], fail);
            assert_eq!((shared.rest, shared.report.dropped.len()), (vec![7], 3));
            let shared = share(&roster, vec![7, 8], fail);
            assert_eq!((shared.rest, shared.report.dropped.len()), (vec![7, 8], 0));
        });
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        watched(|| {
            let panics = thread::spawn(|| {
                let both = Barrier::new(2);
                let _: Shared<usize> = share(&roster(2), vec![1, 2], |seat, _| {
                    both.wait();
                    assert_ne!(seat.member, 1, "a test's");
                    Ok(1)
                });
            });
            assert!(panics.join().is_err());
        });
    }
}
