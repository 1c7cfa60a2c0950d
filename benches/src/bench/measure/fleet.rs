//! Measuring several GPUs as one: CTR over data that lies on the first one, two, .. of them, and over host
//! memory that they share out. Parts of what comes out are compared with a CPU's before anything is timed.

use lanecrypt::{
    cipher::InOutBuf,
    cuda::{
        CipherKernels, Device, DeviceBuffer, DeviceSliceMut, Error, Family, Fleet, FleetReport,
        Operation, PinnedBuffer,
    },
    registry::CipherDescription,
};
use lanecrypt_record::{Figure, Place, Work};

use super::{
    keyed::Keyed,
    passes::{clocked, timed},
};
use crate::bench::{
    options::Options,
    plan::{counter, fill, noise_on},
};

/// Passes that the median is of; odd.
const SAMPLES: usize = 11;
/// Bytes of host memory for all devices together; half of it lies on each of them where data is resident.
const BYTES: usize = 8 << 30;
const QUICK_BYTES: usize = 256 << 20;
/// The ciphers that are measured where none is named: a fast one and a slow one.
const CIPHERS: [&str; 2] = ["aes", "tdes"];

/// The kernels that each cipher's type takes by itself.
fn families() -> impl Iterator<Item = &'static Family> {
    lanecrypt::CIPHERS
        .iter()
        .filter_map(|cipher| CipherKernels::of(cipher))
        .map(|kernels| kernels.fastest)
}

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
            let keyed = Keyed::new(family.cipher(), family.cipher().key_bytes[0]);
            for count in 1..=devices.len() {
                let fleet = family.fleet(&devices[..count], &keyed.key).map_err(text)?;
                let target = Target { keyed: &keyed, fleet };
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

/// Some devices under a key.
struct Target<'a> {
    keyed: &'a Keyed,
    fleet: Fleet,
}

impl Target<'_> {
    /// In place on every device, as many bytes on each.
    fn resident(&self, bytes: usize) -> Result<Figure, String> {
        let text = |error: Error| self.failed(&error);
        let buffer = |engine: &lanecrypt::cuda::Engine| noise_on(engine.device(), bytes);
        let buffers: Result<Vec<_>, Error> = self.fleet.engines().iter().map(buffer).collect();
        let mut buffers = buffers.map_err(text)?;
        let run = |buffers: &mut Vec<DeviceBuffer>| {
            let whole = |buffer| -> Result<DeviceSliceMut<'_>, Error> {
                let buffer: &mut DeviceBuffer = buffer;
                buffer.slice_mut(0..buffer.len())
            };
            let parts = buffers.iter_mut().map(whole).collect::<Result<Vec<_>, _>>();
            self.fleet.run(self.operation(), &mut parts.map_err(text)?).map_err(text)
        };
        let verify = |buffers: &mut Vec<DeviceBuffer>| {
            for (number, buffer) in buffers.iter().enumerate() {
                self.verify((number * bytes, bytes), |start, output| {
                    buffer.read(start, output).map_err(text)
                })?;
            }
            Ok(())
        };
        let figure = self.figure(Place::Resident, bytes * buffers.len());
        timed(figure, SAMPLES, &mut buffers, |buffers| clocked(|| run(buffers)), verify)
    }

    /// From pinned memory to other, so that it is not copied.
    fn pinned(&self, host: &mut Host) -> Result<Figure, String> {
        let run = |Host { input, output, .. }: &mut Host| {
            let both = InOutBuf::new(input, output).map_err(|error| self.failed(&error))?;
            self.complete(self.fleet.run_host_memory(self.operation(), both))
        };
        let figure = self.figure(Place::Pinned, host.input.len());
        let verify = |host: &mut Host| self.verify_host(&host.output);
        timed(figure, SAMPLES, host, |host| clocked(|| run(host)), verify)
    }

    /// In place in ordinary memory.
    fn end_to_end(&self, host: &mut Host) -> Result<Figure, String> {
        let data = &mut host.pageable;
        fill(data);
        let run = |data: &mut [u8]| {
            self.complete(self.fleet.run_host_memory(self.operation(), data.into()))
        };
        let figure = self.figure(Place::EndToEnd, data.len());
        let verify = |data: &mut Vec<u8>| self.verify_host(data);
        timed(figure, SAMPLES, data, |data| clocked(|| run(data)), verify)
    }

    fn operation(&self) -> Operation<'static> {
        Operation::Ctr(counter(self.keyed.cipher.block_bytes))
    }

    fn figure(&self, place: Place, bytes: usize) -> Figure {
        let count = self.fleet.engines().len();
        Figure { count, ..self.keyed.figure(Work::Ctr, place, bytes) }
    }

    fn failed(&self, what: &dyn std::fmt::Display) -> String {
        self.keyed.failed(format!("on {} GPUs: {what}", self.fleet.engines().len()))
    }

    /// A call in which no device dropped out.
    fn complete(&self, result: Result<FleetReport, Error>) -> Result<(), String> {
        let report = result.map_err(|error| self.failed(&error))?;
        report.dropped.first().map_or(Ok(()), |dropped| Err(self.failed(dropped)))
    }

    /// Compares what came out of a part that lies some bytes after the start of the data, and that was the
    /// same as every other one.
    fn verify(
        &self,
        part: (usize, usize),
        read: impl FnMut(usize, &mut [u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        self.keyed.verify(Work::Ctr, part, false, read)
    }

    fn verify_host(&self, output: &[u8]) -> Result<(), String> {
        self.verify((0, output.len()), |start, piece| {
            piece.copy_from_slice(&output[start..start + piece.len()]);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    #[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
    fn devices_share_what_is_right() {
        let cipher = lanecrypt::find_cipher("aes").expect("it is in the registry");
        let family = families().find(|family| family.cipher().name == "aes").expect("it has one");
        let keyed = Keyed::new(cipher, 16);
        let devices = [Device::on_host(), Device::another_on_host()];
        let devices =
            devices.map(|device| device.expect("LANECRYPT_HOST_KERNELS names the library"));
        let fleet = family.fleet(&devices, &keyed.key).expect("it runs");
        let target = Target { keyed: &keyed, fleet };
        let mut host = Host::new(&devices[0], 64 << 10).expect("there is room");
        let figures =
            [target.resident(32 << 10), target.pinned(&mut host), target.end_to_end(&mut host)];
        for figure in figures.map(|figure| figure.expect("it is right")) {
            assert_eq!((figure.count, figure.bytes, figure.samples), (2, 64 << 10, SAMPLES));
        }
    }
}
