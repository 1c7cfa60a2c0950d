//! GHASH (SP 800-38D, 6.4) on the device, under one key.

mod family;
mod keyed;
mod place;

use std::fmt;

use lanecrypt_kernels::{Kernel, ghash::MOST_FRONT};

pub use self::family::HashFamily;
pub(crate) use self::place::End;
use self::{
    keyed::{BLOCK, Keyed, Parameters},
    place::{Before, Place},
};
use crate::{
    Device, DeviceSlice, Error, Stream,
    device::{
        driver::StreamHandle,
        geometry::Launch,
        stream_memory::{SCRATCH_SHARE, Scratch},
    },
    launch::copies::{self, Rows},
    pipeline::{self, ChunkLimit, Cut, Pool},
};

/// Blocks of one go. The exponents of the key are up to as many, and those that fill up a unit of
/// [`HashFamily::kernel`], the last one and the lengths.
const MOST_BLOCKS: u64 = 1 << 31;
/// Bytes of one go: more than the memory of a machine of 32 bits has.
const MOST_BYTES: u64 = MOST_BLOCKS * BLOCK as u64;

/// Where the memory of a hash has what: the hash so far, a block for who hashes, and sums.
const ASIDE_AT: u64 = BLOCK as u64;
const SUMS_AT: u64 = 2 * BLOCK as u64;

/// GHASH under one key on one device. Several threads may use it; those without a stream of their own take
/// turns.
///
/// The key's powers and matrices stay on the device, and are cleared when this is dropped.
pub struct GhashEngine {
    keyed: Keyed,
    /// The hashes of pieces of host memory.
    pieces: Scratch,
    default_stream: Stream,
    chunk_limit: ChunkLimit,
}

impl fmt::Debug for GhashEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GhashEngine")
            .field("device", &self.keyed.device)
            .field("family", &self.keyed.family)
            .finish_non_exhaustive()
    }
}

impl GhashEngine {
    /// GHASH under the key `h`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for a family that the device cannot run; driver errors.
    pub fn new(device: &Device, family: HashFamily, h: &[u8; 16]) -> Result<Self, Error> {
        Ok(Self {
            keyed: Keyed::new(device, family, h)?,
            pieces: Scratch::default(),
            default_stream: Stream::default_of(device),
            chunk_limit: ChunkLimit::default(),
        })
    }

    /// Lets a piece of host data on the device have at most `bytes` bytes, whole blocks of it and one at
    /// least; [`Device::limit_host_memory`] says how many pieces are there at once.
    pub fn limit_chunk(&self, bytes: usize) {
        self.chunk_limit.set(bytes);
    }

    /// How it is computed.
    #[must_use]
    pub fn family(&self) -> HashFamily {
        self.keyed.family
    }

    /// The device it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.keyed.device
    }

    /// Blocks from which on the kernel for long messages runs: one for every thread of a full grid, or
    /// a unit of matrices' for every multiprocessor. Tests probe lengths around it.
    #[must_use]
    pub fn long_blocks(&self) -> usize {
        self.keyed.long_blocks()
    }

    /// Whether the kernel for long messages goes through a part of this number of bytes.
    pub(crate) fn is_long(&self, bytes: usize) -> bool {
        self.keyed.long_part(bytes / BLOCK) > 0
    }

    /// The hash of associated data and of data on the device, each filled up with zeros to whole
    /// blocks, and of their lengths.
    ///
    /// # Errors
    /// [`Error::OtherDevice`]; driver errors.
    pub fn hash(&self, aad: &[u8], data: &DeviceSlice<'_>) -> Result<[u8; 16], Error> {
        data.require_device(self.device())?;
        let lengths = [aad.len(), data.len()];
        self.with_hash(&self.default_stream, |hash| {
            hash.add_host(aad)?;
            let mut block = [0; BLOCK];
            hash.receive(&mut block, |hash, output| {
                let end = End { lengths, mask: &[0; BLOCK], output };
                hash.add_last(data.address(), data.len(), end)
            })?;
            Ok(block)
        })
    }

    /// Runs `work` with a hash that nothing was added to, in memory of a stream, on which `work` must not
    /// run what takes masks there.
    pub(crate) fn with_hash<R>(
        &self,
        stream: &Stream,
        work: impl FnOnce(&mut Hash<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        stream.with_masks(SUMS_AT as usize + self.keyed.sums.bytes, |memory| {
            work(&mut Hash { engine: self, stream, memory, before: Before::default() })
        })
    }
}

