//! Jobs and items as the kernels read them: `BatchJob` and `BatchItem` of `kernels/batch/batch.cuh`.

use lanecrypt_core::{batch::JobMode, modes::gcm::first_counter};
use lanecrypt_kernels::batch::JOB_BYTES;
use zeroize::Zeroizing;

use crate::device::buffer::MAX_BLOCK;

/// Bytes of a block.
pub(super) const BLOCK: usize = MAX_BLOCK;
/// Bytes of an item.
pub(super) const ITEM_BYTES: usize = 16;
/// Bytes of a result.
pub(super) const RESULT_BYTES: usize = BLOCK;

/// Where a job has the tag that is given.
const TAG_AT: usize = 96;

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

/// The host's part of what the kernels read, with keys in it: cleared when dropped.
#[derive(Default)]
pub(super) struct Described {
    /// The jobs.
    pub(super) jobs: Zeroizing<Vec<u8>>,
    /// Associated data and long IVs, each from a multiple of a block on.
    pub(super) arena: Vec<u8>,
}

impl Described {
    /// With room for so many jobs, so that keys are not left behind where the memory was too short.
    pub(super) fn with_room(jobs: usize) -> Self {
        Self { jobs: Zeroizing::new(Vec::with_capacity(jobs * JOB_BYTES)), arena: Vec::new() }
    }

    /// Adds a job, checked: `places` are the bytes where its input and output start, and their number.
    pub(super) fn push(
        &mut self,
        key: &[u8],
        mode: &JobMode<'_>,
        places: [usize; 3],
        long_number: u32,
    ) {
        let mut job = Zeroizing::new([0; JOB_BYTES]);
        for (word, value) in job.as_chunks_mut::<8>().0.iter_mut().zip(places) {
            *word = (value as u64).to_le_bytes();
        }
        job[24..28].copy_from_slice(&code(mode).to_le_bytes());
        job[28..32].copy_from_slice(&(key.len() as u32).to_le_bytes());
        job[32..32 + key.len()].copy_from_slice(key);
        let aad_at = self.arena.len() as u64;
        job[80..88].copy_from_slice(&aad_at.to_le_bytes());
        match mode {
            JobMode::EcbEncrypt | JobMode::EcbDecrypt => {}
            JobMode::Ctr { counter: iv }
            | JobMode::Ctr32 { counter: iv }
            | JobMode::CbcEncrypt { iv }
            | JobMode::CbcDecrypt { iv } => job[64..64 + iv.len()].copy_from_slice(iv),
            JobMode::GcmEncrypt { iv, aad, tag } => {
                self.push_gcm(&mut job, iv, aad);
                job[112..116].copy_from_slice(&(tag.len() as u32).to_le_bytes());
            }
            JobMode::GcmDecrypt { iv, aad, tag } => {
                self.push_gcm(&mut job, iv, aad);
                job[TAG_AT..TAG_AT + tag.len()].copy_from_slice(tag);
                job[112..116].copy_from_slice(&(tag.len() as u32).to_le_bytes());
            }
        }
        job[120..124].copy_from_slice(&long_number.to_le_bytes());
        self.jobs.extend_from_slice(&*job);
    }

    /// Sets the tag of a message that is opened, as long as the one that it was described with.
    pub(super) fn set_tag(&mut self, job: usize, tag: &[u8]) {
        self.jobs[JOB_BYTES * job + TAG_AT..][..tag.len()].copy_from_slice(tag);
    }

    /// The IV as J0 where it has 12 bytes (SP 800-38D, 7.1), else behind the associated data.
    fn push_gcm(&mut self, job: &mut [u8; JOB_BYTES], iv: &[u8], aad: &[u8]) {
        job[88..96].copy_from_slice(&(aad.len() as u64).to_le_bytes());
        self.push_padded(aad);
        if let Some(first) = first_counter(iv) {
            job[64..80].copy_from_slice(&first);
        } else {
            job[116..120].copy_from_slice(&(iv.len() as u32).to_le_bytes());
            self.push_padded(iv);
        }
    }

    fn push_padded(&mut self, bytes: &[u8]) {
        self.arena.extend_from_slice(bytes);
        self.arena.resize(self.arena.len().next_multiple_of(BLOCK), 0);
    }
}

/// The place of a message that one thread hashes to the end: `WHOLE` of `kernels/batch/batch.cuh`.
pub(super) const WHOLE: u32 = u32::MAX;

/// A piece of a message: blocks from number `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) job: u32,
    pub(super) blocks: u32,
    pub(super) first: u32,
    /// Of what is left of it.
    pub(super) place: u32,
}

impl Item {
    pub(super) fn bytes(self) -> [u8; ITEM_BYTES] {
        let Self { job, blocks, first, place } = self;
        let mut bytes = [0; ITEM_BYTES];
        for (to, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([job, blocks, first, place]) {
            *to = word.to_le_bytes();
        }
        bytes
    }
}
