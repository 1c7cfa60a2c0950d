//! Three-input lookups: a circuit as a network of `lop3` / `vpternlog` gates, made small by a
//! seeded random search.
//!
//! Every wire of an S-box on at most eight bits is a column of 256 bits, so questions about a
//! network are answered by looking at all inputs. The search takes a gate, finds the inputs for
//! which its value reaches an output at all (its care set), lists *all* triples of other wires of
//! which some lookup agrees with the gate on that set, and puts one of those in its place,
//! preferring one that leaves most gates without a reader. No such step makes the network larger,
//! and the many that leave the size alone carry the walk to places where one makes it smaller.
//! A second kind of step splits a gate into two lookups, which may cost a gate and is then taken
//! only within a small allowance over the best size.

use crate::Error;
use crate::program::{Builder, Operation, Program};
use crate::prove::{lookup, variable_word};
use crate::random::SplitMix64;

/// A column of the truth table over at most eight variables; also used as a set of 256 wires.
type Column = [u64; 4];

/// The most wires a network may have, because a set of wires is one [`Column`].
const MAXIMUM_WIRES: usize = 256;

fn map2(a: Column, b: Column, f: impl Fn(u64, u64) -> u64) -> Column {
    core::array::from_fn(|word| f(a[word], b[word]))
}

fn is_zero(column: Column) -> bool {
    column == [0; 4]
}

fn contains(set: &Column, wire: usize) -> bool {
    set[wire / 64] >> (wire % 64) & 1 != 0
}

fn insert(set: &mut Column, wire: usize) {
    set[wire / 64] |= 1 << (wire % 64);
}

fn size(set: Column) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// How long to search, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of steps; some thousands run in a second.
    pub steps: u64,
}

/// A lookup and its three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    table: u8,
    operands: [usize; 3],
}

impl Node {
    /// The same function without operands that do not matter: those repeat one that does.
    fn without_idle_operands(self) -> Self {
        let matters = |position: usize| {
            let bit = 2 - position;
            ((self.table >> (1 << bit)) ^ self.table) & LOW_HALF[bit] != 0
        };
        let Some(essential) = (0..3).find(|&position| matters(position)) else {
            return self;
        };
        let kept = |position| {
            if matters(position) { position } else { essential }
        };
        let operands = core::array::from_fn(|position| self.operands[kept(position)]);
        Self { operands, ..self }
    }
}

/// The entries of a table at which operand bit 0, 1 or 2 is zero.
const LOW_HALF: [u8; 3] = [0x55, 0x33, 0x0F];

/// A network of lookups: wires are the inputs, then the nodes, each after its operands.
#[derive(Clone, Debug)]
struct Network {
    inputs: usize,
    nodes: Vec<Node>,
    outputs: Vec<usize>,
    columns: Vec<Column>,
}

/// What replaces a node: a lookup of other wires, or (in `inner`) a lookup over a new lookup.
#[derive(Clone, Copy, Debug)]
struct Replacement {
    node: Node,
    /// A new node that `node` names as the wire after the last.
    inner: Option<Node>,
}

/// Maps a program to three-input lookups and searches for a small network.
///
/// The result computes the same function; its header names it `name` and carries `notes`.
///
/// # Errors
/// [`Error::Shape`] for more than 8 inputs, or more than 250 wires.
pub fn map(
    program: &Program,
    name: &str,
    notes: &[(&str, &str)],
    effort: Effort,
) -> Result<Program, Error> {
    let mut search = Search::new(Network::from_program(program)?, effort.seed);
    for _ in 0..effort.steps {
        search.step();
    }
    search.best.to_program(program, name, notes)
}

impl Network {
    fn from_program(program: &Program) -> Result<Self, Error> {
        let inputs = program.inputs().len();
        if inputs > 8 || inputs + program.gates().len() > MAXIMUM_WIRES - 6 {
            return Err(Error::Shape("a lookup network has at most 8 inputs and 250 wires".into()));
        }
        let node = |operation| match operation {
            Operation::Xor(a, b) => Node { table: 0x3C, operands: [a, b, b] },
            Operation::And(a, b) => Node { table: 0xC0, operands: [a, b, b] },
            Operation::Or(a, b) => Node { table: 0xFC, operands: [a, b, b] },
            Operation::Not(a) => Node { table: 0x0F, operands: [a, a, a] },
            Operation::Lut(table, operands) => Node { table, operands },
        };
        let nodes = program.gates().iter().map(|gate| node(gate.operation)).collect();
        let mut network =
            Self { inputs, nodes, outputs: program.output_wires().to_vec(), columns: Vec::new() };
        network.tidy();
        Ok(network)
    }

