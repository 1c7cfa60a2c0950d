//! GHASH (SP 800-38D, 6.4) on the device, under one key.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanecrypt_core::{ConstantTime, Unavailable};
use lanecrypt_kernels::{
    Kernel,
    ghash::{self as kernels, PARAMETER_WORDS, POWER_COUNT},
};
use zeroize::Zeroizing;

use crate::{
    Device, DeviceBuffer, DeviceSlice, Error, Properties,
    driver::StreamHandle,
    launch::Launch,
    staging::{self, ChunkLimit},
    work::MAX_BLOCK,
};

/// Bytes of a block.
const BLOCK: usize = MAX_BLOCK;
/// Blocks that are not worth a launch: the kernel that ends a hash takes one a thread, beside a last one
/// in part, the lengths, and the hash so far.
const FEW: usize = 252;
/// Blocks of a line of the device's memory: copies of a long message start with one.
const LINE: usize = 8;
/// Blocks of one go, so that exponents of the key stay below 2^32.
const MOST_BLOCKS: usize = 1 << 31;
/// The most bytes of host memory that are on the device at once.
const FEED_BYTES: usize = 16 << 20;

/// Where the memory of a key has what: the key, its powers, and its matrices.
const POWERS_AT: usize = BLOCK;
const MATRICES_AT: usize = POWERS_AT + POWER_COUNT * BLOCK;
/// Where the memory of a hash has what: the hash so far, a block for who hashes, one that stays zero,
/// and sums.
const ASIDE_AT: usize = BLOCK;
const ZEROS_AT: usize = 2 * BLOCK;
const SUMS_AT: usize = 3 * BLOCK;

/// Flags of the kernel that ends a hash: `FROM_STATE` and `WITH_LENGTHS` of `ghash/ghash.cuh`.
const FROM_STATE: u64 = 1;
const WITH_LENGTHS: u64 = 2;

/// A way to compute GHASH on a device. Parts of a message are multiplied by powers of the key in
/// constant time in either way; they differ in how they go through long messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashFamily {
    /// Look-ups of bytes in shared memory, on any device.
    Tables,
    /// Products of bits on tensor cores: compute capability 8.0 to 9.x, and the host build, which
    /// emulates them.
    Matrices,
    /// The same with the products and copies that compute capability 9.0 alone has, and the host build,
    /// which emulates them too.
    WideMatrices,
}

impl HashFamily {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tables, Self::Matrices, Self::WideMatrices];

    /// The fastest for a device.
    #[must_use]
    pub fn of(properties: &Properties) -> Self {
        match properties.compute_capability {
            (9, 0) => Self::WideMatrices,
            (8 | 9, _) => Self::Matrices,
            _ => Self::Tables, // later devices emulate products of bits
        }
    }

    /// Whether a device can run it.
    #[must_use]
    pub fn fits(self, properties: &Properties) -> bool {
        match (self, properties.compute_capability) {
            (Self::Tables, _) | (Self::Matrices, (0 | 8 | 9, _)) => true,
            (Self::WideMatrices, (major, minor)) => major == 0 || (major, minor) == (9, 0),
            (Self::Matrices, _) => false,
        }
    }

    /// The compute capabilities that it needs, as a message has them.
    const fn needs(self) -> &'static str {
        match self {
            Self::Tables => "any compute capability",
            Self::Matrices => "compute capability 8.0 to 9.x",
            Self::WideMatrices => "compute capability 9.0",
        }
    }

    /// Its constant-time claim.
    #[must_use]
    pub const fn constant_time(self) -> ConstantTime {
        match self {
            Self::Tables => ConstantTime::LOOKS_UP,
            Self::Matrices | Self::WideMatrices => ConstantTime::Yes,
        }
    }

    /// One line for tables.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Tables => "GHASH by look-ups of bytes",
            Self::Matrices => "GHASH by matrices of bits on tensor cores",
            Self::WideMatrices => "GHASH by matrices of bits on tensor cores, from shared memory",
        }
    }

    /// The kernel that goes through long messages.
    const fn kernel(self) -> &'static Kernel {
        match self {
            Self::Tables => &kernels::TABLES,
            Self::Matrices => &kernels::MATRICES,
            Self::WideMatrices => &kernels::WIDE_MATRICES,
        }
    }

    /// Sums that a launch of its kernel for long messages writes.
    fn sums(self, long: Launch) -> u64 {
        let groups = long.threads() / self.kernel().unit().threads as usize;
        groups as u64 * self.matrices().map_or(1, |matrices| matrices.rows)
    }

    /// The matrices that it multiplies by, if any.
    const fn matrices(self) -> Option<Matrices> {
        match self {
            Self::Tables => None,
            Self::Matrices => Some(Matrices {
                writer: &kernels::MATRIX_WORDS,
                words: kernels::MATRIX_WORD_COUNT,
                rows: kernels::MATRIX_ROWS,
                step: 4, // of four neighbours of 64 blocks each
            }),
            Self::WideMatrices => Some(Matrices {
                writer: &kernels::WIDE_MATRIX_WORDS,
                words: kernels::WIDE_MATRIX_WORD_COUNT,
                rows: kernels::WIDE_MATRIX_ROWS,
                step: 1,
            }),
        }
    }
}

