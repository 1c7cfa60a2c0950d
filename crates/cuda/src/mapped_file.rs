//! A file that several threads write at once, mapped to memory.
//!
//! Writers of one file wait for each other: the system lets one at a time make pages and copy to them. Whoever
//! writes to mapped memory makes pages in faults, which do not. That is worth while where pages are all there is to
//! writing, on a RAM disk.

use std::{
    fs::File,
    io,
    ops::Range,
    ptr::{self, NonNull},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::{
    fs::{FallocateFlags, FsWord, fallocate, fstatfs},
    io::Errno,
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap},
    param::page_size,
};

/// What `statfs` calls a RAM disk.
const TMPFS: FsWord = 0x0102_1994;

/// A file of fixed length that is written at any place, by several threads.
///
/// What is written is in the file at once, for every reader. No process should make the file shorter meanwhile: as with
/// every mapped file, the system ends the process that writes behind its end.
#[derive(Debug)]
pub struct MappedFile {
    start: NonNull<u8>,
    length: usize,
    /// What is being written.
    busy: Mutex<Vec<Range<usize>>>,
}

// SAFETY: the mapping is owned, and every thread may use and end it.
unsafe impl Send for MappedFile {}
// SAFETY: through a shared value bytes are written, of which no two threads have the same.
unsafe impl Sync for MappedFile {}

impl MappedFile {
    /// Whether a file lies where this is faster than [`FileExt::write_all_at`](std::os::unix::fs::FileExt): on a
    /// RAM disk.
    #[must_use]
    pub fn is_faster_for(file: &File) -> bool {
        fstatfs(file).is_ok_and(|found| found.f_type == TMPFS)
    }

    /// Maps all of a file that has `length` bytes, and was opened to be read and written.
    ///
    /// # Errors
    /// `InvalidInput` where it has less, or nothing, and on systems that do not make pages ahead (Linux before 5.14);
    /// those of the system.
    pub fn new(file: &File, length: u64) -> io::Result<Self> {
        let length = usize::try_from(length).ok().filter(|&length| length > 0);
        let length =
            length.filter(|&length| file.metadata().is_ok_and(|is| is.len() >= length as u64));
        let length = length.ok_or(io::ErrorKind::InvalidInput)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses where, and so nothing else lies there.
        let start = unsafe { mmap(ptr::null_mut(), length, access, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::InvalidInput)?;
        let mapped = Self { start, length, busy: Mutex::default() };
        mapped.advise(0..1, Advice::LinuxPopulateWrite)?;
        Ok(mapped)
    }

    /// Writes `bytes` from `offset` on.
    ///
    /// # Errors
    /// `InvalidInput` for a place that is not inside, or that another thread is writing; `StorageFull` where there
    /// is no room for its pages; those of the system.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.checked_add(bytes.len()).filter(|&end| end <= self.length);
        let range = start..end.ok_or(io::ErrorKind::InvalidInput)?;
        if range.is_empty() {
            return Ok(());
        }
        let _claim = self.claim(range.clone())?;
        self.advise(range.clone(), Advice::LinuxPopulateWrite)?;
        // SAFETY: the range was checked to be inside the mapping, and its pages are there. Nobody else writes to it,
        // as the claim says, and there is no reference to it: what is borrowed lies elsewhere.
        unsafe {
            let to = self.start.as_ptr().add(range.start);
            ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        // By each thread: the end of the mapping would do it alone.
        self.advise(range, Advice::LinuxDontNeed)
    }

    /// Says what is done with the pages that have a range of bytes.
    fn advise(&self, range: Range<usize>, advice: Advice) -> io::Result<()> {
        let start = range.start / page_size() * page_size();
        // SAFETY: the pages are of this mapping, whose last one is whole, and neither making them nor forgetting where
        // they are changes what is in the file.
        let advised = unsafe {
            let from = self.start.as_ptr().add(start);
            madvise(from.cast(), range.end.next_multiple_of(page_size()) - start, advice)
        };
        advised.map_err(|error| match error {
            Errno::FAULT => io::ErrorKind::StorageFull.into(),
            error => error.into(),
        })
    }

    /// Has a range to itself, as long as the value is there.
    fn claim(&self, range: Range<usize>) -> io::Result<Claim<'_>> {
        let mut busy = self.busy();
        if busy.iter().any(|other| other.start < range.end && range.start < other.end) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        busy.push(range.clone());
        Ok(Claim { file: self, range })
    }

