//! Where kernels leave a block for the host: pinned memory, which they write to by themselves, so that nothing is
//! copied after them.

use std::sync::{MutexGuard, PoisonError};

use zeroize::Zeroize;

use super::Pool;
use crate::{Device, Error, Stream, device::pinned::PinnedBuffer};

/// Bytes of a block.
const BLOCK: usize = crate::device::buffer::MAX_BLOCK;

/// A block of pinned memory, lent by its device.
pub(crate) struct Landing<'a> {
    pool: &'a Pool,
    /// `None` from when it may be written to until it was waited for.
    block: Option<PinnedBuffer>,
}

impl Pool {
    /// One that is not in use.
    pub(crate) fn landing(&self, device: &Device) -> Result<Landing<'_>, Error> {
        let idle = self.landings().pop();
        let new = || PinnedBuffer::zeroed(&device.without_kept(), BLOCK);
        Ok(Landing { pool: self, block: Some(idle.map_or_else(new, Ok)?) })
    }

    /// Those that are not in use.
    pub(super) fn landings(&self) -> MutexGuard<'_, Vec<PinnedBuffer>> {
        self.landings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Landing<'_> {
    /// Where kernels find it, if they can.
    pub(crate) fn address(&self) -> Option<u64> {
        self.block.as_ref()?.address(BLOCK)
    }

    /// Lets `work` queue on a stream what writes the block, and takes that from here. On an error it is not lent
    /// again before the stream has passed.
    pub(crate) fn receive(
        mut self,
        stream: &Stream,
        block: &mut [u8; BLOCK],
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let landing = self.block.take();
        let result = work();
        let passed = stream.synchronize();
        self.block = landing;
        result.and(passed)?;
        if let Some(landing) = &self.block {
            block.copy_from_slice(landing);
        }
        Ok(())
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        if let Some(mut block) = self.block.take() {
            block.zeroize();
            self.pool.landings().push(block);
        }
    }
}
