//! The words of a standard as nodes of a graph: sums, tables, additions. Nothing here is taken from a sliced form.

use std::collections::HashSet;

use lanecrypt_circuit::{Gate, Wire, graph::Graph};
use lanecrypt_reference::gf256;
use lanecrypt_slicing::record::Node;

/// The eight bits of a byte, the lowest first.
pub(crate) type Byte = [Wire; 8];

/// A graph in which a standard is written down.
pub(crate) struct Model<'g> {
    pub(crate) graph: &'g mut Graph,
    points: Points,
}

/// What a proof goes by.
#[derive(Default)]
pub(crate) struct Points {
    /// Wires that a form may be expected to have as well: inputs and outputs of tables, summands and carries.
    pub(crate) all: Vec<Wire>,
    /// Those that stand between one table and the next, so that what comes after one can be proved for any value of
    /// them: inputs of tables, summands and carries. Outputs of a table do not: forms compute one from another.
    pub(crate) cuts: HashSet<Wire>,
}

impl<'g> Model<'g> {
    pub(crate) fn new(graph: &'g mut Graph) -> Self {
        Self { graph, points: Points::default() }
    }

    pub(crate) fn into_points(self) -> Points {
        self.points
    }

    /// The lowest bits of a number, the lowest first.
    pub(crate) fn number(&mut self, value: u128, bits: usize) -> Vec<Wire> {
        (0..bits).map(|bit| self.graph.add(Node::Constant(value >> bit & 1 == 1))).collect()
    }

    /// The value of a wire that is a constant.
    fn constant(&self, wire: Wire) -> Option<bool> {
        match self.graph.nodes()[wire] {
            Node::Constant(is_set) => Some(is_set),
            _ => None,
        }
    }

    // Constants are worked in, so that a number added to another one is no node of its own.