    /// Drops nodes that no output needs, brings the others into order and computes the columns.
    fn tidy(&mut self) {
        let mut placed = vec![None; self.inputs + self.nodes.len()];
        for (input, place) in placed.iter_mut().enumerate().take(self.inputs) {
            *place = Some(input);
        }
        let mut nodes = Vec::with_capacity(self.nodes.len());
        let mut stack: Vec<usize> = self.outputs.iter().rev().copied().collect();
        while let Some(&wire) = stack.last() {
            if placed[wire].is_some() {
                stack.pop();
                continue;
            }
            let Node { table, operands } = self.nodes[wire - self.inputs];
            let waiting = stack.len();
            stack.extend(operands.iter().filter(|&&operand| placed[operand].is_none()));
            if stack.len() == waiting {
                let operands = operands.map(|operand| placed[operand].unwrap_or(0));
                nodes.push(Node { table, operands });
                placed[wire] = Some(self.inputs + nodes.len() - 1);
            }
        }
        self.nodes = nodes;
        for output in &mut self.outputs {
            *output = placed[*output].unwrap_or(0);
        }
        self.compute_columns();
    }

    fn compute_columns(&mut self) {
        self.columns = (0..self.inputs)
            .map(|input| core::array::from_fn(|word| variable_word(input, word)))
            .collect();
        for index in 0..self.nodes.len() {
            let column = Self::column_of(self.nodes[index], &self.columns);
            self.columns.push(column);
        }
    }

    fn column_of(node: Node, columns: &[Column]) -> Column {
        let [a, b, c] = node.operands.map(|operand| columns[operand]);
        core::array::from_fn(|word| lookup(node.table, a[word], b[word], c[word]))
    }

    /// The inputs for which complementing `wire` changes an output, and the wires that read it,
    /// directly or not, itself included.
    fn care_and_readers(&self, wire: usize) -> (Column, Column) {
        let mut readers = [0; 4];
        insert(&mut readers, wire);
        let mut changed = self.columns.clone();
        changed[wire] = changed[wire].map(|word| !word);
        for index in wire + 1 - self.inputs..self.nodes.len() {
            let node = self.nodes[index];
            if node.operands.iter().any(|&operand| contains(&readers, operand)) {
                insert(&mut readers, self.inputs + index);
                changed[self.inputs + index] = Self::column_of(node, &changed);
            }
        }
        let differs = |&output: &usize| map2(self.columns[output], changed[output], |a, b| a ^ b);
        let care =
            self.outputs.iter().map(differs).fold([0; 4], |sum, one| map2(sum, one, |a, b| a | b));
        (care, readers)
    }

    /// For each wire, the nodes that would have no reader without `root`, as far as they are needed
    /// by that wire; empty for wires that others read.
    fn freed_cones(&self, root: usize) -> Vec<Column> {
        let mut reads = vec![0u32; self.columns.len()];
        self.outputs.iter().for_each(|&output| reads[output] += 1);
        let operands = self.nodes.iter().flat_map(|node| node.operands);
        operands.for_each(|operand| reads[operand] += 1);
        let mut freed = [0; 4];
        let mut stack = vec![root];
        while let Some(wire) = stack.pop() {
            insert(&mut freed, wire);
            for operand in self.nodes[wire - self.inputs].operands {
                reads[operand] -= 1;
                if reads[operand] == 0 && operand >= self.inputs {
                    stack.push(operand);
                }
            }
        }
        let mut cones = vec![[0; 4]; self.columns.len()];
        for wire in self.inputs..self.columns.len() {
            if contains(&freed, wire) {
                let operands = self.nodes[wire - self.inputs].operands;
                cones[wire] =
                    operands.iter().fold([0; 4], |sum, &o| map2(sum, cones[o], |a, b| a | b));
                insert(&mut cones[wire], wire);
            }
        }
        cones
    }

    /// Lets every reader of `wire` read `other` instead, complemented if so asked.
    fn redirect(&mut self, wire: usize, other: usize, complement: bool) {
        for node in &mut self.nodes {
            for position in 0..3 {
                if node.operands[position] == wire {
                    node.operands[position] = other;
                    if complement {
                        let bit = 2 - position;
                        let (keep, shift) = (LOW_HALF[bit], 1 << bit);
                        node.table = (node.table & keep) << shift | node.table >> shift & keep;
                    }
                }
            }
        }
        for output in &mut self.outputs {
            if *output == wire {
                *output = other;
            }
        }
    }

    fn replace(&mut self, wire: usize, replacement: Replacement) {
        self.nodes[wire - self.inputs] = replacement.node;
        self.nodes.extend(replacement.inner);
        self.tidy();
    }

