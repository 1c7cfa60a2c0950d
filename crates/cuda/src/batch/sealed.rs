//! Messages of GCM that lie sealed outside, such as in a file, and plain on a device: runs of them pass side
//! by side, each on a lane.
//!
//! A lane's memory is that of a batch in host memory ([`super::host_memory`]), but only ciphertext passes the
//! bus, one way. The device moves plaintext by itself between the lane, where messages start at multiples of
//! a block, and the place where it belongs:
//!
//! ```text
//! open   read | up | keys, hash, decrypt | rows to their places
//! seal   rows from their places | keys, encrypt, hash | down | write
//! ```

use std::{
    iter::Peekable,
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanecrypt_core::{Direction, batch::JobMode};
use zeroize::Zeroize;

use super::{
    BLOCK, BatchFamily, Cuts, Description, DeviceJob, Launches, Layout, Lists, MOST_BYTES,
    Parameters, RESULT_BYTES, RIGHT,
};
use crate::{
    Device, DeviceSlice, DeviceSliceMut, Error, HashFamily, Stream, TransferError,
    launch::copies::{self, Rows},
    pipeline::{self, Crew, Extent, Lent, Piece},
};

/// Bytes of a tag.
const TAG: usize = 16;
/// The most bytes of a lane, where no message needs more.
const LONGEST_RUN: usize = 16 << 20;

/// A message of GCM without associated data that lies sealed outside of a device, with a tag of 16 bytes
/// behind its ciphertext, and plain on it.
#[derive(Clone, Debug)]
pub struct SealedMessage {
    /// Its IV.
    pub iv: [u8; 12],
    /// Bytes of its plaintext.
    pub length: usize,
    /// Where the ciphertext starts outside.
    pub sealed_at: u64,
    /// Which bytes of its plaintext lie on the device: all of them, unless it is opened.
    pub part: Range<usize>,
    /// Where these start in the slice on the device; at any multiple.
    pub plain_at: usize,
}

impl SealedMessage {
    /// Bytes of a lane that its text and its tag take.
    fn room(&self) -> usize {
        (self.length + TAG).next_multiple_of(BLOCK)
    }

    /// At least the bytes of a lane that all of it takes.
    fn lane_bytes(&self) -> usize {
        let mode = JobMode::GcmDecrypt { iv: &self.iv, aad: &[], tag: &[0; TAG] };
        self.room().saturating_add(Layout::most_of_job(&mode, self.length))
    }
}

/// What reads `buffer` from a place outside, and what writes there; by any thread.
type Read<'a, E> = &'a (dyn Fn(&mut [u8], u64) -> Result<(), E> + Sync);
type Write<'a, E> = &'a (dyn Fn(&[u8], u64) -> Result<(), E> + Sync);

impl BatchFamily {
    /// Opens messages under one key into `output`. `read` fills a buffer with what lies outside from a place
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
    pub fn open_to_device<E: Send>(
        &self,
        key: &[u8],
        messages: impl Iterator<Item = SealedMessage> + Send,
        output: &mut DeviceSliceMut<'_>,
        read: impl Fn(&mut [u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        let output = output.as_slice();
        Call::new(self, key, &output, Outside::Read(&read))?.run(messages)
    }

    /// Seals messages of `input` under one key. `write` writes bytes outside from a place on, ciphertext and
    /// tags of one message or of several; several threads call it.
    /// [`Limits`](crate::Limits) bounds them and the memory that is taken, beside `input`.
    ///
    /// An IV must never be used twice under one key.
    ///
    /// # Errors
    /// As [`open_to_device`](Self::open_to_device), but that every message is authentic: nothing of what was
    /// written is to be used then.
    pub fn seal_from_device<E: Send>(
        &self,
        key: &[u8],
        messages: impl Iterator<Item = SealedMessage> + Send,
        input: &DeviceSlice<'_>,
        write: impl Fn(&[u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        Call::new(self, key, input, Outside::Write(&write))?.run(messages)
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
    key: &'a [u8],
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
        key: &'a [u8],
        plain: &'a DeviceSlice<'a>,
        outside: Outside<'a, E>,
    ) -> Result<Self, Error> {
        let device = plain.device();
        family.require(device)?;
        family.cipher.check_key(key).map_err(Error::Data)?;
        let crew = Crew::most(device);
        let usual = crew.share_of(plain.len(), LONGEST_RUN).min(crew.room(device));
        let crew = crew.for_pieces(plain.len().div_ceil(usual).max(1));
        Ok(Self { family, key, plain, outside, crew, usual, failure: Mutex::default() })
    }

    fn device(&self) -> &Device {
        self.plain.device()
    }

    fn run(
        self,
        messages: impl Iterator<Item = SealedMessage> + Send,
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
struct Runs<'a, E, I: Iterator<Item = SealedMessage>> {
    call: &'a Call<'a, E>,
    messages: Peekable<I>,
    number: u64,
    /// The number of the next message.
    first: u64,
}

impl<'a, E: Send, I: Iterator<Item = SealedMessage>> Iterator for Runs<'a, E, I> {
    type Item = Run<'a, E>;

    /// After a failure none is started any more.
    fn next(&mut self) -> Option<Run<'a, E>> {
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

/// Where messages start in the data of a lane, one behind the other, and where the last one ends.
fn starts(messages: &[SealedMessage]) -> Vec<usize> {
    let mut end = 0;
    let mut starts = vec![0];
    starts.extend(messages.iter().map(|message| {
        end += message.room();
        end
    }));
    starts
}

/// Messages one behind the other.
struct Run<'a, E> {
    call: &'a Call<'a, E>,
    number: u64,
    /// The number of the first message.
    first: u64,
    messages: Vec<SealedMessage>,
    starts: Vec<usize>,
    /// Bytes of a lane that they take at most.
    bytes: usize,
    placed: Placed,
    /// Why nothing was started.
    failure: Option<E>,
}

/// Where on its lane a run has data and results.
#[derive(Clone, Copy, Default)]
struct Placed {
    data_at: usize,
    results_at: usize,
}

impl<E: Send> Run<'_, E> {
    /// Describes the messages, each in place on the lane; without the tags of those that are opened.
    fn describe(&self) -> Result<Description, Error> {
        let Call { family, key, outside, .. } = self.call;
        let mut tags = vec![[0; TAG]; self.messages.len()];
        let messages = self.messages.iter().zip(&self.starts).zip(&mut tags);
        let jobs: Vec<_> = messages
            .map(|((message, &start), tag)| {
                let (iv, aad) = (&message.iv[..], &[][..]);
                let mode = match outside.direction() {
                    Direction::Encrypt => JobMode::GcmEncrypt { iv, aad, tag },
                    Direction::Decrypt => JobMode::GcmDecrypt { iv, aad, tag },
                };
                DeviceJob { key, mode, input: start, output: start, length: message.length }
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

    /// Parts of the lane's data that lie one behind the other outside as well, and where there.
    fn extents(&self) -> Vec<(Range<usize>, u64)> {
        let mut extents: Vec<(Range<usize>, u64)> = Vec::new();
        for (message, &start) in self.messages.iter().zip(&self.starts) {
            let end = start + message.length + TAG;
            match extents.last_mut() {
                Some((range, at))
                    if range.end == start
                        && at.checked_add(range.len() as u64) == Some(message.sealed_at) =>
                {
                    range.end = end;
                }
                _ => extents.push((start..end, message.sealed_at)),
            }
        }
        extents
    }

    /// Where the tag of each message lies in the lane's data.
    fn tags(&self) -> impl Iterator<Item = Range<usize>> {
        self.messages.iter().zip(&self.starts).map(|(message, start)| {
            let end = start + message.length;
            end..end + TAG
        })
    }

    /// Reads ciphertexts and tags; whether the outside gave them.
    fn read(&mut self, read: Read<'_, E>, data: &mut [u8], description: &mut Description) -> bool {
        let mut extents = self.extents().into_iter();
        let filled = extents.try_for_each(|(range, at)| read(&mut data[range], at));
        for (job, tag) in self.tags().enumerate() {
            description.described.set_tag(job, &data[tag]);
        }
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
        self.messages.iter().try_for_each(|SealedMessage { length, part, plain_at, .. }| {
            let is_part = part.start <= part.end && part.end <= *length;
            let is_whole = part.len() == *length;
            if !is_part || !is_whole && self.call.outside.direction() == Direction::Encrypt {
                let (start, end, length) = (part.start, part.end, *length);
                return Err(Error::Range { start, end, length });
            }
            self.call.plain.inside(*plain_at, part.len()).map(drop)
        })
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
            let wrong = results.zip(self.first..).find(|(result, _)| result[0] != RIGHT);
            return wrong
                .map_or(Ok(()), |(_, message)| Err(TransferError::NotAuthentic { message }));
        };
        for (tag, result) in self.tags().zip(results) {
            data[tag].copy_from_slice(result);
        }
        let mut extents = self.extents().into_iter();
        let written = extents.try_for_each(|(range, at)| write(&data[range], at));
        written.map_err(TransferError::Outside)
    }
}

/// Runs of equal rows, where the first one starts on the lane and in its place, by the distances between
/// messages: from the lane, and to their places.
fn rows_of(messages: &[SealedMessage], starts: &[usize]) -> Vec<(u64, u64, Rows)> {
    let mut all: Vec<(u64, u64, Rows)> = Vec::new();
    for (message, start) in messages.iter().zip(starts) {
        let (at, plain_at) = ((start + message.part.start) as u64, message.plain_at as u64);
        let width = message.part.len() as u64;
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

impl<E: Send> Piece for Run<'_, E> {
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

    /// A copy for the first segment, one for all that are full, one for the last.
    #[test]
    fn equal_rows_are_one_copy() {
        let mut plain_at = 0;
        let messages = [72, 112, 112, 112, 112, 30].map(|length| {
            let message =
                SealedMessage { iv: [0; 12], length, sealed_at: 0, part: 0..length, plain_at };
            plain_at += length;
            message
        });
        let rows = rows_of(&messages, &starts(&messages));
        let full = Rows { from_pitch: 128, to_pitch: 112, width: 112, count: 4 };
        let last = (96 + 4 * 128, 72 + 4 * 112, Rows::one(30));
        assert_eq!(rows, [(0, 0, Rows::one(72)), (96, 72, full), last]);
    }
}
