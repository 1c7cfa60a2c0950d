//! From any functions of two bits to and, or, xor and not, with few nots.
//!
//! A wire may as well hold the complement of its value, if its readers know. An exclusive or takes
//! complements as they come. A product `(a ^ i) & (b ^ j) ^ k` is an `and` or an `or` if what its
//! operands hold is turned both or neither; else one of the two needs a not. Which one, and so what
//! the product holds, is chosen by lot at first, and improved a choice at a time.

use crate::Error;
use crate::network::{Network, Node};
use crate::program::{Assembly, Gate, Program};
use crate::random::SplitMix64;

/// Attempts to save nots in the circuit that is kept.
const FINAL_ATTEMPTS: u32 = 20_000;

/// A function of two wires, or of one.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// `a ^ k`
    Single { a: usize, turned: bool },
    /// `a ^ b ^ k`
    Sum { a: usize, b: usize, turned: bool },
    /// `(a ^ i) & (b ^ j) ^ k`
    Product { a: usize, b: usize, operands_turned: [bool; 2], turned: bool },
}

impl Form {
    /// What a node is; `None` for a constant and for a function of three wires.
    fn of(node: Node) -> Option<Self> {
        let Node { table, operands: [a, b, c] } = node;
        let entry = |index: u8| table >> index & 1 != 0;
        if a == b && b == c {
            return (entry(0) != entry(7)).then_some(Self::Single { a, turned: entry(0) });
        }
        // The table by two different operands; the third is one of them.
        let b = if a == b { c } else { b };
        let index = |x: u8, y: u8| {
            let value = |operand| if operand == a { x } else { y };
            node.operands.iter().fold(0, |index, &operand| 2 * index + value(operand))
        };
        if node.operands.iter().any(|&operand| operand != a && operand != b) {
            return None;
        }
        let [f00, f01, f10, f11] =
            [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(x, y)| entry(index(x, y)));
        let ones = [f00, f01, f10, f11].map(u8::from).iter().sum::<u8>();
        match ones {
            2 if f00 == f11 => Some(Self::Sum { a, b, turned: f00 }),
            2 if f00 == f01 => Some(Self::Single { a, turned: f00 }),
            2 => Some(Self::Single { a: b, turned: f00 }),
            1 | 3 => {
                let odd = ones == 1;
                let operands_turned = if f00 == odd {
                    [true, true]
                } else if f01 == odd {
                    [true, false]
                } else if f10 == odd {
                    [false, true]
                } else {
                    [false, false]
                };
                Some(Self::Product { a, b, operands_turned, turned: !odd })
            }
            _ => None,
        }
    }
}

/// One way to write the network: what each wire holds, and which wires there are turned as well.
struct Draft {
    /// For each wire, the wires of the program for its value and for the complement.
    holders: Vec<[Option<usize>; 2]>,
    gates: Vec<Gate>,
    outputs: Vec<usize>,
    inputs: usize,
}

impl Draft {
    fn new(inputs: usize) -> Self {
        let holders = (0..inputs).map(|input| [Some(input), None]).collect();
        Self { holders, gates: Vec::new(), outputs: Vec::new(), inputs }
    }

    fn push(&mut self, gate: Gate) -> usize {
        self.gates.push(gate);
        self.inputs + self.gates.len() - 1
    }

    /// The wire of the program that holds a value, or its complement: made by a not if need be.
    fn hold(&mut self, wire: usize, turned: bool) -> usize {
        let holders = self.holders[wire];
        if let Some(found) = holders[usize::from(turned)] {
            return found;
        }
        let other = holders[usize::from(!turned)].unwrap_or(0);
        let made = self.push(Gate::Not(other));
        self.holders[wire][usize::from(turned)] = Some(made);
        made
    }

    /// Whether the wire is there, turned if so asked.
    fn has(&self, wire: usize, turned: bool) -> bool {
        self.holders[wire][usize::from(turned)].is_some()
    }