/// What a family does with matrices of bits.
#[derive(Clone, Copy)]
struct Matrices {
    /// The kernel that makes them of powers of the key.
    writer: &'static Kernel,
    /// Their 32-bit words.
    words: usize,
    /// Sums that a unit's threads write.
    rows: u64,
    /// Blocks between what neighbours of these sums stand for.
    step: u64,
}

/// The parameter block of every kernel: `HashParameters` of `kernels/ghash/ghash.cuh`.
#[derive(Clone, Copy, Debug, Default)]
struct Parameters {
    input: u64,
    output: u64,
    blocks: u64,
    powers: u64,
    units: u64,
    unit_blocks: u64,
    sums: u64,
    step: u64,
    tail: u64,
    tail_bytes: u64,
    lengths: [u64; 2],
    flags: u64,
}

impl Parameters {
    fn words(self) -> [u64; PARAMETER_WORDS] {
        let Self { input, output, blocks, powers, units, unit_blocks, sums, step, .. } = self;
        let Self { tail, tail_bytes, lengths: [first, second], flags, .. } = self;
        [
            input,
            output,
            blocks,
            powers,
            units,
            unit_blocks,
            sums,
            step,
            tail,
            tail_bytes,
            first,
            second,
            flags,
            0,
        ]
    }
}

/// GHASH under one key on one device. Several threads may use it; they take turns.
///
/// The key's powers and matrices stay on the device, and are cleared when this is dropped.
pub struct GhashEngine {
    device: Device,
    family: HashFamily,
    key: DeviceBuffer,
    /// The launch of the kernel for long messages with all the threads that the device holds.
    long: Launch,
    /// Sums that it writes.
    long_sums: u64,
    memory: Mutex<Memory>,
    chunk_limit: ChunkLimit,
}

/// What a hash needs while it runs.
struct Memory {
    /// The hash so far, a block for who hashes, zeros, sums over warps, and sums of a long message.
    buffer: DeviceBuffer,
    /// Where the last of these are.
    long_at: usize,
    /// Bytes from the host.
    fed: Option<DeviceBuffer>,
}

impl fmt::Debug for GhashEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GhashEngine")
            .field("device", &self.device)
            .field("family", &self.family)
            .finish_non_exhaustive()
    }
}

impl GhashEngine {
    /// GHASH under the key `h`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for a family that the device cannot run; driver errors.
    pub fn new(device: &Device, family: HashFamily, h: &[u8; 16]) -> Result<Self, Error> {
        Self::with_key(device, family, |address| {
            // SAFETY: the address is that of a block which `with_key` allocated.
            unsafe { device.driver().write(address, h) }
        })
    }

