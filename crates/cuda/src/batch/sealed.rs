//! Messages that lie sealed outside, such as in a file, and plain on a device: runs of them pass side by side,
//! each on a lane.
//!
//! A lane's memory is that of a batch in host memory ([`super::host_memory`]), but only ciphertext passes the
//! bus, one way. The device moves plaintext by itself between the lane, where messages start at multiples of
//! a block, and the place where it belongs:
//!
//! ```text
//! open   read | up | keys, hash, decrypt | rows to their places
//! seal   rows from their places | keys, encrypt, hash | down | write
//! ```
//!
//! A message may have a lead: plain bytes that come right before it on the device. They go up with it, and where
//! messages and leads follow each other there without a gap, they do so on the lane, and a run is one copy. A
//! lead takes the place where the tag of the message before it was read, once that is described.

mod message;

use std::{
    iter::Peekable,
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanecrypt_core::{Direction, batch::JobMode};
use zeroize::Zeroize;

use self::message::TAG;
pub use self::message::{SealedMessage, Sealing};
use super::{
    BLOCK, BatchFamily, Cuts, Description, DeviceJob, Launches, Lists, MOST_BYTES, Parameters,
    RESULT_BYTES, RIGHT,
};
use crate::{
    Device, DeviceSlice, DeviceSliceMut, Error, HashFamily, Stream, TransferError,
    launch::copies::{self, Rows},
    pipeline::{self, Crew, Extent, Lent, Piece},
};

/// The most bytes of a lane, where no message needs more.
const LONGEST_RUN: usize = 16 << 20;

/// What reads `buffer` from a place outside, and what writes there; by any thread.
type Read<'a, E> = &'a (dyn Fn(&mut [u8], u64) -> Result<(), E> + Sync);
type Write<'a, E> = &'a (dyn Fn(&[u8], u64) -> Result<(), E> + Sync);

impl BatchFamily {
    /// Opens messages into `output`. `read` fills a buffer with what lies outside from a place
    /// on, ciphertext and tags of one message or of several; several threads call it.
    /// [`Limits`](crate::Limits) bounds them and the memory that is taken, beside `output`.
    ///
    /// Nothing is decrypted before it was found authentic. But other messages may have been when one is
    /// not: then, and after every error, nothing of `output` is to be used.
    ///
    /// # Errors
    /// [`TransferError::NotAuthentic`] naming the first such message of those that were tried;
    /// [`TransferError::Outside`] with an error of `read`; [`TransferError::Device`], as
    /// [`fits`](Self::fits), with [`Error::Mismatch`] as [`prepare`](Self::prepare), with [`Error::Range`]
    /// for a message that ends behind the slice, and with those of the driver.
    pub fn open_to_device<'m, E: Send>(
        &self,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        output: &mut DeviceSliceMut<'_>,
        read: impl Fn(&mut [u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        let output = output.as_slice();
        Call::new(self, &output, Outside::Read(&read))?.run(messages)
    }

    /// Seals messages of `input`. `write` writes bytes outside from a place on, ciphertext and
    /// tags of one message or of several; several threads call it.
    /// [`Limits`](crate::Limits) bounds them and the memory that is taken, beside `input`.
    ///
    /// An IV must never be used twice under one key.
    ///
    /// # Errors
    /// As [`open_to_device`](Self::open_to_device), but that every message is authentic: nothing of what was
    /// written is to be used then.
    pub fn seal_from_device<'m, E: Send>(
        &self,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        input: &DeviceSlice<'_>,
        write: impl Fn(&[u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        Call::new(self, input, Outside::Write(&write))?.run(messages)
    }
}

/// The place outside.
enum Outside<'a, E> {
    Read(Read<'a, E>),
    Write(Write<'a, E>),
}

impl<E> Outside<'_, E> {
    fn direction(&self) -> Direction {
        match self {
            Self::Read(_) => Direction::Decrypt,
            Self::Write(_) => Direction::Encrypt,
        }
    }
}

/// What the runs of a call share.
struct Call<'a, E> {
    family: &'a BatchFamily,
    plain: &'a DeviceSlice<'a>,
    outside: Outside<'a, E>,
    crew: Crew,
    /// Bytes of a lane, where a run needs no more.
    usual: usize,
    /// What failed of the first run that did, and the number of that run.
    failure: Mutex<Option<(u64, TransferError<E>)>>,
}

impl<'a, E: Send> Call<'a, E> {
    fn new(
        family: &'a BatchFamily,
        plain: &'a DeviceSlice<'a>,
        outside: Outside<'a, E>,
    ) -> Result<Self, Error> {
        let device = plain.device();
        family.require(device)?;
        let crew = Crew::most(device);
        let usual = crew.share_of(plain.len(), LONGEST_RUN).min(crew.room(device));
        let crew = crew.for_pieces(plain.len().div_ceil(usual).max(1));
        Ok(Self { family, plain, outside, crew, usual, failure: Mutex::default() })
    }

    fn device(&self) -> &Device {
        self.plain.device()
    }

    fn run<'m>(
        self,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
    ) -> Result<(), TransferError<E>> {
        let runs = Runs { call: &self, messages: messages.peekable(), number: 0, first: 0 };
        pipeline::pass(self.device(), self.crew, runs);
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }

    fn failure(&self) -> MutexGuard<'_, Option<(u64, TransferError<E>)>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, run: u64, error: TransferError<E>) {
        let mut failure = self.failure();
        if failure.as_ref().is_none_or(|(first, _)| run < *first) {
            *failure = Some((run, error));
        }
    }
}