    fn to_program(
        &self,
        shape: &Program,
        name: &str,
        notes: &[(&str, &str)],
    ) -> Result<Program, Error> {
        let (inputs, outputs) = (shape.inputs().to_vec(), shape.outputs().to_vec());
        let mut builder = Builder::new(inputs.clone(), outputs.clone())?;
        let mut names: Vec<Option<&str>> = vec![None; self.columns.len()];
        for (&wire, output) in self.outputs.iter().zip(&outputs) {
            if wire >= self.inputs && names[wire].is_none() {
                names[wire] = Some(output);
            }
        }
        for (index, &Node { table, operands }) in self.nodes.iter().enumerate() {
            let temporary = format!("t{index}");
            let name = names[self.inputs + index].unwrap_or(&temporary);
            builder.push(name, Operation::Lut(table, operands))?;
        }
        for (&wire, output) in self.outputs.iter().zip(&outputs) {
            if names[wire] != Some(output.as_str()) {
                // An output that is an input, or the same as another output.
                builder.push(output, Operation::Lut(0xF0, [wire; 3]))?;
            }
        }
        builder.finish(name, notes)
    }
}

/// What a gate must compute, and from which wires.
struct Question {
    /// Inputs for which it must be one.
    on: Column,
    /// Inputs for which it must be zero.
    off: Column,
    /// The wires that may be operands.
    candidates: Vec<usize>,
    /// The word of the columns that tells the most triples apart.
    word: usize,
}

impl Question {
    fn new(target: Column, care: Column, candidates: Vec<usize>) -> Self {
        let (on, off) = (map2(target, care, |t, c| t & c), map2(target, care, |t, c| !t & c));
        let weight = |&word: &usize| on[word].count_ones().min(off[word].count_ones());
        let word = (0..4).max_by_key(weight).unwrap_or(0);
        Self { on, off, candidates, word }
    }

    /// The lookup of these operands that answers, if there is one.
    fn lookup_of(&self, operands: [Column; 3]) -> Option<u8> {
        let mut table = 0;
        for index in 0..8u8 {
            let (mut ones, mut zeros) = (0, 0);
            for (word, (on, off)) in self.on.iter().zip(self.off).enumerate() {
                let chosen = |position: usize| {
                    let value = operands[position][word];
                    if (index >> (2 - position)) & 1 != 0 { value } else { !value }
                };
                let cell = chosen(0) & chosen(1) & chosen(2);
                ones |= cell & on;
                zeros |= cell & off;
            }
            if ones != 0 {
                if zeros != 0 {
                    return None;
                }
                table |= 1 << index;
            }
        }
        Some(table)
    }

    /// Calls `found` for every lookup that answers: of one wire, of two (as `a b b`) or of three.
    fn answers(&self, columns: &[Column], mut found: impl FnMut(Node)) {
        for (position, &a) in self.candidates.iter().enumerate() {
            for (next, &b) in self.candidates.iter().enumerate().skip(position) {
                self.answers_of_pair(columns, [a, b], &self.candidates[next + 1..], &mut found);
            }
        }
    }

    /// The answer of a pair, or else those of the pair and one of `thirds`.
    fn answers_of_pair(
        &self,
        columns: &[Column],
        [a, b]: [usize; 2],
        thirds: &[usize],
        found: &mut impl FnMut(Node),
    ) {
        let word = self.word;
        let (one, two) = (columns[a][word], columns[b][word]);
        let cells = [one & two, one & !two, !one & two, !one & !two];
        let mut mixed = [(0, 0); 4];
        let mut count = 0;
        for (ones, zeros) in cells.map(|cell| (cell & self.on[word], cell & self.off[word])) {
            if ones != 0 && zeros != 0 {
                mixed[count] = (ones, zeros);
                count += 1;
            }
        }
        if count == 0
            && let Some(table) = self.lookup_of([columns[a], columns[b], columns[b]])
        {
            return found(Node { table, operands: [a, b, b] });
        }
        if a == b {
            return; // a third wire would make the pair that comes later
        }
        for &c in thirds {
            let three = columns[c][word];
            // In each cell the third wire must tell the ones from the zeros, one way or the other.
            let separates = |&(ones, zeros): &(u64, u64)| {
                (ones & three == 0 && zeros & !three == 0)
                    || (ones & !three == 0 && zeros & three == 0)
            };
            if mixed[..count].iter().all(separates)
                && let Some(table) = self.lookup_of([columns[a], columns[b], columns[c]])
            {
                let node = Node { table, operands: [a, b, c] };
                found(node.without_idle_operands());
            }
        }
    }
}

