//! AES's key stream as random numbers on the device.

use lanecrypt_core::{Counter, Operation};
use lanecrypt_kernels::{Task, random};

use super::{Engine, on_stream::OnStream};
use crate::{
    DeviceSliceMut, Error, Pending, Stream,
    device::{buffer::MAX_BLOCK, stream_memory::SCRATCH_SHARE},
    launch::{copies::Rows, operation::Work, parameters::Header},
};

/// Bytes of a block of key stream.
const BLOCK: u64 = MAX_BLOCK as u64;

/// What is drawn: numbers, and the range of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// What words of the key stream become.
    pub numbers: random::Draw,
    /// The first number of the range of integers.
    pub lowest: u64,
    /// How many numbers the range has; 0 where it has all that 32 or 64 bits can hold.
    pub range: u64,
}

/// Where numbers are in a key stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The stream, below 2^48.
    pub stream: u64,
    /// Bytes of the stream before them.
    pub bytes: u64,
}

impl Place {
    /// The counter of the block that the place is in.
    #[must_use]
    pub fn counter(self) -> Counter {
        let value = u128::from(self.stream) << 64 | u128::from(self.bytes / BLOCK);
        Counter::from(value.to_be_bytes())
    }

    /// The place `bytes` bytes further on.
    fn after(self, bytes: u64) -> Self {
        Self { bytes: self.bytes + bytes, ..self }
    }

    /// Bytes of its block before it.
    fn lead(self) -> u64 {
        self.bytes % BLOCK
    }
}

impl Engine {
    /// Starts to fill memory with numbers that this key draws: those that lie from a place of a key stream on. The engine is
    /// one of AES. Returns as soon as the kernels are queued; reading the output waits for them.
    ///
    /// The addresses of table look-ups vary with the key: these kernels are not constant-time.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for an engine of another cipher; [`Error::OtherDevice`]; [`Error::Numbers`] for a length that is
    /// no whole number of numbers, and a place between two of them; driver errors.
    pub fn draw(
        &self,
        draw: Draw,
        place: Place,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<(), Error> {
        let (address, length) = self.check_draw(draw, place, output)?;
        self.without_stream().draws(draw, place, address, length)
    }

    /// As [`draw`](Self::draw), on a stream: it runs beside what is queued on other streams.
    ///
    /// # Errors
    /// As [`draw`](Self::draw), and [`Error::OtherDevice`] for a stream of another device.
    pub fn queue_draw<'b>(
        &self,
        stream: &'b Stream,
        draw: Draw,
        place: Place,
        output: &'b mut DeviceSliceMut<'_>,
    ) -> Result<Pending<'b>, Error> {
        let (address, length) = self.check_draw(draw, place, output)?;
        stream.require_device(self.device())?;
        stream.begin()?;
        stream.pending(self.on(stream).draws(draw, place, address, length))
    }

    /// Where the numbers go, and how many bytes they have.
    fn check_draw(
        &self,
        draw: Draw,
        place: Place,
        output: &DeviceSliceMut<'_>,
    ) -> Result<(u64, u64), Error> {
        let cipher = self.family().cipher().name;
        if cipher != "aes" {
            let module = draw.numbers.kernel().module().name;
            return Err(Error::Mismatch { cipher, module, reason: "it draws by AES".into() });
        }
        let output = output.as_slice();
        output.require_device(self.device())?;
        let (length, number) = (output.len() as u64, draw.numbers.number_bytes());
        for bytes in [length, place.bytes] {
            if !bytes.is_multiple_of(number as u64) {
                let given = usize::try_from(bytes).unwrap_or(usize::MAX);
                return Err(Error::Numbers { given, number });
            }
        }
        Ok((output.address(), length))
    }
}

impl OnStream<'_> {
    /// Draws numbers for any address: blocks of key stream go where they lie whole; what begins or ends within a block, and
    /// all where blocks would lie askew, passes memory aside.
    fn draws(self, draw: Draw, place: Place, address: u64, length: u64) -> Result<(), Error> {
        if address % BLOCK != place.lead() {
            let part = ((self.most / SCRATCH_SHARE) as u64 / BLOCK * BLOCK).max(BLOCK);
            let mut done = 0;
            while done < length {
                let now = (part - place.after(done).lead()).min(length - done);
                self.draw_aside(draw, place.after(done), address + done, now)?;
                done += now;
            }
            return Ok(());
        }
        let head = ((BLOCK - place.lead()) % BLOCK).min(length);
        let whole = (length - head) / BLOCK * BLOCK;
        self.draw_aside(draw, place, address, head)?;
        self.draw_blocks(draw, place.after(head), address + head, whole / BLOCK)?;
        let done = head + whole;
        self.draw_aside(draw, place.after(done), address + done, length - done)
    }

    /// Draws the blocks that have these numbers, and copies what is asked for.
    fn draw_aside(self, draw: Draw, place: Place, address: u64, length: u64) -> Result<(), Error> {
        if length == 0 {
            return Ok(());
        }
        let blocks = (place.lead() + length).div_ceil(BLOCK);
        self.stream.with_masks((blocks * BLOCK) as usize, |aside| {
            self.draw_blocks(draw, place, aside, blocks)?;
            self.copy_rows(aside + place.lead(), address, Rows::one(length))
        })
    }

    /// Draws whole blocks.
    fn draw_blocks(self, draw: Draw, place: Place, address: u64, blocks: u64) -> Result<(), Error> {
        if blocks == 0 {
            return Ok(());
        }
        let counter = Operation::Ctr(place.counter());
        let work = Work::new(counter, 0, MAX_BLOCK)?;
        let is_plain = draw.numbers == random::Draw::Bytes;
        if is_plain && self.keyed.kernel(Task::Fill, blocks * BLOCK).is_some() {
            let work = Work { task: Task::Fill, ..work };
            return self.launch(work, address, address, blocks as usize);
        }
        let launch = self.keyed.device().shaped(draw.numbers.kernel(), blocks, None)?;
        let [first, second] = work.words();
        let mode = [first, second, draw.range];
        let header = Header { input: draw.lowest, output: address, blocks, mode };
        self.start_program(launch, Task::Ctr, header)
    }
}
