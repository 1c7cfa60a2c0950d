//! Batches over several devices: parts of a batch, of which each takes the next when it is free.

use std::{
    fmt, mem,
    sync::{Mutex, PoisonError},
};

use lanecrypt_core::batch::{Failure, Job, Outcome};

use super::BatchFamily;
use crate::{
    Device, Dropped, Error, FleetReport,
    fleet::{Roster, Shared, Unfinished, share},
};

/// The most bytes of messages of a part, where no message is longer.
const LONGEST_PART: usize = 256 << 20;
/// The fewest, and jobs, that are worth another device.
const SHORTEST_PART: usize = 4 << 20;
const FEWEST_JOBS: usize = 1024;
/// Parts of a device, where there are enough jobs.
const PARTS: usize = 8;

/// How a cipher's batches run on several devices of a host: see [`Fleet`](crate::Fleet), which has the same
/// rules for who runs what, and for devices that fail.
///
/// ```
/// use lanecrypt_core::batch::{Job, Outcome};
/// use lanecrypt_cuda::{BatchFamily, Device, Error};
///
/// fn on_all_devices(family: &BatchFamily, jobs: &mut [Job<'_>]) -> Result<Outcome, Error> {
///     let fleet = family.fleet(&Device::all()?)?;
///     let (outcome, report) = fleet.run_host_memory(jobs);
///     for dropped in report.dropped {
///         eprintln!("{dropped}"); // the others ran its jobs
///     }
///     Ok(outcome)
/// }
/// ```
pub struct BatchFleet {
    family: BatchFamily,
    roster: Roster,
}

impl BatchFamily {
    /// Batches of this cipher on each of `devices`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for no devices, and as [`fits`](Self::fits) for any of them;
    /// [`Error::Mismatch`] as [`prepare`](Self::prepare).
    pub fn fleet(&self, devices: &[Device]) -> Result<BatchFleet, Error> {
        let roster = Roster::new(devices)?;
        devices.iter().try_for_each(|device| self.require(device))?;
        Ok(BatchFleet { family: *self, roster })
    }
}

impl fmt::Debug for BatchFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchFleet")
            .field("family", &self.family)
            .field("devices", &self.roster)
            .finish()
    }
}

/// Jobs that lie one behind the other in the batch, and have not run.
struct Part<'a, 'j> {
    /// The number of the first one in the batch.
    first: usize,
    jobs: &'a mut [Job<'j>],
}

impl BatchFleet {
    /// The devices that dropped out since the fleet was made or [`restore`](Self::restore)d, and why.
    #[must_use]
    pub fn dropped(&self) -> Vec<Dropped> {
        self.roster.dropped()
    }

    /// Lets devices that dropped out take part again.
    pub fn restore(&self) {
        self.roster.restore();
    }

    /// Runs jobs whose messages are in host memory, on all devices.
    ///
    /// A job that fails is named in the outcome, and all others are complete. What a device did not run
    /// before it failed, others run; where none is left, those jobs are named, and what they would have
    /// written is as it was.
    pub fn run_host_memory(&self, jobs: &mut [Job<'_>]) -> (Outcome, FleetReport) {
        let devices = self.roster.devices().len();
        let all: usize = jobs.iter().map(|job| job.data.len()).sum();
        let bytes = all.div_ceil(PARTS * devices).clamp(SHORTEST_PART, LONGEST_PART);
        let count = jobs.len().div_ceil(PARTS * devices).max(FEWEST_JOBS);
        self.run_in_parts(bytes, count, jobs)
    }

    /// The same with other numbers of bytes and jobs of a part; for tests.
    #[doc(hidden)]
    pub fn run_in_parts(
        &self,
        bytes: usize,
        count: usize,
        jobs: &mut [Job<'_>],
    ) -> (Outcome, FleetReport) {
        let failures = Mutex::new(Vec::new());
        let parts = parts(jobs, bytes, count);
        let Shared { rest, report } = share(&self.roster, parts, |seat, part: Part<'_, '_>| {
            let device = &self.roster.devices()[seat.member];
            let (failed, result) = self.run_part(device, part);
            failures.lock().unwrap_or_else(PoisonError::into_inner).extend(failed);
            result
        });
        let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        for part in rest {
            let numbers = part.first..part.first + part.jobs.len();
            failures.extend(numbers.map(|job| Failure { job, error: self.nobody_is_left() }));
        }
        (Outcome::new(failures), report)
    }

    /// What is said of a job that no device was left for.
    fn nobody_is_left(&self) -> lanecrypt_core::Error {
        Error::Fleet { incomplete: Vec::new(), dropped: self.dropped() }.into()
    }

    /// Runs a part on a device: jobs that failed by themselves, and what is left where the device did.
    #[allow(
        clippy::type_complexity,
        reason = "what a task of the fleet ends with, and the failures"
    )]
    fn run_part<'a, 'j>(
        &self,
        device: &Device,
        part: Part<'a, 'j>,
    ) -> (Vec<Failure>, Result<usize, Unfinished<Part<'a, 'j>>>) {
        let bytes = part.bytes();
        let failures = match self.family.run_staged(device, part.jobs) {
            Ok(outcome) => outcome.into_failures(),
            Err(error) => {
                return (Vec::new(), Err(Unfinished { complete: 0, rest: vec![part], error }));
            }
        };
        let is_of_device =
            |failure: &Failure| matches!(failure.error, lanecrypt_core::Error::Device(_));
        let (of_device, of_jobs): (Vec<_>, Vec<_>) = failures.into_iter().partition(is_of_device);
        let first = part.first;
        let failed = of_jobs.into_iter().map(|f| Failure { job: first + f.job, ..f }).collect();
        let left: Vec<_> = of_device.iter().map(|failure| failure.job).collect();
        let Some(failure) = of_device.into_iter().next() else { return (failed, Ok(bytes)) };
        let rest = part.only(&left);
        let complete = bytes - rest.iter().map(Part::bytes).sum::<usize>();
        (failed, Err(Unfinished { complete, rest, error: Error::Data(failure.error) }))
    }
}

