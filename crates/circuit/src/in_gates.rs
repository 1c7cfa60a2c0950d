//! Functions of three inputs as expressions of gates, for languages without an instruction that looks three bits up:
//! where a machine has one, its compiler makes it of the expression.

use std::{array, cmp::Reverse, sync::LazyLock};

/// The tables of the inputs.
const INPUTS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// How a table is made of others.
#[derive(Clone, Copy, Debug)]
enum Made {
    Input(usize),
    Complement(u8),
    Gate(char, [u8; 2]),
    /// A gate with the complement of the second table.
    OfComplement(char, [u8; 2]),
}

/// A table, how it is made, and what that costs.
#[derive(Clone, Copy, Debug)]
struct Way {
    table: u8,
    made: Made,
    gates: u32,
    has_complement: bool,
    price: u32,
}

/// The price of a gate. Of expressions with as many, NVIDIA's compiler for Vulkan makes fewest instructions of those with
/// AND rather than OR rather than XOR, and with few complements.
const GATES: [(char, u32); 3] = [('&', 1000), ('|', 1005), ('^', 1010)];
/// The complement of a gate, or of several to which an input is added.
const COMPLEMENT: u32 = 20;
/// What the complement of several gates costs more where no input is added.
const OF_MORE: u32 = 100;
/// A complement that is no part of a gate.
const OF_WHOLE: u32 = 250;
/// The complement of an input.
const OF_INPUT: u32 = 300;

/// The cheapest way to each table.
static WAYS: LazyLock<[Way; 256]> = LazyLock::new(|| {
    let mut ways = array::from_fn(|table| {
        let table = table as u8;
        let input = INPUTS.iter().position(|input| *input == table);
        let made = input.map_or(Made::Complement(table), Made::Input);
        let price = if input.is_some() { 0 } else { u32::MAX };
        Way { table, made, gates: 0, has_complement: false, price }
    });
    loop {
        let is_known = |way: &&Way| way.price < u32::MAX && !matches!(way.table, 0 | u8::MAX);
        let known: Vec<Way> = ways.iter().filter(is_known).copied().collect();
        let pairs = known.iter().flat_map(|a| known.iter().map(move |b| (*a, *b)));
        let mut is_done = true;
        for way in known.iter().map(complement).chain(pairs.flat_map(|(a, b)| gates(a, b))) {
            let best = &mut ways[usize::from(way.table)];
            if way.price < best.price {
                *best = way;
                is_done = false;
            }
        }
        if is_done {
            return ways;
        }
    }
});

fn complement(of: &Way) -> Way {
    let price = of.price + if of.gates == 0 { OF_INPUT } else { OF_WHOLE };
    let (table, made) = (!of.table, Made::Complement(of.table));
    Way { table, made, has_complement: true, price, ..*of }
}

/// What gates make of two tables, if the second takes no more than the first, and of the first and the complement of the
/// second.
fn gates(a: Way, b: Way) -> impl Iterator<Item = Way> {
    let is_of_use =
        move |is_complement: &bool| if *is_complement { b.gates > 0 } else { a.gates >= b.gates };
    [false, true].into_iter().filter(is_of_use).flat_map(move |is_complement| {
        GATES.map(|(sign, gate)| {
            let second = if is_complement { !b.table } else { b.table };
            let table = match sign {
                '&' => a.table & second,
                '|' => a.table | second,
                _ => a.table ^ second,
            };
            let made = if is_complement { Made::OfComplement } else { Made::Gate };
            let is_light = b.gates == 1 || sign == '^' && a.gates == 0 && !b.has_complement;
            let complement = match (is_complement, is_light) {
                (false, _) => 0,
                (true, true) => COMPLEMENT,
                (true, false) => COMPLEMENT + OF_MORE,
            };
            let hidden = if has_complement_of_input(table) { OF_INPUT } else { 0 };
            Way {
                table,
                made: made(sign, [a.table, b.table]),
                gates: a.gates + b.gates + 1,
                has_complement: is_complement || a.has_complement || b.has_complement,
                price: a.price + b.price + gate + complement + hidden,
            }
        })
    })
}

/// Whether a table is that of a gate of one input and the complement of another, which compilers make of any expression
/// for it.
fn has_complement_of_input(table: u8) -> bool {
    let is_pair = |a: u8, b: u8| a != b && (table == a & !b || table == a | !b);
    INPUTS.iter().any(|&a| INPUTS.iter().any(|&b| is_pair(a, b)))
}

/// What a table gives for these operands as an expression of `&`, `|`, `^` and the sign of a complement. An operand is
/// the number of its wire, and a name or a call.
///
/// In each gate what was computed last comes first: from this order, too, the driver's compiler makes fewest instructions.
pub(crate) fn in_gates(table: u8, operands: &[(usize, String); 3], complement: char) -> String {
    in_parts(table, operands, complement).text
}

/// An expression, or part of one.
struct Part {
    text: String,
    is_gate: bool,
    gates: usize,
    /// The last of its wires.
    last: usize,
}

impl Part {
    fn within(self) -> Self {
        let text = if self.is_gate { format!("({})", self.text) } else { self.text };
        Self { text, ..self }
    }

    fn complemented(self, sign: char) -> Self {
        let part = self.within();
        Self { text: format!("{sign}{}", part.text), is_gate: false, ..part }
    }

    fn joined(self, sign: char, other: Self) -> Self {
        let mut parts = [self.within(), other.within()];
        parts.sort_by_key(|part| Reverse((part.last, part.gates)));
        let [first, second] = parts;
        Self {
            text: format!("{} {sign} {}", first.text, second.text),
            is_gate: true,
            gates: first.gates + second.gates + 1,
            last: first.last,
        }
    }
}

fn in_parts(table: u8, operands: &[(usize, String); 3], complement: char) -> Part {
    let part = |table: u8| in_parts(table, operands, complement);
    match WAYS[usize::from(table)].made {
        Made::Input(input) => {
            let (last, ref text) = operands[input];
            Part { text: text.clone(), is_gate: false, gates: 0, last }
        }
        Made::Complement(of) => part(of).complemented(complement),
        Made::Gate(sign, [a, b]) => part(a).joined(sign, part(b)),
        Made::OfComplement(sign, [a, b]) => part(a).joined(sign, part(b).complemented(complement)),
    }
}
