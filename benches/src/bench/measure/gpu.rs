//! Measuring on the GPU: resident data by the device's events, end to end by the clock.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use lanecrypt::{
    Direction,
    cuda::{
        DataUnits, Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Engine, GcmEngine, Geometry,
        Operation, Pending, Stream, XtsEngine,
        kernels::{self, Kernel, Program, Task},
    },
    registry::{Backend, CipherDescription, Platform},
    tuning::Folder,
};
use lanecrypt_record::{Figure, KernelResources, Part, Place, Record, Work};

use super::{
    sample::timed,
    verify::{counter, fastest_on_cpu, iv, verify_piece},
};
use crate::bench::{
    options::Options,
    plan::{
        GCM_IV_BYTES, MESSAGES, ON_DEVICE, RunWork as _, SIZES, THREAD_BLOCKS, UNIT, fits, key,
        noise,
    },
};

/// Passes that the median is of; odd, and at least ten.
const SAMPLES: usize = 11;
/// The same of launches that are waited for one by one.
const LAUNCHES: usize = 201;
/// For how long launches follow each other where that is measured, and how many are queued at once.
const SUSTAINED: Duration = Duration::from_secs(60);
const WITHOUT_WAITING: usize = 100;
/// Blocks of the key stream alone that are timed; P2 takes 2^35, which only takes longer.
const KEYSTREAM_BLOCKS: u64 = 1 << 30;
/// Blocks of it that are compared with a CPU.
const VERIFIED_BLOCKS: u64 = 1 << 20;
/// Room for a block of every thread of any device.
const KEYSTREAM_OUTPUT: usize = 16 << 20;
/// Bytes compared with the CPU at the start, in the middle and at the end of resident data.
const WINDOW: usize = 1 << 20;

/// The backends of a cipher that are chosen and run on a GPU.
fn backends<'a>(
    options: &'a Options,
    cipher: &'static CipherDescription,
) -> impl Iterator<Item = &'static Backend> + 'a {
    let on_gpu = |backend: &&Backend| backend.platform == Platform::Cuda;
    cipher.backends.iter().filter(on_gpu).filter(|backend| options.takes(cipher, backend))
}

/// Number of (backend, key size) pairs, for the progress bar.
#[must_use]
pub(crate) fn steps(options: &Options) -> usize {
    if options.cpu_only {
        return 0;
    }
    let of = |cipher| backends(options, cipher).count() * options.key_bytes(cipher).len();
    options.ciphers().map(of).sum()
}

/// Verifies and measures all chosen backends.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(
    options: &Options,
    bar: &ProgressBar,
    record: &mut Record,
) -> Result<(), String> {
    if options.cpu_only {
        return Ok(());
    }
    let device = match Device::default() {
        Ok(device) => device,
        Err(error) => {
            record.skipped.push(format!("every GPU backend: {error}"));
            return Ok(());
        }
    };
    lanecrypt::tuning::load(&device);
    if let Some(folder) = Folder::of_user()
        && let Err(why) = folder.read(&device)
    {
        // Its name alone: a record keeps nothing of the machine's folders.
        let file = folder.file(&device);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        record.skipped.push(format!("experience data, {name}: {why}"));
    }
    let resident = options.sizes(&[64 << 10, 1 << 20, 16 << 20, 256 << 20, 4 << 30], &[1 << 30]);
    let largest = resident.iter().copied().max().unwrap_or(0);
    let free = device.free_bytes().map_err(|error| error.to_string())?;
    if 2 * largest > free {
        return Err(format!("two buffers of {largest} bytes do not fit in {free} free bytes"));
    }
    let mut buffers = Buffers::filled(&device, largest)?;
    let end_to_end = options.sizes(&[64 << 10, 1 << 20, 16 << 20], &[1 << 20]);
    for cipher in options.ciphers() {
        for backend in backends(options, cipher) {
            if let Err(reason) = (backend.available)() {
                record.skipped.push(format!("{}/{}: {reason}", cipher.name, backend.id));
                continue;
            }
            for &key_bytes in options.key_bytes(cipher) {
                let target = Target::new(cipher, backend, key_bytes)?;
                if options.sustained {
                    record.add(Part::Measurements, [target.sustained(largest, &mut buffers)?]);
                    bar.inc(1);
                    continue;
                }
                let measured = target.every_mode(&resident, &end_to_end, &mut buffers)?;
                record.add(Part::Measurements, measured);
                if options.tries_messages(cipher) && target.engine.other_programs().count() == 0 {
                    for bytes in MESSAGES.into_iter().filter(|&bytes| bytes <= largest) {
                        let of = target.thread_blocks(&SIZES, bytes, &mut buffers)?;
                        record.add(Part::BlockSizes, of);
                    }
                }
                if key_bytes == cipher.key_bytes[0] {
                    let kernels = target.kernels(&device, &record.kernels)?;
                    record.kernels.extend(kernels);
                    if options.tries_thread_blocks(cipher) {
                        let sizes = &THREAD_BLOCKS;
                        let of = target.thread_blocks(sizes, largest, &mut buffers)?;
                        record.add(Part::ThreadBlocks, of);
                    }
                }
                bar.inc(1);
            }
        }
    }
    Ok(())
}

