//! How sealed data is written to a file by several threads.

use std::fs::File;

use crate::{Error, Target};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// As is fastest where the file lies.
    Fitting,
    /// At places, as every file.
    Positioned,
    /// At places, when the file system has given all the room.
    Allocated,
    /// Through mapped memory.
    Mapped,
}

/// Bytes from which on mapping a file is worth while.
#[cfg(target_os = "linux")]
const MAPPED_FROM: u64 = 16 << 20;

/// What writes to `file`, which has its length already; several threads may, each to places of its own.
///
/// # Errors
/// [`Error::Io`] where a way that was asked for is not there.
#[cfg(target_os = "linux")]
pub fn writer_of(writing: Writing, file: &File) -> Result<Box<dyn Target + '_>, Error> {
    use lanecrypt::cuda::{MappedFile, allocate};
    let length = file.metadata().map_err(Error::of_io("look at the output"))?.len();
    match writing {
        Writing::Allocated => {
            allocate(file, length).map_err(Error::of_io("make room for the output"))?;
            Ok(Box::new(file))
        }
        Writing::Mapped => {
            let mapped = MappedFile::new(file, length).map_err(Error::of_io("map the output"))?;
            Ok(Box::new(mapped))
        }
        Writing::Fitting if length >= MAPPED_FROM && MappedFile::is_faster_for(file) => {
            // Where that fails, the other way says why, if it does not go either.
            Ok(MappedFile::new(file, length).map_or(Box::new(file), |mapped| Box::new(mapped)))
        }
        Writing::Fitting | Writing::Positioned => Ok(Box::new(file)),
    }
}

/// What writes to `file`.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub fn writer_of(_writing: Writing, file: &File) -> Result<Box<dyn Target + '_>, Error> {
    Ok(Box::new(file))
}

#[cfg(target_os = "linux")]
impl Target for lanecrypt::cuda::MappedFile {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        Self::write_all_at(self, bytes, offset)
    }
}
