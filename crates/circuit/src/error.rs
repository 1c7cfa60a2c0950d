//! The errors of this crate: what can be wrong with a circuit text, and with a circuit.

/// What is wrong with a circuit, its text or what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line that is neither a comment nor a gate.
    #[error("line {line}: cannot read `{text}`")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// The line as it stands.
        text: String,
    },
    /// An operand that no earlier line assigns.
    #[error("line {line}: unknown wire `{wire}`")]
    UnknownWire {
        /// Counted from 1.
        line: usize,
        /// The operand.
        wire: String,
    },
    /// A wire that already has a value.
    #[error("line {line}: wire `{wire}` is assigned twice")]
    AssignedTwice {
        /// Counted from 1.
        line: usize,
        /// The wire.
        wire: String,
    },
    /// An output that no line assigns.
    #[error("output `{wire}` is missing")]
    MissingOutput {
        /// The output.
        wire: String,
    },
    /// The header lacks a key, or its value cannot be read.
    #[error("header: `{key}` is missing or cannot be read")]
    Header {
        /// The key.
        key: &'static str,
    },
    /// The header states other gate counts than the program has.
    #[error("header states gates `{stated}`, the program has `{real}`")]
    HeaderCount {
        /// What the header says.
        stated: String,
        /// What was counted.
        real: String,
    },
    /// The circuit gives another output than the truth table.
    #[error("{name}: wrong for input {input:#04x}: expected {expected:#04x}, found {found:#04x}")]
    Disproved {
        /// The circuit's name.
        name: String,
        /// The first wrong input.
        input: usize,
        /// What the truth table says.
        expected: u8,
        /// What the circuit gives.
        found: u8,
    },
    /// An output of a linear circuit is another sum than its row says.
    #[error("{name}: output {row} is not the sum of the inputs that its row names")]
    WrongRow {
        /// The circuit's name.
        name: String,
        /// The output, from 0.
        row: usize,
    },
    /// Numbers of inputs, outputs or table entries that do not fit together.
    #[error("shape: {0}")]
    Shape(String),
    /// A plan that does not fit itself, or what was recorded.
    #[error("{whole}: {what}")]
    Plan {
        /// The whole in question.
        whole: String,
        /// What does not fit.
        what: String,
    },
    /// The target is no affine image of what the core computes.
    #[error("output bit {bit} is not a sum of the core's products")]
    NotEquivalent {
        /// The output bit.
        bit: usize,
    },
}
