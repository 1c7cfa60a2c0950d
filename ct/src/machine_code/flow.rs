//! A function as a graph of blocks, and what is known at each of them: joined over every way that
//! leads there, until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Program,
    parse::{ARGUMENTS, Instruction, Linked, Operand, PRESERVED, Place, RAX, RSP},
    state::State,
    step::{ADDRESS, BRANCH, Notes, step},
    value::{BODY, Value},
};

/// What a function is given: its arguments, and of a body that the first points to, the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) arguments: [Value; 6],
    pub(crate) body: Option<Body<'a>>,
}

/// A body as the machine code has it: a structure of words that are public.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    pub(crate) bytes: i64,
    /// Where its pointer to keys is, if anything of these is public.
    pub(crate) keys: i64,
    /// The public bytes of the keys: first and end.
    pub(crate) public_keys: &'a [(i64, i64)],
    /// Where its pointers to public words are, which are read alone.
    pub(crate) public: &'a [i64],
}

/// What an analysis found.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) findings: BTreeSet<(u64, &'static str)>,
    /// Functions that it calls with what is known of their arguments.
    pub(crate) calls: Vec<(u64, [Value; 6])>,
    /// Starts of public ranges of keys that it reads.
    pub(crate) public_reads: BTreeSet<i64>,
    /// Words of its body that it reads.
    pub(crate) job_reads: BTreeSet<i64>,
}

/// Analyses a function.
///
/// # Errors
/// Naming an instruction that is not known.
pub(crate) fn analyse(
    program: &Program<'_>,
    instructions: &[Instruction<'_>],
    entry: &Entry<'_>,
) -> Result<Analysis> {
    let mut graph = Graph::new(program, instructions, entry)?;
    graph.settle()?;
    graph.finish()
}

struct Graph<'p, 'i, 't> {
    program: &'p Program<'p>,
    instructions: &'i [Instruction<'t>],
    /// Where blocks start, as indexes, by address.
    starts: BTreeMap<u64, usize>,
    /// What is known at the start of a block, by index.
    states: BTreeMap<usize, State>,
    notes: Notes<'p>,
    calls: Vec<(u64, [Value; 6])>,
}

/// Jumps that are not conditional, and what ends a function.
const ENDS: [&str; 4] = ["jmp", "ret", "ud2", "hlt"];

