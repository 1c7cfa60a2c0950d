//! Which registers of a kernel depend on key or data, and whether an address or a branch does.
//!
//! A register is secret where any instruction that writes it reads something secret, whatever the
//! order: one that is secret anywhere is secret everywhere. That takes more for secret than is,
//! never less. Sources are loads of global and shared memory, and of the parameter block outside
//! its public fields. What the grid and the thread are called, and constants, are public.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use anyhow::{Result, bail};

use super::parse::{Entry, Instruction, Operand};

/// A place that depends on key or data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Line of the PTX.
    line: usize,
    what: &'static str,
    text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.what, self.text)
    }
}

/// What an analysis found.
#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) findings: Vec<Finding>,
    /// Starts of the public ranges that the kernel reads.
    pub(crate) public_reads: HashSet<i64>,
}

/// Analyses a kernel; `public` are the ranges of its parameter block that are not secret.
///
/// # Errors
/// Naming an instruction that is not known, and registers that nothing writes.
pub(crate) fn analyse(entry: &Entry<'_>, public: &[(i64, i64)]) -> Result<Analysis> {
    let mut state = State {
        parameter: entry.parameter,
        public,
        public_reads: HashSet::new(),
        values: HashMap::new(),
        local_is_secret: false,
    };
    while state.pass(entry)? {}
    let mut findings = Vec::new();
    for instruction in &entry.instructions {
        if let Some(register) = state.unwritten(instruction) {
            bail!("line {}: nothing writes {register}", instruction.line);
        }
        let found = state.sink(instruction)?.map(|what| Finding {
            line: instruction.line,
            what,
            text: instruction.text.replace('\t', ""),
        });
        findings.extend(found);
    }
    Ok(Analysis { findings, public_reads: state.public_reads })
}

/// What is known of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Value {
    is_secret: bool,
    /// Where in the parameter block it points, if it does and that is the same everywhere.
    offset: Option<i64>,
}

impl Value {
    fn join(self, other: Self) -> Self {
        let offset = if self.offset == other.offset { self.offset } else { None };
        Self { is_secret: self.is_secret || other.is_secret, offset }
    }
}

/// What an instruction does, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Makes its first operand of the others.
    Compute,
    /// The same, in a time that depends on the operands: quotients, remainders, and roots.
    Divide,
    /// Its third operand says which lane the second is taken from.
    Shuffle,
    /// Loads or stores; memory of a thread by itself, the parameter block, or any other.
    Load(Space),
    Store(Space),
    /// Changes what its second operand points to, and gives what was there before: which other threads
    /// may have put there.
    Exchange,
    /// Copies from its second operand to its first, which are addresses, or waits for copies.
    Copy,
    /// Adds to its first operand products of the next two, which are registers or say where in shared
    /// memory the factors are.
    Product,
    /// Counts copies that are over, or thread blocks that are through, or asks for it: which says nothing of what
    /// they bring. Words that are counted up have nothing else in them.
    Arrival,
    /// Goes elsewhere, waits or ends.
    Control,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Local,
    Parameter,
    Other,
}

/// Instructions that make a value of others in the same time for all values.
const COMPUTES: &[&str] = &[
    "abs", "add", "and", "bfe", "bfi", "brev", "clz", "cvt", "cvta", "dp4a", "lop3", "mad", "max",
    "min", "mma", "mov", "mul", "neg", "not", "or", "popc", "prmt", "selp", "setp", "shf", "shl",
    "shr", "sub", "vote", "xor",
];

