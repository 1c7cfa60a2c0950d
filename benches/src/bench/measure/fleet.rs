//! Measuring several GPUs as one: CTR over data that lies on the first one, two, .. of them, and over host
//! memory that they share out. Parts of what comes out are compared with a CPU's before anything is timed.

use std::time::Instant;

use lanecrypt::{
    cipher::InOutBuf,
    cuda::{
        Device, DeviceBuffer, DeviceSliceMut, Error, Family, Fleet, FleetReport, Operation,
        PinnedBuffer,
    },
    registry::CipherDescription,
};
use lanecrypt_record::{Figure, Place, Work};

use super::{
    host_memory::families,
    sample::timed,
    verify::{counter, verify_piece},
};
use crate::bench::{
    options::Options,
    plan::{key, noise},
};

/// Passes that the median is of; odd.
const SAMPLES: usize = 11;
/// Bytes of host memory for all devices together; half of it lies on each of them where data is resident.
const BYTES: usize = 8 << 30;
const QUICK_BYTES: usize = 256 << 20;
/// The ciphers that are measured where none is named: a fast one and a slow one.
const CIPHERS: [&str; 2] = ["aes", "tdes"];
/// Bytes compared at the start and at the end of every part.
const WINDOW: usize = 1 << 20;

/// Measures on the first device, the first two, and so on; nothing where there is no GPU, nor, unless fleets
/// are asked for, where there is one.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure, and so is a device that drops out.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    let devices = if options.cpu_only { Vec::new() } else { Device::all().unwrap_or_default() };
    if devices.len() == 1 {
        eprintln!("fleet: this machine has one GPU, so there is no second one to compare it with");
    }
    if devices.is_empty() || devices.len() == 1 && !options.fleet {
        return Ok(Vec::new());
    }
    let text = |error: Error| error.to_string();
    let mut measured = Vec::new();
    for bytes in options.sizes(&[BYTES], &[QUICK_BYTES]) {
        let bytes = bytes.next_multiple_of(2 * 16);
        let mut host = Host::new(&devices[0], bytes).map_err(text)?;
        for family in families().filter(|family| is_chosen(options, family.cipher())) {
            let key = key(family.cipher().key_bytes[0]);
            for count in 1..=devices.len() {
                let fleet = family.fleet(&devices[..count], &key).map_err(text)?;
                let target = Target { family, key: &key, fleet };
                measured.push(target.resident(bytes / 2)?);
                measured.push(target.pinned(&mut host)?);
                measured.push(target.end_to_end(&mut host)?);
            }
        }
    }
    Ok(measured)
}

fn is_chosen(options: &Options, cipher: &CipherDescription) -> bool {
    let is_named = options.ciphers().any(|chosen| chosen.name == cipher.name);
    is_named && (!options.cipher.is_empty() || CIPHERS.contains(&cipher.name))
}

/// Host memory that is measured with, pinned and not.
struct Host {
    input: PinnedBuffer,
    output: PinnedBuffer,
    pageable: Vec<u8>,
}

impl Host {
    fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let mut input = PinnedBuffer::zeroed(device, bytes)?;
        fill(&mut input);
        Ok(Self { input, output: PinnedBuffer::zeroed(device, bytes)?, pageable: vec![0; bytes] })
    }
}

fn fill(data: &mut [u8]) {
    let noise = noise(64 << 20);
    for piece in data.chunks_mut(noise.len()) {
        piece.copy_from_slice(&noise[..piece.len()]);
    }
}

/// Some devices under a key.
struct Target<'a> {
    family: &'static Family,
    key: &'a [u8],
    fleet: Fleet,
}

