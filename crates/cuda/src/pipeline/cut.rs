//! How host memory is cut into pieces, and what may be on its way at once.

use cipher::InOutBuf;

use super::lane::Pool;
use crate::{Device, device::pinned::is_pinned};

/// The longest piece, in bytes: those of all lanes stay in the CPU's caches from being filled to being read by the device,
/// and from being written by it to being emptied.
const LONGEST_PIECE: usize = 2 << 20;
/// The longest of jobs that the host describes and does not copy.
const LONGEST_DESCRIBED: usize = 4 << 20;
/// The shortest piece that is worth a launch of its own.
const SHORTEST_PIECE: usize = 256 << 10;
/// Lanes of a thread.
const LANES: usize = 2;
/// The longest piece of memory that is pinned already, and how many of these are on their way: what fills
/// the bus.
const LONGEST_PINNED_PIECE: usize = 16 << 20;
const PINNED_LANES: usize = 4;
/// How host data is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Bytes of every piece but the last.
    pub(crate) bytes: usize,
    pub(super) way: Way,
    pub(super) crew: Crew,
}

/// Who passes pieces through a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crew {
    pub(super) threads: usize,
    /// Of a thread.
    pub(super) lanes: usize,
    /// Bytes of their longest piece.
    longest: usize,
}

/// How pieces pass between the caller's memory and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By memory of the lane's.
    Staged,
    /// By the device's own copies, as both ends are pinned.
    Pinned,
}

impl Crew {
    /// All that may be there, for data that is staged.
    pub(crate) fn most(device: &Device) -> Self {
        let threads = Pool::of(device).limits().threads.max(1);
        Self { threads, lanes: LANES, longest: LONGEST_PIECE }
    }

    /// For jobs that the host describes and does not copy: this number of threads, as far as there may be, with enough lanes to
    /// fill the bus.
    pub(crate) fn describing(device: &Device, threads: usize) -> Self {
        let Self { threads, .. } = Self::most(device).of_at_most(threads.max(1));
        let lanes = PINNED_LANES.div_ceil(threads).max(LANES);
        Self { threads, lanes, longest: LONGEST_DESCRIBED }
    }

    /// Lanes of all threads, of which a caller may want any number.
    fn all_lanes(self) -> usize {
        self.threads.saturating_mul(self.lanes)
    }

    /// At most this number of threads of it.
    pub(crate) fn of_at_most(self, threads: usize) -> Self {
        Self { threads: self.threads.min(threads), ..self }
    }

    /// What is worth while for this number of pieces.
    pub(crate) fn for_pieces(self, count: usize) -> Self {
        Self { threads: self.threads.min(count.div_ceil(self.lanes)).max(1), ..self }
    }

    /// The most bytes of a lane of which there may be as many as there are to be: a power of two, as lanes
    /// have.
    pub(crate) fn room(self, device: &Device) -> usize {
        let bytes = Pool::of(device).limits().pinned_bytes / self.all_lanes();
        1 << bytes.max(1).ilog2()
    }

    /// Bytes of a piece of so many together, so that there is one for every lane, but neither a
    /// short nor a long one.
    pub(crate) fn share(self, bytes: usize) -> usize {
        self.share_of(bytes, self.longest)
    }

    /// The same with the longest piece of one's choice.
    pub(crate) fn share_of(self, bytes: usize, longest: usize) -> usize {
        bytes.div_ceil(self.all_lanes()).clamp(SHORTEST_PIECE, longest)
    }
}

impl Cut {
    /// The most bytes of a piece that is cut anywhere, where a caller wants no more than `limit`.
    pub(crate) fn most(limit: usize) -> usize {
        limit.min(LONGEST_PIECE)
    }

    /// For data that passes a device: pieces of at most `most` bytes and of whole `units`, of which one
    /// has no more than that.
    pub(crate) fn new(
        device: &Device,
        data: &mut InOutBuf<'_, '_, u8>,
        most: usize,
        unit: usize,
    ) -> Self {
        let is_pinned = is_pinned(data.get_in()) && is_pinned(data.get_out());
        let way = if is_pinned { Way::Pinned } else { Way::Staged };
        Self::of(way, device, data.len(), most, unit)
    }

    /// The same for data of which nothing comes back.
    pub(crate) fn fed(device: &Device, data: &[u8], most: usize, unit: usize) -> Self {
        let way = if is_pinned(data) { Way::Pinned } else { Way::Staged };
        Self::of(way, device, data.len(), most, unit)
    }

    /// The same for `length` bytes whose results wait for their turn wherever they belong, so that what
    /// comes after an error was not touched.
    pub(crate) fn staged(device: &Device, length: usize, most: usize, unit: usize) -> Self {
        Self::of(Way::Staged, device, length, most, unit)
    }

    /// The same by at most this number of threads.
    pub(crate) fn by_threads(self, most: usize) -> Self {
        let threads = self.crew.threads.min(most).max(1);
        Self { crew: Crew { threads, ..self.crew }, ..self }
    }

    fn of(way: Way, device: &Device, length: usize, most: usize, unit: usize) -> Self {
        let crew = match way {
            Way::Staged => Crew::most(device),
            Way::Pinned => Crew { threads: 1, lanes: PINNED_LANES, longest: LONGEST_PINNED_PIECE },
        };
        let bytes = crew.share(length).min(most).max(unit) / unit * unit;
        Self { bytes, way, crew: crew.for_pieces(length.div_ceil(bytes)) }
    }
}