/// Resident input and output.
struct Buffers {
    input: DeviceBuffer,
    output: DeviceBuffer,
}

impl Buffers {
    /// Random input: never zeros, which can run faster than real data.
    fn filled(device: &Device, bytes: usize) -> Result<Self, String> {
        let text = |error: lanecrypt::cuda::Error| error.to_string();
        let mut input = DeviceBuffer::zeroed(device, bytes).map_err(text)?;
        for start in (0..bytes).step_by(64 << 20) {
            let length = (64 << 20).min(bytes - start);
            input.write(start, noise(length)).map_err(text)?;
        }
        Ok(Self { input, output: DeviceBuffer::zeroed(device, bytes).map_err(text)? })
    }
}

/// A backend under a key.
struct Target {
    cipher: &'static CipherDescription,
    backend: &'static Backend,
    key: Vec<u8>,
    engine: Engine,
    /// Of ciphers with blocks of 16 bytes.
    modes: Option<(XtsEngine, GcmEngine)>,
}

impl Target {
    fn new(
        cipher: &'static CipherDescription,
        backend: &'static Backend,
        key_bytes: usize,
    ) -> Result<Self, String> {
        let key = key(key_bytes);
        let text = |error: lanecrypt::cuda::Error| error.to_string();
        let engine = Engine::of(backend, &key).map_err(text)?;
        let engine = engine.ok_or_else(|| format!("{} has no kernels", backend.id))?;
        let mut target = Self { cipher, backend, key, engine, modes: None };
        if fits(Work::XtsEncrypt, cipher.block_bytes) {
            let (family, device) = (target.engine.family(), target.engine.device());
            let keys = crate::bench::plan::key(2 * key_bytes);
            let xts = family.xts_engine(device, &keys).map_err(text)?;
            let gcm = family.gcm_engine(device, &target.key).map_err(text)?;
            target.modes = Some((xts, gcm));
        }
        Ok(target)
    }

    fn measurement(&self, work: Work, place: Place, bytes: usize, seconds: Vec<f64>) -> Figure {
        let figure = Figure {
            cipher: self.cipher.name.to_owned(),
            key_bits: 8 * self.key.len(),
            backend: self.backend.id.to_owned(),
            work,
            place,
            bytes,
            ..Figure::default()
        };
        timed(figure, seconds)
    }