/// The runs that no thread has taken yet.
struct Runs<'a, 'm, E, I: Iterator<Item = SealedMessage<'m>>> {
    call: &'a Call<'a, E>,
    messages: Peekable<I>,
    number: u64,
    /// The number of the next message.
    first: u64,
}

impl<'a, 'm, E: Send, I: Iterator<Item = SealedMessage<'m>>> Iterator for Runs<'a, 'm, E, I> {
    type Item = Run<'a, 'm, E>;

    /// After a failure none is started any more.
    fn next(&mut self) -> Option<Run<'a, 'm, E>> {
        if self.call.failure().is_some() {
            return None;
        }
        let (mut messages, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self.messages.peek() {
            if next.length > MOST_BYTES {
                let (end, length) = (next.length, MOST_BYTES);
                self.call.fail(self.number, Error::Range { start: 0, end, length }.into());
                return None;
            }
            let more = next.lane_bytes();
            if !messages.is_empty() && bytes + more > self.call.usual {
                break;
            }
            bytes += more;
            messages.extend(self.messages.next());
        }
        let (number, first) = (self.number, self.first);
        self.number += 1;
        self.first += messages.len() as u64;
        let starts = starts(&messages);
        let failure = None;
        (!messages.is_empty()).then(|| Run {
            call: self.call,
            number,
            first,
            messages,
            starts,
            bytes,
            placed: Placed::default(),
            failure,
        })
    }
}

