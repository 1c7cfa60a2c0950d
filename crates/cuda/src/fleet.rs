//! Several devices as one engine: host memory that they share out by what each finishes, and data that lies
//! on several of them.

mod host_memory;
mod resident;
mod roster;
mod share;
mod xts;

use std::{fmt, sync::Arc};

use cipher::InOutBuf;

use self::{
    host_memory::{Stopped, range_bytes},
    resident::Parts,
};
use crate::{
    Device, DeviceInOut, Dropped, Engine, Error, Family, Operation,
    device::buffer::MAX_BLOCK,
    engine::MODE_CHUNK_BYTES,
    launch::operation::{Start, Work, task_of},
    pipeline::ChunkLimit,
};

pub use self::{roster::FleetReport, xts::XtsFleet};
pub(crate) use self::{
    roster::Roster,
    share::{Shared, Unfinished, share},
};

/// A cipher under one key on several devices of a host.
///
/// Host memory of any size is cut into ranges, of which every device takes the next when it has finished
/// one: so devices that are not equally fast end together, and what comes out is what one device would make of
/// it. Each has memory of its own that the ranges pass, within its [`Limits`](crate::Limits), and of the
/// machine's threads its share. A device that fails drops out: what it did not end runs on the others, the
/// call's [`FleetReport`] names it, and the fleet does not use it again before [`restore`](Self::restore). Only
/// where none is left the call fails, with [`Error::Fleet`].
///
/// As a [`lanecrypt_core::Engine`] it has the modes of that; [`dropped`](Self::dropped) tells there who
/// failed. Several threads may use one fleet; short calls go to the devices in turn.
///
/// ```
/// use lanecrypt_cuda::{Device, Error, Family, Operation};
///
/// fn on_all_devices(family: &Family, key: &[u8], data: &mut [u8]) -> Result<(), Error> {
///     let fleet = family.fleet(&Device::all()?, key)?;
///     let report = fleet.run_host_memory(Operation::Ctr([0; 16].into()), data.into())?;
///     for dropped in report.dropped {
///         eprintln!("{dropped}"); // the others did its part
///     }
///     Ok(())
/// }
/// ```
///
/// # Pinned memory
///
/// A [`PinnedBuffer`](crate::PinnedBuffer) passes by the devices' own copies where the result goes to
/// another one. In place it is copied by the CPU like any other memory: the device's own copy back could end
/// half-way in a piece, and then it would be unknown what is encrypted. That costs half of the speed and
/// more, so keep input and output apart where it matters.
pub struct Fleet {
    engines: Vec<Engine>,
    roster: Arc<Roster>,
    range_limit: ChunkLimit,
}

impl Family {
    /// Engines of this family under a key of a length that the cipher takes, on each of `devices`, of which
    /// every one has the program that fits it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for no devices; those of [`engine`](Self::engine) for any of them.
    pub fn fleet(&self, devices: &[Device], key: &[u8]) -> Result<Fleet, Error> {
        Fleet::new(self, &Arc::new(Roster::new(devices)?), key)
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.engines).finish()
    }
}

impl Fleet {
    pub(crate) fn new(family: &Family, roster: &Arc<Roster>, key: &[u8]) -> Result<Self, Error> {
        let engines = roster.devices().iter().map(|device| family.engine(device, key));
        let engines = engines.collect::<Result<_, _>>()?;
        Ok(Self { engines, roster: Arc::clone(roster), range_limit: ChunkLimit::default() })
    }

    /// The engines, one a device, in their order.
    #[must_use]
    pub fn engines(&self) -> &[Engine] {
        &self.engines
    }

    /// The devices that dropped out since the fleet was made or [`restore`](Self::restore)d, and why.
    #[must_use]
    pub fn dropped(&self) -> Vec<Dropped> {
        self.roster.dropped()
    }

    /// Lets devices that dropped out take part again.
    pub fn restore(&self) {
        self.roster.restore();
    }

