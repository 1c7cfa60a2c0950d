//! The question to the solver: do two wires of a graph ever differ?

use std::{
    collections::{HashMap, HashSet},
    sync::{LazyLock, Mutex},
};

use cadical::Solver;
use lanecrypt_circuit::{
    Gate, Wire,
    graph::{Graph, operands},
};
use lanecrypt_slicing::record::Node;

use crate::normal::{Literal, Replaced};

/// What is known of a graph when a question is asked.
pub(crate) struct Known<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) replaced: &'a Replaced,
    /// Wires that may be taken as free: what holds for any value of theirs holds for those that they have.
    pub(crate) cuts: &'a HashSet<Wire>,
}

/// Values of sources for which two wires differ.
pub(crate) type Example = HashMap<Node, bool>;

impl Known<'_> {
    /// Values for which `wire` is not `other`; `None` is the proof that it always is.
    pub(crate) fn difference(&self, wire: Wire, other: Literal) -> Option<Example> {
        let free = self.ask(wire, other, self.cuts);
        match free {
            None => None,
            // Free points may have values that they never have.
            Some(_) => self.ask(wire, other, &HashSet::new()),
        }
    }

    fn ask(&self, wire: Wire, (other, is_turned): Literal, cut: &HashSet<Wire>) -> Option<Example> {
        let mut cone =
            Cone { known: self, cut, variables: HashMap::new(), clauses: Vec::new(), count: 0 };
        let (a, b) = (cone.opened(wire), cone.opened(other));
        let b = if is_turned { -b } else { b };
        cone.add_clause(&[a, b]);
        cone.add_clause(&[-a, -b]);
        let refuted =
            REFUTED.lock().expect("no thread panics with the lock").contains(&cone.clauses);
        if refuted {
            return None;
        }
        let mut solver: Solver = Solver::new();
        for clause in
            cone.clauses.split(|literal| *literal == 0).filter(|clause| !clause.is_empty())
        {
            solver.add_clause(clause.iter().copied());
        }
        match solver.solve() {
            Some(false) => {
                REFUTED.lock().expect("no thread panics with the lock").insert(cone.clauses);
                None
            }
            answer => {
                assert_eq!(answer, Some(true), "the solver has no limit");
                Some(cone.example(&solver))
            }
        }
    }
}

/// Formulas without a solution, clause by clause, each ended by a zero. Variables are numbered in the order in which
/// they are met, so that all copies of an S-box ask the same.
static REFUTED: LazyLock<Mutex<HashSet<Vec<i32>>>> = LazyLock::new(Mutex::default);

/// How many different formulas were found to have no solution.
pub(crate) fn formulas() -> usize {
    REFUTED.lock().expect("no thread panics with the lock").len()
}

/// What two wires depend on, as clauses.
struct Cone<'a> {
    known: &'a Known<'a>,
    cut: &'a HashSet<Wire>,
    variables: HashMap<Wire, i32>,
    clauses: Vec<i32>,
    count: i32,
}

impl Cone<'_> {
    /// The variable of a wire, whatever is known of it: by what it is made of.
    fn opened(&mut self, wire: Wire) -> i32 {
        if let Some(&variable) = self.variables.get(&wire) {
            return variable;
        }
        let node = self.known.graph.nodes()[wire];
        let inputs: Vec<i32> = match node {
            Node::Gate(_) => operands(node).into_iter().map(|wire| self.literal(wire)).collect(),
            _ => Vec::new(),
        };
        self.count += 1;
        let variable = self.count;
        self.variables.insert(wire, variable);
        match node {
            Node::Constant(is_set) => {
                self.add_clause(&[if is_set { variable } else { -variable }]);
            }
            Node::Gate(gate) => self.add_gate(variable, &inputs, &table(gate)),
            _ => {}
        }
        variable
    }

    fn literal(&mut self, wire: Wire) -> i32 {
        if let Some(&(other, is_turned)) = self.known.replaced.get(&wire) {
            let literal = self.literal(other);
            return if is_turned { -literal } else { literal };
        }
        if !self.cut.contains(&wire) {
            return self.opened(wire);
        }
        let next = self.count + 1;
        let variable = *self.variables.entry(wire).or_insert(next);
        self.count = self.count.max(variable);
        variable
    }

    /// The output is what the table says: a clause for every way to fix as few inputs as settle it.
    fn add_gate(&mut self, output: i32, inputs: &[i32], table: &[bool]) {
        for (fixed, values) in implicants(table) {
            let value = table[values];
            let literals = inputs.iter().enumerate().filter(|(i, _)| fixed >> i & 1 == 1);
            let mut clause: Vec<i32> = literals
                .map(|(i, &input)| if values >> i & 1 == 1 { -input } else { input })
                .collect();
            clause.push(if value { output } else { -output });
            self.add_clause(&clause);
        }
    }

    fn add_clause(&mut self, clause: &[i32]) {
        self.clauses.extend(clause);
        self.clauses.push(0);
    }

    fn example(&self, solver: &Solver) -> Example {
        let nodes = self.known.graph.nodes();
        let sources = self
            .variables
            .iter()
            .filter(|(wire, _)| !matches!(nodes[**wire], Node::Gate(_) | Node::Constant(_)));
        let value = |variable| solver.value(variable).unwrap_or(false);
        sources.map(|(&wire, &variable)| (nodes[wire], value(variable))).collect()
    }
}

