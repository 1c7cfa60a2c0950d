//! Measuring host memory: CTR and GCM in place, the whole way to the GPU and back, and by the CPU's cores over
//! the same bytes. Parts of what comes out are compared with one core's before anything is timed.

use std::{cell::Cell, fmt::Display, time::Instant};

use lanecrypt::{
    CIPHERS, Engine as _, Gcm, Parallel,
    cuda::{CipherKernels, Device, Family, PinnedBuffer},
    registry::CipherDescription,
};
use lanecrypt_record::{Figure, Place, Work};

use super::{
    sample::timed,
    verify::{iv, verify_piece},
};
use crate::bench::{
    options::Options,
    plan::{self, GCM_IV_BYTES, key, noise},
};

/// Passes that the median is of; odd.
const SAMPLES: usize = 11;
/// Bytes, and those of a quick run.
const SIZES: [usize; 5] = [64 << 10, 1 << 20, 16 << 20, 256 << 20, 8 << 30];
const QUICK_SIZES: [usize; 2] = [1 << 20, 256 << 20];
/// Bytes compared at the start, in the middle and at the end.
const WINDOW: usize = 1 << 20;

/// The kernels that each cipher's type takes by itself.
pub(crate) fn families() -> impl Iterator<Item = &'static Family> {
    CIPHERS.iter().filter_map(|cipher| CipherKernels::of(cipher)).map(|kernels| kernels.fastest)
}

/// Measures the chosen ciphers with each key size.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    let mut measured = Vec::new();
    let device = if options.cpu_only { None } else { Device::default().ok() };
    let sizes = options.sizes(&SIZES, &QUICK_SIZES);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut pageable = vec![0; largest];
    let pinned = device.as_ref().map(|device| PinnedBuffer::zeroed(device, largest)).transpose();
    let mut pinned = pinned.map_err(|error| error.to_string())?;
    for family in families() {
        let cipher = family.cipher();
        if !options.ciphers().any(|chosen| chosen.name == cipher.name) {
            continue;
        }
        for &key_bytes in options.key_bytes(cipher) {
            let key = key(key_bytes);
            let target = Target { cipher, key: &key, iv: iv(cipher.block_bytes) };
            if let (Some(device), Some(pinned)) = (&device, &mut pinned) {
                let mut on_gpu = |place, memory: &mut [u8]| {
                    for &bytes in &sizes {
                        measured.extend(target.on_gpu(
                            family,
                            device,
                            place,
                            &mut memory[..bytes],
                        )?);
                    }
                    Ok::<_, String>(())
                };
                on_gpu(Place::EndToEnd, &mut pageable)?;
                on_gpu(Place::Pinned, pinned)?;
            }
            if !options.gpu_only {
                for &bytes in &sizes {
                    measured.extend(target.on_cpu(&mut pageable[..bytes])?);
                }
            }
        }
    }
    Ok(measured)
}

/// A cipher under a key.
struct Target<'a> {
    cipher: &'static CipherDescription,
    key: &'a [u8],
    iv: Vec<u8>,
}

/// What is timed: it works in place.
type Run<'a> = &'a dyn Fn(&mut [u8]) -> Result<(), String>;

