//! Streams through a mode: one thread reads ahead, one writes behind, and between them the cipher has all
//! others.

use std::{
    io::{self, Read, Write},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use zeroize::Zeroizing;

use crate::{failure::Failure, signals};

/// Pieces on their way: one that is read, one in the cipher, one that is written, and one between.
const PIECES: usize = 4;

/// A piece of the stream, cleared when dropped: one side of it is plaintext.
type Piece = Zeroizing<Vec<u8>>;

/// A piece, and whether it is the last.
type Next = Result<(Piece, bool), io::Error>;

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
    (output, to): (impl Write + Send, &str),
    (unit_bytes, most_bytes): (usize, usize),
    mut work: impl FnMut(&mut Vec<u8>, bool) -> Result<(), Failure>,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let (read, to_work) = channel::<Next>();
        let (done, to_write) = channel::<Piece>();
        let (give_back, free) = channel();
        for _ in 0..PIECES {
            give_back.send(Zeroizing::new(Vec::new())).ok();
        }
        scope.spawn(move || {
            if let Err(error) = read_pieces(input, lengths(unit_bytes, most_bytes), &free, &read) {
                read.send(Err(error)).ok();
            }
        });
        let writer = scope.spawn(move || write_pieces(output, &to_write, &give_back));
        let mut result = Ok(());
        for next in to_work {
            result = next.map_err(Failure::of(from)).and_then(|(mut piece, is_last)| {
                // After the end of the input too: its writer may have been interrupted.
                signals::check()?;
                work(&mut piece, is_last)?;
                // A writer that ended says why below.
                done.send(piece).map_err(|_| Failure::Io(format!("{to}: writing ended early")))
            });
            if result.is_err() {
                break;
            }
        }
        drop(done);
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer ended")));
        written.map_err(Failure::of(to)).and(result)
    })
}

/// Bytes of one piece after the other.
fn lengths(unit_bytes: usize, most_bytes: usize) -> impl Iterator<Item = usize> {
    let whole_units = move |bytes: usize| (bytes / unit_bytes).max(1) * unit_bytes;
    let doubled = |&bytes: &usize| Some(bytes.saturating_mul(2));
    std::iter::successors(Some(FIRST_PIECE), doubled)
        .map(move |bytes| whole_units(bytes.min(most_bytes)))
}

/// Sends pieces until the input ends or the receiver is gone.
fn read_pieces(
    mut input: impl Read,
    mut lengths: impl Iterator<Item = usize>,
    free: &Receiver<Piece>,
    pieces: &Sender<Next>,
) -> io::Result<()> {
    // A piece, and whether there may be more.
    let mut read = || -> io::Result<Option<(Piece, bool)>> {
        let (Ok(mut piece), Some(bytes)) = (free.recv(), lengths.next()) else { return Ok(None) };
        piece.clear();
        // Room for padding as well. A piece that grew would leave what it had behind, and this one is cleared.
        if piece.capacity() < bytes + 32 {
            piece = Zeroizing::new(Vec::with_capacity(bytes + 32));
        }
        (&mut input).take(bytes as u64).read_to_end(&mut piece)?;
        let is_full = piece.len() == bytes;
        Ok(Some((piece, is_full)))
    };
    let Some((mut piece, mut is_full)) = read()? else { return Ok(()) };
    loop {
        let next = if is_full { read()? } else { None };
        let is_last = next.as_ref().is_none_or(|(next, _)| next.is_empty());
        if pieces.send(Ok((piece, is_last))).is_err() || is_last {
            return Ok(());
        }
        let Some(next) = next else { return Ok(()) };
        (piece, is_full) = next;
    }
}

/// Writes pieces until there are no more, and gives them back.
fn write_pieces(
    mut output: impl Write,
    pieces: &Receiver<Piece>,
    give_back: &Sender<Piece>,
) -> io::Result<()> {
    for piece in pieces {
        output.write_all(&piece)?;
        give_back.send(piece).ok();
    }
    output.flush()
}

#[cfg(test)]
mod tests {
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
        // A short message takes no room for a long one.
        let mut most = 0;
        let work = |piece: &mut Vec<u8>, _| {
            most = most.max(piece.capacity());
            Ok(())
        };
        let input = Trickle { left: 100, fails: false };
        pump((input, "in"), (Vec::new(), "out"), (16, 64 << 20), work).expect("nothing fails");
        assert!((1..=2 * FIRST_PIECE).contains(&most), "{most}");
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
