//! Straight-line programs over bits: the text format, its parser and its writer.

use core::fmt;
use core::str::FromStr;
use std::collections::HashMap;

pub use lanecrypt_slicing::record::{Gate, Wire};

use crate::Error;

/// A statement of a program: the wire that it assigns, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name of the wire.
    pub name: String,
    /// What it computes.
    pub gate: Gate,
    /// Comment and blank lines that stand before the statement, as they were.
    leading: String,
}

/// How many gates of each kind a program has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Exclusive or.
    pub xor: usize,
    /// And.
    pub and: usize,
    /// Or.
    pub or: usize,
    /// Complement.
    pub not: usize,
    /// Three-input lookup.
    pub lut: usize,
}

impl Counts {
    /// All gates.
    #[must_use]
    pub fn total(&self) -> usize {
        self.xor + self.and + self.or + self.not + self.lut
    }
}

/// `115 = 83 xor + 32 and`: the total, then the kinds that occur.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.total())?;
        let kinds = [
            (self.xor, "xor"),
            (self.and, "and"),
            (self.or, "or"),
            (self.not, "not"),
            (self.lut, "lut"),
        ];
        let mut separator = " = ";
        for (count, kind) in kinds.into_iter().filter(|&(count, _)| count > 0) {
            write!(f, "{separator}{count} {kind}")?;
            separator = " + ";
        }
        Ok(())
    }
}

/// A straight-line program. The inputs are the first wires, then comes one wire a gate. Read one with [`str::parse`]; [`fmt::Display`] writes the same text.
///
/// ```text
/// # name: half_adder
/// # inputs: x0..x1
/// # outputs: s0..s1
/// # gates: 2 = 1 xor + 1 and
///
/// s0 = x0 ^ x1
/// s1 = x0 & x1
/// ```
///
/// Index 0 is the least significant bit of inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    header: Vec<(String, String)>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    output_wires: Vec<Wire>,
    statements: Vec<Statement>,
    trailing: String,
}

impl Program {
    /// The value of a header key; lines of a value that goes on are joined by a line feed.
    #[must_use]
    pub fn header(&self, key: &str) -> Option<&str> {
        let found = self.header.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The program's name, from its header.
    #[must_use]
    pub fn name(&self) -> &str {
        self.header("name").unwrap_or("unnamed")
    }

    /// Names of the inputs, least significant first.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Names of the outputs, least significant first.
    #[must_use]
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// The wires that hold the outputs, least significant first.
    #[must_use]
    pub fn output_wires(&self) -> &[Wire] {
        &self.output_wires
    }

    /// The gates in their order.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The name of a wire, or `None` where there is no such wire.
    #[must_use]
    pub fn wire_name(&self, wire: Wire) -> Option<&str> {
        match wire.checked_sub(self.inputs.len()) {
            None => Some(&self.inputs[wire]),
            Some(index) => self.statements.get(index).map(|statement| statement.name.as_str()),
        }
    }

    /// How many gates of each kind there are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for statement in &self.statements {
            match statement.gate {
                Gate::Xor(..) => counts.xor += 1,
                Gate::And(..) => counts.and += 1,
                Gate::Or(..) => counts.or += 1,
                Gate::Not(_) => counts.not += 1,
                Gate::Lut(..) => counts.lut += 1,
            }
        }
        counts
    }

    /// The name of a wire that a gate of this program reads.
    pub(crate) fn operand(&self, wire: Wire) -> &str {
        self.wire_name(wire).unwrap_or("?")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in &self.header {
            writeln!(f, "# {key}: {}", value.replace('\n', "\n#   "))?;
        }
        for statement in &self.statements {
            write!(f, "{}{} = ", statement.leading, statement.name)?;
            let name = |wire| self.operand(wire);
            match statement.gate {
                Gate::Xor(a, b) => writeln!(f, "{} ^ {}", name(a), name(b))?,
                Gate::And(a, b) => writeln!(f, "{} & {}", name(a), name(b))?,
                Gate::Or(a, b) => writeln!(f, "{} | {}", name(a), name(b))?,
                Gate::Not(a) => writeln!(f, "~{}", name(a))?,
                Gate::Lut(table, [a, b, c]) => {
                    writeln!(f, "lut {table:#04x} {} {} {}", name(a), name(b), name(c))?;
                }
            }
        }
        f.write_str(&self.trailing)
    }
}

impl FromStr for Program {
    type Err = Error;

