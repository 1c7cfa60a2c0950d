//! Normal forms: what a wire is the sum of. Sums that are equal by the rules of exclusive or alone have the same.

use std::collections::HashMap;

use lanecrypt_circuit::{
    Gate, Wire,
    graph::{Graph, operands},
};
use lanecrypt_slicing::record::Node;

/// A wire, and whether its complement is meant.
pub(crate) type Literal = (Wire, bool);

/// Wires that are proved to be another one, or its complement.
pub(crate) type Replaced = HashMap<Wire, Literal>;

/// A sum by its number: equal sums have equal numbers.
pub(crate) type Sum = usize;

/// A term by its number.
type Term = usize;

/// What is not a sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Product {
    /// A node without operands, or a wire that stands for itself.
    Source(Wire),
    /// Of two sums in order, neither of which has the constant.
    And([Sum; 2]),
    /// Another function of three sums.
    Lut(u8, [Sum; 3]),
}

/// A set of terms in order, and whether one is added.
type Terms = (Vec<Term>, bool);

/// Values that occur, by number.
struct Numbered<T> {
    values: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Clone + Eq + core::hash::Hash> Numbered<T> {
    fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, value: T) -> usize {
        let next = self.values.len();
        let number = *self.numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }
}

/// The normal forms of the wires of a graph.
pub(crate) struct Normal {
    products: Numbered<Product>,
    sums: Numbered<Terms>,
    /// Of every wire that was asked for.
    known: Vec<Option<Sum>>,
}

impl Normal {
    pub(crate) fn new() -> Self {
        Self { products: Numbered::new(), sums: Numbered::new(), known: Vec::new() }
    }

    /// The sums that wires are. A wire in `replaced` is the other one that is named there, or its complement.
    pub(crate) fn of(&mut self, graph: &Graph, replaced: &Replaced, wires: &[Wire]) -> Vec<Sum> {
        self.known.resize(graph.nodes().len(), None);
        let mut to_do = wires.to_vec();
        while let Some(&wire) = to_do.last() {
            let wanted = match (replaced.get(&wire), graph.nodes()[wire]) {
                (Some(&(other, _)), _) => vec![other],
                (None, node @ Node::Gate(_)) => operands(node),
                (None, _) => Vec::new(),
            };
            let unknown = wanted.into_iter().filter(|&operand| self.known[operand].is_none());
            let before = to_do.len();
            to_do.extend(unknown);
            if to_do.len() == before {
                to_do.pop();
                let sum = match replaced.get(&wire) {
                    Some(&(other, is_complement)) => self.turned(self.sum(other), is_complement),
                    None => self.sum_of(wire, graph.nodes()[wire]),
                };
                self.known[wire] = Some(sum);
            }
        }
        wires.iter().map(|&wire| self.sum(wire)).collect()
    }

    fn sum(&self, wire: Wire) -> Sum {
        self.known[wire].expect("operands come first")
    }

    fn turned(&mut self, sum: Sum, is_turned: bool) -> Sum {
        let (terms, has_one) = self.sums.values[sum].clone();
        self.sums.number((terms, has_one ^ is_turned))
    }

    fn sum_of(&mut self, wire: Wire, node: Node) -> Sum {
        match node {
            Node::Constant(is_set) => self.sums.number((Vec::new(), is_set)),
            Node::Gate(gate) => match gate {
                Gate::Xor(a, b) => self.xor(self.sum(a), self.sum(b)),
                Gate::Not(a) => self.turned(self.sum(a), true),
                Gate::And(a, b) => self.and(self.sum(a), self.sum(b)),
                Gate::Or(a, b) => {
                    let [a, b] = [a, b].map(|wire| self.sum(wire));
                    let (both, either) = (self.and(a, b), self.xor(a, b));
                    self.xor(both, either)
                }
                Gate::Lut(table, operands) => self.lut(table, operands.map(|w| self.sum(w))),
            },
            _ => self.term(Product::Source(wire)),
        }
    }

    fn term(&mut self, product: Product) -> Sum {
        let term = self.products.number(product);
        self.sums.number((vec![term], false))
    }

