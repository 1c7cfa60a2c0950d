//! Bits of registers: known, a wire of a graph, both of these, or of a block that is not looked at.

use lanecrypt_circuit::{Gate, Wire, graph::Graph};
use lanecrypt_slicing::record::Node;

/// A bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bit {
    /// Zero or one.
    Known(bool),
    /// The number of a wire, in half the space: most of the time goes into moving words.
    Wire(u32),
    /// A wire of which this run takes the value that it has: for control and addresses it is known, and what is
    /// computed of it and of other wires is the same whatever its value.
    Chosen(u32, bool),
    /// Of another block: what depends on it must not reach the one in question.
    Foreign,
}

/// A register of 32 bits, the lowest first.
pub type Word = [Bit; 32];
/// A register of 64 bits.
pub type Long = [Bit; 64];

/// The word of a number.
#[must_use]
pub fn word(value: u32) -> Word {
    core::array::from_fn(|bit| Bit::Known(value >> bit & 1 == 1))
}

/// The number that bits are in this run, if all have values.
#[must_use]
pub fn number(bits: &[Bit]) -> Option<u64> {
    bits.iter().rev().try_fold(0, |value, bit| match bit {
        Bit::Known(is_set) | Bit::Chosen(_, is_set) => Some(value << 1 | u64::from(*is_set)),
        _ => None,
    })
}

/// The number of a word in all runs.
fn constant(word: &Word) -> Option<u32> {
    let is_known = word.iter().all(|bit| matches!(bit, Bit::Known(_)));
    if is_known { number(word).map(|number| number as u32) } else { None }
}

/// The bit of a wire, which may be a constant.
///
/// # Panics
/// If the graph has no such wire.
#[must_use]
pub fn bit(graph: &Graph, wire: Wire) -> Bit {
    match graph.nodes()[wire] {
        Node::Constant(is_set) => Bit::Known(is_set),
        _ => Bit::Wire(wire as u32),
    }
}

/// A function of three bits by its table, where bit `4a + 2b + c` is the result, with what is known worked in.
pub(crate) fn lut(graph: &mut Graph, mut table: u8, mut operands: [Bit; 3]) -> Bit {
    let is_known = |bit: &Bit| matches!(bit, Bit::Known(_));
    if operands.contains(&Bit::Foreign) && !operands.iter().any(is_known) {
        return Bit::Foreign; // most bits are, and what is not would only be taken for it
    }
    for (operand, weight) in operands.iter_mut().zip([4, 2, 1]) {
        if let Bit::Known(is_set) = *operand {
            table = fixed(table, weight, is_set);
        }
    }
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        // Two foreign bits may be different ones.
        let is_wire = matches!(operands[i], Bit::Wire(_) | Bit::Chosen(..));
        if is_wire && operands[i] == operands[j] {
            table = equated(table, 4 >> i, 4 >> j);
        }
    }
    for (operand, weight) in operands.iter_mut().zip([4, 2, 1]) {
        // What the function does not depend on.
        if table == fixed(table, weight, false) {
            *operand = Bit::Known(false);
        }
    }
    let mut left = [(Bit::Foreign, 0); 3];
    let mut count = 0;
    for (operand, weight) in operands.into_iter().zip([4, 2, 1]) {
        if !is_known(&operand) {
            left[count] = (operand, weight);
            count += 1;
        }
    }
    let entry = |index: u8| table >> index & 1 == 1;
    let left = &left[..count];
    if let [(bit, weight)] = *left {
        return if entry(weight) { bit } else { not(graph, bit) };
    }
    if let Some(index) = index_of_chosen(left) {
        return Bit::Known(entry(index));
    }
    let mut wires = [0; 3];
    for (wire, (bit, _)) in wires.iter_mut().zip(left) {
        match *bit {
            Bit::Wire(number) | Bit::Chosen(number, _) => *wire = number as usize,
            _ => return Bit::Foreign,
        }
    }
    if let [(_, first), (_, second)] = *left {
        return of_two(graph, [0, first, second, first | second].map(entry), [wires[0], wires[1]]);
    }
    gate(graph, Gate::Lut(table, wires))
}

/// The entry of a table that operands with these weights select, if all of them are chosen.
fn index_of_chosen(operands: &[(Bit, u8)]) -> Option<u8> {
    let value = |&(bit, weight): &(Bit, u8)| match bit {
        Bit::Chosen(_, is_set) => Some(u8::from(is_set) * weight),
        _ => None,
    };
    operands.iter().map(value).sum()
}