    /// The same, where `write` brings the key to the address that it is given.
    pub(crate) fn with_key(
        device: &Device,
        family: HashFamily,
        write: impl FnOnce(u64) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        if !family.fits(device.properties()) {
            let (major, minor) = device.properties().compute_capability;
            return Err(Error::Unavailable(Unavailable::because_of(format!(
                "{} needs a device of {}; {} has {major}.{minor}",
                family.summary(),
                family.needs(),
                device.properties().name,
            ))));
        }
        let matrices = family.matrices().map_or(0, |matrices| 4 * matrices.words);
        let mut key = DeviceBuffer::zeroed(device, MATRICES_AT + matrices)?;
        write(key.slice_mut(0..BLOCK)?.as_slice().address())?;
        let long = shaped(device, family.kernel(), u64::from(u32::MAX))?;
        let long_sums = family.sums(long);
        // One block for every warp of the largest grid.
        let warps = shaped(device, &kernels::WEIGH, u64::from(u32::MAX))?.threads() / 32;
        let long_at = SUMS_AT + warps * BLOCK;
        let buffer = DeviceBuffer::zeroed(device, long_at + long_sums as usize * BLOCK)?;
        let memory = Mutex::new(Memory { buffer, long_at, fed: None });
        let (device, chunk_limit) = (device.clone(), ChunkLimit::default());
        let engine = Self { device, family, key, long, long_sums, memory, chunk_limit };
        engine.expand_key()?;
        Ok(engine)
    }

    /// Lets at most `bytes` bytes of host data be on the device at once, 16 MiB where nothing else is
    /// said and at most; whole blocks of it, and one at least.
    pub fn limit_chunk(&self, bytes: usize) {
        self.chunk_limit.set(bytes);
    }

    /// How it is computed.
    #[must_use]
    pub fn family(&self) -> HashFamily {
        self.family
    }

    /// The device it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Blocks from which on the kernel for long messages runs: one for every thread of a full grid, or
    /// a unit of matrices' for every multiprocessor. Tests probe lengths around it.
    #[must_use]
    pub fn long_blocks(&self) -> usize {
        match self.family {
            HashFamily::Tables => self.long.threads(),
            HashFamily::Matrices | HashFamily::WideMatrices => {
                let multiprocessors = self.device.properties().multiprocessors;
                (multiprocessors * self.family.kernel().unit().blocks) as usize
            }
        }
    }

    /// The hash of associated data and of data on the device, each filled up with zeros to whole
    /// blocks, and of their lengths.
    ///
    /// # Errors
    /// [`Error::OtherDevice`]; driver errors.
    pub fn hash(&self, aad: &[u8], data: &DeviceSlice<'_>) -> Result<[u8; 16], Error> {
        data.require_device(&self.device)?;
        let mut hash = self.start();
        hash.add_host(aad)?;
        hash.add_last(data.address(), data.len(), [aad.len(), data.len()])?;
        let mut block = [0; BLOCK];
        hash.read(&mut block)?;
        Ok(block)
    }

    /// A hash that nothing was added to; until it is dropped nobody else starts one.
    pub(crate) fn start(&self) -> Hash<'_> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        Hash { engine: self, memory, has_state: false }
    }

    /// Makes the powers of the key, and its matrices.
    fn expand_key(&self) -> Result<(), Error> {
        let key = self.key.slice(0..self.key.len())?.address();
        let parameters = Parameters {
            input: key,
            output: key + POWERS_AT as u64,
            blocks: POWER_COUNT as u64,
            units: self.long.threads() as u64, // the power that look-ups multiply by
            ..Parameters::default()
        };
        self.launch(&kernels::POWERS, parameters)?;
        let Some(matrices) = self.family.matrices() else {
            return Ok(());
        };
        let parameters = Parameters {
            output: key + MATRICES_AT as u64,
            blocks: matrices.words as u64,
            powers: key + POWERS_AT as u64,
            ..Parameters::default()
        };
        self.launch(matrices.writer, parameters)
    }

    /// Starts a kernel with threads for as many blocks as the parameters say.
    fn launch(&self, kernel: &Kernel, parameters: Parameters) -> Result<(), Error> {
        self.start_kernel(shaped(&self.device, kernel, parameters.blocks.max(1))?, parameters)
    }

    fn start_kernel(&self, launch: Launch, parameters: Parameters) -> Result<(), Error> {
        let words = parameters.words();
        // SAFETY: the block is as long as the kernel's, which was checked when it was loaded. What the
        // kernel reads and writes follows from the block alone, whose addresses are those of the key,
        // of the memory of a hash, which have room for what the largest grid writes, and of data of
        // this device; all live through the launch: device calls run in order, and memory is freed in
        // that order too.
        unsafe {
            self.device.driver().launch(StreamHandle::DEFAULT, launch.kernel, launch.shape, &words)
        }
    }
}

