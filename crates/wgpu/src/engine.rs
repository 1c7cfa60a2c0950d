//! A cipher under a key on a device, over host memory of any size.

use std::{
    collections::VecDeque,
    fmt,
    sync::Mutex,
    time::{Duration, Instant},
};

use cipher::InOutBuf;
use lanecrypt_core::{Counter, Direction, Operation, modes};
use wgpu::ComputePipeline;

use crate::{
    Device, Error,
    device::locked,
    device_keys::DeviceKeys,
    keys::KeyPair,
    programs::Program,
    slot::{Flight, Launch, Slot},
};

/// Pieces on their way at once: one goes to the device while another is computed and a third one comes back.
const IN_FLIGHT: usize = 3;
/// Slots that an engine keeps for its next call.
const KEPT: usize = IN_FLIGHT;
/// The least memory that is asked for.
const LEAST_BYTES: u64 = 4096;
/// Scratch memory that `lanecrypt_core::modes` may use on the host.
const MODE_CHUNK_BYTES: usize = 16 << 20;

/// A cipher under one key on one device.
///
/// ECB and CTR run on the device, host memory of any size in pieces. All else is made of these by
/// [`lanecrypt_core::modes`], so that in modes in which each block waits for the one before it, each takes a launch.
/// Several threads may use one engine. The round keys stay on the device until it is dropped, and are cleared then.
pub struct Engine {
    device: Device,
    program: &'static Program,
    keys: DeviceKeys,
    slots: Mutex<Vec<Slot>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("device", &self.device)
            .field("program", &self.program.name)
            .finish_non_exhaustive()
    }
}

/// What a kernel does with blocks.
#[derive(Clone, Copy)]
struct Work {
    direction: Direction,
    /// The first counter block in CTR.
    counter: Option<Counter>,
}

impl Work {
    /// Of an operation that kernels have.
    fn of(operation: Operation<'_>) -> Option<Self> {
        match operation {
            Operation::Ecb(direction) => Some(Self { direction, counter: None }),
            Operation::Ctr(counter) => {
                Some(Self { direction: Direction::Encrypt, counter: Some(counter) })
            }
            _ => None,
        }
    }

    /// The number of the keys.
    fn keys(self) -> usize {
        match self.direction {
            Direction::Encrypt => 0,
            Direction::Decrypt => 1,
        }
    }
}

impl Engine {
    pub(crate) fn new(
        device: &Device,
        program: &'static Program,
        keys: &KeyPair,
    ) -> Result<Self, Error> {
        let keys = DeviceKeys::new(device, keys)?;
        Ok(Self { device: device.clone(), program, keys, slots: Mutex::default() })
    }

    /// The device it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn pipeline(&self, work: Work) -> Result<ComputePipeline, Error> {
        let mode = if work.counter.is_some() { "ctr" } else { "ecb" };
        let entry = format!("{mode}_{}", self.keys.whole(work.keys()));
        self.device.pipeline(self.program, &entry)
    }

    fn launch<'a>(
        &'a self,
        work: Work,
        pipeline: &'a ComputePipeline,
        before: usize,
    ) -> Launch<'a> {
        let block = self.program.block_bytes;
        let counter = work.counter.map_or(0, |first| first.plus((before / block) as u128).value());
        Launch { pipeline, keys: self.keys.binding(work.keys()), counter, block }
    }

    /// Memory for a piece of `bytes` bytes.
    fn slot(&self, bytes: usize) -> Result<Slot, Error> {
        let bytes = bytes.next_multiple_of(self.program.block_bytes) as u64;
        let mut slots = locked(&self.slots);
        if let Some(number) = slots.iter().position(|slot| slot.bytes() >= bytes) {
            return Ok(slots.swap_remove(number));
        }
        drop(slots);
        let most = self.device.piece_bytes(self.program.block_bytes) as u64;
        Slot::new(&self.device, bytes.next_power_of_two().max(LEAST_BYTES).min(most).max(bytes))
    }

    /// Keeps memory for the next call, the largest of what there is.
    fn keep(&self, slot: Slot) {
        let mut slots = locked(&self.slots);
        slots.push(slot);
        slots.sort_by_key(Slot::bytes);
        if slots.len() > KEPT {
            slots.remove(0);
        }
    }

    /// Runs work over data in pieces.
    fn run_pieces(&self, work: Work, mut data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        let pipeline = self.pipeline(work)?;
        let most = self.device.piece_bytes(self.program.block_bytes);
        let mut in_flight = VecDeque::with_capacity(IN_FLIGHT);
        let mut before = 0;
        while !data.is_empty() {
            if in_flight.len() == IN_FLIGHT {
                in_flight.pop_front().map_or(Ok(()), |first| self.land(first))?;
            }
            let length = most.min(data.len());
            let (piece, rest) = data.split_at(length);
            let launch = self.launch(work, &pipeline, before);
            let flight = self.slot(length)?.start(&self.device, &launch, piece.get_in())?;
            in_flight.push_back((flight, piece));
            (data, before) = (rest, before + length);
        }
        in_flight.into_iter().try_for_each(|flight| self.land(flight))
    }

    /// Waits for a piece.
    fn land(&self, (flight, mut piece): (Flight, InOutBuf<'_, '_, u8>)) -> Result<(), Error> {
        self.keep(flight.finish(&self.device, piece.get_out())?);
        Ok(())
    }

    /// The time of one launch of `operation`, ECB or CTR, over `bytes` bytes on the device, on average of `launches`
    /// that follow each other: by the host's clock, from the first one's submission to the end of the last one. As many
    /// bytes are taken as fit a piece ([`Limits`](crate::Limits)), whole blocks; returned with the time.
    ///
    /// # Errors
    /// [`Error::Refused`] for an operation that no kernel has, and for less than a block; those of running it.
    pub fn time(
        &self,
        operation: Operation<'_>,
        bytes: usize,
        launches: u32,
    ) -> Result<(Duration, usize), Error> {
        let block = self.program.block_bytes;
        let bytes = bytes.min(self.device.piece_bytes(block)) / block * block;
        operation.check(block, bytes).map_err(Error::Data)?;
        let Some(work) = Work::of(operation).filter(|_| bytes > 0) else {
            return Err(self.device.refused("timing a kernel", &"only ECB and CTR have kernels"));
        };
        let pipeline = self.pipeline(work)?;
        let (slot, launch) = (self.slot(bytes)?, self.launch(work, &pipeline, 0));
        slot.repeat(&self.device, &launch, bytes, 1)?; // the driver may have work left to do at the first one
        let start = Instant::now();
        slot.repeat(&self.device, &launch, bytes, launches)?;
        let elapsed = start.elapsed();
        self.keep(slot);
        Ok((elapsed / launches.max(1), bytes))
    }
}

impl lanecrypt_core::Engine for Engine {
    fn block_bytes(&self) -> usize {
        self.program.block_bytes
    }

    fn chunk_bytes(&self) -> usize {
        MODE_CHUNK_BYTES
    }

    fn run(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        let Some(work) = Work::of(operation) else {
            return modes::by_ecb(self, operation, data);
        };
        operation.check(self.program.block_bytes, data.len())?;
        Ok(self.run_pieces(work, data)?)
    }
}
