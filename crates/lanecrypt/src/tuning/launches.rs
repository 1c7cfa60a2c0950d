//! Launches of a kernel over resident data: thread blocks of every size, and grids.

use std::time::Duration;

use super::{
    Error, Options, Tuned,
    measuring::{self, Row, key, median, noise},
};
use crate::{
    Direction,
    cuda::{
        DataUnits, Device, DeviceBuffer, Engine, Geometry, Measured, Operation, XtsEngine,
        kernels::{Kernel, Task},
    },
};

/// Bytes of a data unit of XTS: a sector of a disk.
const UNIT: usize = 4096;
/// The fewest threads of a thread block: a warp.
const WARP: u32 = 32;
/// Data that takes longer is the longest of its kernel that is tried.
const LONGEST_PASS: Duration = Duration::from_millis(10);
/// How many of the fastest geometries are measured again, for longer.
const FINALISTS: usize = 3;
/// What takes this many times as long as something else in its first pass has no second one.
const HOPELESS: u64 = 2;
/// Another launch than the computed one is taken if it saves at least one part in this many: less may be
/// chance.
const WORTH_IT: u64 = 100;

/// A device with resident data.
pub(super) struct Launches<'a> {
    device: &'a Device,
    options: &'a Options,
    sizes: Vec<usize>,
    input: DeviceBuffer,
    output: DeviceBuffer,
}

/// A geometry and its nanoseconds.
type Timed = (Geometry, u64);

impl<'a> Launches<'a> {
    pub(super) fn new(device: &'a Device, options: &'a Options) -> Result<Self, Error> {
        // Input and output, and as much again for whoever else is there.
        let most = device.free_bytes()? / 4;
        let fits = |bytes: &usize| options.launches && *bytes <= most;
        let sizes: Vec<usize> = options.sizes.iter().copied().filter(fits).collect();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let mut input = DeviceBuffer::zeroed(device, largest)?;
        let noise = noise(largest.min(64 << 20));
        for start in (0..largest).step_by(noise.len().max(1)) {
            input.write(start, &noise[..noise.len().min(largest - start)])?;
        }
        let output = DeviceBuffer::zeroed(device, largest)?;
        Ok(Self { device, options, sizes, input, output })
    }

    /// The fastest launches of a kernel, over data of each length.
    pub(super) fn measure(&mut self, row: &Row) -> Result<Tuned, Error> {
        let runner = Runner::new(self.device, row)?;
        let mut points = Vec::new();
        for bytes in self.sizes.clone() {
            let (geometry, nanoseconds, usual) = self.fastest(&runner, row, bytes)?;
            points.push((Measured { bytes: bytes as u64, geometry, nanoseconds }, usual));
            if nanoseconds > LONGEST_PASS.as_nanos() as u64 {
                break; // what is longer goes by this
            }
        }
        Ok(Tuned { kernel: row.kernel.name(), key_bytes: row.key_bytes, points })
    }

    /// The launch to take, its nanoseconds, and those of the computed one.
    fn fastest(
        &mut self,
        runner: &Runner,
        row: &Row,
        bytes: usize,
    ) -> Result<(Geometry, u64, u64), Error> {
        let blocks = bytes / row.family.cipher().block_bytes;
        let computed = self.device.computed_geometry(row.kernel, blocks as u64)?;
        let mut tried = self.candidates(runner, row, (bytes, computed))?;
        tried.sort_by_key(|(_, nanoseconds)| *nanoseconds);
        tried.truncate(FINALISTS);
        let usual = self.time(runner, computed, bytes, 4, u64::MAX)?;
        let mut fastest = (computed, usual);
        for (geometry, _) in tried {
            let nanoseconds = self.time(runner, geometry, bytes, 4, u64::MAX)?;
            if nanoseconds < fastest.1 && nanoseconds < usual - usual / WORTH_IT {
                fastest = (geometry, nanoseconds);
            }
        }
        Ok((fastest.0, fastest.1, usual))
    }

