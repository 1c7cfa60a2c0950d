//! Streams: work that is queued on a device and runs beside that of other streams.

use std::{
    collections::BTreeMap,
    fmt, mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    Device, Error,
    device::{
        driver::{Driver, Mark, StreamHandle},
        stream_memory::Scratch,
    },
};

/// A stream of a device: what is queued on it runs in order, beside what is queued on others.
///
/// [`Engine::queue`](crate::Engine::queue), [`XtsEngine::queue`](crate::XtsEngine::queue) and
/// [`GcmEngine::queue_encrypt`](crate::GcmEngine::queue_encrypt) take one.
/// What runs without one, as [`Engine::run`](crate::Engine::run), copies to and from a
/// [`DeviceBuffer`](crate::DeviceBuffer) and their clearing wait for all that was queued on streams
/// before, and are waited for by what is queued after.
///
/// A stream keeps what modes need beside the data: memory of the device, cleared when it is dropped.
pub struct Stream {
    device: Device,
    pub(crate) handle: StreamHandle,
    owner: Owner,
    /// Blocks that are saved, or masks that warps start with: for one launch.
    scratch: Scratch,
    /// What several launches need, each of which may need the other one.
    masks: Scratch,
    /// A word that thread blocks count by, zero between launches.
    ticket: Scratch,
    tickets: Mutex<Tickets>,
}

/// Who may wait for what on a stream. Waiting for the stream is quicker than for a mark, and the same as
/// long as nothing was queued later; so a mark is made when something is.
#[derive(Default)]
struct Tickets {
    /// The number of the last piece of work, and whether somebody may still wait for it alone.
    last: u64,
    is_awaited: bool,
    /// Behind pieces of work that others follow.
    marks: BTreeMap<u64, Mark>,
    /// Marks that are not waited for any more: making one takes as long as a launch.
    spare: Vec<Mark>,
}

/// Who made a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// It is the one that is always there.
    Cuda,
    /// It is destroyed with our value.
    Us,
    /// It may not be in order with what runs without a stream.
    Caller,
}

impl Stream {
    /// A new stream of `device`.
    ///
    /// # Errors
    /// Driver errors.
    pub fn new(device: &Device) -> Result<Self, Error> {
        let handle = device.driver().new_stream()?;
        Ok(Self::of_handle(device, handle, Owner::Us))
    }

    /// Where everything runs that names no stream.
    pub(crate) fn default_of(device: &Device) -> Self {
        Self::of_handle(device, StreamHandle::DEFAULT, Owner::Cuda)
    }

    fn of_handle(device: &Device, handle: StreamHandle, owner: Owner) -> Self {
        Self {
            device: device.clone(),
            handle,
            owner,
            scratch: Scratch::default(),
            masks: Scratch::default(),
            ticket: Scratch::default(),
            tickets: Mutex::default(),
        }
    }

    /// A stream that the caller made with CUDA, a `CUstream` of the primary context of `device`. It is
    /// not destroyed with this value.
    ///
    /// # Safety
    /// `stream` is a live stream, and stays so as long as this value. No [`Pending`] of it is
    /// forgotten: it need not be in order with the freeing of memory.
    ///
    /// # Errors
    /// [`Error::OtherContext`] for one of another context; driver errors.
    pub unsafe fn from_raw(device: &Device, stream: *mut std::ffi::c_void) -> Result<Self, Error> {
        let handle = StreamHandle(stream as usize);
        // SAFETY: the caller vouches for the stream.
        let is_ours = unsafe { device.driver().is_of_context(handle) }?;
        if !is_ours {
            return Err(Error::OtherContext { device: format!("{device:?}") });
        }
        Ok(Self::of_handle(device, handle, Owner::Caller))
    }

