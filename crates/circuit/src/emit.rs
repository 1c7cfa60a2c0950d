//! Writers of Rust and of CUDA C++ from a circuit.

use core::fmt::Write;

use crate::Error;
use crate::program::{Operation, Program};

/// A Rust function `pub(crate) fn NAME<W: Word>(x: [W; 8]) -> [W; 8]` that computes the circuit.
/// `Word` has the operators `^ & | !`. It is always inlined: loops over it become vectors only if it
/// is part of them. Every line of `doc` becomes a doc comment line.
///
/// # Errors
/// [`Error::LookupInRust`] for a circuit with lookup gates.
pub fn emit_rust(program: &Program, function_name: &str, doc: &str) -> Result<String, Error> {
    let mut text = doc_lines(doc);
    let (inputs, outputs) = (program.inputs(), program.outputs());
    let signature = format!("<W: Word>(x: [W; {}]) -> [W; {}]", inputs.len(), outputs.len());
    let _ = writeln!(text, "#[inline(always)]\npub(crate) fn {function_name}{signature} {{");
    let _ = writeln!(text, "    let [{}] = x;", inputs.join(", "));
    for gate in program.gates() {
        let Some(value) = expression(program, gate.operation, '!') else {
            return Err(Error::LookupInRust { name: program.name().to_owned() });
        };
        let _ = writeln!(text, "    let {} = {value};", gate.name);
    }
    let _ = writeln!(text, "    [{}]\n}}", outputs.join(", "));
    Ok(text)
}

/// A CUDA C++ function that computes the circuit: with as many outputs as inputs in place,
/// `template <class W> DEVICE void NAME(W (&x)[8])`, else from one array to another,
/// `NAME(const W (&x)[6], W (&s)[4])`. `DEVICE` and `lop3<table>(a, b, c)` come from
/// `kernels/common/word.cuh`.
#[must_use]
pub fn emit_cuda(program: &Program, function_name: &str, doc: &str) -> String {
    let mut text = doc_lines(doc);
    let (inputs, outputs) = (program.inputs(), program.outputs());
    let (parameters, result) = if inputs.len() == outputs.len() {
        (format!("W (&x)[{}]", inputs.len()), "x")
    } else {
        (format!("const W (&x)[{}], W (&s)[{}]", inputs.len(), outputs.len()), "s")
    };
    let _ = writeln!(text, "template <class W>\nDEVICE void {function_name}({parameters}) {{");
    for (index, name) in inputs.iter().enumerate() {
        let _ = writeln!(text, "    const W {name} = x[{index}];");
    }
    for gate in program.gates() {
        let value = match gate.operation {
            Operation::Lut(table, operands) => {
                let [a, b, c] = operands.map(|wire| program.operand(wire));
                format!("lop3<{table:#04x}>({a}, {b}, {c})")
            }
            operation => expression(program, operation, '~').unwrap_or_default(),
        };
        let _ = writeln!(text, "    const W {} = {value};", gate.name);
    }
    for (index, name) in outputs.iter().enumerate() {
        let _ = writeln!(text, "    {result}[{index}] = {name};");
    }
    text.push_str("}\n");
    text
}

/// An operation as Rust and C write it, which differ in the sign of a complement; `None` for a
/// lookup.
fn expression(program: &Program, operation: Operation, complement: char) -> Option<String> {
    let name = |wire| program.operand(wire);
    Some(match operation {
        Operation::Xor(a, b) => format!("{} ^ {}", name(a), name(b)),
        Operation::And(a, b) => format!("{} & {}", name(a), name(b)),
        Operation::Or(a, b) => format!("{} | {}", name(a), name(b)),
        Operation::Not(a) => format!("{complement}{}", name(a)),
        Operation::Lut(..) => return None,
    })
}

fn doc_lines(doc: &str) -> String {
    doc.lines().fold(String::new(), |text, line| text + format!("/// {line}").trim_end() + "\n")
}
