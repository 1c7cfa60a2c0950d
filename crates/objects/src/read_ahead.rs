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
use lanecrypt_tink::{Error as TinkError, Identity, Source};

use crate::{
    Error, Object,
    object::copy,
    runtime::{runtime, wait},
};

/// Bytes of a request: what a store gives at once costs a round trip, which is as long as some MiB.
const CHUNK: u64 = 8 << 20;
/// Chunks that are asked for before they are read.
const AHEAD: u64 = 4;
/// Chunks that are kept: threads that read one after the other are this far apart at most.
const KEPT: usize = 12;

/// A range of an object that is read from beginning to end, by several threads. Whatever else is read
/// of it is read as from the object.
pub(crate) struct ReadAhead<'a> {
    object: &'a Object,
    range: Range<u64>,
    /// By number, the last used at the end.
    chunks: Mutex<VecDeque<(u64, Chunk)>>,
}

/// A chunk that is there, or on its way.
type Chunk = Shared<BoxFuture<'static, Result<Arc<Vec<Bytes>>, Arc<io::Error>>>>;

impl<'a> ReadAhead<'a> {
    pub(crate) fn new(object: &'a Object, range: Range<u64>) -> Self {
        Self { object, range, chunks: Mutex::default() }
    }

    /// Where a chunk lies in the object.
    fn range_of(&self, number: u64) -> Range<u64> {
        let start = self.range.start + number * CHUNK;
        start..self.range.end.min(start + CHUNK)
    }

    /// A chunk that is wanted now; those after it are asked for.
    fn chunk(&self, number: u64) -> Result<Chunk, Error> {
        let is_there = |number: &u64| !self.range_of(*number).is_empty();
        let mut kept = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        for next in (number..=number + AHEAD).rev().filter(is_there) {
            let place = kept.iter().position(|(kept, _)| *kept == next);
            let chunk = match place.and_then(|place| kept.remove(place)) {
                Some(chunk) => chunk,
                None => (next, self.start(next)?),
            };
            kept.push_back(chunk);
        }
        while kept.len() > KEPT {
            kept.pop_front();
        }
        match kept.back() {
            Some((_, chunk)) => Ok(chunk.clone()),
            None => Err(Error::Io {
                doing: "read ahead".to_owned(),
                source: io::ErrorKind::UnexpectedEof.into(),
            }),
        }
    }

    fn start(&self, number: u64) -> Result<Chunk, Error> {
        let fetch = self.object.clone().fetch(self.range_of(number));
        let task = runtime()?.spawn(fetch);
        let chunk = async {
            let fetched = task.await.unwrap_or_else(|error| Err(io::Error::other(error)));
            fetched.map(Arc::new).map_err(Arc::new)
        };
        Ok(chunk.boxed().shared())
    }
}

impl Source for ReadAhead<'_> {
    fn identity(&self) -> io::Result<Identity> {
        self.object.identity()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(buffer.len() as u64);
        if offset < self.range.start || end > self.range.end || buffer.is_empty() {
            return self.object.read_exact_at(buffer, offset);
        }
        let (mut buffer, mut offset) = (buffer, offset);
        while !buffer.is_empty() {
            let number = (offset - self.range.start) / CHUNK;
            let chunk = wait(self.chunk(number)?)?.map_err(|error| again(&error))?;
            let Range { start, end } = self.range_of(number);
            let bytes = (end - offset).min(buffer.len() as u64);
            let (now, later) = buffer.split_at_mut(bytes as usize);
            copy(&chunk, (offset - start) as usize, now);
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
    use super::*;

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
