//! What one instruction does to what is known, and what it shows of a secret.

use anyhow::{Context, Result, bail};

use super::{
    Program,
    parse::{General, Instruction, Linked, Memory, Operand, RAX, RBP, RDX, RSP},
    state::{Place, State},
    value::{BODY, Value},
};

/// How an instruction can show a secret.
pub(crate) const ADDRESS: &str = "secret address";
pub(crate) const BRANCH: &str = "secret branch";
pub(crate) const DIVISION: &str = "division of secrets";
pub(crate) const MASK: &str = "memory under a secret mask";

/// What analysing a function needs beside the state.
pub(crate) struct Notes<'a> {
    /// Public bytes of the keys of its body: first and end.
    pub(crate) public_keys: &'a [(i64, i64)],
    pub(crate) program: &'a Program<'a>,
    /// How it shows secrets, with the address of the instruction.
    pub(crate) findings: Vec<(u64, &'static str)>,
    /// Starts of public ranges of keys that it reads.
    pub(crate) public_reads: Vec<i64>,
    /// Words of its body that it reads.
    pub(crate) job_reads: Vec<i64>,
}

/// Takes the state over an instruction that goes on to the next one.
///
/// # Errors
/// Where the instruction is not known.
pub(crate) fn step(state: &mut State, notes: &mut Notes<'_>, at: &Instruction<'_>) -> Result<()> {
    Step { state, notes, at }.run().with_context(|| format!("{:x}: {}", at.address, at.text))
}

struct Step<'s, 'c, 'i> {
    state: &'s mut State,
    notes: &'s mut Notes<'c>,
    at: &'s Instruction<'i>,
}

/// What a name means with a suffix for the size or without, `b`, `w`, `l`, `q`.
fn stem<'a>(name: &'a str, known: &[&str]) -> Option<(&'a str, Option<u8>)> {
    if known.contains(&name) {
        return Some((name, None));
    }
    let (start, suffix) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let bytes = match suffix {
        "b" => 1,
        "w" => 2,
        "l" => 4,
        "q" => 8,
        _ => return None,
    };
    known.contains(&start).then_some((start, Some(bytes)))
}

/// Instructions of two operands that compute the second of both, and flags.
const BINARY: [&str; 13] =
    ["add", "sub", "and", "or", "xor", "adc", "sbb", "shl", "shr", "sar", "rol", "ror", "sal"];
/// Of one operand, likewise.
const UNARY: [&str; 4] = ["inc", "dec", "neg", "not"];
/// That compute flags alone.
const COMPARE: [&str; 3] = ["cmp", "test", "bt"];
/// That compute the last operand of the others, and flags.
const LAST: [&str; 17] = [
    "imul", "shld", "shrd", "andn", "bextr", "blsr", "blsi", "blsmsk", "bzhi", "popcnt", "tzcnt",
    "lzcnt", "bsf", "bsr", "btr", "bts", "btc",
];
/// The same, of the others alone, and no flags.
const LAST_WITHOUT_FLAGS: [&str; 7] = ["rorx", "shlx", "shrx", "sarx", "pext", "pdep", "movbe"];
/// That do nothing, or clear what is above the lowest 128 bits of every vector.
const NOTHING: [&str; 5] = ["nop", "nopw", "nopl", "endbr64", "vzeroupper"];

