//! A device for tests: memory that is checked at every access, a toy cipher in place of the
//! kernels, streams that run as late as they may, and a fault at the driver call of one's choice.

mod batch;
mod fault;
mod ghash;
mod modes;
mod queue;
mod toy;

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    ptr::NonNull,
    sync::{Arc, Mutex},
    time::Duration,
};

use lanecrypt_kernels::Kernel;

use crate::{
    Device, Error, Properties,
    device::driver::{Driver, LoadedKernel, Mark, Resources, Shape, StreamHandle},
};

pub(crate) use self::fault::Fault;
use self::{
    fault::Calls,
    queue::{HostData, Queued, QueuedTask},
};
pub(crate) use toy::{
    CONSTANT_TIME, FAMILY, LARGE, LARGE_FROM, TOO_LARGE, TOY, ToyCipher, WITH_KEYSTREAM, toy_keys,
};

/// What uninitialised memory holds.
const GARBAGE: u8 = 0xdd;

/// What happens while [`Driver::time`] measures.
pub(crate) type Meanwhile = Box<dyn Fn() + Send + Sync>;

/// The device; clones are the same one, so that a test keeps an eye on it.
#[derive(Clone)]
pub(crate) struct Model {
    state: Arc<State>,
}

struct State {
    properties: Properties,
    calls: Calls,
    /// How long it waits where it is waited for.
    pause: Duration,
    /// Whether kernels read and write pinned host memory.
    maps_host: bool,
    memory: Mutex<Memory>,
    runs_queued: Mutex<()>,
    meanwhile: Mutex<Option<Meanwhile>>,
}

impl State {
    fn new(shared_bytes_per_block: u32, fault: Fault) -> Self {
        let properties = Properties {
            name: "model".into(),
            uuid: [0; 16],
            compute_capability: (0, 0),
            multiprocessors: 2,
            shared_bytes_per_block,
            memory_bytes: 1 << 30,
            clock_khz: 0,
            driver_version: 0,
        };
        Self {
            properties,
            calls: Calls::new(fault),
            pause: Duration::ZERO,
            maps_host: false,
            memory: Mutex::default(),
            runs_queued: Mutex::default(),
            meanwhile: Mutex::default(),
        }
    }
}

#[derive(Default)]
struct Memory {
    /// Bytes by their first address.
    allocations: BTreeMap<u64, Vec<u8>>,
    /// Bytes that were asked for so far, and room between the allocations.
    end: u64,
    /// Names of the kernels that were loaded.
    kernels: Vec<&'static str>,
    /// Allocations that were freed with something in them.
    freed_full: usize,
    /// Bytes of allocations of host memory, by their addresses.
    pinned: BTreeMap<usize, usize>,
    /// Kernels that were launched.
    launches: usize,
    /// These and copies that were started.
    steps: usize,
    /// What was queued on streams and has not run yet.
    queued: Vec<Queued>,
    /// Streams and marks that were made so far, and those that are there.
    handles: usize,
    live_handles: usize,
    /// By mark, its stream and how many steps there were before it.
    marks: BTreeMap<usize, (StreamHandle, usize)>,
    /// Bytes of the longest copy to the device.
    largest_write: usize,
}

impl Memory {
    /// A handle that nothing else has, and that is not the default stream's.
    fn new_handle(&mut self) -> usize {
        self.handles += 1;
        self.live_handles += 1;
        self.handles
    }

    /// The allocation that has all of `range`, or the host memory.
    fn slice(&mut self, range: Range<u64>) -> &mut [u8] {
        let pinned = self.pinned.range(..=range.start as usize).next_back();
        if pinned.is_some_and(|(start, bytes)| range.end as usize <= start + bytes) {
            let first = std::ptr::with_exposed_provenance_mut(range.start as usize);
            // SAFETY: the allocation is there, and the host leaves alone what it gave to kernels until it waited for them.
            return unsafe {
                std::slice::from_raw_parts_mut(first, (range.end - range.start) as usize)
            };
        }
        let (start, bytes) =
            self.allocations.range_mut(..=range.start).next_back().expect("nothing lies there");
        let offset = (range.start - start) as usize;
        &mut bytes[offset..offset + (range.end - range.start) as usize]
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("calls", &self.state.calls).finish_non_exhaustive()
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::failing(Fault::None)
    }
}

