//! Reading ahead: long requests that are under way while what came before is worked on.

use std::{
    collections::VecDeque,
    io,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use lanecrypt_tink::{Error as TinkError, Identity, Keyset, SegmentRunner, Source};
use tokio::task::AbortHandle;

use crate::{
    Error,
    object::{Until, copy},
    runtime::{runtime, wait},
};

/// Bytes of a request: what a store gives at once costs a round trip, which is as long as some MiB.
const CHUNK: u64 = 8 << 20;
/// Chunks that are asked for before they are read.
const AHEAD: u64 = 4;
/// Chunks that are kept in any case.
const FEW: usize = 12;
/// Chunks that are many to keep: as many bytes as pieces of a GPU have.
const MUCH: usize = 64;

/// A range of an object that is read from beginning to end, by several threads. Whatever else is read
/// of it is read as from the object.
pub(crate) struct ReadAhead<'a> {
    source: Until<'a>,
    range: Range<u64>,
    chunks: Mutex<Recent<Chunk>>,
}

/// What a store gave, for all who wait for it.
type Fetched = Result<Arc<Vec<Bytes>>, Arc<io::Error>>;

/// A chunk that is there, or on its way. Its request ends with the last who has it.
#[derive(Clone)]
struct Chunk {
    content: Shared<BoxFuture<'static, Fetched>>,
    _request: Arc<Request>,
}

/// Aborted when it is dropped.
struct Request(AbortHandle);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What was used last, by its number.
struct Recent<T> {
    most: usize,
    /// The last used at the end.
    all: VecDeque<(u64, T)>,
}

impl<T: Clone> Recent<T> {
    /// As much as this number of threads need which take turns at pieces of this many bytes, so that none evicts what
    /// another is about to read: all that their pieces are in, or where that is much, what each reads and has ahead.
    fn new(threads: usize, piece_bytes: u64) -> Self {
        let ahead = AHEAD as usize + 1;
        let pieces = (threads as u64).saturating_mul(piece_bytes).div_ceil(CHUNK);
        let together = usize::try_from(pieces).unwrap_or(usize::MAX).saturating_add(ahead);
        let most = if together <= MUCH { together } else { threads.saturating_mul(ahead) };
        Self { most: most.max(FEW), all: VecDeque::new() }
    }

    /// What has this number; `make` makes it where it is not here.
    fn get<E>(&mut self, number: u64, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let place = self.all.iter().position(|(kept, _)| *kept == number);
        let value = match place.and_then(|place| self.all.remove(place)) {
            Some((_, value)) => value,
            None => make()?,
        };
        self.all.push_back((number, value.clone()));
        while self.all.len() > self.most {
            self.all.pop_front();
        }
        Ok(value)
    }
}

impl<'a> ReadAhead<'a> {
    /// For segments of the keys of `keyset`, which the runner works on.
    pub(crate) fn new(
        source: Until<'a>,
        range: Range<u64>,
        keyset: &Keyset,
        runner: &dyn SegmentRunner,
    ) -> Self {
        let segments = keyset.keys().map(|(_, key)| key.parameters().segment_bytes());
        let piece_bytes = u64::from(segments.max().unwrap_or(0)).max(runner.batch_bytes() as u64);
        let chunks = Mutex::new(Recent::new(runner.threads(), piece_bytes));
        Self { source, range, chunks }
    }

    /// Where a chunk lies in the object.
    fn range_of(&self, number: u64) -> Range<u64> {
        let start = self.range.start + number * CHUNK;
        start..self.range.end.min(start + CHUNK)
    }

    /// A chunk that is wanted now; those after it are asked for.
    fn chunk(&self, number: u64) -> Result<Chunk, Error> {
        let is_there = |number: &u64| !self.range_of(*number).is_empty();
        let mut recent = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        // What lies ahead is used after it, so that what was read is the first to go.
        let chunk = recent.get(number, || self.start(number))?;
        for next in (number + 1..=number + AHEAD).filter(is_there) {
            recent.get(next, || self.start(next))?;
        }
        Ok(chunk)
    }