/// The launch of a kernel for so many blocks.
fn shaped(device: &Device, kernel: &Kernel, blocks: u64) -> Result<Launch, Error> {
    let ready = device.kernel(kernel)?;
    Ok(Launch::new(device.driver(), (kernel, ready), blocks, None))
}

/// A hash so far.
pub(crate) struct Hash<'a> {
    engine: &'a GhashEngine,
    memory: MutexGuard<'a, Memory>,
    /// Whether the memory has something of this hash.
    has_state: bool,
}

impl Hash<'_> {
    /// Where a block is that whoever hashes may use, behind the hash.
    pub(crate) fn aside(&self) -> Result<u64, Error> {
        Ok(self.memory.buffer.slice(ASIDE_AT..ZEROS_AT)?.address())
    }

    /// Where a block of zeros is, which nobody writes to.
    pub(crate) fn zeros(&self) -> Result<u64, Error> {
        Ok(self.memory.buffer.slice(ZEROS_AT..SUMS_AT)?.address())
    }

    /// Reads the hash, and the block behind it where `to` has two.
    pub(crate) fn read(&self, to: &mut [u8]) -> Result<(), Error> {
        self.memory.buffer.read(0, to)
    }

    /// Adds host memory, filled up with zeros to whole blocks, a part at a time.
    pub(crate) fn add_host(&mut self, data: &[u8]) -> Result<(), Error> {
        let part_bytes = self.engine.chunk_limit.get().min(FEED_BYTES);
        for part in data.chunks(part_bytes) {
            let padded = part.len().next_multiple_of(BLOCK);
            let buffer = staging::at_least(&mut self.memory.fed, &self.engine.device, padded)?;
            buffer.write(0, part)?; // after the kernels that read what was there
            let address = buffer.slice(0..padded)?.address();
            self.add(address, part.len())?;
        }
        Ok(())
    }

    /// Adds bytes on the device, filled up with zeros to whole blocks.
    pub(crate) fn add(&mut self, address: u64, bytes: usize) -> Result<(), Error> {
        if bytes == 0 { Ok(()) } else { self.add_all(address, bytes, None) }
    }

    /// Adds the last bytes, and the lengths, in bytes, of both strings of the message.
    pub(crate) fn add_last(
        &mut self,
        address: u64,
        bytes: usize,
        lengths: [usize; 2],
    ) -> Result<(), Error> {
        self.add_all(address, bytes, Some(lengths.map(|length| 8 * length as u64)))
    }

    fn add_all(
        &mut self,
        mut address: u64,
        mut bytes: usize,
        lengths: Option<[u64; 2]>,
    ) -> Result<(), Error> {
        while bytes > MOST_BLOCKS * BLOCK {
            self.add_once(address, MOST_BLOCKS * BLOCK, None)?;
            address += (MOST_BLOCKS * BLOCK) as u64;
            bytes -= MOST_BLOCKS * BLOCK;
        }
        self.add_once(address, bytes, lengths)
    }

    /// Adds so many bytes that no exponent passes 2^32.
    fn add_once(
        &mut self,
        address: u64,
        bytes: usize,
        lengths: Option<[u64; 2]>,
    ) -> Result<(), Error> {
        let whole = self.whole_blocks(bytes / BLOCK);
        let memory = self.memory.buffer.slice(0..self.memory.buffer.len())?.address();
        let from_state = if self.has_state { FROM_STATE } else { 0 };
        let end = Parameters {
            input: memory + SUMS_AT as u64,
            output: memory,
            powers: self.powers()?,
            units: whole as u64,
            tail: address + (whole * BLOCK) as u64,
            tail_bytes: (bytes - whole * BLOCK) as u64,
            lengths: lengths.unwrap_or_default(),
            flags: from_state | if lengths.is_some() { WITH_LENGTHS } else { 0 },
            ..Parameters::default()
        };
        let sums = if whole > 0 { self.add_blocks(memory, address, whole as u64, end)? } else { 0 };
        let parameters = Parameters { blocks: sums, ..end };
        let launch = shaped(&self.engine.device, &kernels::FINISH, 1)?;
        self.engine.start_kernel(launch, parameters)?;
        self.has_state = true;
        Ok(())
    }

    /// Of so many whole blocks, those that kernels add up before the one that ends the hash.
    fn whole_blocks(&self, blocks: usize) -> usize {
        match blocks {
            0..=FEW => 0,
            // The others are in front of zeros that lead to whole units: whole lines of them.
            _ if blocks - blocks % LINE >= self.engine.long_blocks() => blocks - blocks % LINE,
            _ => blocks,
        }
    }

    /// Adds whole blocks up to one sum for every warp of a grid; how many these are. `end` is for the
    /// kernel that comes after.
    fn add_blocks(
        &self,
        memory: u64,
        address: u64,
        blocks: u64,
        end: Parameters,
    ) -> Result<u64, Error> {
        let weighed = if blocks < self.engine.long_blocks() as u64 {
            // Every block is a sum by itself.
            Parameters {
                input: address,
                blocks,
                units: 1,
                sums: blocks,
                step: 1,
                ..Parameters::default()
            }
        } else {
            self.add_long(memory + self.memory.long_at as u64, address, blocks)?
        };
        let launch = shaped(&self.engine.device, &kernels::WEIGH, weighed.blocks)?;
        let Parameters { input: output, powers, tail_bytes, flags, .. } = end;
        let parameters = Parameters { output, powers, tail_bytes, flags, ..weighed };
        self.engine.start_kernel(launch, parameters)?;
        Ok(launch.threads() as u64 / 32)
    }

    /// Goes through a long message; what the sums that it leaves at `sums_at` stand for.
    fn add_long(&self, sums_at: u64, address: u64, blocks: u64) -> Result<Parameters, Error> {
        let engine = self.engine;
        let kernel = engine.family.kernel();
        // Where there are no matrices, every thread has a sum, and a power of the key is for all of them.
        let (powers, units, long, sums, step) = match engine.family.matrices() {
            None => (self.powers()?, 1, engine.long, engine.long_sums, 1),
            Some(Matrices { rows, step, .. }) => {
                let words = engine.key.slice(MATRICES_AT..engine.key.len())?.address();
                let units = blocks.div_ceil(u64::from(kernel.unit().blocks));
                (words, units, shaped(&engine.device, kernel, blocks)?, rows, step)
            }
        };
        let parameters = Parameters {
            input: address,
            output: sums_at,
            blocks,
            powers,
            units,
            ..Parameters::default()
        };
        engine.start_kernel(long, parameters)?;
        Ok(Parameters {
            input: sums_at,
            blocks: engine.family.sums(long),
            units,
            unit_blocks: u64::from(kernel.unit().blocks),
            sums,
            step,
            ..Parameters::default()
        })
    }

    fn powers(&self) -> Result<u64, Error> {
        Ok(self.engine.key.slice(POWERS_AT..MATRICES_AT)?.address())
    }
}

/// A block and the one after it, cleared when dropped: what [`Hash::read`] fills.
pub(crate) fn two_blocks() -> Zeroizing<[u8; 2 * BLOCK]> {
    Zeroizing::new([0; 2 * BLOCK])
}