/// The table of a gate: entry `i` for inputs of which the first is bit 0 of `i`.
fn table(gate: Gate) -> Vec<bool> {
    match gate {
        Gate::Xor(..) => vec![false, true, true, false],
        Gate::And(..) => vec![false, false, false, true],
        Gate::Or(..) => vec![false, true, true, true],
        Gate::Not(_) => vec![true, false],
        Gate::Lut(table, _) => {
            let index = |i: usize| (i & 1) << 2 | i & 2 | i >> 2 & 1;
            (0..8).map(|i| table >> index(i) & 1 == 1).collect()
        }
    }
}

/// The sets of inputs, and values of theirs, that settle the output and of which none can be left out.
fn implicants(table: &[bool]) -> Vec<(usize, usize)> {
    let all = 0..table.len();
    let settles = |fixed: usize, values: usize| {
        let mut rows = all.clone().filter(|row| row & fixed == values);
        rows.all(|row| table[row] == table[values])
    };
    let is_prime = |fixed: usize, values: usize| {
        let mut bits = [1, 2, 4].into_iter().filter(|bit| fixed & bit != 0);
        bits.all(|bit| !settles(fixed & !bit, values & !bit))
    };
    let pairs = all.clone().flat_map(|fixed| all.clone().map(move |values| (fixed, values)));
    pairs
        .filter(|&(fixed, values)| values & !fixed == 0)
        .filter(|&(fixed, values)| settles(fixed, values) && is_prime(fixed, values))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function of three bits against the sum of its products, and against one that differs in one entry.
    #[test]
    fn what_differs_in_one_entry_is_found_and_what_does_not_is_proved() {
        for number in 0..=255u8 {
            let mut graph = Graph::new();
            let inputs = [0, 1, 2].map(|number| graph.add(Node::Input(number)));
            let lut = graph.gate(Gate::Lut(number, inputs));
            let wrong = graph.gate(Gate::Lut(number ^ 1 << (number % 8), inputs));
            let mut sum = graph.add(Node::Constant(false));
            for row in (0..8).filter(|row| number >> row & 1 == 1) {
                let literals = [4, 2, 1].map(|bit| {
                    let input = inputs[2 - usize::ilog2(bit) as usize];
                    if row & bit == 0 { graph.gate(Gate::Not(input)) } else { input }
                });
                let two = graph.gate(Gate::And(literals[0], literals[1]));
                let three = graph.gate(Gate::And(two, literals[2]));
                sum = graph.gate(Gate::Or(sum, three));
            }
            let (replaced, points) = (HashMap::new(), HashSet::from([sum]));
            let known = Known { graph: &graph, replaced: &replaced, cuts: &points };
            assert_eq!(known.difference(lut, (sum, false)), None);
            assert!(known.difference(lut, (sum, true)).is_some());
            let example = known.difference(wrong, (sum, false)).expect("one entry differs");
            let row = (0..3).fold(0, |row, i| row << 1 | u8::from(example[&Node::Input(i)]));
            assert_eq!(row, number % 8);
        }
    }
}