    /// All modes in all places.
    fn every_mode(
        &self,
        resident: &[usize],
        end_to_end: &[usize],
        buffers: &mut Buffers,
    ) -> Result<Vec<Figure>, String> {
        let mut measured = Vec::new();
        for work in ON_DEVICE.into_iter().filter(|&work| fits(work, self.cipher.block_bytes)) {
            for &bytes in resident {
                measured.push(self.resident(work, bytes, buffers)?);
            }
            if work == Work::Ctr {
                for bytes in resident.iter().copied().filter(|&bytes| bytes <= 1 << 20) {
                    measured.push(self.queued(bytes, buffers)?);
                }
            }
            if matches!(work, Work::XtsDecrypt | Work::GcmEncrypt | Work::GcmDecrypt) {
                continue; // from host memory one unit, as on CPUs, and a key at every call
            }
            for bytes in end_to_end.iter().copied().filter(|&bytes| bytes <= 64 << 20) {
                measured.push(self.end_to_end(work, bytes)?);
            }
        }
        measured.extend(self.keystream(buffers)?);
        Ok(measured)
    }

    /// CTR launched without a pause for [`SUSTAINED`]: the card comes to its power limit.
    fn sustained(&self, bytes: usize, buffers: &mut Buffers) -> Result<Figure, String> {
        self.resident(Work::Ctr, bytes, buffers)?; // which verifies
        let text = |error: lanecrypt::cuda::Error| format!("{}: {error}", self.backend.id);
        let device = self.engine.device();
        let (mut launches, mut seconds) = (0, 0.0);
        let start = Instant::now();
        while start.elapsed() < SUSTAINED {
            let input = buffers.input.slice(0..bytes).map_err(text)?;
            let mut output = buffers.output.slice_mut(0..bytes).map_err(text)?;
            let mut launch = || {
                let mut start = |_| self.start(Work::Ctr, &input, &mut output, &[0; 16]);
                (0..WITHOUT_WAITING).try_for_each(&mut start)
            };
            seconds += device.time(&mut launch).map_err(text)?.as_secs_f64();
            launches += WITHOUT_WAITING;
        }
        self.verify_resident(Work::Ctr, bytes, buffers)?;
        let each = seconds / launches as f64;
        let measurement = self.measurement(Work::Ctr, Place::Sustained, bytes, vec![each]);
        Ok(Figure { samples: launches, ..measurement })
    }