    pub(crate) fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.constant(a), self.constant(b)) {
            (_, Some(false)) => a,
            (Some(false), _) => b,
            _ => self.graph.gate(Gate::Xor(a, b)),
        }
    }

    pub(crate) fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.constant(a), self.constant(b)) {
            (_, Some(true)) | (Some(false), _) => a,
            (Some(true), _) | (_, Some(false)) => b,
            _ => self.graph.gate(Gate::And(a, b)),
        }
    }

    pub(crate) fn or(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.constant(a), self.constant(b)) {
            (_, Some(false)) | (Some(true), _) => a,
            (Some(false), _) | (_, Some(true)) => b,
            _ => self.graph.gate(Gate::Or(a, b)),
        }
    }

    /// The sums, bit by bit.
    pub(crate) fn xor_all(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        a.iter().zip(b).map(|(&a, &b)| self.xor(a, b)).collect()
    }

    pub(crate) fn xor_bytes(&mut self, a: Byte, b: Byte) -> Byte {
        core::array::from_fn(|bit| self.xor(a[bit], b[bit]))
    }

    /// The sum of bytes, of which there is one at least.
    pub(crate) fn sum(&mut self, bytes: &[Byte]) -> Byte {
        bytes[1..].iter().fold(bytes[0], |sum, &byte| self.xor_bytes(sum, byte))
    }

    /// The entry of a table by the number that `input` is, the lowest bit first: `bits` bits of it.
    pub(crate) fn look_up(&mut self, table: &[u8], input: &[Wire], bits: usize) -> Vec<Wire> {
        assert_eq!(table.len(), 1 << input.len(), "an entry for every input");
        let column = |bit: usize| table.iter().map(|entry| entry >> bit & 1 == 1).collect();
        let outputs: Vec<Wire> = (0..bits)
            .map(|bit| {
                let column: Vec<bool> = column(bit);
                let decision = self.decide(&column, input);
                self.wire(decision)
            })
            .collect();
        self.points.all.extend(input);
        self.points.all.extend(&outputs);
        self.points.cuts.extend(input);
        outputs
    }

    /// An S-box of bytes.
    pub(crate) fn sbox(&mut self, table: &[u8; 256], input: Byte) -> Byte {
        let image = self.look_up(table, &input, 8);
        core::array::from_fn(|bit| image[bit])
    }

    /// A column of a table as decisions on one bit after the other, the highest first.
    fn decide(&mut self, column: &[bool], input: &[Wire]) -> Decision {
        if column.iter().all(|entry| *entry == column[0]) {
            return Decision::Constant(column[0]);
        }
        let (&highest, lower) = input.split_last().expect("two entries have a bit between them");
        let (clear, set) = column.split_at(column.len() / 2);
        let [clear, set] = [clear, set].map(|half| self.decide(half, lower));
        let complement = |model: &mut Self| model.graph.gate(Gate::Not(highest));
        Decision::Wire(match (clear, set) {
            (Decision::Constant(false), Decision::Constant(_)) => highest,
            (Decision::Constant(true), Decision::Constant(_)) => complement(self),
            (Decision::Constant(false), Decision::Wire(set)) => self.and(highest, set),
            (Decision::Wire(clear), Decision::Constant(true)) => self.or(highest, clear),
            (Decision::Constant(true), Decision::Wire(set)) => {
                let not = complement(self);
                self.or(not, set)
            }
            (Decision::Wire(clear), Decision::Constant(false)) => {
                let not = complement(self);
                self.and(not, clear)
            }
            (Decision::Wire(clear), Decision::Wire(set)) if clear == set => clear,
            (Decision::Wire(clear), Decision::Wire(set)) => {
                self.graph.gate(Gate::Lut(CHOICE, [highest, set, clear]))
            }
        })
    }

    fn wire(&mut self, decision: Decision) -> Wire {
        match decision {
            Decision::Constant(is_set) => self.graph.add(Node::Constant(is_set)),
            Decision::Wire(wire) => wire,
        }
    }

    /// The sum of two numbers modulo a power of two, the lowest bit first: full adders.
    pub(crate) fn add(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        self.ripple(MAJORITY, a, b)
    }

    /// The difference: full subtractors.
    pub(crate) fn subtract(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        self.ripple(BORROW, a, b)
    }

    fn ripple(&mut self, carry_table: u8, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let mut carry = self.graph.add(Node::Constant(false));
        let (mut digits, mut points) = (Vec::new(), Vec::new());
        for (&a, &b) in a.iter().zip(b) {
            let differ = self.xor(a, b);
            digits.push(self.xor(differ, carry));
            carry = match self.constant(b) {
                Some(false) if carry_table == MAJORITY => self.and(a, carry),
                Some(true) if carry_table == MAJORITY => self.or(a, carry),
                _ => self.graph.gate(Gate::Lut(carry_table, [a, b, carry])),
            };
            for point in [a, b, carry].into_iter().filter(|&wire| self.constant(wire).is_none()) {
                points.push(point);
            }
        }
        self.points.all.extend(&points);
        self.points.cuts.extend(&points);
        digits
    }

    /// A byte times a constant in GF(2^8).
    pub(crate) fn times(&mut self, byte: Byte, factor: u8, modulus: u16) -> Byte {
        let image = |bit: usize| gf256::multiply(1 << bit, factor, modulus);
        core::array::from_fn(|row| {
            let terms = (0..8).filter(|&bit| image(bit) >> row & 1 == 1).map(|bit| byte[bit]);
            terms.reduce(|sum, term| self.xor(sum, term)).expect("the factor is not zero")
        })
    }
}

/// A column of a table, or of a part of it.
#[derive(Clone, Copy)]
enum Decision {
    Constant(bool),
    Wire(Wire),
}

/// The table of `a ? b : c`.
const CHOICE: u8 = 0xca;
/// Of the carry of `a + b + c`: two of three.
const MAJORITY: u8 = 0xe8;
/// Of the borrow of `a - b - c`: two of three, `a` inverted.
const BORROW: u8 = 0x8e;