/// The random walk.
struct Search {
    random: SplitMix64,
    current: Network,
    best: Network,
}

impl Search {
    fn new(network: Network, seed: u64) -> Self {
        Self { random: SplitMix64::new(seed), best: network.clone(), current: network }
    }

    /// One step: a gate taken by lot is replaced, mostly by one lookup, sometimes by two.
    fn step(&mut self) {
        if self.current.nodes.is_empty() {
            return;
        }
        let wire = self.current.inputs + self.random.below(self.current.nodes.len());
        let (care, readers) = self.current.care_and_readers(wire);
        let candidates =
            (0..self.current.columns.len()).filter(|&other| !contains(&readers, other));
        let question = Question::new(self.current.columns[wire], care, candidates.collect());
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
    fn substitute(&mut self, wire: usize, question: &Question) {
        let old = self.current.nodes[wire - self.current.inputs].operands;
        let is_output = self.current.outputs.contains(&wire);
        let cones = self.current.freed_cones(wire);
        let mut best: Option<(u32, Node)> = None;
        let mut ties = 0;
        let random = &mut self.random;
        question.answers(&self.current.columns, |node| {
            let [a, b, c] = node.operands;
            let single = a == b && (node.table == 0x80 || node.table == 0x01 && !is_output);
            let kept = size(map2(map2(cones[a], cones[b], |x, y| x | y), cones[c], |x, y| x | y));
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
        let [a, b, _] = node.operands;
        if a == b && (node.table == 0x80 || node.table == 0x01 && !is_output) {
            self.current.redirect(wire, a, node.table == 0x01);
            self.current.tidy();
        } else {
            self.current.replace(wire, Replacement { node, inner: None });
        }
    }

    /// Replaces a gate by a lookup of two wires, taken by lot, and a new lookup.
    ///
    /// Where the two wires settle the gate's value the new one is free; elsewhere it is the gate's
    /// value or the complement, by lot for each of the four cases.
    fn split(&mut self, wire: usize, question: &Question) {
        let count = question.candidates.len();
        let [a, b] = [(); 2].map(|()| question.candidates[self.random.below(count)]);
        let (one, two) = (self.current.columns[a], self.current.columns[b]);
        let polarity = self.random.below(16);
        let (mut target, mut care, mut table) = ([0; 4], [0; 4], 0u8);
        for index in 0..4 {
            let side = |column: Column, bit: usize| {
                column.map(|word| if index & bit != 0 { word } else { !word })
            };
            let cell = map2(side(one, 2), side(two, 1), |x, y| x & y);
            let (ones, zeros) =
                (map2(cell, question.on, |x, y| x & y), map2(cell, question.off, |x, y| x & y));
            table |= match (is_zero(ones), is_zero(zeros)) {
                (false, false) => {
                    let turned = polarity >> index & 1 != 0;
                    target = map2(target, if turned { zeros } else { ones }, |x, y| x | y);
                    care = map2(care, map2(ones, zeros, |x, y| x | y), |x, y| x | y);
                    if turned { 1 } else { 2 }
                }
                (false, true) => 3,
                _ => 0,
            } << (2 * index);
        }
        let inner = Question::new(target, care, question.candidates.clone());
        self.try_split(wire, table, [a, b], &inner);
    }

    /// Looks for the new lookup of a split, and takes the best if the size allows.
    fn try_split(&mut self, wire: usize, table: u8, [a, b]: [usize; 2], inner: &Question) {
        let cones = self.current.freed_cones(wire);
        let outer = map2(cones[a], cones[b], |x, y| x | y);
        let mut best: Option<(u32, Node)> = None;
        let mut ties = 0;
        let random = &mut self.random;
        inner.answers(&self.current.columns, |node| {
            let kept =
                node.operands.iter().fold(outer, |sum, &o| map2(sum, cones[o], |x, y| x | y));
            let cost = size(kept);
            if best.is_some_and(|(least, _)| cost > least) {
                return;
            }
            ties = if best.is_some_and(|(least, _)| cost == least) { ties + 1 } else { 1 };
            if random.below(ties) == 0 {
                best = Some((cost, node));
            }
        });
        let Some((cost, node)) = best else { return };
        let before = self.current.nodes.len() as u32;
        let after = before + 2 + cost - size(cones[wire]);
        let allowance = if self.random.below(40) == 0 { 2 } else { 0 };
        if after <= before.max(self.best.nodes.len() as u32 + allowance) {
            let new = self.current.columns.len();
            let node =
                Replacement { node: Node { table, operands: [a, b, new] }, inner: Some(node) };
            self.current.replace(wire, node);
        }
    }
}
