//! Keys and runs a cipher's kernels, over data on the device or in host memory.

use std::{
    any::Any,
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use cipher::InOutBuf;
use lanecrypt_core::{Counter, Direction, Mode};
use lanecrypt_kernels::Module;

pub use crate::parameters::Keys;
use crate::{
    Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Error, KeyPair, Properties, Resources,
    driver::{LoadedKernel, Shape},
};

/// Blocks that a group of threads takes at once.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Threads of the group, at most a thread block of them.
    pub threads: u32,
    /// Blocks that the group takes.
    pub blocks: u32,
    /// Whether the groups start at counters that are a multiple of `blocks`, so that data which
    /// starts in between needs one group more.
    pub aligned: bool,
}

/// A kernel and how to launch it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its name in the module.
    pub name: &'static str,
    /// Bytes of dynamic shared memory of a thread block.
    pub shared_bytes: u32,
    /// The most threads of a thread block, a multiple of 32.
    pub threads: u32,
    /// What its threads take at once.
    pub unit: Unit,
}

/// The kernels that compute a cipher in one way.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The module that they are in.
    pub module: &'static Module,
    /// ECB encryption.
    pub ecb_encrypt: Kernel,
    /// ECB decryption.
    pub ecb_decrypt: Kernel,
    /// CTR.
    pub ctr: Kernel,
    /// CTR's key stream without data, which is not stored: for measuring.
    pub keystream: Option<Kernel>,
}

/// Kernels `<prefix>_ecb_encrypt`, `<prefix>_ecb_decrypt` and `<prefix>_ctr` of a module that are
/// launched alike; CTR starts groups of more than one block at aligned counters. With `one_ecb`,
/// both directions are `<prefix>_ecb` under other keys; with `keystream` there is
/// `<prefix>_keystream` too.
#[macro_export]
macro_rules! program {
    ($module:ident, $prefix:literal, $threads:expr, $shared:expr, $unit:expr) => {
        $crate::program!(@ $module, concat!($prefix, "_ecb_encrypt"),
            concat!($prefix, "_ecb_decrypt"), $prefix, None, $threads, $shared, $unit)
    };
    ($module:ident, $prefix:literal, $threads:expr, $shared:expr, $unit:expr, one_ecb) => {
        $crate::program!(@ $module, concat!($prefix, "_ecb"), concat!($prefix, "_ecb"),
            $prefix, None, $threads, $shared, $unit)
    };
    ($module:ident, $prefix:literal, $threads:expr, $shared:expr, $unit:expr, one_ecb,
        keystream) => {
        $crate::program!(@ $module, concat!($prefix, "_ecb"), concat!($prefix, "_ecb"),
            $prefix, Some(concat!($prefix, "_keystream")), $threads, $shared, $unit)
    };
    (@ $module:ident, $encrypt:expr, $decrypt:expr, $prefix:literal, $keystream:expr,
        $threads:expr, $shared:expr, $unit:expr) => {{
        const KERNEL: $crate::Kernel = $crate::Kernel {
            name: $encrypt,
            shared_bytes: $shared,
            threads: $threads,
            unit: $unit,
        };
        const KEYSTREAM: Option<&str> = $keystream;
        $crate::Program {
            module: &$crate::kernels::$module,
            ecb_encrypt: KERNEL,
            ecb_decrypt: $crate::Kernel { name: $decrypt, ..KERNEL },
            ctr: $crate::Kernel {
                name: concat!($prefix, "_ctr"),
                unit: $crate::Unit { aligned: KERNEL.unit.blocks > 1, ..KERNEL.unit },
                ..KERNEL
            },
            keystream: match KEYSTREAM {
                Some(name) => Some($crate::Kernel { name, ..KERNEL }),
                None => None,
            },
        }
    }};
}

impl Unit {
    /// A thread by itself, a block at a time.
    pub const THREAD: Self = Self { threads: 1, blocks: 1, aligned: false };
}

impl Program {
    /// The same, with a CTR kernel whose groups of threads are others.
    #[must_use]
    pub const fn with_ctr_unit(self, unit: Unit) -> Self {
        Self { ctr: Kernel { unit, ..self.ctr }, ..self }
    }

    /// All its kernels but that of the key stream.
    #[must_use]
    pub fn kernels(&self) -> [Kernel; 3] {
        [self.ecb_encrypt, self.ecb_decrypt, self.ctr]
    }
}

/// What to do with data on the device.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// ECB in this direction; whole blocks.
    Ecb(Direction),
    /// CTR from this counter block on; any length.
    Ctr(&'a [u8]),
}

