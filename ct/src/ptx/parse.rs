//! PTX text as kernels and their instructions, as far as the analysis needs it.

use anyhow::{Context, Result, bail, ensure};

/// A kernel.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    /// The name of its parameter block.
    pub(crate) parameter: &'a str,
    pub(crate) instructions: Vec<Instruction<'a>>,
}

/// One instruction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Instruction<'a> {
    /// Its line in the file, from 1.
    pub(crate) line: usize,
    pub(crate) text: &'a str,
    /// The predicate register without which it does nothing.
    pub(crate) guard: Option<&'a str>,
    pub(crate) opcode: &'a str,
    pub(crate) operands: Vec<Operand<'a>>,
}

/// An operand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Operand<'a> {
    /// A register, a number or a name; several where it is a vector `{a, b}` or a pair `a|b`.
    Values(Vec<&'a str>),
    /// `[base+offset]`.
    Address { base: &'a str, offset: i64 },
}

/// The kernels of a module.
///
/// # Errors
/// Naming a line that is no PTX as NVRTC writes it.
pub(crate) fn entries(ptx: &str) -> Result<Vec<Entry<'_>>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut is_body = false;
    for (number, line) in (1..).zip(ptx.lines()) {
        let text = line.split("//").next().unwrap_or_default().trim();
        if let Some(name) = text.strip_prefix(".visible .entry ") {
            let name = name.trim_end_matches('(');
            entries.push(Entry { name, parameter: "", instructions: Vec::new() });
        } else if let Some(entry) = entries.last_mut() {
            match text {
                "{" => is_body = true,
                "}" => is_body = false,
                _ if is_body => entry.instructions.extend(
                    instruction(number, text).with_context(|| format!("line {number}: {text}"))?,
                ),
                _ if text.starts_with(".param") => {
                    ensure!(entry.parameter.is_empty(), "{} has two parameters", entry.name);
                    entry.parameter = parameter(text).with_context(|| text.to_owned())?;
                }
                _ => {}
            }
        }
        ensure!(!text.contains(".func"), "line {number}: functions are not analysed");
    }
    Ok(entries)
}

/// The name in `.param .align 16 .b8 NAME[304]`.
fn parameter(text: &str) -> Result<&str> {
    let declared = text.split(' ').next_back().context("no name")?;
    Ok(declared.split('[').next().unwrap_or(declared))
}

/// `None` for labels, directives and empty lines.
fn instruction(line: usize, text: &str) -> Result<Option<Instruction<'_>>> {
    if text.is_empty() || text.starts_with('.') || text.ends_with(':') {
        return Ok(None);
    }
    let statement = text.strip_suffix(';').context("no semicolon")?;
    let (guard, statement) = match statement.strip_prefix('@') {
        Some(guarded) => {
            let (guard, rest) = guarded.split_once(' ').context("a guard alone")?;
            (Some(guard.trim_start_matches('!')), rest.trim_start())
        }
        None => (None, statement),
    };
    let (opcode, operands) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    let operands = split(operands.trim())?.into_iter().map(operand).collect::<Result<_>>()?;
    Ok(Some(Instruction { line, text, guard, opcode, operands }))
}

/// Cuts at the commas outside braces and brackets.
fn split(operands: &str) -> Result<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, character) in operands.char_indices() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(operands[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    ensure!(depth == 0, "a bracket stands alone");
    if !operands.is_empty() {
        parts.push(operands[start..].trim());
    }
    Ok(parts)
}

fn operand(text: &str) -> Result<Operand<'_>> {
    if let Some(inside) = text.strip_prefix('[') {
        let inside = inside.strip_suffix(']').context("an address without its end")?;
        let (base, offset) = inside.split_once('+').unwrap_or((inside, "0"));
        return Ok(Operand::Address { base, offset: offset.parse().context("an offset")? });
    }
    let inside = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
    let values: Vec<&str> = inside.split([',', '|']).map(str::trim).collect();
    if values.iter().any(|value| value.is_empty()) {
        bail!("an empty operand");
    }
    Ok(Operand::Values(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Instruction<'_> {
        instruction(1, text).expect("it parses").expect("an instruction")
    }

    #[test]
    fn instructions() {
        let load = parsed("ld.param.v2.u64 \t{%rd60, %rd61}, [%rd2+-288];");
        assert_eq!((load.opcode, load.guard), ("ld.param.v2.u64", None));
        let address = Operand::Address { base: "%rd2", offset: -288 };
        assert_eq!(load.operands, [Operand::Values(vec!["%rd60", "%rd61"]), address]);
        let branch = parsed("@!%p1 bra \t$L__BB0_1;");
        assert_eq!((branch.opcode, branch.guard), ("bra", Some("%p1")));
        let pair = parsed("shfl.sync.idx.b32 \t%r2|%p3, %r1, 5, 31, -1;");
        assert_eq!(pair.operands[0], Operand::Values(vec!["%r2", "%p3"]));
        assert_eq!(pair.operands.len(), 5);
        assert_eq!(parsed("ret;").operands, []);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for text in ["add.s32 %r1, %r2", "ld.u32 %r1, [%r2;", "ld.u32 %r1, [%r2+x];", "mov a,,b;"] {
            assert!(instruction(1, text).is_err(), "{text}");
        }
        assert!(entries(".func f()").is_err());
        assert!(instruction(1, "$L__BB0_1:").expect("a label").is_none());
    }

    #[test]
    fn kernels() {
        let text = ".version 8.1\n.visible .entry one(\n\t.param .b8 one_param_0[304]\n)\n{\n\
                    \t.reg .b32 %r<9>;\n\tret; // done\n}\n.visible .entry two(\n)\n{\n}\n";
        let [one, two] = entries(text).expect("it parses").try_into().expect("two");
        assert_eq!((one.name, one.parameter, one.instructions[0].line), ("one", "one_param_0", 7));
        assert_eq!((two.name, two.instructions.len()), ("two", 0));
    }
}
