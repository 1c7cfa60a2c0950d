//! Start circuits of small tables by Kwan's recursive construction (Reducing the Gate Count of
//! Bitslice DES, 2000), every choice by lot.

use crate::column::{Column, and, is_zero, not, xor};
use crate::network::{Network, Node};
use crate::prove::variable_word;
use crate::question::Question;
use crate::random::SplitMix64;

/// A network of gates with `arity` operands that computes `outputs`.
///
/// Output after output: a wire or a gate of earlier wires that agrees with the target where that
/// matters, or else the target for either value of an input, each half a smaller problem, and a
/// choice between them.
pub(crate) fn construct<const N: usize>(
    inputs: usize,
    outputs: &[Column<N>],
    arity: usize,
    random: &mut SplitMix64,
) -> Network<N> {
    let mut columns: Vec<Column<N>> = Vec::new();
    columns.extend((0..inputs).map(|i| core::array::from_fn(|word| variable_word(i, word))));
    let network = Network { inputs, nodes: Vec::new(), outputs: Vec::new(), columns };
    let mut construction = Construction { network, arity, random };
    let mut wires = vec![0; outputs.len()];
    for index in construction.shuffled(outputs.len()) {
        let problem = Problem { target: outputs[index], care: [u64::MAX; N], used: 0 };
        // Without a limit there is always a wire: with all inputs used one row is left to agree on.
        wires[index] = construction.build(problem, usize::MAX).unwrap_or(0);
    }
    let mut network = construction.network;
    network.outputs = wires;
    network.tidy();
    network
}

/// Pairs of wires that are tried for two gates at once.
const PAIRS: usize = 30;

/// What is to be built.
#[derive(Clone, Copy)]
struct Problem<const N: usize> {
    target: Column<N>,
    /// The inputs for which the result must be the target.
    care: Column<N>,
    /// The inputs, as a mask, that choices above this problem are made by.
    used: u32,
}

struct Construction<'a, const N: usize> {
    network: Network<N>,
    arity: usize,
    random: &'a mut SplitMix64,
}

impl<const N: usize> Construction<'_, N> {
    /// The numbers below `count` in an order by lot.
    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.random.below(last + 1));
        }
        order
    }

    fn push(&mut self, node: Node) -> usize {
        self.network.columns.push(Network::column_of(node, &self.network.columns));
        self.network.nodes.push(node);
        self.network.columns.len() - 1
    }

    /// A wire that solves the problem; `None` when that would take more than `limit` nodes in all.
    ///
    /// Where no gate does, every input is tried for the choice and the smallest result is kept.
    fn build(&mut self, problem: Problem<N>, limit: usize) -> Option<usize> {
        let Problem { target, care, used } = problem;
        let columns = &self.network.columns;
        let agrees = |&wire: &usize| is_zero(and(care, xor(columns[wire], target)));
        if let Some(wire) = (0..columns.len()).find(agrees) {
            return Some(wire);
        }
        if self.network.nodes.len() >= limit {
            return None;
        }
        if let Some(wire) = self.one_or_two_gates(target, care, limit) {
            return Some(wire);
        }
        let before = self.network.nodes.len();
        let mut best: Option<(Vec<Node>, usize)> = None;
        for input in self.shuffled(self.network.inputs) {
            if used >> input & 1 != 0 {
                continue;
            }
            // A later input must save a node.
            let limit = best.as_ref().map_or(limit, |(nodes, _)| before + nodes.len() - 1);
            let found = self.choose(problem, input, limit);
            let nodes = self.network.nodes.split_off(before);
            self.network.columns.truncate(self.network.inputs + before);
            if let Some(wire) = found {
                best = Some((nodes, wire));
            }
        }
        let (nodes, wire) = best?;
        for node in nodes {
            self.push(node);
        }
        Some(wire)
    }

    /// A gate of existing wires that agrees with the target, by lot among all; or a gate of a few
    /// pairs of wires, taken by lot, and of one more gate.
    fn one_or_two_gates(
        &mut self,
        target: Column<N>,
        care: Column<N>,
        limit: usize,
    ) -> Option<usize> {
        let count = self.network.columns.len();
        let question = Question::new(target, care, (0..count).collect(), self.arity);
        if let Some(node) = question.any_answer(&self.network.columns, self.random) {
            return Some(self.push(node));
        }
        let tries = if self.network.nodes.len() + 2 > limit { 0 } else { PAIRS };
        for _ in 0..tries {
            let [a, b] = question.random_pair(self.random);
            let polarity = self.random.below(16);
            let (table, inner) = question.split(&self.network.columns, [a, b], polarity);
            if let Some(node) = inner.any_answer(&self.network.columns, self.random) {
                let new = self.push(node);
                return Some(self.push(Node { table, operands: [a, b, new] }));
            }
        }
        None
    }

    /// The target from its two halves: a lookup of both, or `zero ^ (input & difference)`.
    fn choose(&mut self, problem: Problem<N>, input: usize, limit: usize) -> Option<usize> {
        let Problem { target, care, used } = problem;
        let side = self.network.columns[input];
        let used = used | 1 << input;
        let own = if self.arity > 2 { 1 } else { 2 };
        let limit = limit.checked_sub(own)?;
        let zero = self.build(Problem { target, care: and(care, not(side)), used }, limit)?;
        let care = and(care, side);
        if self.arity > 2 {
            let one = self.build(Problem { target, care, used }, limit)?;
            return self
                .fits(limit)
                .then(|| self.push(Node { table: 0xCA, operands: [input, one, zero] }));
        }
        let target = xor(target, self.network.columns[zero]);
        let difference = self.build(Problem { target, care, used }, limit)?;
        self.fits(limit).then(|| {
            let masked = self.push(Node { table: 0xC0, operands: [input, difference, difference] });
            self.push(Node { table: 0x3C, operands: [zero, masked, masked] })
        })
    }

    fn fits(&self, limit: usize) -> bool {
        self.network.nodes.len() <= limit
    }
}
