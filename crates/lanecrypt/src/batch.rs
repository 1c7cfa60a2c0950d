//! Batches: many messages in one call, each with its own key, mode and length.
//!
//! ```
//! use lanecrypt::{aes::AES, batch::{self, Job, JobMode}};
//!
//! let keys = [[1; 32], [2; 32]];
//! let mut messages = [b"one session".to_vec(), b"and a longer one".to_vec()];
//! let mut tags = [[0; 16]; 2];
//! let jobs = keys.iter().zip(&mut messages).zip(&mut tags).map(|((key, message), tag)| Job {
//!     key,
//!     mode: JobMode::GcmEncrypt { iv: b"never twice!", aad: b"", tag },
//!     data: message.as_mut_slice().into(),
//! });
//! batch::run_on_cpu(&AES, &mut jobs.collect::<Vec<_>>()).into_result()?;
//! # assert_ne!(tags[0], tags[1]);
//! # Ok::<(), lanecrypt::batch::Outcome>(())
//! ```

mod one_key;

pub use lanecrypt_core::batch::{Failure, Job, JobData, JobMode, Outcome};
use lanecrypt_modes::run_job;
#[cfg(feature = "parallel")]
use rayon::prelude::*;

use crate::registry::CipherDescription;

/// Runs jobs of one cipher on the GPU that [`Device::default`](crate::cuda::Device::default) gives,
/// where there is one that has batches of the cipher, else on all cores; both give the same bytes.
///
/// Host memory passes the bus at some 50 GB/s each way: for AES, many cores may be faster, by
/// [`run_on_cpu`]. On the GPU keys and data choose the addresses of look-ups.
#[cfg(feature = "cuda")]
pub fn run(cipher: &'static CipherDescription, jobs: &mut [Job<'_>]) -> Outcome {
    let on_device = on_device(cipher).and_then(|family| {
        let device = crate::cuda::Device::default()?;
        family.run_host_memory(&device, jobs)
    });
    match on_device {
        Ok(outcome) => outcome,
        // Nothing was written.
        Err(error) => {
            log::info!("a batch of {} runs on the CPU: {error}", cipher.name);
            run_on_cpu(cipher, jobs)
        }
    }
}

/// How batches of a cipher run on devices: ciphers of blocks of 16 bytes have kernels for them.
///
/// # Errors
/// [`cuda::Error::NoBatches`](crate::cuda::Error::NoBatches) naming a cipher that has no kernels for
/// them: its batches run on the CPU.
#[cfg(feature = "cuda")]
pub fn on_device(
    cipher: &CipherDescription,
) -> Result<&'static crate::cuda::BatchFamily, crate::cuda::Error> {
    let kernels = crate::cuda::CipherKernels::of(cipher);
    let batches = kernels.and_then(|kernels| kernels.batches);
    batches.ok_or(crate::cuda::Error::NoBatches { cipher: cipher.name })
}

/// Runs jobs of one cipher on all cores (feature `parallel`), by its constant-time default: a long
/// message may take several, and short ones share one. Messages that are encrypted in CBC under the same key run side by
/// side, since each alone leaves most of a core idle.
///
/// A job that fails is named in the outcome, and all others are complete.
pub fn run_on_cpu(cipher: &'static CipherDescription, jobs: &mut [Job<'_>]) -> Outcome {
    let is_chain = |(_, job): &Numbered<'_, '_>| matches!(job.mode, JobMode::CbcEncrypt { .. });
    let (chains, mut others): (Vec<_>, Vec<_>) = jobs.iter_mut().enumerate().partition(is_chain);
    let run_chains = || one_key::run(cipher, chains);
    #[cfg(feature = "parallel")]
    let (mut failures, of_chains) = rayon::join(
        || others.par_iter_mut().filter_map(|job| run_one(cipher, job)).collect::<Vec<_>>(),
        run_chains,
    );
    #[cfg(not(feature = "parallel"))]
    let (mut failures, of_chains) = (
        others.iter_mut().filter_map(|job| run_one(cipher, job)).collect::<Vec<_>>(),
        run_chains(),
    );
    failures.extend(of_chains);
    Outcome::new(failures)
}

/// A job with its number in the call.
type Numbered<'j, 'a> = (usize, &'j mut Job<'a>);

/// Runs one job, whose message gets several threads if it is long enough.
fn run_one(cipher: &CipherDescription, (number, job): &mut Numbered<'_, '_>) -> Option<Failure> {
    let mut run = || {
        let engine = cipher.default_engine(job.key)?;
        #[cfg(feature = "parallel")]
        let engine = crate::Parallel::new(engine);
        run_job(engine, job)
    };
    run().err().map(|error| Failure { job: *number, error })
}
