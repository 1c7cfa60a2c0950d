//! XTS (IEEE 1619) on the device: many data units in one call, and one unit from a mask on.

use cipher::InOutBuf;
use lanecrypt_core::{Direction, Mode};
use lanecrypt_kernels::{Task, modes};

use crate::{
    Device, DeviceInOut, Engine, Error, Family, Pending, Stream,
    device::{buffer::MAX_BLOCK, stream_memory::SCRATCH_SHARE},
    engine::on_stream::OnStream,
    launch::{
        copies::Rows,
        operation::{Start, Work},
        parameters::Header,
    },
    pipeline::{self, Cut},
};

/// Bytes of a block, which XTS is defined for.
const BLOCK: usize = MAX_BLOCK;

/// How data is cut into data units: pieces of equal length, but for the last, with consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataUnits {
    /// Bytes of a unit, 16 at least. Where it is no multiple of 16 every unit ends by ciphertext
    /// stealing, and units are copied to where blocks can be read.
    pub bytes: usize,
    /// The number of the first one; numbers wrap after 2^128 - 1.
    pub first: u128,
}

impl DataUnits {
    /// Checks that `length` bytes are whole units, the last of which may be shorter but has a block.
    pub(crate) fn check(self, length: usize) -> Result<(), Error> {
        let short =
            |given| Err(Error::Data(lanecrypt_core::Error::DataUnitLength { given, block: BLOCK }));
        match length % self.bytes.max(1) {
            _ if self.bytes < BLOCK => short(self.bytes),
            rest @ 1..BLOCK => short(rest),
            _ => Ok(()),
        }
    }
}

impl Family {
    /// XTS under two keys of equal lengths that the cipher takes, one after the other: that of the
    /// data, then that of the tweaks. IEEE 1619 wants them to be independent; that is not checked.
    ///
    /// # Errors
    /// Those of [`Family::engine`]; [`Error::Data`] for ciphers of other than 128-bit blocks, and for
    /// keys that are no pair.
    pub fn xts_engine(&self, device: &Device, keys: &[u8]) -> Result<XtsEngine, Error> {
        let given = self.cipher().block_bytes;
        if given != BLOCK {
            return Err(Error::Data(lanecrypt_core::Error::BlockLength { mode: Mode::Xts, given }));
        }
        let (data, tweak) = keys.split_at(keys.len() / 2);
        Ok(XtsEngine { data: self.engine(device, data)?, tweak: self.engine(device, tweak)? })
    }
}

/// A cipher under the two keys of XTS on one device.
#[derive(Debug)]
pub struct XtsEngine {
    data: Engine,
    tweak: Engine,
}

/// Data units of one length that lie one behind the other on the device.
#[derive(Clone, Copy, Debug)]
struct Span {
    input: u64,
    output: u64,
    /// Bytes of a unit.
    unit: u64,
    count: u64,
}

impl Span {
    /// Blocks of a unit that are run as they are: with stealing, all but the last whole one.
    fn plain_blocks(self) -> u64 {
        self.unit / BLOCK as u64 - u64::from(self.steals())
    }

    fn steals(self) -> bool {
        !self.unit.is_multiple_of(BLOCK as u64)
    }

    /// Whether the plain blocks of all units can be read where they are.
    fn is_in_place(self) -> bool {
        let is_aligned = (self.input | self.output).is_multiple_of(BLOCK as u64);
        is_aligned && (self.count == 1 || !self.steals())
    }

    /// Bytes of scratch memory for a unit: its mask, and where it steals two blocks, room to exchange
    /// them, another mask, and the rest of it.
    fn scratch_bytes(self) -> u64 {
        let stealing = if self.steals() { 4 * BLOCK as u64 } else { 0 };
        let copied = if self.is_in_place() { 0 } else { self.plain_blocks() * BLOCK as u64 };
        BLOCK as u64 + stealing + copied
    }

    fn rows(self, from_pitch: u64, to_pitch: u64, width: u64) -> Rows {
        Rows { from_pitch, to_pitch, width, count: self.count }
    }
}

impl XtsEngine {
    /// The engine under the data's key.
    #[must_use]
    pub fn data_engine(&self) -> &Engine {
        &self.data
    }

    /// As [`Engine::limit_chunk`]. A sixteenth of it is what masks, and copies of units that are no
    /// multiple of 16 bytes, may take of the device at once; what a single unit needs, it takes.
    pub fn limit_chunk(&self, bytes: usize) {
        self.data.limit_chunk(bytes);
    }

