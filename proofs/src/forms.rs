//! The ledger of bit-sliced forms: how many operations on words a batch takes, as it was recorded.
//!
//! A form is recorded with the circuits of gates, for words that have functions of two inputs, and with those of
//! three-input functions, for words that have these; compilers then cover gates by such functions, as assemblers do for
//! GPUs. Complements cost nothing: AND-NOT is one operation, and a function of three inputs has them in its table. The way
//! in and out is not counted, since each instruction set has its own.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::{Context, Result};
use lanecrypt_circuit::{Gate, Wire, cover_graph, graph::Graph};
use lanecrypt_slicing::record::{Node, Recording};

use crate::subject::{Subject, noun};

const HEADER: &str = "cipher,key_bits,direction,inputs,operations";

/// The table, by cipher, key size, direction, and inputs of a word's functions.
pub(crate) fn csv(subjects: &[Subject]) -> Result<String> {
    let mut rows = BTreeMap::new();
    for subject in subjects {
        for (inputs, plan) in (2..).zip(subject.plans) {
            let plan = plan();
            let counts: BTreeMap<_, _> = plan
                .wholes
                .iter()
                .map(|whole| (whole.name, operations(&whole.recording, inputs)))
                .collect();
            for claim in (subject.claims)() {
                let count = *counts.get(claim.whole).context(claim.whole)?;
                let direction = noun(claim.direction);
                // Where blocks may have another order of bytes, the rounds are the same.
                rows.entry((subject.name, 8 * claim.key_bytes, direction, inputs)).or_insert(count);
            }
        }
    }
    let mut text = format!("{HEADER}\n");
    for ((cipher, bits, direction, inputs), count) in rows {
        writeln!(text, "{cipher},{bits},{direction},{inputs},{count}")?;
    }
    Ok(text)
}

/// Operations of words with functions of this number of inputs.
fn operations(recording: &Recording, inputs: usize) -> usize {
    let mut graph = Graph::new();
    let keys = graph.sources(Node::Key, recording.keys());
    let outputs = graph.inline(recording, &[], &keys);
    let nodes = graph.nodes();
    let is_gate = |wire: Wire| matches!(nodes[wire], Node::Gate(_));
    let is_needed = graph.cone(&outputs);
    let readers = cover_graph(&graph, &outputs, |_| false);
    let counts = |&wire: &Wire| {
        let is_complement = matches!(nodes[wire], Node::Gate(Gate::Not(_)));
        is_needed[wire]
            && is_gate(wire)
            && !is_complement
            && (inputs < 3 || readers[wire].is_none())
    };
    (0..nodes.len()).filter(counts).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_those_of_the_words() {
        let gate = Node::Gate;
        // A complement, a sum of four with it, and a gate that is used twice.
        let nodes = vec![
            Node::Load(0),
            Node::Load(1),
            Node::Load(2),
            Node::Key(0),
            gate(Gate::Not(0)),
            gate(Gate::Xor(4, 1)),
            gate(Gate::Xor(5, 2)),
            gate(Gate::Xor(6, 3)),
            gate(Gate::And(7, 0)),
            gate(Gate::Or(7, 1)),
        ];
        let recording = Recording::new(nodes, vec![8, 9]);
        assert_eq!([2, 3].map(|inputs| operations(&recording, inputs)), [5, 4]);
    }
}