    /// # Errors
    /// The first thing wrong with the text, with its line number; last, gate counts in the header
    /// (key `gates`) that are not the real ones.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (header, body_start) = parse_header(text);
        let value = |key| header.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let names =
            |key| value(key).and_then(|value| parse_range(value)).ok_or(Error::Header { key });
        let mut builder = Builder::new(names("inputs")?, names("outputs")?)?;
        let mut leading = String::new();
        for (index, line) in text.lines().enumerate().skip(body_start) {
            if line.trim().is_empty() || line.starts_with('#') {
                leading.push_str(line);
                leading.push('\n');
            } else {
                builder.line = index + 1;
                builder.parse_statement(line, core::mem::take(&mut leading))?;
            }
        }
        let program = builder.assemble(header, leading)?;
        let real = program.counts().to_string();
        match program.header("gates") {
            Some(stated) if stated == real => Ok(program),
            Some(stated) => Err(Error::HeaderCount { stated: stated.to_owned(), real }),
            None => Err(Error::Header { key: "gates" }),
        }
    }
}

/// The `# key: value` lines at the head, and how many lines they take.
fn parse_header(text: &str) -> (Vec<(String, String)>, usize) {
    let mut header: Vec<(String, String)> = Vec::new();
    let mut taken = 0;
    for line in text.lines() {
        let Some(comment) = line.strip_prefix("# ") else {
            break;
        };
        if let (Some(more), Some((_, value))) = (comment.strip_prefix("  "), header.last_mut()) {
            value.push('\n');
            value.push_str(more);
        } else if let Some((key, value)) = comment.split_once(": ") {
            header.push((key.to_owned(), value.to_owned()));
        } else {
            break;
        }
        taken += 1;
    }
    (header, taken)
}

/// `x0..x7` as the eight names.
fn parse_range(text: &str) -> Option<Vec<String>> {
    let (first, last) = text.split_once("..")?;
    let prefix = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = |name: &str| name.strip_prefix(prefix)?.parse::<u8>().ok();
    let (first, last) = (number(first)?, number(last)?);
    is_name(prefix).then(|| (first..=last).map(|index| format!("{prefix}{index}")).collect())
}

/// Whether a wire may have this name: what is a name in Rust and in C as well.
fn is_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(word) && name != "lut"
}

/// A program to be written from bare gates: its names, and what it is made of.
pub(crate) struct Assembly<'a> {
    /// Names of the inputs.
    pub(crate) inputs: &'a [String],
    /// Names of the outputs.
    pub(crate) outputs: &'a [String],
    /// The gate of each wire after the inputs.
    pub(crate) gates: &'a [Gate],
    /// The wire of each output.
    pub(crate) output_wires: &'a [Wire],
    /// Copies a wire, for an output that is an input or the same as another output.
    pub(crate) copy: fn(Wire) -> Gate,
}

impl Assembly<'_> {
    /// The program under a header of this name and these notes. Wires that are outputs are called
    /// so, others by their number.
    pub(crate) fn finish(&self, name: &str, notes: &[(&str, &str)]) -> Result<Program, Error> {
        let (inputs, outputs) = (self.inputs, self.outputs);
        let mut builder = Builder::new(inputs.to_vec(), outputs.to_vec())?;
        let mut names: Vec<Option<&str>> = vec![None; inputs.len() + self.gates.len()];
        for (&wire, output) in self.output_wires.iter().zip(outputs) {
            if wire >= inputs.len() && names[wire].is_none() {
                names[wire] = Some(output);
            }
        }
        for (index, &gate) in self.gates.iter().enumerate() {
            let temporary = format!("t{index}");
            builder.push(names[inputs.len() + index].unwrap_or(&temporary), gate)?;
        }
        for (&wire, output) in self.output_wires.iter().zip(outputs) {
            if names[wire] != Some(output.as_str()) {
                builder.push(output, (self.copy)(wire))?;
            }
        }
        builder.finish(name, notes)
    }
}

/// Puts a program together gate by gate.
#[derive(Debug)]
pub(crate) struct Builder {
    inputs: Vec<String>,
    outputs: Vec<String>,
    statements: Vec<Statement>,
    wires: HashMap<String, Wire>,
    /// The line being read, for errors; 0 when the program is not read from a text.
    line: usize,
}

