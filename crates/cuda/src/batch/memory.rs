//! What a batch has on the device: what the host says, and room for what the kernels make of it.

use lanecrypt_kernels::batch::{PARAMETER_WORDS, SEQUENCE_BYTES, SESSION_BYTES};

use super::{
    items::{Hashes, Items},
    words::{BLOCK, Described, ITEM_BYTES, Item, RESULT_BYTES},
};
use crate::{Device, DeviceBuffer, Error};

/// The parameter block of every kernel: `BatchParameters` of `kernels/batch/batch.cuh`, in its order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parameters {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) jobs: u64,
    pub(super) sessions: u64,
    pub(super) session_count: u64,
    pub(super) results: u64,
    pub(super) items: u64,
    pub(super) count: u64,
    pub(super) narrow: u64,
    pub(super) narrow_count: u64,
    pub(super) arena: u64,
    pub(super) sequences: u64,
    pub(super) sums: u64,
    pub(super) piece: u64,
    pub(super) flags: u64,
}

impl Parameters {
    pub(super) fn words(self) -> [u64; PARAMETER_WORDS] {
        let Self { input, output, jobs, sessions, session_count, results, items, count, .. } = self;
        let Self { narrow, narrow_count, arena, sequences, sums, piece, flags, .. } = self;
        [
            input,
            output,
            jobs,
            sessions,
            session_count,
            results,
            items,
            count,
            narrow,
            narrow_count,
            arena,
            sequences,
            sums,
            piece,
            flags,
            0,
        ]
    }
}

/// How many items there are of each kind, in the order in which they lie in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) wide: u64,
    pub(super) narrow: u64,
    pub(super) decrypted: u64,
    pub(super) chained: u64,
    pub(super) verified: HashCounts,
    pub(super) sealed: HashCounts,
    pub(super) in_pieces: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HashCounts {
    pub(super) short: u64,
    pub(super) pieces: u64,
    pub(super) long: u64,
}

impl Counts {
    pub(super) fn of(items: &Items) -> Self {
        let count = |list: &[Item]| list.len() as u64;
        let hashes = |hashes: &Hashes| HashCounts {
            short: count(&hashes.short),
            pieces: count(&hashes.pieces),
            long: count(&hashes.long),
        };
        Self {
            wide: count(&items.wide),
            narrow: count(&items.narrow),
            decrypted: count(&items.decrypted),
            chained: count(&items.chained),
            verified: hashes(&items.verified),
            sealed: hashes(&items.sealed),
            in_pieces: items.long.into(),
        }
    }
}

/// Addresses of a batch's lists of items.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lists {
    pub(super) wide: u64,
    pub(super) narrow: u64,
    pub(super) decrypted: u64,
    pub(super) chained: u64,
    pub(super) verified: HashLists,
    pub(super) sealed: HashLists,
    /// All messages that are hashed in pieces: those of one, then those of several, and so again.
    pub(super) in_pieces: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HashLists {
    pub(super) short: u64,
    pub(super) pieces: u64,
    pub(super) long: u64,
}

/// Memory of the device that belongs to a batch; cleared when dropped, keys and all.
#[derive(Debug)]
pub(super) struct Memory {
    /// What the host says: jobs, associated data, items.
    pub(super) _described: DeviceBuffer,
    /// What the kernels make of it: results, sessions, sequences, sums.
    pub(super) made: DeviceBuffer,
    pub(super) lists: Lists,
    /// Where everything is; without data and items.
    pub(super) parameters: Parameters,
}

impl Memory {
    pub(super) fn new(
        device: &Device,
        described: &Described,
        items: &Items,
        jobs: usize,
    ) -> Result<Self, Error> {
        let lists: [&[Item]; 12] = [
            &items.wide,
            &items.narrow,
            &items.decrypted,
            &items.chained,
            &items.verified.short,
            &items.sealed.short,
            &items.verified.pieces,
            &items.sealed.pieces,
            &items.verified.single,
            &items.verified.long,
            &items.sealed.long,
            &items.sealed.single,
        ];
        let item_bytes: Vec<u8> = lists.iter().copied().flatten().flat_map(|i| i.bytes()).collect();
        let parts = [&described.jobs[..], &described.arena, &item_bytes];
        let mut buffer = DeviceBuffer::zeroed(device, parts.iter().map(|part| part.len()).sum())?;
        let start = buffer.slice(0..buffer.len())?.address();
        let mut at = 0;
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            buffer.write(at, part)?;
            at += part.len();
        }
        let arena = start + described.jobs.len() as u64;
        let mut next = arena + described.arena.len() as u64;
        let [
            wide,
            narrow,
            decrypted,
            chained,
            short,
            sealed_short,
            pieces,
            sealed_pieces,
            single,
            long,
            sealed_long,
            _,
        ] = lists.map(|list| {
            let address = next;
            next += (list.len() * ITEM_BYTES) as u64;
            address
        });
        let sizes = [
            jobs * RESULT_BYTES,
            jobs * SESSION_BYTES,
            items.long as usize * SEQUENCE_BYTES,
            items.places as usize * BLOCK,
        ];
        let made = DeviceBuffer::zeroed(device, sizes.iter().sum())?;
        let mut next = made.slice(0..made.len())?.address();
        let [results, sessions, sequences, sums] = sizes.map(|bytes| {
            let address = next;
            next += bytes as u64;
            address
        });
        Ok(Self {
            _described: buffer,
            made,
            lists: Lists {
                wide,
                narrow,
                decrypted,
                chained,
                verified: HashLists { short, pieces, long },
                sealed: HashLists { short: sealed_short, pieces: sealed_pieces, long: sealed_long },
                in_pieces: single,
            },
            parameters: Parameters {
                jobs: start,
                arena,
                results,
                sessions,
                session_count: jobs as u64,
                sequences,
                sums,
                ..Parameters::default()
            },
        })
    }
}
