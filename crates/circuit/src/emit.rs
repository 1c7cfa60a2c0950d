//! Writers of Rust and of CUDA C++ from a circuit.

use core::fmt::{Display, Write};

use crate::{
    in_gates::in_gates,
    program::{Gate, Program, Wire},
};

/// What differs between the expressions of languages.
pub(crate) struct Operators {
    /// The sign of a complement.
    pub(crate) complement: char,
    /// The function that looks three bits up, where the language has one; elsewhere gates do it.
    pub(crate) look_up: Option<&'static str>,
}

const RUST: Operators = Operators { complement: '!', look_up: Some("W::lut3::") };
pub(crate) const CUDA: Operators = Operators { complement: '~', look_up: Some("lop3") };

/// A Rust function `pub(crate) fn NAME<W: Word>(x: [W; 8]) -> [W; 8]` that computes a circuit of two
/// forms: the lookups where a word has an instruction for them, else the gates. `Word` has the
/// operators `^ & | !`, `TERNARY` and `lut3`. All of it is always inlined: loops over it become
/// vectors only if it is part of them. Every line of `doc` becomes a doc comment line.
#[must_use]
pub fn emit_rust([gates, lookups]: [&Program; 2], function_name: &str, doc: &str) -> String {
    let shape = format!("<W: Word>(x: {}) -> {}", array(gates.inputs()), array(gates.outputs()));
    let mut text = doc_lines(doc);
    let _ = writeln!(
        text,
        "#[inline(always)]\npub(crate) fn {function_name}{shape} {{\n    \
         if W::TERNARY {{ {function_name}_lookups(x) }} else {{ {function_name}_gates(x) }}\n}}"
    );
    for (program, form) in [(gates, "gates"), (lookups, "lookups")] {
        let _ = writeln!(text, "\n#[inline(always)]\nfn {function_name}_{form}{shape} {{");
        let _ = writeln!(text, "    let [{}] = x;", program.inputs().join(", "));
        for statement in program.statements() {
            let value = expression(statement.gate, |wire| program.operand(wire), &RUST);
            let _ = writeln!(text, "    let {} = {value};", statement.name);
        }
        let _ = writeln!(text, "    [{}]\n}}", program.outputs().join(", "));
    }
    text
}

/// The type of as many words as there are names.
fn array(names: &[String]) -> String {
    format!("[W; {}]", names.len())
}

/// A CUDA C++ function that computes a circuit of as many outputs as inputs, in place:
/// `template <class W> DEVICE void NAME(W (&x)[8])`. `DEVICE` and `lop3<table>(a, b, c)` come from
/// `kernels/common/word.cuh`.
#[must_use]
pub fn emit_cuda(program: &Program, function_name: &str, doc: &str) -> String {
    let mut text = doc_lines(doc);
    let inputs = program.inputs();
    let count = inputs.len();
    let _ = writeln!(text, "template <class W>\nDEVICE void {function_name}(W (&x)[{count}]) {{");
    for (index, name) in inputs.iter().enumerate() {
        let _ = writeln!(text, "    const W {name} = x[{index}];");
    }
    for statement in program.statements() {
        let value = expression(statement.gate, |wire| program.operand(wire), &CUDA);
        let _ = writeln!(text, "    const W {} = {value};", statement.name);
    }
    for (index, name) in program.outputs().iter().enumerate() {
        let _ = writeln!(text, "    x[{index}] = {name};");
    }
    text.push_str("}\n");
    text
}

/// A gate as a language writes it.
pub(crate) fn expression<N: Display>(
    gate: Gate,
    name: impl Fn(Wire) -> N,
    Operators { complement, look_up }: &Operators,
) -> String {
    match gate {
        Gate::Xor(a, b) => format!("{} ^ {}", name(a), name(b)),
        Gate::And(a, b) => format!("{} & {}", name(a), name(b)),
        Gate::Or(a, b) => format!("{} | {}", name(a), name(b)),
        Gate::Not(a) => format!("{complement}{}", name(a)),
        Gate::Lut(table, operands) => {
            let operands = operands.map(|operand| (operand, name(operand).to_string()));
            let Some(look_up) = look_up else { return in_gates(table, &operands, *complement) };
            let names = operands.map(|(_, name)| name);
            format!("{look_up}<{table:#04x}>({})", names.join(", "))
        }
    }
}

fn doc_lines(doc: &str) -> String {
    doc.lines().fold(String::new(), |text, line| text + format!("/// {line}").trim_end() + "\n")
}
