//! Measuring on the GPU: resident data by the device's events, end to end by the clock.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use lanecrypt::{
    Direction,
    cuda::{
        DataUnits, Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Engine, Error, GcmEngine,
        Geometry, Operation, Pending, Stream, XtsEngine, kernels::Task,
    },
    registry::{Backend, CipherDescription, Platform},
    tuning::Folder,
};
use lanecrypt_record::{Figure, Part, Place, Record, Work};

use super::{
    energy::Meter,
    kernels,
    keyed::{Keyed, windows},
    passes::{clocked, timed, with_median},
    random,
};
use crate::bench::{
    options::Options,
    plan::{
        self, GCM_IV_BYTES, MESSAGES, ON_DEVICE, RunWork as _, SIZES, THREAD_BLOCKS, UNIT, counter,
        fits, noise, noise_on,
    },
};

/// Passes that the median is of; odd, and at least ten.
const SAMPLES: usize = 11;
/// The same of launches that are waited for one by one.
const LAUNCHES: usize = 201;
/// For how long launches follow each other where that is measured, and how many are queued at once.
const SUSTAINED: Duration = Duration::from_secs(60);
const WITHOUT_WAITING: usize = 100;
/// Of what the energy is measured.
const ENERGY: [Work; 2] = [Work::EcbEncrypt, Work::Ctr];
/// The same where the counter of energy is read in between.
const BETWEEN_READINGS: usize = 10;
/// Blocks of the key stream alone that are timed; P2 takes 2^35, which only takes longer.
const KEYSTREAM_BLOCKS: u64 = 1 << 30;
/// Blocks of it that are compared with a CPU.
const VERIFIED_BLOCKS: u64 = 1 << 20;
/// Room for a block of every thread of any device.
const KEYSTREAM_OUTPUT: usize = 16 << 20;

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
    record.skipped.extend(unread_experience(&device));
    let resident = options.sizes(&[64 << 10, 1 << 20, 16 << 20, 256 << 20, 4 << 30], &[1 << 30]);
    let end_to_end = options.sizes(&[64 << 10, 1 << 20, 16 << 20], &[1 << 20]);
    let sizes =
        Sizes { largest: resident.iter().copied().max().unwrap_or(0), resident, end_to_end };
    let mut buffers = Buffers::new(&device, sizes.largest)?;
    let meter = Meter::of(&device);
    for cipher in options.ciphers() {
        for backend in backends(options, cipher) {
            if let Err(reason) = (backend.available)() {
                record.skipped.push(format!("{}/{}: {reason}", cipher.name, backend.id));
                continue;
            }
            for &key_bytes in options.key_bytes(cipher) {
                let target = Target::new(cipher, backend, key_bytes)?;
                target.measure(options, (&sizes, meter.as_ref()), &mut buffers, record)?;
                bar.inc(1);
            }
        }
    }
    Ok(())
}

/// Loads the user's experience data, and says why it is not read where it is not.
fn unread_experience(device: &Device) -> Option<String> {
    lanecrypt::tuning::load(device);
    let folder = Folder::of_user()?;
    let why = folder.read(device).err()?;
    // Its name alone: a record keeps nothing of the machine's folders.
    let file = folder.file(device);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Some(format!("experience data, {name}: {why}"))
}

/// Bytes of data.
struct Sizes {
    resident: Vec<usize>,
    largest: usize,
    end_to_end: Vec<usize>,
}

/// Resident input, which is noise, and output.
struct Buffers {
    input: DeviceBuffer,
    output: DeviceBuffer,
}

impl Buffers {
    /// # Errors
    /// Where both do not fit.
    fn new(device: &Device, bytes: usize) -> Result<Self, String> {
        let text = |error: Error| error.to_string();
        let free = device.free_bytes().map_err(text)?;
        if 2 * bytes > free {
            return Err(format!("two buffers of {bytes} bytes do not fit in {free} free bytes"));
        }
        let input = noise_on(device, bytes).map_err(text)?;
        let output = DeviceBuffer::zeroed(device, bytes.max(KEYSTREAM_OUTPUT)).map_err(text)?;
        Ok(Self { input, output })
    }

    /// The first bytes of both.
    fn both(&mut self, bytes: usize) -> Result<(DeviceSlice<'_>, DeviceSliceMut<'_>), Error> {
        Ok((self.input.slice(0..bytes)?, self.output.slice_mut(0..bytes)?))
    }
}