impl Model {
    /// A stream of another context.
    pub(crate) const FOREIGN: StreamHandle = StreamHandle(usize::MAX);
    pub(crate) const FREE_BYTES: usize = 12_345;
    pub(crate) const TIME: Duration = Duration::from_micros(7);
    pub(crate) const RESOURCES: Resources =
        Resources { registers: 40, static_shared_bytes: 1, local_bytes: 2, constant_bytes: 3 };

    pub(crate) fn failing(fault: Fault) -> Self {
        Self::of(State::new(64 << 10, fault))
    }

    /// The same with as much shared memory as any kernel needs.
    pub(crate) fn roomy(fault: Fault) -> Self {
        Self::of(State::new(227 << 10, fault))
    }

    /// One that takes its time, wherever it is waited for.
    pub(crate) fn slow(pause: Duration) -> Self {
        Self::of(State { pause, ..State::new(64 << 10, Fault::None) })
    }

    /// A roomy one whose kernels read and write pinned host memory, as a GPU's do.
    pub(crate) fn mapping(fault: Fault) -> Self {
        Self::of(State { maps_host: true, ..State::new(227 << 10, fault) })
    }

    fn of(state: State) -> Self {
        Self { state: Arc::new(state) }
    }

    pub(crate) fn device(&self) -> Device {
        Device::new(Box::new(self.clone()))
    }

    /// Whether the fault happened.
    pub(crate) fn has_failed(&self) -> bool {
        self.state.calls.has_failed()
    }

    /// Allocations, streams and marks that are not freed, and allocations that were freed without having
    /// been cleared.
    pub(crate) fn left_behind(&self) -> (usize, usize) {
        let memory = self.state.memory.lock().expect("no panic");
        (memory.allocations.len() + memory.pinned.len() + memory.live_handles, memory.freed_full)
    }

    /// Allocations of host memory that are there.
    pub(crate) fn pinned(&self) -> usize {
        self.state.memory.lock().expect("no panic").pinned.len()
    }

    /// Whether these bytes are somewhere on the device, or in host memory that is pinned; nothing may be
    /// running.
    pub(crate) fn holds(&self, wanted: &[u8]) -> bool {
        let memory = self.state.memory.lock().expect("no panic");
        let has = |bytes: &[u8]| bytes.windows(wanted.len()).any(|window| window == wanted);
        let pinned = |(&start, &length): (&usize, &usize)| {
            let start = std::ptr::with_exposed_provenance(start);
            // SAFETY: the allocation is there, and nobody writes to it now.
            has(unsafe { std::slice::from_raw_parts(start, length) })
        };
        memory.allocations.values().any(|bytes| has(bytes)) || memory.pinned.iter().any(pinned)
    }

    /// What all allocations hold, whatever of it was not initialised; nothing may be running.
    pub(crate) fn contents(&self) -> Vec<u8> {
        let memory = self.state.memory.lock().expect("no panic");
        memory.allocations.values().flatten().copied().collect()
    }

    /// Kernels, copies and clearings that are queued on streams and have not run.
    pub(crate) fn waiting(&self) -> usize {
        self.state.memory.lock().expect("no panic").queued.len()
    }

    /// Kernels that were loaded so far.
    pub(crate) fn loads(&self) -> usize {
        self.state.memory.lock().expect("no panic").kernels.len()
    }