    /// Runs XTS over data on this engine's device, in place or from one slice to another. Returns as soon as
    /// the kernels are queued; reading the output waits for them.
    ///
    /// # Errors
    /// [`Error::Data`] for units, or a last unit, of less than 16 bytes and for unequal lengths;
    /// [`Error::OtherDevice`]; driver errors, after which the output is unspecified.
    pub fn run<'d>(
        &self,
        direction: Direction,
        units: DataUnits,
        data: impl Into<DeviceInOut<'d>>,
    ) -> Result<(), Error> {
        let data = data.into();
        data.require_device(self.data.device())?;
        units.check(data.len())?;
        let stream = &self.data.default_stream;
        self.pair().run_all(stream, direction, units, data.ends(), data.len())
    }

    /// As [`run`](Self::run), on a stream: see [`Engine::queue`].
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::OtherDevice`] for a stream of another device. Nothing is
    /// running any more then.
    pub fn queue<'b>(
        &self,
        stream: &'b Stream,
        direction: Direction,
        units: DataUnits,
        data: impl Into<DeviceInOut<'b>>,
    ) -> Result<Pending<'b>, Error> {
        let data = data.into();
        data.require_device(self.data.device())?;
        stream.require_device(self.data.device())?;
        units.check(data.len())?;
        let run = || self.pair().run_all(stream, direction, units, data.ends(), data.len());
        let queued = stream.begin().and_then(|()| run());
        stream.pending(queued)
    }

    /// Runs XTS over host memory of any size, whole units at a time through memory of the device;
    /// units that are longer than [`limit_chunk`](Self::limit_chunk) lets be there go in parts.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_host_memory(
        &self,
        direction: Direction,
        units: DataUnits,
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        units.check(data.len())?;
        let most = self.data.chunk_limit.get();
        if units.bytes > Cut::most(most) {
            return unit_by_unit(units, data, |tweak, unit| {
                lanecrypt_core::modes::xts(&self.data, &self.tweak, tweak, direction, unit)
            })
            .map_err(|(_, error)| Error::Data(error));
        }
        let cut = Cut::new(self.data.device(), &mut data, most, units.bytes);
        self.pair().run_cut(direction, units, data, cut)
    }

    fn pair(&self) -> Pair<'_> {
        Pair { data: &self.data, tweak: &self.tweak }
    }
}

/// Runs units one by one, each with its tweak. An error comes with the number of bytes before its unit.
pub(crate) fn unit_by_unit(
    units: DataUnits,
    data: InOutBuf<'_, '_, u8>,
    mut run: impl FnMut(&[u8], InOutBuf<'_, '_, u8>) -> Result<(), lanecrypt_core::Error>,
) -> Result<(), (usize, lanecrypt_core::Error)> {
    let (mut number, mut before, mut rest) = (units.first, 0, data);
    while !rest.is_empty() {
        let length = units.bytes.min(rest.len());
        let (unit, after) = rest.split_at(length);
        run(&number.to_le_bytes(), unit).map_err(|error| (before, error))?;
        (number, before, rest) = (number.wrapping_add(1), before + length, after);
    }
    Ok(())
}

/// Engines of one device under the two keys of XTS.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) data: &'a Engine,
    pub(crate) tweak: &'a Engine,
}

impl Pair<'_> {
    /// Runs units over host memory, which is cut into whole ones.
    pub(crate) fn run_cut(
        self,
        direction: Direction,
        units: DataUnits,
        data: InOutBuf<'_, '_, u8>,
        cut: Cut,
    ) -> Result<(), Error> {
        let device = self.data.device();
        let at_once = cut.bytes / units.bytes;
        pipeline::run(device, data, cut, BLOCK, |stream, address, piece, length| {
            let first = units.first.wrapping_add((piece * at_once) as u128);
            let units = DataUnits { first, ..units };
            self.run_all(stream, direction, units, (address, address), length)
        })
    }

    /// Runs units that were checked, as many at once as the scratch memory has room for; the last one
    /// by itself where it is shorter.
    pub(crate) fn run_all(
        self,
        stream: &Stream,
        direction: Direction,
        units: DataUnits,
        (mut input, mut output): (u64, u64),
        length: usize,
    ) -> Result<(), Error> {
        let room = (self.data.chunk_limit.get() / SCRATCH_SHARE) as u64;
        let (mut rest, mut number) = (length as u64, units.first);
        while rest > 0 {
            let unit = rest.min(units.bytes as u64);
            let all = Span { input, output, unit, count: rest / unit };
            let count = all.count.min(room / all.scratch_bytes()).max(1);
            self.run_units(stream, direction, Span { count, ..all }, number)?;
            number = number.wrapping_add(u128::from(count));
            (input, output, rest) =
                (input + count * unit, output + count * unit, rest - count * unit);
        }
        Ok(())
    }

    /// Makes the first masks of units of one length and runs them.
    fn run_units(
        self,
        stream: &Stream,
        direction: Direction,
        span: Span,
        number: u128,
    ) -> Result<(), Error> {
        let bytes = span.count * span.scratch_bytes();
        stream.with_masks(bytes as usize, |masks| {
            let on = self.data.on(stream);
            let mode = [number as u64, (number >> 64) as u64, 0];
            let header = Header { input: masks, output: masks, blocks: span.count, mode };
            on.start_mode(&modes::XTS_NUMBERS, header)?;
            let ecb = Work { task: Task::EcbEncrypt, start: Start::Nowhere, block: BLOCK };
            self.tweak.on(stream).launch(ecb, masks, masks, span.count as usize)?;
            run_plain(on, direction, span, masks)?;
            if span.steals() { run_stolen(on, direction, span, masks) } else { Ok(()) }
        })
    }
}

/// The blocks before those that stealing changes, through a copy where units lie askew.
fn run_plain(on: OnStream<'_>, direction: Direction, span: Span, masks: u64) -> Result<(), Error> {
    let unit_blocks = span.plain_blocks();
    let (blocks, width) = (span.count * unit_blocks, unit_blocks * BLOCK as u64);
    let run = |ends| on.launch_xts(direction, ends, blocks, unit_blocks, masks);
    if span.is_in_place() {
        return run((span.input, span.output));
    }
    let copy = masks + 5 * BLOCK as u64 * span.count; // behind what `run_stolen` uses
    let copy = if span.steals() { copy } else { masks + BLOCK as u64 * span.count };
    on.copy_rows(span.input, copy, span.rows(span.unit, width, width))?;
    run((copy, copy))?;
    on.copy_rows(copy, span.output, span.rows(width, span.unit, width))
}

/// The last whole block of every unit and the part after it, IEEE 1619 sections 5.3.2 and 5.4.2:
/// the block is run under one mask, exchanges its first bytes for the part, and is run under
/// another. Decryption takes the masks in the other order.
fn run_stolen(on: OnStream<'_>, direction: Direction, span: Span, masks: u64) -> Result<(), Error> {
    let block = BLOCK as u64;
    let (place, part) = (span.plain_blocks(), span.unit % block);
    let [wholes, parts, aside, at] = [1, 2, 3, 4].map(|i| masks + i * block * span.count);
    let (whole_at, part_at) = (place * block, (place + 1) * block);
    let run = |place: u64| {
        // The mask of that block of every unit, as if units had one more.
        let mode = [place, place + 1, place + 1];
        let header = Header { input: masks, output: at, blocks: span.count, mode };
        on.start_mode(&modes::XTS_MASKS, header)?;
        on.launch_xts(direction, (wholes, wholes), span.count, 1, at)
    };
    let (first, second) = match direction {
        Direction::Encrypt => (place, place + 1),
        Direction::Decrypt => (place + 1, place),
    };
    on.copy_rows(span.input + whole_at, wholes, span.rows(span.unit, block, block))?;
    on.copy_rows(span.input + part_at, parts, span.rows(span.unit, block, part))?;
    run(first)?;
    let starts = span.rows(block, block, part);
    on.copy_rows(wholes, aside, starts)?;
    on.copy_rows(parts, wholes, starts)?;
    on.copy_rows(aside, parts, starts)?;
    run(second)?;
    on.copy_rows(wholes, span.output + whole_at, span.rows(block, span.unit, block))?;
    on.copy_rows(parts, span.output + part_at, span.rows(block, span.unit, part))
}

impl Engine {
    /// Checks that the cipher's blocks are those of XTS.
    pub(crate) fn require_xts(&self) -> Result<(), Error> {
        let given = self.program().block_bytes();
        if given == BLOCK {
            return Ok(());
        }
        Err(Error::Data(lanecrypt_core::Error::BlockLength { mode: Mode::Xts, given }))
    }
}
