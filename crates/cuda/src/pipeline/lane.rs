//! Lanes: what a piece of host memory passes on its way through a device, and the device's pool of them.

use std::{
    mem,
    ops::Range,
    ptr::NonNull,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use super::limits::Limits;
use crate::{Device, DeviceBuffer, Error, Stream, device::pinned::PinnedBuffer};

/// Bytes of lanes that serve any piece. Longer ones, which a long message of a batch takes, serve their like.
const LONGEST_USUAL: usize = 16 << 20;

/// Bytes of a lane for a piece of `bytes`: there are few kinds, so that one serves another piece.
fn rounded(bytes: usize) -> usize {
    if bytes <= LONGEST_USUAL {
        bytes.next_power_of_two()
    } else {
        bytes.next_multiple_of(LONGEST_USUAL)
    }
}

/// Pinned memory, as much memory of the device, and a stream.
pub(crate) struct Lane {
    /// The first that is dropped, which waits for the copies.
    stream: Stream,
    buffer: DeviceBuffer,
    /// As long as that, once it is needed.
    pinned: Option<PinnedBuffer>,
}

/// A place on a lane, and memory of the caller's that is copied straight from or to there.
pub(crate) type Straight = (usize, NonNull<[u8]>);

/// What a piece uses of a lane, in bytes from its start.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    /// Those that are copied to the device.
    pub(crate) up: usize,
    /// Those that are copied back.
    pub(crate) down: Range<usize>,
    /// All of the device's that are read or written, the others among them.
    pub(crate) all: usize,
}

impl Lane {
    fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let stream = Stream::new(device)?;
        Ok(Self { stream, buffer: DeviceBuffer::zeroed(device, bytes)?, pinned: None })
    }

    fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The pinned memory.
    fn pinned(&mut self) -> Result<&mut PinnedBuffer, Error> {
        match &mut self.pinned {
            Some(pinned) => Ok(pinned),
            none => Ok(none.insert(PinnedBuffer::zeroed(self.buffer.device(), self.buffer.len())?)),
        }
    }

    /// Copies `input` to the start of the device's memory, lets `work` queue what is done with the first
    /// `all` bytes there, and copies what lies from `from` on to `output`.
    ///
    /// # Safety
    /// `input` is not written to and `output` not used before the lane's stream has been waited for, which
    /// dropping the lane does too.
    unsafe fn start(
        &mut self,
        all: usize,
        input: NonNull<[u8]>,
        (from, output): (usize, NonNull<[u8]>),
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let address = self.buffer.slice(0..all)?.address();
        self.buffer.slice(0..input.len())?;
        let result = self.buffer.slice(from..from + output.len())?.address();
        let (driver, stream) = (self.buffer.device().driver(), self.stream.handle);
        if !input.is_empty() {
            // SAFETY: the range on the device is the lane's own; the caller vouches for the other.
            unsafe { driver.start_write(stream, address, input) }?;
        }
        work(&self.stream, address)?;
        if output.is_empty() {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { driver.start_read(stream, result, output) }
    }
}

/// A lane that a thread has. Dropped, it goes back to its pool; after an error it is freed instead.
pub(crate) struct Lent<'a> {
    pool: &'a Pool,
    /// None of an unsound one.
    lane: Option<Lane>,
    bytes: usize,
    is_running: bool,
}