fn kind(instruction: &Instruction<'_>) -> Result<Kind> {
    let mut words = instruction.opcode.split('.');
    let name = words.next().unwrap_or_default();
    let space = match words.find(|word| *word != "volatile") {
        Some("local") => Space::Local,
        Some("param") => Space::Parameter,
        _ => Space::Other,
    };
    Ok(match name {
        _ if COMPUTES.contains(&name) => Kind::Compute,
        "div" | "rem" | "sqrt" => Kind::Divide,
        "shfl" => Kind::Shuffle,
        "ld" => Kind::Load(space),
        "st" => Kind::Store(space),
        "atom" if instruction.opcode.contains(".inc.") => Kind::Arrival,
        "atom" => Kind::Exchange,
        "cp" => Kind::Copy,
        "wgmma" if instruction.opcode.starts_with("wgmma.mma_async.") => Kind::Product,
        "mbarrier" => Kind::Arrival,
        "bar" | "bra" | "exit" | "fence" | "membar" | "ret" | "trap" | "wgmma" => Kind::Control,
        _ => bail!("line {}: {name} is not known to the analysis", instruction.line),
    })
}

struct State<'a> {
    parameter: &'a str,
    public: &'a [(i64, i64)],
    public_reads: HashSet<i64>,
    values: HashMap<&'a str, Value>,
    /// Whether anything secret is stored to local memory.
    local_is_secret: bool,
}

impl<'a> State<'a> {
    /// Takes every instruction once; whether anything became known by it.
    fn pass(&mut self, entry: &Entry<'a>) -> Result<bool> {
        let mut changed = false;
        for instruction in &entry.instructions {
            let Some((Operand::Values(targets), sources)) = instruction.operands.split_first()
            else {
                // A store, or nothing at all.
                changed |= self.store(instruction)?;
                continue;
            };
            for (i, &target) in (0..).zip(targets).filter(|(_, name)| is_register(name)) {
                let Some(value) = self.result(instruction, sources, i)? else {
                    continue;
                };
                let guard = self.is_secret(instruction.guard.unwrap_or_default());
                let value = Value { is_secret: value.is_secret || guard, ..value };
                let joined = self.values.get(target).map_or(value, |old| old.join(value));
                changed |= self.values.insert(target, joined) != Some(joined);
            }
        }
        Ok(changed)
    }

