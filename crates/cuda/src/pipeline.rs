//! Host memory through a device: pieces on several streams at once, which a few threads feed.
//!
//! Copies of ordinary memory are the slowest part of the way, a thread moving some 10 GB/s. So each of
//! the threads has two lanes: a piece of pinned memory, as much of the device's, and a stream. While one
//! lane copies to the device, runs and copies back, the thread fills or empties the other:
//!
//! ```text
//! thread   fill 0 | fill 1 | wait 0, empty 0, fill 2 | wait 1, empty 1, fill 3 | ..
//! lane A   ........ up 0 | run 0 | down 0 ........... up 2 | run 2 | down 2
//! lane B   ................ up 1 | run 1 | down 1 ........... up 3 | run 3 | down 3
//! ```
//!
//! Lanes belong to the device and are kept between calls; [`Limits`] bounds them, whatever the size of
//! the input is. Results are written in order of their pieces ([`order`]), so that after an error all
//! before it is complete and nothing after it was touched.
//!
//! Memory that is pinned already needs none of this: copies start and end there, and one thread is
//! enough.
//!
//! What passes is a [`Piece`]: of host memory ([`host`]), or some jobs of a batch.

mod cut;
mod host;
mod landing;
mod lane;
mod limits;
mod order;

use std::{
    collections::VecDeque,
    iter::Peekable,
    sync::{Mutex, PoisonError, TryLockError},
    thread,
};

pub use self::limits::Limits;
pub(crate) use self::{
    cut::{Crew, Cut},
    host::{feed, run},
    lane::{Extent, Lent, Pool},
    limits::ChunkLimit,
};
use crate::{Device, Error};

/// What passes a lane at once.
pub(crate) trait Piece {
    /// Bytes of the lane that it takes.
    fn lane_bytes(&self) -> usize;

    /// Starts all that is done with it on a lane, which is waited for then.
    fn start(&mut self, lane: &mut Lent<'_>) -> Result<(), Error>;

    /// Takes what came back, which is the lane's pinned memory, or what went wrong.
    fn end(self, came_back: Result<&mut [u8], Error>);
}

/// Passes all pieces there are, several at a time, and ends each of them.
pub(crate) fn pass<I>(device: &Device, crew: Crew, pieces: I)
where
    I: Iterator<Item: Piece + Send> + Send,
{
    let pieces = Mutex::new(pieces.peekable());
    on_all(crew, || pass_some(device, crew.lanes, &pieces));
}

/// Runs `work` on all threads of a crew, as far as there are any.
pub(crate) fn on_all(crew: Crew, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..crew.threads {
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, &work) {
                log::warn!("fewer threads than wanted work for a device: {error}");
                break;
            }
        }
        work();
    });
}

/// Passes pieces, as long as there are any, on at most so many lanes that this thread gets.
fn pass_some<I>(device: &Device, lanes: usize, pieces: &Mutex<Peekable<I>>)
where
    I: Iterator<Item: Piece>,
{
    let mut running = VecDeque::new();
    loop {
        if running.len() < lanes
            && let Some((mut piece, lane)) = next(device, pieces, running.is_empty())
        {
            match lane.and_then(|mut lane| piece.start(&mut lane).map(|()| lane)) {
                Ok(lane) => running.push_back((piece, lane)),
                Err(error) => piece.end(Err(error)),
            }
            continue;
        }
        let Some((piece, mut lane)) = running.pop_front() else { return };
        piece.end(lane.wait());
    }
}

/// A piece and the lane that it will pass, if there is a piece.
type Next<'a, P> = Option<(P, Result<Lent<'a>, Error>)>;

/// Takes the next piece and a lane for it; where there is no lane it waits for one, or gives nothing.
///
/// A thread with a lane waits neither for another lane nor for the thread that does, and those who wait for
/// an earlier piece hold theirs. So a piece is taken together with its lane, in order.
fn next<'a, I>(device: &'a Device, pieces: &Mutex<Peekable<I>>, waits: bool) -> Next<'a, I::Item>
where
    I: Iterator<Item: Piece>,
{
    let mut pieces = match pieces.try_lock() {
        Ok(pieces) => pieces,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) if !waits => return None,
        Err(TryLockError::WouldBlock) => pieces.lock().unwrap_or_else(PoisonError::into_inner),
    };
    let bytes = pieces.peek()?.lane_bytes();
    let lane = Pool::of(device).lend(device, bytes, waits).transpose()?;
    pieces.next().map(|piece| (piece, lane))
}