impl Lent<'_> {
    /// Lets `fill` write to pinned memory, copies that to the device, lets `work` queue what is done with
    /// it in place, and copies a part of it back.
    ///
    /// # Errors
    /// [`Error::Range`] where the lane is shorter; those of `work` and of the driver.
    pub(crate) fn start(
        &mut self,
        Extent { up, down, all }: Extent,
        fill: impl FnOnce(&mut [u8]),
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.wait()?; // or the device would still use what is filled
        self.is_running = true;
        self.with(|lane| {
            lane.buffer.slice(0..all.max(up).max(down.end))?;
            let pinned = lane.pinned()?;
            fill(&mut pinned[..up]);
            let (input, output) = (pinned.part(0..up), pinned.part(down.clone()));
            // SAFETY: the memory is the lane's own, which nothing uses before `wait` has waited.
            unsafe { lane.start(all, input, (down.start, output), work) }
        })
    }

    /// The same, where kernels read and write the pinned memory itself if they can: a few bytes are there sooner than
    /// the two copies have begun.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub(super) fn start_short(
        &mut self,
        extent: Extent,
        fill: impl FnOnce(&mut [u8]),
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.memory()?; // is there then, and the device does not use it any more
        let pinned = self.lane.as_ref().and_then(|lane| lane.pinned.as_ref());
        let Some(address) = pinned.and_then(|pinned| pinned.address(extent.all)) else {
            return self.start(extent, fill, work);
        };
        self.is_running = true;
        self.with(|lane| {
            fill(&mut lane.pinned()?[..extent.up]);
            work(&lane.stream, address)
        })
    }

    /// The same from pinned memory of the caller's to pinned memory, without a copy; `output` may be
    /// shorter, or nothing.
    ///
    /// # Safety
    /// `input` is not written to and `output` not used before [`wait`](Self::wait) has returned, or this value is
    /// dropped.
    pub(super) unsafe fn start_pinned(
        &mut self,
        all: usize,
        (input, output): (NonNull<[u8]>, NonNull<[u8]>),
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.is_running = true;
        // SAFETY: the caller vouches for the data.
        self.with(|lane| unsafe { lane.start(all, input, (0, output), work) })
    }

    /// As [`start`](Self::start), and copies straight between the device's memory, from places on, and memory of the
    /// caller's as well: `ins` before what `work` queues, and `outs` once that is done.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// Nothing writes to the memory of `ins`, or uses that of `outs`, before [`wait`](Self::wait) has returned, or this
    /// value is dropped.
    pub(crate) unsafe fn start_with_copies(
        &mut self,
        extent: Extent,
        fill: impl FnOnce(&mut [u8]),
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
        [ins, outs]: [&[Straight]; 2],
    ) -> Result<(), Error> {
        let device = self.lane.as_ref().map(|lane| lane.buffer.device().clone());
        let (all, length) = (extent.all, self.bytes);
        let copy_in = |stream: &Stream, address: u64| {
            let Some(device) = &device else { return Ok(()) };
            ins.iter().filter(|(_, from)| !from.is_empty()).try_for_each(|(to, from)| {
                let end = to.saturating_add(from.len());
                if end > all {
                    return Err(Error::Range { start: *to, end, length });
                }
                let address = address + *to as u64;
                // SAFETY: the range is among those that the lane uses; the caller vouches for the other.
                unsafe { device.driver().start_write(stream.handle, address, *from) }
            })
        };
        self.start(extent, fill, |stream, address| {
            copy_in(stream, address)?;
            work(stream, address)
        })?;
        self.with(|lane| {
            outs.iter().filter(|(_, to)| !to.is_empty()).try_for_each(|(from, to)| {
                let address = lane.buffer.slice(*from..from.saturating_add(to.len()))?.address();
                let driver = lane.buffer.device().driver();
                // SAFETY: the range on the device is the lane's own; the caller vouches for the other.
                unsafe { driver.start_read(lane.stream.handle, address, *to) }
            })
        })
    }

    /// Waits for what was started; then the pinned memory, for who fills it before the next
    /// [`start`](Self::start).
    ///
    /// # Errors
    /// Driver errors.
    pub(crate) fn memory(&mut self) -> Result<&mut [u8], Error> {
        self.wait()?;
        self.with(|lane| lane.pinned().map(drop))?;
        self.wait()
    }

    /// Queues that the first `bytes` bytes of the device's memory are set to zero, after all that was
    /// started.
    pub(crate) fn clear(&mut self, bytes: usize) -> Result<(), Error> {
        self.with(|lane| {
            let address = lane.buffer.slice(0..bytes)?.address();
            // SAFETY: the range is the lane's own.
            unsafe { lane.buffer.device().driver().start_clear(lane.stream.handle, address, bytes) }
        })
    }

    /// Waits for what was started; then the pinned memory, with what came back.
    pub(crate) fn wait(&mut self) -> Result<&mut [u8], Error> {
        if self.is_running {
            self.with(|lane| lane.stream.synchronize())?;
            self.is_running = false;
        }
        let pinned = self.lane.as_mut().and_then(|lane| lane.pinned.as_deref_mut());
        Ok(pinned.unwrap_or_default())
    }

    /// Runs `work` on the lane, which is dropped after an error.
    fn with(&mut self, work: impl FnOnce(&mut Lane) -> Result<(), Error>) -> Result<(), Error> {
        let Some(lane) = &mut self.lane else { return Ok(()) };
        let result = work(lane);
        if result.is_err() {
            self.lane = None;
        }
        result
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if self.is_running {
            self.lane = None; // a panic came between, or an error: it is waited for and freed
        }
        self.pool.give_back(self.lane.take(), self.bytes);
    }
}