    fn start(&self, number: u64) -> Result<Chunk, Error> {
        let fetch = self.source.object.clone().fetch(self.range_of(number));
        let task = runtime()?.spawn(fetch);
        let request = Arc::new(Request(task.abort_handle()));
        let content = async {
            let fetched = task.await.unwrap_or_else(|error| Err(io::Error::other(error)));
            fetched.map(Arc::new).map_err(Arc::new)
        };
        Ok(Chunk { content: content.boxed().shared(), _request: request })
    }
}

impl Source for ReadAhead<'_> {
    fn identity(&self) -> io::Result<Identity> {
        self.source.identity()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(buffer.len() as u64);
        if offset < self.range.start || end > self.range.end || buffer.is_empty() {
            return self.source.read_exact_at(buffer, offset);
        }
        let (mut buffer, mut offset) = (buffer, offset);
        while !buffer.is_empty() {
            let number = (offset - self.range.start) / CHUNK;
            let chunk = self.chunk(number)?;
            let fetched = wait(chunk.content.clone(), self.source.cancel)?;
            let pieces = fetched.map_err(|error| again(&error))?;
            let Range { start, end } = self.range_of(number);
            let bytes = (end - offset).min(buffer.len() as u64);
            let (now, later) = buffer.split_at_mut(bytes as usize);
            copy(&pieces, (offset - start) as usize, now);
            (buffer, offset) = (later, offset + bytes);
        }
        Ok(())
    }
}

/// The same error for another one who waited.
fn again(error: &io::Error) -> io::Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<TinkError>()) {
        Some(TinkError::SourceChanged { what, before, after }) => {
            let (before, after) = (before.clone(), after.clone());
            io::Error::other(TinkError::SourceChanged { what, before, after })
        }
        _ => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// By threads that take pieces in turn, each of which reads its piece chunk by chunk.
    #[test]
    fn nothing_is_fetched_twice() {
        for (threads, piece_bytes) in
            [(1, CHUNK / 8), (64, CHUNK / 8), (3, 8 * CHUNK), (6, 8 * CHUNK), (2, 100 * CHUNK)]
        {
            let mut recent = Recent::new(threads, piece_bytes);
            let (mut fetched, pieces) = (Vec::new(), 4 * threads as u64);
            let chunks = (pieces * piece_bytes).div_ceil(CHUNK);
            for turn in 0..4 {
                // Parts of a piece that are no longer than a chunk; all threads are as fast.
                let part = piece_bytes.min(CHUNK);
                for at in (0..piece_bytes).step_by(part as usize) {
                    for thread in 0..threads as u64 {
                        let place = (turn * threads as u64 + thread) * piece_bytes + at;
                        let number = place / CHUNK;
                        for next in number..chunks.min(number + AHEAD + 1) {
                            let fetch = || {
                                fetched.push(next);
                                Ok::<_, Infallible>(())
                            };
                            recent.get(next, fetch).expect("it does not fail");
                        }
                    }
                }
            }
            fetched.sort_unstable();
            // What a thread has ahead at the end of a long piece is another's, which may have read it long ago.
            let twice = fetched.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
            let ahead = if piece_bytes > 16 * CHUNK { pieces * AHEAD } else { 0 };
            assert!(twice <= ahead, "{threads} threads, {piece_bytes} bytes: {twice}");
            assert!(recent.all.len() <= recent.most);
        }
    }

    #[test]
    fn all_who_wait_are_told_the_same() {
        let (before, after) = ("a".to_owned(), "b".to_owned());
        let changed = TinkError::SourceChanged { what: "version", before, after };
        for (error, is_change) in [
            (io::Error::other(changed), true),
            (io::Error::new(io::ErrorKind::PermissionDenied, "refused"), false),
        ] {
            let told = again(&error);
            assert_eq!((told.kind(), told.to_string()), (error.kind(), error.to_string()));
            let inner = told.get_ref().and_then(|inner| inner.downcast_ref::<TinkError>());
            assert_eq!(matches!(inner, Some(TinkError::SourceChanged { .. })), is_change);
        }
    }
}
