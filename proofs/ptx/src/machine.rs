//! Threads that run a kernel's text: control and addresses are numbers, what is computed of keys and blocks may be
//! wires of a graph.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use anyhow::{Context, Result, bail, ensure};
use lanecrypt_circuit::graph::Graph;

use crate::{
    bits::{self, Bit, Word, lop3, multiply_add, number, permute, word},
    double::{Double, NOT_A_NUMBER, holds},
    text::{Instruction, Kernel, Operand},
};

/// Where the parameter block lies. Each kind of memory is far enough from the others that no offset leads from one
/// to another.
pub const PARAMETERS: u64 = 1 << 40;
const SHARED: u64 = 2 << 40;
const LOCAL: u64 = 3 << 40;
/// Where the parameter block has the keys, in bytes from its start.
pub const KEYS: u64 = 48;
/// Where the data lies.
pub const INPUT: u64 = 4 << 40;
/// Where what becomes of it goes.
pub const OUTPUT: u64 = 5 << 40;
/// Where the variables of a module lie, all in one place: their values are not read.
const VARIABLES: u64 = 6 << 40;

/// What a register holds.
#[derive(Clone, Debug)]
enum Value {
    Word(Box<Word>),
    Double(Double),
    Predicate(Bit),
}

/// Memory of the thread block, and of the device, by the addresses of words.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What was written.
    pub words: HashMap<u64, Word>,
    /// What is read where nothing was written; without it that is an error.
    pub elsewhere: Option<Word>,
    /// Addresses of shared memory that were read, and that were written.
    pub shared: [HashSet<u64>; 2],
    /// Bytes of data that were read, and that were written.
    pub data_bytes: [u64; 2],
    /// What the wires are of.
    pub graph: Graph,
    /// Addresses of which a store stops a thread, in [`Stop::Stored`].
    pub watched: Range<u64>,
    /// Whether there was one, after which no thread has stopped yet.
    pub was_stored: bool,
}

impl Memory {
    /// With a kernel's parameters before the keys: addresses, the number of blocks, what the mode starts from.
    #[must_use]
    pub fn with_parameters(blocks: u64, mode: [u64; 3]) -> Self {
        let mut memory = Self::default();
        let doubles = [INPUT, OUTPUT, blocks].into_iter().chain(mode);
        for (address, double) in (PARAMETERS..).step_by(8).zip(doubles) {
            memory.words.insert(address, word(double as u32));
            memory.words.insert(address + 4, word((double >> 32) as u32));
        }
        memory
    }

    /// Notes that some bytes are read (0) or written (1).
    fn note(&mut self, address: u64, bytes: u64, access: usize) {
        self.was_stored |= access == 1 && self.watched.contains(&address);
        match address {
            SHARED..LOCAL => _ = self.shared[access].insert(address),
            INPUT..VARIABLES => self.data_bytes[access] += bytes,
            _ => {}
        }
    }

    /// The word that has an address.
    fn read(&self, address: u64) -> Result<Word> {
        let found = self.words.get(&(address / 4 * 4)).copied().or(self.elsewhere);
        found.with_context(|| format!("nothing at {address:#x}"))
    }
}

/// Where a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Behind a barrier.
    Barrier,
    /// Before it takes what another lane gives.
    Shuffle,
    /// Behind a store that is watched.
    Stored,
    /// There is nothing more to do.
    End,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread<'k> {
    kernel: &'k Kernel,
    /// How often it came to each instruction.
    pub visits: Vec<u64>,
    /// Its number in the thread block, which may have bits that are chosen.
    pub name: Word,
    /// The number of its thread block, and of thread blocks.
    pub grid: [u32; 2],
    /// Words that stand for numbers of the text.
    pub constants: HashMap<u32, Word>,
    /// The positions that are looked at in words full of one bit: elsewhere what a wire is spread to is foreign.
    pub positions: u32,
    /// Most are empty when it waits at the barrier.
    registers: Vec<Option<Value>>,
    number: u32,
    /// The instruction that comes next.
    at: usize,
}

impl<'k> Thread<'k> {
    /// The one of this number in the only thread block, before the first instruction.
    #[must_use]
    pub fn new(kernel: &'k Kernel, number: u32) -> Self {
        Self {
            kernel,
            visits: vec![0; kernel.instructions.len()],
            name: word(number),
            grid: [0, 1],
            constants: HashMap::new(),
            positions: u32::MAX,
            registers: vec![None; kernel.registers()],
            number,
            at: 0,
        }
    }