impl Builder {
    /// A program with these inputs and outputs, and no gate yet.
    pub(crate) fn new(inputs: Vec<String>, outputs: Vec<String>) -> Result<Self, Error> {
        let wires: HashMap<_, _> = inputs.iter().cloned().zip(0..).collect();
        if inputs.is_empty() || outputs.is_empty() || inputs.len() > 16 {
            return Err(Error::Shape("1 to 16 inputs and at least one output".into()));
        }
        Ok(Self { inputs, outputs, statements: Vec::new(), wires, line: 0 })
    }

    /// Adds a gate and returns its wire.
    pub(crate) fn push(&mut self, name: &str, gate: Gate) -> Result<Wire, Error> {
        self.push_with_leading(name, gate, String::new())
    }

    /// The number of a wire by its name.
    pub(crate) fn wire(&self, name: &str) -> Result<Wire, Error> {
        let unknown = || Error::UnknownWire { line: self.line, wire: name.to_owned() };
        self.wires.get(name).copied().ok_or_else(unknown)
    }

    /// The gate written as a text: `x0 ^ x1`, `~x0`, `lut 0x96 x0 x1 x2`.
    fn parse_gate(&self, text: &str) -> Result<Option<Gate>, Error> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Ok(match words[..] {
            [a, "^", b] => Some(Gate::Xor(self.wire(a)?, self.wire(b)?)),
            [a, "&", b] => Some(Gate::And(self.wire(a)?, self.wire(b)?)),
            [a, "|", b] => Some(Gate::Or(self.wire(a)?, self.wire(b)?)),
            ["lut", table, a, b, c] => {
                let table =
                    table.strip_prefix("0x").and_then(|hex| u8::from_str_radix(hex, 16).ok());
                let operands = [self.wire(a)?, self.wire(b)?, self.wire(c)?];
                table.map(|table| Gate::Lut(table, operands))
            }
            [a] => match a.strip_prefix('~') {
                Some(a) => Some(Gate::Not(self.wire(a)?)),
                None => None,
            },
            _ => None,
        })
    }

    fn parse_statement(&mut self, text: &str, leading: String) -> Result<(), Error> {
        let syntax = || Error::Syntax { line: self.line, text: text.to_owned() };
        let (name, expression) = text.split_once(" = ").ok_or_else(syntax)?;
        if !is_name(name) {
            return Err(syntax());
        }
        let gate = self.parse_gate(expression)?.ok_or_else(syntax)?;
        self.push_with_leading(name, gate, leading).map(|_| ())
    }

    fn push_with_leading(
        &mut self,
        name: &str,
        gate: Gate,
        leading: String,
    ) -> Result<Wire, Error> {
        let wire = self.inputs.len() + self.statements.len();
        if self.wires.insert(name.to_owned(), wire).is_some() {
            return Err(Error::AssignedTwice { line: self.line, wire: name.to_owned() });
        }
        self.statements.push(Statement { name: name.to_owned(), gate, leading });
        Ok(wire)
    }

    fn assemble(self, header: Vec<(String, String)>, trailing: String) -> Result<Program, Error> {
        let missing = |name: &String| Error::MissingOutput { wire: name.clone() };
        let find = |name: &String| self.wires.get(name).copied().ok_or_else(|| missing(name));
        let output_wires = self.outputs.iter().map(find).collect::<Result<_, _>>()?;
        let Self { inputs, outputs, statements, .. } = self;
        Ok(Program { header, inputs, outputs, output_wires, statements, trailing })
    }

    /// The program, under a header of its name, its shape, its counts and then `notes`.
    pub(crate) fn finish(mut self, name: &str, notes: &[(&str, &str)]) -> Result<Program, Error> {
        if let Some(statement) = self.statements.first_mut() {
            "\n".clone_into(&mut statement.leading);
        }
        let range = |names: &[String]| match names {
            [first, .., last] => format!("{first}..{last}"),
            [only] => format!("{only}..{only}"),
            [] => String::new(),
        };
        let (inputs, outputs) = (range(&self.inputs), range(&self.outputs));
        let mut program = self.assemble(Vec::new(), String::new())?;
        let fixed = [
            ("name", name.to_owned()),
            ("inputs", inputs),
            ("outputs", outputs),
            ("gates", program.counts().to_string()),
        ];
        let notes = notes.iter().map(|&(key, value)| (key, value.to_owned()));
        program.header =
            fixed.into_iter().chain(notes).map(|(key, value)| (key.to_owned(), value)).collect();
        Ok(program)
    }
}