    /// Their names, in the order in which they were loaded.
    pub(crate) fn loaded(&self) -> Vec<&'static str> {
        self.state.memory.lock().expect("no panic").kernels.clone()
    }

    /// Kernels that were launched so far.
    pub(crate) fn launches(&self) -> usize {
        self.state.memory.lock().expect("no panic").launches
    }

    /// Bytes of the longest copy to the device so far.
    pub(crate) fn largest_write(&self) -> usize {
        self.state.memory.lock().expect("no panic").largest_write
    }

    pub(crate) fn do_while_timing(&self, meanwhile: Meanwhile) {
        *self.state.meanwhile.lock().expect("no panic") = Some(meanwhile);
    }

    /// Counts a call; an error is the fault.
    fn call(&self, doing: &str) -> Result<(), Error> {
        self.state.calls.count(doing)
    }

    /// Runs what was queued and is to run now. One thread does so at a time, so that what is queued on a
    /// stream stays in order, and has run when another thread goes on.
    fn run_queued(&self, is_due: impl Fn(&Queued) -> bool) {
        let _only_one = self.state.runs_queued.lock().expect("no panic");
        loop {
            let mut memory = self.state.memory.lock().expect("no panic");
            let Some(next) = queue::next(&memory.queued, &is_due) else { return };
            let task = memory.queued.remove(next).task;
            drop(memory);
            match task {
                QueuedTask::Kernel { name, shape, parameters } => {
                    self.run(name, shape, &parameters);
                }
                QueuedTask::Clear { address, bytes } => {
                    self.with(address..address + bytes, |memory| memory.fill(0));
                }
                QueuedTask::Write { address, data: HostData(data) } => {
                    // SAFETY: who started the copy vouches for it.
                    self.write_at(address, unsafe { data.as_ref() });
                }
                QueuedTask::Read { address, data: HostData(mut data) } => {
                    // SAFETY: who started the copy vouches for it.
                    let data = unsafe { data.as_mut() };
                    // That of a device which is lost comes half-way.
                    let length =
                        if self.state.calls.is_lost() { data.len() / 2 } else { data.len() };
                    data[..length].copy_from_slice(&self.read_at(address, length as u64));
                }
            }
        }
    }

    fn queue(&self, stream: StreamHandle, task: QueuedTask) {
        let mut memory = self.state.memory.lock().expect("no panic");
        memory.launches += usize::from(matches!(task, QueuedTask::Kernel { .. }));
        let number = memory.steps;
        memory.steps += 1;
        memory.queued.push(Queued { stream, number, task });
    }

    fn run_up_to(&self, mark: &Mark) {
        let (stream, number) = self.state.memory.lock().expect("no panic").marks[&mark.0];
        self.run_queued(|queued| queued.stream == stream && queued.number < number);
    }

    fn with<R>(&self, range: Range<u64>, work: impl FnOnce(&mut [u8]) -> R) -> R {
        work(self.state.memory.lock().expect("no panic").slice(range))
    }
}