/// Bytes of host data that are on the device at once.
const CHUNK_BYTES: usize = 256 << 20;
/// Scratch memory that `lanecrypt_core::modes` may use on the host.
const MODE_CHUNK_BYTES: usize = 16 << 20;
/// Bytes of the largest block.
const MAX_BLOCK: usize = 16;

/// A cipher under one key on one device.
///
/// As a [`lanecrypt_core::Engine`] it takes host memory of any size, a part at a time through
/// memory of the device; [`run`](Self::run) takes data that is on the device already. Round keys
/// travel with every launch and are not kept on the device. Several threads may use one engine;
/// host calls take turns.
pub struct Engine {
    device: Device,
    program: &'static Program,
    block_bytes: usize,
    keys: KeyPair,
    /// The most threads of a thread block, where fewer are wanted than the kernel allows.
    thread_block: AtomicU32,
    staging: Mutex<Option<DeviceBuffer>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("device", &self.device)
            .field("module", &self.program.module.name)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Keys `program` for blocks of `block_bytes`, which is 8 or 16.
    #[must_use]
    pub fn new(
        device: &Device,
        program: &'static Program,
        block_bytes: usize,
        keys: KeyPair,
    ) -> Self {
        Self {
            device: device.clone(),
            program,
            block_bytes,
            keys,
            thread_block: AtomicU32::new(u32::MAX),
            staging: Mutex::new(None),
        }
    }

    /// Lets a thread block have at most `threads` threads, for measuring what their number is
    /// worth. Never fewer than a group of the kernel needs, never more than it was built for.
    pub fn limit_thread_block(&self, threads: u32) {
        self.thread_block.store(threads / 32 * 32, Ordering::Relaxed);
    }