    /// The device it is of.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until all that is queued on it has run.
    ///
    /// # Errors
    /// Driver errors, among them those of what has run.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device.driver().synchronize(self.handle)
    }

    /// Whether it is the one that is always there.
    pub(crate) fn is_default(&self) -> bool {
        self.owner == Owner::Cuda
    }

    /// Copies from the device, after all that was queued on this stream.
    ///
    /// # Safety
    /// As [`Driver::read`].
    pub(crate) unsafe fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Error> {
        // The copy is in order with the default stream; a caller's need not be.
        if !self.is_default() {
            self.synchronize()?;
        }
        // SAFETY: the caller vouches for the range.
        unsafe { self.device.driver().read(address, data) }
    }

    /// Runs `work` with memory for one launch that it queues: see [`Scratch::with`].
    pub(crate) fn with_scratch<R>(
        &self,
        bytes: usize,
        work: impl FnOnce(u64) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.scratch.with(&self.device, self.handle, bytes, work)
    }

    /// The same with memory for several launches, each of which may need that of
    /// [`with_scratch`](Self::with_scratch).
    pub(crate) fn with_masks<R>(
        &self,
        bytes: usize,
        work: impl FnOnce(u64) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.masks.with(&self.device, self.handle, bytes, work)
    }

    /// Runs `work` with the address of a word that is zero, and is so again after the launch that it queues.
    pub(crate) fn with_ticket<R>(
        &self,
        work: impl FnOnce(u64) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.ticket.with(&self.device, self.handle, size_of::<u32>(), work)
    }

    /// Checks that engines of `device` can queue on it.
    pub(crate) fn require_device(&self, device: &Device) -> Result<(), Error> {
        device.require(&self.device, "stream")
    }

    /// Comes before work is queued: it will see what ran without a stream before, and who waits for
    /// what was queued before need not wait for it.
    pub(crate) fn begin(&self) -> Result<(), Error> {
        let driver = self.device.driver();
        let mut tickets = self.tickets();
        if tickets.is_awaited {
            let last = tickets.last;
            tickets.mark_work(driver, self.handle, last)?;
            tickets.is_awaited = false;
        }
        if self.owner == Owner::Caller {
            let mark = tickets.mark(driver, StreamHandle::DEFAULT)?;
            let result = driver.wait_on_device(self.handle, &mark);
            tickets.spare.push(mark);
            result?;
        }
        Ok(())
    }

    /// What becomes of work on it that was queued with `result`: on an error nothing of it runs any
    /// more when this returns, so that no borrow is needed.
    pub(crate) fn pending(&self, result: Result<(), Error>) -> Result<Pending<'_>, Error> {
        if let Err(error) = result {
            if let Err(second) = self.synchronize() {
                log::warn!("after {error}: {second}");
            }
            return Err(error);
        }
        let mut tickets = self.tickets();
        tickets.last += 1;
        tickets.is_awaited = true;
        Ok(Pending { stream: self, ticket: tickets.last, was_waited_for: false })
    }

    fn tickets(&self) -> MutexGuard<'_, Tickets> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tickets {
    /// A mark behind all that is queued on a stream now.
    fn mark(&mut self, driver: &dyn Driver, stream: StreamHandle) -> Result<Mark, Error> {
        let mark = self.spare.pop().map_or_else(|| driver.new_mark(), Ok)?;
        match driver.record(&mark, stream) {
            Ok(()) => Ok(mark),
            Err(error) => {
                self.spare.push(mark);
                Err(error)
            }
        }
    }

    /// The mark behind a piece of work: the one that it has, whether a poll or what was queued after it
    /// made that, or one behind all that is queued now.
    fn mark_work(
        &mut self,
        driver: &dyn Driver,
        stream: StreamHandle,
        ticket: u64,
    ) -> Result<&Mark, Error> {
        if !self.marks.contains_key(&ticket) {
            let mark = self.mark(driver, stream)?;
            self.marks.insert(ticket, mark);
        }
        Ok(&self.marks[&ticket])
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Tickets { marks, spare, .. } = mem::take(&mut *self.tickets());
        for mark in marks.into_values().chain(spare) {
            self.device.driver().free_mark(mark);
        }
        if self.owner == Owner::Cuda {
            return;
        }
        // The scratch memory is cleared and freed without a stream: after what may still use it.
        if let Err(error) = self.synchronize() {
            log::warn!("a stream was left with an error: {error}");
        }
        if self.owner == Owner::Us {
            // SAFETY: the stream is of this driver and not used again.
            unsafe { self.device.driver().free_stream(self.handle) };
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.device).finish_non_exhaustive()
    }
}

/// Work that was queued on a [`Stream`], and the borrow of all that it reads and writes.
///
/// Dropping it waits; [`wait`](Self::wait) also says what went wrong. Whoever forgets it
/// (`std::mem::forget`) may see data that is half done, but nothing runs outside its buffers: they are
/// freed after what was queued.
#[must_use = "dropping it waits for the work at once"]
pub struct Pending<'b> {
    stream: &'b Stream,
    ticket: u64,
    was_waited_for: bool,
}

impl Pending<'_> {
    /// Waits until the work is complete.
    ///
    /// # Errors
    /// Driver errors, among them those of the work; its output is unspecified then.
    pub fn wait(mut self) -> Result<(), Error> {
        self.wait_once()
    }

    /// Whether the work is complete; does not wait.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn is_complete(&self) -> Result<bool, Error> {
        let driver = self.stream.device.driver();
        let mut tickets = self.stream.tickets();
        driver.is_complete(tickets.mark_work(driver, self.stream.handle, self.ticket)?)
    }

    fn wait_once(&mut self) -> Result<(), Error> {
        if mem::replace(&mut self.was_waited_for, true) {
            return Ok(());
        }
        let mut tickets = self.stream.tickets();
        let mark = tickets.marks.remove(&self.ticket);
        if tickets.last == self.ticket {
            tickets.is_awaited = false;
        }
        drop(tickets); // others queue meanwhile
        let Some(mark) = mark else { return self.stream.synchronize() };
        let result = self.stream.device.driver().wait(&mark);
        self.stream.tickets().spare.push(mark);
        result
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.wait_once() {
            log::error!("work that nobody waited for failed: {error}");
        }
    }
}

impl fmt::Debug for Pending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("stream", &self.stream).finish_non_exhaustive()
    }
}
