//! Threads of a kernel, and the memory that they run over.

use core::ops::Range;
use std::collections::HashSet;

use anyhow::{Context, Result, anyhow, ensure};
use lanecrypt_circuit::{Wire, graph::Graph};
use lanecrypt_ptx::{
    bits::{Bit, Word, bit},
    machine::{INPUT, KEYS, Memory, OUTPUT, PARAMETERS, Stop, Thread},
};

/// Blocks of a thread, threads of a warp.
pub(super) const LANES: usize = 32;

/// Threads of a warp, which go together, and their lanes: those that share blocks, or more.
pub(super) struct Group<'k> {
    pub(super) lanes: Vec<usize>,
    pub(super) threads: Vec<Thread<'k>>,
}

impl Group<'_> {
    /// Runs them to the next barrier or the end, through shuffles among them.
    pub(super) fn run(&mut self, memory: &mut Memory) -> Result<Stop> {
        loop {
            let stops = self.threads.iter_mut().map(|thread| thread.run(memory));
            let stops = stops.collect::<Result<Vec<Stop>>>()?;
            ensure!(stops.iter().all(|stop| *stop == stops[0]), "threads of a warp part");
            if stops[0] != Stop::Shuffle {
                return Ok(stops[0]);
            }
            let shuffled = self.threads.iter().map(Thread::shuffled);
            let shuffled = shuffled.collect::<Result<Vec<_>>>()?;
            for (thread, (_, from)) in self.threads.iter_mut().zip(&shuffled) {
                let from = self.lanes.iter().position(|lane| lane == from);
                thread.take(&shuffled[from.context("a lane that has other blocks")?].0)?;
            }
        }
    }

    /// Runs them until a block is written. There are barriers in the loop of some kernels, and one before they clear
    /// the keys.
    pub(super) fn run_to_output(&mut self, memory: &mut Memory, place: &Place) -> Result<()> {
        while !place.is_written(memory) && self.run(memory)? != Stop::End {}
        Ok(())
    }
}

/// Addresses of shared memory that were read, and that were written.
pub(super) type Shared = [HashSet<u64>; 2];

/// Checks that between barriers no thread writes shared memory that another one reads or writes.
pub(super) fn check_alone(shared: &[Shared]) -> Result<()> {
    for (i, [_, written]) in shared.iter().enumerate() {
        let others = shared.iter().enumerate().filter(|(j, _)| *j != i).flat_map(|(_, sets)| sets);
        for other in others {
            ensure!(written.is_disjoint(other), "thread {i} writes what another one uses");
        }
    }
    Ok(())
}

/// Memory with a kernel's parameters.
pub(super) fn with_parameters(graph: Graph, blocks: u64, key_words: &[Vec<Wire>]) -> Memory {
    let mut memory = Memory::with_parameters(blocks, [0; 3]);
    for (address, wires) in (PARAMETERS + KEYS..).step_by(4).zip(key_words) {
        memory.words.insert(address, core::array::from_fn(|i| bit(&graph, wires[i])));
    }
    Memory { graph, ..memory }
}

/// A block in memory.
pub(super) struct Place {
    pub(super) block: u64,
    /// The blocks that there are.
    pub(super) blocks: Range<u64>,
    pub(super) bytes: u64,
}

impl Place {
    fn addresses(&self, start: u64) -> Range<u64> {
        let first = start + self.block * self.bytes;
        first..first + self.bytes
    }

    fn words(&self, start: u64) -> impl Iterator<Item = u64> {
        self.addresses(start).step_by(4)
    }

    /// Lets threads stop where they have written it: they would go on to further runs.
    pub(super) fn watch(&self, memory: &mut Memory) {
        memory.watched = self.addresses(OUTPUT);
    }

    /// The block as wires, all others foreign.
    pub(super) fn fill(&self, memory: &mut Memory, inputs: &[Wire]) {
        let foreign: Word = [Bit::Foreign; 32];
        let [first, end] = [self.blocks.start, self.blocks.end].map(|i| INPUT + i * self.bytes);
        memory.words.extend((first..end).step_by(4).map(|address| (address, foreign)));
        for (address, wires) in self.words(INPUT).zip(inputs.chunks(32)) {
            memory.words.insert(address, core::array::from_fn(|i| Bit::Wire(wires[i] as u32)));
        }
    }

    pub(super) fn is_written(&self, memory: &Memory) -> bool {
        self.words(OUTPUT).all(|address| memory.words.contains_key(&address))
    }

    /// What became of it.
    pub(super) fn outputs(&self, memory: &Memory) -> Result<Vec<Wire>> {
        let stored = self.words(OUTPUT).map(|address| memory.words.get(&address));
        let stored = stored.collect::<Option<Vec<_>>>().context("a block that is not written")?;
        let wire = |bit: &Bit| match bit {
            Bit::Wire(wire) => Ok(*wire as usize),
            _ => Err(anyhow!("a bit that is constant or of another block")),
        };
        stored.into_iter().flatten().map(wire).collect()
    }
}
