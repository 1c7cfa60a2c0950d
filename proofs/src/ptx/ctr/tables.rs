//! CTR where a thread block makes tables of what two rounds make of each byte of a counter's last word
//! (kernels/aes/separable.cuh, and `fill_tables` in kernels/aes/bitslice.cu).
//!
//! Four warps make them, one for each byte: 256 entries by the numbers of eight groups of lanes and of 32 rows. A block
//! needs one entry of three tables, whose numbers are its counter's byte, and of the fourth what its own lanes made. So in
//! each warp these numbers are wires, a byte of the counter, and what other groups and rows make is foreign. But for the
//! first entry, which is added to all: its numbers are zeros. Where an entry has the same group, the group's number is
//! zero as well, and where it is the first itself, all of the byte.

use anyhow::{Result, ensure};
use lanecrypt_ptx::machine::{Memory, Stop, Thread};

use super::{
    super::threads::{Group, LANES, Shared, check_alone},
    launch::{
        Ctr, Family, GROUP_BITS, Launch, Position, choose_name, known_zeros, number_planes,
        to_barrier,
    },
};

/// Warps that make tables.
const WARPS: u64 = 4;

impl<'a> Ctr<'a> {
    /// Launches that look up every entry of the tables.
    pub(super) fn families_with_tables(&self, most: u64) -> [Family; 3] {
        let launch = |bytes: [u8; 3], run: u64| {
            let thread_blocks = run / self.warps() + 1;
            let first = u32::from_le_bytes([0, bytes[0], bytes[1], bytes[2]]);
            Launch {
                start: u64::from(first) - run * self.run_blocks() + 5,
                run,
                blocks: most * self.warps() * thread_blocks + 1,
                thread_blocks: thread_blocks as u32,
                looked_up: Some(bytes),
            }
        };
        // These values in every byte, in other orders; no launch wraps round the last word. By turns the run is one
        // of a warp that makes a table, and one of another.
        let of = |values: Vec<u8>, first: usize| -> Family {
            let count = values.len();
            let nth = |i: usize| [values[(5 * i + 1) % count], values[count - 1 - i], values[i]];
            let run = |i: usize| 2 + (self.warps() + WARPS) * (i as u64 % 2);
            let place = |i: usize| 9 * (first + i) as u64 % self.run_blocks();
            (0..count).map(|i| (launch(nth(i), run(i)), vec![place(i)])).collect()
        };
        // Two rounds are the same for all key sizes: all entries for one of them.
        let step = if self.job.claim.key_bytes == 16 { 1 } else { 9 };
        let with = |zeros, first| {
            let values = (0..=255).filter(|&byte| known_zeros(byte) == zeros);
            of(values.collect(), first).into_iter().step_by(step).collect::<Family>()
        };
        let mut odd = with(0, 0);
        let even = with(GROUP_BITS, odd.len());
        let zero = vec![(launch([0; 3], 0), vec![9 * 255 % self.run_blocks()])];
        odd[0].1 = self.places();
        [odd, even, zero]
    }

    /// The threads that have the block of a place, behind the barrier after the tables.
    pub(super) fn group_behind_tables(
        &self,
        memory: &mut Memory,
        launch: &Launch,
        place: u64,
        looked_up: [u8; 3],
    ) -> Result<Group<'a>> {
        let (lanes, _) = self.lanes_and_row(place);
        let own = launch.run % self.warps();
        let [byte1, byte2, byte3] = looked_up;
        let mut filled = Vec::new();
        for (warp, byte) in (0..WARPS).zip([place as u8, byte1, byte2, byte3]) {
            let entry = self.lanes_and_row(byte.into()).0;
            let is_wanted = |lane: &usize| {
                // Those of the first entry, that of the byte, and the block's; of the first place all.
                let is_own = warp == own && lanes.contains(lane);
                place == 0 || *lane < lanes.len() || entry.contains(lane) || is_own
            };
            let mut group =
                Group { lanes: (0..LANES).filter(is_wanted).collect(), threads: vec![] };
            for &lane in &group.lanes {
                let thread = self.filling_thread(memory, launch, (warp, lane), byte)?;
                group.threads.push(thread);
            }
            filled.push(group);
        }
        let mut shared = Vec::new();
        for group in &mut filled {
            memory.shared = Shared::default();
            ensure!(group.run(memory)? == Stop::Barrier, "no barrier behind the tables");
            shared.push(std::mem::take(&mut memory.shared));
        }
        check_alone(&shared)?;
        if let Some(Group { lanes: of_warp, threads }) = filled.into_iter().nth(own as usize) {
            let pairs = of_warp.into_iter().zip(threads);
            let (lanes, threads) = pairs.filter(|(lane, _)| lanes.contains(lane)).unzip();
            return Ok(Group { lanes, threads });
        }
        let threads = lanes.clone().map(|lane| {
            let mut thread = self.thread(launch, own, lane);
            to_barrier(&mut thread, memory)?; // keys
            to_barrier(&mut thread, memory)?; // tables
            Ok(thread)
        });
        let threads = threads.collect::<Result<_>>()?;
        Ok(Group { lanes: lanes.collect(), threads })
    }

    /// A thread of a warp that makes the entry of a byte, with its keys expanded.
    fn filling_thread(
        &self,
        memory: &mut Memory,
        launch: &Launch,
        (warp, lane): (u64, usize),
        byte: u8,
    ) -> Result<Thread<'a>> {
        let mut thread = self.thread(launch, warp, lane);
        let (of_group, of_row) = self.counter[8 * warp as usize..][..8].split_at(GROUP_BITS);
        let (lanes, row) = self.lanes_and_row(byte.into());
        let has_entry = lanes.contains(&lane);
        // The table of the first warp has the constant part, and is read where it was made.
        let zeros = if warp == 0 { 0 } else { known_zeros(byte) };
        let has_first = warp > 0 && lane < lanes.len();
        if has_entry && zeros == 0 {
            choose_name(&mut thread, lane, of_group);
        }
        let at = |position| {
            if has_entry && zeros < 8 && position == row {
                Position::Chosen(of_row)
            } else if has_first && position == 0 {
                Position::Known
            } else {
                Position::Foreign
            }
        };
        thread.constants = number_planes(at);
        to_barrier(&mut thread, memory)?;
        let is_seen = |position: &usize| !matches!(at(*position), Position::Foreign);
        thread.positions = (0..LANES).filter(is_seen).map(|position| 1 << position).sum();
        Ok(thread)
    }
}