    /// The device it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernels it runs.
    #[must_use]
    pub fn program(&self) -> &'static Program {
        self.program
    }

    /// What a kernel takes of this device; `None` for the host build.
    ///
    /// # Errors
    /// Driver errors.
    pub fn resources(&self, kernel: &Kernel) -> Result<Option<Resources>, Error> {
        let loaded = self.device.kernel(self.program.module, kernel.name, kernel.shared_bytes)?;
        self.device.driver().resources(loaded)
    }

    /// Starts `operation` from `input` to `output`, both on this engine's device and equally long.
    /// Returns as soon as the kernel is queued; reading the output waits for it.
    ///
    /// # Errors
    /// [`Error::Data`] for lengths and counters the mode does not take; driver errors.
    pub fn run(
        &self,
        operation: Operation<'_>,
        input: &DeviceSlice<'_>,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<(), Error> {
        let length = output.as_slice().len();
        if input.len() != length {
            let error = lanecrypt_core::Error::OutputLength { input: input.len(), output: length };
            return Err(Error::Data(error));
        }
        self.check_device(input)?;
        self.check_device(&output.as_slice())?;
        self.run_checked(operation, Some(input), output)
    }

    /// As [`run`](Self::run), with the result in place of the input.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_in_place(
        &self,
        operation: Operation<'_>,
        data: &mut DeviceSliceMut<'_>,
    ) -> Result<(), Error> {
        self.check_device(&data.as_slice())?;
        self.run_checked(operation, None, data)
    }

    /// The device's own time for one [`run`](Self::run).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn time(
        &self,
        operation: Operation<'_>,
        input: &DeviceSlice<'_>,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<Duration, Error> {
        self.device.driver().time(&mut || self.run(operation, input, output))
    }

    /// The device's own time for the key stream of `blocks` blocks from a counter block on, which is
    /// not stored: every thread writes the XOR of its blocks to `output`, so that none is left out.
    /// `None` where these kernels have no such form.
    ///
    /// # Errors
    /// [`Error::Data`] for a counter that is no block, and an output of less than a block for every
    /// thread; driver errors.
    pub fn time_keystream(
        &self,
        counter: &[u8],
        blocks: u64,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<Option<Duration>, Error> {
        let Some(kernel) = &self.program.keystream else {
            return Ok(None);
        };
        self.check_device(&output.as_slice())?;
        let counter = self.counter(Operation::Ctr(counter))?;
        let (_, shape) = self.loaded(kernel, blocks)?;
        let needed = shape.grid as usize * shape.threads as usize * self.block_bytes;
        let (address, length) = (output.as_slice().address(), output.as_slice().len());
        if length < needed {
            let error = lanecrypt_core::Error::OutputLength { input: needed, output: length };
            return Err(Error::Data(error));
        }
        let keys = &self.keys.encrypt;
        let mut launch = || self.launch_at(kernel, keys, address, address, blocks, counter);
        self.device.driver().time(&mut launch).map(Some)
    }

    fn check_device(&self, slice: &DeviceSlice<'_>) -> Result<(), Error> {
        if std::ptr::eq(self.device.driver(), slice.device().driver()) {
            return Ok(());
        }
        Err(Error::Driver {
            doing: "running a kernel".into(),
            name: "buffer".into(),
            reason: format!(
                "the buffer lies on {:?}, the engine runs on {:?}",
                slice.device(),
                self.device
            ),
        })
    }

    /// Runs from `input`, which is as long as `output`, or in place where there is none. The kernel
    /// leaves a partial block at the end alone.
    fn run_checked(
        &self,
        operation: Operation<'_>,
        input: Option<&DeviceSlice<'_>>,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<(), Error> {
        let (target, length) = (output.as_slice().address(), output.as_slice().len());
        let whole = self.whole_blocks(operation, length)?;
        self.launch(operation, input.map_or(target, DeviceSlice::address), target, whole)?;
        if whole * self.block_bytes < length {
            let mut tail = [0; MAX_BLOCK];
            let tail = &mut tail[..length - whole * self.block_bytes];
            match input {
                Some(input) => input.read_end(tail)?,
                None => output.as_slice().read_end(tail)?,
            }
            self.xor_tail(operation, whole, tail)?;
            output.write_end(tail)?;
        }
        Ok(())
    }

    /// Whole blocks in `length` bytes; ECB takes nothing else.
    fn whole_blocks(&self, operation: Operation<'_>, length: usize) -> Result<usize, Error> {
        let block = self.block_bytes;
        if matches!(operation, Operation::Ecb(_)) && !length.is_multiple_of(block) {
            let mode = Mode::Ecb;
            let error = lanecrypt_core::Error::NotWholeBlocks { mode, given: length, block };
            return Err(Error::Data(error));
        }
        Ok(length / block)
    }

    /// Runs CTR over the last, partial block, which comes after `whole` others: through a block
    /// of its own, since the kernels write whole blocks only.
    fn xor_tail(
        &self,
        operation: Operation<'_>,
        whole: usize,
        tail: &mut [u8],
    ) -> Result<(), Error> {
        let counter = self.counter(operation)?.map(|counter| counter.plus(whole as u128));
        let mut block = DeviceBuffer::zeroed(&self.device, MAX_BLOCK)?;
        let address = block.slice_mut(0..MAX_BLOCK)?.as_slice().address();
        self.launch_at(&self.program.ctr, &self.keys.encrypt, address, address, 1, counter)?;
        let mut keystream = [0; MAX_BLOCK];
        block.read(0, &mut keystream)?;
        for (byte, key) in tail.iter_mut().zip(keystream) {
            *byte ^= key;
        }
        Ok(())
    }

    fn counter(&self, operation: Operation<'_>) -> Result<Option<Counter>, Error> {
        let Operation::Ctr(counter) = operation else {
            return Ok(None);
        };
        let accepted = self.block_bytes;
        let parsed = Counter::from_block(counter).filter(|_| counter.len() == accepted);
        parsed.map(Some).ok_or(Error::Data(lanecrypt_core::Error::IvLength {
            mode: Mode::Ctr,
            given: counter.len(),
            accepted,
        }))
    }

    fn launch(
        &self,
        operation: Operation<'_>,
        input: u64,
        output: u64,
        blocks: usize,
    ) -> Result<(), Error> {
        let counter = self.counter(operation)?;
        let (kernel, keys) = match operation {
            Operation::Ecb(Direction::Encrypt) => (&self.program.ecb_encrypt, &self.keys.encrypt),
            Operation::Ecb(Direction::Decrypt) => (&self.program.ecb_decrypt, &self.keys.decrypt),
            Operation::Ctr(_) => (&self.program.ctr, &self.keys.encrypt),
        };
        self.launch_at(kernel, keys, input, output, blocks as u64, counter)
    }

    fn launch_at(
        &self,
        kernel: &Kernel,
        keys: &Keys,
        input: u64,
        output: u64,
        blocks: u64,
        counter: Option<Counter>,
    ) -> Result<(), Error> {
        if blocks == 0 {
            return Ok(());
        }
        let (loaded, shape) = self.loaded(kernel, blocks)?;
        let parameters = keys.parameters(input, output, blocks, counter.map_or(0, Counter::value));
        // SAFETY: the block has the layout of `Parameters`, which the host build checks in tests;
        // both addresses come from buffers of this device that hold `blocks` blocks and live
        // through the launch: device calls run in order, and memory is freed in that order too.
        unsafe { self.device.driver().launch(loaded, shape, &parameters) }
    }

    /// A kernel, and its launch for so many blocks.
    fn loaded(&self, kernel: &Kernel, blocks: u64) -> Result<(LoadedKernel, Shape), Error> {
        let loaded = self.device.kernel(self.program.module, kernel.name, kernel.shared_bytes)?;
        let limit = self.thread_block.load(Ordering::Relaxed);
        let shape = kernel.shape(blocks, 1, limit);
        let resident = self.device.driver().resident_blocks(loaded, shape)?;
        let resident = self.device.properties().multiprocessors * resident;
        Ok((loaded, kernel.shape(blocks, resident, limit)))
    }

    /// Runs `operation` over host memory, a part at a time through the staging buffer. On an error
    /// the parts before it are complete: their bytes are added up in `done`.
    pub(crate) fn run_on_host_memory(
        &self,
        operation: Operation<'_>,
        mut data: InOutBuf<'_, '_, u8>,
        done: &mut usize,
    ) -> Result<(), Error> {
        self.whole_blocks(operation, data.len())?;
        let counter = self.counter(operation)?;
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        while !data.is_empty() {
            let length = CHUNK_BYTES.min(data.len());
            let (mut part, rest) = data.split_at(length);
            let padded = length.next_multiple_of(self.block_bytes);
            let buffer = self.staging_buffer(&mut staging, padded)?;
            buffer.write(0, part.get_in())?;
            let address = buffer.slice(0..padded)?.address();
            let mut block = [0; MAX_BLOCK];
            let block = &mut block[..self.block_bytes];
            let operation = match counter {
                None => operation,
                Some(counter) => {
                    counter.plus((*done / self.block_bytes) as u128).fill(block);
                    Operation::Ctr(block)
                }
            };
            self.launch(operation, address, address, padded / self.block_bytes)?;
            self.device.driver().synchronize()?;
            buffer.read(0, part.get_out())?;
            *done += length;
            data = rest;
        }
        Ok(())
    }

    /// The staging buffer, made or enlarged where it is too small.
    fn staging_buffer<'a>(
        &self,
        staging: &'a mut Option<DeviceBuffer>,
        bytes: usize,
    ) -> Result<&'a mut DeviceBuffer, Error> {
        let large_enough = staging.take_if(|buffer| buffer.len() >= bytes);
        if let Some(buffer) = large_enough {
            return Ok(staging.insert(buffer));
        }
        *staging = None; // frees the one that is too small first
        Ok(staging.insert(DeviceBuffer::zeroed(&self.device, bytes.next_power_of_two())?))
    }
}

