//! Data that lies on several devices: parts of it, one behind the other, all of which run at once.

use std::ops::Range;

use lanecrypt_core::Mode;

use super::{host_memory::joined, roster::Roster};
use crate::{DeviceInOut, DeviceSlice, Error, device::driver::StreamHandle};

/// A part of the data: where it lies on a device, and where its result goes.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The device's place in the fleet.
    pub(super) member: usize,
    /// The addresses of input and output.
    pub(super) ends: (u64, u64),
    /// Its bytes among those of all parts.
    pub(super) range: Range<usize>,
}

/// Parts of several devices, in order.
pub(super) struct Parts<'a> {
    roster: &'a Roster,
    parts: Vec<Part>,
}

impl<'a> Parts<'a> {
    /// Each is on one device, and its input and output are equally long.
    pub(super) fn new(roster: &'a Roster, data: &[DeviceInOut<'_>]) -> Result<Self, Error> {
        let mut parts = Self { roster, parts: Vec::new() };
        for data in data {
            let device = data.input().device();
            let member = roster.member(device, "buffer")?;
            data.require_device(device)?;
            parts.push(member, data.ends(), data.len());
        }
        Ok(parts)
    }

    fn push(&mut self, member: usize, ends: (u64, u64), length: usize) {
        let start = self.length();
        self.parts.push(Part { member, ends, range: start..start + length });
    }

    /// Bytes of all parts.
    pub(super) fn length(&self) -> usize {
        self.parts.last().map_or(0, |part| part.range.end)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter()
    }

    /// Checks that all parts but the last one are whole `units`, and that no device of theirs has dropped
    /// out: it would not run.
    pub(super) fn check(&self, mode: Mode, unit: usize) -> Result<(), Error> {
        let others = self.parts.split_last().map_or(&[][..], |(_, others)| others);
        let lengths = others.iter().map(|part| part.range.len());
        if let Some(given) = lengths.into_iter().find(|length| !length.is_multiple_of(unit)) {
            let block = unit;
            return Err(Error::Data(lanecrypt_core::Error::NotWholeBlocks { mode, given, block }));
        }
        if self.parts.iter().any(|part| self.is_out(part)) {
            return Err(self.incomplete(|_| true));
        }
        Ok(())
    }

    fn is_out(&self, part: &Part) -> bool {
        !self.roster.is_there(part.member)
    }

    /// What is said of parts that are not complete.
    fn incomplete(&self, is_incomplete: impl Fn(&Part) -> bool) -> Error {
        let parts = self.parts.iter().filter(|part| is_incomplete(part));
        let incomplete = joined(parts.map(|part| part.range.clone()).collect());
        Error::Fleet { incomplete, dropped: self.roster.dropped() }
    }

    /// Reads the last bytes of a part before anything has run.
    pub(super) fn read_last(
        &self,
        part: &Part,
        input: &DeviceSlice<'_>,
        data: &mut [u8],
    ) -> Result<(), Error> {
        input.read_last(data).map_err(|error| {
            self.roster.drop_out(part.member, error);
            self.incomplete(|_| true)
        })
    }

    /// Queues `work` for every part without a stream, by its number, and waits for all of them.
    ///
    /// # Errors
    /// [`Error::Fleet`] where devices fail, which drop out: the bytes that they have are not complete.
    pub(super) fn run(
        &self,
        work: impl Fn(usize, &Part) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (number, part) in self.parts.iter().enumerate() {
            // What else one has that failed is left out; it is waited for all the same.
            if !self.is_out(part)
                && let Err(error) = work(number, part)
            {
                self.roster.drop_out(part.member, error);
            }
        }
        for (member, device) in self.roster.devices().iter().enumerate() {
            if self.parts.iter().any(|part| part.member == member)
                && let Err(error) = device.driver().synchronize(StreamHandle::DEFAULT)
            {
                self.roster.drop_out(member, error);
            }
        }
        if self.parts.iter().any(|part| self.is_out(part)) {
            return Err(self.incomplete(|part| self.is_out(part)));
        }
        Ok(())
    }
}
