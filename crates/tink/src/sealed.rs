//! Sealed data that is read at any place.

use std::{fmt, io::Write, ops::Range};

use lanecrypt::Direction;
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::{
    Error, Identity, Keyset, Options, SegmentCipher, Source,
    choose::{choose, needed_bytes},
    memory::zeroed,
    piece::{Piece, segments_per_piece},
    source::{identity, read},
    streams::WRITING,
};

/// Sealed data that is read at any place: only the segments that a range touches are read, and only
/// what is authentic is given out.
pub struct Sealed<S> {
    source: S,
    identity: Identity,
    cipher: SegmentCipher,
    plaintext_bytes: u64,
}

impl<S: Source> Sealed<S> {
    /// Finds the key that opens the first segment, and opens the last one: so the length is authentic,
    /// too.
    ///
    /// # Errors
    /// [`Error::NoKeyOpens`], [`Error::NotAuthentic`], [`Error::Truncated`], [`Error::Io`].
    pub fn open(source: S, keyset: &Keyset, associated_data: &[u8]) -> Result<Self, Error> {
        let identity = identity(&source)?;
        let bytes = identity.size.min(needed_bytes(keyset) as u64);
        let mut beginning = vec![0; bytes as usize];
        read(&source, &mut beginning, 0, identity.size)?;
        let cipher = choose(keyset, associated_data, &beginning)?;
        let plaintext_bytes = cipher.layout().plaintext_bytes(identity.size)?;
        let sealed = Self { source, identity, cipher, plaintext_bytes };
        let last = sealed.cipher.layout().segments(plaintext_bytes)? - 1;
        if last > 0 {
            sealed.opened(last..last + 1, Options::default())?;
        }
        Ok(sealed)
    }

    /// Bytes of plaintext.
    #[must_use]
    pub fn plaintext_bytes(&self) -> u64 {
        self.plaintext_bytes
    }

    /// What its segments are sealed under.
    #[must_use]
    pub fn cipher(&self) -> &SegmentCipher {
        &self.cipher
    }

    /// What it is read from.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Fails where the source is another one than when this was opened.
    ///
    /// # Errors
    /// [`Error::SourceChanged`], [`Error::Io`].
    pub fn check_source(&self) -> Result<(), Error> {
        self.identity.check(&identity(&self.source)?)
    }

    /// Fills `buffer` with the plaintext that begins at `offset`, on the caller's thread.
    ///
    /// # Errors
    /// [`Error::Range`] where there is less; [`Error::NotAuthentic`], [`Error::SourceChanged`],
    /// [`Error::Io`]: nothing of the buffer must be used then.
    pub fn read_exact_at(&self, mut buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let range = offset..offset.saturating_add(buffer.len() as u64);
        for pieces in self.pieces(range.clone(), Options::default())? {
            let piece = self.opened(pieces, Options::default())?;
            let part = wanted(&piece, &range);
            let (now, later) = buffer.split_at_mut(part.len());
            now.copy_from_slice(part);
            buffer = later;
        }
        Ok(())
    }

    /// Writes a range of the plaintext; its segments are opened on all threads of the runner.
    ///
    /// # Errors
    /// As [`read_exact_at`](Self::read_exact_at), and [`Error::Cancelled`]. What was written until
    /// then is authentic.
    pub fn copy_range(
        &self,
        range: Range<u64>,
        writer: &mut dyn Write,
        options: Options<'_>,
    ) -> Result<(), Error> {
        let pieces = self.pieces(range.clone(), options)?.collect::<Vec<_>>();
        for batch in pieces.chunks(options.runner.threads().max(1)) {
            options.check_cancel()?;
            let opened = batch.par_iter().map(|segments| self.opened(segments.clone(), options));
            for piece in opened.collect::<Result<Vec<_>, Error>>()? {
                let part = wanted(&piece, &range);
                writer.write_all(part).map_err(Error::of_io(WRITING))?;
                (options.progress)(part.len() as u64);
            }
        }
        Ok(())
    }

    /// Fails where there is less plaintext.
    pub(crate) fn check_range(&self, range: &Range<u64>) -> Result<(), Error> {
        let Range { start, end } = *range;
        if start > end || end > self.plaintext_bytes {
            return Err(Error::Range { start, end, length: self.plaintext_bytes });
        }
        Ok(())
    }

    /// Reads sealed bytes, which are there unless the source changed.
    pub(crate) fn read_sealed(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        read(&self.source, buffer, offset, self.identity.size)
    }

    /// The segments of a range, in runs that are opened together.
    fn pieces(
        &self,
        range: Range<u64>,
        options: Options<'_>,
    ) -> Result<impl Iterator<Item = Range<u64>> + use<S>, Error> {
        self.check_range(&range)?;
        let layout = self.cipher.layout();
        let Range { start, end } = layout.segments_of(range);
        let per_piece = segments_per_piece(&layout, options.runner);
        let firsts = (start..end).step_by(usize::try_from(per_piece).unwrap_or(usize::MAX));
        Ok(firsts.map(move |first| first..end.min(first + per_piece)))
    }

    /// Reads these segments and opens them.
    fn opened(&self, segments: Range<u64>, options: Options<'_>) -> Result<Piece, Error> {
        let layout = self.cipher.layout();
        let is_last = segments.end == layout.segments(self.plaintext_bytes)?;
        let mut piece = Piece::new(Direction::Decrypt, layout, segments);
        let input = piece.input_range();
        let bytes = (input.end.min(self.identity.size) - input.start) as usize;
        self.read_sealed(&mut piece.free()[..bytes], input.start)?;
        piece.advance(bytes);
        piece.run(&self.cipher, options.runner, is_last)?;
        Ok(piece)
    }

    /// All of the plaintext, where it fits into memory.
    ///
    /// # Errors
    /// As [`read_exact_at`](Self::read_exact_at), and [`Error::Memory`].
    pub fn read_to_end(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut text = Zeroizing::new(zeroed(self.plaintext_bytes)?);
        self.read_exact_at(&mut text, 0)?;
        Ok(text)
    }
}

/// What a piece has of a range of the plaintext.
fn wanted<'a>(piece: &'a Piece, range: &Range<u64>) -> &'a [u8] {
    let (text, start) = (piece.result(), piece.output_range().start);
    let from = range.start.saturating_sub(start) as usize;
    let end = range.end.saturating_sub(start).min(text.len() as u64) as usize;
    &text[from.min(end)..end]
}

impl<S> fmt::Debug for Sealed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealed")
            .field("cipher", &self.cipher)
            .field("plaintext_bytes", &self.plaintext_bytes)
            .finish_non_exhaustive()
    }
}
