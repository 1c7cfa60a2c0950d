//! Jobs, items and ends as the kernels read them: `BatchJob`, `BatchItem` and `BatchEnds` of
//! `kernels/batch/batch.cuh`.

use lanecrypt_core::{batch::JobMode, modes::gcm::first_counter};
use lanecrypt_kernels::batch::{ENDS_BYTES, JOB_BYTES};
use zerocopy::{
    FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned,
    native_endian::{U32, U64},
};

use crate::device::buffer::MAX_BLOCK;

/// Bytes of a block.
pub(super) const BLOCK: usize = MAX_BLOCK;
/// Bytes of an item.
pub(super) const ITEM_BYTES: usize = size_of::<Item>();
/// Bytes of a result.
pub(super) const RESULT_BYTES: usize = BLOCK;

/// Whether the first counter of an IV of GCM is a hash.
pub(super) fn is_hashed(iv: &[u8]) -> bool {
    first_counter(iv).is_none()
}

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

/// A message as it is described: under which key, what is done, and its bytes.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) key: &'a [u8],
    pub(super) mode: &'a JobMode<'a>,
    pub(super) length: usize,
}

/// A job: `BatchJob` of `kernels/batch/batch.cuh`, field by field, at any address.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct JobRecord {
    input: U64,
    output: U64,
    length: U64,
    mode: U32,
    key_bytes: U32,
    key: [u8; 32],
    iv: [u8; BLOCK],
    aad: U64,
    aad_bytes: U64,
    tag: [u8; BLOCK],
    tag_bytes: U32,
    iv_bytes: U32,
    sequences: U32,
    padding: U32,
}

const _: () = assert!(size_of::<JobRecord>() == JOB_BYTES);

/// Where a message is in host memory that kernels reach: `BatchEnds` there, two addresses.
#[derive(Clone, Copy, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Ends {
    pub(super) input: u64,
    pub(super) output: u64,
}

const _: () = assert!(size_of::<Ends>() == ENDS_BYTES);

/// Bytes that a job has among associated data and long IVs.
pub(super) fn arena_bytes(mode: &JobMode<'_>) -> usize {
    match mode {
        JobMode::GcmEncrypt { iv, aad, .. } | JobMode::GcmDecrypt { iv, aad, .. } => {
            let hashed = if is_hashed(iv) { iv.len().next_multiple_of(BLOCK) } else { 0 };
            aad.len().next_multiple_of(BLOCK) + hashed
        }
        _ => 0,
    }
}

/// Associated data and long IVs, each from a multiple of a block on.
pub(super) struct Arena<'a> {
    bytes: &'a mut [u8],
    used: usize,
}

impl<'a> Arena<'a> {
    /// In these bytes, which are all overwritten in the end.
    pub(super) fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, used: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = &mut self.bytes[self.used..][..bytes.len().next_multiple_of(BLOCK)];
        let (to, filled_up) = room.split_at_mut(bytes.len());
        to.copy_from_slice(bytes);
        filled_up.fill(0);
        self.used += room.len();
    }
}

impl JobRecord {
    /// Describes a message: `places` are the bytes where its input and output start, `sequences` which of those that
    /// matrices are made of are its own. The key is written where it
    /// stays, so that no copy of it is left elsewhere.
    pub(super) fn set(
        &mut self,
        Message { key, mode, length }: Message<'_>,
        [input, output]: [usize; 2],
        sequences: Option<u32>,
        arena: &mut Arena<'_>,
    ) {
        self.as_mut_bytes().fill(0);
        let place = |place: usize| U64::new(place as u64);
        (self.input, self.output, self.length) = (place(input), place(output), place(length));
        self.mode = U32::new(code(mode));
        self.key_bytes = U32::new(key.len() as u32);
        self.key[..key.len()].copy_from_slice(key);
        self.aad = place(arena.used);
        self.sequences = U32::new(sequences.unwrap_or(NO_SEQUENCES));
        match mode {
            JobMode::EcbEncrypt | JobMode::EcbDecrypt => {}
            JobMode::Ctr { counter: iv }
            | JobMode::Ctr32 { counter: iv }
            | JobMode::CbcEncrypt { iv }
            | JobMode::CbcDecrypt { iv } => self.iv[..iv.len()].copy_from_slice(iv),
            JobMode::GcmEncrypt { iv, aad, tag } => {
                self.set_gcm(arena, iv, aad);
                self.tag_bytes = U32::new(tag.len() as u32);
            }
            JobMode::GcmDecrypt { iv, aad, tag } => {
                self.set_gcm(arena, iv, aad);
                self.tag_bytes = U32::new(tag.len() as u32);
                self.tag[..tag.len()].copy_from_slice(tag);
            }
        }
    }

    /// The IV as J0 where it has 12 bytes (SP 800-38D, 7.1), else behind the associated data.
    fn set_gcm(&mut self, arena: &mut Arena<'_>, iv: &[u8], aad: &[u8]) {
        self.aad_bytes = U64::new(aad.len() as u64);
        arena.push(aad);
        if let Some(first) = first_counter(iv) {
            self.iv = first;
        } else {
            self.iv_bytes = U32::new(iv.len() as u32);
            arena.push(iv);
        }
    }
}

/// The place of a message that one thread hashes to the end: `WHOLE` of `kernels/batch/batch.cuh`.
pub(super) const WHOLE: u32 = u32::MAX;

/// Of a message that is not hashed by matrices: `NO_SEQUENCES` there.
const NO_SEQUENCES: u32 = u32::MAX;

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
