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
//! Messages in pinned memory need no room in the lane's. Where those of a part lie one behind the other, the device copies
//! them by itself; else the first kernel gathers them, and the last one scatters the results.
//!
//! Parts are not written in order: an outcome names every job whose part did not come back.

use std::{
    collections::BTreeSet,
    ptr::{self, NonNull},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lanecrypt_core::{
    batch::{Failure, Job, Outcome},
    clear_bytes,
};

use super::{
    BLOCK, BatchFamily, Launches, Layout, Message, Parameters, RESULT_BYTES,
    plan::{Accepted, Plan},
    settle,
    words::Ends,
};
use crate::{
    Device, Error, Stream,
    device::pinned::Reach,
    pipeline::{self, Crew, Extent, Lent, Piece},
};

/// Jobs whose bytes are added up together, and that are cut into parts as one where they are short.
const GROUP: usize = 64;
/// Groups that a thread looks at before it takes more.
const SHARE: usize = 64;
/// Bytes of a message that a refused one takes of a lane at most.
const LONG: usize = 1 << 20;
/// Jobs that are worth a thread which only describes them.
const MANY: usize = 2048;

impl BatchFamily {
    /// Runs jobs whose messages are in host memory, parts of them side by side through memory of the
    /// device, fed by several threads: [`Limits`](crate::Limits) bounds both. A message is never cut; one
    /// that is longer than a part is one by itself.
    ///
    /// Messages in pinned memory (that of a [`PinnedBuffer`](crate::PinnedBuffer), or what
    /// [the device copies by itself](Device::copies_by_itself)) pass without a copy on the host.
    ///
    /// A job that fails is named in the outcome, and all others are complete. After a failure of the
    /// driver those are named whose part had not been copied back: what they would have written
    /// is as it was, but in pinned memory, where it is not to be used: in place, such a message is lost.
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
        self.pass(device, part_bytes, true, jobs)
    }

    /// The same by memory of lanes, wherever messages are: what comes after a failure of the driver can run again.
    pub(super) fn run_staged(
        &self,
        device: &Device,
        jobs: &mut [Job<'_>],
    ) -> Result<Outcome, Error> {
        self.pass(device, usize::MAX, false, jobs)
    }

    fn pass(
        &self,
        device: &Device,
        part_bytes: usize,
        may_move: bool,
        jobs: &mut [Job<'_>],
    ) -> Result<Outcome, Error> {
        self.require(device)?;
        let is_pinned = may_move && jobs.first_mut().is_some_and(|job| is_reached(device, job));
        let crew = if is_pinned {
            Crew::describing(device, jobs.len() / MANY)
        } else {
            Crew::most(device)
        };
        let rooms = self.rooms(crew, jobs);
        let all = rooms.iter().fold(0, |all: usize, &room| all.saturating_add(room));
        let usual = crew.share(all).min(part_bytes);
        let counts = self.counts(jobs, &rooms, usual);
        let crew = crew.for_pieces(counts.len());
        let state = Mutex::default();
        let call = Call { family: self, device, usual, may_move, state };
        pipeline::pass(
            device,
            crew,
            Parts { call: &call, counts: counts.into_iter(), jobs, first: 0 },
        );
        let state = call.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Outcome::new(state.failures))
    }

    /// At least the bytes that each group of jobs takes of a lane, found by all threads: of a million jobs one thread
    /// takes as long as the device.
    fn rooms(&self, crew: Crew, jobs: &[Job<'_>]) -> Vec<usize> {
        let mut rooms = vec![0; jobs.len().div_ceil(GROUP)];
        let shares = Mutex::new(jobs.chunks(SHARE * GROUP).zip(rooms.chunks_mut(SHARE)));
        let take = || shares.lock().unwrap_or_else(PoisonError::into_inner).next();
        let of_group = |group: &[Job<'_>]| {
            group.iter().fold(0, |all: usize, job| all.saturating_add(self.most(job)))
        };
        pipeline::on_all(crew.for_pieces(jobs.len() / (SHARE * GROUP)), || {
            while let Some((jobs, rooms)) = take() {
                let groups = jobs.chunks(GROUP);
                rooms.iter_mut().zip(groups).for_each(|(room, group)| *room = of_group(group));
            }
        });
        rooms
    }

    /// How many jobs every part has, and bytes of a lane that they take at most: no more than `usual`, or one
    /// job.
    fn counts(&self, jobs: &[Job<'_>], rooms: &[usize], usual: usize) -> Vec<(usize, usize)> {
        let mut parts: Vec<(usize, usize)> = Vec::new();
        let mut add = |added: usize, room: usize| match parts.last_mut() {
            Some((count, bytes)) if bytes.saturating_add(room) <= usual => {
                *count += added;
                *bytes += room;
            }
            _ => parts.push((added, room)),
        };
        for (group, &room) in jobs.chunks(GROUP).zip(rooms) {
            if room <= usual {
                add(group.len(), room);
            } else {
                for job in group {
                    add(1, self.most(job));
                }
            }
        }
        parts
    }

    /// At least the bytes that a job takes of a lane: none where it is long and refused.
    fn most(&self, job: &Job<'_>) -> usize {
        let length = job.data.len();
        if length > LONG && self.check(job.key, &job.mode, length).is_err() {
            return 0;
        }
        room(length) + Layout::most_of_job(&job.mode, length)
    }
}

/// Bytes that a message has on the device.
fn room(length: usize) -> usize {
    length.next_multiple_of(BLOCK)
}

/// What the parts of a call share.
struct Call<'a> {
    family: &'a BatchFamily,
    device: &'a Device,
    /// Bytes of a lane, where a part needs no more.
    usual: usize,
    /// Whether what is in pinned memory may pass without a copy of the host's.
    may_move: bool,
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
    /// The jobs that are run.
    accepted: Vec<Accepted>,
    /// Where the results of those are that the host copies back.
    starts: Vec<usize>,
    /// Whether tags came back.
    has_results: bool,
    /// The jobs that are not run.
    failures: Vec<Failure>,
    described_bytes: usize,
    results_at: usize,
}

/// How messages pass between host memory and a lane's memory of the device.
enum Way {
    /// By the lane's pinned memory, which the host fills and empties.
    Staged,
    /// By a copy of the device's each way: they lie one behind the other there as here.
    Copied { input: NonNull<[u8]>, output: NonNull<[u8]> },
    /// By kernels.
    Moved,
}

impl Part<'_, '_> {
    /// Where messages start in the data of a lane, one behind the other, and where the last one ends.
    fn starts(&self, accepted: &[Accepted]) -> (Vec<usize>, usize) {
        let mut end = 0;
        let place = |accepted: &Accepted| {
            let start = end;
            end += room(self.jobs[accepted.job].data.len());
            start
        };
        (accepted.iter().map(place).collect(), end)
    }

    /// How the messages pass that a plan has, and where they are if kernels move them.
    fn way(&mut self, plan: &mut Plan, starts: &[usize]) -> Way {
        let ends = if self.call.may_move { self.ends(&plan.accepted) } else { None };
        let Some(ends) = ends else { return Way::Staged };
        if let Some([input, output]) = self.spans(&plan.accepted, starts, &ends) {
            return Way::Copied { input, output };
        }
        plan.ends = ends;
        Way::Moved
    }

    /// All input and all output, where either lies in one piece as on a lane.
    fn spans(
        &mut self,
        accepted: &[Accepted],
        starts: &[usize],
        ends: &[Ends],
    ) -> Option<[NonNull<[u8]>; 2]> {
        let ([first, ..], [.., last]) = (accepted, accepted) else { return None };
        let from = *ends.first()?;
        let mut places = ends.iter().zip(starts);
        let is_whole =
            |accepted: &Accepted| self.jobs[accepted.job].data.len().is_multiple_of(BLOCK);
        let is_one_piece = accepted[..accepted.len() - 1].iter().all(is_whole)
            && places.all(|(end, &start)| {
                [end.input, end.output] == [from.input, from.output].map(|from| from + start as u64)
            });
        if !is_one_piece {
            return None;
        }
        let bytes = starts.last()? + self.jobs[last.job].data.len();
        let data = &mut self.jobs[first.job].data;
        let span = |start: *const u8| {
            self.call.device.reach(start, bytes)?; // all of it in one range
            let start = NonNull::new(ptr::with_exposed_provenance_mut(start.expose_provenance()))?;
            Some(NonNull::slice_from_raw_parts(start, bytes))
        };
        Some([span(data.input().as_ptr())?, span(data.output().as_mut_ptr())?])
    }

    /// Where kernels find messages and put results, if they reach all of them.
    fn ends(&mut self, accepted: &[Accepted]) -> Option<Vec<Ends>> {
        let device = self.call.device;
        let (mut inputs, mut outputs) = (None, None);
        let mut ends = Vec::new();
        for (number, &Accepted { job, .. }) in accepted.iter().enumerate() {
            let data = &mut self.jobs[job].data;
            let length = data.len();
            let input = reached(device, &mut inputs, data.input().as_ptr(), length)?;
            let output = reached(device, &mut outputs, data.output().as_mut_ptr(), length)?;
            if number == 0 {
                ends.reserve_exact(accepted.len()); // not before it is worth it
            }
            ends.push(Ends { input, output });
        }
        Some(ends)
    }
}

/// Whether kernels reach a job's message.
fn is_reached(device: &Device, job: &mut Job<'_>) -> bool {
    let length = job.data.len();
    let reach = |start| reached(device, &mut None, start, length).is_some();
    reach(job.data.input().as_ptr()) && reach(job.data.output().as_mut_ptr())
}

/// The address by which kernels reach memory; `known` is the range that the last was found in.
fn reached(
    device: &Device,
    known: &mut Option<Reach>,
    start: *const u8,
    length: usize,
) -> Option<u64> {
    if length == 0 {
        return Some(0);
    }
    if let Some(address) = known.as_ref().and_then(|known| known.address(start, length)) {
        return Some(address);
    }
    *known = device.reach(start, length);
    known.as_ref()?.address(start, length)
}

fn message<'a>(job: &'a Job<'_>) -> Message<'a> {
    Message { key: job.key, mode: &job.mode, length: job.data.len() }
}

impl Piece for Part<'_, '_> {
    fn lane_bytes(&self) -> usize {
        self.bytes.max(self.call.usual).max(1)
    }

    fn start(&mut self, lane: &mut Lent<'_>) -> Result<(), Error> {
        let Call { family, device, .. } = *self.call;
        let mut plan = family.plan_for(device, self.jobs.iter().map(message))?;
        let (starts, data_bytes) = self.starts(&plan.accepted);
        let way = self.way(&mut plan, &starts);
        let is_staged = matches!(way, Way::Staged);
        let Self { jobs, placed, .. } = self;
        let layout = plan.layout();
        let data_at = layout.described_bytes();
        let made_at = data_at + data_bytes;
        let results = made_at..made_at + if plan.has_results { layout.result_bytes() } else { 0 };
        let extent = Extent {
            up: if is_staged { made_at } else { data_at },
            down: if is_staged { data_at..results.end } else { results },
            all: made_at + layout.made_bytes(),
        };
        let all = extent.all;
        let fill = |pinned: &mut [u8]| {
            let (described, data) = pinned.split_at_mut(data_at);
            plan.write(described, |number, job| (message(&jobs[job]), [starts[number]; 2]));
            if is_staged {
                for (accepted, &start) in plan.accepted.iter().zip(&starts) {
                    let input = jobs[accepted.job].data.input();
                    data[start..start + input.len()].copy_from_slice(input);
                }
            }
        };
        let work = |stream: &Stream, address| {
            let (described, made) = (address, address + made_at as u64);
            let (parameters, lists) = layout.at(described, made, &plan.items);
            let data = address + data_at as u64;
            let parameters = Parameters { input: data, output: data, ..parameters };
            let (stream, program, cuts) = (stream.handle, family.program, plan.cuts);
            Launches { device, stream, program, cuts, parameters, lists: &lists }.start()
        };
        let [ins, outs] = match way {
            Way::Copied { input, output } => [&[(data_at, input)][..], &[(data_at, output)]],
            Way::Staged | Way::Moved => [&[][..], &[]],
        };
        // SAFETY: the memory is that of the jobs, which the call has borrowed until all its lanes were waited for.
        unsafe { lane.start_with_copies(extent, fill, work, [ins, outs]) }?;
        *placed = Placed {
            accepted: plan.accepted,
            starts: if is_staged { starts } else { Vec::new() },
            has_results: plan.has_results,
            failures: plan.failures,
            described_bytes: data_at,
            results_at: made_at,
        };
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
        clear_bytes(&mut pinned[..placed.described_bytes]);
        let mut failures = placed.failures;
        let (described, results) = pinned.split_at(placed.results_at);
        let data = &described[placed.described_bytes..];
        let numbers = placed.accepted.iter().map(|accepted| accepted.job);
        if placed.has_results {
            for (job, result) in numbers.clone().zip(results.as_chunks::<RESULT_BYTES>().0) {
                let settled = settle(&mut jobs[job].mode, result);
                failures.extend(settled.err().map(|error| Failure { job, error }));
            }
        }
        let refused: BTreeSet<_> = failures.iter().map(|failure| failure.job).collect();
        for (job, start) in numbers.zip(placed.starts) {
            if !refused.contains(&job) {
                let output = jobs[job].data.output();
                output.copy_from_slice(&data[start..start + output.len()]);
            }
        }
        let named = failures.into_iter().map(|f| Failure { job: first + f.job, ..f });
        call.state().failures.extend(named);
    }
}