impl Target<'_> {
    fn has_gcm(&self) -> bool {
        self.cipher.block_bytes == 16
    }

    /// What failed, and how.
    fn failed(&self, what: &dyn Display) -> String {
        format!("{}-{} from host memory: {what}", self.cipher.name, 8 * self.key.len())
    }

    fn on_gpu(
        &self,
        family: &Family,
        device: &Device,
        place: Place,
        data: &mut [u8],
    ) -> Result<Vec<Figure>, String> {
        let failed = |error: &dyn Display| self.failed(error);
        let engine = family.engine(device, self.key).map_err(|error| failed(&error))?;
        let ctr = |data: &mut [u8]| {
            engine.ctr(&self.iv, data.into()).map_err(|error| self.failed(&error))
        };
        let mut measured = vec![self.measure(Work::Ctr, place, data, &|_| Ok(()), &ctr)?];
        if self.has_gcm() {
            let gcm = family.gcm_engine(device, self.key).map_err(|error| failed(&error))?;
            let (iv, tag) = (&self.iv[..GCM_IV_BYTES], Cell::new([0; 16]));
            let seal = |data: &mut [u8]| {
                let mut made = [0; 16];
                let sealed = gcm.encrypt_host_memory(iv, &[], data.into(), &mut made);
                tag.set(made);
                sealed.map_err(|error| self.failed(&error))
            };
            let open = |data: &mut [u8]| {
                let opened = gcm.decrypt_host_memory(iv, &[], data.into(), &tag.get());
                opened.map_err(|error| self.failed(&error))
            };
            measured.push(self.measure(Work::GcmEncrypt, place, data, &|_| Ok(()), &seal)?);
            measured.push(self.measure(Work::GcmDecrypt, place, data, &seal, &open)?);
        }
        Ok(measured)
    }

    fn on_cpu(&self, data: &mut [u8]) -> Result<Vec<Figure>, String> {
        let failed = |error: &dyn Display| self.failed(error);
        let default = self.cipher.backend("default").ok_or("no default backend")?;
        let create = || (default.create)(self.key).map(Parallel::new);
        let engine = create().map_err(|error| failed(&error))?;
        let ctr = |data: &mut [u8]| {
            engine.ctr(&self.iv, data.into()).map_err(|error| self.failed(&error))
        };
        let mut measured = vec![self.measure(Work::Ctr, Place::Cpu, data, &|_| Ok(()), &ctr)?];
        if self.has_gcm() {
            let gcm = create().and_then(Gcm::of).map_err(|error| failed(&error))?;
            let seal = |data: &mut [u8]| {
                plan::seal(&gcm, &self.iv, data).map_err(|error| self.failed(&error))
            };
            let work = Work::GcmEncrypt;
            measured.push(self.measure(work, Place::Cpu, data, &|_| Ok(()), &seal)?);
        }
        Ok(measured)
    }

    /// Times `run`, before every pass of which comes `prepare`.
    fn measure(
        &self,
        work: Work,
        place: Place,
        data: &mut [u8],
        prepare: Run<'_>,
        run: Run<'_>,
    ) -> Result<Figure, String> {
        let noise = noise(64 << 20);
        for piece in data.chunks_mut(noise.len()) {
            piece.copy_from_slice(&noise[..piece.len()]);
        }
        let mut seconds = Vec::new();
        for pass in 0..=SAMPLES {
            prepare(data)?;
            let start = Instant::now();
            run(data)?;
            let time = start.elapsed().as_secs_f64();
            if pass > 0 {
                seconds.push(time);
            } else {
                self.verify(work, noise, data).map_err(|error| self.failed(&error))?;
            }
        }
        let figure = Figure {
            cipher: self.cipher.name.to_owned(),
            key_bits: 8 * self.key.len(),
            work,
            place,
            bytes: data.len(),
            ..Figure::default()
        };
        Ok(timed(figure, seconds))
    }

    /// Compares what came of the noise at the start, in the middle and at the end.
    fn verify(&self, work: Work, noise: &[u8], output: &[u8]) -> Result<(), String> {
        let length = WINDOW.min(output.len());
        for offset in [0, (output.len() - length) / 2 / 16 * 16, output.len() - length] {
            let input: Vec<u8> =
                (offset..offset + length).map(|i| noise[i % noise.len()]).collect();
            let output = &output[offset..offset + length];
            if work == Work::GcmDecrypt {
                // What was sealed is opened again.
                if input != output {
                    return Err(format!("{work} gives wrong output; nothing is timed"));
                }
                continue;
            }
            verify_piece(self.cipher, self.key, work, offset, &input, output, true)?;
        }
        Ok(())
    }
}
