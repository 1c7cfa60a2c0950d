//! A circuit as a network of three-input lookups over columns of its truth table: what can be asked
//! of it, and what can be changed in it.

use crate::Error;
use crate::column::{
    Column, MAXIMUM_WIRES, WireSet, contains, insert, map2, maximum_inputs, not, or,
};
use crate::program::{Assembly, Gate, Program};
use crate::prove::{lookup, variable_word};

/// A lookup and its three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) table: u8,
    pub(crate) operands: [usize; 3],
}

impl Node {
    /// The same function without operands that do not matter: those repeat one that does.
    pub(crate) fn without_idle_operands(self) -> Self {
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
pub(crate) const LOW_HALF: [u8; 3] = [0x55, 0x33, 0x0F];

/// A network of lookups: wires are the inputs, then the nodes, each after its operands.
#[derive(Clone, Debug)]
pub(crate) struct Network<const N: usize> {
    pub(crate) inputs: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) columns: Vec<Column<N>>,
}

/// What replaces a node: a lookup of other wires, or (in `inner`) a lookup over a new lookup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replacement {
    pub(crate) node: Node,
    /// A new node that `node` names as the wire after the last.
    pub(crate) inner: Option<Node>,
}

impl<const N: usize> Network<N> {
    /// The same gates as lookups.
    pub(crate) fn from_program(program: &Program) -> Result<Self, Error> {
        let inputs = program.inputs().len();
        let most = maximum_inputs::<N>();
        if inputs > most || inputs + program.statements().len() > MAXIMUM_WIRES - 6 {
            let shape = format!("a lookup network has at most {most} inputs and 250 wires");
            return Err(Error::Shape(shape));
        }
        let node = |gate| match gate {
            Gate::Xor(a, b) => Node { table: 0x3C, operands: [a, b, b] },
            Gate::And(a, b) => Node { table: 0xC0, operands: [a, b, b] },
            Gate::Or(a, b) => Node { table: 0xFC, operands: [a, b, b] },
            Gate::Not(a) => Node { table: 0x0F, operands: [a, a, a] },
            Gate::Lut(table, operands) => Node { table, operands },
        };
        let nodes = program.statements().iter().map(|statement| node(statement.gate)).collect();
        let mut network =
            Self { inputs, nodes, outputs: program.output_wires().to_vec(), columns: Vec::new() };
        network.tidy();
        Ok(network)
    }

    /// Drops nodes that no output needs, brings the others into order and computes the columns.
    pub(crate) fn tidy(&mut self) {
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

    pub(crate) fn column_of(node: Node, columns: &[Column<N>]) -> Column<N> {
        let [a, b, c] = node.operands.map(|operand| columns[operand]);
        core::array::from_fn(|word| lookup(node.table, a[word], b[word], c[word]))
    }

    /// The inputs for which complementing `wire` changes an output, and the wires that read it,
    /// directly or not, itself included.
    pub(crate) fn care_and_readers(&self, wire: usize) -> (Column<N>, WireSet) {
        let mut readers = [0; 4];
        insert(&mut readers, wire);
        let mut changed = self.columns.clone();
        changed[wire] = not(changed[wire]);
        for index in wire + 1 - self.inputs..self.nodes.len() {
            let node = self.nodes[index];
            if node.operands.iter().any(|&operand| contains(&readers, operand)) {
                insert(&mut readers, self.inputs + index);
                changed[self.inputs + index] = Self::column_of(node, &changed);
            }
        }
        let differs = |&output: &usize| map2(self.columns[output], changed[output], |a, b| a ^ b);
        let care = self.outputs.iter().map(differs).fold([0; N], or);
        (care, readers)
    }

    /// For each wire, the nodes that would have no reader without `root`, as far as they are needed
    /// by that wire; empty for wires that others read.
    pub(crate) fn freed_cones(&self, root: usize) -> Vec<WireSet> {
        let mut reads = vec![0u32; self.columns.len()];
        self.outputs.iter().for_each(|&output| reads[output] += 1);
        let operands = self.nodes.iter().flat_map(|node| node.operands);
        operands.for_each(|operand| reads[operand] += 1);
        let mut freed: WireSet = [0; 4];
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
                cones[wire] = operands.iter().fold([0; 4], |sum, &o| or(sum, cones[o]));
                insert(&mut cones[wire], wire);
            }
        }
        cones
    }

    /// Lets every reader of `wire` read `other` instead, complemented if so asked.
    pub(crate) fn redirect(&mut self, wire: usize, other: usize, complement: bool) {
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

    /// Puts a replacement in the place of a gate.
    pub(crate) fn replace(&mut self, wire: usize, replacement: Replacement) {
        self.nodes[wire - self.inputs] = replacement.node;
        self.nodes.extend(replacement.inner);
        self.tidy();
    }

    /// The network as a program of lookups, with these names of inputs and outputs.
    pub(crate) fn to_program(
        &self,
        [inputs, outputs]: [&[String]; 2],
        name: &str,
        notes: &[(&str, &str)],
    ) -> Result<Program, Error> {
        let gate = |node: &Node| Gate::Lut(node.table, node.operands);
        let gates: Vec<_> = self.nodes.iter().map(gate).collect();
        let copy = |wire| Gate::Lut(0xF0, [wire; 3]);
        let output_wires = &self.outputs;
        Assembly { inputs, outputs, gates: &gates, output_wires, copy }.finish(name, notes)
    }
}