/// The lanes of a device that are not in use, within limits of all there are.
#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    given_back: Condvar,
    /// Where kernels leave blocks for the host: those that are not in use.
    pub(super) landings: Mutex<Vec<PinnedBuffer>>,
}

#[derive(Default)]
struct State {
    idle: Vec<Lane>,
    limits: Limits,
    /// Bytes of all lanes, lent and idle.
    bytes: usize,
    /// Lanes that are lent.
    lent: usize,
}

impl Device {
    /// Bounds what host memory takes on its way through the device from now on, and frees what is kept
    /// for it: that is kept between calls otherwise.
    pub fn limit_host_memory(&self, limits: Limits) {
        Pool::of(self).limit(limits);
    }
}

impl Pool {
    /// That of a device. The memory of its lanes is of a device for which nothing is kept, so that the last
    /// value of this one frees them.
    pub(crate) fn of(device: &Device) -> &Self {
        device.kept()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.state().limits
    }

    /// Sets other limits; idle lanes are freed.
    pub(crate) fn limit(&self, limits: Limits) {
        let mut state = self.state();
        state.limits = limits;
        let idle = state.take_idle();
        drop(state);
        let landings = mem::take(&mut *self.landings());
        drop((idle, landings)); // takes a while
        self.given_back.notify_all();
    }

    /// A lane of `bytes` bytes at least. Where as much is in use as may be, it waits for one, or gives
    /// none.
    pub(crate) fn lend(
        &self,
        device: &Device,
        bytes: usize,
        waits: bool,
    ) -> Result<Option<Lent<'_>>, Error> {
        let bytes = rounded(bytes);
        let suits = |lane: &Lane| (bytes..=LONGEST_USUAL.max(2 * bytes)).contains(&lane.bytes());
        let mut state = self.state();
        let too_small = loop {
            if let Some(i) = state.idle.iter().position(suits) {
                state.lent += 1;
                let lane = state.idle.swap_remove(i);
                return Ok(Some(self.lent(lane.bytes(), Some(lane))));
            }
            let most = state.limits.pinned_bytes;
            if state.bytes + bytes <= most {
                break Vec::new();
            }
            if state.bytes_lent() + bytes <= most || state.lent == 0 {
                break state.take_idle();
            }
            if !waits {
                return Ok(None);
            }
            state = self.given_back.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.bytes += bytes;
        state.lent += 1;
        drop(state);
        drop(too_small);
        let mut lent = self.lent(bytes, None);
        lent.lane = Some(Lane::new(&device.without_kept(), bytes)?);
        Ok(Some(lent))
    }

    fn lent(&self, bytes: usize, lane: Option<Lane>) -> Lent<'_> {
        Lent { pool: self, lane, bytes, is_running: false }
    }

    /// Takes back a lane of `bytes` bytes, or the room that one had which is no more.
    fn give_back(&self, lane: Option<Lane>, bytes: usize) {
        let mut state = self.state();
        state.lent -= 1;
        match lane {
            Some(lane) if state.bytes <= state.limits.pinned_bytes => state.idle.push(lane),
            gone => {
                state.bytes -= bytes;
                drop(state); // freeing takes a while
                drop(gone);
            }
        }
        self.given_back.notify_all(); // one of them may want more than there is
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn bytes_lent(&self) -> usize {
        self.bytes - self.idle.iter().map(Lane::bytes).sum::<usize>()
    }

    fn take_idle(&mut self) -> Vec<Lane> {
        self.bytes = self.bytes_lent();
        mem::take(&mut self.idle)
    }
}
