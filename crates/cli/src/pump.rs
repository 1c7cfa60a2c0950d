//! Streams through a mode: one thread reads ahead, one writes behind, and between them the cipher has all
//! others.

use std::io::{Read, Write};

use lanecrypt::io::{Lookahead, in_stages};
use zeroize::Zeroizing;

use crate::{failure::Failure, signals};

/// Pieces on their way: one that is read, one in the cipher, one that is written.
const PIECES: usize = 3;

/// A piece of the stream, cleared when dropped: one side of it is plaintext.
type Piece = Zeroizing<Vec<u8>>;

/// Bytes of the first piece, or a little less; each has twice as many as the one before, up to the length that is
/// asked for, so that a short input takes no memory of a long one.
const FIRST_PIECE: usize = 64 << 10;

/// Reads `input` in pieces, passes each through `work`, which may change its length, and writes what it leaves. A piece
/// has a whole number of `unit_bytes`, and at most `most_bytes`, but one unit at least; the last is shorter, if not
/// empty.
///
/// # Errors
/// Of the input, of `work`, of the output: whichever ends it first.
pub(crate) fn pump(
    (input, from): (impl Read + Send, &str),
    (mut output, to): (impl Write + Send, &str),
    (unit_bytes, most_bytes): (usize, usize),
    mut work: impl FnMut(&mut Vec<u8>, bool) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut input, mut lengths) = (Lookahead::new(input), lengths(unit_bytes, most_bytes));
    let read = |piece: &mut Piece| {
        let bytes = lengths.next().unwrap_or(unit_bytes);
        piece.clear();
        // Room for padding as well. A piece that grew would leave what it had behind, and this one is cleared.
        let room = bytes + 32;
        if piece.capacity() < room {
            *piece = Zeroizing::new(Vec::with_capacity(room));
        }
        (&mut input).take(bytes as u64).read_to_end(piece).map_err(Failure::of(from))?;
        input.is_at_end().map_err(Failure::of(from))
    };
    let compute = |piece: &mut Piece, is_last| {
        // After the end of the input too: its writer may have been interrupted.
        signals::check()?;
        work(piece, is_last)
    };
    let pieces = (0..PIECES).map(|_| Piece::default());
    in_stages(pieces, read, compute, |piece| output.write_all(piece).map_err(Failure::of(to)))?;
    output.flush().map_err(Failure::of(to))
}

/// Bytes of one piece after the other.
fn lengths(unit_bytes: usize, most_bytes: usize) -> impl Iterator<Item = usize> {
    let whole_units = move |bytes: usize| (bytes / unit_bytes).max(1) * unit_bytes;
    let doubled = |&bytes: &usize| Some(bytes.saturating_mul(2));
    std::iter::successors(Some(FIRST_PIECE), doubled)
        .map(move |bytes| whole_units(bytes.min(most_bytes)))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// Gives a few bytes at a time, and fails in the end if it should.
    struct Trickle {
        left: usize,
        fails: bool,
    }

    impl Read for Trickle {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if self.left == 0 && self.fails {
                return Err(io::Error::other("the line is dead"));
            }
            let count = self.left.min(to.len()).min(3);
            to[..count].fill(self.left as u8);
            self.left -= count;
            Ok(count)
        }
    }

    #[test]
    fn the_last_piece_is_known_as_such() {
        for (length, expected) in
            [(0, vec![0]), (9, vec![9]), (10, vec![10]), (21, vec![10, 10, 1])]
        {
            let (mut lengths, mut last, mut output) = (Vec::new(), Vec::new(), Vec::new());
            let input = Trickle { left: length, fails: false };
            let work = |piece: &mut Vec<u8>, is_last| {
                lengths.push(piece.len());
                last.push(is_last);
                Ok(())
            };
            pump((input, "in"), (&mut output, "out"), (5, 10), work).expect("nothing fails");
            assert_eq!((output.len(), &lengths), (length, &expected));
            assert!(last.iter().enumerate().all(|(i, &is_last)| is_last == (i + 1 == last.len())));
        }
    }

    #[test]
    fn pieces_grow_by_whole_units() {
        let first = |unit, most| lengths(unit, most).take(3).collect::<Vec<_>>();
        assert_eq!(first(16, 1 << 20), [64 << 10, 128 << 10, 256 << 10]);
        assert_eq!(first(1000, 100_000), [65_000, 100_000, 100_000]);
        assert_eq!(first(16 << 20, 4 << 20), [16 << 20; 3]);
        // A short message takes no room for a long one; but a piece has room from the start, and never grows.
        let mut most = 0;
        let work = |piece: &mut Vec<u8>, _| {
            most = most.max(piece.capacity());
            Ok(())
        };
        let input = Trickle { left: 100, fails: false };
        pump((input, "in"), (Vec::new(), "out"), (16, 64 << 20), work).expect("nothing fails");
        assert!((FIRST_PIECE + 32..=2 * FIRST_PIECE).contains(&most), "{most}");
    }

    #[test]
    fn whoever_fails_is_named() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let nothing = |_: &mut Vec<u8>, _| Ok(());
        let input = |fails| (Trickle { left: 1000, fails }, "in");
        let error =
            pump(input(true), (Vec::new(), "out"), (5, 10), nothing).expect_err("it is dead");
        assert_eq!(error.to_string(), "in: the line is dead");
        let error = pump(input(false), (Full, "out"), (5, 10), nothing).expect_err("it is full");
        assert!(error.to_string().starts_with("out: "), "{error}");
        let refuse = |_: &mut Vec<u8>, _| Err(Failure::Usage("no".to_owned()));
        let error = pump(input(false), (Vec::new(), "out"), (5, 10), refuse).expect_err("refused");
        assert_eq!(error.to_string(), "no");
    }
}
