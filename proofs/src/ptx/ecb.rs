//! ECB: all 32 blocks of the first thread of a warp, and one of each other thread's, where the same is computed.

use anyhow::{Context, Result, ensure};
use lanecrypt_circuit::{Wire, graph::Graph};
use lanecrypt_ptx::{
    machine::{Memory, Thread},
    text::Kernel,
};
use lanecrypt_slicing::record::Node;

use super::{
    job::Job,
    threads::{Group, LANES, Place, check_alone, with_parameters},
};
use crate::{
    model::Model,
    step::{Comparison, Proof},
};

pub(super) fn prove(job: &Job<'_>, kernel: &Kernel) -> Result<Proof> {
    let &Job { claim, device, block_bytes, .. } = job;
    let mut graph = Graph::new();
    let inputs = graph.sources(Node::Input, 8 * block_bytes);
    let round_keys = graph.sources(Node::Key, claim.key_bits);
    let key_words = (device.key_words)(&mut Model::new(&mut graph), &round_keys);
    // The data is the blocks of one warp.
    let blocks = LANES * LANES / device.width;
    let mut memory = with_parameters(graph, blocks as u64, &key_words);
    let mut threads = Vec::new();
    for number in 0..kernel.threads {
        let mut thread = Thread::new(kernel, number);
        thread.run(&mut memory).with_context(|| format!("thread {number}"))?;
        if threads.len() < LANES {
            threads.push(thread);
        }
    }
    memory.shared = Default::default();
    let run = |group: usize, lane: usize| -> Result<(Memory, Vec<Wire>)> {
        let block = (group + LANES / device.width * lane) as u64;
        let place = Place { block, blocks: 0..blocks as u64, bytes: block_bytes as u64 };
        let mut memory = memory.clone();
        place.fill(&mut memory, &inputs);
        let lanes = device.width * group..device.width * (group + 1);
        let mut group = Group { threads: threads[lanes.clone()].to_vec(), lanes: lanes.collect() };
        group.run_to_output(&mut memory, &place)?;
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
    comparison.check()
}
