//! Several pieces of a stream at once: filled in order, run in parallel, given out in order.

use std::io::{self, Read};

use lanecrypt::{Direction, io::Lookahead};
use rayon::prelude::*;

use crate::{
    Error, Options, SegmentCipher, SegmentLayout, SegmentRunner,
    piece::{Piece, segments_per_piece},
};

/// Pieces that each thread of a runner gets of a batch: two, so that a thread that is late holds
/// the others up less.
const PIECES_PER_THREAD: usize = 2;

/// Bytes that a batch may have, where that is more than one piece.
const MOST_BYTES: u64 = 256 << 20;

/// Consecutive pieces of a stream, as many as keep all threads busy.
pub(crate) struct Batch {
    pieces: Vec<Piece>,
    segments_per_piece: u64,
    threads: usize,
    /// Pieces that have input.
    used: usize,
}

impl Batch {
    /// An empty one at the beginning of a file.
    pub(crate) fn new(
        direction: Direction,
        layout: SegmentLayout,
        runner: &dyn SegmentRunner,
    ) -> Self {
        let (threads, count) = (runner.threads().max(1), segments_per_piece(&layout, runner));
        let piece = || Piece::new(direction, layout, 0..count);
        let most = (MOST_BYTES / (count * layout.segment_bytes())).max(1) as usize;
        let pieces = most.min(threads * PIECES_PER_THREAD);
        let pieces = std::iter::repeat_with(piece).take(pieces).collect();
        let mut batch = Self { pieces, segments_per_piece: count, threads, used: 0 };
        batch.reset(0);
        batch
    }

    /// Empties it, to be the batch of this number in the stream.
    pub(crate) fn reset(&mut self, number: u64) {
        let count = self.segments_per_piece;
        let first = number * self.pieces.len() as u64 * count;
        for (i, piece) in (0..).zip(&mut self.pieces) {
            piece.reset(first + i * count..first + (i + 1) * count);
        }
        self.used = 0;
    }

    /// Where the next bytes of input go; empty once all pieces are full.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        let is_full = self.used == 0 || self.pieces[self.used - 1].free().is_empty();
        if is_full && self.used < self.pieces.len() {
            self.used += 1;
        }
        self.pieces[self.used - 1].free()
    }

    /// Says that `bytes` bytes were put at the beginning of [`free`](Self::free).
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.pieces[self.used - 1].advance(bytes);
    }

    /// Reads until it is full or the input ends; whether it ended.
    pub(crate) fn fill(&mut self, input: &mut Lookahead<impl Read>) -> io::Result<bool> {
        loop {
            let free = self.free();
            if free.is_empty() {
                return input.is_at_end();
            }
            let bytes = input.read(free)?;
            if bytes == 0 {
                return Ok(true);
            }
            self.advance(bytes);
        }
    }

    /// Seals or opens what it has, on the runner's threads; returns the bytes of plaintext, and
    /// tells the options' progress of them.
    ///
    /// Fails where the options say that the caller cancelled, before or meanwhile: an input may have
    /// ended only because whatever cancelled this ended its writer, too.
    pub(crate) fn run(
        &mut self,
        cipher: &SegmentCipher,
        options: &Options<'_>,
        is_last: bool,
    ) -> Result<u64, Error> {
        options.check_cancel()?;
        self.run_pieces(cipher, options.runner, is_last)?;
        let plaintext_bytes = self.pieces[..self.used].iter().map(Piece::plaintext_bytes).sum();
        (options.progress)(plaintext_bytes);
        options.check_cancel()?;
        Ok(plaintext_bytes)
    }

    fn run_pieces(
        &mut self,
        cipher: &SegmentCipher,
        runner: &dyn SegmentRunner,
        is_last: bool,
    ) -> Result<(), Error> {
        // The first piece of a file is there even where it is empty; a later one is not.
        self.used = self.used.max(1);
        while self.used > 1 && self.pieces[self.used - 1].filled_bytes() == 0 {
            self.used -= 1;
        }
        let used = &mut self.pieces[..self.used];
        let last = used.len().saturating_sub(1);
        let per_thread = used.len().div_ceil(self.threads).max(1);
        used.par_chunks_mut(per_thread).enumerate().try_for_each(|(thread, pieces)| {
            pieces.iter_mut().enumerate().try_for_each(|(i, piece)| {
                piece.run(cipher, runner, is_last && thread * per_thread + i == last)
            })
        })
    }

    /// What its pieces were turned into.
    pub(crate) fn results(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces[..self.used].iter().map(Piece::result)
    }
}
