//! A sealed file being read: what was opened of it last, and the more ahead the longer the reading continues.

use std::{
    fs::File,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lanecrypt_tink::{Error, Options, Sealed, SegmentRunner};
use zeroize::Zeroizing;

/// Bytes opened at once for sequential reads.
const LONGEST: u64 = 16 << 20;

/// An open file.
pub(crate) struct Reader {
    sealed: Sealed<File>,
    /// What was opened last. Decryption happens outside the lock, so that reads of one descriptor run side by side.
    window: Mutex<Arc<Window>>,
}

/// A part of the plaintext, authentic.
struct Window {
    start: u64,
    bytes: Zeroizing<Vec<u8>>,
}

impl Window {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl Reader {
    pub(crate) fn new(sealed: Sealed<File>) -> Self {
        let window = Window { start: 0, bytes: Zeroizing::default() };
        Self { sealed, window: Mutex::new(Arc::new(window)) }
    }

    /// Hands `give` as many of `size` bytes from `offset` on as there are.
    pub(crate) fn read(
        &self,
        offset: u64,
        size: u64,
        runner: &dyn SegmentRunner,
        give: impl FnOnce(&[u8]),
    ) -> Result<(), Error> {
        let end = self.sealed.plaintext_bytes().min(offset.saturating_add(size));
        let wanted = offset.min(end)..end;
        let mut window = self.window().clone();
        if wanted.start < window.start || wanted.end > window.end() {
            let more = self.ahead(&window, &wanted);
            // What comes later may be wrong: then this is read without it.
            let opened = match self.open(wanted.start..wanted.end.max(more), runner) {
                Err(error) if error.is_not_authentic() && more > wanted.end => {
                    self.open(wanted.clone(), runner)?
                }
                opened => opened?,
            };
            window = Arc::new(opened);
            *self.window() = window.clone();
        }
        let from = (wanted.start - window.start) as usize;
        give(&window.bytes[from..from + (wanted.end - wanted.start) as usize]);
        Ok(())
    }

    fn window(&self) -> MutexGuard<'_, Arc<Window>> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where to open to: a read right behind the window doubles it.
    fn ahead(&self, window: &Window, wanted: &Range<u64>) -> u64 {
        let reads_on = wanted.start <= window.end() && wanted.end > window.end();
        let bytes = if reads_on { (2 * window.bytes.len() as u64).min(LONGEST) } else { 0 };
        wanted.start.saturating_add(bytes).min(self.sealed.plaintext_bytes())
    }

    /// Opens the segments of a range.
    fn open(&self, range: Range<u64>, runner: &dyn SegmentRunner) -> Result<Window, Error> {
        let layout = self.sealed.cipher().layout();
        let segments = layout.segments_of(range.clone());
        let whole = if segments.is_empty() {
            range
        } else {
            let start = layout.plaintext_of(segments.start).start;
            let end = layout.plaintext_of(segments.end - 1).end;
            start..end.min(self.sealed.plaintext_bytes())
        };
        let start = whole.start;
        let mut bytes = Zeroizing::new(Vec::with_capacity((whole.end - start) as usize));
        let options = Options { runner, ..Options::default() };
        self.sealed.copy_range(whole, &mut *bytes, options)?;
        Ok(Window { start, bytes })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        sync::atomic::{AtomicUsize, Ordering},
        thread,
        time::{Duration, Instant},
    };

    use lanecrypt_tink::{Cpu, Keyset, Segment, SegmentCipher, Template, seal_file};

    use super::*;

    /// Opens segments once a number of calls have come, and counts the segments, the calls, and those that waited in vain.
    #[derive(Debug, Default)]
    struct Watched {
        awaited: usize,
        calls: AtomicUsize,
        alone: AtomicUsize,
        segments: AtomicUsize,
    }

    impl SegmentRunner for Watched {
        fn batch_bytes(&self) -> usize {
            1 << 20
        }

        fn threads(&self) -> usize {
            1
        }

        fn seal_batch(
            &self,
            stream: &SegmentCipher,
            segments: &mut [Segment<'_>],
        ) -> Result<(), Error> {
            Cpu::new(1).seal_batch(stream, segments)
        }

        fn open_batch(
            &self,
            stream: &SegmentCipher,
            segments: &mut [Segment<'_>],
        ) -> Result<(), Error> {
            self.segments.fetch_add(segments.len(), Ordering::SeqCst);
            self.calls.fetch_add(1, Ordering::SeqCst);
            let started = Instant::now();
            while self.calls.load(Ordering::SeqCst) < self.awaited {
                if started.elapsed() > Duration::from_secs(5) {
                    self.alone.fetch_add(1, Ordering::SeqCst);
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
            Cpu::new(1).open_batch(stream, segments)
        }
    }

    /// A file of sevens, sealed; `change` is made to the sealed file.
    fn sealed(bytes: usize, change: impl FnOnce(&mut Vec<u8>)) -> Reader {
        let folder = tempfile::tempdir().expect("a folder");
        let [plain, sealed] = ["plain", "sealed"].map(|name| folder.path().join(name));
        fs::write(&plain, vec![7; bytes]).expect("a file");
        let keyset = Keyset::generate(Template::default().parameters()).expect("a keyset");
        seal_file(&keyset, &plain, &sealed, Options::default()).expect("sealed");
        let mut ciphertext = fs::read(&sealed).expect("there");
        change(&mut ciphertext);
        fs::write(&sealed, ciphertext).expect("it is written");
        let sealed = Sealed::open(File::open(&sealed).expect("there"), &keyset, b"");
        Reader::new(sealed.expect("authentic"))
    }

    /// Segments that a read opens, which gives as many sevens as there are.
    fn opened(reader: &Reader, range: Range<u64>) -> usize {
        let watched = Watched::default();
        let expected = range.end.min(reader.sealed.plaintext_bytes()) - range.start;
        let check = |bytes: &[u8]| {
            assert!(bytes.len() as u64 == expected && bytes.iter().all(|&byte| byte == 7));
        };
        let bytes = range.end - range.start;
        reader.read(range.start, bytes, &watched, check).expect("authentic");
        watched.segments.into_inner()
    }

    #[test]
    fn reads_that_go_on_open_ever_more_at_once() {
        let reader = sealed(40 << 20, |_| ());
        let layout = reader.sealed.cipher().layout();
        let ends: Vec<_> = (0..41).map(|segment| layout.plaintext_of(segment).end).collect();
        // Within a segment, to its end and from its start again, nothing is opened once more.
        assert_eq!(opened(&reader, 100..200), 1);
        for range in [0..1, 100..ends[0], ends[0] - 1..ends[0], 0..ends[0]] {
            assert_eq!(opened(&reader, range.clone()), 0, "{range:?}");
        }
        // From there on twice as much as the window had, up to the longest.
        let mut at = ends[0];
        let mut counts = Vec::new();
        while at < reader.sealed.plaintext_bytes() {
            counts.push(opened(&reader, at..at + 1));
            at = reader.window().end();
        }
        assert_eq!(counts, [2, 4, 8, 16, 10]);
        // A read elsewhere opens what it wants.
        assert_eq!(opened(&reader, ends[20]..ends[20] + 1), 1);
        assert_eq!(opened(&reader, ends[10] - 1..ends[10] + 1), 2);
        assert_eq!(opened(&reader, ends[8]..ends[11]), 3, "begins before the window, ends with it");
        assert_eq!(opened(&reader, ends[9]..ends[9] + 1), 0);
        assert_eq!(opened(&reader, ends[8] - 1..ends[8]), 1);
    }

    /// Of a file that was changed, what is before the change can be read.
    #[test]
    fn what_is_ahead_may_be_wrong() {
        let reader = sealed(4 << 20, |ciphertext| ciphertext[(2 << 20) + 5] ^= 1);
        let start = reader.sealed.cipher().layout().plaintext_of(2).start;
        for at in (0..start).step_by(100_000) {
            opened(&reader, at..(at + 100_000).min(start));
        }
        let read = reader.read(start, 1, &Cpu::new(1), |_| panic!("it is not authentic"));
        assert!(read.is_err_and(|error| error.is_not_authentic()));
    }

    #[test]
    fn reads_of_one_descriptor_run_side_by_side() {
        let (reader, both) =
            (sealed(3 << 20, |_| ()), Watched { awaited: 2, ..Watched::default() });
        thread::scope(|scope| {
            for offset in [0, 2 << 20] {
                let (reader, both) = (&reader, &both);
                scope.spawn(move || {
                    let check = |bytes: &[u8]| assert_eq!(bytes, [7; 100]);
                    reader.read(offset, 100, both, check).expect("authentic");
                });
            }
        });
        assert_eq!(both.alone.load(Ordering::SeqCst), 0, "one read waited for the other");
    }
}
