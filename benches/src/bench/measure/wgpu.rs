//! Measuring GPUs that CUDA does not reach: kernels over data that stays on the device, and calls from host memory to
//! host memory, both by the host's clock.

use lanecrypt::{
    Direction, Gcm, Operation,
    registry::{Backend, Platform},
    wgpu::{Device, Engine, Family, Limits},
};
use lanecrypt_record::{Figure, Part, Place, Record, Work};

use super::{
    keyed::Keyed,
    passes::{clocked, timed, with_median},
};
use crate::bench::{
    options::Options,
    plan::{RunWork as _, counter, fits, noise, seal},
};

/// Passes that the median is of; odd.
const SAMPLES: usize = 11;
/// Launches of a pass, which follow each other; as many as make of what the host adds less than a hundredth.
const LAUNCHES: u32 = 50;
/// What has kernels of its own.
const WORKS: [Work; 4] = [Work::EcbEncrypt, Work::EcbDecrypt, Work::Ctr, Work::GcmEncrypt];

/// Verifies and measures all chosen backends.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(options: &Options, record: &mut Record) -> Result<(), String> {
    let chosen = |backend: &&'static Backend| backend.platform == Platform::Wgpu;
    if options.cpu_only || options.sustained || options.energy {
        return Ok(());
    }
    let resident = options.sizes(&[1 << 20, 16 << 20, 256 << 20, 1 << 30], &[256 << 20]);
    let end_to_end = options.sizes(&[64 << 10, 1 << 20, 16 << 20], &[1 << 20]);
    let largest = resident.iter().copied().max().unwrap_or(0) as u64;
    let limits = Limits { piece_bytes: largest, ..Limits::default() };
    let devices = [Device::with_limits(limits), Device::default()];
    let [Ok(for_large), Ok(usual)] = devices else {
        let error = devices.into_iter().find_map(Result::err);
        record.skipped.extend(error.map(|error| format!("every backend wgpu-*: {error}")));
        return Ok(());
    };
    for cipher in options.ciphers() {
        for backend in cipher.backends.iter().filter(chosen) {
            let Some(family) = Family::of(backend).filter(|_| options.takes(cipher, backend))
            else {
                continue;
            };
            for &key_bytes in options.key_bytes(cipher) {
                let keyed = Keyed::new(cipher, key_bytes);
                let engine = |device| family.engine(device, &keyed.key).map_err(|e| e.to_string());
                let target = Target { keyed: &keyed, backend };
                let (usual, for_large) = (engine(&usual)?, engine(&for_large)?);
                for work in WORKS.into_iter().filter(|work| fits(*work, cipher.block_bytes)) {
                    let of_host = end_to_end.iter().filter(|bytes| **bytes <= 64 << 20);
                    let of_host = of_host.map(|&bytes| target.end_to_end(&usual, work, bytes));
                    let figures = of_host.collect::<Result<Vec<_>, String>>()?;
                    record.add(Part::Measurements, figures);
                    let on_device =
                        resident.iter().map(|&bytes| target.resident(&for_large, work, bytes));
                    let figures = on_device.collect::<Result<Vec<_>, String>>()?;
                    record.add(Part::Measurements, figures);
                }
            }
        }
    }
    Ok(())
}

/// A backend under a key.
struct Target<'a> {
    keyed: &'a Keyed,
    backend: &'static Backend,
}

impl Target<'_> {
    fn figure(&self, work: Work, place: Place, bytes: usize) -> Figure {
        let backend = self.backend.id.to_owned();
        Figure { backend, ..self.keyed.figure(work, place, bytes) }
    }

    fn failed(&self, what: impl std::fmt::Display) -> String {
        format!("{}: {what}", self.backend.id)
    }

    fn end_to_end(&self, engine: &Engine, work: Work, bytes: usize) -> Result<Figure, String> {
        let (iv, mut data) = (self.keyed.iv(), noise(bytes).to_vec());
        let gcm = (work == Work::GcmEncrypt).then(|| Gcm::<_>::of(engine)).transpose();
        let gcm = gcm.map_err(|error| self.failed(error))?;
        let pass = |data: &mut Vec<u8>| {
            let run = |data: &mut [u8]| match &gcm {
                Some(gcm) => seal(gcm, &iv, data),
                None => work.run(engine, engine, &iv, data),
            };
            clocked(|| run(data).map_err(|error| self.failed(error)))
        };
        let figure = self.figure(work, Place::EndToEnd, bytes);
        timed(figure, SAMPLES, &mut data, pass, |data| {
            self.keyed.verify_piece(work, 0, noise(bytes), data, false)
        })
    }

    /// Over whatever lies on the device: what these kernels make, end to end has verified. As much is taken as the
    /// device binds at once.
    fn resident(&self, engine: &Engine, work: Work, bytes: usize) -> Result<Figure, String> {
        let time = |operation| engine.time(operation, bytes, LAUNCHES);
        let pass = |_| match work {
            Work::EcbEncrypt => time(Operation::Ecb(Direction::Encrypt)),
            Work::EcbDecrypt => time(Operation::Ecb(Direction::Decrypt)),
            Work::GcmEncrypt => engine.time_gcm(bytes, LAUNCHES),
            _ => time(Operation::Ctr(counter(self.keyed.cipher.block_bytes))),
        };
        let pass = |number: usize| pass(number).map_err(|error| self.failed(error));
        pass(0)?; // the clock of a GPU that was idle rises in it
        let passes = (0..SAMPLES).map(pass).collect::<Result<Vec<_>, String>>()?;
        let taken = passes.first().map_or(bytes, |pass| pass.1);
        let seconds = passes.iter().map(|pass| pass.0.as_secs_f64()).collect();
        Ok(with_median(self.figure(work, Place::Resident, taken), seconds))
    }
}
