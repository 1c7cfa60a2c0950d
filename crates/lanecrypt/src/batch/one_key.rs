//! Jobs of CBC encryption that have a key in common: their messages run side by side.

use std::{
    cmp::Reverse,
    hash::{BuildHasher, RandomState},
};

use lanecrypt_core::{
    Engine, SerialMode,
    batch::{Failure, Job, JobMode},
    modes::ChainedMessage,
};
#[cfg(feature = "parallel")]
use rayon::prelude::*;
use subtle::ConstantTimeEq;

use super::{Numbered, run_one};
use crate::{Error, registry::CipherDescription};

/// Messages that a thread takes at least, where there are as many: they take hardly longer than one.
const FEWEST: usize = 8;
/// Messages that a thread takes at most.
const MOST: usize = 256;

/// A job with the hash of its key.
type Hashed<'j, 'a> = (u64, Numbered<'j, 'a>);

/// Runs jobs of CBC encryption and returns those that failed, in any order.
pub(super) fn run(cipher: &CipherDescription, jobs: Vec<Numbered<'_, '_>>) -> Vec<Failure> {
    // A key is secret: keys are told apart by a hash that has a secret of this process, and compared in constant time.
    let hasher = RandomState::new();
    let mut jobs: Vec<_> = jobs.into_iter().map(|job| (hasher.hash_one(job.1.key), job)).collect();
    jobs.sort_unstable_by_key(|(hash, (_, job))| (*hash, Reverse(job.data.len())));
    let is_one_key = |a: &Hashed<'_, '_>, b: &Hashed<'_, '_>| {
        a.0 == b.0 && bool::from(a.1.1.key.ct_eq(b.1.1.key))
    };
    let groups = jobs.chunk_by_mut(is_one_key);
    let parts: Vec<_> =
        groups.flat_map(|group| group.chunks_mut(part_length(group.len()))).collect();
    let run = |part: &mut [Hashed<'_, '_>]| run_part(cipher, part);
    #[cfg(feature = "parallel")]
    return parts.into_par_iter().flat_map_iter(run).collect();
    #[cfg(not(feature = "parallel"))]
    parts.into_iter().flat_map(run).collect()
}

/// How many of `jobs` messages under one key run side by side, so that all threads have some.
fn part_length(jobs: usize) -> usize {
    #[cfg(feature = "parallel")]
    let threads = rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    let threads = 1;
    jobs.div_ceil(threads).clamp(FEWEST, MOST)
}

/// Runs jobs of one key on this thread.
fn run_part(cipher: &CipherDescription, part: &mut [Hashed<'_, '_>]) -> Vec<Failure> {
    let key = part.first().map_or(&[][..], |(_, (_, job))| job.key);
    let Ok(engine) = cipher.default_engine(key) else {
        // Each has an error of its own.
        return part.iter_mut().filter_map(|(_, job)| run_one(cipher, job)).collect();
    };
    let block = engine.block_bytes();
    let mut failures = Vec::new();
    let mut registers = vec![[0; 16]; part.len()];
    let (mut good, mut numbers) = (Vec::new(), Vec::new());
    for ((_, (number, job)), register) in part.iter_mut().zip(&mut registers) {
        match message(job, &mut register[..block]) {
            Ok(message) => {
                good.push(message);
                numbers.push(*number);
            }
            Err(error) => failures.push(Failure { job: *number, error }),
        }
    }
    if let Err(error) = SerialMode::Cbc.run_messages(&*engine, &mut good) {
        let error = error.to_string();
        let failed = |job| Failure { job, error: Error::Device(error.clone().into()) };
        failures.extend(numbers.into_iter().map(failed));
    }
    failures
}

/// The message of a job whose lengths are right, with a register that its IV was put into.
fn message<'j>(job: &'j mut Job<'_>, register: &'j mut [u8]) -> Result<ChainedMessage<'j>, Error> {
    job.mode.check(job.data.len(), register.len())?;
    if let JobMode::CbcEncrypt { iv } = job.mode {
        register.copy_from_slice(iv);
    }
    Ok(ChainedMessage { iv: register, data: job.data.inout()? })
}