impl Target<'_> {
    /// In place on every device, as many bytes on each.
    fn resident(&self, bytes: usize) -> Result<Figure, String> {
        let text = |error: Error| self.failed(&error);
        let mut buffers = Vec::new();
        for engine in self.fleet.engines() {
            let mut buffer = DeviceBuffer::zeroed(engine.device(), bytes).map_err(text)?;
            let noise = noise(64 << 20);
            for start in (0..bytes).step_by(noise.len()) {
                let length = noise.len().min(bytes - start);
                buffer.write(start, &noise[..length]).map_err(text)?;
            }
            buffers.push(buffer);
        }
        let operation = Operation::Ctr(counter(self.family.cipher().block_bytes));
        let run = |buffers: &mut Vec<DeviceBuffer>| {
            let whole = |buffer| -> Result<DeviceSliceMut<'_>, Error> {
                let buffer: &mut DeviceBuffer = buffer;
                buffer.slice_mut(0..buffer.len())
            };
            let parts = buffers.iter_mut().map(whole).collect::<Result<Vec<_>, _>>();
            self.fleet.run(operation, &mut parts.map_err(text)?).map_err(text)
        };
        run(&mut buffers)?;
        for (number, buffer) in buffers.iter().enumerate() {
            for start in windows(bytes) {
                let mut output = vec![0; WINDOW.min(bytes)];
                buffer.read(start, &mut output).map_err(text)?;
                self.verify(start, number * bytes, &output)?;
            }
        }
        let all = bytes * buffers.len();
        self.timed(Place::Resident, all, || run(&mut buffers))
    }

    /// From pinned memory to other, so that it is not copied.
    fn pinned(&self, host: &mut Host) -> Result<Figure, String> {
        let operation = Operation::Ctr(counter(self.family.cipher().block_bytes));
        let bytes = host.input.len();
        let run = |Host { input, output, .. }: &mut Host| {
            let both = InOutBuf::new(input, output).map_err(|error| self.failed(&error))?;
            self.complete(self.fleet.run_host_memory(operation, both))
        };
        run(host)?;
        for start in windows(bytes) {
            self.verify(start, 0, &host.output[start..start + WINDOW.min(bytes)])?;
        }
        self.timed(Place::Pinned, bytes, || run(host))
    }

    /// In place in ordinary memory.
    fn end_to_end(&self, host: &mut Host) -> Result<Figure, String> {
        let operation = Operation::Ctr(counter(self.family.cipher().block_bytes));
        fill(&mut host.pageable);
        let bytes = host.pageable.len();
        let run =
            |data: &mut [u8]| self.complete(self.fleet.run_host_memory(operation, data.into()));
        run(&mut host.pageable)?;
        for start in windows(bytes) {
            self.verify(start, 0, &host.pageable[start..start + WINDOW.min(bytes)])?;
        }
        self.timed(Place::EndToEnd, bytes, || run(&mut host.pageable))
    }

    fn failed(&self, what: &dyn std::fmt::Display) -> String {
        let count = self.fleet.engines().len();
        format!("{} on {count} GPUs: {what}", self.family.cipher().name)
    }

    /// A call in which nobody dropped out.
    fn complete(&self, result: Result<FleetReport, Error>) -> Result<(), String> {
        let report = result.map_err(|error| self.failed(&error))?;
        report.dropped.first().map_or(Ok(()), |dropped| Err(self.failed(dropped)))
    }

    /// Compares what came out of the bytes from `start` on of a part that lies `before` bytes after the start
    /// of the data, and that was the same as every other one.
    fn verify(&self, start: usize, before: usize, output: &[u8]) -> Result<(), String> {
        let noise = noise(64 << 20);
        let input: Vec<u8> =
            (start..start + output.len()).map(|i| noise[i % noise.len()]).collect();
        let cipher = self.family.cipher();
        verify_piece(cipher, self.key, Work::Ctr, before + start, &input, output, false)
            .map_err(|error| self.failed(&error))
    }

    fn timed(
        &self,
        place: Place,
        bytes: usize,
        mut run: impl FnMut() -> Result<(), String>,
    ) -> Result<Figure, String> {
        let mut seconds = Vec::new();
        for _ in 0..SAMPLES {
            let start = Instant::now();
            run()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        let figure = Figure {
            cipher: self.family.cipher().name.to_owned(),
            key_bits: 8 * self.key.len(),
            place,
            count: self.fleet.engines().len(),
            bytes,
            ..Figure::default()
        };
        Ok(timed(figure, seconds))
    }
}

/// Where the bytes start that are compared.
fn windows(bytes: usize) -> [usize; 2] {
    [0, bytes - WINDOW.min(bytes)]
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn two_ciphers_unless_others_are_named() {
        let chosen = |arguments: &[&str]| {
            let arguments = ["bench-all", "--fleet"].iter().chain(arguments);
            let options = Options::parse_from(arguments);
            let ciphers = families().map(Family::cipher);
            ciphers.filter(|c| is_chosen(&options, c)).map(|c| c.name).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[]), ["aes", "tdes"]);
        assert_eq!(chosen(&["--cipher", "seed"]), ["seed"]);
    }
}