impl Part<'_, '_> {
    fn bytes(&self) -> usize {
        self.jobs.iter().map(|job| job.data.len()).sum()
    }

    /// Takes the first `count` jobs.
    fn split(&mut self, count: usize) -> Self {
        let (jobs, rest) = mem::take(&mut self.jobs).split_at_mut(count);
        let first = self.first;
        (self.first, self.jobs) = (first + count, rest);
        Self { first, jobs }
    }

    /// The jobs with these numbers in the part, which rise.
    fn only(mut self, numbers: &[usize]) -> Vec<Self> {
        let start = self.first;
        let runs = numbers.chunk_by(|one, next| one + 1 == *next);
        let run = |run: &[usize]| {
            let before = start + run[0] - self.first;
            self.split(before);
            self.split(run.len())
        };
        runs.map(run).collect()
    }
}

/// Cuts a batch into parts of at most this number of bytes and jobs, one job at least.
fn parts<'a, 'j>(jobs: &'a mut [Job<'j>], bytes: usize, count: usize) -> Vec<Part<'a, 'j>> {
    let mut all = Part { first: 0, jobs };
    let mut parts = Vec::new();
    while !all.jobs.is_empty() {
        let mut sum = 0;
        let fits = |job: &&Job<'_>| {
            sum += job.data.len();
            sum <= bytes
        };
        let fitting = all.jobs.iter().take(count).take_while(fits).count();
        parts.push(all.split(fitting.max(1)));
    }
    parts
}

#[cfg(test)]
mod tests {
    use lanecrypt_core::batch::JobMode;

    use super::*;

    /// Parts as their first numbers and their numbers of jobs.
    fn shapes(parts: &[Part<'_, '_>]) -> Vec<(usize, usize)> {
        parts.iter().map(|part| (part.first, part.jobs.len())).collect()
    }

    fn with_jobs(lengths: &[usize], check: impl FnOnce(&mut [Job<'_>])) {
        let mut texts: Vec<_> = lengths.iter().map(|&length| vec![0_u8; length]).collect();
        let jobs = texts.iter_mut().map(|text| Job {
            key: &[],
            mode: JobMode::EcbEncrypt,
            data: text.as_mut_slice().into(),
        });
        check(&mut jobs.collect::<Vec<_>>());
    }

    #[test]
    fn parts_have_so_many_bytes_and_jobs() {
        with_jobs(&[10, 20, 30, 40, 100, 0, 0, 0], |jobs| {
            assert_eq!(shapes(&parts(jobs, 60, 9)), [(0, 3), (3, 1), (4, 1), (5, 3)]);
            assert_eq!(shapes(&parts(jobs, 1000, 3)), [(0, 3), (3, 3), (6, 2)]);
        });
        with_jobs(&[], |jobs| assert!(parts(jobs, 60, 9).is_empty()));
    }

    #[test]
    fn what_did_not_run_is_taken_out() {
        with_jobs(&[1; 9], |jobs| {
            let part = Part { first: 100, jobs };
            assert_eq!(shapes(&part.only(&[0, 1, 4, 7, 8])), [(100, 2), (104, 1), (107, 2)]);
        });
        with_jobs(&[1; 2], |jobs| assert!(Part { first: 3, jobs }.only(&[]).is_empty()));
    }
}
