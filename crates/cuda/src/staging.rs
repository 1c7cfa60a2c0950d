//! Host memory through a device: a part at a time, each complete before the next.

use std::sync::atomic::{AtomicUsize, Ordering};

use cipher::InOutBuf;

use crate::{Device, DeviceBuffer, DeviceSlice, Error, pinned::PinnedBuffer};

/// Bytes of host data that are on the device at once, where nobody sets another number.
const CHUNK_BYTES: usize = 256 << 20;
/// Bytes that results pass at once on their way over their own input: they stay in the CPU's cache.
const BOUNCE_BYTES: usize = if cfg!(test) { 64 } else { 1 << 20 };
/// What chunks are multiples of: every cipher's block.
const LARGEST_BLOCK: usize = 16;

/// The most bytes of host data that are on the device at once.
#[derive(Debug)]
pub(crate) struct ChunkLimit(AtomicUsize);

impl Default for ChunkLimit {
    fn default() -> Self {
        Self(AtomicUsize::new(CHUNK_BYTES))
    }
}

impl ChunkLimit {
    /// Whole blocks of it, one at least.
    pub(crate) fn set(&self, bytes: usize) {
        self.0.store((bytes / LARGEST_BLOCK * LARGEST_BLOCK).max(LARGEST_BLOCK), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// How host data is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// Bytes of a part.
    pub(crate) bytes: usize,
    /// What a part is rounded up to on the device: a block.
    pub(crate) grain: usize,
}

/// The memory that host data passes; kept between calls, cleared when dropped.
#[derive(Default)]
pub(crate) struct Staging {
    buffer: Option<DeviceBuffer>,
    bounce: Option<PinnedBuffer>,
}

impl Staging {
    /// Runs `work` over `data`, a chunk at a time: it gets a part as it is in host memory, and on the
    /// device, where it is filled up to whole blocks with whatever is there. It returns when
    /// it is done with the latter.
    ///
    /// Bytes that are complete are added up in `done`. On an error the input after them is as it
    /// was, in place as well.
    pub(crate) fn run(
        &mut self,
        device: &Device,
        mut data: InOutBuf<'_, '_, u8>,
        chunk: Chunk,
        done: &mut usize,
        mut work: impl FnMut(&[u8], &DeviceSlice<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while !data.is_empty() {
            let length = chunk.bytes.min(data.len());
            let (part, rest) = data.split_at(length);
            let padded = length.next_multiple_of(chunk.grain);
            let buffer = at_least(&mut self.buffer, device, padded)?;
            buffer.write(0, part.get_in())?;
            work(part.get_in(), &buffer.slice(0..padded)?)?;
            Self::read_back(buffer, part, &mut self.bounce, done)?;
            data = rest;
        }
        Ok(())
    }

    /// Copies a result to where it belongs. Over its own input it goes through memory of ours:
    /// after a copy that failed nobody could tell which bytes of the input are still there, and
    /// they could not be run again.
    fn read_back(
        buffer: &DeviceBuffer,
        mut part: InOutBuf<'_, '_, u8>,
        bounce: &mut Option<PinnedBuffer>,
        done: &mut usize,
    ) -> Result<(), Error> {
        let is_in_place = std::ptr::eq(part.get_in(), part.get_out());
        if !is_in_place {
            buffer.read(0, part.get_out())?;
            *done += part.len();
            return Ok(());
        }
        let bounce = match bounce {
            Some(bounce) => bounce,
            none => none.insert(PinnedBuffer::zeroed(buffer.device(), BOUNCE_BYTES)?),
        };
        let mut start = 0;
        for piece in part.get_out().chunks_mut(BOUNCE_BYTES) {
            let bounced = &mut bounce.bytes()[..piece.len()];
            buffer.read(start, bounced)?;
            piece.copy_from_slice(bounced);
            start += piece.len();
            *done += piece.len();
        }
        Ok(())
    }
}

/// The buffer that is kept, made or enlarged where it has less than `bytes` bytes.
pub(crate) fn at_least<'a>(
    kept: &'a mut Option<DeviceBuffer>,
    device: &Device,
    bytes: usize,
) -> Result<&'a mut DeviceBuffer, Error> {
    if let Some(buffer) = kept.take_if(|buffer| buffer.len() >= bytes) {
        return Ok(kept.insert(buffer));
    }
    *kept = None; // frees the one that is too small first
    Ok(kept.insert(DeviceBuffer::zeroed(device, bytes.next_power_of_two())?))
}
