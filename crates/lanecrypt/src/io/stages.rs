//! Pieces on their way from a reader to a writer: while one is computed, the next is read and the last is written.

use std::{
    io::{self, Read},
    panic::resume_unwind,
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    thread::{self, Scope, ScopedJoinHandle},
};

/// Passes pieces through three stages in order, of which reading and writing have threads of their own.
///
/// `read` fills a piece and says whether it is the last one, `compute` is told so, and what `write` has written is
/// read into again: `pieces` are all there are, and three keep every stage busy.
///
/// ```
/// use std::io::{Read, Write};
/// use lanecrypt::io::{Lookahead, in_stages};
///
/// let (mut input, mut output) = (Lookahead::new(&b"seven and ten"[..]), Vec::new());
/// let read = |piece: &mut Vec<u8>| {
///     piece.clear();
///     (&mut input).take(4).read_to_end(piece)?;
///     input.is_at_end()
/// };
/// let compute = |piece: &mut Vec<u8>, is_last: bool| {
///     piece.make_ascii_uppercase();
///     if is_last { piece.push(b'.') }
///     Ok::<_, std::io::Error>(())
/// };
/// in_stages([const { Vec::new() }; 3], read, compute, |piece| output.write_all(piece))?;
/// assert_eq!(output, b"SEVEN AND TEN.");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// That of `write`, or else the first of `read` or `compute`; [`io::Error`] where no thread can be started, and where
/// there are no `pieces`. After an error this returns when `read` next does.
pub fn in_stages<P: Send, E: From<io::Error> + Send>(
    pieces: impl IntoIterator<Item = P>,
    read: impl FnMut(&mut P) -> Result<bool, E> + Send,
    compute: impl FnMut(&mut P, bool) -> Result<(), E>,
    write: impl FnMut(&P) -> Result<(), E> + Send,
) -> Result<(), E> {
    let (give_back, free) = channel();
    let mut given = 0;
    for piece in pieces {
        give_back.send(piece).ok();
        given += 1;
    }
    if given == 0 {
        // The stages would wait for one another.
        let error = "there is no piece to read into; at least one is needed";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error).into());
    }
    let (filled, to_compute) = sync_channel(1);
    let (computed, to_write) = sync_channel(1);
    thread::scope(|scope| {
        spawn(scope, move || read_all(&free, read, &filled))?;
        let writing = spawn(scope, move || write_all(&to_write, write, &give_back))?;
        let result = compute_all(&to_compute, compute, &computed);
        // The writer ends when nothing more can come.
        drop((to_compute, computed));
        let written = writing.join().unwrap_or_else(|panic| resume_unwind(panic));
        written.and(result)
    })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let started = thread::Builder::new().spawn_scoped(scope, work);
    started.map_err(|error| io::Error::new(error.kind(), format!("starting a thread: {error}")))
}

/// A piece that was read, and whether it is the last.
type Filled<P, E> = Result<(P, bool), E>;

/// Sends pieces until one is the last, reading fails, or the receiver is gone.
fn read_all<P, E>(
    free: &Receiver<P>,
    mut read: impl FnMut(&mut P) -> Result<bool, E>,
    filled: &SyncSender<Filled<P, E>>,
) {
    for mut piece in free {
        let result = read(&mut piece).map(|is_last| (piece, is_last));
        let ends = !matches!(result, Ok((_, false)));
        if filled.send(result).is_err() || ends {
            return;
        }
    }
}

/// Computes pieces until there are no more, one fails, or the receiver is gone, which says why.
fn compute_all<P, E>(
    filled: &Receiver<Filled<P, E>>,
    mut compute: impl FnMut(&mut P, bool) -> Result<(), E>,
    computed: &SyncSender<P>,
) -> Result<(), E> {
    for next in filled {
        let (mut piece, is_last) = next?;
        compute(&mut piece, is_last)?;
        if computed.send(piece).is_err() {
            break;
        }
    }
    Ok(())
}

/// Writes pieces until there are no more, and gives them back to the reader, which may have ended.
fn write_all<P, E>(
    computed: &Receiver<P>,
    mut write: impl FnMut(&P) -> Result<(), E>,
    give_back: &Sender<P>,
) -> Result<(), E> {
    for piece in computed {
        write(&piece)?;
        give_back.send(piece).ok();
    }
    Ok(())
}

/// A reader of which can be known whether it has ended.
#[derive(Debug)]
pub struct Lookahead<R> {
    inner: R,
    next: Option<u8>,
    has_ended: bool,
}

impl<R: Read> Lookahead<R> {
    /// Of a reader.
    pub fn new(inner: R) -> Self {
        Self { inner, next: None, has_ended: false }
    }

    /// Whether there is nothing left. Reads a byte ahead where that is not known yet.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn is_at_end(&mut self) -> io::Result<bool> {
        if self.next.is_none() && !self.has_ended {
            let mut byte = [0];
            self.next = (self.read(&mut byte)? == 1).then_some(byte[0]);
        }
        Ok(self.next.is_none())
    }
}

impl<R: Read> Read for Lookahead<R> {
    /// Goes on where a signal interrupts it.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        if let Some(next) = self.next.take() {
            *first = next;
            return Ok(1);
        }
        loop {
            match self.inner.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => {
                    self.has_ended = matches!(read, Ok(0));
                    return read;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives two bytes, after an interruption each, and then fails or ends.
    struct Interrupted {
        calls: u8,
        end: Option<io::ErrorKind>,
    }

    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.calls += 1;
            match (self.calls, self.end) {
                (1 | 3, _) => Err(io::ErrorKind::Interrupted.into()),
                (2 | 4, _) => {
                    buffer[0] = self.calls;
                    Ok(1)
                }
                (_, Some(kind)) => Err(kind.into()),
                _ => Ok(0),
            }
        }
    }

    #[test]
    fn without_a_piece_nothing_can_be_read() {
        let none = std::iter::empty::<Vec<u8>>();
        let done = in_stages(none, |_| Ok(true), |_, _| Ok(()), |_| Ok(()));
        let error: io::Error = done.expect_err("the stages would wait for one another");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn an_end_is_seen_ahead() {
        let mut reader = Lookahead::new(Interrupted { calls: 0, end: None });
        let mut buffer = [0; 8];
        for expected in [2, 4] {
            assert!(!reader.is_at_end().expect("it goes on"));
            assert!(!reader.is_at_end().expect("nothing more is read"));
            assert_eq!(reader.inner.calls, expected);
            assert_eq!(reader.read(&mut []).expect("no byte is wanted"), 0);
            assert_eq!(reader.read(&mut buffer).expect("the byte that was read ahead"), 1);
            assert_eq!(buffer[0], expected);
        }
        assert!(reader.is_at_end().expect("it ends"));
        assert_eq!(reader.read(&mut buffer).expect("it has ended"), 0);
        let calls = reader.inner.calls;
        assert!(reader.is_at_end().expect("that is known"));
        assert_eq!(reader.inner.calls, calls);
    }

    #[test]
    fn a_failure_is_no_end() {
        let end = Some(io::ErrorKind::BrokenPipe);
        let mut reader = Lookahead::new(Interrupted { calls: 4, end });
        let kind = reader.is_at_end().expect_err("it fails").kind();
        assert_eq!(kind, io::ErrorKind::BrokenPipe);
        assert_eq!(reader.read(&mut [0]).map_err(|error| error.kind()), Err(kind));
    }
}
