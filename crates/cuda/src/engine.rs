//! Keys and runs a cipher's kernels, over data on the device or in host memory.

use std::{
    any::Any,
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use cipher::InOutBuf;
use lanecrypt_core::{ConstantTime, Direction};
use lanecrypt_kernels::{Kernel, Program, Task, modes};
use zeroize::Zeroizing;

use crate::{
    Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Error, Family, KeyPair, Keys, Operation,
    Resources,
    launch::{Launch, ThreadLimit},
    parameters::Header,
    scratch::Scratch,
    staging::{Chunk, ChunkLimit, Staging},
    work::{MAX_BLOCK, Start, Work},
};

/// Scratch memory that `lanecrypt_core::modes` may use on the host.
const MODE_CHUNK_BYTES: usize = 16 << 20;

/// A cipher under one key on one device.
///
/// As a [`lanecrypt_core::Engine`] it takes host memory of any size, a part at a time through
/// memory of the device; [`run`](Self::run) takes data that is on the device already. Round keys
/// travel with every launch and are not kept on the device. Several threads may use one engine;
/// host calls take turns.
pub struct Engine {
    device: Device,
    program: &'static Program,
    family: Family,
    keys: KeyPair,
    thread_limit: ThreadLimit,
    pub(crate) chunk_limit: ChunkLimit,
    pub(crate) staging: Mutex<Staging>,
    /// Blocks that are saved, or masks that warps start with: for one launch.
    scratch: Scratch,
    /// What several launches need, each of which may need the other one.
    pub(crate) masks: Scratch,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("device", &self.device)
            .field("module", &self.program.module().name)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Keys `program`, whose layout the keys have: [`Family::engine`](crate::Family::engine) checks
    /// it.
    pub(crate) fn new(
        device: &Device,
        program: &'static Program,
        family: Family,
        keys: KeyPair,
    ) -> Self {
        Self {
            device: device.clone(),
            program,
            family,
            keys,
            thread_limit: ThreadLimit::none(),
            chunk_limit: ChunkLimit::default(),
            staging: Mutex::default(),
            scratch: Scratch::default(),
            masks: Scratch::default(),
        }
    }

    /// Lets a thread block have at most `threads` threads, for measuring what their number is
    /// worth. Never fewer than a group of the kernel needs, never more than it was built for.
    pub fn limit_thread_block(&self, threads: u32) {
        self.thread_limit.set(threads);
    }

    /// Lets at most `bytes` bytes of host data be on the device at once, 256 MiB where nothing else
    /// is said; whole blocks of it, and one at least.
    pub fn limit_chunk(&self, bytes: usize) {
        self.chunk_limit.set(bytes);
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

    /// The family that it is of.
    #[must_use]
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// The claim of the family that it is of.
    #[must_use]
    pub fn constant_time(&self) -> ConstantTime {
        self.family.constant_time()
    }

    /// What a kernel takes of this device; `None` for the host build.
    ///
    /// # Errors
    /// Driver errors.
    pub fn resources(&self, kernel: &Kernel) -> Result<Option<Resources>, Error> {
        self.device.driver().resources(self.device.kernel(kernel)?.kernel)
    }

    /// Starts `operation` from `input` to `output`, both on this engine's device and equally long.
    /// Returns as soon as the kernel is queued; reading the output waits for it.
    ///
    /// # Errors
    /// [`Error::Data`] for lengths, counters and IVs that the mode does not take;
    /// [`Error::OtherDevice`]; driver errors.
    pub fn run(
        &self,
        operation: Operation<'_>,
        input: &DeviceSlice<'_>,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<(), Error> {
        output.require_pair(input, &self.device)?;
        self.run_checked(self.work(operation, input.len())?, Some(input), output)
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
        data.as_slice().require_device(&self.device)?;
        self.run_checked(self.work(operation, data.as_slice().len())?, None, data)
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
        self.device.time(&mut || self.run(operation, input, output))
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
        if self.program.kernel(Task::Keystream).is_none() {
            return Ok(None);
        }
        output.as_slice().require_device(&self.device)?;
        let work = Work { task: Task::Keystream, ..self.work(Operation::Ctr(counter), 0)? };
        if blocks == 0 {
            return Ok(Some(Duration::ZERO));
        }
        // Shaped once: what is checked here is what is launched.
        let launch = self.shaped(work.task, blocks)?;
        let needed = launch.threads() * self.program.block_bytes();
        let (address, length) = (output.as_slice().address(), output.as_slice().len());
        if length < needed {
            let error = lanecrypt_core::Error::OutputLength { input: needed, output: length };
            return Err(Error::Data(error));
        }
        let mut start = || self.start(launch, work, (address, address), blocks, 0);
        self.device.time(&mut start).map(Some)
    }

    /// Runs from `input`, which is as long as `output`, or in place where there is none. The kernel
    /// leaves a partial block at the end alone.
    fn run_checked(
        &self,
        work: Work,
        input: Option<&DeviceSlice<'_>>,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<(), Error> {
        let (target, length) = (output.as_slice().address(), output.as_slice().len());
        let whole = length / self.program.block_bytes();
        self.launch(work, input.map_or(target, DeviceSlice::address), target, whole)?;
        if whole * self.program.block_bytes() < length {
            let mut tail = Zeroizing::new([0; MAX_BLOCK]);
            let tail = &mut tail[..length - whole * self.program.block_bytes()];
            match input {
                Some(input) => input.read_end(tail)?,
                None => output.as_slice().read_end(tail)?,
            }
            self.xor_tail(work.after_blocks(whole), tail)?;
            output.write_end(tail)?;
        }
        Ok(())
    }

    /// Runs CTR over a partial block, the next: through a block of its own, since the kernels write
    /// whole blocks only.
    fn xor_tail(&self, work: Work, tail: &mut [u8]) -> Result<(), Error> {
        let mut block = DeviceBuffer::zeroed(&self.device, MAX_BLOCK)?;
        let address = block.slice_mut(0..MAX_BLOCK)?.as_slice().address();
        self.launch(work, address, address, 1)?;
        let mut keystream = Zeroizing::new([0; MAX_BLOCK]);
        block.read(0, &mut *keystream)?;
        for (byte, key) in tail.iter_mut().zip(*keystream) {
            *byte ^= key;
        }
        Ok(())
    }

    /// Checks an operation over so many bytes.
    fn work(&self, operation: Operation<'_>, length: usize) -> Result<Work, Error> {
        operation.work(length, self.program.block_bytes())
    }

    /// Runs `work` from `input` to `output`, the same memory or apart.
    pub(crate) fn launch(
        &self,
        work: Work,
        input: u64,
        output: u64,
        blocks: usize,
    ) -> Result<(), Error> {
        let block_bytes = self.program.block_bytes() as u64;
        let (mut work, mut done) = (work, 0);
        while done < blocks {
            let now = work.blocks_at_once(blocks - done);
            let offset = done as u64 * block_bytes;
            self.launch_once(work, input + offset, output + offset, now as u64)?;
            work = work.after_blocks(now);
            done += now;
        }
        Ok(())
    }

    fn launch_once(&self, work: Work, input: u64, output: u64, blocks: u64) -> Result<(), Error> {
        let launch = self.shaped(work.task, blocks)?;
        if !matches!(work.start, Start::Chain(_)) || input != output {
            return self.start(launch, work, (input, output), blocks, 0);
        }
        // In place: a warp's first block needs one that another warp overwrites.
        let range = launch.range_blocks(blocks);
        let block = self.program.block_bytes() as u64;
        let saved = (blocks - 1) / range;
        self.scratch.with(&self.device, (saved * block) as usize, |scratch| {
            let last_of_first = input + (range - 1) * block;
            let rows =
                Rows { from_pitch: range * block, to_pitch: block, width: block, count: saved };
            self.copy_rows(last_of_first, scratch, rows)?;
            self.start(launch, work, (input, output), blocks, scratch)
        })
    }

    /// Copies rows of bytes that lie apart.
    pub(crate) fn copy_rows(&self, from: u64, to: u64, rows: Rows) -> Result<(), Error> {
        let bytes = rows.count * rows.width;
        if bytes == 0 {
            return Ok(());
        }
        let mode = [rows.from_pitch, rows.to_pitch, rows.width];
        self.start_mode(&modes::COPY_ROWS, Header { input: from, output: to, blocks: bytes, mode })
    }

    /// Starts a kernel that takes no keys.
    pub(crate) fn start_mode(&self, kernel: &Kernel, header: Header) -> Result<(), Error> {
        let ready = self.device.kernel(kernel)?;
        let driver = self.device.driver();
        let launch = Launch::new(driver, (kernel, ready), header.blocks, &self.thread_limit)?;
        // SAFETY: the block is as long as the kernel's, which was checked when it was loaded. What
        // the kernel reads and writes follows from the header alone, whose addresses and lengths the
        // caller takes from memory of this device that lives through the launch: device calls run in
        // order, and memory is freed in that order too.
        unsafe { driver.launch(launch.kernel, launch.shape, &header.without_keys()) }
    }

    /// The launch of a task over so many blocks.
    fn shaped(&self, task: Task, blocks: u64) -> Result<Launch, Error> {
        let module = self.program.module().name;
        let kernel = self.program.kernel(task).ok_or(Error::Task { module, task })?;
        let ready = self.device.kernel(kernel)?;
        Launch::new(self.device.driver(), (kernel, ready), blocks, &self.thread_limit)
    }

    /// The keys that a task takes.
    fn keys(&self, task: Task) -> &Keys {
        match task {
            Task::EcbDecrypt | Task::CbcDecrypt | Task::XtsDecrypt => &self.keys.decrypt,
            _ => &self.keys.encrypt,
        }
    }

    /// Starts a kernel of the program; `aside` is the address of what its mode keeps elsewhere.
    fn start(
        &self,
        launch: Launch,
        work: Work,
        (input, output): (u64, u64),
        blocks: u64,
        aside: u64,
    ) -> Result<(), Error> {
        let [first, second] = work.words();
        let mode = [first, second, aside];
        self.start_program(launch, work.task, Header { input, output, blocks, mode })
    }

    /// Runs XTS over whole blocks of units of `unit_blocks` blocks, whose first masks lie at `masks`.
    pub(crate) fn launch_xts(
        &self,
        direction: Direction,
        (input, output): (u64, u64),
        blocks: u64,
        unit_blocks: u64,
        masks: u64,
    ) -> Result<(), Error> {
        if blocks == 0 {
            return Ok(());
        }
        let task = match direction {
            Direction::Encrypt => Task::XtsEncrypt,
            Direction::Decrypt => Task::XtsDecrypt,
        };
        let launch = self.shaped(task, blocks)?;
        let range = launch.range_blocks(blocks);
        let ranges = blocks.div_ceil(range);
        self.scratch.with(&self.device, ranges as usize * MAX_BLOCK, |starts| {
            let mode = [0, range, unit_blocks];
            let header = Header { input: masks, output: starts, blocks: ranges, mode };
            self.start_mode(&modes::XTS_MASKS, header)?;
            let mode = [unit_blocks, masks, starts];
            self.start_program(launch, task, Header { input, output, blocks, mode })
        })
    }

    /// Starts a kernel of the program.
    fn start_program(&self, launch: Launch, task: Task, header: Header) -> Result<(), Error> {
        let parameters = self.keys(task).parameters(header);
        // SAFETY: the kernel is of this engine's program, for which `Family::engine` checked the
        // keys, so that the block is as long as the kernel's (checked when it was loaded) and its
        // counts are ones it knows. All addresses come from buffers of this device that hold
        // `blocks` blocks, or a block for every thread of the key-stream kernel, for every warp that
        // has a range, or for every data unit, and live through the launch: device calls run in
        // order, and memory is freed in that order too.
        unsafe { self.device.driver().launch(launch.kernel, launch.shape, &parameters) }
    }

    /// Runs `operation` over host memory of any size, a part at a time through memory of the device.
    ///
    /// # Errors
    /// As [`run`](Self::run); the output is unspecified then.
    pub fn run_host_memory(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        self.run_on_host_memory(operation, data, &mut 0)
    }

    /// Runs `operation` over host memory, a part at a time. On an error the parts before it are
    /// complete, their bytes are added up in `done`, and the input of the rest is as it was.
    pub(crate) fn run_on_host_memory(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
        done: &mut usize,
    ) -> Result<(), Error> {
        let mut work = self.work(operation, data.len())?;
        let block_bytes = self.program.block_bytes();
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let chunk = Chunk { bytes: self.chunk_limit.get(), grain: block_bytes };
        staging.run(&self.device, data, chunk, done, |input, part| {
            let (address, blocks) = (part.address(), part.len() / block_bytes);
            self.launch(work, address, address, blocks)?;
            work = work.after(input); // while it is there: the result may take its place
            self.device.driver().synchronize()
        })
    }
}

impl Engine {
    /// Runs a decryption over whole blocks of host memory; `previous` becomes the last of them.
    fn decrypt_chained(
        &self,
        operation: Operation<'_>,
        previous: &mut [u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let mut last = [0; MAX_BLOCK];
        let last = &mut last[..previous.len()];
        match data.get_in().rchunks_exact(previous.len()).next() {
            Some(block) => last.copy_from_slice(block),
            None => return Ok(()),
        }
        self.run_host_memory(operation, data)?;
        previous.copy_from_slice(last);
        Ok(())
    }
}

impl lanecrypt_core::Engine for Engine {
    fn block_bytes(&self) -> usize {
        self.program.block_bytes()
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

    fn cbc_decrypt_blocks(
        &self,
        previous: &mut [u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        let iv = previous.to_vec();
        Ok(self.decrypt_chained(Operation::CbcDecrypt(&iv), previous, data)?)
    }

    fn cfb_decrypt_blocks(
        &self,
        previous: &mut [u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        let iv = previous.to_vec();
        Ok(self.decrypt_chained(Operation::CfbDecrypt(&iv), previous, data)?)
    }

    fn xts_blocks(
        &self,
        direction: Direction,
        mask: &mut [u8; 16],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        Ok(self.xts_on_host_memory(direction, mask, data)?)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Rows of bytes: how far their starts are apart where they come from and where they go to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) from_pitch: u64,
    pub(crate) to_pitch: u64,
    /// Bytes of a row.
    pub(crate) width: u64,
    pub(crate) count: u64,
}
