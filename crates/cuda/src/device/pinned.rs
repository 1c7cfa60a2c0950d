//! Host memory that the driver does not move: copies to and from a device pass it fastest.

use std::{
    collections::BTreeMap,
    fmt,
    ops::{Deref, DerefMut, Range},
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanecrypt_core::clear_bytes;

use crate::{Device, Error};

/// Bytes of host memory that are pinned: the device copies them by itself, at the speed of the bus.
///
/// They are an ordinary slice of bytes, zeros when made and cleared before they are freed. Whatever runs
/// over host memory, as [`Engine::run_host_memory`](crate::Engine::run_host_memory) does, finds by itself
/// that its data lies in memory of this kind. Pinning takes about 0.25 ms per MiB, so a buffer is
/// worth keeping; and memory that is pinned is missing elsewhere.
///
/// ```
/// use lanecrypt_cuda::{Device, PinnedBuffer};
///
/// if let Ok(device) = Device::default() {
///     let mut buffer = PinnedBuffer::zeroed(&device, 1 << 20)?;
///     buffer[..7].copy_from_slice(b"a frame");
/// }
/// # Ok::<(), lanecrypt_cuda::Error>(())
/// ```
pub struct PinnedBuffer {
    device: Device,
    memory: NonNull<u8>,
    length: usize,
    /// Where kernels find it, if they can.
    address: Option<u64>,
}

// SAFETY: the memory is owned, and every thread may use and free it.
unsafe impl Send for PinnedBuffer {}
// SAFETY: a shared value lets its bytes be read, and nothing else.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    /// `length` zero bytes, pinned for `device` and all others of this machine.
    ///
    /// # Errors
    /// Driver errors, such as too little memory.
    pub fn zeroed(device: &Device, length: usize) -> Result<Self, Error> {
        let memory = device.driver().allocate_host(length.max(1))?;
        RANGES.add(memory.as_ptr() as usize, length);
        let address = device.driver().address_of_host(memory);
        Ok(Self { device: device.clone(), memory, length, address })
    }

    /// The address by which kernels read and write its first `bytes` bytes, where they can.
    pub(crate) fn address(&self, bytes: usize) -> Option<u64> {
        self.address.filter(|_| bytes <= self.length)
    }

    /// Bytes that all buffers of this kind have in this process, those among them that host memory passes
    /// on its way through a device.
    #[must_use]
    pub fn bytes_of_all() -> usize {
        RANGES.lock().values().sum()
    }

    /// A part of it, for copies that go on when the call returns.
    ///
    /// # Panics
    /// For a range that is not inside.
    pub(crate) fn part(&mut self, range: Range<usize>) -> NonNull<[u8]> {
        assert!(range.start <= range.end && range.end <= self.length, "{range:?}");
        // SAFETY: the range was just checked to be inside. Nothing is borrowed on the way: a reference to bytes
        // of a copy that goes on would be a second one.
        NonNull::slice_from_raw_parts(unsafe { self.memory.add(range.start) }, range.len())
    }
}

impl Deref for PinnedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the memory has so many initialised bytes, which nothing writes to while `self` is
        // borrowed: the device's copies are complete when a driver call returns, and who starts one
        // that is not waits for it first.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.length) }
    }
}

impl DerefMut for PinnedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nothing else refers to them.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.length) }
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        clear_bytes(self);
        RANGES.remove(self.memory.as_ptr() as usize);
        // SAFETY: the memory is from this device's driver, with this length, and not used again.
        unsafe { self.device.driver().free_host(self.memory, self.length.max(1)) }
    }
}

impl fmt::Debug for PinnedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer").field("length", &self.length).finish_non_exhaustive()
    }
}

/// Where the pinned buffers of this process are: every device copies each of them fastest, whichever it was
/// made for.
static RANGES: Ranges = Ranges(Mutex::new(BTreeMap::new()));

/// Whether all of `data` is in one of them.
pub(crate) fn is_pinned(data: &[u8]) -> bool {
    RANGES.around(data.as_ptr() as usize, data.len()).is_some()
}

/// A range of host memory that kernels read and write.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    range: Range<usize>,
    /// Where kernels find its first byte.
    address: u64,
}

impl Reach {
    /// Where kernels find `length` bytes, if all of them are in it. They are read and written without another reference.
    pub(crate) fn address(&self, start: *const u8, length: usize) -> Option<u64> {
        let start = start.expose_provenance();
        let is_inside = self.range.contains(&start) && length <= self.range.end - start;
        is_inside.then(|| self.address + (start - self.range.start) as u64)
    }
}

impl Device {
    /// Whether the device copies from and to all of `data` by itself: memory of a [`PinnedBuffer`], or what
    /// others in this process have pinned or registered.
    #[must_use]
    pub fn copies_by_itself(&self, data: &[u8]) -> bool {
        is_pinned(data) || self.driver().pinned_range(data.as_ptr(), data.len()).is_some()
    }

    /// The pinned range that has `length` bytes from `start` on, if kernels reach it.
    pub(crate) fn reach(&self, start: *const u8, length: usize) -> Option<Reach> {
        let own = RANGES.around(start as usize, length);
        let range = own.or_else(|| self.driver().pinned_range(start, length))?;
        let first = NonNull::new(std::ptr::with_exposed_provenance_mut(range.start))?;
        Some(Reach { address: self.driver().address_of_host(first)?, range })
    }
}

/// Bytes of buffers by their first address.
struct Ranges(Mutex<BTreeMap<usize, usize>>);

impl Ranges {
    fn add(&self, start: usize, length: usize) {
        self.lock().insert(start, length);
    }

    fn remove(&self, start: usize) {
        self.lock().remove(&start);
    }

    /// The one that has `length` bytes from an address on.
    fn around(&self, start: usize, length: usize) -> Option<Range<usize>> {
        let ranges = self.lock();
        let (&first, &bytes) = ranges.range(..=start).next_back()?;
        (start - first + length <= bytes).then(|| first..first + bytes)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
