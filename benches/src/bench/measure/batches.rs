//! Measuring batches: many messages in one call, each under a key of its own, on the CPU's cores and on
//! the GPU, where messages are there or in host memory. Output is compared with the CPU's, message by message,
//! before it is timed.

use std::{fmt::Display, ops::DerefMut};

use lanecrypt::{
    batch::{self, Job, JobMode, Outcome},
    cuda::{BatchFamily, Device, DeviceBuffer, DeviceJob, Error, PinnedBuffer},
};
use lanecrypt_record::{Figure, Place, Work};

use super::{
    keyed::Keyed,
    passes::{clocked, timed},
};
use crate::bench::{
    options::Options,
    plan::{GCM_IV_BYTES, noise_at, noise_on},
};

/// Passes that the median is of; odd.
const SAMPLES: usize = 11;
/// Messages that are compared with the CPU's.
const VERIFIED: usize = 64;
/// Messages and bytes of each, on the GPU: P4's sessions have 35 KB and 150 KB.
const ON_DEVICE: [(usize, usize); 5] =
    [(1_000_000, 256), (10_000, 16 << 10), (10_000, 35_000), (4_000, 150_000), (4_096, 1 << 20)];
/// The same in host memory.
const END_TO_END: [(usize, usize); 3] = [(1_000_000, 256), (10_000, 16 << 10), (1_000, 16 << 10)];
/// The same on the CPU.
const ON_CPU: [(usize, usize); 3] = [(50_000, 256), (1_000, 16 << 10), (64, 1 << 20)];
/// Those of a quick run.
const QUICK: (usize, usize) = (1_000, 16 << 10);
/// The modes.
const WORKS: [Work; 2] = [Work::Ctr, Work::GcmEncrypt];
/// Bytes of the longest key and of an IV or a tag.
const KEY_BYTES: usize = 32;
const BLOCK: usize = 16;

