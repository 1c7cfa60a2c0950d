//! Streams through a mode: one thread reads ahead, one writes behind, and between them the cipher has all
//! others.

use std::{
    io::{self, Read, Write},
    sync::{
        atomic::Ordering,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use zeroize::Zeroizing;

use crate::{failure::Failure, file::CANCELLED};

/// Pieces on their way: one that is read, one in the cipher, one that is written, and one between.
const PIECES: usize = 4;

/// A piece of the stream, cleared when dropped: one side of it is plaintext.
type Piece = Zeroizing<Vec<u8>>;

/// A piece, and whether it is the last.
type Next = Result<(Piece, bool), io::Error>;

/// Reads `input` in pieces of `piece_bytes`, the last of which is shorter, if not empty, passes each through `work`,
/// which may change its length, and writes what it leaves.
///
/// # Errors
/// Of the input, of `work`, of the output: whichever ends it first.
pub(crate) fn pump(
    (input, from): (impl Read + Send, &str),
    (output, to): (impl Write + Send, &str),
    piece_bytes: usize,
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
            if let Err(error) = read_pieces(input, piece_bytes, &free, &read) {
                read.send(Err(error)).ok();
            }
        });
        let writer = scope.spawn(move || write_pieces(output, &to_write, &give_back));
        let mut result = Ok(());
        for next in to_work {
            if CANCELLED.load(Ordering::Relaxed) {
                result = Err(Failure::Interrupted);
                break;
            }
            result = next.map_err(Failure::of(from)).and_then(|(mut piece, is_last)| {
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

/// Sends pieces until the input ends, or nobody wants them.
fn read_pieces(
    mut input: impl Read,
    piece_bytes: usize,
    free: &Receiver<Piece>,
    pieces: &Sender<Next>,
) -> io::Result<()> {
    let mut read = || -> io::Result<Option<Piece>> {
        let Ok(mut piece) = free.recv() else { return Ok(None) };
        piece.clear();
        // Room for padding as well, so that the piece does not move.
        piece.reserve_exact(piece_bytes + 32);
        (&mut input).take(piece_bytes as u64).read_to_end(&mut piece)?;
        Ok(Some(piece))
    };
    let Some(mut piece) = read()? else { return Ok(()) };
    loop {
        let next = if piece.len() == piece_bytes { read()? } else { None };
        let is_last = next.as_ref().is_none_or(|next| next.is_empty());
        if pieces.send(Ok((piece, is_last))).is_err() || is_last {
            return Ok(());
        }
        let Some(next) = next else { return Ok(()) };
        piece = next;
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
            pump((input, "in"), (&mut output, "out"), 10, work).expect("nothing fails");
            assert_eq!((output.len(), &lengths), (length, &expected));
            assert!(last.iter().enumerate().all(|(i, &is_last)| is_last == (i + 1 == last.len())));
        }
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
        let error = pump(input(true), (Vec::new(), "out"), 10, nothing).expect_err("it is dead");
        assert_eq!(error.to_string(), "in: the line is dead");
        let error = pump(input(false), (Full, "out"), 10, nothing).expect_err("it is full");
        assert!(error.to_string().starts_with("out: "), "{error}");
        let refuse = |_: &mut Vec<u8>, _| Err(Failure::Usage("no".to_owned()));
        let error = pump(input(false), (Vec::new(), "out"), 10, refuse).expect_err("refused");
        assert_eq!(error.to_string(), "no");
    }
}
