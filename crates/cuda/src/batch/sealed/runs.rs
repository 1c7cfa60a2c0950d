//! The runs of a call, in order, as they are taken by threads.

use std::{iter::Peekable, mem};

use super::{
    call::Call,
    message::SealedMessage,
    outside::Outside,
    run::{Extents, Run},
};
use crate::{Error, TransferError, batch::MOST_BYTES, pipeline};

/// Passes all messages through the device; `memory` is where they go to, where that is memory.
pub(super) fn pass<'m, E: Send>(
    call: Call<'_, E>,
    messages: impl Iterator<Item = SealedMessage<'m>> + Send,
    memory: &mut [u8],
) -> Result<(), TransferError<E>> {
    let rest = Rest { memory, at: 0 };
    let runs = Runs { call: &call, messages: messages.peekable(), number: 0, first: 0, rest };
    pipeline::pass(call.device(), call.crew, runs);
    call.into_result()
}

/// The caller's memory behind what runs have already, and where it starts.
struct Rest<'a> {
    memory: &'a mut [u8],
    at: u64,
}

impl<'a> Rest<'a> {
    /// Takes the parts that these extents have.
    fn take(&mut self, extents: &[Extents]) -> Result<Vec<&'a mut [u8]>, Error> {
        let mut parts = Vec::with_capacity(extents.len());
        for Extents { lane, outside, .. } in extents {
            let outside_memory = || {
                let start = usize::try_from(*outside).unwrap_or(usize::MAX);
                let (end, length) = (start.saturating_add(lane.len()), self.at as usize);
                Error::Range { start, end, length: length + self.memory.len() }
            };
            let gap = outside.checked_sub(self.at).and_then(|gap| usize::try_from(gap).ok());
            let gap = gap.filter(|gap| {
                self.memory.len().checked_sub(*gap).is_some_and(|left| left >= lane.len())
            });
            let gap = gap.ok_or_else(outside_memory)?;
            let (part, rest) = mem::take(&mut self.memory)[gap..].split_at_mut(lane.len());
            parts.push(part);
            self.memory = rest;
            self.at = outside + lane.len() as u64;
        }
        Ok(parts)
    }
}

/// The runs that no thread has taken yet.
struct Runs<'a, 'm, E, I: Iterator<Item = SealedMessage<'m>>> {
    call: &'a Call<'a, E>,
    messages: Peekable<I>,
    number: u64,
    /// The number of the next message.
    first: u64,
    rest: Rest<'a>,
}

impl<'a, 'm, E: Send, I: Iterator<Item = SealedMessage<'m>>> Iterator for Runs<'a, 'm, E, I> {
    type Item = Run<'a, 'm, E>;

    /// After a failure none is started any more.
    fn next(&mut self) -> Option<Run<'a, 'm, E>> {
        if self.call.failure().is_some() {
            return None;
        }
        let run = self.next_run();
        run.unwrap_or_else(|error| {
            self.call.fail(self.number, error.into());
            None
        })
    }
}

impl<'a, 'm, E: Send, I: Iterator<Item = SealedMessage<'m>>> Runs<'a, 'm, E, I> {
    fn next_run(&mut self) -> Result<Option<Run<'a, 'm, E>>, Error> {
        let call = self.call;
        let (mut messages, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self.messages.peek() {
            if next.length > MOST_BYTES {
                return Err(Error::Range { start: 0, end: next.length, length: MOST_BYTES });
            }
            let more = next.lane_bytes();
            if !messages.is_empty() && bytes + more > call.usual {
                break;
            }
            bytes += more;
            messages.extend(self.messages.next());
        }
        if messages.is_empty() {
            return Ok(None);
        }
        let count = messages.len() as u64;
        let mut run = Run::new(call, [self.number, self.first], messages, bytes);
        run.check()?;
        if let Outside::Memory { .. } = call.outside {
            run.set_targets(self.rest.take(&run.extents())?);
        }
        self.number += 1;
        self.first += count;
        Ok(Some(run))
    }
}