/// A backend under a key.
struct Target {
    keyed: Keyed,
    backend: &'static Backend,
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
        let keyed = Keyed::new(cipher, key_bytes);
        let engine = Engine::of(backend, &keyed.key).map_err(|error| error.to_string())?;
        let engine = engine.ok_or_else(|| format!("{} has no kernels", backend.id))?;
        Self::of(keyed, backend, engine).map_err(|error| error.to_string())
    }

    /// With this engine under the key.
    fn of(keyed: Keyed, backend: &'static Backend, engine: Engine) -> Result<Self, Error> {
        let mut target = Self { keyed, backend, engine, modes: None };
        if fits(Work::XtsEncrypt, target.block()) {
            let (family, device) = (target.engine.family(), target.engine.device());
            let xts = family.xts_engine(device, &plan::key(2 * target.keyed.key.len()))?;
            let gcm = family.gcm_engine(device, &target.keyed.key)?;
            target.modes = Some((xts, gcm));
        }
        Ok(target)
    }

    fn figure(&self, work: Work, place: Place, bytes: usize) -> Figure {
        let backend = self.backend.id.to_owned();
        Figure { backend, ..self.keyed.figure(work, place, bytes) }
    }

    fn failed(&self, what: impl std::fmt::Display) -> String {
        format!("{}: {what}", self.backend.id)
    }

    fn block(&self) -> usize {
        self.keyed.cipher.block_bytes
    }

    /// Measures what is asked for of this backend under this key.
    fn measure(
        &self,
        options: &Options,
        (sizes, meter): (&Sizes, Option<&Meter>),
        buffers: &mut Buffers,
        record: &mut Record,
    ) -> Result<(), String> {
        let (cipher, largest) = (self.keyed.cipher, sizes.largest);
        if options.sustained {
            record.add(Part::Measurements, [self.sustained(largest, buffers)?]);
            return Ok(());
        }
        let is_first = self.keyed.key.len() == cipher.key_bytes[0];
        if options.energy && !is_first {
            return Ok(());
        }
        let mut measured = if options.energy {
            let of = |work| self.resident(work, largest, buffers);
            ENERGY.into_iter().map(of).collect::<Result<_, _>>()?
        } else {
            self.every_mode(sizes, buffers)?
        };
        if let Some(meter) = meter.filter(|_| is_first && !options.quick) {
            self.add_energy(meter, largest, &mut measured, buffers)?;
        }
        record.add(Part::Measurements, measured);
        if options.energy {
            return Ok(());
        }
        if options.tries_messages(cipher) && self.engine.other_programs().count() == 0 {
            for bytes in MESSAGES.into_iter().filter(|&bytes| bytes <= largest) {
                record.add(Part::BlockSizes, self.thread_blocks(&SIZES, bytes, buffers)?);
            }
        }
        if is_first {
            let kernels = kernels::on_device(&self.engine, &record.kernels)?;
            record.kernels.extend(kernels);
            if options.tries_thread_blocks(cipher) {
                let of = self.thread_blocks(&THREAD_BLOCKS, largest, buffers)?;
                record.add(Part::ThreadBlocks, of);
            }
        }
        Ok(())
    }

    /// All modes in all places.
    fn every_mode(&self, sizes: &Sizes, buffers: &mut Buffers) -> Result<Vec<Figure>, String> {
        let Sizes { resident, end_to_end, .. } = sizes;
        let mut measured = Vec::new();
        for work in ON_DEVICE.into_iter().filter(|&work| fits(work, self.block())) {
            for &bytes in resident {
                measured.push(self.resident(work, bytes, buffers)?);
                // Launches are told apart where data is short.
                if matches!(work, Work::Ctr | Work::GcmEncrypt) && bytes <= 1 << 20 {
                    measured.push(self.queued(work, bytes, buffers)?);
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
        if random::is_drawn_by(self.engine.family(), self.keyed.key.len()) {
            for work in Work::RANDOM {
                let figure = self.figure(work, Place::Resident, sizes.largest);
                measured.push(random::measure(figure, SAMPLES, &mut buffers.output)?);
            }
        }
        Ok(measured)
    }

    /// CTR launched without a pause for [`SUSTAINED`]: the card comes to its power limit.
    fn sustained(&self, bytes: usize, buffers: &mut Buffers) -> Result<Figure, String> {
        self.resident(Work::Ctr, bytes, buffers)?; // which verifies
        let (mut launches, mut seconds) = (0, 0.0);
        let start = Instant::now();
        while start.elapsed() < SUSTAINED {
            seconds += self.launches(Work::Ctr, bytes, WITHOUT_WAITING, buffers)?;
            launches += WITHOUT_WAITING;
        }
        self.verify_resident(Work::Ctr, bytes, buffers)?;
        let figure = self.figure(Work::Ctr, Place::Sustained, bytes);
        Ok(Figure { samples: launches, ..with_median(figure, vec![seconds / launches as f64]) })
    }

    /// The device's seconds for this number of launches of a mode, none of which is waited for by itself.
    fn launches(
        &self,
        work: Work,
        bytes: usize,
        count: usize,
        buffers: &mut Buffers,
    ) -> Result<f64, String> {
        let (input, mut output) = buffers.both(bytes).map_err(|error| self.failed(error))?;
        let mut launch =
            || (0..count).try_for_each(|_| self.start(work, &input, &mut output, &[0; 16]));
        let time = self.engine.device().time(&mut launch);
        Ok(time.map_err(|error| self.failed(error))?.as_secs_f64())
    }

    /// What ECB encryption and CTR of the longest data take of energy.
    fn add_energy(
        &self,
        meter: &Meter,
        bytes: usize,
        measured: &mut [Figure],
        buffers: &mut Buffers,
    ) -> Result<(), String> {
        let is_it = |f: &&mut Figure| {
            f.place == Place::Resident && f.bytes == bytes && ENERGY.contains(&f.work)
        };
        for figure in measured.iter_mut().filter(is_it) {
            figure.joules = meter.joules_of_a_pass(|| {
                let seconds = self.launches(figure.work, bytes, BETWEEN_READINGS, buffers)?;
                Ok((BETWEEN_READINGS, seconds))
            })?;
        }
        Ok(())
    }

    /// Resident data by the device's own events.
    fn resident(&self, work: Work, bytes: usize, buffers: &mut Buffers) -> Result<Figure, String> {
        let tag =
            buffers.both(bytes).and_then(|(input, mut output)| self.tag(work, &input, &mut output));
        let tag = tag.map_err(|error| self.failed(error))?;
        let pass = |buffers: &mut Buffers| {
            let (input, mut output) = buffers.both(bytes)?;
            let mut start = || self.start(work, &input, &mut output, &tag);
            Ok(self.engine.device().time(&mut start)?.as_secs_f64())
        };
        let figure = self.figure(work, Place::Resident, bytes);
        let pass = |buffers: &mut Buffers| pass(buffers).map_err(|error: Error| self.failed(error));
        timed(figure, SAMPLES, buffers, pass, |buffers| self.verify_resident(work, bytes, buffers))
    }

    /// CTR or encryption in GCM on a stream, from before it is queued until the host knows that it has run.
    fn queued(&self, work: Work, bytes: usize, buffers: &mut Buffers) -> Result<Figure, String> {
        let device = self.engine.device();
        let made = Stream::new(device).and_then(|stream| {
            let tag = DeviceBuffer::zeroed(device, 16)?;
            Ok((stream, tag))
        });
        let (stream, mut tag) = made.map_err(|error| self.failed(error))?;
        let mut run = |buffers: &mut Buffers| {
            let (input, mut output) = buffers.both(bytes)?;
            if let (Work::GcmEncrypt, Some((_, gcm))) = (work, &self.modes) {
                let (iv, mut tag) = (self.keyed.iv(), tag.slice_mut(0..16)?);
                let data = (&input, &mut output);
                return gcm
                    .queue_encrypt(&stream, &iv[..GCM_IV_BYTES], &[], data, &mut tag)?
                    .wait();
            }
            let operation = Operation::Ctr(counter(self.block()));
            self.engine.queue(&stream, operation, (&input, &mut output)).and_then(Pending::wait)
        };
        let pass =
            |buffers: &mut Buffers| clocked(|| run(buffers).map_err(|error| self.failed(error)));
        let figure = self.figure(work, Place::Queued, bytes);
        timed(figure, LAUNCHES, buffers, pass, |buffers| self.verify_resident(work, bytes, buffers))
    }

    /// The tag that `input` has as a ciphertext, where the mode asks for it: GCM that encrypts twice
    /// ends with what it began with.
    fn tag(
        &self,
        work: Work,
        input: &DeviceSlice<'_>,
        output: &mut DeviceSliceMut<'_>,
    ) -> Result<[u8; 16], Error> {
        let mut tag = [0; 16];
        if let (Work::GcmDecrypt, Some((_, gcm))) = (work, &self.modes) {
            let iv = self.keyed.iv();
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
    ) -> Result<(), Error> {
        let iv = self.keyed.iv();
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
            _ => Operation::Ctr(counter(self.block())),
        };
        self.engine.run(operation, (input, output))
    }

    /// The key stream alone, where the kernels have that form, over [`KEYSTREAM_BLOCKS`]; verified
    /// over fewer.
    fn keystream(&self, buffers: &mut Buffers) -> Result<Option<Figure>, String> {
        let (engine, block) = (&self.engine, self.block());
        if engine.program().kernel(Task::Keystream).is_none() {
            return Ok(None);
        }
        let time = |blocks: u64, buffers: &mut Buffers| {
            let mut output = buffers.output.slice_mut(0..KEYSTREAM_OUTPUT)?;
            engine.time_keystream(counter(block), blocks, &mut output)
        };
        let mut sums = vec![0; KEYSTREAM_OUTPUT];
        let mut verified = || {
            buffers.output.write(0, &sums)?;
            time(VERIFIED_BLOCKS, buffers)?;
            buffers.output.read(0, &mut sums)
        };
        verified().map_err(|error| self.failed(error))?;
        let mut expected = vec![0; VERIFIED_BLOCKS as usize * block];
        let cpu = self.keyed.on_cpu();
        let ran = cpu.and_then(|cpu| cpu.ctr(&self.keyed.iv(), expected.as_mut_slice().into()));
        ran.map_err(|error| self.failed(error))?;
        if sum_of_blocks(&sums, block) != sum_of_blocks(&expected, block) {
            return Err(self.failed("the key stream is wrong; nothing is timed"));
        }
        let mut seconds = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            let time = time(KEYSTREAM_BLOCKS, buffers).map_err(|error| self.failed(error))?;
            seconds.extend(time.map(|time| time.as_secs_f64()));
        }
        let bytes = KEYSTREAM_BLOCKS as usize * block;
        Ok(Some(with_median(self.figure(Work::Keystream, Place::Resident, bytes), seconds)))
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
        let measured = kernels::possible(kernel, sizes).chain([0]).map(measure).collect();
        engine.launch_as(None);
        measured
    }

    /// Compares the start, the middle and the end with a CPU, and poisons them, so that the next
    /// verification cannot pass on what this one left.
    fn verify_resident(
        &self,
        work: Work,
        bytes: usize,
        buffers: &mut Buffers,
    ) -> Result<(), String> {
        let output = &mut buffers.output;
        self.keyed
            .verify(work, (0, bytes), true, |start, piece| {
                output.read(start, piece).map_err(|error| error.to_string())
            })
            .map_err(|error| self.failed(error))?;
        for window in windows(bytes) {
            let poisoned = output.write(window.start, &vec![0xee; window.len()]);
            poisoned.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    fn end_to_end(&self, work: Work, bytes: usize) -> Result<Figure, String> {
        let (iv, mut data) = (self.keyed.iv(), noise(bytes).to_vec());
        let pass = |data: &mut Vec<u8>| {
            let run = |data: &mut [u8]| work.run(&self.engine, &self.engine, &iv, data);
            clocked(|| run(data).map_err(|error| self.failed(error)))
        };
        let figure = self.figure(work, Place::EndToEnd, bytes);
        timed(figure, SAMPLES, &mut data, pass, |data| {
            self.keyed.verify_piece(work, 0, noise(bytes), data, false)
        })
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

#[cfg(test)]
mod tests {
    use lanecrypt::cuda::CipherKernels;

    use super::*;

    #[test]
    #[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
    fn every_mode_is_timed_where_it_is_right() {
        let device = Device::on_host().expect("LANECRYPT_HOST_KERNELS names the library");
        let cipher = lanecrypt::find_cipher("aes").expect("it is in the registry");
        let family = CipherKernels::of(cipher).expect("it has kernels").fastest;
        let keyed = Keyed::new(cipher, 16);
        let engine = family.engine(&device, &keyed.key).expect("it runs");
        let mut target = Target::of(keyed, &cipher.backends[0], engine).expect("it runs");
        let mut buffers = Buffers::new(&device, 64 << 10).expect("there is room");
        let sizes = Sizes {
            resident: vec![4 << 10, 64 << 10],
            largest: 64 << 10,
            end_to_end: vec![4 << 10],
        };
        let measured = target.every_mode(&sizes, &mut buffers).expect("all is right");
        let of = |place| measured.iter().filter(|f| f.place == place).count();
        let places = [Place::Resident, Place::Queued, Place::EndToEnd];
        assert_eq!(places.map(of), [2 * ON_DEVICE.len() + Work::RANDOM.len(), 4, 5]);
        assert!(measured.iter().all(|f| f.seconds > 0.0 && f.interval.is_some()));
        target.keyed.key[0] ^= 1;
        let refused = target.resident(Work::Ctr, 4 << 10, &mut buffers).unwrap_err();
        assert!(refused.contains("wrong output") && refused.contains("nothing is timed"));
    }
}