    fn add(&mut self, form: Form, choice: u8) {
        let holder = match form {
            Form::Single { a, turned } => {
                let [value, complement] = self.holders[a];
                if turned { [complement, value] } else { [value, complement] }
            }
            Form::Sum { a, b, turned } => {
                let [x, y] = [a, b].map(|wire| !self.has(wire, false));
                let (first, second) = (self.hold(a, x), self.hold(b, y));
                let sum = self.push(Gate::Xor(first, second));
                place(sum, turned ^ x ^ y)
            }
            Form::Product { a, b, operands_turned: [i, j], turned } => {
                // As an `and` of what is wanted, or as an `or` of the complements.
                let ways = [false, true].map(|or| self.has(a, i ^ or) && self.has(b, j ^ or));
                let or = if ways[0] == ways[1] { choice & 1 != 0 } else { ways[1] };
                let or = if choice & 2 != 0 { choice & 1 != 0 } else { or };
                let (first, second) = (self.hold(a, i ^ or), self.hold(b, j ^ or));
                let product = if or {
                    self.push(Gate::Or(first, second))
                } else {
                    self.push(Gate::And(first, second))
                };
                place(product, turned ^ or)
            }
        };
        self.holders.push(holder);
    }
}

/// The holders of a wire that is held by one wire of the program.
fn place(wire: usize, turned: bool) -> [Option<usize>; 2] {
    if turned { [None, Some(wire)] } else { [Some(wire), None] }
}

/// The forms of all nodes, or `None` where one is no function of two wires.
fn forms<const N: usize>(network: &Network<N>) -> Option<Vec<Form>> {
    network.nodes.iter().map(|&node| Form::of(node)).collect()
}

fn draft<const N: usize>(network: &Network<N>, forms: &[Form], choices: &[u8]) -> Draft {
    let mut draft = Draft::new(network.inputs);
    for (&form, &choice) in forms.iter().zip(choices) {
        draft.add(form, choice);
    }
    draft.outputs = network.outputs.iter().map(|&wire| draft.hold(wire, false)).collect();
    draft
}

/// The way to write the network with the fewest nots that this number of `attempts` finds.
fn best_draft<const N: usize>(
    network: &Network<N>,
    attempts: u32,
    random: &mut SplitMix64,
) -> Option<Draft> {
    let forms = forms(network)?;
    let mut choices = vec![0u8; forms.len()];
    let mut best = draft(network, &forms, &choices);
    if forms.is_empty() {
        return Some(best); // there is nothing to choose
    }
    for _ in 0..attempts {
        let mut changed = choices.clone();
        for _ in 0..=random.below(3) {
            let index = random.below(forms.len());
            changed[index] = random.below(4) as u8;
        }
        let next = draft(network, &forms, &changed);
        if next.gates.len() <= best.gates.len() {
            (best, choices) = (next, changed);
        }
    }
    Some(best)
}

/// The least number of gates found for a network in `attempts` attempts, nots included.
pub(crate) fn count<const N: usize>(
    network: &Network<N>,
    attempts: u32,
    random: &mut SplitMix64,
) -> Option<usize> {
    best_draft(network, attempts, random).map(|draft| draft.gates.len())
}

/// The network as a program of and, or, xor and not.
///
/// # Errors
/// [`Error::Shape`] if a node is no function of two wires.
pub(crate) fn to_program<const N: usize>(
    network: &Network<N>,
    [inputs, outputs]: [&[String]; 2],
    random: &mut SplitMix64,
    name: &str,
    notes: &[(&str, &str)],
) -> Result<Program, Error> {
    let none = || Error::Shape("a gate that is no function of two wires".into());
    let Draft { gates, outputs: output_wires, .. } =
        best_draft(network, FINAL_ATTEMPTS, random).ok_or_else(none)?;
    let copy = |wire| Gate::And(wire, wire);
    Assembly { inputs, outputs, gates: &gates, output_wires: &output_wires, copy }
        .finish(name, notes)
}
