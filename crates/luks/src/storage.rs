//! What a container lies on: a file, a device, or memory.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom},
    os::unix::fs::FileExt,
};

/// Bytes at offsets, for many threads at once.
pub trait Storage: Send + Sync {
    /// Bytes there are.
    ///
    /// # Errors
    /// The system's.
    fn bytes(&self) -> io::Result<u64>;

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// The system's; `UnexpectedEof` where there is less.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all of `data` from `offset` on.
    ///
    /// # Errors
    /// The system's.
    fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()>;

    /// Returns when all that was written before, by any thread, will survive a loss of power.
    ///
    /// # Errors
    /// The system's.
    fn sync(&self) -> io::Result<()>;
}

impl Storage for File {
    fn bytes(&self) -> io::Result<u64> {
        // A device's metadata says nothing of its length. The position is not used elsewhere.
        (&*self).seek(SeekFrom::End(0))
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, buffer, offset)
    }

    fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, data, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
