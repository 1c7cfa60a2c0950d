//! A kernel's text: instructions and labels of one entry of a PTX file.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};

/// What an instruction reads, or writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register by number.
    Register(usize),
    /// A number as 64 bits.
    Immediate(u64),
    /// A label, a symbol or a special register.
    Name(String),
    /// Some at once.
    Vector(Vec<Operand>),
    /// Memory at a register or a symbol plus a number of bytes.
    Memory(Box<Operand>, u64),
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The predicate that must hold, and whether its complement must.
    pub guard: Option<(usize, bool)>,
    /// Its name in parts: `["shl", "b32"]`.
    pub name: Vec<String>,
    /// What it reads and writes, where it writes first.
    pub operands: Vec<Operand>,
}

/// An entry.
#[derive(Debug, Default)]
pub struct Kernel {
    /// In the order of the text.
    pub instructions: Vec<Instruction>,
    /// The instruction after each label.
    pub labels: HashMap<String, usize>,
    /// Threads of a thread block, which is launched as large as it may be.
    pub threads: u32,
    /// Registers by name.
    registers: HashMap<String, usize>,
}

impl Kernel {
    /// The entry `name` of a file.
    ///
    /// # Errors
    /// Where there is none, or a line is no instruction.
    pub fn read(text: &str, name: &str) -> Result<Self> {
        let header = format!(".entry {name}(");
        let (_, rest) = text.split_once(&header).with_context(|| format!("no entry {name}"))?;
        let body = rest.split("\n}").next().unwrap_or_default();
        let (header, body) = body.split_once("\n{").context("an entry without a body")?;
        let (_, threads) = header.split_once(".maxntid ").context("an entry without a size")?;
        let threads = threads.split(',').next().unwrap_or_default().trim().parse()?;
        let mut kernel = Self { threads, ..Self::default() };
        for line in body.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            if let Some(label) = line.strip_suffix(':') {
                kernel.labels.insert(label.to_owned(), kernel.instructions.len());
            } else if !line.is_empty() && !line.starts_with('.') {
                let instruction = kernel.instruction(line).with_context(|| line.to_owned())?;
                kernel.instructions.push(instruction);
            }
        }
        Ok(kernel)
    }

    /// How many registers it names.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers.len()
    }

    fn register(&mut self, name: &str) -> usize {
        let next = self.registers.len();
        *self.registers.entry(name.to_owned()).or_insert(next)
    }

    fn instruction(&mut self, line: &str) -> Result<Instruction> {
        let line = line.strip_suffix(';').context("no semicolon")?;
        let (guard, line) = match line.strip_prefix('@') {
            None => (None, line),
            Some(rest) => {
                let (guard, rest) =
                    rest.split_once(char::is_whitespace).context("a guard alone")?;
                let name = guard.trim_start_matches('!');
                (Some((self.register(name), name.len() < guard.len())), rest.trim())
            }
        };
        let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.split('.').map(str::to_owned).collect();
        let operands = split(operands).map(|text| self.operand(text)).collect::<Result<_>>()?;
        Ok(Instruction { guard, name, operands })
    }

    fn operand(&mut self, text: &str) -> Result<Operand> {
        if let Some(inner) = inside(text, '{', '}') {
            return Ok(Operand::Vector(
                split(inner).map(|text| self.operand(text)).collect::<Result<_>>()?,
            ));
        }
        if let Some(inner) = inside(text, '[', ']') {
            let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
            let offset: i64 = offset.parse()?;
            return Ok(Operand::Memory(Box::new(self.operand(base)?), offset.cast_unsigned()));
        }
        // A shuffle's second result, whether the lane was in range, is not asked for.
        let text = text.split('|').next().unwrap_or(text);
        let is_special = ["%tid", "%ntid", "%ctaid", "%nctaid", "%clock", "%smid"];
        if text.starts_with('%') && !is_special.iter().any(|special| text.starts_with(special)) {
            return Ok(Operand::Register(self.register(text)));
        }
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse().map(i64::cast_unsigned),
        };
        if let Ok(number) = number {
            return Ok(Operand::Immediate(number));
        }
        if text.is_empty() || text.contains(char::is_whitespace) {
            bail!("cannot read the operand `{text}`");
        }
        Ok(Operand::Name(text.to_owned()))
    }
}

/// What is between these characters, if all is.
fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// The parts between the commas that are outside of braces.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read() {
        let text = "\
.visible .entry other(\n)\n{\n\tret;\n\n}
.visible .entry kernel(
	.param .align 16 .b8 kernel_param_0[336]
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<82>;
$L1:
	@!%p1 bra 	$L1; // again
	ld.shared.v4.u32 	{%r1, %r2, %r3, %r1}, [shared+-16];
	ret;

}";
        let kernel = Kernel::read(text, "kernel").expect("it can be read");
        let [branch, load, end] = &kernel.instructions[..] else { panic!("three instructions") };
        assert_eq!((kernel.labels["$L1"], kernel.threads), (0, 256));
        assert_eq!((branch.guard, &branch.name[0][..]), (Some((0, true)), "bra"));
        let registers = [1, 2, 3, 1].map(Operand::Register).to_vec();
        let address =
            Operand::Memory(Box::new(Operand::Name("shared".into())), 16u64.wrapping_neg());
        assert_eq!(load.operands, [Operand::Vector(registers), address]);
        assert!(end.operands.is_empty());
        assert!(Kernel::read(text, "missing").is_err());
    }
}
