//! Segments from one file to another: every thread reads, runs and writes pieces of its own.

use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use lanecrypt::Direction;

use crate::{
    Error, Identity, Options, SegmentCipher, Source, Target,
    piece::{Piece, segments_per_piece},
    source::{check_file, read},
};

/// Some or all segments of a file, from a source to the same places in a target.
pub(crate) struct Transfer<'a> {
    pub(crate) direction: Direction,
    pub(crate) cipher: &'a SegmentCipher,
    /// Which segments.
    pub(crate) segments: Range<u64>,
    /// Bytes of plaintext of the whole file.
    pub(crate) plaintext_bytes: u64,
    pub(crate) source: &'a dyn Source,
    pub(crate) target: &'a dyn Target,
    /// What the source was, if nothing of another one may be written.
    pub(crate) before: Option<&'a Identity>,
    pub(crate) options: Options<'a>,
}

/// What the threads of a transfer share.
#[derive(Default)]
struct Progress {
    /// The next piece that no thread has taken.
    next: AtomicU64,
    has_failed: AtomicBool,
    failure: Mutex<Option<Error>>,
}

impl Transfer<'_> {
    /// Runs it, by as many threads as the runner likes.
    pub(crate) fn run(&self) -> Result<(), Error> {
        let per_piece = segments_per_piece(&self.cipher.layout(), self.options.runner);
        let pieces = (self.segments.end - self.segments.start).div_ceil(per_piece);
        let threads = (self.options.runner.threads() as u64).clamp(1, pieces.max(1));
        let progress = Progress::default();
        let work = || {
            if let Err(error) = self.run_pieces(&progress, per_piece) {
                progress.has_failed.store(true, Ordering::Relaxed);
                let mut failure = progress.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Where the system gives no more threads, those that are there do it.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let failure = progress.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), Err)
    }

    /// Takes pieces until there are none left.
    fn run_pieces(&self, progress: &Progress, per_piece: u64) -> Result<(), Error> {
        let layout = self.cipher.layout();
        let Range { start, end } = self.segments;
        let mut piece = None;
        while !progress.has_failed.load(Ordering::Relaxed) {
            self.options.check_cancel()?;
            let first = start + progress.next.fetch_add(1, Ordering::Relaxed) * per_piece;
            if first >= end {
                break;
            }
            let segments = first..end.min(first + per_piece);
            let piece =
                piece.get_or_insert_with(|| Piece::new(self.direction, layout, segments.clone()));
            piece.reset(segments);
            self.run_piece(piece)?;
        }
        Ok(())
    }

    fn run_piece(&self, piece: &mut Piece) -> Result<(), Error> {
        let layout = self.cipher.layout();
        let sealed_bytes = layout.ciphertext_bytes(self.plaintext_bytes)?;
        let (input_bytes, text) = match self.direction {
            Direction::Encrypt => (self.plaintext_bytes, piece.input_range()),
            Direction::Decrypt => (sealed_bytes, piece.output_range()),
        };
        let input = piece.input_range();
        let bytes = (input.end.min(input_bytes) - input.start) as usize;
        read(self.source, &mut piece.free()[..bytes], input.start, input_bytes)?;
        if let Some(before) = self.before {
            check_file(self.source, before)?;
        }
        piece.advance(bytes);
        let is_last = piece.segments().end == layout.segments(self.plaintext_bytes)?;
        piece.run(self.cipher, self.options.runner, is_last)?;
        self.write(piece.result(), piece.output_range().start)?;
        (self.options.progress)(text.end.min(self.plaintext_bytes) - text.start);
        Ok(())
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let write = |bytes, offset| {
            let written = self.target.write_all_at(bytes, offset);
            written.map_err(Error::of_io(format!("write the output at {offset}")))
        };
        if !self.options.sparse || self.direction == Direction::Encrypt {
            return write(bytes, offset);
        }
        data_runs(bytes, offset)
            .try_for_each(|run| write(&bytes[run.clone()], offset + run.start as u64))
    }
}

/// What of these bytes must be written where zeros are left out: runs of blocks of the file that are
/// not all zero.
fn data_runs(bytes: &[u8], offset: u64) -> impl Iterator<Item = Range<usize>> {
    /// What file systems allocate is this or less.
    const BLOCK: u64 = 4096;
    let mut at = 0;
    std::iter::from_fn(move || {
        let block_at = |at: usize| {
            let end = at + (BLOCK - (offset + at as u64) % BLOCK) as usize;
            at..end.min(bytes.len())
        };
        let is_hole = |at| bytes[block_at(at)].iter().all(|&byte| byte == 0);
        while at < bytes.len() && is_hole(at) {
            at = block_at(at).end;
        }
        let start = at;
        // What is behind the end counts as a hole.
        while !is_hole(at) {
            at = block_at(at).end;
        }
        (start < at).then_some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::data_runs;

    #[test]
    fn holes_are_blocks_of_the_file() {
        let mut bytes = vec![0; 20_000];
        let runs = |bytes: &[u8], offset| data_runs(bytes, offset).collect::<Vec<_>>();
        assert_eq!(runs(&bytes, 100), []);
        assert_eq!(runs(&[], 0), []);
        bytes[3995] = 1;
        bytes[19_999] = 1;
        assert_eq!(runs(&bytes, 100), [0..3996, 16_284..20_000]);
        assert_eq!(runs(&bytes, 101), [3995..8091, 16_283..20_000]);
        bytes.fill(1);
        assert_eq!(runs(&bytes, 77)[0].len(), 20_000);
    }
}
