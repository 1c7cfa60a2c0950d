//! Operations covered by instructions of three inputs, as compilers do it for machines that have them.

use std::collections::BTreeSet;

use lanecrypt_slicing::record::{Gate, Node, Recording, Wire};

use crate::{
    graph::{Graph, operands},
    prove::evaluate_gate,
};

/// Which of `count` operations become part of a later one, and of which.
///
/// `inputs` says what an operation reads. `maker` gives the operation that makes an input for this reader alone, where
/// the reader can take it in: it does if they have three inputs together, and those that leave fewest first.
pub fn cover(
    count: usize,
    inputs: impl Fn(usize) -> BTreeSet<usize>,
    maker: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<Option<usize>> {
    let mut readers = vec![None; count];
    let mut covered: Vec<BTreeSet<usize>> = Vec::with_capacity(count);
    for reader in 0..count {
        let mut all = inputs(reader);
        let part = |all: &BTreeSet<usize>| {
            let joined = all.iter().filter_map(|&input| {
                let maker = maker(input, reader)?;
                let mut joined = &covered[maker] | all;
                joined.remove(&input);
                (joined.len() <= 3).then_some((maker, joined))
            });
            joined.min_by_key(|(_, joined)| joined.len())
        };
        while let Some((maker, joined)) = part(&all) {
            readers[maker] = Some(reader);
            all = joined;
        }
        covered.push(all);
    }
    readers
}

/// The gates of a graph that become part of later ones, and of which, where only `outputs` are wanted and no sum
/// with a key plane that `is_apart` becomes part of anything or takes anything in.
pub fn cover_graph(
    graph: &Graph,
    outputs: &[Wire],
    is_apart: impl Fn(Wire) -> bool,
) -> Vec<Option<Wire>> {
    let nodes = graph.nodes();
    let is_needed = graph.cone(outputs);
    let reads = |wire: Wire| operands(nodes[wire]).into_iter().collect::<BTreeSet<Wire>>();
    let mut uses = vec![0; nodes.len()];
    let needed = (0..nodes.len()).filter(|&wire| is_needed[wire]);
    needed.flat_map(reads).chain(outputs.iter().copied()).for_each(|wire| uses[wire] += 1);
    let is_covered = |wire: Wire| matches!(nodes[wire], Node::Gate(_)) && !is_apart(wire);
    cover(nodes.len(), reads, |wire, reader| {
        let is_for_it = uses[wire] == 1 && is_needed[reader];
        (is_for_it && is_covered(wire) && is_covered(reader)).then_some(wire)
    })
}

/// A recording as functions of three inputs, and sums with key planes, which machines may have another unit for: those
/// for which not all that reads them has room.
#[must_use]
pub fn in_lookups(recording: &Recording) -> Recording {
    let mut graph = Graph::new();
    let inputs = graph.sources(Node::Input, recording.outputs().len());
    let keys = graph.sources(Node::Key, recording.keys());
    let outputs = graph.inline(recording, &inputs, &keys);
    let nodes = graph.nodes();
    let is_key = |wire: Wire| matches!(nodes[wire], Node::Key(_));
    let is_key_sum =
        |wire: Wire| matches!(nodes[wire], Node::Gate(Gate::Xor(a, b)) if is_key(a) != is_key(b));
    let readers = cover_graph(&graph, &outputs, is_key_sum);
    let mut lookups =
        Lookups { graph: &graph, is_part: readers.iter().map(Option::is_some).collect() };
    lookups.take_in(&outputs, is_key_sum);
    lookups.recording(&outputs, is_key_sum)
}

/// A graph of which some gates are part of those that read them.
struct Lookups<'a> {
    graph: &'a Graph,
    is_part: Vec<bool>,
}

impl Lookups<'_> {
    /// What a gate reads, with the gates that are part of it.
    fn inputs(&self, wire: Wire) -> BTreeSet<Wire> {
        let read = operands(self.graph.nodes()[wire]).into_iter();
        let inputs =
            |wire| if self.is_part[wire] { self.inputs(wire) } else { BTreeSet::from([wire]) };
        read.flat_map(inputs).collect()
    }

    /// Whether each wire has a statement of its own.
    fn is_alone(&self, outputs: &[Wire]) -> Vec<bool> {
        let is_needed = self.graph.cone(outputs);
        let is_gate = |wire: Wire| matches!(self.graph.nodes()[wire], Node::Gate(_));
        let is_alone = |wire: Wire| is_needed[wire] && is_gate(wire) && !self.is_part[wire];
        (0..is_needed.len()).map(is_alone).collect()
    }

    /// Makes sums with keys part of what reads them, where all that does has room.
    fn take_in(&mut self, outputs: &[Wire], is_key_sum: impl Fn(Wire) -> bool) {
        let is_alone = self.is_alone(outputs);
        for sum in (0..is_alone.len()).filter(|&wire| is_alone[wire] && is_key_sum(wire)) {
            let mut readers = (sum..is_alone.len()).filter(|&reader| is_alone[reader]);
            let has_room = |reader: Wire| {
                let mut inputs = self.inputs(reader);
                let reads = inputs.remove(&sum);
                inputs.extend(self.inputs(sum));
                !reads || !is_key_sum(reader) && inputs.len() <= 3
            };
            if !outputs.contains(&sum) && readers.all(has_room) {
                self.is_part[sum] = true;
            }
        }
    }

    fn recording(&self, outputs: &[Wire], is_key_sum: impl Fn(Wire) -> bool) -> Recording {
        let mut graph = Graph::new();
        let zero = graph.add(Node::Constant(false));
        let is_alone = self.is_alone(outputs);
        let mut images: Vec<Wire> = Vec::with_capacity(is_alone.len());
        for (wire, &node) in self.graph.nodes().iter().enumerate() {
            images.push(match node {
                Node::Gate(Gate::Xor(..)) if is_alone[wire] && is_key_sum(wire) => {
                    graph.add(node.map(|operand| images[operand]))
                }
                Node::Gate(_) if is_alone[wire] => {
                    let inputs: Vec<Wire> = self.inputs(wire).into_iter().collect();
                    let table = self.table(wire, &inputs) as u8;
                    let image = |i: usize| inputs.get(i).map_or(zero, |&input| images[input]);
                    graph.gate(Gate::Lut(table, [image(0), image(1), image(2)]))
                }
                Node::Gate(_) => zero,
                source => graph.add(source),
            });
        }
        Recording::new(
            graph.nodes().to_vec(),
            outputs.iter().map(|&output| images[output]).collect(),
        )
    }

    /// What a wire is for all values of at most three inputs.
    fn table(&self, wire: Wire, inputs: &[Wire]) -> u64 {
        let place = inputs.iter().position(|&input| input == wire);
        match (place, self.graph.nodes()[wire]) {
            (Some(place), _) => [0xf0, 0xcc, 0xaa][place],
            (None, Node::Gate(gate)) => evaluate_gate(gate, |operand| self.table(operand, inputs)),
            (None, _) => 0,
        }
    }
}
