//! Launches of a kernel in CTR, and its threads.

use core::ops::Range;
use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use lanecrypt_circuit::{Wire, graph::Graph};
use lanecrypt_ptx::{
    bits::{Bit, Word},
    machine::{Memory, Stop, Thread},
    text::Kernel,
};
use lanecrypt_slicing::record::Node;

use super::super::{
    job::Job,
    threads::{LANES, with_parameters},
};
use crate::model::Model;

/// Bits of a counter whose bytes are looked up: the last word.
const LOOKED_UP: usize = 32;

/// A launch, and the run of blocks in it that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch {
    /// The first counter modulo the blocks of a run; where tables are made, its last word.
    pub(super) start: u64,
    /// The number of the run.
    pub(super) run: u64,
    /// How many blocks there are.
    pub(super) blocks: u64,
    pub(super) thread_blocks: u32,
    /// Where tables are made, what is looked up in them: the last bytes but one of the counter, from the right.
    pub(super) looked_up: Option<[u8; 3]>,
}

impl Launch {
    /// What is added to the upper bits of the first counter, and which of the bits that are looked up are zeros in all
    /// of a family.
    pub(super) fn kind(&self) -> (u64, [usize; 3]) {
        match self.looked_up {
            None => (self.run, [0; 3]),
            Some(bytes) => (0, bytes.map(known_zeros)),
        }
    }
}

/// Launches, and places in their runs, for all of which the same is computed.
pub(super) type Family = Vec<(Launch, Vec<u64>)>;

/// Bits of a group's number: the lowest of a byte.
pub(super) const GROUP_BITS: usize = 3;

/// How many of the low bits of a byte are known where it is looked up: zeros.
pub(super) fn known_zeros(byte: u8) -> usize {
    match byte {
        0 => 8,
        _ if byte.is_multiple_of(1 << GROUP_BITS) => GROUP_BITS,
        _ => 0,
    }
}

/// A kernel whose keys are expanded.
pub(super) struct Ctr<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) kernel: &'a Kernel,
    /// Without its graph.
    pub(super) memory: Memory,
    pub(super) graph: Graph,
    pub(super) data: Vec<Wire>,
    /// The bits of a block's counter, the lowest first; those of the number of its run before that is added.
    pub(super) counter: Vec<Wire>,
    pub(super) round_keys: Vec<Wire>,
}

impl<'a> Ctr<'a> {
    pub(super) fn new(job: &'a Job<'a>, kernel: &'a Kernel) -> Result<Self> {
        let bits = 8 * job.block_bytes;
        let mut graph = Graph::new();
        let mut data = graph.sources(Node::Input, 2 * bits);
        let counter = data.split_off(bits);
        let round_keys = graph.sources(Node::Key, job.claim.key_bits);
        let key_words = (job.device.key_words)(&mut Model::new(&mut graph), &round_keys);
        let mut memory = with_parameters(graph, 1, &key_words);
        for number in 0..kernel.threads {
            to_barrier(&mut Thread::new(kernel, number), &mut memory)?;
        }
        let graph = std::mem::take(&mut memory.graph);
        Ok(Self { job, kernel, memory, graph, data, counter, round_keys })
    }

    /// Groups of threads in a warp that have blocks of their own.
    pub(super) fn groups(&self) -> usize {
        LANES / self.job.device.width
    }

    /// Blocks of a run, of which row `row` of group `group` has number `row * groups + group`.
    pub(super) fn run_blocks(&self) -> u64 {
        (LANES * self.groups()) as u64
    }

    /// Warps of a thread block.
    pub(super) fn warps(&self) -> u64 {
        u64::from(self.kernel.threads) / LANES as u64
    }

    /// All places of the first group, and one of every other.
    pub(super) fn places(&self) -> Vec<u64> {
        let groups = self.groups();
        let of_first = (0..LANES).map(|row| row * groups);
        of_first.chain((1..groups).map(|group| group * groups + group)).map(|i| i as u64).collect()
    }

    /// How many of the low bits of a block's counter a thread's number, its row and addresses decide.
    pub(super) fn decided(&self, launch: &Launch) -> usize {
        match launch.looked_up {
            Some(_) => LOOKED_UP,
            None => self.run_blocks().ilog2() as usize,
        }
    }

    /// The number among the data of the block of a place, if it is there.
    pub(super) fn block(&self, launch: &Launch, place: u64) -> Option<u64> {
        let blocks = self.run_blocks();
        let block = (launch.run * blocks + place).checked_sub(launch.start % blocks)?;
        (block < launch.blocks).then_some(block)
    }

    /// The lanes of the threads that have the block of a place, and its row.
    pub(super) fn lanes_and_row(&self, place: u64) -> (Range<usize>, usize) {
        let (group, row) = (place as usize % self.groups(), place as usize / self.groups());
        let width = self.job.device.width;
        (width * group..width * (group + 1), row)
    }

    /// The thread of a lane of a warp, in the thread block that has the launch's run.
    pub(super) fn thread(&self, launch: &Launch, warp: u64, lane: usize) -> Thread<'a> {
        let mut thread = Thread::new(self.kernel, (warp as usize * LANES + lane) as u32);
        thread.grid = [(launch.run / self.warps()) as u32, launch.thread_blocks];
        thread
    }
}

/// Runs a thread to its barrier.
pub(super) fn to_barrier(thread: &mut Thread<'_>, memory: &mut Memory) -> Result<()> {
    let stop = thread.run(memory).context("before a barrier")?;
    ensure!(stop == Stop::Barrier, "{stop:?} before a barrier");
    Ok(())
}

/// Makes the upper bits of a thread's lane wires.
pub(super) fn choose_name(thread: &mut Thread<'_>, lane: usize, wires: &[Wire]) {
    let bits = LANES.ilog2() as usize;
    for (bit, &wire) in (bits - wires.len()..bits).zip(wires) {
        thread.name[bit] = Bit::Chosen(wire as u32, lane >> bit & 1 == 1);
    }
}

/// What a plane of numbers is at a position.
pub(super) enum Position<'a> {
    Foreign,
    /// The number's bits.
    Known,
    /// Wires that have their values.
    Chosen(&'a [Wire]),
}

/// The planes of the numbers 0 to 31, `number_plane` in kernels/common/transpose.cuh: what stands for each.
pub(super) fn number_planes<'a>(at: impl Fn(usize) -> Position<'a>) -> HashMap<u32, Word> {
    let plane = |bit: usize| {
        let is_set = |position: usize| position >> bit & 1 == 1;
        let number = (0..LANES).fold(0, |plane, i| plane | u32::from(is_set(i)) << i);
        let word = core::array::from_fn(|position| match at(position) {
            Position::Foreign => Bit::Foreign,
            Position::Known => Bit::Known(is_set(position)),
            Position::Chosen(wires) => Bit::Chosen(wires[bit] as u32, is_set(position)),
        });
        (number, word)
    };
    (0..LANES.ilog2() as usize).map(plane).collect()
}