    /// The computed launch and others, each timed for a short while.
    fn candidates(
        &mut self,
        runner: &Runner,
        row: &Row,
        (bytes, computed): (usize, Geometry),
    ) -> Result<Vec<Timed>, Error> {
        let mut tried: Vec<Timed> = Vec::new();
        self.try_out(runner, computed, bytes, &mut tried)?;
        let needed = threads_needed(row, bytes);
        for threads in thread_counts(row.kernel, needed) {
            // As many thread blocks as run at once.
            let resident = self.device.resident_blocks(row.kernel, threads)?.max(1);
            let geometry = Geometry { threads, blocks_per_multiprocessor: resident };
            self.try_out(runner, geometry, bytes, &mut tried)?;
        }
        tried.sort_by_key(|(_, nanoseconds)| *nanoseconds);
        // Fewer of them, or more, for the best sizes.
        for i in 0..tried.len().min(2) {
            let (Geometry { threads, blocks_per_multiprocessor }, _) = tried[i];
            let multiprocessors = self.device.properties().multiprocessors;
            let thread_blocks = needed.div_ceil(u64::from(threads));
            let useful = thread_blocks.div_ceil(u64::from(multiprocessors));
            for grid in grids(blocks_per_multiprocessor, useful) {
                let geometry = Geometry { threads, blocks_per_multiprocessor: grid };
                self.try_out(runner, geometry, bytes, &mut tried)?;
            }
        }
        Ok(tried)
    }

    fn try_out(
        &mut self,
        runner: &Runner,
        geometry: Geometry,
        bytes: usize,
        tried: &mut Vec<Timed>,
    ) -> Result<(), Error> {
        let best = tried.iter().map(|(_, nanoseconds)| *nanoseconds).min();
        let hopeless = best.map_or(u64::MAX, |best| HOPELESS * best);
        tried.push((geometry, self.time(runner, geometry, bytes, 1, hopeless)?));
        Ok(())
    }

    /// The device's nanoseconds of a launch, measured `longer` times as long as is said, unless its first
    /// pass takes more than `hopeless`.
    fn time(
        &mut self,
        runner: &Runner,
        geometry: Geometry,
        bytes: usize,
        longer: u32,
        hopeless: u64,
    ) -> Result<u64, Error> {
        runner.engine().launch_as(Some(geometry));
        let (input, mut output) = (self.input.slice(0..bytes)?, self.output.slice_mut(0..bytes)?);
        let mut pass = || {
            self.device.time(&mut || match runner {
                Runner::Plain(engine, operation) => engine.run(*operation, (&input, &mut output)),
                Runner::Xts(engine, direction) => {
                    let units = DataUnits { bytes: UNIT, first: 0 };
                    engine.run(*direction, units, (&input, &mut output))
                }
            })
        };
        let mut time = pass()?;
        if time.as_nanos() as u64 <= hopeless {
            time = median(self.options.time.saturating_mul(longer), pass)?;
        }
        Ok((time.as_nanos() as u64).max(1))
    }
}

/// What runs a kernel.
enum Runner {
    Plain(Box<Engine>, Operation<'static>),
    Xts(Box<XtsEngine>, Direction),
}

impl Runner {
    fn new(device: &Device, row: &Row) -> Result<Self, Error> {
        let xts = |direction| -> Result<Self, Error> {
            let keys = key(2 * row.key_bytes);
            Ok(Self::Xts(Box::new(row.family.xts_engine(device, &keys)?), direction))
        };
        match row.task {
            Task::XtsEncrypt => xts(Direction::Encrypt),
            Task::XtsDecrypt => xts(Direction::Decrypt),
            task => {
                let engine = Box::new(row.family.engine(device, &key(row.key_bytes))?);
                let operation = measuring::operation(task, row.family.cipher().block_bytes);
                Ok(Self::Plain(engine, operation))
            }
        }
    }

