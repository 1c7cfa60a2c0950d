//! Host memory through a device: pieces on several streams at once, which a few threads feed.
//!
//! Copies of ordinary memory are the slowest part of the way, a thread moving some 10 GB/s. So each of
//! the threads has two lanes: a piece of pinned memory, as much of the device's, and a stream. While one
//! lane copies to the device, runs and copies back, the thread fills or empties the other:
//!
//! ```text
//! thread   fill 0 | fill 1 | wait 0, empty 0, fill 2 | wait 1, empty 1, fill 3 | ..
//! lane A   ........ up 0 | run 0 | down 0 ........... up 2 | run 2 | down 2
//! lane B   ................ up 1 | run 1 | down 1 ........... up 3 | run 3 | down 3
//! ```
//!
//! Lanes belong to the device and are kept between calls; [`Limits`] bounds them, whatever the size of
//! the input is. Results are written in order of their pieces ([`order`]), so that after an error all
//! before it is complete and nothing after it was touched.
//!
//! Memory that is pinned already needs none of this: copies start and end there, and one thread is
//! enough.

mod lane;
mod order;

use std::{
    collections::VecDeque,
    num::NonZero,
    sync::{Mutex, PoisonError},
    thread,
};

use cipher::InOutBuf;

pub(crate) use self::lane::Pool;
use self::{lane::Lent, order::Order};
use crate::{Device, Error, Stream, pinned::is_pinned};

/// The longest piece, in bytes: a few of them fit in the CPU's cache.
const LONGEST_PIECE: usize = 4 << 20;
/// The shortest piece that is worth a launch of its own.
const SHORTEST_PIECE: usize = 256 << 10;
/// Lanes of a thread.
const LANES: usize = 2;
/// The longest piece of memory that is pinned already, and how many of these are on their way: what fills
/// the bus.
const LONGEST_PINNED_PIECE: usize = 16 << 20;
const PINNED_LANES: usize = 4;
/// The most threads where nobody says another number: more did not copy faster.
const THREADS: usize = 12;

/// What host memory may take on its way through a device, all calls together.
///
/// ```
/// use lanecrypt_cuda::{Device, Limits};
///
/// if let Ok(device) = Device::default() {
///     device.limit_host_memory(Limits { threads: 4, ..Limits::default() });
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of pinned memory, and as many of the device's beside it. A call that finds all of it in use
    /// waits for others to end. Where it is less than a piece has, one piece is taken.
    pub pinned_bytes: usize,
    /// Threads that a call uses, its own among them; none is as one.
    pub threads: usize,
}

impl Default for Limits {
    /// 256 MiB, and as many threads as the machine runs at once, up to twelve.
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS);
        Self { pinned_bytes: 256 << 20, threads }
    }
}

/// How host data is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Bytes of every piece but the last.
    pub(crate) bytes: usize,
    way: Way,
    threads: usize,
}

/// How pieces pass between the caller's memory and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By memory of the lane's.
    Staged,
    /// By the device's own copies, as both ends are pinned.
    Pinned,
}

impl Way {
    fn lanes(self) -> usize {
        match self {
            Self::Staged => LANES,
            Self::Pinned => PINNED_LANES,
        }
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

    /// The same for `length` bytes whose results wait for their turn wherever they belong, so that what
    /// comes after an error was not touched.
    pub(crate) fn staged(device: &Device, length: usize, most: usize, unit: usize) -> Self {
        Self::of(Way::Staged, device, length, most, unit)
    }

    /// The same by at most so many threads.
    pub(crate) fn by_threads(self, most: usize) -> Self {
        Self { threads: self.threads.min(most).max(1), ..self }
    }

    fn of(way: Way, device: &Device, length: usize, most: usize, unit: usize) -> Self {
        let (threads, longest) = match way {
            Way::Staged => (device.pool().limits().threads.max(1), LONGEST_PIECE),
            Way::Pinned => (1, LONGEST_PINNED_PIECE),
        };
        let share = length.div_ceil(threads * way.lanes());
        let bytes = share.clamp(SHORTEST_PIECE, longest).min(most).max(unit);
        let bytes = bytes / unit * unit;
        let threads = threads.min(length.div_ceil(bytes).div_ceil(way.lanes()));
        Self { bytes, way, threads }
    }
}

/// A piece of host data that was taken by a thread.
pub(crate) struct Piece<'a> {
    /// Among all of them, from 0 on.
    number: usize,
    data: InOutBuf<'a, 'a, u8>,
}

