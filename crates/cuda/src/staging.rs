//! Host memory through a device for GCM: a part at a time, each complete before the next, since they are
//! hashed in order.

use std::sync::atomic::{AtomicUsize, Ordering};

use cipher::InOutBuf;

use crate::{Device, DeviceBuffer, DeviceSlice, Error};

/// Bytes of host data that are on the device at once, where nobody sets another number.
const CHUNK_BYTES: usize = 256 << 20;
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
}

impl Staging {
    /// Runs `work` over `data`, a chunk at a time: it gets a part as it is in host memory, and on the
    /// device, where it is filled up to whole blocks with whatever is there. It returns when it is done
    /// with the latter. On an error the output is unspecified.
    pub(crate) fn run(
        &mut self,
        device: &Device,
        mut data: InOutBuf<'_, '_, u8>,
        chunk: Chunk,
        mut work: impl FnMut(&[u8], &DeviceSlice<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while !data.is_empty() {
            let length = chunk.bytes.min(data.len());
            let (mut part, rest) = data.split_at(length);
            let padded = length.next_multiple_of(chunk.grain);
            let buffer = at_least(&mut self.buffer, device, padded)?;
            buffer.write(0, part.get_in())?;
            work(part.get_in(), &buffer.slice(0..padded)?)?;
            buffer.read(0, part.get_out())?;
            data = rest;
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