/// A function of two wires: its values where none is set, the first, the second, and both. What is computed twice, with
/// operands in another order, is one gate.
fn of_two(graph: &mut Graph, [none, first, second, both]: [bool; 4], [a, b]: [Wire; 2]) -> Bit {
    match [none, first, second, both] {
        [false, true, true, false] => gate(graph, Gate::Xor(a, b)),
        [false, false, false, true] => gate(graph, Gate::And(a, b)),
        [false, true, true, true] => gate(graph, Gate::Or(a, b)),
        [true, false, false, true] => {
            let sum = graph.gate(Gate::Xor(a, b));
            gate(graph, Gate::Not(sum))
        }
        entries => {
            // Bit 4a + 2b + c of the table, whatever c is.
            let index = |i: usize| entries[(i >> 2 & 1) | i & 2];
            let table = (0..8).fold(0, |table, i| table | u8::from(index(i)) << i);
            gate(graph, Gate::Lut(table, [a, b, b]))
        }
    }
}

fn gate(graph: &mut Graph, gate: Gate) -> Bit {
    Bit::Wire(graph.gate(gate) as u32)
}

/// The complement, whose value is chosen if that of the bit is.
pub(crate) fn not(graph: &mut Graph, bit: Bit) -> Bit {
    let mut of_wire = |wire: u32| match graph.nodes()[wire as usize] {
        Node::Gate(Gate::Not(inner)) => inner as u32,
        _ => graph.gate(Gate::Not(wire as usize)) as u32,
    };
    match bit {
        Bit::Known(is_set) => Bit::Known(!is_set),
        Bit::Wire(wire) => Bit::Wire(of_wire(wire)),
        Bit::Chosen(wire, is_set) => Bit::Chosen(of_wire(wire), !is_set),
        Bit::Foreign => Bit::Foreign,
    }
}

/// The table where the operand of the second weight is that of the first, so that nothing depends on the second.
fn equated(table: u8, first: u8, second: u8) -> u8 {
    let from = |index: u8| if index & first == 0 { index & !second } else { index | second };
    (0..8).fold(0, |equated, index| equated | (table >> from(index) & 1) << index)
}

/// The table with the operand of a weight fixed.
fn fixed(table: u8, weight: u8, is_set: bool) -> u8 {
    let from = |index: u8| if is_set { index | weight } else { index & !weight };
    (0..8).fold(0, |fixed, index| fixed | (table >> from(index) & 1) << index)
}

/// The tables of the operations of two operands, the first two of three.
pub(crate) const AND: u8 = 0xc0;
pub(crate) const OR: u8 = 0xfc;
pub(crate) const XOR: u8 = 0x3c;
/// Of `a ? b : c`.
pub(crate) const CHOICE: u8 = 0xca;
const SUM: u8 = 0x96;
const MAJORITY: u8 = 0xe8;

/// A function of three words, bit by bit.
pub(crate) fn lop3(graph: &mut Graph, table: u8, [a, b, c]: [&Word; 3]) -> Word {
    if let (Some(a), Some(b), Some(c)) = (constant(a), constant(b), constant(c)) {
        return word((0..8).filter(|index| table >> index & 1 == 1).fold(0, |sum, index| {
            let term = |word: u32, weight: u32| if index & weight == 0 { !word } else { word };
            sum | term(a, 4) & term(b, 2) & term(c, 1)
        }));
    }
    core::array::from_fn(|i| lut(graph, table, [a[i], b[i], c[i]]))
}

/// A sum.
pub(crate) fn add(graph: &mut Graph, a: &Word, b: &Word) -> Word {
    if let (Some(a), Some(b)) = (constant(a), constant(b)) {
        return word(a.wrapping_add(b));
    }
    ripple(graph, a, b, false).0
}

/// A difference.
pub(crate) fn subtract(graph: &mut Graph, a: &Word, b: &Word) -> Word {
    if let (Some(a), Some(b)) = (constant(a), constant(b)) {
        return word(a.wrapping_sub(b));
    }
    difference(graph, a, b).0
}

/// A sum, from a carry on, and the carry out of it: full adders.
pub(crate) fn ripple<const N: usize>(
    graph: &mut Graph,
    a: &[Bit; N],
    b: &[Bit; N],
    carry: bool,
) -> ([Bit; N], Bit) {
    let mut carry = Bit::Known(carry);
    let sum = core::array::from_fn(|i| {
        let sum = lut(graph, SUM, [a[i], b[i], carry]);
        carry = lut(graph, MAJORITY, [a[i], b[i], carry]);
        sum
    });
    (sum, carry)
}

/// A difference, and whether there is no borrow: whether `a` is at least `b`.
pub(crate) fn difference<const N: usize>(
    graph: &mut Graph,
    a: &[Bit; N],
    b: &[Bit; N],
) -> ([Bit; N], Bit) {
    let complement = b.map(|bit| not(graph, bit));
    ripple(graph, a, &complement, true)
}

/// A product and a sum: of numbers, or `x * (2k + 1) + k` where all bits of `k` are the same, which is `x ^ k`.
pub(crate) fn multiply_add(graph: &mut Graph, [x, y, z]: [&Word; 3]) -> Option<Word> {
    if let (Some(x), Some(y), Some(z)) = (number(x), number(y), number(z)) {
        return Some(word(x.wrapping_mul(y).wrapping_add(z) as u32));
    }
    let is_key = |factor: &Word| {
        z.iter().all(|bit| *bit == z[0])
            && factor[0] == Bit::Known(true)
            && factor[1..].iter().all(|bit| *bit == z[0])
    };
    let plane = if is_key(y) { x } else { is_key(x).then_some(y)? };
    Some(lop3(graph, XOR, [plane, z, z]))
}