    fn busy(&self) -> MutexGuard<'_, Vec<Range<usize>>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the range is the whole mapping, which nothing uses any more.
        if let Err(error) = unsafe { munmap(self.start.as_ptr().cast(), self.length) } {
            log::warn!("a mapped file stays mapped: {error}");
        }
    }
}

/// A range that one thread writes.
struct Claim<'a> {
    file: &'a MappedFile,
    range: Range<usize>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut busy = self.file.busy();
        if let Some(at) = busy.iter().position(|other| *other == self.range) {
            busy.swap_remove(at);
        }
    }
}

/// Makes a file `length` bytes long, with all the room that it takes, as far as its file system can.
///
/// # Errors
/// `StorageFull` and others of the system.
pub fn allocate(file: &File, length: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, length.max(1)) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(length),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    /// A file of a RAM disk, or where there is none, of any other disk.
    fn file(name: &str, length: u64) -> (File, std::path::PathBuf) {
        let memory = std::path::Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = folder.join(format!("lanecrypt-mapped-{name}-{}", std::process::id()));
        let options = File::options().read(true).write(true).create_new(true).open(&path);
        let file = options.expect("a new file");
        file.set_len(length).expect("room");
        (file, path)
    }

    #[test]
    fn threads_write_what_pages_they_share() {
        let length = 5 * page_size() as u64 + 7;
        let (file, path) = file("pages", length);
        let mapped = MappedFile::new(&file, length).expect("it is mapped");
        thread::scope(|scope| {
            for (number, start) in (1..).zip((0..length).step_by(1000)) {
                let mapped = &mapped;
                let bytes = vec![number; 1000.min(length - start) as usize];
                scope.spawn(move || mapped.write_all_at(&bytes, start).expect("it is inside"));
            }
        });
        mapped.write_all_at(&[], length).expect("nothing, at the end");
        for (bytes, offset) in
            [(1, length), (2, length - 1), (1, u64::MAX), (length as usize + 1, 0)]
        {
            let refused = mapped.write_all_at(&vec![0; bytes], offset).expect_err("it is outside");
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        }
        drop(mapped);
        let found = fs::read(&path).expect("it is there");
        fs::remove_file(path).expect("it is there");
        assert_eq!(found.len() as u64, length);
        assert!((0..length as usize).all(|at| found[at] == (at / 1000) as u8 + 1));
    }

    #[test]
    fn what_is_written_by_two_is_refused() {
        let (file, path) = file("two", 100);
        fs::remove_file(path).expect("it is there");
        let mapped = MappedFile::new(&file, 100).expect("it is mapped");
        let claim = mapped.claim(10..20).expect("nobody has it");
        for (range, is_free) in [(0..10, true), (0..11, false), (19..20, false), (20..30, true)] {
            assert_eq!(mapped.claim(range.clone()).is_ok(), is_free, "{range:?}");
        }
        drop(claim);
        assert!(mapped.claim(0..100).is_ok());
    }

    #[test]
    fn what_cannot_be_mapped() {
        let (file, path) = file("refused", 10);
        for length in [0, 11, u64::MAX] {
            let refused = MappedFile::new(&file, length).expect_err("it has 10 bytes");
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{length}");
        }
        allocate(&file, 5000).expect("room");
        assert_eq!(file.metadata().expect("it is open").len(), 5000);
        let read_only = File::open(&path).expect("it is there");
        fs::remove_file(path).expect("it is there");
        assert!(MappedFile::new(&read_only, 10).is_err());
    }
}