    fn resident(&self, work: Work, bytes: usize, buffers: &mut Buffers) -> Result<Figure, String> {
        let text = |error: lanecrypt::cuda::Error| format!("{}: {error}", self.backend.id);
        let engine = &self.engine;
        let input = buffers.input.slice(0..bytes).map_err(text)?;
        let mut output = buffers.output.slice_mut(0..bytes).map_err(text)?;
        let tag = self.tag(work, &input, &mut output).map_err(text)?;
        self.start(work, &input, &mut output, &tag).map_err(text)?;
        self.verify_resident(work, bytes, buffers)?;
        let mut seconds = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            let input = buffers.input.slice(0..bytes).map_err(text)?;
            let mut output = buffers.output.slice_mut(0..bytes).map_err(text)?;
            let mut start = || self.start(work, &input, &mut output, &tag);
            let time = engine.device().time(&mut start).map_err(text)?;
            seconds.push(time.as_secs_f64());
        }
        Ok(self.measurement(work, Place::Resident, bytes, seconds))
    }

    /// CTR on a stream, from before it is queued until the host knows that it has run.
    fn queued(&self, bytes: usize, buffers: &mut Buffers) -> Result<Figure, String> {
        let text = |error: lanecrypt::cuda::Error| format!("{}: {error}", self.backend.id);
        let (engine, counter) = (&self.engine, counter(self.cipher.block_bytes));
        let stream = Stream::new(engine.device()).map_err(text)?;
        let mut seconds = Vec::with_capacity(LAUNCHES);
        for _ in 0..LAUNCHES {
            let input = buffers.input.slice(0..bytes).map_err(text)?;
            let mut output = buffers.output.slice_mut(0..bytes).map_err(text)?;
            let start = Instant::now();
            let pending = engine.queue(&stream, Operation::Ctr(counter), (&input, &mut output));
            pending.and_then(Pending::wait).map_err(text)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        self.verify_resident(Work::Ctr, bytes, buffers)?;
        Ok(self.measurement(Work::Ctr, Place::Queued, bytes, seconds))
    }

    /// The tag that `input` has as a ciphertext, where the mode asks for it: GCM that encrypts twice
    /// ends with what it began with.
    fn tag(
        &self,
        work: Work,
        input: &DeviceSlice<'_>,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<[u8; 16], lanecrypt::cuda::Error> {
        let mut tag = [0; 16];
        if let (Work::GcmDecrypt, Some((_, gcm))) = (work, &self.modes) {
            let iv = iv(self.cipher.block_bytes);
            gcm.encrypt(&iv[..GCM_IV_BYTES], &[], (input, &mut *output), &mut tag)?;
            gcm.encrypt(&iv[..GCM_IV_BYTES], &[], &mut *output, &mut tag)?;
        }
        Ok(tag)
    }

    /// Queues the kernels of a mode; `tag` is the one that decryption in GCM asks for.
    fn start(
        &self,
        work: Work,
        input: &DeviceSlice<'_>,
        output: &mut DeviceSliceMut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), lanecrypt::cuda::Error> {
        let iv = iv(self.cipher.block_bytes);
        let direction = match work {
            Work::EcbDecrypt | Work::XtsDecrypt => Direction::Decrypt,
            _ => Direction::Encrypt,
        };
        let operation = match (work, &self.modes) {
            (Work::XtsEncrypt | Work::XtsDecrypt, Some((xts, _))) => {
                return xts.run(direction, DataUnits { bytes: UNIT, first: 0 }, (input, output));
            }
            (Work::GcmEncrypt, Some((_, gcm))) => {
                return gcm.encrypt(&iv[..GCM_IV_BYTES], &[], (input, output), &mut [0; 16]);
            }
            (Work::GcmDecrypt, Some((_, gcm))) => {
                return gcm.decrypt(&iv[..GCM_IV_BYTES], &[], (input, output), tag);
            }
            (Work::EcbEncrypt | Work::EcbDecrypt, _) => Operation::Ecb(direction),
            (Work::CbcDecrypt, _) => Operation::Cbc(Direction::Decrypt, &iv),
            _ => Operation::Ctr(counter(self.cipher.block_bytes)),
        };
        self.engine.run(operation, (input, output))
    }

    /// The key stream alone, where the kernels have that form, over [`KEYSTREAM_BLOCKS`]; verified
    /// over fewer.
    fn keystream(&self, buffers: &mut Buffers) -> Result<Option<Figure>, String> {
        let text = |error: lanecrypt::cuda::Error| format!("{}: {error}", self.backend.id);
        let (engine, block) = (&self.engine, self.cipher.block_bytes);
        if engine.program().kernel(Task::Keystream).is_none() {
            return Ok(None);
        }
        let iv = iv(block);
        let time = |blocks: u64, buffers: &mut Buffers| {
            let mut output = buffers.output.slice_mut(0..KEYSTREAM_OUTPUT).map_err(text)?;
            engine.time_keystream(counter(block), blocks, &mut output).map_err(text)
        };
        let mut sums = vec![0; KEYSTREAM_OUTPUT];
        buffers.output.write(0, &sums).map_err(text)?;
        time(VERIFIED_BLOCKS, buffers)?;
        buffers.output.read(0, &mut sums).map_err(text)?;
        let mut expected = vec![0; VERIFIED_BLOCKS as usize * block];
        fastest_on_cpu(self.cipher, &self.key)
            .and_then(|cpu| cpu.ctr(&iv, expected.as_mut_slice().into()))
            .map_err(|error| error.to_string())?;
        if sum_of_blocks(&sums, block) != sum_of_blocks(&expected, block) {
            return Err(format!("{}: the key stream is wrong; nothing is timed", self.backend.id));
        }
        let mut seconds = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            seconds.extend(time(KEYSTREAM_BLOCKS, buffers)?.map(|time| time.as_secs_f64()));
        }
        let bytes = KEYSTREAM_BLOCKS as usize * block;
        Ok(Some(self.measurement(Work::Keystream, Place::Resident, bytes, seconds)))
    }

    /// Resident ECB encryption by thread blocks of each of these sizes that the kernel can have, and, with
    /// 0 for a size, as it is launched by itself.
    fn thread_blocks(
        &self,
        sizes: &[u32],
        bytes: usize,
        buffers: &mut Buffers,
    ) -> Result<Vec<Figure>, String> {
        let engine = &self.engine;
        let kernel = engine.program().kernel(Task::EcbEncrypt).ok_or("no kernel for ECB")?;
        let measure = |threads| {
            let resident = engine.device().resident_blocks(kernel, threads);
            let blocks_per_multiprocessor = resident.map_err(|error| error.to_string())?;
            let geometry = Geometry { threads, blocks_per_multiprocessor };
            engine.launch_as((threads > 0).then_some(geometry));
            let measurement = self.resident(Work::EcbEncrypt, bytes, buffers)?;
            Ok(Figure { count: threads as usize, ..measurement })
        };
        let measured = possible(kernel, sizes).chain([0]).map(measure).collect();
        engine.launch_as(None);
        measured
    }

    /// Compares the start, the middle and the end with a CPU, then poisons the output.
    fn verify_resident(
        &self,
        work: Work,
        bytes: usize,
        buffers: &mut Buffers,
    ) -> Result<(), String> {
        let text = |error: lanecrypt::cuda::Error| format!("{}: {error}", self.backend.id);
        let length = WINDOW.min(bytes);
        let block = self.cipher.block_bytes;
        let windows = [0, (bytes - length) / 2 / block * block, bytes - length];
        for offset in windows {
            let (mut input, mut output) = (vec![0; length], vec![0; length]);
            buffers.input.read(offset, &mut input).map_err(text)?;
            buffers.output.read(offset, &mut output).map_err(text)?;
            verify_piece(self.cipher, &self.key, work, offset, &input, &output, true)
                .map_err(|error| format!("{}: {error}", self.backend.id))?;
        }
        // So that the next verification cannot pass on what this one left.
        for offset in windows {
            buffers.output.write(offset, &vec![0xee; length]).map_err(text)?;
        }
        Ok(())
    }

    fn end_to_end(&self, work: Work, bytes: usize) -> Result<Figure, String> {
        let iv = iv(self.cipher.block_bytes);
        let mut data = noise(bytes).to_vec();
        let run = |data: &mut [u8]| {
            work.run(&self.engine, &self.engine, &iv, data)
                .map_err(|error| format!("{}: {error}", self.backend.id))
        };
        run(&mut data)?;
        verify_piece(self.cipher, &self.key, work, 0, noise(bytes), &data, false)
            .map_err(|error| format!("{}: {error}", self.backend.id))?;
        let mut seconds = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            let start = Instant::now();
            run(&mut data)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        Ok(self.measurement(work, Place::EndToEnd, bytes, seconds))
    }

    /// What this program's kernels take of the device, as the driver compiled them; without those
    /// that are `listed` already.
    fn kernels(
        &self,
        device: &Device,
        listed: &[KernelResources],
    ) -> Result<Vec<KernelResources>, String> {
        let engine = &self.engine;
        let mut rows = Vec::new();
        for kernel in new_kernels(engine.program(), listed) {
            let resources = engine.resources(kernel).map_err(|error| error.to_string())?;
            rows.extend(resources.map(|resources| KernelResources {
                kernel: kernel.name().to_owned(),
                architecture: device.properties().name.clone(),
                registers: resources.registers,
                shared_bytes: resources.static_shared_bytes + kernel.shared_bytes(),
                local_bytes: resources.local_bytes,
                spill_bytes: 0, // the driver counts spills as local bytes
            }));
        }
        Ok(rows)
    }
}