/// Measures the batches of every cipher that has them on devices; those in host memory alone, where only
/// host memory is wanted.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    let mut measured = Vec::new();
    let device = options.device();
    let is_wanted = !options.host_memory || options.batches;
    for keyed in Keyed::chosen(options) {
        let Ok(family) = batch::on_device(keyed.cipher) else { continue };
        let runs = device.as_ref().filter(|device| family.fits(device.properties()).is_ok());
        for work in WORKS {
            let of = |shape| Messages::new(keyed.clone(), work, shape);
            for shape in shapes(options, &END_TO_END) {
                if let Some(device) = runs {
                    let run = |jobs: &mut [Job<'_>]| family.run_host_memory(device, jobs);
                    let messages = of(shape);
                    let pageable = messages.pageable();
                    measured.push(messages.in_host_memory(Place::EndToEnd, pageable, run)?);
                    let pinned = messages.pinned(device)?;
                    measured.push(messages.in_host_memory(Place::Pinned, pinned, run)?);
                }
            }
            for shape in shapes(options, &ON_CPU) {
                if is_wanted && !options.gpu_only {
                    let run = |jobs: &mut [Job<'_>]| Ok(batch::run_on_cpu(keyed.cipher, jobs));
                    let messages = of(shape);
                    let pageable = messages.pageable();
                    measured.push(messages.in_host_memory(Place::Cpu, pageable, run)?);
                }
            }
            for shape in shapes(options, &ON_DEVICE) {
                if let Some(device) = runs.filter(|_| is_wanted) {
                    measured.push(of(shape).on_device(family, device)?);
                }
            }
        }
    }
    Ok(measured)
}

/// Those whose messages are of the sizes that are wanted, or all.
fn shapes(options: &Options, all: &[(usize, usize)]) -> Vec<(usize, usize)> {
    match (options.size.is_empty(), options.quick) {
        (true, true) => vec![QUICK],
        (true, false) => all.to_vec(),
        _ => all.iter().copied().filter(|(_, bytes)| options.size.contains(bytes)).collect(),
    }
}

/// The messages of a batch: all of one length, each under a key and an IV of its own.
struct Messages {
    keyed: Keyed,
    work: Work,
    count: usize,
    bytes: usize,
    keys: Vec<u8>,
    ivs: Vec<u8>,
}

impl Messages {
    /// For keys as long as this one.
    fn new(keyed: Keyed, work: Work, (count, bytes): (usize, usize)) -> Self {
        let (keys, ivs) = (noise_at(0, KEY_BYTES * count), noise_at(7, BLOCK * count));
        Self { keyed, work, count, bytes, keys, ivs }
    }

    fn key(&self, number: usize) -> &[u8] {
        &self.keys[KEY_BYTES * number..][..self.keyed.key.len()]
    }

    fn mode<'a>(&'a self, number: usize, tag: &'a mut [u8]) -> JobMode<'a> {
        let iv = &self.ivs[BLOCK * number..][..BLOCK];
        match self.work {
            Work::Ctr => JobMode::Ctr { counter: iv },
            _ => JobMode::GcmEncrypt { iv: &iv[..GCM_IV_BYTES], aad: &[], tag },
        }
    }

    /// Where a message starts on the device, and bytes of all of them.
    fn start(&self, number: usize) -> usize {
        number * self.bytes.next_multiple_of(BLOCK)
    }

    fn failed(&self, what: impl Display) -> String {
        let Self { work, count, bytes, .. } = self;
        self.keyed.failed(format!("{count} messages of {bytes} bytes, {work}: {what}"))
    }

    fn figure(&self, place: Place) -> Figure {
        let figure = self.keyed.figure(self.work, place, self.count * self.bytes);
        Figure { count: self.count, ..figure }
    }

    /// Ordinary memory for all messages.
    fn pageable(&self) -> Vec<u8> {
        vec![0; self.count * self.bytes]
    }

    /// Pinned memory for them.
    fn pinned(&self, device: &Device) -> Result<PinnedBuffer, String> {
        let bytes = self.count * self.bytes;
        PinnedBuffer::zeroed(device, bytes).map_err(|error| self.failed(error))
    }

    /// The batch over host memory, in place; a message is compared with what it is alone.
    fn in_host_memory<M: DerefMut<Target = [u8]>>(
        &self,
        place: Place,
        memory: M,
        run: impl Fn(&mut [Job<'_>]) -> Result<Outcome, Error>,
    ) -> Result<Figure, String> {
        let mut data = (memory, vec![0; BLOCK * self.count]);
        let message = noise_at(0, self.bytes);
        let pass = |(texts, tags): &mut (M, Vec<u8>)| {
            texts.chunks_mut(self.bytes).for_each(|text| text.copy_from_slice(&message));
            let parts = texts.chunks_mut(self.bytes).zip(tags.chunks_mut(BLOCK)).enumerate();
            let mut jobs = Vec::with_capacity(self.count);
            for (i, (text, tag)) in parts {
                jobs.push(Job { key: self.key(i), mode: self.mode(i, tag), data: text.into() });
            }
            clocked(|| self.whole(run(&mut jobs)))
        };
        timed(self.figure(place), SAMPLES, &mut data, pass, |(texts, tags)| {
            self.verify(tags, |number, to| {
                to.copy_from_slice(&texts[number * self.bytes..][..self.bytes]);
                Ok(message.clone())
            })
        })
    }

    /// The batch over data on the device, from one buffer to another.
    fn on_device(&self, family: &BatchFamily, device: &Device) -> Result<Figure, String> {
        let text = |error: Error| self.failed(error);
        let bytes = self.start(self.count);
        let input = noise_on(device, bytes).map_err(text)?;
        let mut output = DeviceBuffer::zeroed(device, bytes).map_err(text)?;
        let mut tags = vec![0; BLOCK * self.count];
        let jobs = tags.chunks_mut(BLOCK).enumerate().map(|(i, tag)| DeviceJob {
            key: self.key(i),
            mode: self.mode(i, tag),
            input: self.start(i),
            output: self.start(i),
            length: self.bytes,
        });
        let prepared = family.prepare(device, jobs.collect()).map_err(text)?;
        let from = input.slice(0..bytes).map_err(text)?;
        let pass = |output: &mut DeviceBuffer| {
            let mut to = output.slice_mut(0..bytes).map_err(text)?;
            prepared.time((&from, &mut to)).map(|time| time.as_secs_f64()).map_err(text)
        };
        let figure = self.figure(Place::Resident);
        let figure = timed(figure, SAMPLES, &mut output, pass, |_| Ok(()))?;
        let mut to = output.slice_mut(0..bytes).map_err(text)?;
        self.whole(prepared.run((&from, &mut to)))?;
        self.verify(&tags, |number, to| {
            output.read(self.start(number), to).map_err(text)?;
            Ok(noise_at(self.start(number), self.bytes))
        })?;
        Ok(figure)
    }

    /// A call in which no message failed.
    fn whole(&self, outcome: Result<Outcome, Error>) -> Result<(), String> {
        let outcome = outcome.map_err(|error| self.failed(error))?;
        outcome.into_result().map_err(|outcome| self.failed(outcome))
    }

    /// Compares messages from all over the batch with what the CPU makes of them one by one. `read`
    /// fills what came out, and gives what went in.
    fn verify(
        &self,
        tags: &[u8],
        read: impl Fn(usize, &mut [u8]) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        for number in (0..self.count).step_by(self.count.div_ceil(VERIFIED)) {
            let mut found = vec![0; self.bytes];
            let mut expected = read(number, &mut found)?;
            let mut tag = [0; BLOCK];
            let mode = self.mode(number, &mut tag);
            let job = Job { key: self.key(number), mode, data: expected.as_mut_slice().into() };
            let outcome = batch::run_on_cpu(self.keyed.cipher, &mut [job]);
            let is_gcm = self.work == Work::GcmEncrypt;
            let is_right = found == expected && (!is_gcm || tags[BLOCK * number..][..BLOCK] == tag);
            if !(outcome.is_complete() && is_right) {
                return Err(self.failed(format!("message {number} is wrong; nothing is timed")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_choose_among_the_shapes() {
        let of = |arguments: &[&str]| {
            let arguments = ["bench-all", "--batches"].iter().chain(arguments);
            shapes(&Options::parse_from(arguments), &ON_DEVICE)
        };
        assert_eq!(of(&[]), ON_DEVICE);
        assert_eq!(of(&["--quick"]), [QUICK]);
        assert_eq!(of(&["--quick", "--size", "1M", "--size", "256"]), [ON_DEVICE[0], ON_DEVICE[4]]);
        assert_eq!(of(&["--size", "17"]), []);
    }

    #[test]
    #[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
    fn batches_are_timed_where_every_message_is_right() {
        let device = Device::on_host().expect("LANECRYPT_HOST_KERNELS names the library");
        let cipher = lanecrypt::find_cipher("aes").expect("it is in the registry");
        let family = batch::on_device(cipher).expect("it has batches");
        for work in WORKS {
            let messages = Messages::new(Keyed::new(cipher, 16), work, (20, 100));
            let run = |jobs: &mut [Job<'_>]| family.run_host_memory(&device, jobs);
            for figure in [
                messages.on_device(family, &device),
                messages.in_host_memory(Place::EndToEnd, messages.pageable(), run),
                messages.in_host_memory(
                    Place::Pinned,
                    messages.pinned(&device).expect("it fits"),
                    run,
                ),
                messages.in_host_memory(Place::Cpu, messages.pageable(), |jobs| {
                    Ok(batch::run_on_cpu(cipher, jobs))
                }),
            ] {
                let figure = figure.expect("it is right");
                assert_eq!((figure.count, figure.bytes, figure.work), (20, 2000, work));
            }
        }
    }
}
