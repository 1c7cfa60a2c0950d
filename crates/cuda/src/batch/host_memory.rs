//! Batches of messages in host memory: as many at a time as fit in a part of the device's memory.

use lanecrypt_core::batch::{Failure, Job, Outcome};

use super::{BLOCK, BatchFamily, DeviceJob};
use crate::{Device, DeviceBuffer, Error, pinned::PinnedBuffer};

/// Bytes of messages that are on the device at once, where no message is longer.
const PART_BYTES: usize = 64 << 20;

impl BatchFamily {
    /// Runs jobs whose messages are in host memory, a part of them at a time.
    ///
    /// A job that fails is named in the outcome, and all others are complete. After a failure of the
    /// driver those are named whose results had not all been copied back: what they would have written
    /// is as it was.
    ///
    /// # Errors
    /// [`Error::Unavailable`] as [`fits`](Self::fits): nothing is written then.
    pub fn run_host_memory(&self, device: &Device, jobs: &mut [Job<'_>]) -> Result<Outcome, Error> {
        self.run_host_memory_in_parts(device, PART_BYTES, jobs)
    }

    /// The same with another number of bytes at once; for tests.
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
        self.fits(device.properties())?;
        let mut failures = Vec::new();
        let mut parts = Parts { family: self, device, passage: None };
        let mut first = 0;
        while first < jobs.len() {
            let count = count_of_part(&jobs[first..], part_bytes);
            let part = &mut jobs[first..first + count];
            match parts.run(part) {
                Ok(outcome) => failures.extend(
                    outcome
                        .into_failures()
                        .into_iter()
                        .map(|f| Failure { job: first + f.job, ..f }),
                ),
                Err(error) => {
                    let failure = |job| Failure { job, error: incomplete(&error) };
                    failures.extend((first..jobs.len()).map(failure));
                    break;
                }
            }
            first += count;
        }
        Ok(Outcome::new(failures))
    }
}

/// What is said of a job that the device did not come to, or not to the end of.
fn incomplete(error: &Error) -> lanecrypt_core::Error {
    lanecrypt_core::Error::Device(format!("the batch ended before this job: {error}").into())
}

/// As many jobs as fit in a part, one at least.
fn count_of_part(jobs: &[Job<'_>], part_bytes: usize) -> usize {
    let mut bytes = 0;
    let fits = |job: &&Job<'_>| {
        bytes += room(job.data.len());
        bytes <= part_bytes
    };
    jobs.iter().take_while(fits).count().max(1)
}

/// Bytes that a message has on the device.
fn room(length: usize) -> usize {
    length.next_multiple_of(BLOCK)
}

/// Memory that parts pass, on the host and on the device.
struct Passage {
    pinned: PinnedBuffer,
    buffer: DeviceBuffer,
}

impl Passage {
    /// So many bytes at least: what is kept of the part before, where that is enough.
    fn at_least(device: &Device, kept: Option<Self>, bytes: usize) -> Result<Self, Error> {
        if let Some(kept) = kept.filter(|kept| kept.buffer.len() >= bytes) {
            return Ok(kept);
        }
        let length = bytes.next_power_of_two();
        let pinned = PinnedBuffer::zeroed(device, length)?;
        Ok(Self { pinned, buffer: DeviceBuffer::zeroed(device, length)? })
    }
}

/// The family and the device that parts run on, and what the last of them passed.
struct Parts<'a> {
    family: &'a BatchFamily,
    device: &'a Device,
    passage: Option<Passage>,
}

impl Parts<'_> {
    /// Runs a part. Results are copied to where they belong after all have come back.
    fn run(&mut self, jobs: &mut [Job<'_>]) -> Result<Outcome, Error> {
        let bytes = jobs.iter().map(|job| room(job.data.len())).sum();
        let passage = Passage::at_least(self.device, self.passage.take(), bytes)?;
        let Passage { pinned, buffer } = self.passage.insert(passage);
        let pinned = &mut pinned[..bytes];
        let mut at = 0;
        for job in jobs.iter() {
            pinned[at..at + job.data.len()].copy_from_slice(job.data.input());
            at += room(job.data.len());
        }
        buffer.write(0, pinned)?;
        let batch = self.family.prepare(self.device, on_device(jobs))?;
        let outcome = batch.run_in_place(&mut buffer.slice_mut(0..bytes)?)?;
        buffer.read(0, pinned)?;
        let mut failed = outcome.failures().iter().map(|failure| failure.job).peekable();
        let mut at = 0;
        for (number, job) in jobs.iter_mut().enumerate() {
            let length = job.data.len();
            if failed.next_if_eq(&number).is_none() {
                job.data.output().copy_from_slice(&pinned[at..at + length]);
            }
            at += room(length);
        }
        Ok(outcome)
    }
}

/// The jobs of a part, one behind the other, in place.
fn on_device<'b>(jobs: &'b mut [Job<'_>]) -> Vec<DeviceJob<'b>> {
    let mut at = 0;
    let place = |job: &'b mut Job<'_>| {
        let (start, length) = (at, job.data.len());
        at += room(length);
        DeviceJob { key: job.key, mode: job.mode.reborrow(), input: start, output: start, length }
    };
    jobs.iter_mut().map(place).collect()
}
