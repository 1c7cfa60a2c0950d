//! A sealed file that somebody reads: what was opened of it last, and more ahead the longer they read on.

use std::{
    fs::File,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use lanecrypt_tink::{Backend, Error, Options, Sealed};
use zeroize::Zeroizing;

/// Bytes that are opened at once for somebody who reads on and on.
const LONGEST: u64 = 16 << 20;

/// An open file.
pub(crate) struct Reader {
    sealed: Sealed<File>,
    window: Mutex<Window>,
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
        Self { sealed, window: Mutex::new(window) }
    }

    /// Hands `give` as many of `size` bytes from `offset` on as there are.
    pub(crate) fn read(
        &self,
        offset: u64,
        size: u64,
        backend: &dyn Backend,
        give: impl FnOnce(&[u8]),
    ) -> Result<(), Error> {
        let end = self.sealed.plaintext_bytes().min(offset.saturating_add(size));
        let wanted = offset.min(end)..end;
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.start < window.start || wanted.end > window.end() {
            let range = self.next(&window, wanted.clone());
            let mut bytes = Zeroizing::new(Vec::with_capacity((range.end - range.start) as usize));
            let start = range.start;
            let options = Options { backend, ..Options::default() };
            self.sealed.copy_range(range, &mut *bytes, options)?;
            *window = Window { start, bytes };
        }
        let from = (wanted.start - window.start) as usize;
        give(&window.bytes[from..from + (wanted.end - wanted.start) as usize]);
        Ok(())
    }

    /// What is opened for a request that `window` has not: its segments, and where it goes on behind the
    /// window, twice as much as that had.
    fn next(&self, window: &Window, wanted: Range<u64>) -> Range<u64> {
        let geometry = self.sealed.stream().geometry();
        let reads_on = wanted.start <= window.end() && wanted.end > window.end();
        let ahead = if reads_on { (2 * window.bytes.len() as u64).min(LONGEST) } else { 0 };
        let segments = geometry.segments_of(wanted.start..wanted.end.max(wanted.start + ahead));
        if segments.is_empty() {
            return wanted;
        }
        let start = geometry.plaintext_of(segments.start).start;
        let end = geometry.plaintext_of(segments.end - 1).end;
        start..end.min(self.sealed.plaintext_bytes())
    }
}
