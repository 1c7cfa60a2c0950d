//! A run of consecutive segments in one buffer: filled with one text, turned in place into the other.

use std::ops::Range;

use lanecrypt::Direction;
use zeroize::Zeroizing;

use crate::{Error, Segment, SegmentCipher, SegmentLayout, SegmentRunner};

/// Consecutive segments of a file in memory.
///
/// Its buffer holds their ciphertext with tags. Plaintext that is to be sealed is read to the end of
/// it and spread over the segments from the first one on, so that nothing is overwritten before it
/// has moved; plaintext that was opened is moved together. One segment alone stays where it is.
pub(crate) struct Piece {
    direction: Direction,
    layout: SegmentLayout,
    /// Empty until it is needed.
    buffer: Zeroizing<Vec<u8>>,
    bytes: usize,
    /// Its segments, if it is full.
    segments: Range<u64>,
    /// Bytes of input that it has.
    filled: usize,
    /// Where the result lies, once it has been run.
    result: Range<usize>,
}

/// Segments of a piece, so that it has about as many bytes as the runner likes.
pub(crate) fn segments_per_piece(layout: &SegmentLayout, runner: &dyn SegmentRunner) -> u64 {
    (runner.batch_bytes() as u64 / layout.segment_bytes()).max(1)
}

impl Piece {
    /// An empty one for these segments.
    pub(crate) fn new(direction: Direction, layout: SegmentLayout, segments: Range<u64>) -> Self {
        let bytes = (segments.end - segments.start) * layout.segment_bytes();
        let bytes = bytes as usize;
        let buffer = Zeroizing::default();
        Self { direction, layout, buffer, bytes, segments, filled: 0, result: 0..0 }
    }

    /// Empties it for other segments, at most as many as it was made for.
    pub(crate) fn reset(&mut self, segments: Range<u64>) {
        self.segments = segments;
        self.filled = 0;
        self.result = 0..0;
    }

    /// The number of its first segment and the one after its last, if it is full.
    pub(crate) fn segments(&self) -> Range<u64> {
        self.segments.clone()
    }

    /// Where its input lies in the file, if it is full.
    pub(crate) fn input_range(&self) -> Range<u64> {
        match self.direction {
            Direction::Encrypt => self.plaintext_range(),
            Direction::Decrypt => self.ciphertext_range(),
        }
    }

    /// Where its output lies in the file, if it is full.
    pub(crate) fn output_range(&self) -> Range<u64> {
        match self.direction {
            Direction::Encrypt => self.ciphertext_range(),
            Direction::Decrypt => self.plaintext_range(),
        }
    }

    fn plaintext_range(&self) -> Range<u64> {
        let Range { start, end } = self.segments;
        self.layout.plaintext_of(start).start..self.layout.plaintext_of(end - 1).end
    }

    fn ciphertext_range(&self) -> Range<u64> {
        let Range { start, end } = self.segments;
        self.layout.ciphertext_of(start).start..self.layout.ciphertext_of(end - 1).end
    }