    /// What an instruction gives its `i`-th target; `None` while nothing of its operands is known.
    fn result(
        &mut self,
        instruction: &Instruction<'a>,
        sources: &[Operand<'a>],
        i: i64,
    ) -> Result<Option<Value>> {
        if let (Kind::Load(space), [Operand::Address { base, offset }]) =
            (kind(instruction)?, sources)
        {
            let Some(base) = self.value(base) else {
                return Ok(None);
            };
            let is_secret = match space {
                Space::Local => self.local_is_secret,
                Space::Parameter => self.is_secret_parameter(instruction, base, *offset, i),
                Space::Other => true,
            };
            return Ok(Some(Value { is_secret, offset: None }));
        }
        match kind(instruction)? {
            Kind::Product | Kind::Exchange => {
                return Ok(Some(Value { is_secret: true, offset: None }));
            }
            Kind::Arrival => return Ok(Some(Value::default())),
            _ => {}
        }
        let names = sources.iter().flat_map(Operand::names);
        let Some(values) = names.map(|name| self.value(name)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let is_secret = values.iter().any(|value| value.is_secret);
        Ok(Some(Value { is_secret, offset: self.moved(instruction, sources) }))
    }

    /// Where in the parameter block the result of an instruction points.
    fn moved(&self, instruction: &Instruction<'a>, sources: &[Operand<'a>]) -> Option<i64> {
        let offset = |operand: &Operand<'a>| match operand {
            Operand::Values(names) if names.len() == 1 => self.value(names[0])?.offset,
            _ => None,
        };
        let number = |operand: &Operand<'a>| match operand {
            Operand::Values(names) if names.len() == 1 => names[0].parse::<i64>().ok(),
            _ => None,
        };
        match (instruction.opcode.split('.').next()?, sources) {
            ("mov", [from]) => offset(from),
            ("add", [left, right]) => Some(offset(left)? + number(right)?),
            _ => None,
        }
    }

    /// Whether the `i`-th value of a load from the parameter block is secret.
    fn is_secret_parameter(
        &mut self,
        instruction: &Instruction<'a>,
        base: Value,
        offset: i64,
        i: i64,
    ) -> bool {
        let Some(start) = base.offset else {
            return true;
        };
        let width = instruction.bytes();
        let start = start + offset + i * width;
        let is_inside = |range: &&(i64, i64)| range.0 <= start && start + width <= range.1;
        match self.public.iter().find(is_inside) {
            Some(range) => {
                self.public_reads.insert(range.0);
                false
            }
            None => true,
        }
    }

    /// Notes what a store leaves in local memory.
    fn store(&mut self, instruction: &Instruction<'a>) -> Result<bool> {
        let is_local = kind(instruction)? == Kind::Store(Space::Local);
        let stored = instruction.operands.iter().skip(1).flat_map(Operand::names);
        let is_new = is_local
            && !self.local_is_secret
            && stored.into_iter().any(|name| self.is_secret(name));
        self.local_is_secret |= is_new;
        Ok(is_new)
    }

    /// How an instruction shows something secret, if it does.
    fn sink(&self, instruction: &Instruction<'a>) -> Result<Option<&'static str>> {
        let addresses = instruction.operands.iter().filter_map(|operand| match operand {
            Operand::Address { base, .. } => Some(*base),
            Operand::Values(_) => None,
        });
        let any = |skipped: usize| {
            let operands = instruction.operands.iter().skip(skipped);
            operands.flat_map(Operand::names).any(|name| self.is_secret(name))
        };
        let is_guarded = instruction.guard.is_some_and(|guard| self.is_secret(guard));
        Ok(match kind(instruction)? {
            _ if addresses.into_iter().any(|base| self.is_secret(base)) => Some("secret address"),
            Kind::Compute => None,
            // How many bytes there are to copy shows as an address does.
            Kind::Copy if any(2) => Some("secret address"),
            Kind::Product if self.is_secret_place(instruction) => Some("secret address"),
            Kind::Arrival if any(1) => Some("secret branch"),
            Kind::Control if is_guarded || any(0) => Some("secret branch"),
            _ if is_guarded => Some("secret predicate"),
            Kind::Divide if any(1) => Some("division of secrets"),
            Kind::Shuffle if any(2) => Some("secret lane"),
            _ => None,
        })
    }

    /// Whether where the factors of products are is secret: factors that are registers are vectors of
    /// them, and may be.
    fn is_secret_place(&self, instruction: &Instruction<'a>) -> bool {
        instruction.operands.iter().skip(1).any(|operand| match operand {
            Operand::Values(names) => names.len() == 1 && self.is_secret(names[0]),
            Operand::Address { .. } => true,
        })
    }

    /// A register that an instruction reads or writes, and of which nothing is known.
    fn unwritten(&self, instruction: &Instruction<'a>) -> Option<&'a str> {
        let names = instruction.operands.iter().flat_map(Operand::names).chain(instruction.guard);
        names.into_iter().find(|name| self.value(name).is_none())
    }

    fn is_secret(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| value.is_secret)
    }

    /// What is known of a name; `None` for a register that nothing known was written to.
    fn value(&self, name: &str) -> Option<Value> {
        if name == self.parameter {
            return Some(Value { is_secret: false, offset: Some(0) });
        }
        if is_register(name) { self.values.get(name).copied() } else { Some(Value::default()) }
    }
}

impl<'a> Operand<'a> {
    /// Registers, numbers and names in it.
    fn names(&self) -> Vec<&'a str> {
        match self {
            Self::Values(names) => names.clone(),
            Self::Address { base, .. } => vec![base],
        }
    }
}

impl Instruction<'_> {
    /// Bytes of each value that it loads, from the end of its opcode: `.u32`, `.b8`.
    fn bytes(&self) -> i64 {
        let bits = self.opcode.rsplit('.').next().unwrap_or_default();
        bits.trim_start_matches(char::is_alphabetic).parse().map_or(8, |bits: i64| bits / 8)
    }
}

/// Whether a name is a register that instructions write; `%tid.x` and its like are not.
fn is_register(name: &str) -> bool {
    let digits = name.trim_start_matches('%').trim_start_matches(char::is_alphabetic);
    name.starts_with('%') && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        || matches!(name, "%SP" | "%SPL")
}

#[cfg(test)]
mod tests;
