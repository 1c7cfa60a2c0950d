//! Evaluation on all inputs at once, and the proof against a truth table.

use crate::Error;
use crate::program::{Gate, Program, Wire};

/// Columns of the truth table over six variables, as 64-bit words.
const SMALL_VARIABLES: [u64; 6] = [
    0xAAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000,
];

/// Word `word` of the column of variable `variable`: bit `p` is bit `variable` of input `64 word + p`.
pub(crate) fn variable_word(variable: usize, word: usize) -> u64 {
    match SMALL_VARIABLES.get(variable) {
        Some(&column) => column,
        None => 0u64.wrapping_sub((word >> (variable - 6)) as u64 & 1),
    }
}

/// A three-input lookup on 64 bits at once.
pub(crate) fn lookup(table: u8, a: u64, b: u64, c: u64) -> u64 {
    let entry = |index: u8| 0u64.wrapping_sub(u64::from((table >> index) & 1));
    let choose = |by: u64, zero: u64, one: u64| zero ^ (by & (zero ^ one));
    let pair = |index| choose(c, entry(index), entry(index + 1));
    choose(a, choose(b, pair(0), pair(2)), choose(b, pair(4), pair(6)))
}

/// 64 lanes of a gate, from those of what it reads.
pub(crate) fn evaluate_gate(gate: Gate, lanes: impl Fn(Wire) -> u64) -> u64 {
    match gate {
        Gate::Xor(a, b) => lanes(a) ^ lanes(b),
        Gate::And(a, b) => lanes(a) & lanes(b),
        Gate::Or(a, b) => lanes(a) | lanes(b),
        Gate::Not(a) => !lanes(a),
        Gate::Lut(table, operands) => {
            let [a, b, c] = operands.map(lanes);
            lookup(table, a, b, c)
        }
    }
}

impl Program {
    /// The truth table of every wire: bit `p % 64` of word `p / 64` is its value for input `p`.
    /// With fewer than six inputs the pattern repeats to fill the word.
    #[must_use]
    pub fn truth_tables(&self) -> Vec<Vec<u64>> {
        let words = 1usize << self.inputs().len().saturating_sub(6);
        let column = |variable| (0..words).map(|word| variable_word(variable, word)).collect();
        let mut tables: Vec<Vec<u64>> = (0..self.inputs().len()).map(column).collect();
        for statement in self.statements() {
            let value = |word| evaluate_gate(statement.gate, |wire: Wire| tables[wire][word]);
            let table = (0..words).map(value).collect();
            tables.push(table);
        }
        tables
    }

    /// Proves the program: evaluates it on all inputs and compares with the truth table.
    ///
    /// # Errors
    /// [`Error::Disproved`] names the first wrong input, what was expected and what was found;
    /// [`Error::Shape`] when the table does not have one entry per input, or there are over 8 outputs.
    pub fn prove(&self, table: &[u8]) -> Result<(), Error> {
        if table.len() != 1 << self.inputs().len() || self.outputs().len() > 8 {
            let (inputs, outputs) = (self.inputs().len(), self.outputs().len());
            let shape =
                format!("{inputs} inputs and {outputs} outputs, {} table entries", table.len());
            return Err(Error::Shape(shape));
        }
        let columns = self.truth_tables();
        for (input, &expected) in table.iter().enumerate() {
            let bit = |wire: Wire| (columns[wire][input / 64] >> (input % 64) & 1) as u8;
            let bits = self.output_wires().iter().zip(0..);
            let found = bits.fold(0, |sum, (&wire, index)| sum | bit(wire) << index);
            if found != expected {
                return Err(Error::Disproved {
                    name: self.name().to_owned(),
                    input,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    /// Proves a linear program: evaluates it on all inputs, and compares each output with the sum of
    /// the inputs that its row, a mask, names.
    ///
    /// # Errors
    /// [`Error::WrongRow`] names the first wrong output; [`Error::Shape`] when there is not one row
    /// per output, or a row names an input that does not exist.
    pub fn prove_linear(&self, rows: &[u32]) -> Result<(), Error> {
        let inputs = self.inputs().len();
        if rows.len() != self.outputs().len() || rows.iter().any(|row| row >> inputs != 0) {
            let outputs = self.outputs().len();
            let shape = format!("{inputs} inputs and {outputs} outputs, {} rows", rows.len());
            return Err(Error::Shape(shape));
        }
        let columns = self.truth_tables();
        let sum = |row: u32, word: usize| {
            let summed = (0..inputs).filter(|input| row >> input & 1 == 1);
            summed.fold(0, |sum, input| sum ^ columns[input][word])
        };
        for (index, (&row, &wire)) in rows.iter().zip(self.output_wires()).enumerate() {
            if columns[wire].iter().enumerate().any(|(word, &found)| found != sum(row, word)) {
                return Err(Error::WrongRow { name: self.name().to_owned(), row: index });
            }
        }
        Ok(())
    }
}