    /// What it gives in the shuffle at which it stops, and the lane from which it takes.
    ///
    /// # Errors
    /// Where it stops at none.
    pub fn shuffled(&self) -> Result<(Word, usize)> {
        let operands = &self.kernel.instructions[self.at - 1].operands;
        Ok((self.word(&operands[1])?, self.number(&operands[2])? as usize))
    }

    /// Takes what another lane gave.
    ///
    /// # Errors
    /// Where it stops at no shuffle.
    pub fn take(&mut self, given: &Word) -> Result<()> {
        let kernel = self.kernel;
        let to = &kernel.instructions[self.at - 1].operands[0];
        self.set(to, Value::Word(Box::new(*given)))
    }

    /// Runs to the next barrier, shuffle, watched store or the end.
    ///
    /// # Errors
    /// Naming an instruction that is not known, or does not go with what its operands are.
    pub fn run(&mut self, memory: &mut Memory) -> Result<Stop> {
        for _ in 0..STEPS {
            let kernel = self.kernel;
            let Some(instruction) = kernel.instructions.get(self.at) else { return Ok(Stop::End) };
            self.visits[self.at] += 1;
            self.at += 1;
            if let Some((predicate, is_turned)) = instruction.guard {
                let holds = self.predicate(&Operand::Register(predicate))?;
                if holds == is_turned {
                    continue;
                }
            }
            match &instruction.name[0][..] {
                "bar" => return Ok(Stop::Barrier),
                "shfl" => return Ok(Stop::Shuffle),
                "ret" => {
                    self.at = self.kernel.instructions.len();
                    return Ok(Stop::End);
                }
                "bra" => {
                    let Operand::Name(label) = &instruction.operands[0] else { bail!("no label") };
                    self.at = *self.kernel.labels.get(label).context("an unknown label")?;
                }
                _ => self.step(instruction, memory).with_context(|| format!("{instruction:?}"))?,
            }
            if std::mem::take(&mut memory.was_stored) {
                return Ok(Stop::Stored);
            }
        }
        bail!("a thread does not end")
    }

    fn step(&mut self, instruction: &Instruction, memory: &mut Memory) -> Result<()> {
        let name: Vec<&str> = instruction.name.iter().map(String::as_str).collect();
        let operands = &instruction.operands[..];
        let kind = name[name.len() - 1];
        match name[..] {
            ["ld", ..] => self.load(operands, kind, memory),
            ["st", ..] => self.store(operands, kind, memory),
            ["atom", "shared", "add", _] => self.add_to(operands, memory),
            ["cvta", ..] => self.set(&operands[0], Value::Double(self.double(&operands[1])?)),
            ["setp", comparison, _] => {
                let [a, b] = [&operands[1], &operands[2]];
                let holds = self.compare(comparison, kind, [a, b], &mut memory.graph)?;
                self.set(&operands[0], Value::Predicate(holds))
            }
            [operation, .., "pred"] => {
                let value = self.combine(operation, &operands[1..])?;
                self.set(&operands[0], Value::Predicate(Bit::Known(value)))
            }
            ["cvt", "u64", _] => {
                let value = Double::of_words(&self.word(&operands[1])?, &word(0));
                self.set(&operands[0], Value::Double(value))
            }
            ["cvt", to, "u64"] => {
                let value = self.double(&operands[1])?.bits();
                let value = low(&core::array::from_fn(|i| value[i]), bits_of(to)?);
                self.set(&operands[0], Value::Word(Box::new(value)))
            }
            ["cvt", to, from] => {
                let bits = bits_of(to)?.min(bits_of(from)?);
                let value = low(&self.word(&operands[1])?, bits);
                self.set(&operands[0], Value::Word(Box::new(value)))
            }
            ["mul" | "mad", "hi", _] => bail!("not known"),
            ["mul", "wide", "u32"] => {
                let product =
                    u64::from(self.number(&operands[1])?) * u64::from(self.number(&operands[2])?);
                self.set(&operands[0], Value::Double(Double::Number(product)))
            }
            ["selp", _] => {
                let value = self.select(kind, &operands[1..], &mut memory.graph)?;
                self.set(&operands[0], value)
            }
            [operation, .., "u64" | "s64" | "b64"] => {
                let value = self.long(operation, &operands[1..], &mut memory.graph)?;
                self.set(&operands[0], Value::Double(value))
            }
            [operation, ..] => {
                let value = self.short(operation, kind, &operands[1..], &mut memory.graph)?;
                self.set(&operands[0], Value::Word(Box::new(value)))
            }
            [] => bail!("no name"),
        }
    }

