//! Jobs of a batch as the host has checked and cut them, and how they are described to the kernels.

use lanecrypt_core::{Mode, batch::Failure};
use zerocopy::{FromBytes, IntoBytes};

use super::{
    items::{Cuts, Items},
    memory::Layout,
    words::{Arena, Ends, ITEM_BYTES, JobRecord, Message, arena_bytes},
};

/// What the host knows of a batch without its keys, which are written straight to where the kernels find them.
pub(super) struct Plan {
    pub(super) cuts: Cuts,
    /// The jobs that are run.
    pub(super) accepted: Vec<Accepted>,
    pub(super) failures: Vec<Failure>,
    /// Bytes of associated data and long IVs.
    arena_bytes: usize,
    pub(super) items: Items,
    /// Whether any of them has a tag, and so a result.
    pub(super) has_results: bool,
    /// Where the messages of all accepted jobs are, if kernels move them.
    pub(super) ends: Vec<Ends>,
}

/// A job that is run.
#[derive(Clone, Copy)]
pub(super) struct Accepted {
    /// Its number.
    pub(super) job: usize,
    /// That among those that are hashed by matrices.
    sequences: Option<u32>,
}

impl Plan {
    /// Of no jobs yet, with room for this number.
    pub(super) fn with_room(cuts: Cuts, jobs: usize) -> Self {
        Self {
            cuts,
            accepted: Vec::with_capacity(jobs),
            failures: Vec::new(),
            arena_bytes: 0,
            items: Items::default(),
            has_results: false,
            ends: Vec::new(),
        }
    }

    /// Adds a job that was checked.
    pub(super) fn accept(&mut self, job: usize, Message { mode, length, .. }: Message<'_>) {
        let number = self.accepted.len() as u32;
        let sequences = self.items.push(number, mode, length, self.cuts);
        self.arena_bytes += arena_bytes(mode);
        self.has_results |= mode.mode() == Mode::Gcm;
        self.accepted.push(Accepted { job, sequences });
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::new(self.accepted.len(), self.arena_bytes, &self.items, self.ends.len())
    }

    /// Writes all of the first area of the layout: what the kernels read. `of` gives the message of an accepted job, by
    /// its number among these and among all, and where its input and output start.
    pub(super) fn write<'m>(
        &self,
        to: &mut [u8],
        of: impl Fn(usize, usize) -> (Message<'m>, [usize; 2]),
    ) {
        let [records, arena, items, ends] = self.layout().describe(to);
        let mut arena = Arena::new(arena);
        let records = records.chunks_exact_mut(size_of::<JobRecord>());
        for (number, (record, accepted)) in records.zip(&self.accepted).enumerate() {
            let Ok(record) = JobRecord::mut_from_bytes(record) else { continue }; // which it is
            let (message, places) = of(number, accepted.job);
            record.set(message, places, accepted.sequences, &mut arena);
        }
        let all_items = self.items.lists().into_iter().flatten();
        for (to, item) in items.chunks_exact_mut(ITEM_BYTES).zip(all_items) {
            to.copy_from_slice(item.as_bytes());
        }
        ends.copy_from_slice(self.ends.as_bytes());
    }

    /// Where the last messages end in the input and the output, of jobs with these places and lengths.
    pub(super) fn ends_of(&self, of: impl Fn(usize) -> ([usize; 2], usize)) -> [usize; 2] {
        self.accepted.iter().fold([0, 0], |[input_end, output_end], accepted| {
            let ([input, output], length) = of(accepted.job);
            [input_end.max(input + length), output_end.max(output + length)]
        })
    }
}
