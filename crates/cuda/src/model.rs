//! A device for tests: memory that is checked at every access, a toy cipher in place of the
//! kernels, streams that run as late as they may, and a fault at the driver call of one's choice.

mod batch;
mod ghash;
mod toy;

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    ptr::NonNull,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use lanecrypt_core::{Counter, Direction};
use lanecrypt_kernels::{HEADER_WORDS, Kernel};

use crate::{
    Device, Error, Properties,
    driver::{Driver, LoadedKernel, Mark, Resources, Shape, StreamHandle},
};

pub(crate) use toy::{CONSTANT_TIME, FAMILY, TOO_LARGE, TOY, ToyCipher, WITH_KEYSTREAM, toy_keys};

/// What uninitialised memory holds.
const GARBAGE: u8 = 0xdd;

/// When driver calls fail; they are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Never.
    None,
    /// This call, and no other.
    At(usize),
    /// This call and all after it, as after a kernel that crashed.
    From(usize),
}

/// What happens while [`Driver::time`] measures.
pub(crate) type Meanwhile = Box<dyn Fn() + Send + Sync>;

/// The device; clones are the same one, so that a test keeps an eye on it.
#[derive(Clone)]
pub(crate) struct Model {
    state: Arc<State>,
}

struct State {
    properties: Properties,
    fault: Fault,
    calls: AtomicUsize,
    memory: Mutex<Memory>,
    meanwhile: Mutex<Option<Meanwhile>>,
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
    /// Allocations of host memory.
    pinned: usize,
    /// Kernels that were launched.
    launches: usize,
    /// What was launched on streams and has not run yet.
    queued: Vec<Queued>,
    /// Streams and marks that were made so far, and those that are there.
    handles: usize,
    live_handles: usize,
    /// By mark, its stream and how many launches there were before it.
    marks: BTreeMap<usize, (StreamHandle, usize)>,
    /// Bytes of the longest copy to the device.
    largest_write: usize,
}

/// A launch on a stream: it runs as late as it may.
struct Queued {
    stream: StreamHandle,
    /// Launches before it.
    number: usize,
    name: &'static str,
    shape: Shape,
    parameters: Vec<u64>,
}

impl Memory {
    /// A handle that nothing else has, and that is not the default stream's.
    fn new_handle(&mut self) -> usize {
        self.handles += 1;
        self.live_handles += 1;
        self.handles
    }

    /// The allocation that has all of `range`.
    fn slice(&mut self, range: Range<u64>) -> &mut [u8] {
        let (start, bytes) =
            self.allocations.range_mut(..=range.start).next_back().expect("nothing lies there");
        let offset = (range.start - start) as usize;
        &mut bytes[offset..offset + (range.end - range.start) as usize]
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("fault", &self.state.fault).finish_non_exhaustive()
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
        Self::with_shared_memory(64 << 10, fault)
    }

    /// The same with as much shared memory as any kernel needs.
    pub(crate) fn roomy(fault: Fault) -> Self {
        Self::with_shared_memory(227 << 10, fault)
    }

    fn with_shared_memory(shared_bytes_per_block: u32, fault: Fault) -> Self {
        let properties = Properties {
            name: "model".into(),
            compute_capability: (0, 0),
            multiprocessors: 2,
            shared_bytes_per_block,
            memory_bytes: 1 << 30,
            clock_khz: 0,
            driver_version: 0,
        };
        let state = State {
            properties,
            fault,
            calls: AtomicUsize::new(0),
            memory: Mutex::default(),
            meanwhile: Mutex::default(),
        };
        Self { state: Arc::new(state) }
    }

    pub(crate) fn device(&self) -> Device {
        Device::new(Box::new(self.clone()))
    }

    /// Whether the fault happened.
    pub(crate) fn has_failed(&self) -> bool {
        let calls = self.state.calls.load(Ordering::Relaxed);
        matches!(self.state.fault, Fault::At(call) | Fault::From(call) if call < calls)
    }

    /// Allocations, streams and marks that are not freed, and allocations that were freed without having
    /// been cleared.
    pub(crate) fn left_behind(&self) -> (usize, usize) {
        let memory = self.state.memory.lock().expect("no panic");
        (memory.allocations.len() + memory.pinned + memory.live_handles, memory.freed_full)
    }

    /// Kernels that were loaded so far.
    pub(crate) fn loads(&self) -> usize {
        self.state.memory.lock().expect("no panic").kernels.len()
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
        let call = self.state.calls.fetch_add(1, Ordering::Relaxed);
        let fails = match self.state.fault {
            Fault::None => false,
            Fault::At(fault) => call == fault,
            Fault::From(fault) => call >= fault,
        };
        let fault = || Error::Driver {
            doing: doing.into(),
            name: "FAULT".into(),
            reason: format!("driver call {call} was to fail"),
        };
        if fails { Err(fault()) } else { Ok(()) }
    }

