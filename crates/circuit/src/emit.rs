//! Writers of Rust and of CUDA C++ from a circuit.

use core::fmt::Write;

use crate::Error;
use crate::program::{Operation, Program};

/// A Rust function `pub(crate) fn NAME<W: Word>(x: [W; 8]) -> [W; 8]` that computes the circuit.
/// `Word` has the operators `^ & | !`. Every line of `doc` becomes a doc comment line.
///
/// # Errors
/// [`Error::LookupInRust`] for a circuit with lookup gates.
pub fn emit_rust(program: &Program, function_name: &str, doc: &str) -> Result<String, Error> {
    let mut text = doc_lines(doc);
    let (inputs, outputs) = (program.inputs(), program.outputs());
    let signature = format!("<W: Word>(x: [W; {}]) -> [W; {}]", inputs.len(), outputs.len());
    let _ = writeln!(text, "pub(crate) fn {function_name}{signature} {{");
    let _ = writeln!(text, "    let [{}] = x;", inputs.join(", "));
    for gate in program.gates() {
        let name = |wire| program.operand(wire);
        let value = match gate.operation {
            Operation::Xor(a, b) => format!("{} ^ {}", name(a), name(b)),
            Operation::And(a, b) => format!("{} & {}", name(a), name(b)),
            Operation::Or(a, b) => format!("{} | {}", name(a), name(b)),
            Operation::Not(a) => format!("!{}", name(a)),
            Operation::Lut(..) => {
                return Err(Error::LookupInRust { name: program.name().to_owned() });
            }
        };
        let _ = writeln!(text, "    let {} = {value};", gate.name);
    }
    let _ = writeln!(text, "    [{}]\n}}", outputs.join(", "));
    Ok(text)
}

/// A CUDA C++ function `template <class W> DEVICE void NAME(W (&x)[8])` that computes the circuit
/// in place. `DEVICE` and `lop3<table>(a, b, c)` come from `kernels/common/word.cuh`.
#[must_use]
pub fn emit_cuda(program: &Program, function_name: &str, doc: &str) -> String {
    let mut text = doc_lines(doc);
    let words = program.inputs().len().max(program.outputs().len());
    let _ = writeln!(text, "template <class W>\nDEVICE void {function_name}(W (&x)[{words}]) {{");
    for (index, name) in program.inputs().iter().enumerate() {
        let _ = writeln!(text, "    const W {name} = x[{index}];");
    }
    for gate in program.gates() {
        let name = |wire| program.operand(wire);
        let value = match gate.operation {
            Operation::Xor(a, b) => format!("{} ^ {}", name(a), name(b)),
            Operation::And(a, b) => format!("{} & {}", name(a), name(b)),
            Operation::Or(a, b) => format!("{} | {}", name(a), name(b)),
            Operation::Not(a) => format!("~{}", name(a)),
            Operation::Lut(table, [a, b, c]) => {
                format!("lop3<{table:#04x}>({}, {}, {})", name(a), name(b), name(c))
            }
        };
        let _ = writeln!(text, "    const W {} = {value};", gate.name);
    }
    for (index, name) in program.outputs().iter().enumerate() {
        let _ = writeln!(text, "    x[{index}] = {name};");
    }
    text.push_str("}\n");
    text
}

fn doc_lines(doc: &str) -> String {
    doc.lines().fold(String::new(), |text, line| text + format!("/// {line}").trim_end() + "\n")
}