/// The bits of bytes, in which planes have the lowest first, from the left; and the other way round.
pub(crate) fn from_left(planes: &[Wire]) -> Vec<Wire> {
    planes.chunks(8).flat_map(|byte| byte.iter().rev().copied()).collect()
}

/// Bytes, the leftmost first, rotated to the left as one number.
pub(crate) fn rotated_left(planes: &[Wire], by: usize) -> Vec<Wire> {
    let mut bits = from_left(planes);
    bits.rotate_left(by);
    from_left(&bits)
}

/// Planes as bytes.
pub(crate) fn bytes<const N: usize>(planes: &[Wire]) -> [Byte; N] {
    let bytes = planes.as_chunks::<8>().0;
    core::array::from_fn(|byte| bytes[byte])
}

/// Round keys of 16 bytes as words of a kernel's parameters: those before the last, with room for as many as the most
/// rounds have, the last, and the number of rounds.
pub(crate) fn key_words_of_blocks(
    model: &mut Model<'_>,
    keys: &[[Byte; 16]],
    most_rounds: usize,
) -> Vec<Vec<Wire>> {
    let words = |keys: &[[Byte; 16]]| -> Vec<Vec<Wire>> {
        keys.as_flattened().as_flattened().chunks(32).map(<[Wire]>::to_vec).collect()
    };
    let (last, others) = keys.split_last().expect("there are keys");
    let mut all = words(others);
    all.resize(4 * most_rounds, model.number(0, 32));
    all.extend(words(&[*last]));
    all.push(model.number(keys.len() as u128 - 1, 32));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the bits `wires` are for every value of the byte that inputs 0 to 7 are, with `other` on 8 to 15.
    fn values(graph: &Graph, wires: &[Wire], other: u8) -> Vec<u8> {
        let batch = |first: usize| {
            let lanes = graph.evaluate(|node| {
                let Node::Input(bit) = node else { return 0 };
                let byte = |lane| if bit < 8 { first + lane } else { usize::from(other) };
                (0..64)
                    .fold(0, |lanes, lane| lanes | ((byte(lane) >> (bit % 8) & 1) as u64) << lane)
            });
            let value = move |wires: &[Wire], lane: usize| {
                wires
                    .iter()
                    .rev()
                    .fold(0, |value, &wire| value << 1 | (lanes[wire] >> lane & 1) as u8)
            };
            (0..64).map(|lane| value(wires, lane)).collect::<Vec<_>>()
        };
        (0..4).flat_map(|quarter| batch(64 * quarter)).collect()
    }

    #[test]
    fn numbers_are_added_and_subtracted() {
        let mut graph = Graph::new();
        let inputs = graph.sources(Node::Input, 16);
        let mut model = Model::new(&mut graph);
        let (a, b) = inputs.split_at(8);
        let (sum, difference) = (model.add(a, b), model.subtract(a, b));
        for other in 0..=255u8 {
            let numbers = |of: fn(u8, u8) -> u8| (0..=255).map(move |a| of(a, other));
            assert!(values(&graph, &sum, other).into_iter().eq(numbers(u8::wrapping_add)));
            assert!(values(&graph, &difference, other).into_iter().eq(numbers(u8::wrapping_sub)));
        }
    }

    #[test]
    fn tables_are_looked_up_and_bytes_multiplied() {
        let mut graph = Graph::new();
        let [input] = bytes(&graph.sources(Node::Input, 8));
        let mut model = Model::new(&mut graph);
        let image = model.sbox(&lanecrypt_reference::sbox::AES, input);
        let product = model.times(input, 14, gf256::AES_MODULUS);
        let products = (0..=255).map(|byte| gf256::multiply(byte, 14, gf256::AES_MODULUS));
        assert_eq!(values(&graph, &image, 0), lanecrypt_reference::sbox::AES);
        assert!(values(&graph, &product, 0).into_iter().eq(products));
    }
}