impl Driver for Model {
    fn properties(&self) -> &Properties {
        &self.state.properties
    }

    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        self.call("allocate")?;
        let mut memory = self.state.memory.lock().expect("no panic");
        let address = 0x1000 + memory.end;
        memory.end += (bytes as u64).next_multiple_of(16) + 0x1000;
        memory.allocations.insert(address, vec![GARBAGE; bytes]);
        Ok(address)
    }

    fn free_bytes(&self) -> Result<usize, Error> {
        Ok(Self::FREE_BYTES)
    }

    unsafe fn free(&self, address: u64) {
        self.run_queued(|_| true);
        let mut memory = self.state.memory.lock().expect("no panic");
        let bytes = memory.allocations.remove(&address).expect("freed twice");
        memory.freed_full += usize::from(*bytes != vec![0; bytes.len()]);
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        self.run_queued(|_| true);
        self.call("clear")?;
        self.with(address..address + bytes as u64, |memory| memory.fill(0));
        Ok(())
    }

    /// A write that fails has come half-way.
    unsafe fn write(&self, address: u64, data: &[u8]) -> Result<(), Error> {
        self.run_queued(|_| true);
        let result = self.call("write");
        let mut memory = self.state.memory.lock().expect("no panic");
        memory.largest_write = memory.largest_write.max(data.len());
        drop(memory);
        let length = if result.is_ok() { data.len() } else { data.len() / 2 };
        self.with(address..address + length as u64, |memory| {
            memory.copy_from_slice(&data[..length]);
        });
        result
    }

    /// A read that fails has come half-way.
    unsafe fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Error> {
        self.run_queued(|_| true);
        let result = self.call("read");
        let length = if result.is_ok() { data.len() } else { data.len() / 2 };
        self.with(address..address + length as u64, |memory| {
            data[..length].copy_from_slice(memory);
        });
        result
    }

    unsafe fn start_clear(
        &self,
        stream: StreamHandle,
        address: u64,
        bytes: usize,
    ) -> Result<(), Error> {
        self.call("start to clear")?;
        self.queue(stream, QueuedTask::Clear { address, bytes: bytes as u64 });
        Ok(())
    }

    unsafe fn start_write(
        &self,
        stream: StreamHandle,
        address: u64,
        data: NonNull<[u8]>,
    ) -> Result<(), Error> {
        self.call("start to write")?;
        let mut memory = self.state.memory.lock().expect("no panic");
        memory.largest_write = memory.largest_write.max(data.len());
        drop(memory);
        self.queue(stream, QueuedTask::Write { address, data: HostData(data) });
        Ok(())
    }

    unsafe fn start_read(
        &self,
        stream: StreamHandle,
        address: u64,
        data: NonNull<[u8]>,
    ) -> Result<(), Error> {
        self.call("start to read")?;
        self.queue(stream, QueuedTask::Read { address, data: HostData(data) });
        Ok(())
    }

    fn allocate_host(&self, bytes: usize) -> Result<NonNull<u8>, Error> {
        self.call("allocate host memory")?;
        let memory = Box::leak(vec![0; bytes].into_boxed_slice());
        let start = memory.as_mut_ptr().expose_provenance();
        self.state.memory.lock().expect("no panic").pinned.insert(start, bytes);
        Ok(NonNull::from(memory).cast())
    }

    fn address_of_host(&self, memory: NonNull<u8>) -> Option<u64> {
        self.state.maps_host.then(|| memory.as_ptr().expose_provenance() as u64)
    }

    unsafe fn free_host(&self, memory: NonNull<u8>, bytes: usize) {
        let start = memory.addr().get();
        let memory = NonNull::slice_from_raw_parts(memory, bytes);
        // SAFETY: the memory is what `allocate_host` took out of a box, and not used again.
        let bytes = unsafe { Box::from_raw(memory.as_ptr()) };
        let mut memory = self.state.memory.lock().expect("no panic");
        memory.pinned.remove(&start);
        memory.freed_full += usize::from(*bytes != vec![0; bytes.len()]);
    }

    fn load(&self, kernel: &Kernel) -> Result<LoadedKernel, Error> {
        self.call("load")?;
        let mut memory = self.state.memory.lock().expect("no panic");
        memory.kernels.push(kernel.name());
        Ok(LoadedKernel(memory.kernels.len() - 1))
    }

    fn resources(&self, _: LoadedKernel) -> Result<Option<Resources>, Error> {
        self.call("resources").map(|()| Some(Self::RESOURCES))
    }

    fn resident_blocks(&self, _: LoadedKernel, shape: Shape) -> Result<u32, Error> {
        assert!(shape.threads > 0, "CUDA refuses to say how many thread blocks of no threads fit");
        self.call("resident blocks").map(|()| 1)
    }

    fn new_stream(&self) -> Result<StreamHandle, Error> {
        self.call("new stream")?;
        Ok(StreamHandle(self.state.memory.lock().expect("no panic").new_handle()))
    }

    unsafe fn free_stream(&self, _: StreamHandle) {
        self.state.memory.lock().expect("no panic").live_handles -= 1;
    }

    unsafe fn is_of_context(&self, stream: StreamHandle) -> Result<bool, Error> {
        self.call("context of a stream")?;
        Ok(stream != Self::FOREIGN)
    }

    fn new_mark(&self) -> Result<Mark, Error> {
        self.call("new mark")?;
        Ok(Mark(self.state.memory.lock().expect("no panic").new_handle()))
    }

    fn record(&self, mark: &Mark, stream: StreamHandle) -> Result<(), Error> {
        self.call("record")?;
        let mut memory = self.state.memory.lock().expect("no panic");
        let steps = memory.steps;
        memory.marks.insert(mark.0, (stream, steps));
        Ok(())
    }

    fn wait(&self, mark: &Mark) -> Result<(), Error> {
        self.run_up_to(mark);
        self.call("wait")
    }

    fn wait_on_device(&self, _: StreamHandle, mark: &Mark) -> Result<(), Error> {
        self.run_up_to(mark);
        self.call("wait on the device")
    }

    fn is_complete(&self, mark: &Mark) -> Result<bool, Error> {
        self.call("is complete")?;
        // What another thread took from the queue may still run.
        let _no_one_runs = self.state.runs_queued.lock().expect("no panic");
        let memory = self.state.memory.lock().expect("no panic");
        let (stream, number) = memory.marks[&mark.0];
        Ok(!memory.queued.iter().any(|queued| queued.stream == stream && queued.number < number))
    }

    fn free_mark(&self, mark: Mark) {
        let mut memory = self.state.memory.lock().expect("no panic");
        memory.live_handles -= 1;
        memory.marks.remove(&mark.0);
    }

    unsafe fn launch(
        &self,
        stream: StreamHandle,
        kernel: LoadedKernel,
        shape: Shape,
        parameters: &[u64],
    ) -> Result<(), Error> {
        self.call("launch")?;
        assert!(shape.grid > 0 && shape.threads > 0, "an empty launch is an error of CUDA's");
        let name = self.state.memory.lock().expect("no panic").kernels[kernel.0];
        self.queue(stream, QueuedTask::Kernel { name, shape, parameters: parameters.to_vec() });
        Ok(())
    }

    fn synchronize(&self, stream: StreamHandle) -> Result<(), Error> {
        if self.state.pause > Duration::ZERO {
            std::thread::sleep(self.state.pause);
        }
        self.run_queued(|queued| stream == StreamHandle::DEFAULT || queued.stream == stream);
        self.call("synchronize")
    }

    fn synchronize_all(&self) -> Result<(), Error> {
        self.run_queued(|_| true);
        self.call("synchronize all")
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
        self.call("time")?;
        if let Some(meanwhile) = &*self.state.meanwhile.lock().expect("no panic") {
            meanwhile();
        }
        work().map(|()| Self::TIME)
    }
}

