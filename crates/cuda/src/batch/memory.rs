//! What a batch has on the device: what the host says, and room for what the kernels make of it.

use lanecrypt_core::{batch::JobMode, clear_bytes};
use lanecrypt_kernels::batch::{
    ENDS_BYTES, JOB_BYTES, PARAMETER_WORDS, SEQUENCE_BYTES, SESSION_BYTES,
};
use zerocopy::{Immutable, IntoBytes, transmute_ref};

use super::{
    items::Items,
    words::{BLOCK, ITEM_BYTES, RESULT_BYTES, arena_bytes},
};
use crate::{Device, DeviceBuffer, Error};

/// The parameter block of every kernel: `BatchParameters` of `kernels/batch/batch.cuh`, in its order.
#[derive(Clone, Copy, Debug, Default, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Parameters {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) jobs: u64,
    pub(super) sessions: u64,
    pub(super) session_count: u64,
    pub(super) results: u64,
    pub(super) items: u64,
    pub(super) count: u64,
    pub(super) arena: u64,
    pub(super) sequences: u64,
    pub(super) sums: u64,
    pub(super) piece: u64,
    pub(super) flags: u64,
    pub(super) ends: u64,
}

impl Parameters {
    /// The same for a kernel that takes the items of `list`.
    pub(super) fn over(self, list: List) -> Self {
        Self { items: list.address, count: list.count, ..self }
    }

    pub(super) fn words(&self) -> &[u64; PARAMETER_WORDS] {
        transmute_ref!(self)
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
    /// As [`Items::opens_first`].
    pub(super) opens_first: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HashLists {
    pub(super) short: List,
    pub(super) pieces: List,
    pub(super) long: List,
}

/// How much a batch takes on the device, in two areas: what the host says (jobs, associated data, items, ends), and
/// what the kernels make of it (results, sessions, sequences, sums), where results come first. Both are
/// multiples of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    described: [usize; 4],
    made: [usize; 4],
}

impl Layout {
    pub(super) fn new(jobs: usize, arena_bytes: usize, items: &Items, ends: usize) -> Self {
        let item_count: usize = items.lists().iter().map(|list| list.len()).sum();
        Self {
            described: [jobs * JOB_BYTES, arena_bytes, item_count * ITEM_BYTES, ends * ENDS_BYTES],
            made: [
                jobs * RESULT_BYTES,
                jobs * SESSION_BYTES,
                items.sequences as usize * SEQUENCE_BYTES,
                items.places as usize * BLOCK,
            ],
        }
    }

    /// At least the bytes that a job takes in both areas, by cuts that suit a device.
    pub(super) fn most_of_job(mode: &JobMode<'_>, length: usize) -> usize {
        let [items, places] = Items::most(length);
        let fixed = JOB_BYTES + ENDS_BYTES + RESULT_BYTES + SESSION_BYTES;
        let sequences = if Items::is_short(length) { 0 } else { SEQUENCE_BYTES };
        fixed + sequences + arena_bytes(mode) + items * ITEM_BYTES + places * BLOCK
    }

    pub(super) fn described_bytes(&self) -> usize {
        self.described.iter().sum()
    }

    /// The parts of the first area: jobs, associated data, items and ends.
    pub(super) fn describe<'a>(&self, mut area: &'a mut [u8]) -> [&'a mut [u8]; 4] {
        self.described.map(|bytes| area.split_off_mut(..bytes).unwrap_or_default())
    }

    pub(super) fn result_bytes(&self) -> usize {
        self.made[0]
    }

    pub(super) fn made_bytes(&self) -> usize {
        self.made.iter().sum()
    }

    /// Where everything is if the two areas start at these addresses.
    pub(super) fn at(&self, described: u64, made: u64, items: &Items) -> (Parameters, Lists) {
        let [jobs, arena, first_list, ends] = addresses(described, self.described);
        let [.., ends_bytes] = self.described;
        let [results, sessions, sequences, sums] = addresses(made, self.made);
        let session_count = (self.made[0] / RESULT_BYTES) as u64;
        let parameters = Parameters {
            jobs,
            sessions,
            session_count,
            results,
            arena,
            sequences,
            sums,
            ends: if ends_bytes > 0 { ends } else { 0 },
            ..Parameters::default()
        };
        (parameters, Lists::at(first_list, items))
    }
}

/// Where parts of so many bytes are that lie one behind the other.
fn addresses<const N: usize>(start: u64, bytes: [usize; N]) -> [u64; N] {
    let mut next = start;
    bytes.map(|bytes| {
        let address = next;
        next += bytes as u64;
        address
    })
}

impl Lists {
    /// Where the lists are if the first one begins at `start`.
    fn at(start: u64, items: &Items) -> Self {
        let mut next = start;
        let [
            wide,
            rests,
            narrow,
            decrypted,
            chained,
            short,
            sealed_short,
            pieces,
            sealed_pieces,
            long,
            sealed_long,
        ] = items.lists().map(|list| {
            let address = next;
            next += (list.len() * ITEM_BYTES) as u64;
            List { address, count: list.len() as u64 }
        });
        Self {
            wide: List { count: wide.count + rests.count, ..wide },
            narrow,
            decrypted,
            chained,
            verified: HashLists { short, pieces, long },
            sealed: HashLists { short: sealed_short, pieces: sealed_pieces, long: sealed_long },
            opens_first: items.opens_first,
        }
    }
}

/// Memory of the device that belongs to a batch; cleared when dropped, keys and all.
#[derive(Debug)]
pub(super) struct Memory {
    /// What the host says.
    pub(super) _described: DeviceBuffer,
    /// What the kernels make of it, results first.
    pub(super) made: DeviceBuffer,
    pub(super) lists: Lists,
    /// Where everything is; without data and items.
    pub(super) parameters: Parameters,
}

impl Memory {
    /// Memory of this layout, of which `write` fills the first area.
    pub(super) fn new(
        device: &Device,
        layout: Layout,
        items: &Items,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<Self, Error> {
        let mut bytes = vec![0; layout.described_bytes()];
        write(&mut bytes);
        let buffer = DeviceBuffer::from_host(device, &bytes);
        clear_bytes(&mut bytes);
        let buffer = buffer?;
        let made = DeviceBuffer::zeroed(device, layout.made_bytes())?;
        let start =
            |buffer: &DeviceBuffer| Ok::<_, Error>(buffer.slice(0..buffer.len())?.address());
        let (parameters, lists) = layout.at(start(&buffer)?, start(&made)?, items);
        Ok(Self { _described: buffer, made, lists, parameters })
    }
}
