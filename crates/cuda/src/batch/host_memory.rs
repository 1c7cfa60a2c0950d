//! Batches of messages in host memory: parts of them side by side, each on a lane.
//!
//! A lane's memory has, one behind the other, what is described of the jobs, their data, and what the kernels
//! make. So one copy to the device brings the first two, one copy back brings data and results, and all of it
//! is cleared on the device then:
//!
//! ```text
//! jobs, associated data, items | data | results | sessions, sequences, sums
//! up .................................
//!                                down ..........
//! ```
//!
//! Parts are not written in order: an outcome names every job whose part did not come back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lanecrypt_core::batch::{Failure, Job, Outcome};
use zeroize::Zeroize;

use super::{
    BLOCK, BatchFamily, Description, DeviceJob, Launches, Layout, Parameters, RESULT_BYTES, settle,
};
use crate::{
    Device, Error, HashFamily,
    pipeline::{self, Crew, Extent, Lent, Piece},
};

/// Jobs that a thread looks at before it takes more.
const SHARE: usize = 4096;

impl BatchFamily {
    /// Runs jobs whose messages are in host memory, parts of them side by side through memory of the
    /// device, fed by several threads: [`Limits`](crate::Limits) bounds both. A message is never cut; one
    /// that is longer than a part is one by itself.
    ///
    /// A job that fails is named in the outcome, and all others are complete. After a failure of the
    /// driver those are named whose part had not been copied back: what they would have written
    /// is as it was.
    ///
    /// # Errors
    /// [`Error::Unavailable`] as [`fits`](Self::fits), [`Error::Mismatch`] as [`prepare`](Self::prepare):
    /// nothing is written then.
    pub fn run_host_memory(&self, device: &Device, jobs: &mut [Job<'_>]) -> Result<Outcome, Error> {
        self.run_host_memory_in_parts(device, usize::MAX, jobs)
    }

    /// The same with parts of no more bytes than these; for tests.
    ///
    /// # Errors
    /// As [`run_host_memory`](Self::run_host_memory).
    #[doc(hidden)]
    pub fn run_host_memory_in_parts(
        &self,
        device: &Device,
        part_bytes: usize,
        jobs: &mut [Job<'_>],
    ) -> Result<Outcome, Error> {
        self.require(device)?;
        let crew = Crew::most(device);
        let rooms = self.rooms(crew, jobs);
        let all = rooms.iter().fold(0, |all: usize, &room| all.saturating_add(room));
        let usual = crew.share(all).min(part_bytes);
        let counts = counts(&rooms, usual);
        let crew = crew.for_pieces(counts.len());
        let state = Mutex::default();
        let call = Call { family: self, device, usual, state };
        pipeline::pass(
            device,
            crew,
            Parts { call: &call, counts: counts.into_iter(), jobs, first: 0 },
        );
        let state = call.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Outcome::new(state.failures))
    }

    /// At least the bytes that each job takes of a lane, found by all threads: of a million jobs one thread takes
    /// as long as the device.
    fn rooms(&self, crew: Crew, jobs: &[Job<'_>]) -> Vec<usize> {
        let mut rooms = vec![0; jobs.len()];
        let shares = Mutex::new(jobs.chunks(SHARE).zip(rooms.chunks_mut(SHARE)));
        let take = || shares.lock().unwrap_or_else(PoisonError::into_inner).next();
        pipeline::on_all(crew.for_pieces(jobs.len() / SHARE), || {
            while let Some((jobs, rooms)) = take() {
                rooms.iter_mut().zip(jobs).for_each(|(room, job)| *room = self.most(job));
            }
        });
        rooms
    }

    /// At least the bytes that a job takes of a lane: none where it is refused.
    fn most(&self, job: &Job<'_>) -> usize {
        match self.room(job) {
            None => 0,
            Some(room) => room + Layout::most_of_job(&job.mode, job.data.len()),
        }
    }

    /// Bytes that a job's message has on the device, unless the job is refused.
    fn room(&self, job: &Job<'_>) -> Option<usize> {
        let length = job.data.len();
        self.check(job.key, &job.mode, length).ok()?;
        Some(length.next_multiple_of(BLOCK))
    }
}

/// How many jobs every part has, and bytes of a lane that they take at most: no more than `usual`, or one
/// job.
fn counts(rooms: &[usize], usual: usize) -> Vec<(usize, usize)> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &room in rooms {
        match parts.last_mut() {
            Some((count, bytes)) if bytes.saturating_add(room) <= usual => {
                *count += 1;
                *bytes += room;
            }
            _ => parts.push((1, room)),
        }
    }
    parts
}

/// What the parts of a call share.
struct Call<'a> {
    family: &'a BatchFamily,
    device: &'a Device,
    /// Bytes of a lane, where a part needs no more.
    usual: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: Vec<Failure>,
    /// What the device failed with, if it did.
    error: Option<Arc<Error>>,
}

impl Call<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Names the `count` jobs from `first` on, to whose end the device did not come.
    fn name(&mut self, first: usize, count: usize, error: &Arc<Error>) {
        let failure = |job| {
            let ended = Error::BatchEnded { error: error.clone() };
            Failure { job, error: lanecrypt_core::Error::Device(Box::new(ended)) }
        };
        self.failures.extend((first..first + count).map(failure));
    }
}

/// The parts that no thread has taken yet.
struct Parts<'a, 'j> {
    call: &'a Call<'a>,
    counts: std::vec::IntoIter<(usize, usize)>,
    jobs: &'a mut [Job<'j>],
    /// The number of the first of these jobs.
    first: usize,
}

