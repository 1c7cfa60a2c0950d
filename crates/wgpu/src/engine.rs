//! A cipher under a key on a device, over host memory of any size.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use cipher::InOutBuf;
use lanecrypt_core::{Counter, Direction, GcmPass, Operation, modes};
use wgpu::ComputePipeline;

use crate::{
    Device, Error,
    device::locked,
    device_keys::DeviceKeys,
    ghash::{BLOCK, HashKey},
    keys::KeyPair,
    programs::Program,
    slot::{Flight, Hashing, Launch, Slot},
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
/// ECB and CTR run on the device, host memory of any size in pieces, and so does GCM of ciphers with blocks of 16 bytes,
/// its hash included. All else is made of these by [`lanecrypt_core::modes`], so that in modes in which each block waits
/// for the one before it, each takes a launch. Several threads may use one engine. The round keys stay on the device
/// until it is dropped, as do the powers of the last hash key, and are cleared then.
pub struct Engine {
    pub(crate) device: Device,
    program: &'static Program,
    keys: DeviceKeys,
    pub(crate) hash_key: Mutex<Option<Arc<HashKey>>>,
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

/// What kernels do with blocks.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    direction: Direction,
    /// The first counter block in CTR.
    counter: Option<Counter>,
    /// What hashes the ciphertext, if any.
    hashing: Option<Hashing<'a>>,
    /// Whether what comes out is a secret, which is cleared on the device when it was read.
    is_secret: bool,
}

impl<'a> Work<'a> {
    /// Of an operation that kernels have.
    fn of(operation: Operation<'_>) -> Option<Self> {
        match operation {
            Operation::Ecb(direction) => {
                Some(Self { direction, counter: None, hashing: None, is_secret: false })
            }
            Operation::Ctr(counter) => Some(Self::ctr(counter)),
            _ => None,
        }
    }

    /// CTR from a counter block on.
    pub(crate) fn ctr(first: Counter) -> Self {
        let direction = Direction::Encrypt;
        Self { direction, counter: Some(first), hashing: None, is_secret: false }
    }

    /// The same, with a hash.
    pub(crate) fn hashed(self, hashing: Hashing<'a>) -> Self {
        Self { hashing: Some(hashing), ..self }
    }

    /// The same, of which what comes out is a secret.
    pub(crate) fn secret(self) -> Self {
        Self { is_secret: true, ..self }
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
        let (hash_key, slots) = (Mutex::default(), Mutex::default());
        Ok(Self { device: device.clone(), program, keys, hash_key, slots })
    }

    /// The device it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The memory that it keeps for its next call.
    #[cfg(test)]
    pub(crate) fn into_slots(self) -> Vec<Slot> {
        self.slots.into_inner().expect("no test panicked with it")
    }

    fn pipeline(&self, work: Work<'_>) -> Result<ComputePipeline, Error> {
        let mode = if work.counter.is_some() { "ctr" } else { "ecb" };
        let entry = format!("{mode}_{}", self.keys.whole(work.keys()));
        self.device.pipeline(self.program, &entry)
    }

    fn launch<'a>(
        &'a self,
        work: Work<'a>,
        pipeline: &'a ComputePipeline,
        before: usize,
    ) -> Launch<'a> {
        let block = self.program.block_bytes;
        let counter = work.counter.map_or(0, |first| first.plus((before / block) as u128).value());
        let (keys, Work { hashing, is_secret, .. }) = (self.keys.binding(work.keys()), work);
        Launch { pipeline, keys, counter, block, hashing, is_secret }
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
        let Some(work) = Work::of(operation) else {
            return Err(self.device.refused("timing a kernel", &"only ECB and CTR have kernels"));
        };
        operation.check(self.program.block_bytes, 0).map_err(Error::Data)?;
        self.time_work(work, bytes, launches)
    }

    pub(crate) fn time_work(
        &self,
        work: Work<'_>,
        bytes: usize,
        launches: u32,
    ) -> Result<(Duration, usize), Error> {
        let block = self.program.block_bytes;
        let bytes = bytes.min(self.device.piece_bytes(block)) / block * block;
        if bytes == 0 {
            return Err(self.device.refused("timing a kernel", &"there is no whole block"));
        }
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
        let mut flights = Flights::new(self, |_, _| {});
        flights.start(work, data)?;
        Ok(flights.land_all()?)
    }

    fn gcm(
        &self,
        pass: GcmPass<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<bool, lanecrypt_core::Error> {
        if self.program.block_bytes != BLOCK {
            return Ok(false);
        }
        self.run_gcm(pass, data)?;
        Ok(true)
    }
}

/// Pieces of data on their way to a device and back, the oldest first.
pub(crate) struct Flights<'e, 'inp, 'out, H> {
    engine: &'e Engine,
    pieces: VecDeque<(Flight, InOutBuf<'inp, 'out, u8>)>,
    /// Takes the number of blocks of each piece that was hashed, in order, and its hash, as `Landed` has it.
    take_hash: H,
}

impl<'e, 'inp, 'out, H: FnMut(usize, &[u8; BLOCK])> Flights<'e, 'inp, 'out, H> {
    pub(crate) fn new(engine: &'e Engine, take_hash: H) -> Self {
        Self { engine, pieces: VecDeque::with_capacity(IN_FLIGHT), take_hash }
    }

    /// Starts work over data in pieces, and waits for those before them where too many are on their way.
    pub(crate) fn start(
        &mut self,
        work: Work<'_>,
        mut data: InOutBuf<'inp, 'out, u8>,
    ) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        let engine = self.engine;
        let pipeline = engine.pipeline(work)?;
        let most = engine.device.piece_bytes(engine.program.block_bytes);
        let mut before = 0;
        while !data.is_empty() {
            if self.pieces.len() == IN_FLIGHT {
                self.land()?;
            }
            let length = most.min(data.len());
            let (piece, rest) = data.split_at(length);
            let launch = engine.launch(work, &pipeline, before);
            let flight = engine.slot(length)?.start(&engine.device, &launch, piece.get_in())?;
            self.pieces.push_back((flight, piece));
            (data, before) = (rest, before + length);
        }
        Ok(())
    }

    /// Waits for the oldest piece, if there is one.
    fn land(&mut self) -> Result<(), Error> {
        let Some((flight, mut piece)) = self.pieces.pop_front() else { return Ok(()) };
        let landed = flight.finish(&self.engine.device, piece.get_out())?;
        self.engine.keep(landed.slot);
        if let Some(hash) = landed.hash {
            (self.take_hash)(piece.len().div_ceil(BLOCK), &hash);
        }
        Ok(())
    }

    /// Waits for all of them.
    pub(crate) fn land_all(mut self) -> Result<(), Error> {
        while !self.pieces.is_empty() {
            self.land()?;
        }
        Ok(())
    }
}