    /// Runs what was queued and is to run now.
    fn run_queued(&self, is_due: impl Fn(&Queued) -> bool) {
        loop {
            let mut memory = self.state.memory.lock().expect("no panic");
            let Some(next) = memory.queued.iter().position(&is_due) else { return };
            let Queued { name, shape, parameters, .. } = memory.queued.remove(next);
            drop(memory);
            self.run(name, shape, &parameters);
        }
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
        memory.freed_full += usize::from(bytes.iter().any(|&byte| byte != 0));
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

    fn allocate_host(&self, bytes: usize) -> Result<NonNull<u8>, Error> {
        self.call("allocate host memory")?;
        let memory = Box::leak(vec![0; bytes].into_boxed_slice());
        self.state.memory.lock().expect("no panic").pinned += 1;
        Ok(NonNull::from(memory).cast())
    }

    unsafe fn free_host(&self, memory: NonNull<u8>, bytes: usize) {
        let memory = NonNull::slice_from_raw_parts(memory, bytes);
        // SAFETY: the memory is what `allocate_host` took out of a box, and not used again.
        let bytes = unsafe { Box::from_raw(memory.as_ptr()) };
        let mut memory = self.state.memory.lock().expect("no panic");
        memory.pinned -= 1;
        memory.freed_full += usize::from(bytes.iter().any(|&byte| byte != 0));
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

    fn resident_blocks(&self, _: LoadedKernel, _: Shape) -> Result<u32, Error> {
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
        let launches = memory.launches;
        memory.marks.insert(mark.0, (stream, launches));
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
        let mut memory = self.state.memory.lock().expect("no panic");
        let (name, number) = (memory.kernels[kernel.0], memory.launches);
        memory.launches += 1;
        if stream != StreamHandle::DEFAULT {
            let parameters = parameters.to_vec();
            memory.queued.push(Queued { stream, number, name, shape, parameters });
            return Ok(());
        }
        drop(memory);
        self.run_queued(|_| true);
        self.run(name, shape, parameters);
        Ok(())
    }

    fn synchronize(&self, stream: StreamHandle) -> Result<(), Error> {
        self.run_queued(|queued| stream == StreamHandle::DEFAULT || queued.stream == stream);
        self.call("synchronize")
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
        if name.starts_with("batch_") || name.starts_with("aes_batch_") {
            return self.batch(name, parameters);
        }
        if name.starts_with("ghash_") {
            return self.ghash(name, shape, parameters);
        }
        let [input, output, blocks, high, low, aside] = parameters[..6] else {
            panic!("no header")
        };
        let mode = [high, low, aside];
        match name {
            "modes_copy_rows" => return self.copy_rows(input, output, blocks, mode),
            "modes_xts_numbers" => return self.numbers(output, blocks, mode),
            "modes_xts_masks" => return self.masks(input, output, blocks, mode),
            _ => {}
        }
        let word = |i: usize| (parameters[HEADER_WORDS / 2 + i / 2] >> (32 * (i % 2))) as u32;
        let key: [[u8; 4]; 4] = [0, 1, 2, 3].map(|i| word(i).to_le_bytes());
        let key: [u8; 16] = key.as_flattened().try_into().expect("four words");
        if name.ends_with("_keystream") {
            let threads = u64::from(shape.grid) * u64::from(shape.threads);
            return self.with(output..output + 16 * threads, |memory| memory.fill(0x77));
        }
        let direction = if word(4) == 0 { Direction::Encrypt } else { Direction::Decrypt };
        let is_cfb = name.ends_with("_cfb_decrypt");
        if is_cfb || name.ends_with("_cbc_decrypt") {
            let combine = |previous: &[u8], block: &mut [u8]| {
                let mut run = if is_cfb { previous } else { &*block }.to_vec();
                toy::toy(&key, direction, &mut run);
                let rest = if is_cfb { block.to_vec() } else { previous.to_vec() };
                block.iter_mut().zip(run.iter().zip(rest)).for_each(|(to, (a, b))| *to = a ^ b);
            };
            return self.chain(shape, [input, output, blocks], mode, combine);
        }
        if name.contains("_xts_") {
            let run = |block: &mut [u8]| toy::toy(&key, direction, block);
            return self.xts(shape, [input, output, blocks], mode, run);
        }
        let bytes = 16 * blocks;
        let mut data = self.with(input..input + bytes, |memory| memory.to_vec());
        if name.ends_with("_ctr") {
            let counter = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
            let mut stream = vec![0; data.len()];
            Counter::from_block(&counter).expect("16 bytes").fill(&mut stream);
            toy::toy(&key, Direction::Encrypt, &mut stream);
            data.iter_mut().zip(stream).for_each(|(byte, key)| *byte ^= key);
        } else {
            toy::toy(&key, direction, &mut data);
        }
        self.with(output..output + bytes, |memory| memory.copy_from_slice(&data));
    }

    fn read_at(&self, address: u64, bytes: u64) -> Vec<u8> {
        self.with(address..address + bytes, |memory| memory.to_vec())
    }

    fn write_at(&self, address: u64, data: &[u8]) {
        let end = address + data.len() as u64;
        self.with(address..end, |memory| memory.copy_from_slice(data));
    }

    fn copy_rows(&self, input: u64, output: u64, bytes: u64, [from, to, width]: [u64; 3]) {
        assert!(bytes.is_multiple_of(width), "whole rows");
        for row in 0..bytes / width {
            let data = self.read_at(input + row * from, width);
            self.write_at(output + row * to, &data);
        }
    }

    fn numbers(&self, output: u64, blocks: u64, [low, high, _]: [u64; 3]) {
        let first = u128::from(high) << 64 | u128::from(low);
        for i in 0..blocks {
            let number = first.wrapping_add(u128::from(i));
            self.write_at(output + 16 * i, &number.to_le_bytes());
        }
    }

    /// The block of masks at `address`.
    fn mask_at(&self, address: u64) -> u128 {
        u128::from_le_bytes(self.read_at(address, 16).try_into().expect("16 bytes"))
    }

    fn masks(&self, input: u64, output: u64, blocks: u64, [first, step, unit]: [u64; 3]) {
        for i in 0..blocks {
            let block = first + i * step;
            let mask = self.mask_at(input + 16 * (block / unit));
            let mask = (0..block % unit).fold(mask, |mask, _| times_x(mask));
            self.write_at(output + 16 * i, &mask.to_le_bytes());
        }
    }

    /// A range starts with the mask that was made for it, a unit with its first one.
    fn xts(
        &self,
        shape: Shape,
        [input, output, blocks]: [u64; 3],
        [unit, units, starts]: [u64; 3],
        run: impl Fn(&mut [u8]),
    ) {
        let warps = u64::from(shape.grid) * u64::from(shape.threads) / 32;
        let range = blocks.div_ceil(32).div_ceil(warps) * 32;
        for (warp, start) in (0..).zip((0..blocks).step_by(range as usize)) {
            let mut mask = self.mask_at(starts + 16 * warp);
            for i in start..blocks.min(start + range) {
                if i > start {
                    mask = times_x(mask);
                }
                if i % unit == 0 {
                    mask = self.mask_at(units + 16 * (i / unit));
                }
                let mut block = self.read_at(input + 16 * i, 16);
                let add = |block: &mut [u8]| {
                    block.iter_mut().zip(mask.to_le_bytes()).for_each(|(byte, mask)| *byte ^= mask);
                };
                add(&mut block);
                run(&mut block);
                add(&mut block);
                self.write_at(output + 16 * i, &block);
            }
        }
    }

    /// Ranges as the kernels' warps have them, from the first on: where a range changes the block
    /// before the next one, that one must have it from elsewhere.
    fn chain(
        &self,
        shape: Shape,
        [input, output, blocks]: [u64; 3],
        [first, second, saved]: [u64; 3],
        combine: impl Fn(&[u8], &mut [u8]),
    ) {
        let warps = u64::from(shape.grid) * u64::from(shape.threads) / 32;
        let range = blocks.div_ceil(32).div_ceil(warps) * 32;
        for (warp, start) in (0..blocks).step_by(range as usize).enumerate() {
            let mut previous = match warp as u64 {
                0 => [first.to_le_bytes(), second.to_le_bytes()].concat(),
                _ if saved == 0 => self.read_at(input + 16 * (start - 1), 16),
                warp => self.read_at(saved + 16 * (warp - 1), 16),
            };
            let mut data = self.read_at(input + 16 * start, 16 * range.min(blocks - start));
            for block in data.chunks_mut(16) {
                let ciphertext = block.to_vec();
                combine(&previous, block);
                previous = ciphertext;
            }
            self.write_at(output + 16 * start, &data);
        }
    }
}

/// The next mask of a unit.
fn times_x(mask: u128) -> u128 {
    (mask << 1) ^ if mask >> 127 == 1 { 0x87 } else { 0 }
}