/// The XOR of all blocks.
fn sum_of_blocks(data: &[u8], block: usize) -> Vec<u8> {
    let mut sum = vec![0; block];
    for piece in data.chunks_exact(block) {
        sum.iter_mut().zip(piece).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}

/// The sizes of thread blocks that a kernel can have: no more threads than it was built for, and whole
/// groups of them.
fn possible(kernel: &Kernel, sizes: &[u32]) -> impl Iterator<Item = u32> {
    let (group, most) = (kernel.unit().threads, kernel.threads());
    sizes.iter().copied().filter(move |&threads| threads.is_multiple_of(group) && threads <= most)
}

/// A program's kernels, each once, without those that are `listed` already: both directions can
/// be one kernel, and ciphers can share theirs.
fn new_kernels(program: &'static Program, listed: &[KernelResources]) -> Vec<&'static Kernel> {
    let mut kernels: Vec<&Kernel> = Vec::new();
    for (_, kernel) in program.kernels() {
        let is_here = kernels.iter().any(|known| known.name() == kernel.name());
        if !is_here && !listed.iter().any(|row| row.kernel == kernel.name()) {
            kernels.push(kernel);
        }
    }
    kernels
}

/// The rows of the committed table for one architecture, those of its own instructions among them
/// (`sm_90a`), which needs no GPU: static shared memory only.
#[must_use]
pub(crate) fn compiled_kernels(architecture: &str) -> Vec<KernelResources> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields.get(i).and_then(|field| field.parse::<u32>().ok());
        (fields.get(1)?.trim_end_matches('a') == architecture).then_some(())?;
        Some(KernelResources {
            kernel: fields[0].to_owned(),
            architecture: architecture.to_owned(),
            registers: number(2)?,
            shared_bytes: number(3)?,
            local_bytes: number(4)?,
            spill_bytes: number(5)? + number(6)?,
        })
    };
    kernels::RESOURCES.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_table_has_every_kernel() {
        let rows = compiled_kernels("sm_90");
        assert!(rows.iter().any(|row| row.kernel == "aes_bitslice_ctr" && row.registers > 32));
        let entries = kernels::MODULES.iter().map(|m| m.ptx.matches(".visible .entry").count());
        assert_eq!(rows.len(), entries.sum::<usize>());
        assert!(compiled_kernels("sm_1").is_empty());
    }

    #[test]
    fn a_kernel_is_listed_once() {
        let names = |program, listed: &[KernelResources]| -> Vec<&str> {
            new_kernels(program, listed).iter().map(|kernel| kernel.name()).collect()
        };
        let program = &kernels::programs::DES_BITSLICE;
        let all =
            ["ecb", "ctr", "cbc_decrypt", "cfb_decrypt"].map(|mode| format!("des_bitslice_{mode}"));
        assert_eq!(names(program, &[]), all);
        let listed = compiled_kernels("sm_90");
        assert!(names(program, &listed).is_empty());
    }

    #[test]
    fn thread_blocks_are_what_the_kernel_can_have() {
        use kernels::programs::{AES_CONFLICT_FREE_4, HIGHT_BITSLICE, HIGHT_BYTESLICE};
        let limits = |program: &Program, task| {
            let kernel = program.kernel(task).expect("it is there");
            possible(kernel, &THREAD_BLOCKS).collect::<Vec<_>>()
        };
        assert_eq!(limits(&HIGHT_BYTESLICE, Task::EcbEncrypt), [128, 256, 384, 512, 768]);
        assert_eq!(limits(&HIGHT_BITSLICE, Task::EcbEncrypt), [128, 256, 384]);
        // A group of it is a whole thread block.
        assert_eq!(limits(&AES_CONFLICT_FREE_4, Task::Ctr), [1024]);
    }
}