impl Kernel {
    /// The launch for `blocks` blocks on a device that holds `resident` thread blocks at once:
    /// no more threads than there is work for, at most `limit` in a thread block, and no more thread
    /// blocks than run at once.
    fn shape(&self, blocks: u64, resident: u32, limit: u32) -> Shape {
        let groups = blocks.div_ceil(u64::from(self.unit.blocks)) + u64::from(self.unit.aligned);
        let threads_needed = groups * u64::from(self.unit.threads);
        let smallest = self.unit.threads.max(32);
        let threads = threads_needed
            .next_multiple_of(32)
            .min(u64::from(self.threads.min(limit)))
            .max(u64::from(smallest)) as u32;
        let grid = threads_needed.div_ceil(u64::from(threads)).min(u64::from(resident.max(1)));
        Shape { grid: grid as u32, threads, shared_bytes: self.shared_bytes }
    }

    /// Whether a thread block of this kernel fits a device.
    #[must_use]
    pub fn fits(&self, properties: &Properties) -> bool {
        self.shared_bytes <= properties.shared_bytes_per_block
    }
}

impl lanecrypt_core::Engine for Engine {
    fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    fn chunk_bytes(&self) -> usize {
        MODE_CHUNK_BYTES
    }

    fn ecb(
        &self,
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        Ok(self.run_on_host_memory(Operation::Ecb(direction), data, &mut 0)?)
    }

    fn ctr(&self, counter: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), lanecrypt_core::Error> {
        Ok(self.run_on_host_memory(Operation::Ctr(counter), data, &mut 0)?)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
