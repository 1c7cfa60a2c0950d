//! Lanes: what a piece of host memory passes on its way through a device, and the device's pool of them.

use std::{
    ptr::NonNull,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use cipher::InOutBuf;

use super::Limits;
use crate::{Device, DeviceBuffer, Error, Stream, pinned::PinnedBuffer};

/// Pinned memory, as much memory of the device, and a stream.
pub(crate) struct Lane {
    /// The first that is dropped, which waits for the copies.
    stream: Stream,
    buffer: DeviceBuffer,
    /// As long as that, once it is needed.
    pinned: Option<PinnedBuffer>,
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

    /// Copies pinned memory to the device, lets `work` queue what is done with it in place, and copies
    /// it to other pinned memory, or back.
    ///
    /// # Safety
    /// Nobody writes to `input` or uses `output` before the lane's stream has been waited for, which
    /// dropping the lane does too.
    unsafe fn start(
        &mut self,
        input: NonNull<[u8]>,
        output: NonNull<[u8]>,
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let address = self.buffer.slice(0..input.len())?.address();
        let (driver, stream) = (self.buffer.device().driver(), self.stream.handle);
        // SAFETY: the range on the device is the lane's own; the caller vouches for the other.
        unsafe { driver.start_write(stream, address, input) }?;
        work(&self.stream, address)?;
        // SAFETY: as above.
        unsafe { driver.start_read(stream, address, output) }
    }
}

/// A lane that a thread has. Dropped, it goes back to its pool; after an error it is freed instead.
pub(super) struct Lent<'a> {
    pool: &'a Pool,
    /// None of an unsound one.
    lane: Option<Lane>,
    bytes: usize,
    is_running: bool,
}

impl Lent<'_> {
    /// Copies `input` to the device, lets `work` queue what is done with it in place, and copies it
    /// back.
    pub(super) fn start(
        &mut self,
        input: &[u8],
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.is_running = true;
        self.with(|lane| {
            let pinned = lane.pinned()?;
            pinned[..input.len()].copy_from_slice(input);
            let part = pinned.part(0..input.len());
            // SAFETY: the memory is the lane's own, which nothing uses before `wait` has waited.
            unsafe { lane.start(part, part, work) }
        })
    }

    /// The same from pinned memory to pinned memory, without a copy.
    ///
    /// # Safety
    /// Nobody uses the data before [`wait`](Self::wait) has returned, or this value is dropped.
    pub(super) unsafe fn start_pinned(
        &mut self,
        data: &mut InOutBuf<'_, '_, u8>,
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.is_running = true;
        let (length, (input, output)) = (data.len(), data.reborrow().into_raw());
        let slice = |start: *mut u8| {
            let start = NonNull::new(start).unwrap_or(NonNull::dangling()); // which it is not
            NonNull::slice_from_raw_parts(start, length)
        };
        let (input, output) = (slice(input.cast_mut()), slice(output));
        // SAFETY: the caller vouches for the data.
        self.with(|lane| unsafe { lane.start(input, output, work) })
    }

    /// Waits for what was started, and lets `write` have what came back.
    pub(super) fn wait(&mut self, write: impl FnOnce(&[u8])) -> Result<(), Error> {
        self.with(|lane| lane.stream.synchronize())?;
        self.is_running = false;
        let pinned = self.lane.as_ref().and_then(|lane| lane.pinned.as_deref());
        write(pinned.unwrap_or_default());
        Ok(())
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

/// The lanes of a device that nobody uses, within limits of all there are.
#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    given_back: Condvar,
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

impl Pool {
    pub(crate) fn limits(&self) -> Limits {
        self.state().limits
    }

    /// Sets other limits; idle lanes are freed.
    pub(crate) fn limit(&self, limits: Limits) {
        let mut state = self.state();
        state.limits = limits;
        let idle = state.take_idle();
        drop(state);
        drop(idle); // takes a while
        self.given_back.notify_all();
    }

    /// A lane of at least so many bytes. Where as much is in use as may be, it waits for one, or gives
    /// none.
    pub(super) fn lend(
        &self,
        device: &Device,
        bytes: usize,
        waits: bool,
    ) -> Result<Option<Lent<'_>>, Error> {
        let bytes = bytes.next_power_of_two();
        let mut state = self.state();
        let too_small = loop {
            if let Some(i) = state.idle.iter().position(|lane| lane.bytes() >= bytes) {
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
        lent.lane = Some(Lane::new(&device.without_pool(), bytes)?);
        Ok(Some(lent))
    }

    fn lent(&self, bytes: usize, lane: Option<Lane>) -> Lent<'_> {
        Lent { pool: self, lane, bytes, is_running: false }
    }

    /// Takes back a lane of so many bytes, or the room that one had which is no more.
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
        self.given_back.notify_one();
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
        std::mem::take(&mut self.idle)
    }
}