    fn set(&mut self, to: &Operand, value: Value) -> Result<()> {
        let Operand::Register(register) = *to else { bail!("a result that is no register") };
        self.registers[register] = Some(value);
        Ok(())
    }

    fn word(&self, operand: &Operand) -> Result<Word> {
        Ok(match operand {
            Operand::Immediate(value) => {
                let value = *value as u32;
                self.constants.get(&value).copied().unwrap_or_else(|| word(value))
            }
            Operand::Name(name) => match &name[..] {
                "%tid.x" => self.name,
                "%ntid.x" => word(self.kernel.threads),
                "%ctaid.x" => word(self.grid[0]),
                "%nctaid.x" => word(self.grid[1]),
                "%clock" | "%smid" => word(0), // of the one multiprocessor that there is, where time stands still
                _ => bail!("an unknown name"),
            },
            Operand::Register(register) => match self.registers[*register].as_ref() {
                Some(Value::Word(word)) => **word,
                other => bail!("{other:?} is no word"),
            },
            _ => bail!("not a word"),
        })
    }

    fn number(&self, operand: &Operand) -> Result<u32> {
        Ok(number(&self.word(operand)?).context(NOT_A_NUMBER)? as u32)
    }

    fn double(&self, operand: &Operand) -> Result<Double> {
        Ok(Double::Number(match operand {
            Operand::Immediate(value) => *value,
            Operand::Name(name) if name == "shared" => SHARED,
            Operand::Name(name) if name.starts_with("__local_depot") => LOCAL,
            Operand::Name(name) if name.ends_with("_param_0") => PARAMETERS,
            Operand::Name(_) => VARIABLES,
            Operand::Register(register) => match self.registers[*register].as_ref() {
                Some(Value::Double(value)) => return Ok(value.clone()),
                other => bail!("{other:?} is no double word"),
            },
            _ => bail!("not a double word"),
        }))
    }

    /// A double word that is a number.
    fn long_number(&self, operand: &Operand) -> Result<u64> {
        self.double(operand)?.number().context(NOT_A_NUMBER)
    }

    fn predicate_bit(&self, operand: &Operand) -> Result<Bit> {
        match operand {
            Operand::Immediate(value) => Ok(Bit::Known(*value != 0)),
            Operand::Register(register) => match self.registers[*register].as_ref() {
                Some(Value::Predicate(value)) => Ok(*value),
                other => bail!("{other:?} is no predicate"),
            },
            _ => bail!("not a predicate"),
        }
    }

    fn predicate(&self, operand: &Operand) -> Result<bool> {
        Ok(number(&[self.predicate_bit(operand)?]).context(NOT_A_NUMBER)? == 1)
    }

    fn combine(&self, operation: &str, operands: &[Operand]) -> Result<bool> {
        let values = operands.iter().map(|operand| self.predicate(operand));
        let values = values.collect::<Result<Vec<bool>>>()?;
        Ok(match operation {
            "mov" => values[0],
            "not" => !values[0],
            "xor" => values[0] ^ values[1],
            "or" => values[0] | values[1],
            "and" => values[0] & values[1],
            _ => bail!("not known"),
        })
    }

    /// One of two words, or double words, by a predicate that comes last.
    fn select(&self, kind: &str, operands: &[Operand], graph: &mut Graph) -> Result<Value> {
        let [a, b] = [&operands[0], &operands[1]];
        let predicate = self.predicate_bit(&operands[2])?;
        let is_long = kind.ends_with("64");
        if let Some(number) = number(&[predicate]) {
            let chosen = if number == 1 { a } else { b };
            return Ok(if is_long {
                Value::Double(self.double(chosen)?)
            } else {
                Value::Word(Box::new(self.word(chosen)?))
            });
        }
        let mut choose = |a, b| bits::lut(graph, bits::CHOICE, [predicate, a, b]);
        Ok(if is_long {
            let (a, b) = (self.double(a)?.bits(), self.double(b)?.bits());
            Value::Double(Double::of(&core::array::from_fn(|i| choose(a[i], b[i]))))
        } else {
            let (a, b) = (self.word(a)?, self.word(b)?);
            Value::Word(Box::new(core::array::from_fn(|i| choose(a[i], b[i]))))
        })
    }

