//! XTS over the devices of a fleet: whole data units a range, and long units by ranges of their blocks.

use std::sync::{Arc, Mutex, PoisonError};

use cipher::InOutBuf;
use lanecrypt_core::Direction;

use super::{
    Fleet, FleetReport,
    host_memory::{self, Stopped, range_bytes},
    resident::Parts,
    roster::Roster,
};
use crate::{
    DataUnits, Device, DeviceInOut, Dropped, Error, Family, Operation,
    engine::xts::{Pair, unit_by_unit},
    pipeline::Cut,
};

impl Family {
    /// XTS on each of `devices`, under two keys of equal lengths that the cipher takes, one after the other:
    /// see [`xts_engine`](Self::xts_engine).
    ///
    /// # Errors
    /// [`Error::Unavailable`] for no devices; those of [`xts_engine`](Self::xts_engine).
    pub fn xts_fleet(&self, devices: &[Device], keys: &[u8]) -> Result<XtsFleet, Error> {
        let roster = Arc::new(Roster::new(devices)?);
        let (data, tweak) = keys.split_at(keys.len() / 2);
        let data = Fleet::new(self, &roster, data)?;
        data.engines[0].require_xts()?;
        Ok(XtsFleet { data, tweak: Fleet::new(self, &roster, tweak)? })
    }
}

/// A cipher under the two keys of XTS on several devices of a host, which share work as those of a
/// [`Fleet`] do.
#[derive(Debug)]
pub struct XtsFleet {
    data: Fleet,
    tweak: Fleet,
}

impl XtsFleet {
    /// The fleet under the data's key.
    #[must_use]
    pub fn data_fleet(&self) -> &Fleet {
        &self.data
    }

    /// As [`Fleet::dropped`].
    #[must_use]
    pub fn dropped(&self) -> Vec<Dropped> {
        self.data.dropped()
    }

    /// As [`Fleet::restore`].
    pub fn restore(&self) {
        self.data.restore();
    }

    /// Runs XTS over host memory of any size, on all devices.
    ///
    /// # Errors
    /// [`Error::Data`] for units, or a last unit, of less than 16 bytes, before anything is written;
    /// [`Error::Fleet`] where every device has failed: what it names as incomplete is as it was where it is in
    /// place, but for a unit of more than 4 MiB, of which a part may have run.
    pub fn run_host_memory(
        &self,
        direction: Direction,
        units: DataUnits,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<FleetReport, Error> {
        units.check(data.len())?;
        let limits = self.data.engines.iter().map(|engine| engine.chunk_limit.get());
        if units.bytes > Cut::most(limits.min().unwrap_or(usize::MAX)) {
            return self.run_long_units(direction, units, data);
        }
        let Fleet { roster, range_limit, .. } = &self.data;
        let bytes = range_bytes(roster, range_limit, data.len(), units.bytes);
        let starts = (0..data.len().div_ceil(bytes)).map(|range| range * (bytes / units.bytes));
        host_memory::run(roster, data, bytes, starts, |passage, before, mut data| {
            let pair = self.pair(passage.member());
            let first = units.first.wrapping_add(before as u128);
            let most = pair.data.chunk_limit.get();
            let cut = passage.cut(pair.data.device(), &mut data, most, units.bytes);
            let run = pair.run_cut(direction, DataUnits { first, ..units }, data, cut);
            run.err().map(|error| {
                let next = before + error.complete_bytes() / units.bytes;
                Stopped { next, error }
            })
        })
    }

    /// Units that are too long for one piece: the blocks of one after the other.
    fn run_long_units(
        &self,
        direction: Direction,
        units: DataUnits,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<FleetReport, Error> {
        let length = data.len();
        let [blocks, tweaks] = [&self.data, &self.tweak].map(Reporting::new);
        let run = unit_by_unit(units, data, |tweak, unit| {
            lanecrypt_core::modes::xts(&blocks, &tweaks, tweak, direction, unit)
        });
        run.map_err(|(complete, _)| Error::Fleet {
            incomplete: std::iter::once(complete..length).collect(),
            dropped: self.dropped(),
        })?;
        let mut report = blocks.into_report();
        report.dropped.extend(tweaks.into_report().dropped);
        Ok(report)
    }

    /// Runs XTS over data that lies on several devices: see [`Fleet::run`].
    ///
    /// # Errors
    /// As [`Fleet::run`], and [`Error::Data`] where another one than the last part is not whole units, and
    /// for units, or a last unit, of less than 16 bytes.
    pub fn run<'d>(
        &self,
        direction: Direction,
        units: DataUnits,
        data: impl IntoIterator<Item: Into<DeviceInOut<'d>>>,
    ) -> Result<(), Error> {
        let data: Vec<DeviceInOut<'_>> = data.into_iter().map(Into::into).collect();
        let parts = Parts::new(&self.data.roster, &data)?;
        units.check(parts.length())?;
        parts.check(lanecrypt_core::Mode::Xts, units.bytes)?;
        parts.run(|_, part| {
            let pair = self.pair(part.member);
            let before = (part.range.start / units.bytes) as u128;
            let units = DataUnits { first: units.first.wrapping_add(before), ..units };
            let stream = &pair.data.default_stream;
            pair.run_all(stream, direction, units, part.ends, part.range.len())
        })
    }

    /// The engines of a device.
    fn pair(&self, member: usize) -> Pair<'_> {
        Pair { data: &self.data.engines[member], tweak: &self.tweak.engines[member] }
    }
}

/// A fleet as an engine that keeps how all of its calls went.
#[derive(Debug)]
struct Reporting<'a> {
    fleet: &'a Fleet,
    report: Mutex<FleetReport>,
}

impl<'a> Reporting<'a> {
    fn new(fleet: &'a Fleet) -> Self {
        Self { fleet, report: Mutex::new(FleetReport::of(fleet.engines.len())) }
    }

    fn add(&self, report: FleetReport) {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).add(report);
    }

    fn into_report(self) -> FleetReport {
        self.report.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl lanecrypt_core::Engine for Reporting<'_> {
    fn block_bytes(&self) -> usize {
        self.fleet.block_bytes()
    }

    fn run(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        self.add(self.fleet.run_host_memory(operation, data)?);
        Ok(())
    }
}