impl Model {
    /// The toy cipher as the kernel of this name would run it.
    fn run(&self, name: &str, shape: Shape, parameters: &[u64]) {
        if name.contains("batch_") {
            return self.batch(name, parameters);
        }
        if name.starts_with("ghash_") {
            return self.ghash(name, shape, parameters);
        }
        if name.ends_with("_gcm_encrypt") {
            return self.gcm(shape, parameters);
        }
        let [input, output, blocks, high, low, aside] = parameters[..6] else {
            panic!("no header")
        };
        let mode = [high, low, aside];
        match name {
            "modes_copy_rows" => return self.copy_rows(input, output, blocks, mode),
            "modes_add_key_stream" => return self.add_key_stream(input, output, blocks, mode),
            "modes_xts_numbers" => return self.numbers(output, blocks, mode),
            "modes_xts_masks" => return self.masks(input, output, blocks, mode),
            _ => {}
        }
        let (key, direction) = toy::key_of(parameters);
        if name.ends_with("_keystream") {
            let threads = u64::from(shape.grid) * u64::from(shape.threads);
            return self.with(output..output + 16 * threads, |memory| memory.fill(0x77));
        }
        let is_cfb = name.ends_with("_cfb_decrypt");
        if is_cfb || name.ends_with("_cbc_decrypt") {
            let combine = |previous: &[u8], block: &mut [u8]| {
                let mut run = if is_cfb { previous } else { &*block }.to_vec();
                toy::toy(&key, direction, &mut run);
                let rest = if is_cfb { block.to_vec() } else { previous.to_vec() };
                block.iter_mut().zip(run.iter().zip(rest)).for_each(|(to, (a, b))| *to = a ^ b);
            };
            let range = modes::range(name, shape, blocks);
            return self.chain(range, [input, output, blocks], mode, combine);
        }
        if name.contains("_xts_") {
            let run = |block: &mut [u8]| toy::toy(&key, direction, block);
            let range = modes::range(name, shape, blocks);
            return self.xts(range, [input, output, blocks], mode, run);
        }
        let bytes = 16 * blocks;
        let mut data = self.with(input..input + bytes, |memory| memory.to_vec());
        if name.ends_with("_ctr") {
            let left = (1 << 32) - u64::from(low as u32);
            assert!(blocks <= left, "kernels take the upper 96 bits of counters to be the same");
            toy::add_key_stream(&key, [high, low], &mut data);
        } else {
            toy::toy(&key, direction, &mut data);
        }
        self.with(output..output + bytes, |memory| memory.copy_from_slice(&data));
    }
}