/// What no thread has taken yet.
struct Rest<'a> {
    data: Option<InOutBuf<'a, 'a, u8>>,
    taken: usize,
}

// SAFETY: the buffer is a borrow of bytes to read and an exclusive one of bytes to write, both of which
// another thread may use.
unsafe impl Send for Rest<'_> {}

/// A call: its data, and where in it threads are.
struct Call<'a, W> {
    device: &'a Device,
    cut: Cut,
    grain: usize,
    work: W,
    rest: Mutex<Rest<'a>>,
    order: Order,
}

/// Runs `work` over all of `data`, a piece at a time: it gets a stream, the address of a piece on the
/// device, the number of the piece and its bytes, and queues what is to be done in place. There the
/// piece is filled up to a multiple of `grain` bytes with whatever is there.
///
/// # Errors
/// [`Error::Interrupted`] by those of `work` and of the driver.
pub(crate) fn run(
    device: &Device,
    data: InOutBuf<'_, '_, u8>,
    cut: Cut,
    grain: usize,
    work: impl Fn(&Stream, u64, usize, usize) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    if data.is_empty() {
        return Ok(());
    }
    let rest = Mutex::new(Rest { data: Some(data), taken: 0 });
    let call = Call { device, cut, grain, work, rest, order: Order::default() };
    thread::scope(|scope| {
        for _ in 1..cut.threads {
            scope.spawn(|| call.run_pieces());
        }
        call.run_pieces();
    });
    match call.order.into_failure() {
        None => Ok(()),
        Some((piece, error)) => {
            Err(Error::Interrupted { complete: piece * cut.bytes, error: Box::new(error) })
        }
    }
}

impl<'a, W: Fn(&Stream, u64, usize, usize) -> Result<(), Error> + Sync> Call<'a, W> {
    /// Runs pieces, as long as there are any, on the lanes that this thread gets.
    fn run_pieces(&self) {
        let _on_panic = self.order.fail_on_panic();
        let mut running = VecDeque::new();
        loop {
            // A thread with a lane waits for nobody, and those who wait for an earlier piece hold
            // theirs: so the lane comes first, and then the piece.
            if running.len() < self.cut.way.lanes()
                && let Some(next) = self.start_next(running.is_empty())
            {
                running.push_back(next);
                continue;
            }
            let Some((piece, lane)) = running.pop_front() else { return };
            self.end(piece, lane);
        }
    }

    /// Starts the next piece on a lane; one that is in use elsewhere is waited for where `waits` says so.
    fn start_next(&self, waits: bool) -> Option<(Piece<'a>, Lent<'a>)> {
        if self.order.has_failed() || self.is_all_taken() {
            return None;
        }
        let bytes = self.cut.bytes.next_multiple_of(self.grain);
        let lane = self.device.pool().lend(self.device, bytes, waits).transpose()?;
        let mut piece = self.take()?;
        let started = lane.and_then(|mut lane| {
            let (number, length) = (piece.number, piece.data.len());
            let work = |stream: &Stream, address| (self.work)(stream, address, number, length);
            match self.cut.way {
                Way::Staged => lane.start(piece.data.get_in(), work)?,
                // SAFETY: the memory is the piece's, which the call has until it has waited for the lane;
                // it is dropped with the lane, and after it, if it does not come to that.
                Way::Pinned => unsafe { lane.start_pinned(&mut piece.data, work) }?,
            }
            Ok(lane)
        });
        match started {
            Ok(lane) => Some((piece, lane)),
            Err(error) => {
                self.order.fail(piece.number, error);
                None
            }
        }
    }

    /// Waits for a piece, and writes it once all before it have come that far.
    fn end(&self, Piece { number, mut data }: Piece<'_>, mut lane: Lent<'_>) {
        let ended = lane.wait(|bytes| {
            let is_turn = self.order.wait_for_turn(number);
            if is_turn && self.cut.way == Way::Staged {
                let output = data.get_out();
                output.copy_from_slice(&bytes[..output.len()]);
            }
        });
        if let Err(error) = ended {
            self.order.fail(number, error);
        }
    }

    fn is_all_taken(&self) -> bool {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner).data.is_none()
    }

    fn take(&self) -> Option<Piece<'a>> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let data = rest.data.take()?;
        let length = self.cut.bytes.min(data.len());
        let (data, after) = data.split_at(length);
        rest.data = (!after.is_empty()).then_some(after);
        rest.taken += 1;
        Some(Piece { number: rest.taken - 1, data })
    }
}
