//! CTR: what a thread stores of a block is its plaintext, and added to it what the cipher makes of the counter.
//!
//! Where a launch starts in a run of blocks is a number, since addresses depend on it. A run starts at a multiple of its
//! length, so that the low bits of a block's counter are its place in the run: a thread's number, and a row's. These are
//! wires of which a run takes the values, and the upper bits of the counter are wires of any value. So the graph is the
//! same for every place, and its proof is for all counters. What is added to the upper bits, the number of the run, is a
//! number again: none, one, and one that reaches into the counter's next word.
//!
//! AES looks up what two rounds make of the bytes of the counter's last word: they are addresses, and so numbers. But the
//! entries are made by threads, of numbers and rows, and these again are wires, for every entry that there is.

mod launch;
mod tables;

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use lanecrypt_circuit::{Wire, graph::Graph};
use lanecrypt_ptx::{
    bits::{Bit, word},
    machine::{Memory, PARAMETERS},
    text::Kernel,
};

use self::launch::{Ctr, Family, Launch, Position, choose_name, number_planes, to_barrier};
use super::{
    job::Job,
    threads::{Group, LANES, Place, Shared, check_alone},
};
use crate::{
    model::Model,
    step::{Comparison, Proof},
};

/// Where the parameters have the number of blocks, and the counter: the upper half, then the lower one.
const BLOCKS: u64 = PARAMETERS + 16;
const COUNTER: u64 = PARAMETERS + 24;

/// What a launch makes of a block: wires of a graph. And where the block's threads were in shared memory.
struct Outcome {
    graph: Graph,
    outputs: Vec<Wire>,
    shared: Shared,
}

/// A family's first place.
struct First {
    graph: Graph,
    outputs: Vec<Wire>,
    comparison: Comparison,
}

/// Proves a kernel for every family of launches.
pub(super) fn prove(job: &Job<'_>, kernel: &Kernel) -> Result<Proof> {
    let ctr = Ctr::new(job, kernel)?;
    let families = ctr.families();
    // What is wrong shows in most cases at once.
    let firsts = families.iter().map(|family| ctr.first(family)).collect::<Result<Vec<_>>>()?;
    let mut comparisons = Vec::new();
    for (family, First { graph, outputs, comparison }) in families.iter().zip(firsts) {
        ctr.check_same(family, graph, &outputs)?;
        comparisons.push(comparison);
    }
    comparisons.iter().map(Comparison::check).sum()
}

impl<'a> Ctr<'a> {
    fn families(&self) -> Vec<Family> {
        let blocks = self.run_blocks();
        let launch = |start, run, blocks| {
            // As many thread blocks as never make tables.
            Launch { start, run, blocks, thread_blocks: 1 << 22, looked_up: None }
        };
        let some: Vec<u64> = self.places().into_iter().step_by(9).collect();
        // Of the last warp of a thread block before which 2^32 blocks lie.
        let far = (1 << 32) / blocks / self.warps() * self.warps() + 2 * self.warps() - 1;
        let mut families = vec![
            vec![(launch(blocks - 1, 1, 2 * blocks), some.clone())],
            vec![(launch(1, far, (far + 1) * blocks - 1), some.clone())],
            vec![
                (launch(0, 0, blocks), self.places()),
                // An end and a start in the run, where every block is tested by itself.
                (launch(0, 0, blocks - 1), self.places()[..LANES].to_vec()),
                (launch(blocks / 4 + 3, 0, 3 * blocks), some.clone()),
            ],
        ];
        if let Some(most) = self.job.device.most_without_tables {
            families.extend(self.families_with_tables(most));
        }
        families
    }

    /// The first place of a family, and what it should be.
    fn first(&self, family: &Family) -> Result<First> {
        let (launch, places) = &family[0];
        let place = places.iter().find(|place| self.block(launch, **place).is_some());
        let place = *place.context("no place is among the data")?;
        let Outcome { graph, outputs, .. } = self.run(self.graph.clone(), launch, place)?;
        let comparison =
            Comparison::new(graph.clone(), outputs.clone(), |model| self.expected(model, launch));
        let bits = self.counter.len();
        let comparison = comparison.with_counter(bits + self.decided(launch)..2 * bits);
        comparison.check_at_random()?;
        Ok(First { graph, outputs, comparison })
    }