    fn xor(&mut self, a: Sum, b: Sum) -> Sum {
        let [(a, a_has_one), (b, b_has_one)] = [a, b].map(|sum| &self.sums.values[sum]);
        let mut terms = Vec::with_capacity(a.len() + b.len());
        let (mut a, mut b) = (a.as_slice(), b.as_slice());
        while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
            if x <= y {
                a = a_rest;
            }
            if y <= x {
                b = b_rest;
            }
            if x != y {
                terms.push(*x.min(y));
            }
        }
        terms.extend(a);
        terms.extend(b);
        let has_one = a_has_one ^ b_has_one;
        self.sums.number((terms, has_one))
    }

    /// The product of `a + i` and `b + j` is `ab + ja + ib + ij`.
    fn and(&mut self, a: Sum, b: Sum) -> Sum {
        let has_one = |sum: Sum| self.sums.values[sum].1;
        let (i, j) = (has_one(a), has_one(b));
        let (a, b) = (self.turned(a, i), self.turned(b, j));
        let zero = self.sums.number((Vec::new(), false));
        let mut product = match (a.min(b), a.max(b)) {
            _ if a == zero || b == zero => zero,
            (a, b) if a == b => a,
            (a, b) => self.term(Product::And([a, b])),
        };
        if j {
            product = self.xor(product, a);
        }
        if i {
            product = self.xor(product, b);
        }
        self.turned(product, i && j)
    }

    /// A sum with one product at most, if the function is one, else a term: more products would make sums longer from
    /// S-box to S-box.
    fn lut(&mut self, entries: u8, operands: [Sum; 3]) -> Sum {
        let ([a, b, c], mut table) = (operands, entries);
        // From entries to coefficients: to those with an operand, those without it are added.
        for (by, without) in [(4, 0x0f), (2, 0x33), (1, 0x55)] {
            table ^= (table & without) << by;
        }
        let products = (0..8u8).filter(|index| table >> index & 1 == 1 && index.count_ones() > 1);
        if products.count() > 1 {
            return self.term(Product::Lut(entries, operands));
        }
        let mut sum = self.sums.number((Vec::new(), false));
        for index in (0..8).filter(|index| table >> index & 1 == 1) {
            let mut product = self.sums.number((Vec::new(), true));
            for (operand, _) in
                [(a, 4), (b, 2), (c, 1)].into_iter().filter(|(_, bit)| index & bit != 0)
            {
                product = self.and(product, operand);
            }
            sum = self.xor(sum, product);
        }
        sum
    }

    /// Whether a wire is another one, or its complement, as the normal forms show.
    pub(crate) fn are_equal(
        &mut self,
        graph: &Graph,
        replaced: &Replaced,
        wire: Wire,
        (other, is_turned): Literal,
    ) -> bool {
        let sums = self.of(graph, replaced, &[wire, other]);
        sums[0] == self.turned(sums[1], is_turned)
    }

    /// From now on a wire is another one, or its complement.
    pub(crate) fn replace(
        &mut self,
        graph: &Graph,
        replaced: &Replaced,
        wire: Wire,
        (other, is_turned): Literal,
    ) {
        let sum = self.of(graph, replaced, &[other])[0];
        self.known[wire] = Some(self.turned(sum, is_turned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sums_are_equal_and_others_are_not() {
        let mut graph = Graph::new();
        let [a, b, c] = [0, 1, 2].map(|number| graph.add(Node::Input(number)));
        let mut gate = |gate| graph.gate(gate);
        let ab = gate(Gate::Xor(a, b));
        let bc = gate(Gate::Xor(b, c));
        let wires = [
            gate(Gate::Xor(ab, bc)),
            gate(Gate::Xor(a, c)),
            gate(Gate::Lut(0x5a, [a, b, c])), // a ^ c
            gate(Gate::Lut(0x5b, [a, b, c])), // but for one entry
            gate(Gate::Or(a, c)),
            gate(Gate::Lut(0xfa, [a, b, c])), // a | c
        ];
        let and = gate(Gate::And(a, c));
        let or = gate(Gate::Xor(wires[1], and));
        let mut normal = Normal::new();
        let sums = normal.of(&graph, &HashMap::new(), &wires);
        assert_eq!(sums[0], sums[1]);
        assert_eq!(sums[0], sums[2]);
        assert_ne!(sums[0], sums[3]);
        assert_eq!(sums[4], sums[5]);
        assert_eq!(normal.of(&graph, &HashMap::new(), &[or]), [sums[4]]);
        let replaced = HashMap::from([(ab, (c, true))]);
        let mut normal = Normal::new();
        let [turned, c] = normal.of(&graph, &replaced, &[ab, c])[..] else { unreachable!() };
        assert_eq!(normal.turned(c, true), turned);
    }
}