/// A hash so far.
pub(crate) struct Hash<'a> {
    engine: &'a GhashEngine,
    stream: &'a Stream,
    /// Where it is, before what it needs.
    memory: u64,
    before: Before,
}

impl Hash<'_> {
    /// Where a block is that whoever hashes may use.
    pub(crate) fn aside(&self) -> u64 {
        self.memory + ASIDE_AT
    }

    /// Lets `work` queue what brings a block to an address that it is given, and reads the block.
    pub(crate) fn receive(
        &mut self,
        block: &mut [u8; BLOCK],
        work: impl FnOnce(&mut Self, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let device = self.engine.device();
        let landing = Pool::of(device).landing(device)?;
        if let Some(address) = landing.address() {
            return landing.receive(self.stream, block, || work(self, address));
        }
        let aside = self.aside();
        work(self, aside)?;
        // SAFETY: the memory of a hash has a block there.
        unsafe { self.stream.read(aside, block) }
    }

    /// Adds host memory, filled up with zeros to whole blocks.
    pub(crate) fn add_host(&mut self, data: &[u8]) -> Result<(), Error> {
        if data.len() <= MOST_FRONT * BLOCK {
            return self.add_front(data);
        }
        let GhashEngine { keyed: Keyed { device, .. }, chunk_limit, .. } = self.engine;
        for part in data.chunks(go(data.len()).max(1)) {
            let cut = Cut::fed(device, part, chunk_limit.get(), BLOCK);
            self.add_pieces([part.len(), cut.bytes], None, |pieces| {
                pipeline::feed(device, part, cut, BLOCK, |stream, address, number, length| {
                    pieces.hash(stream, address, number, length)
                })
            })?;
        }
        Ok(())
    }

    /// The same with as little as launches take along.
    fn add_front(&mut self, data: &[u8]) -> Result<(), Error> {
        let count = data.len().div_ceil(BLOCK);
        if self.before.front_blocks + count > MOST_FRONT {
            self.add_once(0, 0, None)?;
        }
        if let Some(room) = self.before.room(count) {
            room[..data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    /// Adds a string of `bytes` bytes in pieces of `piece_bytes`, all of which `work` hashes; and the end, where
    /// the message ends here.
    pub(crate) fn add_pieces(
        &mut self,
        [bytes, piece_bytes]: [usize; 2],
        end: Option<End<'_>>,
        work: impl FnOnce(Pieces<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { engine, stream, memory, before } = *self;
        let (count, place) = (bytes.div_ceil(piece_bytes), self.place());
        engine.pieces.with(engine.device(), StreamHandle::DEFAULT, count * BLOCK, |hashes| {
            let behind = u64::from(end.is_some());
            work(Pieces { engine, hashes, piece_bytes, blocks: blocks(bytes) + behind })?;
            // They are multiplied by their powers already.
            let sums = Parameters { input: hashes, blocks: count as u64, ..Parameters::default() };
            place.finish((memory, before, blocks(bytes)), end, sums)?;
            // The next ones to use these hashes are in order with the default stream alone.
            if stream.is_default() { Ok(()) } else { stream.synchronize() }
        })?;
        self.before = Before::hash(memory);
        Ok(())
    }

    /// Adds the last bytes, on the device, filled up with zeros to whole blocks; and the end.
    pub(crate) fn add_last(
        &mut self,
        mut address: u64,
        mut bytes: usize,
        end: End<'_>,
    ) -> Result<(), Error> {
        if !address.is_multiple_of(BLOCK as u64) {
            return self.add_askew(address, bytes, end);
        }
        while go(bytes) < bytes {
            let part = go(bytes);
            self.add_once(address, part, None)?;
            (address, bytes) = (address + part as u64, bytes - part);
        }
        self.add_once(address, bytes, Some(end))
    }

    /// Adds this number of last bytes, which are [not long](GhashEngine::is_long), by a kernel that makes them: `start` gets its
    /// launch and the parameters of the hash.
    pub(crate) fn add_made(
        &mut self,
        kernel: &Kernel,
        bytes: usize,
        end: End<'_>,
        start: impl FnOnce(Launch, &[u64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let rest = Parameters { tail_bytes: bytes as u64, ..Parameters::default() };
        let parts = (self.memory, self.before, 0);
        self.place().finish_by(kernel, parts, Some(end), rest, |launch, parameters| {
            start(launch, parameters.words())
        })
    }

    /// The same where kernels cannot read: parts pass memory where they can.
    fn add_askew(&mut self, mut address: u64, mut bytes: usize, end: End<'_>) -> Result<(), Error> {
        let Self {
            engine: GhashEngine { keyed: Keyed { device, .. }, chunk_limit, .. },
            stream,
            ..
        } = *self;
        let most = (chunk_limit.get() / SCRATCH_SHARE / BLOCK).max(1) * BLOCK;
        stream.with_scratch(most.min(bytes), |copy| {
            loop {
                let part = most.min(bytes);
                copies::copy(device, stream.handle, (address, copy), Rows::one(part as u64))?;
                if part == bytes {
                    return self.add_once(copy, part, Some(end));
                }
                self.add_once(copy, part, None)?;
                (address, bytes) = (address + part as u64, bytes - part);
            }
        })
    }

    fn add_once(&mut self, address: u64, bytes: usize, end: Option<End<'_>>) -> Result<(), Error> {
        self.place().add((self.memory, self.before), (address, bytes), end)?;
        self.before = Before::hash(self.memory);
        Ok(())
    }

    fn place(&self) -> Place<'_> {
        Place { keyed: &self.engine.keyed, stream: self.stream, sums: self.memory + SUMS_AT }
    }
}

/// Bytes of a go, where `bytes` are left.
fn go(bytes: usize) -> usize {
    usize::try_from(MOST_BYTES).map_or(bytes, |most| bytes.min(most))
}

/// Blocks of a number of bytes, the last one perhaps in part.
fn blocks(bytes: usize) -> u64 {
    bytes.div_ceil(BLOCK) as u64
}

/// The hashes of all pieces of a string, each multiplied by the power of the key that what follows it asks
/// for: so they are made in any order, side by side, and are added up in the end.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'a> {
    engine: &'a GhashEngine,
    /// Where they are.
    hashes: u64,
    /// Bytes of every piece but the last.
    piece_bytes: usize,
    /// Blocks of the string, that of the lengths among them: fewer than 2^32.
    blocks: u64,
}

impl Pieces<'_> {
    /// Queues the hash of a piece, whose number this is, of `bytes` bytes on the device.
    pub(crate) fn hash(
        self,
        stream: &Stream,
        address: u64,
        number: usize,
        bytes: usize,
    ) -> Result<(), Error> {
        let keyed = &self.engine.keyed;
        let hash = self.hashes + (number * BLOCK) as u64;
        let after = self.blocks - blocks(number * self.piece_bytes + bytes);
        stream.with_scratch(keyed.sums.bytes, |sums| {
            let place = Place { keyed, stream, sums };
            place.add((hash, Before::default()), (address, bytes), None)?;
            if after > 0 {
                place.finish((hash, Before::hash(hash), after), None, Parameters::default())?;
            }
            // The stream is a lane's, which others use as well, and as long as the device is there.
            // SAFETY: the scratch memory has so many bytes.
            unsafe { keyed.device.driver().start_clear(stream.handle, sums, keyed.sums.bytes) }
        })
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::ghash::EXPONENTS;

    use super::{keyed::LINE, *};

    /// Nothing that is hashed here is as long, so the cuts are tried by themselves.
    #[test]
    fn the_kernels_have_a_power_for_every_block_of_a_go() {
        for family in HashFamily::ALL {
            let unit = u64::from(family.kernel().unit().blocks);
            let behind = (LINE + MOST_FRONT) as u64 + 1;
            let most = MOST_BLOCKS.next_multiple_of(unit) + behind;
            assert!(most < EXPONENTS, "{family:?}: {most}");
        }
        assert_eq!([0, 1, 17].map(go), [0, 1, 17]);
        assert!(go(usize::MAX) as u64 <= MOST_BYTES);
        #[cfg(target_pointer_width = "64")]
        assert_eq!(go(1 << 36), 1 << 35, "whole blocks");
    }
}
