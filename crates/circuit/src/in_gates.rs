//! Functions of three inputs as expressions of gates, for languages without an instruction that looks three bits up:
//! where a machine has one, its compiler makes it of the expression.

use std::{array, sync::LazyLock};

/// The tables of the inputs.
const INPUTS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// How a table is made of others.
#[derive(Clone, Copy, Debug)]
enum Made {
    Input(usize),
    Complement(u8),
    Gate(char, [u8; 2]),
}

/// How each table is made with the fewest gates.
static MADE: LazyLock<[Made; 256]> = LazyLock::new(|| {
    let mut made = [None; 256];
    let mut by_gates: Vec<Vec<u8>> = Vec::new();
    let inputs = INPUTS.into_iter().enumerate().map(|(i, table)| (table, Made::Input(i))).collect();
    by_gates.push(added(&mut made, inputs));
    while made.iter().any(Option::is_none) {
        let with_one_more = with_one_more(&by_gates);
        by_gates.push(added(&mut made, with_one_more));
    }
    array::from_fn(|table| made[table].unwrap_or(Made::Input(0)))
});

/// Adds tables that are new, and says which.
fn added(made: &mut [Option<Made>; 256], tables: Vec<(u8, Made)>) -> Vec<u8> {
    let mut new = Vec::new();
    for (table, how) in tables {
        if made[usize::from(table)].is_none() {
            made[usize::from(table)] = Some(how);
            new.push(table);
        }
    }
    new
}

/// What is made with one gate more than the last of these tables take, which lie by their number of gates.
fn with_one_more(by_gates: &[Vec<u8>]) -> Vec<(u8, Made)> {
    let mut all = Vec::new();
    for (tables, others) in by_gates.iter().zip(by_gates.iter().rev()) {
        for (&a, &b) in tables.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
            let gates = [('^', a ^ b), ('&', a & b), ('|', a | b)];
            all.extend(gates.map(|(sign, table)| (table, Made::Gate(sign, [a, b]))));
        }
    }
    let last = by_gates.last().into_iter().flatten();
    all.extend(last.map(|&table| (!table, Made::Complement(table))));
    all
}

/// What a table gives for these operands, each a name or a call, as an expression of `&`, `|`, `^` and the sign of a
/// complement.
pub(crate) fn in_gates(table: u8, operands: &[String; 3], complement: char) -> String {
    let part = |table: u8| {
        let text = in_gates(table, operands, complement);
        if matches!(MADE[usize::from(table)], Made::Gate(..)) { format!("({text})") } else { text }
    };
    match MADE[usize::from(table)] {
        Made::Input(i) => operands[i].clone(),
        Made::Complement(of) => format!("{complement}{}", part(of)),
        Made::Gate(sign, [a, b]) => format!("{} {sign} {}", part(a), part(b)),
    }
}
