//! Measuring host memory: CTR and GCM in place, the whole way to the GPU and back, and by the CPU's cores over
//! the same bytes. Parts of what comes out are compared with one core's before anything is timed.

use std::{cell::Cell, ops::Range};

use lanecrypt::{
    Engine as _, Gcm, Parallel,
    cuda::{CipherKernels, Device, Family, PinnedBuffer},
};
use lanecrypt_record::{Figure, Place, Work};

use super::{
    keyed::{Keyed, windows},
    passes::{clocked, timed},
};
use crate::bench::{
    options::Options,
    plan::{self, GCM_IV_BYTES, fill, noise_at},
};

/// Passes that the median is of; odd.
const SAMPLES: usize = 11;
/// Bytes, and those of a quick run.
const SIZES: [usize; 5] = [64 << 10, 1 << 20, 16 << 20, 256 << 20, 8 << 30];
const QUICK_SIZES: [usize; 2] = [1 << 20, 256 << 20];

/// Measures the chosen ciphers with each key size.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    let mut measured = Vec::new();
    let device = options.device();
    let sizes = options.sizes(&SIZES, &QUICK_SIZES);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut pageable = vec![0; largest];
    let pinned = device.as_ref().map(|device| PinnedBuffer::zeroed(device, largest)).transpose();
    let mut pinned = pinned.map_err(|error| error.to_string())?;
    for keyed in Keyed::chosen(options) {
        let Some(kernels) = CipherKernels::of(keyed.cipher) else { continue };
        let target = Target(keyed);
        if let (Some(device), Some(pinned)) = (&device, &mut pinned) {
            let places: [(Place, &mut [u8]); 2] =
                [(Place::EndToEnd, &mut pageable), (Place::Pinned, pinned)];
            for (place, memory) in places {
                for &bytes in &sizes {
                    let data = &mut memory[..bytes];
                    measured.extend(target.on_gpu(kernels.fastest, device, place, data)?);
                }
            }
        }
        for &bytes in sizes.iter().filter(|_| !options.gpu_only) {
            measured.extend(target.on_cpu(&mut pageable[..bytes])?);
        }
    }
    Ok(measured)
}

/// A cipher under a key.
struct Target(Keyed);

/// What is timed: it works in place.
type Run<'a> = &'a dyn Fn(&mut [u8]) -> Result<(), lanecrypt::Error>;

impl Target {
    fn has_gcm(&self) -> bool {
        self.0.cipher.block_bytes == 16
    }

    fn on_gpu(
        &self,
        family: &Family,
        device: &Device,
        place: Place,
        data: &mut [u8],
    ) -> Result<Vec<Figure>, String> {
        let Keyed { key, .. } = &self.0;
        let iv = self.0.iv();
        let engine = family.engine(device, key).map_err(|error| self.0.failed(error))?;
        let ctr = |data: &mut [u8]| engine.ctr(&iv, data.into());
        let mut measured = vec![self.measure(Work::Ctr, place, data, &|_| Ok(()), &ctr)?];
        if self.has_gcm() {
            let gcm = family.gcm_engine(device, key).map_err(|error| self.0.failed(error))?;
            let (iv, tag) = (&iv[..GCM_IV_BYTES], Cell::new([0; 16]));
            let seal = |data: &mut [u8]| {
                let mut made = [0; 16];
                let sealed = gcm.encrypt_host_memory(iv, &[], data.into(), &mut made);
                tag.set(made);
                Ok(sealed?)
            };
            let open =
                |data: &mut [u8]| Ok(gcm.decrypt_host_memory(iv, &[], data.into(), &tag.get())?);
            measured.push(self.measure(Work::GcmEncrypt, place, data, &|_| Ok(()), &seal)?);
            measured.push(self.measure(Work::GcmDecrypt, place, data, &seal, &open)?);
        }
        Ok(measured)
    }

    fn on_cpu(&self, data: &mut [u8]) -> Result<Vec<Figure>, String> {
        let Keyed { cipher, key } = &self.0;
        let iv = self.0.iv();
        let create = || cipher.default_engine(key).map(Parallel::new);
        let engine = create().map_err(|error| self.0.failed(error))?;
        let ctr = |data: &mut [u8]| engine.ctr(&iv, data.into());
        let mut measured = vec![self.measure(Work::Ctr, Place::Cpu, data, &|_| Ok(()), &ctr)?];
        if self.has_gcm() {
            let gcm = create().and_then(Gcm::of).map_err(|error| self.0.failed(error))?;
            let seal = |data: &mut [u8]| plan::seal(&gcm, &iv, data);
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
        fill(data);
        let pass = |data: &mut [u8]| {
            prepare(data).map_err(|error| self.0.failed(error))?;
            clocked(|| run(data).map_err(|error| self.0.failed(error)))
        };
        let verify = |data: &mut [u8]| {
            let bytes = data.len();
            // What was sealed is opened again.
            if work == Work::GcmDecrypt {
                let is_noise = |at: Range<usize>| data[at.clone()] == noise_at(at.start, at.len());
                let is_right = windows(bytes).into_iter().all(is_noise);
                let wrong = || self.0.failed("GCM decryption gives wrong output; nothing is timed");
                return is_right.then_some(()).ok_or_else(wrong);
            }
            self.0.verify(work, (0, bytes), true, |start, output| {
                output.copy_from_slice(&data[start..start + output.len()]);
                Ok(())
            })
        };
        timed(self.0.figure(work, place, data.len()), SAMPLES, data, pass, verify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
    fn host_memory_goes_through_the_device_and_through_all_cores() {
        let device = Device::on_host().expect("LANECRYPT_HOST_KERNELS names the library");
        let cipher = lanecrypt::find_cipher("aes").expect("it is in the registry");
        let family = CipherKernels::of(cipher).expect("it has kernels").fastest;
        let target = Target(Keyed::new(cipher, 16));
        let mut data = vec![0; 64 << 10];
        let works = |figures: Result<Vec<Figure>, String>| {
            figures.expect("it is right").iter().map(|f| f.work).collect::<Vec<_>>()
        };
        let on_gpu = target.on_gpu(family, &device, Place::EndToEnd, &mut data);
        assert_eq!(works(on_gpu), [Work::Ctr, Work::GcmEncrypt, Work::GcmDecrypt]);
        assert_eq!(works(target.on_cpu(&mut data)), [Work::Ctr, Work::GcmEncrypt]);
    }
}