    /// The engine whose kernels are launched.
    fn engine(&self) -> &Engine {
        match self {
            Self::Plain(engine, _) => engine,
            Self::Xts(engine, _) => engine.data_engine(),
        }
    }
}

/// Threads that so much data has work for.
fn threads_needed(row: &Row, bytes: usize) -> u64 {
    let unit = row.kernel.unit();
    let blocks = (bytes / row.family.cipher().block_bytes) as u64;
    let groups = blocks.div_ceil(u64::from(unit.blocks)) + u64::from(unit.aligned);
    groups * u64::from(unit.threads)
}

/// This number of threads is tried in any case: tables and round keys in shared memory are made by all threads of a
/// thread block, so that more of them may be faster than those that have work.
const PREPARING: u32 = 256;

/// Every number of threads that the kernel takes, up to the first with which one thread block has all of
/// the work, or to [`PREPARING`].
fn thread_counts(kernel: &Kernel, needed: u64) -> impl Iterator<Item = u32> {
    let unit = kernel.unit().threads.max(WARP);
    let all = (unit..=kernel.threads()).step_by(unit as usize);
    all.take_while(move |&threads| threads <= PREPARING || u64::from(threads - unit) < needed)
}

/// Other grids than of `resident` thread blocks a multiprocessor, where `useful` have work.
fn grids(resident: u32, useful: u64) -> Vec<u32> {
    let mut grids =
        vec![1, 2, resident / 2, resident.saturating_mul(2), resident.saturating_mul(8)];
    let is_another = |grid: u32| {
        let as_launched = |grid: u32| u64::from(grid).min(useful);
        grid > 0 && as_launched(grid) != as_launched(resident)
    };
    grids.retain(|&grid| is_another(grid));
    grids.sort_unstable();
    grids.dedup();
    grids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::kernels::programs;

    #[test]
    fn every_size_of_a_thread_block_is_tried_that_has_work() {
        let kernel = |task| programs::AES_CONFLICT_FREE_4.kernel(task).expect("it is there");
        let counts = |task, needed| thread_counts(kernel(task), needed).collect::<Vec<_>>();
        assert_eq!(counts(Task::EcbEncrypt, 1), [32, 64, 96, 128, 160, 192, 224, 256]);
        assert_eq!(counts(Task::EcbEncrypt, 256).len(), 8);
        assert_eq!(counts(Task::EcbEncrypt, 257).len(), 9);
        assert_eq!(counts(Task::EcbEncrypt, 1 << 30).len(), 32);
        assert_eq!(counts(Task::Ctr, 1 << 30), [1024], "a group is a whole thread block");
    }

    #[test]
    fn every_group_of_blocks_has_its_threads() {
        let family = *crate::fastest_family("aes").ok().flatten().expect("AES has kernels");
        for (program, task) in [
            (&programs::AES_CONFLICT_FREE_4, Task::EcbEncrypt),
            (&programs::AES_CONFLICT_FREE_4, Task::Ctr),
            (&programs::AES_BITSLICE, Task::EcbDecrypt),
        ] {
            let kernel = program.kernel(task).expect("it is there");
            let unit = kernel.unit();
            let row = Row { family, key_bytes: 16, task, kernel };
            for blocks in [1, 2, 255, 256, 257, 100_000] {
                let needed = threads_needed(&row, 16 * blocks);
                assert!(needed.is_multiple_of(u64::from(unit.threads)), "{needed}");
                let groups = needed / u64::from(unit.threads) - u64::from(unit.aligned);
                let held = groups * u64::from(unit.blocks);
                let spare = held.checked_sub(blocks as u64).expect("enough for all blocks");
                assert!(spare < u64::from(unit.blocks), "{spare} of {held} have no block");
            }
        }
    }

    #[test]
    fn grids_are_others_than_the_resident_one() {
        assert_eq!(grids(4, 1 << 20), [1, 2, 8, 32]);
        assert_eq!(grids(1, 1 << 20), [2, 8]);
        assert_eq!(grids(4, 1), [0; 0], "one thread block a multiprocessor has all of the work");
        assert_eq!(grids(4, 3), [1, 2]);
    }
}