    /// Where the next bytes of input go; empty once it is full.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        let Range { start, end } = self.input_range();
        let from = self.input_start();
        if self.buffer.is_empty() {
            self.buffer = Zeroizing::new(vec![0; self.bytes]);
        }
        &mut self.buffer[from + self.filled..from + (end - start) as usize]
    }

    /// Says that `bytes` bytes were put at the beginning of [`free`](Self::free).
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.filled += bytes;
    }

    /// Bytes of input that it has.
    pub(crate) fn filled_bytes(&self) -> u64 {
        self.filled as u64
    }

    /// Where input begins in the buffer.
    fn input_start(&self) -> usize {
        let segments = self.segments.end - self.segments.start;
        match self.direction {
            Direction::Encrypt if segments > 1 => (segments * self.layout.tag_bytes()) as usize,
            _ => 0,
        }
    }

    /// Bytes of plaintext that it was turned into, or out of.
    pub(crate) fn plaintext_bytes(&self) -> u64 {
        match self.direction {
            Direction::Encrypt => self.filled as u64,
            Direction::Decrypt => self.result.len() as u64,
        }
    }

    /// What it was turned into.
    pub(crate) fn result(&self) -> &[u8] {
        &self.buffer[self.result.clone()]
    }

    /// Seals or opens it; `is_last` says that the file ends with what it has.
    pub(crate) fn run(
        &mut self,
        cipher: &SegmentCipher,
        runner: &dyn SegmentRunner,
        is_last: bool,
    ) -> Result<(), Error> {
        let texts = self.texts()?;
        // An empty file has a buffer, too: for its tag.
        self.free();
        match self.direction {
            Direction::Encrypt => {
                self.spread(&texts);
                runner.seal_batch(cipher, &mut self.split(&texts, is_last))?;
                self.result = 0..texts.last().map_or(0, |text| text.end) + self.tag_bytes();
            }
            Direction::Decrypt => {
                runner.open_batch(cipher, &mut self.split(&texts, is_last))?;
                self.result = 0..self.gather(&texts);
            }
        }
        Ok(())
    }

    fn tag_bytes(&self) -> usize {
        self.layout.tag_bytes() as usize
    }

    /// Where the text of each segment lies in the buffer; its tag follows.
    fn texts(&self) -> Result<Vec<Range<usize>>, Error> {
        let (first, start) = (self.segments.start, self.ciphertext_range().start);
        let sealed = match self.direction {
            Direction::Decrypt => self.filled,
            Direction::Encrypt => {
                let before = self.plaintext_range().start;
                let last = self.layout.segment_at(before + (self.filled as u64).saturating_sub(1));
                self.filled + (last - first + 1) as usize * self.tag_bytes()
            }
        };
        let mut texts = Vec::new();
        for segment in self.segments.clone() {
            let full = self.layout.ciphertext_of(segment);
            let from = (full.start - start) as usize;
            let end = sealed.min((full.end - start) as usize);
            if from >= end && segment > first {
                break;
            }
            // Only the whole of a file may be empty.
            let least = self.tag_bytes() + usize::from(segment > 0);
            if end < from + least {
                return Err(Error::NotAuthentic { segment });
            }
            // A number that wrapped would be a nonce used twice.
            if u32::try_from(segment).is_err() {
                let most = self.layout.most_plaintext();
                return Err(Error::TooLong { given: most + 1, most });
            }
            texts.push(from..end - self.tag_bytes());
        }
        Ok(texts)
    }

    /// Moves plaintext from where it was read to where each segment has it.
    fn spread(&mut self, texts: &[Range<usize>]) {
        let mut from = self.input_start();
        for text in texts {
            if from != text.start {
                self.buffer.copy_within(from..from + text.len(), text.start);
            }
            from += text.len();
        }
    }

    /// Moves plaintext together, and returns its length.
    fn gather(&mut self, texts: &[Range<usize>]) -> usize {
        let mut to = 0;
        for text in texts {
            if to != text.start {
                self.buffer.copy_within(text.clone(), to);
            }
            to += text.len();
        }
        to
    }

    /// The buffer as segments.
    fn split(&mut self, texts: &[Range<usize>], is_last: bool) -> Vec<Segment<'_>> {
        let (first, tag_bytes) = (self.segments.start, self.tag_bytes());
        let mut rest = &mut self.buffer[..];
        let segments = texts.iter().enumerate().map(|(i, text)| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(text.len() + tag_bytes);
            rest = tail;
            let (text, tag) = head.split_at_mut(text.len());
            let is_last = is_last && i + 1 == texts.len();
            Segment { number: (first + i as u64) as u32, is_last, text, tag }
        });
        segments.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cpu, Hash, Header, Parameters, Scheme, StreamingKey, Template};

    #[test]
    fn a_piece_has_about_as_many_bytes_as_the_runner_likes() {
        let segments = |template: Template| {
            segments_per_piece(&template.parameters().layout(), &Cpu::default())
        };
        assert_eq!(segments(Template::Aes128GcmHkdf4Kb), 256);
        assert_eq!(segments(Template::Aes128GcmHkdf1Mb), 1);
    }

    /// A cipher whose segments have 100 bytes, and tags 16.
    fn cipher() -> SegmentCipher {
        let parameters = Parameters::new(Scheme::Gcm, Hash::Sha256, 16, 100).unwrap();
        let key = StreamingKey::generate(parameters).unwrap();
        SegmentCipher::new(&key, Header::random(&parameters).unwrap(), b"").unwrap()
    }

    fn run(direction: Direction, segments: Range<u64>, bytes: usize) -> Result<(), Error> {
        let cipher = cipher();
        let mut piece = Piece::new(direction, cipher.layout(), segments);
        piece.advance(bytes);
        piece.run(&cipher, &Cpu::default(), true)
    }

    /// A segment has a whole tag, and only the first may have nothing else.
    #[test]
    fn what_ends_where_no_segment_does_is_not_authentic() {
        for (segments, bytes, named) in [
            (0..2, 0, 0),
            (0..2, 15, 0),
            (1..3, 0, 1),
            (1..3, 16, 1),
            (1..3, 115, 2),
            (1..3, 116, 2),
        ] {
            let error = run(Direction::Decrypt, segments, bytes).unwrap_err();
            let is_it = matches!(error, Error::NotAuthentic { segment } if segment == named);
            assert!(is_it, "{bytes} bytes: {error}");
        }
    }

    #[test]
    fn a_number_of_a_segment_does_not_wrap() {
        let end = 1 << 32;
        run(Direction::Encrypt, end - 1..end, 84).unwrap();
        let most = cipher().layout().most_plaintext();
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let error = run(direction, end - 1..end + 1, 184).unwrap_err();
            let is_it = matches!(error, Error::TooLong { given, most: named } if (given, named) == (most + 1, most));
            assert!(is_it, "{error}");
        }
    }
}
