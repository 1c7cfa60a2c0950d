//! A GPU as a runner: many segments in one call.

mod frames;
mod resident;
mod sealing;
mod writing;

use lanecrypt::{
    Error as CipherError,
    aes::AES,
    batch::{Failure, Job, JobMode, on_device},
    cuda::{BatchFamily, Device},
};

#[doc(hidden)]
pub use self::{
    sealing::FromDevice,
    writing::{Writing, writer_of},
};
use crate::{Cpu, Error, Segment, SegmentCipher, SegmentRunner};

/// A GPU. Its kernels for batches look tables up, so that they are not constant-time on it.
///
/// Segments of AES-CTR and HMAC run on the CPU, where their hash would have to be made anyway.
#[derive(Clone, Debug)]
pub struct Cuda {
    device: Device,
    family: &'static BatchFamily,
}

impl Cuda {
    /// This device.
    ///
    /// # Errors
    /// [`Error::Engine`] where its kernels do not fit the device.
    pub fn new(device: &Device) -> Result<Self, Error> {
        let family = on_device(&AES).map_err(CipherError::from)?;
        family.fits(device.properties()).map_err(CipherError::from)?;
        Ok(Self { device: device.clone(), family })
    }

    /// Runs a job for each segment, and names the first that failed.
    fn run<'a>(&self, jobs: impl Iterator<Item = (u32, Job<'a>)>) -> Result<(), Error> {
        let (numbers, mut jobs): (Vec<u32>, Vec<Job<'_>>) = jobs.unzip();
        let outcome = self.family.run_host_memory(&self.device, &mut jobs);
        let failures = outcome.map_err(CipherError::from)?.into_failures();
        match failures.into_iter().next() {
            None => Ok(()),
            Some(Failure { job, error: CipherError::NotAuthentic }) => {
                Err(Error::NotAuthentic { segment: numbers[job].into() })
            }
            Some(Failure { error, .. }) => Err(error.into()),
        }
    }
}

/// Nonces of segments, in their order.
fn nonces(cipher: &SegmentCipher, segments: &[Segment<'_>]) -> Vec<[u8; 16]> {
    segments.iter().map(|segment| cipher.nonce(segment.number, segment.is_last)).collect()
}

impl SegmentRunner for Cuda {
    fn batch_bytes(&self) -> usize {
        64 << 20
    }

    /// While one batch is on its way, others are read, moved and written.
    fn threads(&self) -> usize {
        Cpu::default().threads().min(6)
    }

    fn seal_batch(
        &self,
        cipher: &SegmentCipher,
        segments: &mut [Segment<'_>],
    ) -> Result<(), Error> {
        let Some(key) = cipher.gcm_key() else {
            return Cpu::default().seal_batch(cipher, segments);
        };
        let nonces = nonces(cipher, segments);
        for segment in &*segments {
            cipher.check(segment.number, segment.is_last, segment.text, segment.tag)?;
        }
        self.run(segments.iter_mut().zip(&nonces).map(|(segment, nonce)| {
            let mode = JobMode::GcmEncrypt { iv: &nonce[..12], aad: b"", tag: &mut *segment.tag };
            (segment.number, Job { key, mode, data: (&mut *segment.text).into() })
        }))
    }

    fn open_batch(
        &self,
        cipher: &SegmentCipher,
        segments: &mut [Segment<'_>],
    ) -> Result<(), Error> {
        let Some(key) = cipher.gcm_key() else {
            return Cpu::default().open_batch(cipher, segments);
        };
        let nonces = nonces(cipher, segments);
        for segment in &*segments {
            cipher.check(segment.number, segment.is_last, segment.text, segment.tag)?;
        }
        self.run(segments.iter_mut().zip(&nonces).map(|(segment, nonce)| {
            let mode = JobMode::GcmDecrypt { iv: &nonce[..12], aad: b"", tag: &*segment.tag };
            (segment.number, Job { key, mode, data: (&mut *segment.text).into() })
        }))
    }
}