impl<'a, 'j> Iterator for Parts<'a, 'j> {
    type Item = Part<'a, 'j>;

    /// After a failure no part is started any more.
    fn next(&mut self) -> Option<Part<'a, 'j>> {
        let mut state = self.call.state();
        if let Some(error) = state.error.clone() {
            let rest = std::mem::take(&mut self.jobs).len();
            state.name(self.first, rest, &error);
            self.counts = Vec::new().into_iter();
        }
        let (count, bytes) = self.counts.next()?;
        let (jobs, rest) = std::mem::take(&mut self.jobs).split_at_mut(count);
        self.jobs = rest;
        let first = self.first;
        self.first += count;
        Some(Part { call: self.call, first, jobs, bytes, placed: Placed::default() })
    }
}

/// Some jobs, one behind the other.
struct Part<'a, 'j> {
    call: &'a Call<'a>,
    /// The number of the first of them.
    first: usize,
    jobs: &'a mut [Job<'j>],
    /// Bytes of a lane that they take at most.
    bytes: usize,
    placed: Placed,
}

/// What of a part is where on its lane.
#[derive(Default)]
struct Placed {
    /// The numbers of the jobs that are run, and where their messages start.
    messages: Vec<(usize, usize)>,
    /// Those that are not.
    failures: Vec<Failure>,
    described_bytes: usize,
    results_at: usize,
}

impl Part<'_, '_> {
    /// Where messages start, one behind the other, and where the last one ends.
    fn starts(&self) -> (Vec<usize>, usize) {
        let mut end = 0;
        let place = |job: &Job<'_>| {
            let start = end;
            end += self.call.family.room(job).unwrap_or(0);
            start
        };
        (self.jobs.iter().map(place).collect(), end)
    }

    /// Checks the jobs, whose messages start there, and describes them, each in place.
    fn describe(&mut self, starts: &[usize]) -> Result<Description, Error> {
        let Call { family, device, .. } = self.call;
        let jobs = self.jobs.iter_mut().zip(starts);
        let jobs: Vec<_> = jobs.map(|(job, &start)| on_device(job, start)).collect();
        let by_matrices = HashFamily::of(device.properties()) != HashFamily::Tables;
        Ok(family.describe(family.cuts(device, by_matrices, &jobs)?, &jobs))
    }
}

/// A job whose message is on the device, from `start` on.
fn on_device<'a>(job: &'a mut Job<'_>, start: usize) -> DeviceJob<'a> {
    let length = job.data.len();
    DeviceJob { key: job.key, mode: job.mode.reborrow(), input: start, output: start, length }
}

impl Piece for Part<'_, '_> {
    fn lane_bytes(&self) -> usize {
        self.bytes.max(self.call.usual).max(1)
    }

    fn start(&mut self, lane: &mut Lent<'_>) -> Result<(), Error> {
        let (starts, data_bytes) = self.starts();
        let mut description = self.describe(&starts)?;
        let Self { call, jobs, placed, .. } = self;
        let layout = description.layout();
        let data_at = layout.described_bytes();
        let made_at = data_at + data_bytes;
        *placed = Placed {
            messages: description
                .accepted
                .iter()
                .map(|&job| (job, data_at + starts[job]))
                .collect(),
            failures: std::mem::take(&mut description.failures),
            described_bytes: data_at,
            results_at: made_at,
        };
        let extent = Extent {
            up: made_at,
            down: data_at..made_at + layout.result_bytes(),
            all: made_at + layout.made_bytes(),
        };
        let all = extent.all;
        let fill = |pinned: &mut [u8]| {
            description.write(&mut pinned[..data_at]);
            for &(job, at) in &placed.messages {
                let input = jobs[job].data.input();
                pinned[at..at + input.len()].copy_from_slice(input);
            }
        };
        lane.start(extent, fill, |stream, address| {
            let (described, made) = (address, address + made_at as u64);
            let (parameters, lists) = layout.at(described, made, &description.items);
            let data = address + data_at as u64;
            let parameters = Parameters { input: data, output: data, ..parameters };
            let Call { device, family, .. } = *call;
            let (stream, program, cuts) = (stream.handle, family.program, description.cuts);
            Launches { device, stream, program, cuts, parameters, lists: &lists }.start()
        })?;
        lane.clear(all)
    }

    fn end(self, came_back: Result<&mut [u8], Error>) {
        let Self { call, first, jobs, placed, .. } = self;
        let pinned = match came_back {
            Ok(pinned) => pinned,
            Err(error) => {
                let error = Arc::new(error);
                let mut state = call.state();
                state.name(first, jobs.len(), &error);
                state.error.get_or_insert(error);
                return;
            }
        };
        pinned[..placed.described_bytes].zeroize();
        let mut failures = placed.failures;
        let (data, results) = pinned.split_at(placed.results_at);
        let results = results.as_chunks::<RESULT_BYTES>().0;
        for (&(job, at), result) in placed.messages.iter().zip(results) {
            let Job { mode, data: text, .. } = &mut jobs[job];
            match settle(mode, result) {
                Ok(()) => {
                    let output = text.output();
                    output.copy_from_slice(&data[at..at + output.len()]);
                }
                Err(error) => failures.push(Failure { job, error }),
            }
        }
        let named = failures.into_iter().map(|f| Failure { job: first + f.job, ..f });
        call.state().failures.extend(named);
    }
}
