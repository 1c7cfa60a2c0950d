//! Jobs and items as the kernels read them: `BatchJob` and `BatchItem` of `kernels/batch/batch.cuh`.

use lanecrypt_core::{batch::JobMode, modes::gcm::first_counter};
use lanecrypt_kernels::batch::JOB_BYTES;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};
use zeroize::{Zeroize, Zeroizing};

use crate::device::buffer::MAX_BLOCK;

/// Bytes of a block.
pub(super) const BLOCK: usize = MAX_BLOCK;
/// Bytes of an item.
pub(super) const ITEM_BYTES: usize = size_of::<Item>();
/// Bytes of a result.
pub(super) const RESULT_BYTES: usize = BLOCK;

/// What kernels call a mode.
pub(super) fn code(mode: &JobMode<'_>) -> u32 {
    match mode {
        JobMode::EcbEncrypt => 0,
        JobMode::EcbDecrypt => 1,
        JobMode::Ctr { .. } => 2,
        JobMode::Ctr32 { .. } => 3,
        JobMode::CbcEncrypt { .. } => 4,
        JobMode::CbcDecrypt { .. } => 5,
        JobMode::GcmEncrypt { .. } => 6,
        JobMode::GcmDecrypt { .. } => 7,
    }
}

/// A message: `BatchJob` of `kernels/batch/batch.cuh`, field by field.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct JobRecord {
    input: u64,
    output: u64,
    length: u64,
    mode: u32,
    key_bytes: u32,
    key: [u8; 32],
    iv: [u8; BLOCK],
    aad: u64,
    aad_bytes: u64,
    tag: [u8; BLOCK],
    tag_bytes: u32,
    iv_bytes: u32,
    long_number: u32,
    padding: u32,
}

const _: () = assert!(size_of::<JobRecord>() == JOB_BYTES);

impl Zeroize for JobRecord {
    fn zeroize(&mut self) {
        self.as_mut_bytes().zeroize();
    }
}

/// The host's part of what the kernels read, with keys in it: cleared when dropped.
#[derive(Default)]
pub(super) struct Described {
    /// The jobs.
    pub(super) jobs: Zeroizing<Vec<JobRecord>>,
    /// Associated data and long IVs, each from a multiple of a block on.
    pub(super) arena: Vec<u8>,
}

impl Described {
    /// With room for so many jobs, so that keys are not left behind where the memory was too short.
    pub(super) fn with_room(jobs: usize) -> Self {
        Self { jobs: Zeroizing::new(Vec::with_capacity(jobs)), arena: Vec::new() }
    }

    /// Adds a job, checked: `places` are the bytes where its input and output start, and their number.
    pub(super) fn push(
        &mut self,
        key: &[u8],
        mode: &JobMode<'_>,
        [input, output, length]: [usize; 3],
        long_number: u32,
    ) {
        // The key is written where it stays, so that no copy of it is left elsewhere.
        let Self { jobs, arena } = self;
        jobs.push(JobRecord::new_zeroed());
        let Some(job) = jobs.last_mut() else { return };
        [job.input, job.output, job.length] = [input, output, length].map(|place| place as u64);
        job.mode = code(mode);
        job.key_bytes = key.len() as u32;
        job.key[..key.len()].copy_from_slice(key);
        job.aad = arena.len() as u64;
        job.long_number = long_number;
        match mode {
            JobMode::EcbEncrypt | JobMode::EcbDecrypt => {}
            JobMode::Ctr { counter: iv }
            | JobMode::Ctr32 { counter: iv }
            | JobMode::CbcEncrypt { iv }
            | JobMode::CbcDecrypt { iv } => job.iv[..iv.len()].copy_from_slice(iv),
            JobMode::GcmEncrypt { iv, aad, tag } => {
                job.set_gcm(arena, iv, aad);
                job.tag_bytes = tag.len() as u32;
            }
            JobMode::GcmDecrypt { iv, aad, tag } => {
                job.set_gcm(arena, iv, aad);
                job.set_tag(tag);
            }
        }
    }

    /// Sets the tag of a message that is opened, as long as the one that it was described with.
    pub(super) fn set_tag(&mut self, job: usize, tag: &[u8]) {
        self.jobs[job].set_tag(tag);
    }
}

impl JobRecord {
    fn set_tag(&mut self, tag: &[u8]) {
        self.tag[..tag.len()].copy_from_slice(tag);
        self.tag_bytes = tag.len() as u32;
    }

    /// The IV as J0 where it has 12 bytes (SP 800-38D, 7.1), else behind the associated data.
    fn set_gcm(&mut self, arena: &mut Vec<u8>, iv: &[u8], aad: &[u8]) {
        self.aad_bytes = aad.len() as u64;
        push_padded(arena, aad);
        if let Some(first) = first_counter(iv) {
            self.iv = first;
        } else {
            self.iv_bytes = iv.len() as u32;
            push_padded(arena, iv);
        }
    }
}

fn push_padded(arena: &mut Vec<u8>, bytes: &[u8]) {
    arena.extend_from_slice(bytes);
    arena.resize(arena.len().next_multiple_of(BLOCK), 0);
}

/// The place of a message that one thread hashes to the end: `WHOLE` of `kernels/batch/batch.cuh`.
pub(super) const WHOLE: u32 = u32::MAX;

/// A piece of a message, blocks from number `first` on: `BatchItem` of `kernels/batch/batch.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Item {
    pub(super) job: u32,
    pub(super) blocks: u32,
    pub(super) first: u32,
    /// Of what is left of it.
    pub(super) place: u32,
}
