//! The devices of a fleet: who is there, who dropped out and why, and how many threads each gets.

use std::{
    fmt,
    num::NonZero,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use lanecrypt_core::Unavailable;

use crate::{Device, Dropped, Error};

/// How a call of a fleet went.
#[derive(Clone, Debug, Default)]
#[must_use = "devices may have dropped out"]
pub struct FleetReport {
    /// Bytes that each device has run, by its place in the fleet.
    pub bytes: Vec<usize>,
    /// Devices that failed during the call; what they did not end ran on others.
    pub dropped: Vec<Dropped>,
}

impl FleetReport {
    pub(super) fn of(members: usize) -> Self {
        Self { bytes: vec![0; members], dropped: Vec::new() }
    }

    /// Adds what a later call did.
    pub(super) fn add(&mut self, later: Self) {
        for (bytes, more) in self.bytes.iter_mut().zip(later.bytes) {
            *bytes += more;
        }
        self.dropped.extend(later.dropped);
    }
}

/// Threads that take work for one device: while the one waits for its last pieces, the other has its first
/// ones on their way.
const CALLERS: usize = 2;

/// A thread's place: for which device it takes work, and how many threads it may use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) member: usize,
    pub(crate) threads: usize,
}

/// The devices of a fleet.
pub(crate) struct Roster {
    devices: Vec<Device>,
    /// Why they dropped out, those that did.
    dropped: Mutex<Vec<Option<Arc<Error>>>>,
    /// Where the next call begins to give out work, so that short ones go to all devices in turn.
    next: AtomicUsize,
    /// Threads that the machine runs at once.
    cores: usize,
}

impl Roster {
    /// Of one device at least.
    pub(crate) fn new(devices: &[Device]) -> Result<Self, Error> {
        if devices.is_empty() {
            let reason = "a fleet has one device at least, and none was given";
            return Err(Error::Unavailable(Unavailable::because(reason)));
        }
        Ok(Self {
            devices: devices.to_vec(),
            dropped: Mutex::new(vec![None; devices.len()]),
            next: AtomicUsize::new(0),
            cores: thread::available_parallelism().map_or(1, NonZero::get),
        })
    }

    pub(crate) fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The place of a device.
    pub(crate) fn member(&self, device: &Device, what: &'static str) -> Result<usize, Error> {
        let place = self.devices.iter().position(|member| member == device);
        place.ok_or_else(|| Error::OtherDevice {
            what,
            given: format!("{device:?}"),
            engine: format!("{:?}", self.devices),
        })
    }

    pub(crate) fn is_there(&self, member: usize) -> bool {
        self.errors()[member].is_none()
    }

    /// Takes a device out; of several errors the first one counts.
    pub(crate) fn drop_out(&self, member: usize, error: Error) -> Dropped {
        let dropped = self.entry(member, &Arc::new(error.into_cause()));
        log::warn!("{dropped}");
        self.errors()[member].get_or_insert_with(|| Arc::clone(&dropped.error));
        dropped
    }

    /// Those that dropped out so far.
    pub(crate) fn dropped(&self) -> Vec<Dropped> {
        let errors = self.errors();
        let entry = |(member, error): (usize, &Option<Arc<Error>>)| {
            error.as_ref().map(|error| self.entry(member, error))
        };
        errors.iter().enumerate().filter_map(entry).collect()
    }

    fn entry(&self, member: usize, error: &Arc<Error>) -> Dropped {
        let device = self.devices[member].properties().name.clone();
        Dropped { member, device, error: Arc::clone(error) }
    }

    /// Lets all devices take part again.
    pub(crate) fn restore(&self) {
        self.errors().fill(None);
    }

    /// Places of threads for a number of tasks, among the devices that are there: each gets its share of the
    /// machine's threads.
    pub(crate) fn seats(&self, tasks: usize) -> Vec<Seat> {
        let errors = self.errors();
        let mut there: Vec<_> =
            (0..self.devices.len()).filter(|&member| errors[member].is_none()).collect();
        drop(errors);
        if there.is_empty() {
            return Vec::new();
        }
        let first = self.next.fetch_add(1, Ordering::Relaxed) % there.len();
        there.rotate_left(first);
        let count = tasks.min(CALLERS * there.len());
        let members: Vec<_> = there.iter().copied().cycle().take(count).collect();
        let threads = |member: usize| {
            let callers = members.iter().filter(|&&other| other == member).count();
            (self.cores / there.len() / callers).max(1)
        };
        members.iter().map(|&member| Seat { member, threads: threads(member) }).collect()
    }

    fn errors(&self) -> MutexGuard<'_, Vec<Option<Arc<Error>>>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Roster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.devices).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_device::Model;

    fn roster(devices: usize, cores: usize) -> Roster {
        let devices: Vec<_> = (0..devices).map(|_| Model::default().device()).collect();
        Roster { cores, ..Roster::new(&devices).expect("there are some") }
    }

    /// Places as members and threads.
    fn seats(roster: &Roster, tasks: usize) -> Vec<(usize, usize)> {
        roster.seats(tasks).into_iter().map(|seat| (seat.member, seat.threads)).collect()
    }

    #[test]
    fn threads_are_shared_out() {
        let roster = roster(2, 16);
        assert_eq!(seats(&roster, 100), [(0, 4), (1, 4), (0, 4), (1, 4)]);
        assert_eq!(seats(&roster, 1), [(1, 8)], "another one begins");
        assert_eq!(seats(&roster, 3), [(0, 4), (1, 8), (0, 4)]);
        assert!(seats(&roster, 0).is_empty());
        roster.drop_out(1, Error::NotInPlace);
        assert_eq!(seats(&roster, 100), [(0, 8), (0, 8)]);
        roster.drop_out(0, Error::NotInPlace);
        assert!(seats(&roster, 100).is_empty());
        roster.restore();
        assert_eq!(seats(&roster, 100).len(), 4);
    }

    #[test]
    fn everybody_has_a_thread() {
        assert!(seats(&roster(3, 2), 100).iter().all(|&(_, threads)| threads == 1));
        assert!(matches!(Roster::new(&[]), Err(Error::Unavailable(_))));
    }

    #[test]
    fn the_first_error_of_a_device_is_kept() {
        let roster = roster(2, 1);
        let cause = Box::new(Error::NoSuchDevice { given: 1, count: 1 });
        let dropped = roster.drop_out(1, Error::Interrupted { complete: 0, error: cause });
        assert!(dropped.to_string().starts_with("device 1 of the fleet (model) dropped out: "));
        roster.drop_out(1, Error::NotInPlace);
        let [kept] = &roster.dropped()[..] else { panic!("one is out") };
        assert!(matches!(*kept.error, Error::NoSuchDevice { .. }), "{kept}");
        assert!(roster.is_there(0) && !roster.is_there(1));
    }
}