    /// Checks that all places of a family are the same, and that threads of a warp do not meet in shared memory.
    fn check_same(&self, family: &Family, mut graph: Graph, outputs: &[Wire]) -> Result<()> {
        let mut shared = HashMap::new();
        for (i, (launch, places)) in family.iter().enumerate() {
            ensure!(launch.kind() == family[0].0.kind(), "launches of two families");
            for &place in places.iter().filter(|&&place| self.block(launch, place).is_some()) {
                let outcome = self.run(graph, launch, place);
                let outcome = outcome.with_context(|| format!("{launch:?}, place {place}"))?;
                graph = outcome.graph;
                ensure!(outcome.outputs == outputs, "{launch:?}: place {place} is another");
                if i == 0 {
                    shared.insert(place % self.groups() as u64, outcome.shared);
                }
            }
        }
        check_alone(&shared.into_values().collect::<Vec<_>>())
    }

    /// What the standard says: SP 800-38A, 6.5, with the big-endian number of appendix B.1.
    fn expected(&self, model: &mut Model<'_>, launch: &Launch) -> Vec<Wire> {
        let (low, upper) = self.counter.split_at(self.decided(launch));
        let mut counter = low.to_vec();
        let (added, known) = launch.kind();
        for (byte, count) in counter.chunks_mut(8).skip(1).zip(known) {
            byte[..count].copy_from_slice(&model.number(0, count));
        }
        let added = model.number(added.into(), upper.len());
        counter.extend(model.add(upper, &added));
        let block: Vec<Wire> = counter.chunks(8).rev().flatten().copied().collect();
        let stream = (self.job.claim.cipher)(model, &block, &self.round_keys);
        model.xor_all(&self.data, &stream)
    }

    /// Runs a launch for the block of a place.
    fn run(&self, graph: Graph, launch: &Launch, place: u64) -> Result<Outcome> {
        let blocks = self.run_blocks();
        let skipped = launch.start % blocks;
        let first = (launch.run * blocks).saturating_sub(skipped);
        let end = ((launch.run + 1) * blocks - skipped).min(launch.blocks);
        let block = self.block(launch, place).context("a place outside of the data")?;
        let block = Place { block, blocks: first..end, bytes: self.job.block_bytes as u64 };
        let mut memory = Memory { graph, ..self.memory.clone() };
        self.set_parameters(&mut memory, launch);
        block.fill(&mut memory, &self.data);
        let mut group = match launch.looked_up {
            None => self.group(&mut memory, launch, place)?,
            Some(bytes) => {
                block.watch(&mut memory); // of the many runs that there are with tables
                self.group_behind_tables(&mut memory, launch, place, bytes)?
            }
        };
        memory.shared = Shared::default();
        group.run_to_output(&mut memory, &block)?;
        let outputs = block.outputs(&memory)?;
        Ok(Outcome { graph: memory.graph, outputs, shared: memory.shared })
    }

    /// The parameters of a launch. The upper half of a counter of eight bytes is foreign.
    fn set_parameters(&self, memory: &mut Memory, launch: &Launch) {
        let decided = self.decided(launch);
        let bit = |i: usize| match self.counter.get(i) {
            Some(_) if i < decided => Bit::Known(launch.start >> i & 1 == 1),
            Some(&wire) => Bit::Wire(wire as u32),
            None => Bit::Foreign,
        };
        for (i, first) in [64, 96, 0, 32].into_iter().enumerate() {
            let address = COUNTER + 4 * i as u64;
            memory.words.insert(address, core::array::from_fn(|i| bit(first + i)));
        }
        for (address, half) in [(BLOCKS, launch.blocks), (BLOCKS + 4, launch.blocks >> 32)] {
            memory.words.insert(address, word(half as u32));
        }
    }

    /// The threads that have the block of a place, with their keys expanded.
    fn group(&self, memory: &mut Memory, launch: &Launch, place: u64) -> Result<Group<'a>> {
        let (lanes, row) = self.lanes_and_row(place);
        let wires = self.counter.split_at(self.groups().ilog2() as usize);
        let mut threads = Vec::new();
        for lane in lanes.clone() {
            let mut thread = self.thread(launch, launch.run % self.warps(), lane);
            choose_name(&mut thread, lane, wires.0);
            thread.constants = number_planes(|position| {
                if position == row { Position::Chosen(wires.1) } else { Position::Foreign }
            });
            to_barrier(&mut thread, memory)?;
            thread.positions = 1 << row;
            threads.push(thread);
        }
        Ok(Group { lanes: lanes.collect(), threads })
    }
}
