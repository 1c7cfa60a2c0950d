//! Keys and runs a cipher's kernels, over data on the device or in host memory.

#[cfg(feature = "cudarc-interop")]
pub(crate) mod cudarc_interop;
pub(crate) mod draws;
pub(crate) mod family;
pub(crate) mod gcm;
pub(crate) mod ghash;
mod keyed;
pub(crate) mod on_stream;
mod single;
pub(crate) mod xts;

use std::{fmt, time::Duration};

use cipher::InOutBuf;
use lanecrypt_core::{Backend, ConstantTime, Counter};
use lanecrypt_kernels::{Kernel, Program, Task};

use self::{family::Family, keyed::Keyed, on_stream::OnStream, single::Single};
use crate::{
    Device, DeviceInOut, DeviceSliceMut, Error, Geometry, Operation, Pending, Resources, Stream,
    device::buffer::MAX_BLOCK,
    launch::operation::{Work, task_of},
    pipeline::{self, ChunkLimit, Cut},
};

/// Scratch memory that `lanecrypt_core::modes` may use on the host.
pub(crate) const MODE_CHUNK_BYTES: usize = 16 << 20;

/// A cipher under one key on one device.
///
/// As a [`lanecrypt_core::Engine`] it takes host memory of any size, pieces of it side by side through
/// memory of the device; [`run`](Self::run) takes data that is on the device already, and
/// [`queue`](Self::queue) does so on a stream. Round keys travel with every launch and are not kept
/// on the device. Several threads may use one engine.
///
/// Operations each of whose blocks waits for the one before it, such as CBC encryption, have no kernel: over host
/// memory the cipher's backend "default" runs them on the CPU, where a block takes less than a launch.
pub struct Engine {
    pub(crate) keyed: Keyed,
    family: Family,
    pub(crate) chunk_limit: ChunkLimit,
    pub(crate) default_stream: Stream,
    single: Option<Single>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("device", self.device())
            .field("module", &self.keyed.program.module().name)
            .finish_non_exhaustive()
    }
}

impl AsRef<Self> for Engine {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Family {
    /// An engine of this family under a key of a length that the cipher takes.
    ///
    /// # Errors
    /// [`Error::Data`] for other key lengths; [`Error::Unavailable`] as [`Family::program`];
    /// [`Error::Mismatch`] for a family whose parts do not fit each other.
    pub fn engine(&self, device: &Device, key: &[u8]) -> Result<Engine, Error> {
        let keyed = Keyed::new(device, self, key)?;
        Ok(Engine {
            single: Single::new(self.cipher(), key)?,
            keyed,
            family: *self,
            chunk_limit: ChunkLimit::default(),
            default_stream: Stream::default_of(device),
        })
    }

    /// Makes the engine for the registry.
    ///
    /// # Errors
    /// As [`Family::engine`], and those of opening the device.
    pub fn create(
        &self,
        device: fn() -> Result<Device, Error>,
        key: &[u8],
    ) -> Result<Box<dyn lanecrypt_core::Engine>, lanecrypt_core::Error> {
        Ok(Box::new(self.engine(&device()?, key)?))
    }
}

impl Engine {
    /// An engine of a row of a cipher's table under a key, on the row's device; `None` of rows for CPUs.
    ///
    /// # Errors
    /// As [`Family::engine`], and those of opening the device.
    pub fn of(backend: &Backend, key: &[u8]) -> Result<Option<Self>, Error> {
        let on_device = Family::on_device(backend)?;
        on_device.map(|(family, device)| family.engine(&device, key)).transpose()
    }

    /// Launches the cipher's kernels so from now on, as far as they allow it, instead of as experience
    /// says: for measuring what that is worth. With `None`, by experience again.
    pub fn launch_as(&self, geometry: Option<Geometry>) {
        self.keyed.geometry.set(geometry);
    }

    /// Lets a piece of host data on the device have at most `bytes` bytes, whole blocks of it and one at
    /// least; [`Device::limit_host_memory`] says how many pieces are there at once.
    pub fn limit_chunk(&self, bytes: usize) {
        self.chunk_limit.set(bytes);
    }

    /// The device it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.keyed.device()
    }