impl<'p, 'i, 't> Graph<'p, 'i, 't> {
    fn new(
        program: &'p Program<'p>,
        instructions: &'i [Instruction<'t>],
        entry: &Entry<'p>,
    ) -> Result<Self> {
        let first = instructions.first().context("a function without instructions")?;
        let index: BTreeMap<u64, usize> =
            instructions.iter().enumerate().map(|(i, at)| (at.address, i)).collect();
        let mut starts = BTreeMap::from([(first.address, 0)]);
        for (i, at) in
            instructions.iter().enumerate().filter(|(_, at)| at.mnemonic.starts_with('j'))
        {
            if let [Operand::Target(target)] = at.operands[..] {
                starts.extend(index.get(&target).map(|&to| (target, to)));
            }
            starts.extend(instructions.get(i + 1).map(|next| (next.address, i + 1)));
        }
        let mut state = State::new(entry.arguments);
        let public_keys = entry.body.map_or(&[][..], |body| body.public_keys);
        if let Some(body) = entry.body {
            state.frame.store(BODY, body.bytes, Value::Public, false);
            if !public_keys.is_empty() {
                state.frame.store(BODY + body.keys, 8, Value::Keys(0), false);
            }
            for at in body.public {
                state.frame.store(BODY + at, 8, Value::Constants, false);
            }
        }
        let notes = Notes { public_keys, ..Notes::empty(program) };
        let states = BTreeMap::from([(0, state)]);
        Ok(Self { program, instructions, starts, states, notes, calls: Vec::new() })
    }

    /// Goes over blocks until nothing changes.
    fn settle(&mut self) -> Result<()> {
        let mut waiting = BTreeSet::from([0]);
        while let Some(start) = waiting.pop_first() {
            for (to, state) in self.block(start)? {
                let is_new = match self.states.get_mut(&to) {
                    Some(known) => known.join(&state),
                    None => self.states.insert(to, state).is_none(),
                };
                if is_new {
                    waiting.insert(to);
                }
            }
        }
        Ok(())
    }

    /// Goes over all blocks once more, when everything is known.
    fn finish(mut self) -> Result<Analysis> {
        self.notes.findings.clear();
        self.calls.clear();
        for start in self.states.keys().copied().collect::<Vec<_>>() {
            self.block(start)?;
        }
        Ok(Analysis {
            findings: self.notes.findings.into_iter().collect(),
            calls: self.calls,
            public_reads: self.notes.public_reads.into_iter().collect(),
            job_reads: self.notes.job_reads.into_iter().collect(),
        })
    }

    /// Goes over a block, and returns the blocks that follow with what is known there.
    fn block(&mut self, start: usize) -> Result<Vec<(usize, State)>> {
        let mut state = self.states[&start].clone();
        for i in start.. {
            let Some(at) = self.instructions.get(i) else {
                bail!("{:x}: the function goes on behind its end", self.instructions[i - 1].address)
            };
            if i > start && self.starts.contains_key(&at.address) {
                return Ok(vec![(i, state)]);
            }
            if at.mnemonic.starts_with('j') || ENDS.contains(&at.mnemonic) {
                return self.leave(i, state);
            }
            if at.mnemonic == "call" {
                if !self
                    .call(&mut state, at)
                    .with_context(|| format!("{:x}: {}", at.address, at.text))?
                {
                    return Ok(Vec::new());
                }
            } else {
                step(&mut state, &mut self.notes, at)?;
            }
        }
        unreachable!("the loop returns")
    }

    /// The blocks that follow the `i`-th instruction, a jump or an end.
    fn leave(&mut self, i: usize, mut state: State) -> Result<Vec<(usize, State)>> {
        let at = &self.instructions[i];
        let is_conditional = !ENDS.contains(&at.mnemonic);
        if is_conditional && state.is_secret_condition(&at.mnemonic[1..]) {
            self.notes.findings.push((at.address, BRANCH));
        }
        let mut next = Vec::new();
        if at.mnemonic.starts_with('j') {
            match at.operands[..] {
                [Operand::Target(target)] if self.starts.contains_key(&target) => {
                    next.push((self.starts[&target], state.clone()));
                }
                // The last call of a function.
                [_] if !is_conditional => {
                    self.call(&mut state, at)?;
                }
                _ => bail!("{:x}: {} leads out of the function", at.address, at.text),
            }
        }
        if is_conditional {
            ensure!(i + 1 < self.instructions.len(), "{:x}: nothing follows", at.address);
            self.refine(i, &mut state);
            next.push((i + 1, state));
        }
        Ok(next)
    }

    /// Behind `cmp a,b; jne` both are the same. So ends a loop that touches every page of a frame.
    fn refine(&self, i: usize, state: &mut State) {
        let Some(before) = i.checked_sub(1).map(|before| &self.instructions[before]) else {
            return;
        };
        if self.instructions[i].mnemonic == "jne"
            && before.mnemonic == "cmp"
            && let [Operand::General(a), Operand::General(b)] = before.operands[..]
            && b.number == RSP
            && let known @ Value::Frame(Some(_)) = state.register(a)
        {
            state.set(b, known);
        }
    }

    /// Goes over a call, and returns whether it comes back.
    fn call(&mut self, state: &mut State, at: &Instruction<'_>) -> Result<bool> {
        let target = match at.operands[..] {
            [Operand::Target(target)] => Some(Linked::Here(target)),
            [Operand::Indirect(Place::Memory(memory))] if memory.is_static => {
                self.program.linked(memory.offset.cast_unsigned())
            }
            [Operand::Indirect(Place::Register(register))] => match state.whole(register) {
                Value::Function(entry) => self.program.linked(entry),
                value if value.is_secret() => {
                    self.notes.findings.push((at.address, BRANCH));
                    return Ok(false);
                }
                _ => None,
            },
            _ => None,
        };
        let arguments = ARGUMENTS.map(|register| state.whole(register));
        let result = match target.context("what it calls is not known")? {
            Linked::Import(name) => {
                match name {
                    "memcpy" | "memmove" => self.memory(state, at, arguments, true),
                    "memset" => self.memory(state, at, arguments, false),
                    _ => bail!("{name} is not known to the analysis"),
                }
                arguments[0]
            }
            Linked::Here(address) => {
                let function = self.program.function(address);
                let function = function.context("what it calls is no function")?;
                if Program::is_panic(function.name) {
                    return Ok(false);
                }
                self.function(state, address, arguments);
                Value::Secret
            }
        };
        Self::clobber(state, result);
        Ok(true)
    }

    /// A call of a function of the program, which is analysed by itself: it may write to what it gets
    /// the address of.
    fn function(&mut self, state: &mut State, address: u64, arguments: [Value; 6]) {
        if arguments.iter().any(|argument| matches!(argument, Value::Frame(_))) {
            state.frame.store_somewhere(Value::Secret);
        }
        let passed = arguments.map(|argument| match argument {
            Value::Constants => argument,
            _ if argument.is_secret() => Value::Secret,
            _ => Value::Public,
        });
        self.calls.push((address, passed));
    }

    /// `memcpy(to, from, length)` and `memset(to, byte, length)`.
    fn memory(
        &mut self,
        state: &mut State,
        at: &Instruction<'_>,
        arguments: [Value; 6],
        copies: bool,
    ) {
        let [to, from, length, ..] = arguments;
        if to.is_secret() || length.is_secret() || copies && from.is_secret() {
            self.notes.findings.push((at.address, ADDRESS));
        }
        let value = match (copies, from) {
            (true, Value::Constants) => Value::Public,
            (true, _) => Value::Secret,
            (false, value) => value.lowest(1),
        };
        let exact = |value| match value {
            Value::Frame(Some(at)) => Some(at),
            _ => None,
        };
        match (exact(to), length, exact(from).filter(|_| copies)) {
            (Some(to), Value::Number(bytes @ 1..), Some(from)) => state.frame.copy(from, to, bytes),
            (Some(to), Value::Number(bytes @ 1..), None) => {
                state.frame.store(to, bytes, value, false);
            }
            (_, Value::Number(0), _) => {}
            _ if to.is_secret() || matches!(to, Value::Frame(_)) => {
                state.frame.store_somewhere(value);
            }
            _ => {}
        }
    }

    /// What a call leaves: what functions preserve, and the result.
    fn clobber(state: &mut State, result: Value) {
        for (register, value) in (0..).zip(&mut state.general) {
            if register != RSP && !PRESERVED.contains(&register) {
                *value = Value::Secret;
            }
        }
        state.general[usize::from(RAX)] = result;
        (state.vectors, state.carry, state.flags) = ([true; 32], true, true);
        state.masks = [Value::Secret; 8];
    }
}