    fn compare(
        &self,
        comparison: &str,
        kind: &str,
        [a, b]: [&Operand; 2],
        graph: &mut Graph,
    ) -> Result<Bit> {
        if matches!(kind, "u64" | "b64") {
            return self.double(a)?.compare(graph, comparison, &self.double(b)?);
        }
        let value = |operand: &Operand| -> Result<i64> {
            Ok(match kind {
                "s64" => self.long_number(operand)?.cast_signed(),
                "s32" => self.number(operand)?.cast_signed().into(),
                _ => self.number(operand)?.into(),
            })
        };
        Ok(Bit::Known(holds(comparison, value(a)?, value(b)?)?))
    }

    /// An operation on double words, which are numbers but for counters.
    fn long(&self, operation: &str, operands: &[Operand], graph: &mut Graph) -> Result<Double> {
        let first = self.double(&operands[0])?;
        if operation == "mov" {
            return Ok(first);
        }
        let second = operands.get(1).context("one operand")?;
        if matches!(operation, "shl" | "shr") {
            return Ok(first.shifted(operation == "shl", self.number(second)? as usize));
        }
        let second = self.double(second)?;
        if let Some(result) = first.combine(graph, operation, &second) {
            return Ok(result);
        }
        let [a, b] = [first, second].map(|double| double.number().context(NOT_A_NUMBER));
        let (a, b) = (a?, b?);
        Ok(Double::Number(match operation {
            "mul" => a.wrapping_mul(b),
            "div" => a.checked_div(b).context("a division by zero")?,
            "rem" => a.checked_rem(b).context("a division by zero")?,
            "min" => a.min(b),
            "bfi" => {
                let [place, count] = [self.number(&operands[2])?, self.number(&operands[3])?];
                let mask = u64::MAX.checked_shr(64 - count).unwrap_or(0) << place;
                b & !mask | a << place & mask
            }
            _ => bail!("not known"),
        }))
    }

    /// An operation on words.
    fn short(
        &self,
        operation: &str,
        kind: &str,
        operands: &[Operand],
        graph: &mut Graph,
    ) -> Result<Word> {
        let operand = |i: usize| self.word(operands.get(i).context("an operand is missing")?);
        let a = operand(0)?;
        let known = |i: usize| self.number(operands.get(i).context("an operand is missing")?);
        let left = |by: usize, fill: Bit| -> Word {
            core::array::from_fn(|i| if i < by { fill } else { a[i - by] })
        };
        let right = |by: usize, fill: Bit| -> Word {
            core::array::from_fn(|i| if i + by < 32 { a[i + by] } else { fill })
        };
        let zero = Bit::Known(false);
        Ok(match operation {
            "mov" => a,
            "not" => lop3(graph, bits::XOR, [&a, &word(u32::MAX), &a]),
            "and" => lop3(graph, bits::AND, [&a, &operand(1)?, &a]),
            "or" => lop3(graph, bits::OR, [&a, &operand(1)?, &a]),
            "xor" => lop3(graph, bits::XOR, [&a, &operand(1)?, &a]),
            "lop3" => lop3(graph, known(3)? as u8, [&a, &operand(1)?, &operand(2)?]),
            "shl" => left(known(1)? as usize, zero),
            "shr" if kind == "s32" => self.looked_at(right(known(1)? as usize, a[31])),
            "shr" => right(known(1)? as usize, zero),
            "add" => bits::add(graph, &a, &operand(1)?),
            "sub" => bits::subtract(graph, &a, &operand(1)?),
            "neg" => self.looked_at(bits::subtract(graph, &word(0), &a)),
            "mul" => multiply_add(graph, [&a, &operand(1)?, &word(0)]).context("a product")?,
            "mad" => multiply_add(graph, [&a, &operand(1)?, &operand(2)?]).context("a product")?,
            "prmt" => permute(&a, &operand(1)?, known(2)?),
            _ => {
                let a = number(&a).context("not known of wires")? as u32;
                word(match operation {
                    "shf" => {
                        let double = u64::from(known(1)?) << 32 | u64::from(a);
                        (double << (known(2)? & 31) >> 32) as u32
                    }
                    "dp4a" => {
                        let products = a.to_le_bytes().into_iter().zip(known(1)?.to_le_bytes());
                        let products = products.map(|(a, b)| u32::from(a) * u32::from(b));
                        known(2)?.wrapping_add(products.sum())
                    }
                    "div" => a.checked_div(known(1)?).context("a division by zero")?,
                    "rem" => a.checked_rem(known(1)?).context("a division by zero")?,
                    "min" => a.min(known(1)?),
                    "bfi" => {
                        let mask = ((1u64 << known(3)?) - 1) as u32;
                        let mask = mask.checked_shl(known(2)?).unwrap_or(0);
                        known(1)? & !mask | a << known(2)? & mask
                    }
                    _ => bail!("not known"),
                })
            }
        })
    }

