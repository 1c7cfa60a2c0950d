//! Host memory over the devices of a fleet: ranges of it, of which each takes the next when it is free.
//!
//! A range knows where it starts: its counter, the block before it, its mask, the number of its first unit.
//! So ranges run in any order, and what a device did not end runs on another one, from the last byte on that
//! is complete. In place that needs results that wait for their turn, in memory that is pinned too: the
//! device's own copies could leave half of a piece encrypted, which could not run again.

use std::ops::Range;

use cipher::InOutBuf;
use lanecrypt_slicing::SendBuf;

use super::{
    roster::{FleetReport, Roster, Seat},
    share::{Shared, Unfinished, share},
};
use crate::{
    Device, Error,
    pipeline::{ChunkLimit, Cut},
};

/// The longest range, in bytes: long enough for a launch to hardly count, and short enough for devices to
/// be ready at about the same time.
const LONGEST_RANGE: usize = 64 << 20;
/// The shortest range that is worth another device.
const SHORTEST_RANGE: usize = 4 << 20;
/// Ranges of a device, where there is enough data: the more, the more evenly unequal devices end.
const RANGES: usize = 8;

/// A range of host memory that has not run.
struct HostRange<'a, S> {
    /// Where in all of the data it starts.
    offset: usize,
    data: SendBuf<'a, 'a, u8>,
    start: S,
}

/// How a device runs a range.
#[derive(Clone, Copy)]
pub(super) struct Passage {
    seat: Seat,
    is_in_place: bool,
}

impl Passage {
    /// The device's place in the fleet.
    pub(super) fn member(self) -> usize {
        self.seat.member
    }

    /// How a range is cut on its way, after which the rest of it can run again: in pieces of at most `most`
    /// bytes and of whole `units`.
    pub(super) fn cut(
        self,
        device: &Device,
        data: &mut InOutBuf<'_, '_, u8>,
        most: usize,
        unit: usize,
    ) -> Cut {
        let cut = if self.is_in_place {
            Cut::staged(device, data.len(), most, unit)
        } else {
            Cut::new(device, data, most, unit)
        };
        cut.by_threads(self.seat.threads)
    }
}

/// A range of which a device ran a part.
pub(super) struct Stopped<S> {
    /// Where it goes on, behind what is complete.
    pub(super) next: S,
    pub(super) error: Error,
}

/// Bytes of a range of `length` bytes of data, whole `units` of it.
pub(super) fn range_bytes(
    roster: &Roster,
    limit: &ChunkLimit,
    length: usize,
    unit: usize,
) -> usize {
    let share = length.div_ceil(roster.devices().len() * RANGES);
    let bytes = share.clamp(SHORTEST_RANGE, LONGEST_RANGE).min(limit.get());
    bytes.max(unit) / unit * unit
}

/// Runs `data` in ranges of `bytes` bytes, each from its start: `run` says where it stopped, if it did.
///
/// # Errors
/// [`Error::Fleet`] where no device is left.
pub(super) fn run<S: Copy + Send>(
    roster: &Roster,
    mut data: InOutBuf<'_, '_, u8>,
    bytes: usize,
    starts: impl IntoIterator<Item = S>,
    run: impl Fn(Passage, S, InOutBuf<'_, '_, u8>) -> Option<Stopped<S>> + Sync,
) -> Result<FleetReport, Error> {
    let is_in_place = is_in_place(&mut data);
    let ranges = ranges(data, bytes, starts);
    let Shared { rest, report } = share(roster, ranges, |seat, mut range: HostRange<'_, S>| {
        let length = range.data.len();
        let passage = Passage { seat, is_in_place };
        let Some(Stopped { next, error }) = run(passage, range.start, range.data.reborrow()) else {
            return Ok(length);
        };
        let complete = error.complete_bytes();
        let (_, data) = range.data.into_inner().split_at(complete);
        let offset = range.offset + complete;
        let rest = vec![HostRange { offset, data: data.into(), start: next }];
        Err(Unfinished { complete, rest, error })
    });
    if rest.is_empty() {
        return Ok(report);
    }
    let incomplete = rest.iter().map(|range| range.offset..range.offset + range.data.len());
    Err(Error::Fleet { incomplete: joined(incomplete.collect()), dropped: roster.dropped() })
}

fn is_in_place(data: &mut InOutBuf<'_, '_, u8>) -> bool {
    let (input, output) = data.reborrow().into_raw();
    input == output.cast_const()
}

fn ranges<'a, S>(
    data: InOutBuf<'a, 'a, u8>,
    bytes: usize,
    starts: impl IntoIterator<Item = S>,
) -> Vec<HostRange<'a, S>> {
    let (mut ranges, mut offset, mut left) = (Vec::new(), 0, data);
    for start in starts {
        let length = bytes.min(left.len());
        let (data, after) = left.split_at(length);
        ranges.push(HostRange { offset, data: data.into(), start });
        (offset, left) = (offset + length, after);
    }
    ranges
}

/// Ranges in order, those that touch as one.
pub(super) fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_device::Model;

    #[test]
    fn ranges_are_whole_units() {
        let devices = [Model::default().device(), Model::default().device()];
        let roster = Roster::new(&devices).expect("there are some");
        let of = |length: usize, unit| range_bytes(&roster, &ChunkLimit::default(), length, unit);
        assert_eq!(of(2 << 30, 16), LONGEST_RANGE);
        assert_eq!(of(256 << 20, 16), 16 << 20);
        assert_eq!(of(1 << 20, 16), SHORTEST_RANGE);
        assert_eq!(of(2 << 30, 520), LONGEST_RANGE / 520 * 520);
        assert_eq!(of(2 << 30, 5 << 20), 60 << 20);
        assert_eq!(of(2 << 30, 100 << 20), 100 << 20, "one at least");
    }

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(joined(vec![48..64, 0..16, 16..32]), [0..32, 48..64]);
        assert!(joined(vec![]).is_empty());
    }
}
