//! What a batch has on the device: what the host says, and room for what the kernels make of it.

use lanecrypt_kernels::batch::{PARAMETER_WORDS, SEQUENCE_BYTES, SESSION_BYTES};

use super::{
    items::Items,
    words::{BLOCK, Described, ITEM_BYTES, RESULT_BYTES},
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
    /// The same for a kernel that takes the items of `list`.
    pub(super) fn over(self, list: List) -> Self {
        Self { items: list.address, count: list.count, ..self }
    }

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

/// Items that lie one behind the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    pub(super) address: u64,
    pub(super) count: u64,
}

/// A batch's lists of items: fields of [`Items`] by the same names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lists {
    pub(super) wide: List,
    pub(super) narrow: List,
    pub(super) decrypted: List,
    pub(super) chained: List,
    pub(super) verified: HashLists,
    pub(super) sealed: HashLists,
    /// All messages that are hashed in pieces.
    pub(super) in_pieces: List,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HashLists {
    pub(super) short: List,
    pub(super) pieces: List,
    pub(super) long: List,
}

impl Lists {
    /// Where the lists are if the first one begins at `start`.
    fn at(start: u64, items: &Items) -> Self {
        let mut next = start;
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
        ] = items.lists().map(|list| {
            let address = next;
            next += (list.len() * ITEM_BYTES) as u64;
            List { address, count: list.len() as u64 }
        });
        Self {
            wide,
            narrow,
            decrypted,
            chained,
            verified: HashLists { short, pieces, long },
            sealed: HashLists { short: sealed_short, pieces: sealed_pieces, long: sealed_long },
            in_pieces: List { count: items.long.into(), ..single },
        }
    }
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
        let all_items = items.lists().into_iter().flatten();
        let item_bytes: Vec<u8> = all_items.flat_map(|item| item.bytes()).collect();
        let parts = [&described.jobs[..], &described.arena, &item_bytes];
        let mut buffer = DeviceBuffer::zeroed(device, parts.iter().map(|part| part.len()).sum())?;
        let start = buffer.slice(0..buffer.len())?.address();
        let mut at = 0;
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            buffer.write(at, part)?;
            at += part.len();
        }
        let arena = start + described.jobs.len() as u64;
        let lists = Lists::at(arena + described.arena.len() as u64, items);
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
            lists,
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