    /// A word that may be full of one bit, where it is looked at.
    fn looked_at(&self, word: Word) -> Word {
        let is_full = !matches!(word[0], Bit::Known(_)) && word.iter().all(|bit| *bit == word[0]);
        let is_seen = |i: usize| !is_full || self.positions >> i & 1 == 1;
        core::array::from_fn(|i| if is_seen(i) { word[i] } else { Bit::Foreign })
    }

    fn address(&self, operand: &Operand) -> Result<u64> {
        let Operand::Memory(base, offset) = operand else { bail!("no address") };
        let is_word = |register: &usize| matches!(self.registers[*register], Some(Value::Word(_)));
        let start = match &**base {
            // Shared memory may be addressed so.
            Operand::Register(register) if is_word(register) => u64::from(self.number(base)?),
            _ => self.long_number(base)?,
        };
        let address = start.wrapping_add(*offset);
        // Each thread has local memory of its own.
        let is_local = (LOCAL..INPUT).contains(&address);
        Ok(if is_local { address + (u64::from(self.number) << 20) } else { address })
    }

    fn load(&mut self, operands: &[Operand], kind: &str, memory: &mut Memory) -> Result<()> {
        let address = self.address(&operands[1])?;
        let single = [operands[0].clone()];
        let targets =
            if let Operand::Vector(targets) = &operands[0] { targets } else { &single[..] };
        let bytes = match kind {
            "u64" => 8,
            "u8" => 1,
            _ => 4,
        };
        for (target, address) in targets.iter().zip((address..).step_by(bytes)) {
            memory.note(address, bytes as u64, 0);
            ensure!(address % bytes as u64 == 0, "an address that is not aligned");
            let value = match kind {
                "u64" => {
                    let (low, high) = (memory.read(address)?, memory.read(address + 4)?);
                    Value::Double(Double::of_words(&low, &high))
                }
                "u8" => {
                    let from = memory.read(address)?;
                    let first = 8 * (address % 4) as usize;
                    let bit = |i| if i < 8 { from[first + i] } else { Bit::Known(false) };
                    Value::Word(Box::new(core::array::from_fn(bit)))
                }
                "u32" => Value::Word(Box::new(memory.read(address)?)),
                _ => bail!("not known"),
            };
            self.set(target, value)?;
        }
        Ok(())
    }

    fn store(&self, operands: &[Operand], kind: &str, memory: &mut Memory) -> Result<()> {
        let address = self.address(&operands[0])?;
        let single = [operands[1].clone()];
        let sources =
            if let Operand::Vector(sources) = &operands[1] { sources } else { &single[..] };
        let bytes = bits_of(kind)? / 8;
        ensure!(bytes <= 4 && address % bytes as u64 == 0, "a store that is not known");
        for (source, address) in sources.iter().zip((address..).step_by(bytes)) {
            let mut value = self.word(source)?;
            if bytes < 4 {
                let first = 8 * (address % 4) as usize;
                let mut all = memory.read(address)?;
                all[first..first + 8 * bytes].copy_from_slice(&value[..8 * bytes]);
                value = all;
            }
            memory.note(address, bytes as u64, 1);
            memory.words.insert(address / 4 * 4, value);
        }
        Ok(())
    }

    /// Adds to a word of shared memory, and gives what was there.
    fn add_to(&mut self, operands: &[Operand], memory: &mut Memory) -> Result<()> {
        let address = self.address(&operands[1])?;
        let before = memory.read(address)?;
        let sum = bits::add(&mut memory.graph, &before, &self.word(&operands[2])?);
        memory.words.insert(address, sum);
        self.set(&operands[0], Value::Word(Box::new(before)))
    }
}

/// The bits of a type: 32 of `u32`.
fn bits_of(kind: &str) -> Result<usize> {
    kind.get(1..).and_then(|bits| bits.parse().ok()).with_context(|| kind.to_owned())
}

/// The low bits of a word.
fn low(word: &Word, bits: usize) -> Word {
    core::array::from_fn(|i| if i < bits { word[i] } else { Bit::Known(false) })
}

/// More than any kernel takes.
const STEPS: usize = 1 << 26;
