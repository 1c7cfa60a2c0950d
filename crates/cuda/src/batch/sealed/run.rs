//! A run: messages that pass a lane together.

use std::{mem, ops::Range, ptr::NonNull, sync::PoisonError};

use lanecrypt_core::{Direction, batch::JobMode, clear_bytes};

use super::{
    call::Call,
    message::{SealedMessage, Sealing, TAG},
    outside::{Awaited, Outside, Read},
    regions::is_aligned,
};
use crate::{
    Error, Stream, TransferError,
    batch::{
        Cuts, Launches, Lists, Message, Parameters, RESULT_BYTES, RIGHT, plan::Plan, words::BLOCK,
    },
    launch::copies::{self, Part, Rows, rows_of},
    pipeline::{Extent, Lent, Piece},
};

/// The most copies by which a run goes straight to the caller's memory: more take longer than the host does.
const MOST_COPIES: usize = 32;

/// Where messages start in the data of a lane, one behind the other, and where the last one ends.
fn starts(messages: &[SealedMessage<'_>], direction: Direction) -> Vec<usize> {
    let mut starts = Vec::with_capacity(messages.len() + 1);
    let (mut text_end, mut end) = (0, 0_usize);
    for message in messages {
        let start = message.start(direction, text_end, end);
        starts.push(start);
        (text_end, end) = (start + message.length, start + message.room());
    }
    starts.push(end);
    starts
}

/// Messages one behind the other.
pub(super) struct Run<'a, 'm, E> {
    call: &'a Call<'a, E>,
    number: u64,
    /// The number of the first message.
    first: u64,
    messages: Vec<SealedMessage<'m>>,
    starts: Vec<usize>,
    /// Bytes of a lane that they take at most.
    bytes: usize,
    placed: Placed,
    /// Where kernels reach the plaintexts of all messages; nothing where these are copied.
    places: Option<Vec<u64>>,
    /// The caller's memory that its extents go to, where that is memory.
    targets: Vec<&'a mut [u8]>,
    /// Why nothing was started.
    failure: Option<E>,
    awaited: Awaited<'a>,
}

/// Messages, by their numbers in a run, that lie one behind the other on the lane and outside.
pub(super) struct Extents {
    pub(super) lane: Range<usize>,
    pub(super) outside: u64,
    messages: Range<usize>,
}

/// Where on its lane a run has data and results.
#[derive(Clone, Copy, Default)]
struct Placed {
    data_at: usize,
    results_at: usize,
}

impl<'a, 'm, E: Send> Run<'a, 'm, E> {
    /// The run of this number, of messages of which the first has the number `first`, and which take
    /// `bytes` bytes of a lane at most.
    pub(super) fn new(
        call: &'a Call<'a, E>,
        [number, first]: [u64; 2],
        messages: Vec<SealedMessage<'m>>,
        bytes: usize,
    ) -> Self {
        Self {
            call,
            number,
            first,
            starts: starts(&messages, call.outside.direction()),
            messages,
            bytes,
            placed: Placed::default(),
            places: None,
            targets: Vec::new(),
            failure: None,
            awaited: call.outside.awaited(),
        }
    }

    /// Where its extents go to, in memory of the caller's.
    pub(super) fn set_targets(&mut self, targets: Vec<&'a mut [u8]>) {
        self.targets = targets;
    }

    /// Checks the messages and cuts them.
    fn plan(&self) -> Result<Plan, Error> {
        let counters = self.counters();
        let mut tags = self.no_tags();
        let modes = self.modes(&counters, &mut tags);
        let mut plan = self.call.family.plan_for(self.call.device(), self.described(&modes))?;
        match plan.failures.pop() {
            Some(failure) => Err(Error::Data(failure.error)),
            None => Ok(plan),
        }
    }

    /// Describes the messages, each in place on the lane; `tags` are those of messages that are opened.
    fn write(&self, plan: &Plan, to: &mut [u8], tags: &mut [[u8; TAG]]) {
        let counters = self.counters();
        let modes = self.modes(&counters, tags);
        let messages: Vec<_> = self.described(&modes).collect();
        plan.write(to, |_, number| {
            let start = self.starts[number];
            let place = self.places.as_ref().map(|places| (places[number] - self.base()) as usize);
            let places = match self.call.outside.direction() {
                Direction::Encrypt => [place.unwrap_or(start), start],
                Direction::Decrypt => [start, place.unwrap_or(start)],
            };
            (messages[number], places)
        });
    }

    /// The messages as they are described.
    fn described<'s>(
        &'s self,
        modes: &'s [JobMode<'s>],
    ) -> impl ExactSizeIterator<Item = Message<'s>> + Clone {
        let describe = |(message, mode): (&'s SealedMessage<'m>, _)| Message {
            key: message.key,
            mode,
            length: message.length,
        };
        self.messages.iter().zip(modes).map(describe)
    }

    /// What is done with every message.
    fn modes<'s>(
        &'s self,
        counters: &'s [[u8; BLOCK]],
        tags: &'s mut [[u8; TAG]],
    ) -> Vec<JobMode<'s>> {
        let direction = self.call.outside.direction();
        let messages = self.messages.iter().zip(counters).zip(tags);
        let mode = |((message, counter), tag): (
            (&'s SealedMessage<'m>, &'s [u8; BLOCK]),
            &'s mut [u8; TAG],
        )| {
            let (iv, aad) = (&message.iv[..], message.aad);
            match (message.sealing, direction) {
                (Sealing::Gcm, Direction::Encrypt) => JobMode::GcmEncrypt { iv, aad, tag },
                (Sealing::Gcm, Direction::Decrypt) => JobMode::GcmDecrypt { iv, aad, tag },
                (Sealing::Ctr, _) => JobMode::Ctr32 { counter },
            }
        };
        messages.map(mode).collect()
    }

    /// The first counters of messages in CTR.
    fn counters(&self) -> Vec<[u8; BLOCK]> {
        self.messages.iter().map(SealedMessage::counter).collect()
    }

    /// Room for a tag of every message.
    fn no_tags(&self) -> Vec<[u8; TAG]> {
        vec![[0; TAG]; self.messages.len()]
    }

    /// Messages that lie one behind the other outside as well, where they are on the lane, and where outside; leads
    /// of those that are sealed among them.
    pub(super) fn extents(&self) -> Vec<Extents> {
        let mut extents: Vec<Extents> = Vec::new();
        let is_sealed = self.call.outside.direction() == Direction::Encrypt;
        for (number, (message, &start)) in self.messages.iter().zip(&self.starts).enumerate() {
            let end = start + message.length + message.sealing.tag_bytes();
            let lead = if is_sealed { message.lead.len() } else { 0 };
            let (start, sealed_at) = (start - lead, message.sealed_at - lead as u64);
            match extents.last_mut() {
                Some(Extents { lane, outside, messages })
                    if lane.end == start
                        && (is_sealed || message.lead.is_empty())
                        && outside.checked_add(lane.len() as u64) == Some(sealed_at) =>
                {
                    lane.end = end;
                    messages.end = number + 1;
                }
                _ => extents.push(Extents {
                    lane: start..end,
                    outside: sealed_at,
                    messages: number..number + 1,
                }),
            }
        }
        extents
    }

    /// Where the plaintexts of all messages are, if kernels reach each of them.
    fn places(&self) -> Result<Option<Vec<u64>>, Error> {
        let is_sealed = self.call.outside.direction() == Direction::Encrypt;
        let mut places = Vec::with_capacity(self.messages.len());
        for (number, message) in (self.first..).zip(&self.messages) {
            let SealedMessage { part, length, plain_at, lead, .. } = message;
            let place = self.call.plain.address(number, *plain_at, part.len())?;
            let is_alone = is_sealed || lead.is_empty();
            if part.len() != *length || !is_alone || *length > 0 && !is_aligned(place) {
                return Ok(None);
            }
            places.push(place);
        }
        // What is empty lies anywhere: where others do.
        let some = self.messages.iter().zip(&places).find(|(message, _)| message.length > 0);
        let some = some.map_or(0, |(_, &place)| place);
        for (message, place) in self.messages.iter().zip(&mut places) {
            if message.length == 0 {
                *place = some;
            }
        }
        Ok(Some(places))
    }

    /// The address from which on kernels count the places of plaintexts.
    fn base(&self) -> u64 {
        self.places.iter().flatten().copied().min().unwrap_or(0)
    }

    /// Where the tag of a message lies in the lane's data; nowhere where it has none.
    fn tag(&self, number: usize) -> Option<Range<usize>> {
        let message =
            self.messages.get(number).filter(|message| message.sealing == Sealing::Gcm)?;
        let end = self.starts[number] + message.length;
        Some(end..end + TAG)
    }

    /// Reads ciphertexts and tags, takes the tags, and puts leads before them; whether the outside gave them.
    fn read(&mut self, read: Read<'_, E>, data: &mut [u8], tags: &mut [[u8; TAG]]) -> bool {
        let mut extents = self.extents().into_iter();
        let filled = extents.try_for_each(|Extents { lane, outside, messages }| {
            // After the tag of the message before was taken, which was read where the lead comes.
            let lead = self.messages[messages.start].lead;
            data[lane.start - lead.len()..lane.start].copy_from_slice(lead);
            read(&mut data[lane], outside)?;
            for number in messages {
                if let Some(tag) = self.tag(number) {
                    tags[number].copy_from_slice(&data[tag]);
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
        let is_direct = self.places.is_some();
        let plain = if is_direct { self.base() } else { data };
        let [input, output] = match outside.direction() {
            Direction::Encrypt => [plain, data],
            Direction::Decrypt => [data, plain],
        };
        let parameters = Parameters { input, output, ..parameters };
        let (device, program) = (self.call.device(), family.program);
        let launches = Launches { device, stream: stream.handle, program, cuts, parameters, lists };
        match outside.direction() {
            _ if is_direct => launches.start(),
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
        let mut parts = Vec::with_capacity(self.messages.len());
        for (number, (message, start)) in (self.first..).zip(self.messages.iter().zip(&self.starts))
        {
            let lead = match outside.direction() {
                Direction::Decrypt => message.lead.len(),
                Direction::Encrypt => 0,
            };
            let width = lead + message.part.len();
            parts.push(Part {
                from: data + (start + message.part.start - lead) as u64,
                to: plain.address(number, message.plain_at - lead, width)?,
                width: width as u64,
            });
        }
        rows_of(&parts).into_iter().try_for_each(|(lane, place, rows)| {
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
    pub(super) fn check(&self) -> Result<(), Error> {
        let is_sealed = self.call.outside.direction() == Direction::Encrypt;
        for (number, message) in (self.first..).zip(&self.messages) {
            let SealedMessage { length, part, plain_at, lead, sealed_at, .. } = message;
            let is_part = part.start <= part.end && part.end <= *length;
            let is_whole = part.len() == *length;
            let lead_fits = match lead.len() {
                0 => true,
                lead if is_sealed => lead as u64 <= *sealed_at,
                lead => is_whole && lead <= *plain_at,
            };
            if !is_part || !is_whole && is_sealed || !lead_fits {
                let (start, end, length) = (part.start, part.end, *length);
                return Err(Error::Range { start, end, length });
            }
            let lead = if is_sealed { 0 } else { lead.len() };
            self.call.plain.address(number, *plain_at - lead, lead + part.len())?;
        }
        Ok(())
    }

    /// What becomes of the run once its lane has passed it.
    fn finish(&mut self, came_back: Result<&mut [u8], Error>) -> Result<(), TransferError<E>> {
        let pinned = came_back?;
        if let Some(error) = self.failure.take() {
            return Err(TransferError::Outside(error));
        }
        let Placed { data_at, results_at } = self.placed;
        clear_bytes(&mut pinned[..data_at]);
        let (before, results) = pinned.split_at_mut(results_at);
        let results = &results.as_chunks::<RESULT_BYTES>().0[..self.messages.len()];
        let data = &mut before[data_at..];
        match &self.call.outside {
            Outside::Read(_) => self.judge(results),
            Outside::Write(write) => {
                self.put_beside(data, 0, 0..self.messages.len(), results);
                let mut extents = self.extents().into_iter();
                let written = extents
                    .try_for_each(|Extents { lane, outside, .. }| write(&data[lane], outside));
                written.map_err(TransferError::Outside)
            }
            Outside::InOrder(in_order) => {
                self.put_beside(data, 0, 0..self.messages.len(), results);
                let extents = self.extents();
                let pieces = extents.into_iter().map(|extent| &data[extent.lane]);
                in_order.write(self.number, pieces).map_err(TransferError::Outside)
            }
            Outside::Memory { told, .. } => {
                let extents = self.extents();
                let is_there = self.goes_straight(&extents);
                for (Extents { lane, messages, outside }, target) in
                    extents.into_iter().zip(mem::take(&mut self.targets))
                {
                    if !is_there {
                        target.copy_from_slice(&data[lane.clone()]);
                    }
                    self.put_beside(target, lane.start, messages, results);
                    let complete = outside..outside + lane.len() as u64;
                    told(complete).map_err(TransferError::Outside)?;
                }
                Ok(())
            }
        }
    }

    /// Names messages whose tags are wrong.
    fn judge(&self, results: &[[u8; RESULT_BYTES]]) -> Result<(), TransferError<E>> {
        let is_wrong = |&(number, result): &(usize, &[u8; RESULT_BYTES])| {
            self.tag(number).is_some() && result[0] != RIGHT
        };
        let wrong = results.iter().enumerate().filter(is_wrong);
        let mut wrong = wrong.map(|(number, _)| self.first + number as u64);
        if let Some(all) = self.call.wrong {
            all.lock().unwrap_or_else(PoisonError::into_inner).extend(wrong);
            return Ok(());
        }
        wrong.next().map_or(Ok(()), |message| Err(TransferError::NotAuthentic { message }))
    }

    /// Puts tags behind messages, and leads before them, in data that starts at `at` of the lane's.
    fn put_beside(
        &self,
        data: &mut [u8],
        at: usize,
        messages: Range<usize>,
        results: &[[u8; RESULT_BYTES]],
    ) {
        for number in messages {
            if let Some(tag) = self.tag(number) {
                data[tag.start - at..tag.end - at].copy_from_slice(&results[number]);
            }
            let (lead, end) = (self.messages[number].lead, self.starts[number] - at);
            data[end - lead.len()..end].copy_from_slice(lead);
        }
    }

    /// What the device copies to the caller's memory by itself, from places of a lane whose data starts at `data_at`.
    fn copies(&mut self, data_at: usize) -> Vec<(usize, NonNull<[u8]>)> {
        let extents = self.extents();
        if !self.goes_straight(&extents) {
            return Vec::new();
        }
        let targets = self.targets.iter_mut().map(|target| NonNull::from(&mut **target));
        extents.into_iter().map(|extent| data_at + extent.lane.start).zip(targets).collect()
    }

    /// Whether the device copies the run to where it goes by itself.
    fn goes_straight(&self, extents: &[Extents]) -> bool {
        matches!(self.call.outside, Outside::Memory { is_pinned: true, .. })
            && extents.len() <= MOST_COPIES
    }
}

impl<E: Send> Piece for Run<'_, '_, E> {
    fn lane_bytes(&self) -> usize {
        self.bytes.max(self.call.usual)
    }

    fn start(&mut self, lane: &mut Lent<'_>) -> Result<(), Error> {
        self.places = self.places()?;
        let plan = self.plan()?;
        let mut tags = self.no_tags();
        let layout = plan.layout();
        let data_at = layout.described_bytes();
        let made_at = data_at + self.starts.last().copied().unwrap_or(0);
        self.placed = Placed { data_at, results_at: made_at };
        let mut up = data_at;
        if let Outside::Read(read) = self.call.outside {
            let data = &mut lane.memory()?[data_at..made_at];
            if !self.read(read, data, &mut tags) {
                return Ok(());
            }
            up = made_at;
        }
        let copies = self.copies(data_at);
        let is_elsewhere = up == made_at || !copies.is_empty();
        let down = if is_elsewhere { made_at } else { data_at };
        let all = made_at + layout.made_bytes();
        let extent = Extent { up, down: down..made_at + layout.result_bytes(), all };
        let fill = |pinned: &mut [u8]| self.write(&plan, &mut pinned[..data_at], &mut tags);
        let work = |stream: &Stream, address| {
            let (parameters, lists) = layout.at(address, address + made_at as u64, &plan.items);
            self.launch(stream, address + data_at as u64, parameters, &lists, plan.cuts)
        };
        // SAFETY: the memory is the run's alone, whose `finish` uses it when the lane was waited for. A run that does
        // not get there is dropped together with its lane, and `pass` does not return before.
        unsafe { lane.start_with_copies(extent, fill, work, [&[], &copies]) }?;
        lane.clear(all)
    }

    fn end(mut self, came_back: Result<&mut [u8], Error>) {
        match self.finish(came_back) {
            Ok(()) => self.awaited.end(),
            Err(error) => self.call.fail(self.number, error),
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

    /// From a lane and a slice that both start at 0.
    fn parts(messages: &[SealedMessage<'_>], starts: &[usize]) -> Vec<Part> {
        let part = |(message, start): (&SealedMessage<'_>, &usize)| Part {
            from: (start - message.lead.len()) as u64,
            to: (message.plain_at - message.lead.len()) as u64,
            width: (message.lead.len() + message.length) as u64,
        };
        messages.iter().zip(starts).map(part).collect()
    }

    /// Leads of messages that are sealed come behind the tags of those before.
    #[test]
    fn what_is_sealed_with_leads_has_no_gap() {
        let messages = [64, 32, 5, 0].map(|length| message(length, 0, &[7; 32]));
        let starts = starts(&messages, Direction::Encrypt);
        assert_eq!(starts, [32, 32 + 64 + 48, 144 + 32 + 48, 288, 304]);
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
        let starts = starts(&messages, Direction::Decrypt);
        assert_eq!(starts, [16, 128, 240, 352]);
        // The second lead ends behind a gap: 90 + 12 is no multiple of a block.
        let rows = rows_of(&parts(&messages, &starts));
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
        let rows = rows_of(&parts(&messages, &starts(&messages, Direction::Decrypt)));
        let full = Rows { from_pitch: 128, to_pitch: 112, width: 112, count: 4 };
        let last = (96 + 4 * 128, 72 + 4 * 112, Rows::one(30));
        assert_eq!(rows, [(0, 0, Rows::one(72)), (96, 72, full), last]);
    }
}