    /// Lets a range of host memory have at most `bytes` bytes, whole blocks of it and one at least; never
    /// more than 64 MiB.
    pub fn limit_range(&self, bytes: usize) {
        self.range_limit.set(bytes);
    }

    /// Runs `operation` over host memory of any size, on all devices.
    ///
    /// # Errors
    /// [`Error::Data`] as [`Engine::run`], before anything is written; [`Error::Fleet`] where every device
    /// has failed: what it names as incomplete is as it was where it is in place.
    pub fn run_host_memory(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<FleetReport, Error> {
        let work = self.engines[0].work(operation, data.len())?;
        let bytes = range_bytes(&self.roster, &self.range_limit, data.len(), MAX_BLOCK);
        let starts = work.at_pieces(data.get_in(), bytes);
        host_memory::run(&self.roster, data, bytes, starts, |passage, work, mut data| {
            let engine = &self.engines[passage.member()];
            let cut = passage.cut(engine.device(), &mut data, engine.chunk_limit.get(), MAX_BLOCK);
            let pieces = work.at_pieces(data.get_in(), cut.bytes);
            engine.run_from(&pieces, data, cut).err().map(|error| {
                let next = pieces[error.complete_bytes() / cut.bytes];
                Stopped { next, error }
            })
        })
    }

    /// Runs `operation` over data that lies on several devices, one part behind the other, all of them at once:
    /// each in place or from one slice to another. Returns when they are complete.
    ///
    /// # Errors
    /// [`Error::Data`] for lengths, counters and IVs that the mode does not take, and where another one
    /// than the last part is not whole blocks; [`Error::OtherDevice`] for a part on a device that is not
    /// of this fleet, and for pairs that are not on one. [`Error::Fleet`] where devices failed: the data
    /// that they have cannot run elsewhere. It names the bytes that are not complete.
    pub fn run<'d>(
        &self,
        operation: Operation<'_>,
        data: impl IntoIterator<Item: Into<DeviceInOut<'d>>>,
    ) -> Result<(), Error> {
        let data: Vec<DeviceInOut<'_>> = data.into_iter().map(Into::into).collect();
        let parts = Parts::new(&self.roster, &data)?;
        let work = self.engines[0].work(operation, parts.length())?;
        parts.check(operation.mode(), work.block)?;
        let starts = starts(work, &parts, &data)?;
        parts.run(|number, part| {
            let on = self.engines[part.member].without_stream();
            on.run(starts[number], part.ends, part.range.len())
        })
    }
}

/// Where every part starts. What chains need of the part before it is read, before anything runs.
fn starts(work: Work, parts: &Parts<'_>, data: &[DeviceInOut<'_>]) -> Result<Vec<Work>, Error> {
    let (mut starts, mut next) = (Vec::new(), work);
    for (part, data) in parts.iter().zip(data) {
        starts.push(next);
        let is_last = part.range.end == parts.length();
        next = match next.start {
            Start::Chain(_) if !is_last && !part.range.is_empty() => {
                let mut block = [0; MAX_BLOCK];
                let block = &mut block[..work.block];
                parts.read_last(part, data.input(), block)?;
                next.after(block)
            }
            _ => next.after_blocks(part.range.len() / work.block),
        };
    }
    Ok(starts)
}

impl lanecrypt_core::Engine for Fleet {
    fn block_bytes(&self) -> usize {
        self.engines[0].program().block_bytes()
    }

    fn chunk_bytes(&self) -> usize {
        MODE_CHUNK_BYTES
    }

    fn run(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        if operation.is_serial() {
            return lanecrypt_core::Engine::run(&self.engines[0], operation, data);
        }
        if task_of(operation).is_none() {
            return lanecrypt_core::modes::by_ecb(self, operation, data);
        }
        let _kept = self.run_host_memory(operation, data)?;
        Ok(())
    }
}