/// Where messages start in the data of a lane, one behind the other, and where the last one ends. A lead stands
/// between two, where the tag of the first one is until the second one is read.
fn starts(messages: &[SealedMessage<'_>]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(messages.len() + 1);
    let (mut text_end, mut end) = (0, 0_usize);
    for message in messages {
        let start = match message.lead.len() {
            0 => end,
            lead => (text_end + lead).next_multiple_of(BLOCK),
        };
        starts.push(start);
        (text_end, end) = (start + message.length, start + message.room());
    }
    starts.push(end);
    starts
}

/// Messages one behind the other.
struct Run<'a, 'm, E> {
    call: &'a Call<'a, E>,
    number: u64,
    /// The number of the first message.
    first: u64,
    messages: Vec<SealedMessage<'m>>,
    starts: Vec<usize>,
    /// Bytes of a lane that they take at most.
    bytes: usize,
    placed: Placed,
    /// Why nothing was started.
    failure: Option<E>,
}

/// Messages, by their numbers in a run, that lie one behind the other on the lane and outside.
struct Extents {
    lane: Range<usize>,
    outside: u64,
    messages: Range<usize>,
}

/// Where on its lane a run has data and results.
#[derive(Clone, Copy, Default)]
struct Placed {
    data_at: usize,
    results_at: usize,
}

impl<E: Send> Run<'_, '_, E> {
    /// Describes the messages, each in place on the lane; without the tags of those that are opened.
    fn describe(&self) -> Result<Description, Error> {
        let Call { family, outside, .. } = self.call;
        let mut tags = vec![[0; TAG]; self.messages.len()];
        let counters: Vec<_> = self.messages.iter().map(SealedMessage::counter).collect();
        let messages = self.messages.iter().zip(&self.starts).zip(tags.iter_mut().zip(&counters));
        let jobs: Vec<_> = messages
            .map(|((message, &start), (tag, counter))| {
                let SealedMessage { key, aad, length, .. } = *message;
                let iv = &message.iv[..];
                let mode = match (message.sealing, outside.direction()) {
                    (Sealing::Gcm, Direction::Encrypt) => JobMode::GcmEncrypt { iv, aad, tag },
                    (Sealing::Gcm, Direction::Decrypt) => JobMode::GcmDecrypt { iv, aad, tag },
                    (Sealing::Ctr, _) => JobMode::Ctr32 { counter },
                };
                DeviceJob { key, mode, input: start, output: start, length }
            })
            .collect();
        let device = self.call.device();
        let by_matrices = HashFamily::of(device.properties()) != HashFamily::Tables;
        let mut description = family.describe(family.cuts(device, by_matrices, &jobs)?, &jobs);
        match description.failures.pop() {
            Some(failure) => Err(Error::Data(failure.error)),
            None => Ok(description),
        }
    }

    /// Messages that lie one behind the other outside as well, where they are on the lane, and where outside.
    fn extents(&self) -> Vec<Extents> {
        let mut extents: Vec<Extents> = Vec::new();
        for (number, (message, &start)) in self.messages.iter().zip(&self.starts).enumerate() {
            let end = start + message.length + message.sealing.tag_bytes();
            match extents.last_mut() {
                Some(Extents { lane, outside, messages })
                    if lane.end == start
                        && message.lead.is_empty()
                        && outside.checked_add(lane.len() as u64) == Some(message.sealed_at) =>
                {
                    lane.end = end;
                    messages.end = number + 1;
                }
                _ => extents.push(Extents {
                    lane: start..end,
                    outside: message.sealed_at,
                    messages: number..number + 1,
                }),
            }
        }
        extents
    }

    /// Where the tag of a message lies in the lane's data; nowhere where it has none.
    fn tag(&self, number: usize) -> Option<Range<usize>> {
        let message =
            self.messages.get(number).filter(|message| message.sealing == Sealing::Gcm)?;
        let end = self.starts[number] + message.length;
        Some(end..end + TAG)
    }

    /// Reads ciphertexts and tags, and puts leads before them; whether the outside gave them.
    fn read(&mut self, read: Read<'_, E>, data: &mut [u8], description: &mut Description) -> bool {
        let mut extents = self.extents().into_iter();
        let filled = extents.try_for_each(|Extents { lane, outside, messages }| {
            // Behind the description of the message before, whose tag was read where the lead comes.
            let lead = self.messages[messages.start].lead;
            data[lane.start - lead.len()..lane.start].copy_from_slice(lead);
            read(&mut data[lane], outside)?;
            for number in messages {
                if let Some(tag) = self.tag(number) {
                    description.described.set_tag(number, &data[tag]);
                }
            }
            Ok(())
        });
        self.failure = filled.err();
        self.failure.is_none()
    }

    /// Queues all that is done with the lane's data, from `data` on.
    fn launch(
        &self,
        stream: &Stream,
        data: u64,
        parameters: Parameters,
        lists: &Lists,
        cuts: Cuts,
    ) -> Result<(), Error> {
        let Call { family, outside, .. } = self.call;
        let parameters = Parameters { input: data, output: data, ..parameters };
        let (device, program) = (self.call.device(), family.program);
        let launches = Launches { device, stream: stream.handle, program, cuts, parameters, lists };
        match outside.direction() {
            Direction::Encrypt => {
                self.start_rows(stream, data)?;
                launches.start()
            }
            Direction::Decrypt => {
                launches.start()?;
                self.start_rows(stream, data)
            }
        }
    }

    /// Queues copies between the lane's data, from `data` on, and the places of the plaintexts.
    fn start_rows(&self, stream: &Stream, data: u64) -> Result<(), Error> {
        let Call { plain, outside, .. } = self.call;
        let rows = rows_of(&self.messages, &self.starts);
        rows.into_iter().try_for_each(|(at, plain_at, rows)| {
            // All rows were checked to be inside; these are the ends of the first one.
            let (lane, place) = (data + at, plain.address() + plain_at);
            let Rows { from_pitch, to_pitch, .. } = rows;
            let (ends, rows) = match outside.direction() {
                Direction::Decrypt => ((lane, place), rows),
                Direction::Encrypt => {
                    ((place, lane), Rows { from_pitch: to_pitch, to_pitch: from_pitch, ..rows })
                }
            };
            copies::copy(self.call.device(), stream.handle, ends, rows)
        })
    }

    /// Checks that every plaintext lies inside the slice, and is a part of its message.
    fn check(&self) -> Result<(), Error> {
        self.messages.iter().try_for_each(
            |SealedMessage { length, part, plain_at, lead, .. }| {
                let is_part = part.start <= part.end && part.end <= *length;
                let is_whole = part.len() == *length;
                let is_sealed = self.call.outside.direction() == Direction::Encrypt;
                let lead_fits =
                    lead.is_empty() || is_whole && !is_sealed && lead.len() <= *plain_at;
                if !is_part || !is_whole && is_sealed || !lead_fits {
                    let (start, end, length) = (part.start, part.end, *length);
                    return Err(Error::Range { start, end, length });
                }
                let start = *plain_at - lead.len();
                self.call.plain.inside(start, lead.len() + part.len()).map(drop)
            },
        )
    }

    /// What becomes of the run once its lane has passed it.
    fn finish(&mut self, came_back: Result<&mut [u8], Error>) -> Result<(), TransferError<E>> {
        let pinned = came_back?;
        if let Some(error) = self.failure.take() {
            return Err(TransferError::Outside(error));
        }
        let Placed { data_at, results_at } = self.placed;
        pinned[..data_at].zeroize();
        let (before, results) = pinned.split_at_mut(results_at);
        let results = results.as_chunks::<RESULT_BYTES>().0.iter().take(self.messages.len());
        let data = &mut before[data_at..];
        let Outside::Write(write) = self.call.outside else {
            let mut numbered = results.enumerate();
            let wrong = numbered
                .find(|(number, result)| self.tag(*number).is_some() && result[0] != RIGHT)
                .map(|(number, _)| self.first + number as u64);
            return wrong.map_or(Ok(()), |message| Err(TransferError::NotAuthentic { message }));
        };
        for (number, result) in results.enumerate() {
            if let Some(tag) = self.tag(number) {
                data[tag].copy_from_slice(result);
            }
        }
        let mut extents = self.extents().into_iter();
        let written =
            extents.try_for_each(|Extents { lane, outside, .. }| write(&data[lane], outside));
        written.map_err(TransferError::Outside)
    }
}

/// Runs of equal rows, where the first one starts on the lane and in its place, by the distances between
/// messages: from the lane, and to their places. Messages that follow each other without a gap, on the lane and
/// in their places, are one row.
fn rows_of(messages: &[SealedMessage<'_>], starts: &[usize]) -> Vec<(u64, u64, Rows)> {
    let mut all: Vec<(u64, u64, Rows)> = Vec::new();
    for (message, start) in messages.iter().zip(starts) {
        let lead = message.lead.len();
        let at = (start + message.part.start - lead) as u64;
        let plain_at = (message.plain_at - lead) as u64;
        let width = (lead + message.part.len()) as u64;
        if let Some((first, place, rows)) = all.last_mut()
            && rows.count == 1
            && [at, plain_at] == [*first + rows.width, *place + rows.width]
        {
            rows.width += width;
            continue;
        }
        if let Some((first, place, rows)) = all.last_mut()
            && rows.width == width
            && at > *first
            && plain_at > *place
        {
            let distance = [at - *first, plain_at - *place];
            if rows.count == 1 {
                [rows.from_pitch, rows.to_pitch] = distance;
            }
            if distance == [rows.from_pitch, rows.to_pitch].map(|pitch| pitch * rows.count) {
                rows.count += 1;
                continue;
            }
        }
        all.push((at, plain_at, Rows::one(width)));
    }
    all
}

impl<E: Send> Piece for Run<'_, '_, E> {
    fn lane_bytes(&self) -> usize {
        self.bytes.max(self.call.usual)
    }

    fn start(&mut self, lane: &mut Lent<'_>) -> Result<(), Error> {
        self.check()?;
        let mut description = self.describe()?;
        let layout = description.layout();
        let data_at = layout.described_bytes();
        let made_at = data_at + self.starts.last().copied().unwrap_or(0);
        self.placed = Placed { data_at, results_at: made_at };
        let (up, down) = match self.call.outside {
            Outside::Write(_) => (data_at, data_at),
            Outside::Read(read) => {
                let data = &mut lane.memory()?[data_at..made_at];
                if !self.read(read, data, &mut description) {
                    return Ok(());
                }
                (made_at, made_at)
            }
        };
        let all = made_at + layout.made_bytes();
        let extent = Extent { up, down: down..made_at + layout.result_bytes(), all };
        let fill = |pinned: &mut [u8]| description.write(&mut pinned[..data_at]);
        lane.start(extent, fill, |stream, address| {
            let (parameters, lists) =
                layout.at(address, address + made_at as u64, &description.items);
            self.launch(stream, address + data_at as u64, parameters, &lists, description.cuts)
        })?;
        lane.clear(all)
    }

    fn end(mut self, came_back: Result<&mut [u8], Error>) {
        if let Err(error) = self.finish(came_back) {
            self.call.fail(self.number, error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: usize, plain_at: usize, lead: &[u8]) -> SealedMessage<'_> {
        let (key, sealing, aad) = (&[0; 16][..], Sealing::Gcm, &[][..]);
        let (iv, sealed_at, part) = ([0; 12], 0, 0..length);
        SealedMessage { key, sealing, iv, aad, lead, length, sealed_at, part, plain_at }
    }

    /// Messages with leads that fill what is between them are one copy, leads and all.
    #[test]
    fn what_has_no_gap_is_one_copy() {
        let leads = [[1; 20], [2; 20]];
        let messages = [
            message(100, 32, &leads[0][..9]),
            message(90, 32 + 112, &leads[1][..12]),
            message(90, 32 + 112 + 112, &leads[1][..12]),
        ];
        let starts = starts(&messages);
        assert_eq!(starts, [16, 128, 240, 352]);
        // The second lead ends behind a gap: 90 + 12 is no multiple of a block.
        let rows = rows_of(&messages, &starts);
        assert_eq!(rows[0], (7, 23, Rows::one(9 + 100 + 12 + 90)));
        assert_eq!(rows.len(), 2);
    }

    /// A copy for the first segment, one for all that are full, one for the last.
    #[test]
    fn equal_rows_are_one_copy() {
        let mut plain_at = 0;
        let messages = [72, 112, 112, 112, 112, 30].map(|length| {
            let message = message(length, plain_at, &[]);
            plain_at += length;
            message
        });
        let rows = rows_of(&messages, &starts(&messages));
        let full = Rows { from_pitch: 128, to_pitch: 112, width: 112, count: 4 };
        let last = (96 + 4 * 128, 72 + 4 * 112, Rows::one(30));
        assert_eq!(rows, [(0, 0, Rows::one(72)), (96, 72, full), last]);
    }
}
