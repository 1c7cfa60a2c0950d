//! Lanes: what a piece of host memory passes on its way through a device, and the device's pool of them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Limits;
use crate::{Device, DeviceBuffer, Error, Stream, pinned::PinnedBuffer};

/// Pinned memory, as much memory of the device, and a stream.
pub(crate) struct Lane {
    /// The first that is dropped, which waits for the copies.
    stream: Stream,
    buffer: DeviceBuffer,
    pinned: PinnedBuffer,
}

impl Lane {
    fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        Ok(Self {
            stream: Stream::new(device)?,
            buffer: DeviceBuffer::zeroed(device, bytes)?,
            pinned: PinnedBuffer::zeroed(device, bytes)?,
        })
    }

    fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Copies so many bytes of the pinned memory to the device, lets `work` queue what is done with them
    /// in place, and copies them back.
    fn start(
        &mut self,
        length: usize,
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let address = self.buffer.slice(0..length)?.address();
        let (driver, stream) = (self.buffer.device().driver(), self.stream.handle);
        let pinned = self.pinned.part(0..length);
        // SAFETY: both ranges lie in memory of the lane, which nothing else uses until the stream has
        // been waited for: by `Lent::wait`, or after an error when the lane is dropped.
        unsafe { driver.start_write(stream, address, pinned) }?;
        work(&self.stream, address)?;
        // SAFETY: as above.
        unsafe { driver.start_read(stream, address, pinned) }
    }
}

/// A lane that a thread has. Dropped, it goes back to its pool; after an error it is freed instead.
pub(super) struct Lent<'a> {
    pool: &'a Pool,
    /// None of an unsound one.
    lane: Option<Lane>,
    bytes: usize,
}

impl Lent<'_> {
    /// Copies `input` to the device, lets `work` queue what is done with it in place, and copies it
    /// back.
    pub(super) fn start(
        &mut self,
        input: &[u8],
        work: impl FnOnce(&Stream, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.with(|lane| {
            lane.pinned.bytes()[..input.len()].copy_from_slice(input);
            lane.start(input.len(), work)
        })
    }

    /// Waits for what was started, and lets `write` have what came back.
    pub(super) fn wait(&mut self, write: impl FnOnce(&[u8])) -> Result<(), Error> {
        self.with(|lane| lane.stream.synchronize())?;
        self.with(|lane| {
            write(lane.pinned.bytes());
            Ok(())
        })
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
                return Ok(Some(Lent { pool: self, bytes: lane.bytes(), lane: Some(lane) }));
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
        let mut lent = Lent { pool: self, lane: None, bytes };
        lent.lane = Some(Lane::new(&device.without_pool(), bytes)?);
        Ok(Some(lent))
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