impl Step<'_, '_, '_> {
    fn run(&mut self) -> Result<()> {
        let name = self.at.mnemonic;
        let operands = &self.at.operands[..];
        if NOTHING.contains(&name) {
            return Ok(());
        }
        if self.at.is_vector() {
            return self.vector();
        }
        if name.starts_with("cmov") || name.starts_with("set") {
            return self.conditional();
        }
        if name.starts_with("movs") || name.starts_with("movz") {
            return self.extend();
        }
        if let Some((_, bytes)) = stem(name, &["mov", "movabs"]) {
            return self.copy(bytes);
        }
        if let Some((name, bytes)) = stem(name, &BINARY) {
            return self.binary(name, bytes);
        }
        if let Some((name, bytes)) = stem(name, &UNARY) {
            return self.unary(name, bytes);
        }
        if let Some((name, bytes)) = stem(name, &COMPARE) {
            let [a, b] = self.two()?;
            let bytes = self.bytes(bytes)?;
            let is_secret = self.read(a, bytes)?.mix(self.read(b, bytes)?).is_secret();
            if name.starts_with("bt") {
                self.state.carry = is_secret;
            } else {
                self.set_flags(is_secret);
            }
            return Ok(());
        }
        match (name, operands) {
            ("lea", [Operand::Memory(memory), Operand::General(to)]) => {
                self.state.set(*to, self.state.address(memory));
                Ok(())
            }
            ("push", [from]) => self.push(*from),
            ("pop", [Operand::General(to)]) => self.pop(*to),
            ("leave", []) => self.leave(),
            // `xchg %ax,%ax` does nothing: it fills up the space before a loop.
            ("xchg", [Operand::General(a), Operand::General(b)]) if a == b => Ok(()),
            ("xchg", [Operand::General(a), Operand::General(b)]) => {
                let (left, right) = (self.state.register(*a), self.state.register(*b));
                self.state.set(*a, right);
                self.state.set(*b, left);
                Ok(())
            }
            ("bswap", [Operand::General(register)]) => {
                let value = self.state.register(*register);
                self.state.set(*register, value.mix(value));
                Ok(())
            }
            ("cltq" | "cwtl" | "cqto" | "cltd", []) => {
                let value = self.state.whole(RAX);
                let to = if matches!(name, "cqto" | "cltd") { RDX } else { RAX };
                self.state.set(General::whole(to), value.mix(value));
                Ok(())
            }
            _ => self.wide_or_last(),
        }
    }

    fn copy(&mut self, suffix: Option<u8>) -> Result<()> {
        let [from, to] = self.two()?;
        let bytes = self.bytes(suffix)?;
        let value = self.read(from, bytes)?;
        match to {
            Operand::Memory(memory) => {
                let place = self.place(&memory);
                let is_slot = matches!(from, Operand::General(_));
                self.store(place, bytes, value, is_slot)
            }
            _ => self.write(to, bytes, value),
        }
    }

    /// Multiplications and divisions into two registers, and what computes its last operand.
    fn wide_or_last(&mut self) -> Result<()> {
        let name = self.at.mnemonic;
        if let (Some((name, bytes)), [operand]) =
            (stem(name, &["mul", "imul", "div", "idiv"]), &self.at.operands[..])
        {
            let bytes = self.bytes(bytes)?;
            let low = self.state.whole(RAX);
            let mut value = low.mix(self.read(*operand, bytes)?);
            if name.ends_with("div") {
                value = value.mix(self.state.whole(RDX));
                self.find(value.is_secret(), DIVISION);
            }
            self.set_flags(value.is_secret());
            for register in [RAX, RDX] {
                self.state.set(General::whole(register), value);
            }
            return Ok(());
        }
        let (stem_of, with_flags) = match (stem(name, &LAST), stem(name, &LAST_WITHOUT_FLAGS)) {
            (Some(found), _) => (found, true),
            (None, Some(found)) => (found, false),
            (None, None) => bail!("{name} is not known to the analysis"),
        };
        let bytes = self.bytes(stem_of.1)?;
        let (&last, from) = self.at.operands.split_last().context("no operand")?;
        // Of three operands the last is written alone, but for `shld` and `shrd`.
        let reads_last = from.len() < 2 || stem_of.0.starts_with("sh") && with_flags;
        let mut value = Value::Public;
        for &operand in from.iter().chain(reads_last.then_some(&last)) {
            value = value.mix(self.read(operand, bytes)?);
        }
        if with_flags {
            self.add_to_flags(value.is_secret());
        }
        self.write(last, bytes, value)
    }

    fn binary(&mut self, name: &str, suffix: Option<u8>) -> Result<()> {
        let bytes = self.bytes(suffix)?;
        let (from, to) = match self.at.operands[..] {
            [from, to] => (from, to),
            // Shifts by one are written with one operand.
            [to] => (Operand::Immediate(1), to),
            _ => bail!("its operands are not understood"),
        };
        if name == "xor" && from == to {
            self.set_flags(false);
            return self.write(to, bytes, Value::Number(0));
        }
        let (a, b) = (self.read(to, bytes)?, self.read(from, bytes)?);
        let carry = classified(self.state.carry);
        let value = match name {
            "sbb" if from == to => carry,
            "adc" | "sbb" => a.mix(b).mix(carry),
            "add" if bytes == 8 => a.plus(b),
            "sub" if bytes == 8 => a.minus(b),
            "and" if bytes == 8 => a.and(b),
            "shl" if bytes == 8 => shifted(a, b),
            _ => a.mix(b),
        };
        let is_shift = matches!(name, "shl" | "sal" | "shr" | "sar" | "rol" | "ror");
        let is_secret = a.mix(b).is_secret();
        match (name, from) {
            ("sbb", _) if from == to => self.set_flags(carry.is_secret()),
            ("adc" | "sbb", _) => self.set_flags(is_secret || carry.is_secret()),
            ("shl" | "sal" | "shr" | "sar", Operand::Immediate(_)) => self.set_flags(is_secret),
            // By no bits they leave the flags as they were, and rotations leave some.
            _ if is_shift => self.add_to_flags(is_secret),
            _ => self.set_flags(is_secret),
        }
        self.write(to, bytes, value)
    }

    fn unary(&mut self, name: &str, suffix: Option<u8>) -> Result<()> {
        let [operand] = self.at.operands[..] else { bail!("its operands are not understood") };
        let bytes = self.bytes(suffix)?;
        let value = self.read(operand, bytes)?;
        let result = match name {
            "inc" if bytes == 8 => value.plus(Value::Number(1)),
            "dec" if bytes == 8 => value.plus(Value::Number(-1)),
            _ => value.mix(value),
        };
        match name {
            "not" => {}
            "neg" => self.set_flags(value.is_secret()),
            // The carry stays.
            _ => self.state.flags = value.is_secret(),
        }
        self.write(operand, bytes, result)
    }

    /// `cmov` and `set`: the flags choose.
    fn conditional(&mut self) -> Result<()> {
        let name = self.at.mnemonic;
        let condition = name.strip_prefix("cmov").or_else(|| name.strip_prefix("set"));
        let is_secret = self.state.is_secret_condition(condition.unwrap_or_default());
        match self.at.operands[..] {
            [from, Operand::General(to)] => {
                let from = self.read(from, i64::from(to.bytes))?;
                let value = from.join(self.state.register(to));
                self.state.set(to, if is_secret { Value::Secret } else { value });
                Ok(())
            }
            [Operand::Memory(memory)] => {
                let place = self.place(&memory);
                self.store(place, 1, classified(is_secret), true)
            }
            [to] => self.write(to, 1, classified(is_secret)),
            _ => bail!("its operands are not understood"),
        }
    }

    /// `movzbl` and its like: the first letter after them is the size of what is read.
    fn extend(&mut self) -> Result<()> {
        let bytes = match self.at.mnemonic.as_bytes().get(4) {
            Some(b'b') => 1,
            Some(b'w') => 2,
            Some(b'l') => 4,
            _ => bail!("string instructions are not known to the analysis"),
        };
        let [from, Operand::General(to)] = self.at.operands[..] else {
            bail!("its operands are not understood")
        };
        let value = self.read(from, bytes)?;
        self.state.set(to, value.mix(value));
        Ok(())
    }

    fn push(&mut self, from: Operand) -> Result<()> {
        let value = self.read(from, 8)?;
        let top = self.state.whole(RSP).plus(Value::Number(-8));
        self.state.set(General::whole(RSP), top);
        let Value::Frame(Some(at)) = top else { bail!("where the stack ends is not known") };
        self.state.frame.store(at, 8, value, true);
        Ok(())
    }

    fn pop(&mut self, to: General) -> Result<()> {
        let top = self.state.whole(RSP);
        let Value::Frame(Some(at)) = top else { bail!("where the stack ends is not known") };
        let value = self.state.frame.load(at, 8);
        self.state.set(General::whole(RSP), top.plus(Value::Number(8)));
        self.state.set(to, value);
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        let base = self.state.whole(RBP);
        self.state.set(General::whole(RSP), base);
        self.pop(General::whole(RBP))
    }

    /// An instruction on vectors or masks: its last operand is made of the others.
    fn vector(&mut self) -> Result<()> {
        if self.at.is_unknown_vector() {
            bail!("{} is not known to the analysis", self.at.mnemonic);
        }
        let (&to, from) = self.at.operands.split_last().context("no operand")?;
        if let (Operand::Mask(to), &[from]) = (to, from) {
            return self.move_mask(from, to);
        }
        let mut is_secret = false;
        for &operand in from {
            is_secret |= self.read_vector(operand)?;
        }
        if self.at.sets_flags() {
            let is_secret = is_secret | self.read_vector(to)?;
            self.set_flags(is_secret);
            return Ok(());
        }
        is_secret &= !self.at.cancels();
        self.masked_memory();
        let is_fresh = self.at.cancels() && self.at.mask.is_none();
        let merges = self.at.reads_its_result() && !is_fresh;
        if let Some((register, _)) = self.at.mask {
            is_secret |= self.is_secret_mask(register);
        }
        match to {
            Operand::Vector(number, _) => {
                let old = &mut self.state.vectors[usize::from(number)];
                *old = is_secret || merges && *old;
            }
            Operand::Mask(number) => self.state.masks[usize::from(number)] = classified(is_secret),
            Operand::General(register) => {
                self.state.set(register, classified(is_secret));
            }
            Operand::Memory(memory) => self.store_vector(&memory, is_secret)?,
            _ => bail!("its operands are not understood"),
        }
        Ok(())
    }

    /// To a mask from another one, memory or a register, of which the lowest byte counts where there
    /// are eight lanes.
    fn move_mask(&mut self, from: Operand, to: u8) -> Result<()> {
        let bytes = self.at.loaded_bytes();
        self.state.masks[usize::from(to)] = match from {
            Operand::Mask(from) => self.state.masks[usize::from(from)],
            Operand::Vector(from, _) => classified(self.state.vectors[usize::from(from)]),
            _ => self.read(from, bytes)?,
        };
        Ok(())
    }

    /// Whether what a mask says of the lanes of this instruction is secret.
    fn is_secret_mask(&self, register: u8) -> bool {
        let lanes_at_most_8 = self.at.mnemonic.ends_with('q') || self.at.mnemonic.ends_with("64");
        let bytes = if lanes_at_most_8 { 1 } else { 8 };
        self.state.masks[usize::from(register)].lowest(bytes).is_secret()
    }

    /// Finds secrets in what says which elements of memory are touched. Of constants all may be.
    fn masked_memory(&mut self) {
        let touches = self.at.operands.iter().any(|operand| match operand {
            Operand::Memory(memory) => self.state.locate(memory).place != Place::Constants,
            _ => false,
        });
        let mask = self.at.mask.is_some_and(|(register, _)| self.is_secret_mask(register));
        let by_vector = self.at.masking_vector();
        let vector = by_vector.is_some_and(|register| self.state.vectors[usize::from(register)]);
        self.find(touches && (mask || vector), MASK);
    }

    fn read_vector(&mut self, operand: Operand) -> Result<bool> {
        Ok(match operand {
            Operand::Vector(number, _) => self.state.vectors[usize::from(number)],
            Operand::Mask(number) => self.state.masks[usize::from(number)].is_secret(),
            _ => {
                let bytes = self.at.loaded_bytes();
                self.read(operand, bytes)?.is_secret()
            }
        })
    }

    fn store_vector(&mut self, memory: &Memory, is_secret: bool) -> Result<()> {
        let place = self.place(memory);
        let mut value = classified(is_secret);
        if let Operand::Mask(from) = self.at.operands[0] {
            value = self.state.masks[usize::from(from)];
        }
        let bytes = self.at.stored_bytes()?;
        let is_partial = self.at.mask.is_some() || self.at.masking_vector().is_some();
        let value = match place {
            Place::Frame(at) if is_partial => value.join(self.state.frame.load(at, bytes)),
            _ => value,
        };
        let is_slot = matches!(self.at.operands[0], Operand::Mask(_));
        self.store(place, bytes, value, is_slot)
    }

    /// Stores `bytes` bytes; `is_slot` where that was a register that was moved.
    fn store(&mut self, place: Place, bytes: i64, value: Value, is_slot: bool) -> Result<()> {
        match place {
            Place::Frame(at) => self.state.frame.store(at, bytes, value, is_slot),
            Place::SomewhereInFrame => self.state.frame.store_somewhere(value),
            Place::Constants => bail!("a constant is stored to"),
            Place::Keys(_) | Place::Elsewhere => {}
        }
        Ok(())
    }

    /// What an operand is; `bytes` of it, where it is in memory.
    fn read(&mut self, operand: Operand, bytes: i64) -> Result<Value> {
        Ok(match operand {
            Operand::General(register) => self.state.register(register),
            Operand::Immediate(value) => Value::Number(value),
            Operand::Memory(memory) => self.load(&memory, bytes),
            _ => bail!("its operands are not understood"),
        })
    }

    fn load(&mut self, memory: &Memory, bytes: i64) -> Value {
        match self.place(memory) {
            Place::Frame(at) => {
                if at >= BODY {
                    self.notes.job_reads.push(at - BODY);
                }
                self.state.frame.load(at, bytes)
            }
            Place::Constants => self.constant(memory, bytes),
            Place::Keys(at) => {
                let is_inside = |range: &&(i64, i64)| range.0 <= at && at + bytes <= range.1;
                let range = self.notes.public_keys.iter().find(is_inside);
                self.notes.public_reads.extend(range.map(|range| range.0));
                if range.is_some() { Value::Public } else { Value::Secret }
            }
            Place::SomewhereInFrame | Place::Elsewhere => Value::Secret,
        }
    }

    /// Where a memory operand is; finds a secret in its address.
    fn place(&mut self, memory: &Memory) -> Place {
        let address = self.state.locate(memory);
        self.find(address.is_secret, ADDRESS);
        address.place
    }

    /// What is loaded from the program itself.
    fn constant(&self, memory: &Memory, bytes: i64) -> Value {
        let entry = memory.offset.cast_unsigned();
        match self.notes.program.linked(entry).filter(|_| memory.is_static && bytes == 8) {
            Some(Linked::Here(address)) if self.notes.program.function(address).is_none() => {
                Value::Constants
            }
            Some(_) => Value::Function(entry),
            None => Value::Public,
        }
    }

    fn write(&mut self, operand: Operand, bytes: i64, value: Value) -> Result<()> {
        match operand {
            Operand::General(register) => self.state.set(register, value),
            Operand::Memory(memory) => {
                let place = self.place(&memory);
                // What is computed in memory stays the slot that it was.
                let is_slot = match place {
                    Place::Frame(at) => self.state.frame.is_slot(at, bytes),
                    _ => false,
                };
                self.store(place, bytes, value, is_slot)?;
            }
            _ => bail!("its operands are not understood"),
        }
        Ok(())
    }

    /// Some flags are as they were, or all may be.
    fn add_to_flags(&mut self, is_secret: bool) {
        self.state.flags |= is_secret;
        self.state.carry |= is_secret;
    }

    fn set_flags(&mut self, is_secret: bool) {
        (self.state.flags, self.state.carry) = (is_secret, is_secret);
    }

    fn find(&mut self, is_found: bool, what: &'static str) {
        if is_found {
            self.notes.findings.push((self.at.address, what));
        }
    }

    fn two(&self) -> Result<[Operand; 2]> {
        self.at.operands[..].try_into().context("its operands are not understood")
    }

    /// Bytes of its operands: as the suffix says, or as the register has that it moves.
    fn bytes(&self, suffix: Option<u8>) -> Result<i64> {
        let of_register = |operand: &Operand| match operand {
            Operand::General(register) => Some(register.bytes),
            _ => None,
        };
        let registers = self.at.operands.iter().rev().find_map(of_register);
        Ok(i64::from(suffix.or(registers).context("no size")?))
    }
}

fn classified(is_secret: bool) -> Value {
    if is_secret { Value::Secret } else { Value::Public }
}

/// A number shifted to the left.
fn shifted(value: Value, by: Value) -> Value {
    match (value, by) {
        (Value::Number(value), Value::Number(by @ 0..=63)) => Value::Number(value << by),
        _ => value.mix(by),
    }
}

impl<'a> Notes<'a> {
    /// Of a function of which nothing is known yet.
    pub(crate) fn empty(program: &'a Program<'a>) -> Self {
        Self {
            public_keys: &[],
            program,
            findings: Vec::new(),
            public_reads: Vec::new(),
            job_reads: Vec::new(),
        }
    }
}
