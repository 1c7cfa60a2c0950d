//! Kernels of GPUs: the committed PTX of a bit-sliced cipher in ECB, run by threads whose keys and blocks are wires of
//! a graph, is the standard's cipher.
//!
//! A thread block runs to its barrier, which expands the keys. Then a thread runs on, over its 32
//! blocks, of which one is wires and the others may not reach it. What it stores is compared with the standard, from the
//! key words of the kernel's parameters to the ciphertext: loops, transposes and key planes are in between.

use std::{collections::HashSet, fs};

use anyhow::{Context, Result, anyhow, bail, ensure};
use lanecrypt_circuit::{Wire, graph::Graph};
use lanecrypt_ptx::{
    bits::{Bit, Word, bit},
    machine::{INPUT, KEYS, Memory, OUTPUT, PARAMETERS, Stop, Thread},
    text::Kernel,
};
use lanecrypt_slicing::record::Node;

use crate::{
    model::Model,
    step::{Comparison, Proof},
    subject::{Claim, Device},
};

/// Blocks of a thread, threads of a warp.
const LANES: usize = 32;

/// Proves that a kernel is the cipher of a claim.
pub(crate) fn prove(claim: &Claim, device: &Device, block_bytes: usize) -> Result<Proof> {
    prove_text(&read(device)?, claim, device, block_bytes)
}

/// The committed text.
pub(crate) fn read(device: &Device) -> Result<String> {
    let path = format!("{}/../kernels/ptx/{}.ptx", env!("CARGO_MANIFEST_DIR"), device.file);
    fs::read_to_string(&path).context(path)
}

/// Whether a text can be read: what cannot is refuted by nothing.
pub(crate) fn check_readable(text: &str, device: &Device) -> Result<()> {
    Kernel::read(text, device.entry).map(drop)
}

/// The proof of a text.
pub(crate) fn prove_text(
    text: &str,
    claim: &Claim,
    device: &Device,
    block_bytes: usize,
) -> Result<Proof> {
    let kernel = Kernel::read(text, device.entry)?;
    let mut graph = Graph::new();
    let inputs = graph.sources(Node::Input, 8 * block_bytes);
    let round_keys = graph.sources(Node::Key, claim.key_bits);
    let key_words = (device.key_words)(&mut Model::new(&mut graph), &round_keys);
    // The data is the blocks of one warp.
    let blocks = LANES * LANES / device.width;
    let mut memory = with_parameters(graph, blocks, &key_words);
    let mut threads = Vec::new();
    for number in 0..kernel.threads {
        let mut thread = Thread::new(&kernel, number);
        thread.run(&mut memory).with_context(|| format!("thread {number}"))?;
        if threads.len() < LANES {
            threads.push(thread);
        }
    }
    memory.shared = [HashSet::new(), HashSet::new()];
    let run = |group: usize, lane: usize| -> Result<(Memory, Vec<Wire>)> {
        let block = group + LANES / device.width * lane;
        let place = Place { block, blocks, bytes: block_bytes as u64 };
        let mut memory = memory.clone();
        place.fill(&mut memory, &inputs);
        let first = device.width * group;
        let mut group = Group { first, threads: threads[first..first + device.width].to_vec() };
        // There are barriers in the loop of some kernels, and one before they clear the keys.
        while !place.is_written(&memory) && group.run(&mut memory)? != Stop::End {}
        let outputs = place.outputs(&memory)?;
        Ok((memory, outputs))
    };
    let (Memory { graph, shared, .. }, recorded) = run(0, 0).context("group 0, block 0")?;
    let mut shared = vec![shared];
    // All blocks of the first threads, and one of all others.
    let all_of_first = (1..LANES).map(|lane| (0, lane));
    for (group, lane) in all_of_first.chain((1..LANES / device.width).map(|group| (group, group))) {
        let (other, outputs) =
            run(group, lane).with_context(|| format!("group {group}, block {lane}"))?;
        let is_same = other.graph.nodes() == graph.nodes() && outputs == recorded;
        ensure!(is_same, "group {group} computes something else for block {lane}");
        if group > 0 {
            shared.push(other.shared);
        }
    }
    check_alone(&shared)?;
    let comparison =
        Comparison::new(graph, recorded, |model| (claim.cipher)(model, &inputs, &round_keys));
    if let Some(output) = comparison.differs_at_random() {
        bail!("bit {output} is wrong for random blocks and keys"); // the solver could take its time to find some
    }
    comparison.prove().map_err(|refutation| anyhow!("bit {} is wrong", refutation.output))
}

/// The threads of a warp that share blocks.
struct Group<'k> {
    /// The lane of the first.
    first: usize,
    threads: Vec<Thread<'k>>,
}

impl Group<'_> {
    /// Runs them to the next barrier or the end, through shuffles among them.
    fn run(&mut self, memory: &mut Memory) -> Result<Stop> {
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
                let given = from.checked_sub(self.first).and_then(|from| shuffled.get(from));
                thread.take(&given.context("a lane that has other blocks")?.0)?;
            }
        }
    }
}

/// Checks that between barriers no thread writes shared memory that another one reads or writes.
fn check_alone(shared: &[[HashSet<u64>; 2]]) -> Result<()> {
    for (i, [_, written]) in shared.iter().enumerate() {
        let others = shared.iter().enumerate().filter(|(j, _)| *j != i).flat_map(|(_, sets)| sets);
        for other in others {
            ensure!(written.is_disjoint(other), "thread {i} writes what another one uses");
        }
    }
    Ok(())
}

/// Memory with a kernel's parameters.
fn with_parameters(graph: Graph, blocks: usize, key_words: &[Vec<Wire>]) -> Memory {
    let mut memory = Memory::with_parameters(blocks as u64, [0; 3]);
    for (address, wires) in (PARAMETERS + KEYS..).step_by(4).zip(key_words) {
        memory.words.insert(address, core::array::from_fn(|i| bit(&graph, wires[i])));
    }
    Memory { graph, ..memory }
}

/// A block in memory.
struct Place {
    block: usize,
    /// How many there are.
    blocks: usize,
    bytes: u64,
}

impl Place {
    fn words(&self, start: u64) -> impl Iterator<Item = u64> {
        let first = start + self.block as u64 * self.bytes;
        (first..first + self.bytes).step_by(4)
    }

    /// The block as wires, all others foreign.
    fn fill(&self, memory: &mut Memory, inputs: &[Wire]) {
        let foreign: Word = [Bit::Foreign; 32];
        let all = (INPUT..INPUT + self.blocks as u64 * self.bytes).step_by(4);
        memory.words.extend(all.map(|address| (address, foreign)));
        for (address, wires) in self.words(INPUT).zip(inputs.chunks(32)) {
            memory.words.insert(address, core::array::from_fn(|i| Bit::Wire(wires[i] as u32)));
        }
    }

    fn is_written(&self, memory: &Memory) -> bool {
        self.words(OUTPUT).all(|address| memory.words.contains_key(&address))
    }

    /// What became of it.
    fn outputs(&self, memory: &Memory) -> Result<Vec<Wire>> {
        let stored = self.words(OUTPUT).map(|address| memory.words.get(&address));
        let stored = stored.collect::<Option<Vec<_>>>().context("a block that is not written")?;
        let wire = |bit: &Bit| match bit {
            Bit::Wire(wire) => Ok(*wire as usize),
            _ => Err(anyhow!("a bit that is constant or of another block")),
        };
        stored.into_iter().flatten().map(wire).collect()
    }
}