/// The bytes of two words that a number selects, a digit of four bits for each: three for the byte, and one that asks
/// for its sign in all places.
pub(crate) fn permute(a: &Word, b: &Word, selector: u32) -> Word {
    let bytes = |i: usize| if i < 32 { a[i] } else { b[i - 32] };
    core::array::from_fn(|i| {
        let digit = (selector >> (i / 8 * 4)) as usize;
        bytes(8 * (digit & 7) + if digit & 8 == 0 { i % 8 } else { 7 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_worked_in() {
        let mut graph = Graph::new();
        let [a, b] = [0, 1].map(|number| graph.add(Node::Input(number)) as u32);
        let nodes = graph.nodes().len();
        let [x, y, one, zero] = [Bit::Wire(a), Bit::Wire(b), Bit::Known(true), Bit::Known(false)];
        assert_eq!(lut(&mut graph, 0xca, [one, x, y]), x, "a choice that is made");
        assert_eq!(
            lut(&mut graph, 0xca, [zero, Bit::Foreign, y]),
            y,
            "another block's bit is masked"
        );
        assert_eq!(lut(&mut graph, SUM, [x, Bit::Foreign, y]), Bit::Foreign);
        assert_eq!(lut(&mut graph, AND, [x, zero, y]), zero);
        assert_eq!(graph.nodes().len(), nodes, "none of these is a gate");
        let not = lut(&mut graph, XOR, [x, one, y]);
        assert_eq!(lut(&mut graph, XOR, [one, not, y]), x, "two complements");
    }

    #[test]
    fn what_is_chosen_has_a_value_and_stays_a_wire() {
        let mut graph = Graph::new();
        let [a, b, c] = [0, 1, 2].map(|number| graph.add(Node::Input(number)) as u32);
        let (low, high, wire) = (Bit::Chosen(a, true), Bit::Chosen(b, false), Bit::Wire(c));
        let number_of = |bits: [Bit; 2]| number(&bits);
        assert_eq!(number_of([low, high]), Some(1));
        assert_eq!(number_of([low, wire]), None);
        let [one, zero] = [true, false].map(Bit::Known);
        assert_eq!(lut(&mut graph, AND, [low, one, zero]), low, "a mask");
        let turned = lut(&mut graph, XOR, [low, one, zero]);
        assert!(matches!(turned, Bit::Chosen(_, false)), "a complement");
        assert_eq!(lut(&mut graph, SUM, [low, high, zero]), one, "a sum of two is a number");
        assert_eq!(lut(&mut graph, SUM, [low, low, wire]), wire);
        let sum = lut(&mut graph, SUM, [low, wire, zero]);
        assert_eq!(sum, lut(&mut graph, SUM, [Bit::Wire(a), wire, zero]), "and with a wire a wire");
        assert_eq!(lut(&mut graph, AND, [low, Bit::Foreign, zero]), Bit::Foreign);
        let ([digit, _], carry) = ripple(&mut graph, &[low, wire], &[zero, zero], false);
        assert_eq!((digit, carry), (low, zero));
        let (_, is_at_least) = difference(&mut graph, &[wire, one], &[wire, zero]);
        assert_eq!(is_at_least, one, "whatever the wire");
    }

    #[test]
    fn numbers_and_keys() {
        let mut graph = Graph::new();
        let key = Bit::Wire(graph.add(Node::Key(0)) as u32);
        let bit = core::array::from_fn(|i| if i == 0 { key } else { Bit::Known(false) });
        let plane = core::array::from_fn(|i| Bit::Wire(graph.add(Node::Input(i)) as u32));
        let mask = subtract(&mut graph, &word(0), &bit);
        assert_eq!(mask, [key; 32], "all bits of -k are k");
        let mut factor = mask;
        factor[0] = Bit::Known(true);
        let sum = multiply_add(&mut graph, [&factor, &plane, &mask]).expect("a key is added");
        assert_eq!(sum, lop3(&mut graph, XOR, [&plane, &mask, &mask]));
        assert_eq!(multiply_add(&mut graph, [&plane, &plane, &mask]), None);
        let difference = subtract(&mut graph, &word(5), &word(7));
        assert_eq!(number(&difference), Some(5u32.wrapping_sub(7).into()));
        let permuted =
            |selector| number(&permute(&word(0x0302_0180), &word(0x0706_0504), selector));
        assert_eq!(permuted(0x7250), Some(0x0702_0580));
        assert_eq!(permuted(0x4980), Some(0x0400_ff80), "the signs of bytes 1 and 0");
    }
}