    /// The kernels it runs, but for sizes for which [`other_programs`](Self::other_programs) has others.
    #[must_use]
    pub fn program(&self) -> &'static Program {
        self.keyed.program
    }

    /// The kernels it runs for small and for large data, if those are others; see
    /// [`Family::with_small`](crate::Family::with_small) and
    /// [`with_large`](crate::Family::with_large).
    pub fn other_programs(&self) -> impl Iterator<Item = &'static Program> {
        self.keyed.others.into_iter().flatten().map(|other| other.program)
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
        self.device().driver().resources(self.device().kernel(kernel)?.kernel)
    }

    /// Starts `operation` over data on this engine's device, in place or from one slice to another. Returns as
    /// soon as the kernel is queued; reading the output waits for it.
    ///
    /// # Errors
    /// [`Error::Data`] for lengths, counters and IVs that the mode does not take, and for unequal lengths;
    /// [`Error::Serial`], [`Error::OtherDevice`]; driver errors.
    pub fn run<'d>(
        &self,
        operation: Operation<'_>,
        data: impl Into<DeviceInOut<'d>>,
    ) -> Result<(), Error> {
        let data = data.into();
        data.require_device(self.device())?;
        let work = self.work(operation, data.len())?;
        self.without_stream().run(work, data.ends(), data.len())
    }

    /// As [`run`](Self::run), on a stream: it runs beside what is queued on other streams. The engine
    /// may be used, or dropped, meanwhile.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::OtherDevice`] for a stream of another device. Nothing is
    /// running any more then.
    pub fn queue<'b>(
        &self,
        stream: &'b Stream,
        operation: Operation<'_>,
        data: impl Into<DeviceInOut<'b>>,
    ) -> Result<Pending<'b>, Error> {
        let data = data.into();
        data.require_device(self.device())?;
        let work = self.work_on(stream, operation, data.len())?;
        stream.pending(self.queue_work(stream, work, data.ends(), data.len()))
    }

    /// Queues `operation` over `length` bytes at addresses of the caller's, and waits for nothing.
    ///
    /// # Safety
    /// Kernels of this engine's device may read `length` bytes at `input` and write as many at `output`,
    /// and nothing else writes to the former or uses the latter, from what was queued on `stream` before
    /// until this has run; after an error as well.
    ///
    /// # Errors
    /// [`Error::Addresses`] where the two overlap without being the same; as [`queue`](Self::queue). After
    /// driver errors a part of the work may run.
    pub unsafe fn queue_raw(
        &self,
        stream: &Stream,
        operation: Operation<'_>,
        input: u64,
        output: u64,
        length: usize,
    ) -> Result<(), Error> {
        check_addresses(input, output, length)?;
        let work = self.work_on(stream, operation, length)?;
        self.queue_work(stream, work, (input, output), length)
    }

    /// Checks an operation on a stream over `length` bytes.
    fn work_on(
        &self,
        stream: &Stream,
        operation: Operation<'_>,
        length: usize,
    ) -> Result<Work, Error> {
        stream.require_device(self.device())?;
        self.work(operation, length)
    }

    fn queue_work(
        &self,
        stream: &Stream,
        work: Work,
        ends: (u64, u64),
        length: usize,
    ) -> Result<(), Error> {
        stream.begin()?;
        self.on(stream).run(work, ends, length)
    }

    /// The cipher on the CPU.
    ///
    /// # Errors
    /// [`Error::NoCpuBackend`].
    fn single(&self) -> Result<&Single, Error> {
        self.single.as_ref().ok_or(Error::NoCpuBackend { cipher: self.family.cipher().name })
    }

    pub(crate) fn on<'a>(&'a self, stream: &'a Stream) -> OnStream<'a> {
        OnStream {
            keyed: &self.keyed,
            single: self.single.as_ref(),
            stream,
            most: self.chunk_limit.get(),
        }
    }

    /// On the default stream.
    pub(crate) fn without_stream(&self) -> OnStream<'_> {
        self.on(&self.default_stream)
    }

    /// The device's own time for one [`run`](Self::run).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn time<'d>(
        &self,
        operation: Operation<'_>,
        data: impl Into<DeviceInOut<'d>>,
    ) -> Result<Duration, Error> {
        let mut data = data.into();
        self.device().time(&mut || self.run(operation, data.reborrow()))
    }

    /// The device's own time for the key stream of `blocks` blocks from a counter block on, which is
    /// not stored: every thread writes the XOR of its blocks to `output`, so that none is left out.
    /// `None` where these kernels have no such form.
    ///
    /// # Errors
    /// [`Error::Data`] for a counter that is no block, and an output of less than a block for every
    /// thread; [`Error::Alignment`] for one at no multiple of 16; driver errors.
    pub fn time_keystream(
        &self,
        counter: Counter,
        blocks: u64,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<Option<Duration>, Error> {
        if self.keyed.program.kernel(Task::Keystream).is_none() {
            return Ok(None);
        }
        output.as_slice().require_device(self.device())?;
        let work = Work { task: Task::Keystream, ..self.work(Operation::Ctr(counter), 0)? };
        if blocks == 0 {
            return Ok(Some(Duration::ZERO));
        }
        // Shaped once: what is checked here is what is launched.
        let launch = self.keyed.shaped(work.task, blocks)?;
        let needed = launch.threads() * self.keyed.program.block_bytes();
        let (address, length) = (output.as_slice().aligned()?, output.as_slice().len());
        if length < needed {
            let error = lanecrypt_core::Error::OutputLength { input: needed, output: length };
            return Err(Error::Data(error));
        }
        let on = self.without_stream();
        let mut start = || on.start(launch, work, (address, address), blocks, 0);
        self.device().time(&mut start).map(Some)
    }

    /// Checks an operation over `length` bytes.
    pub(crate) fn work(&self, operation: Operation<'_>, length: usize) -> Result<Work, Error> {
        Work::new(operation, length, self.keyed.program.block_bytes())
    }

    /// Runs `operation` over host memory of any size, pieces of it side by side through memory of the
    /// device, fed by several threads: [`Limits`](crate::Limits) bounds both.
    ///
    /// # Errors
    /// [`Error::Data`] as [`run`](Self::run); [`Error::Interrupted`] by driver errors, which says how much
    /// is complete.
    pub fn run_host_memory(
        &self,
        operation: Operation<'_>,
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let most = self.most_of_a_piece(operation, data.len());
        let cut = Cut::new(self.device(), &mut data, most, MAX_BLOCK);
        self.run_pieces(operation, data, cut)
    }

    /// As [`run_host_memory`](Self::run_host_memory); after an error what is not complete is as it was
    /// wherever it lies.
    pub(crate) fn run_recoverably(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let most = self.most_of_a_piece(operation, data.len());
        let cut = Cut::staged(self.device(), data.len(), most, MAX_BLOCK);
        self.run_pieces(operation, data, cut)
    }

    /// The most bytes of a piece of data of this length: the limit, or fewer where that was measured to be faster.
    fn most_of_a_piece(&self, operation: Operation<'_>, bytes: usize) -> usize {
        let most = task_of(operation).map(|task| self.keyed.most_of_a_piece(task, bytes));
        self.chunk_limit.get().min(most.unwrap_or(usize::MAX))
    }

    fn run_pieces(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
        cut: Cut,
    ) -> Result<(), Error> {
        let work = self.work(operation, data.len())?;
        let starts = work.at_pieces(data.get_in(), cut.bytes);
        self.run_from(&starts, data, cut)
    }

    /// Runs work that was checked over host memory, of whose pieces each has a start.
    pub(crate) fn run_from(
        &self,
        starts: &[Work],
        data: InOutBuf<'_, '_, u8>,
        cut: Cut,
    ) -> Result<(), Error> {
        let block = self.keyed.program.block_bytes();
        pipeline::run(self.device(), data, cut, block, |stream, address, piece, length| {
            self.on(stream).launch(starts[piece], address, address, length.div_ceil(block))
        })
    }
}

impl lanecrypt_core::Engine for Engine {
    fn block_bytes(&self) -> usize {
        self.keyed.program.block_bytes()
    }

    fn chunk_bytes(&self) -> usize {
        MODE_CHUNK_BYTES
    }

    fn run(
        &self,
        operation: Operation<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), lanecrypt_core::Error> {
        if task_of(operation).is_some() {
            return Ok(self.run_host_memory(operation, data)?);
        }
        match &self.single {
            Some(single) if operation.is_serial() => single.run_serial(operation, data),
            _ => lanecrypt_core::modes::by_ecb(self, operation, data),
        }
    }
}

/// Checks addresses of a caller's: what slices are by themselves.
pub(crate) fn check_addresses(input: u64, output: u64, length: usize) -> Result<(), Error> {
    if input == output || input.abs_diff(output) >= length as u64 {
        return Ok(());
    }
    Err(Error::Addresses { input, output, length })
}
