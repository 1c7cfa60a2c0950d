//! The random walk through networks of the same function.
//!
//! Every wire of an S-box on at most eight bits is a column of 256 bits, so questions about a
//! network are answered by looking at all inputs. The walk takes a gate, finds the inputs for which
//! its value reaches an output at all (its care set), lists *all* pairs and triples of other wires
//! of which some gate agrees with it on that set, and puts one of those in its place, preferring
//! one that leaves most gates without a reader. No such step makes the network larger, and the many
//! that leave the size alone carry the walk to places where one makes it smaller. A second kind of
//! step splits a gate in two, which may cost a gate and is then taken only within a small allowance
//! over the best size.

use crate::column::{contains, or, size};
use crate::network::{Network, Node, Replacement};
use crate::question::Question;
use crate::random::SplitMix64;

/// What a walk may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Operands of a gate: three for lookups, two for ordinary gates.
    pub(crate) arity: usize,
    /// Whether entries of a table that no input reaches are set by lot: another function of the
    /// inputs that do not matter, and so other ways to go on.
    pub(crate) vary: bool,
    /// By how many gates a split may exceed the best, now and then.
    pub(crate) allowance: u32,
    /// How seldom: once in this number of times.
    pub(crate) chance: usize,
}

/// The random walk.
pub(crate) struct Walk<const N: usize> {
    random: SplitMix64,
    rules: Rules,
    pub(crate) current: Network<N>,
    pub(crate) best: Network<N>,
}

impl<const N: usize> Walk<N> {
    pub(crate) fn new(network: Network<N>, rules: Rules, seed: u64) -> Self {
        let random = SplitMix64::new(seed);
        Self { random, rules, best: network.clone(), current: network }
    }

    /// One step: a gate taken by lot is replaced, mostly by one lookup, sometimes by two.
    pub(crate) fn step(&mut self) {
        if self.current.nodes.is_empty() {
            return;
        }
        let wire = self.current.inputs + self.random.below(self.current.nodes.len());
        let (care, readers) = self.current.care_and_readers(wire);
        let candidates =
            (0..self.current.columns.len()).filter(|&other| !contains(&readers, other));
        let question =
            Question::new(self.current.columns[wire], care, candidates.collect(), self.rules.arity);
        if self.random.below(4) == 0 {
            self.split(wire, &question);
        } else {
            self.substitute(wire, &question);
        }
        if self.current.nodes.len() < self.best.nodes.len() {
            self.best = self.current.clone();
        }
    }

    /// Replaces a gate by another lookup that frees as many gates as any.
    fn substitute(&mut self, wire: usize, question: &Question<N>) {
        let old = self.current.nodes[wire - self.current.inputs].operands;
        let is_output = self.current.outputs.contains(&wire);
        let cones = self.current.freed_cones(wire);
        let mut best: Option<(u32, Node)> = None;
        let mut ties = 0;
        let random = &mut self.random;
        question.answers(&self.current.columns, |node| {
            let [a, b, c] = node.operands;
            let single = a == b && (node.table == 0x80 || node.table == 0x01 && !is_output);
            let kept = size(or(or(cones[a], cones[b]), cones[c]));
            let cost = if single { kept } else { kept + 1 };
            let same = node.operands.iter().all(|operand| old.contains(operand));
            let better = best.is_none_or(|(least, _)| cost < least);
            if (same && !single) || (!better && best.is_some_and(|(least, _)| cost > least)) {
                return;
            }
            ties = if better { 1 } else { ties + 1 };
            if better || random.below(ties) == 0 {
                best = Some((cost, node));
            }
        });
        let Some((_, node)) = best else { return };
        let node = self.varied(node, question);
        let [a, b, _] = node.operands;
        if a == b && (node.table == 0x80 || node.table == 0x01 && !is_output) {
            self.current.redirect(wire, a, node.table == 0x01);
            self.current.tidy();
        } else {
            self.current.replace(wire, Replacement { node, inner: None });
        }
    }

    /// The same lookup with the entries that nothing depends on set by lot.
    fn varied(&mut self, node: Node, question: &Question<N>) -> Node {
        let [a, b, _] = node.operands;
        if !self.rules.vary || a == b {
            return node;
        }
        let free = question.free_entries(node.operands.map(|wire| self.current.columns[wire]));
        Node { table: node.table ^ free & self.random.below(256) as u8, ..node }
    }

    /// Replaces a gate by a lookup of two wires, taken by lot, and a new lookup.
    fn split(&mut self, wire: usize, question: &Question<N>) {
        let [a, b] = question.random_pair(&mut self.random);
        let polarity = self.random.below(16);
        let (table, inner) = question.split(&self.current.columns, [a, b], polarity);
        self.try_split(wire, table, [a, b], &inner);
    }

    /// Looks for the new lookup of a split, and takes the best if the size allows.
    fn try_split(&mut self, wire: usize, table: u8, [a, b]: [usize; 2], inner: &Question<N>) {
        let cones = self.current.freed_cones(wire);
        let outer = or(cones[a], cones[b]);
        let mut best: Option<(u32, Node)> = None;
        let mut ties = 0;
        let random = &mut self.random;
        inner.answers(&self.current.columns, |node| {
            let cost = size(node.operands.iter().fold(outer, |sum, &o| or(sum, cones[o])));
            if best.is_some_and(|(least, _)| cost > least) {
                return;
            }
            ties = if best.is_some_and(|(least, _)| cost == least) { ties + 1 } else { 1 };
            if random.below(ties) == 0 {
                best = Some((cost, node));
            }
        });
        let Some((cost, node)) = best else { return };
        let node = self.varied(node, inner);
        let before = self.current.nodes.len() as u32;
        let after = before + 2 + cost - size(cones[wire]);
        let allowance =
            if self.random.below(self.rules.chance) == 0 { self.rules.allowance } else { 0 };
        if after <= before.max(self.best.nodes.len() as u32 + allowance) {
            let new = self.current.columns.len();
            let node =
                Replacement { node: Node { table, operands: [a, b, new] }, inner: Some(node) };
            self.current.replace(wire, node);
        }
    }
}
