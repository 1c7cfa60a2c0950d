//! A listing of objdump as functions and their instructions, as far as the analysis needs it.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};

/// A function of the program.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) address: u64,
    /// Lines of its instructions.
    lines: Vec<&'a str>,
}

impl<'a> Function<'a> {
    /// Its instructions.
    ///
    /// # Errors
    /// Naming a line that is not understood.
    pub(crate) fn instructions(&self) -> Result<Vec<Instruction<'a>>> {
        let parsed = self.lines.iter().map(|line| {
            instruction(line).with_context(|| format!("{}: {}", self.name, line.trim()))
        });
        parsed.filter_map(Result::transpose).collect()
    }
}

/// Every function of a listing (`objdump --disassemble`).
pub(crate) fn functions(listing: &str) -> Vec<Function<'_>> {
    let mut functions: Vec<Function<'_>> = Vec::new();
    for line in listing.lines() {
        if let Some((address, name)) = started(line) {
            functions.push(Function { name, address, lines: Vec::new() });
        } else if let (true, Some(function)) = (line.starts_with(' '), functions.last_mut()) {
            function.lines.push(line);
        }
    }
    functions
}

/// The function that begins at a line such as `0000000000001000 <name>:`.
fn started(line: &str) -> Option<(u64, &str)> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    Some((u64::from_str_radix(address, 16).ok()?, name))
}

/// What the loader writes where a call or a load finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linked<'a> {
    /// The address of a function of another library.
    Import(&'a str),
    /// An address in the program.
    Here(u64),
}

/// What the loader writes (`objdump --dynamic-reloc`), by address.
pub(crate) fn relocations(listing: &str) -> HashMap<u64, Linked<'_>> {
    let mut found = HashMap::new();
    for line in listing.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if let [address, kind, value] = words[..]
            && kind.starts_with("R_X86_64_")
            && let Ok(address) = u64::from_str_radix(address, 16)
        {
            let linked = match value.strip_prefix("*ABS*+0x") {
                Some(here) => u64::from_str_radix(here, 16).map(Linked::Here).ok(),
                None => value.split('@').next().map(Linked::Import),
            };
            found.extend(linked.map(|linked| (address, linked)));
        }
    }
    found
}

/// One instruction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Instruction<'a> {
    pub(crate) address: u64,
    pub(crate) text: &'a str,
    /// Without prefixes.
    pub(crate) mnemonic: &'a str,
    /// Sources first, as AT&T writes them.
    pub(crate) operands: Vec<Operand>,
    /// The mask register of AVX-512, and whether it zeroes what it leaves out.
    pub(crate) mask: Option<(u8, bool)>,
    /// Whether the memory operand is one element for all lanes.
    pub(crate) is_broadcast: bool,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    General(General),
    /// A vector register and its bytes.
    Vector(u8, u8),
    Mask(u8),
    Immediate(i64),
    Memory(Memory),
    /// Where a jump or a call goes.
    Target(u64),
    /// Where a jump or a call goes, in a register or in memory.
    Indirect(Place),
}

/// A general-purpose register, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct General {
    pub(crate) number: u8,
    pub(crate) bytes: u8,
    /// Whether it is the second lowest byte.
    pub(crate) is_high: bool,
}

impl General {
    /// All of a register.
    pub(crate) fn whole(number: u8) -> Self {
        Self { number, bytes: 8, is_high: false }
    }
}

/// What holds the target of an indirect jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Register(u8),
    Memory(Memory),
}

/// A place in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) base: Option<u8>,
    pub(crate) index: Option<Index>,
    pub(crate) scale: u8,
    /// Added to base and index; the address itself where it is given relative to the instruction.
    pub(crate) offset: i64,
    /// Whether the offset is an address in the program.
    pub(crate) is_static: bool,
    /// Whether it is counted from a segment, as what belongs to a thread is.
    pub(crate) is_segment: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    General(u8),
    Vector(u8),
}

/// General-purpose registers by number, and their parts of 8, 4, 2 and 1 bytes.
const GENERAL: [[&str; 4]; 16] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsp", "esp", "sp", "spl"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
    ["r12", "r12d", "r12w", "r12b"],
    ["r13", "r13d", "r13w", "r13b"],
    ["r14", "r14d", "r14w", "r14b"],
    ["r15", "r15d", "r15w", "r15b"],
];

/// The second lowest bytes of the first four.
const HIGH_BYTES: [&str; 4] = ["ah", "bh", "ch", "dh"];

pub(crate) const RAX: u8 = 0;
pub(crate) const RDX: u8 = 3;
pub(crate) const RBP: u8 = 6;
pub(crate) const RSP: u8 = 7;
/// Registers that carry arguments, in their order: `rdi`, `rsi`, `rdx`, `rcx`, `r8`, `r9`.
pub(crate) const ARGUMENTS: [u8; 6] = [5, 4, 3, 2, 8, 9];
/// Registers that a function leaves as they were, besides the stack pointer.
pub(crate) const PRESERVED: [u8; 6] = [1, 6, 12, 13, 14, 15];

/// Words before a mnemonic that change nothing here.
const PREFIXES: [&str; 8] = ["data16", "cs", "ds", "es", "notrack", "bnd", "addr32", "lock"];

/// `None` for a line without an instruction.
fn instruction(line: &str) -> Result<Option<Instruction<'_>>> {
    let Some((address, text)) = line.split_once(":\t") else {
        return Ok(None);
    };
    let address = u64::from_str_radix(address.trim(), 16).context("an address")?;
    let text = text.trim();
    let (code, comment) = text.split_once('#').unwrap_or((text, ""));
    let mut code = code.trim();
    let mut mnemonic;
    loop {
        let (first, rest) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        (mnemonic, code) = (first, rest.trim());
        if !PREFIXES.contains(&mnemonic) || code.is_empty() {
            break;
        }
    }
    let mut instruction = Instruction {
        address,
        text,
        mnemonic,
        operands: Vec::new(),
        mask: None,
        is_broadcast: false,
    };
    if let Some(target) = target(code) {
        instruction.operands.push(Operand::Target(target));
        return Ok(Some(instruction));
    }
    for part in split(code)? {
        let bare = instruction.decorations(part)?;
        if !bare.is_empty() {
            instruction.operands.push(operand(bare, comment)?);
        }
    }
    Ok(Some(instruction))
}

/// Where a jump or a call goes: `1000 <name>`, with or without the name.
fn target(code: &str) -> Option<u64> {
    u64::from_str_radix(code.split(' ').next()?, 16).ok()
}

/// Cuts at the commas outside parentheses.
fn split(operands: &str) -> Result<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, character) in operands.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(operands[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    ensure!(depth == 0, "a parenthesis stands alone");
    if !operands.is_empty() {
        parts.push(operands[start..].trim());
    }
    Ok(parts)
}

impl Instruction<'_> {
    /// Notes what stands in braces behind an operand, and returns the operand without it.
    fn decorations<'t>(&mut self, text: &'t str) -> Result<&'t str> {
        let (bare, rest) = text.find('{').map_or((text, ""), |at| text.split_at(at));
        for word in rest.split(['{', '}']).filter(|word| !word.is_empty()) {
            match word {
                "z" => self.mask = self.mask.map(|(register, _)| (register, true)),
                "sae" | "rn-sae" | "rd-sae" | "ru-sae" | "rz-sae" => {}
                _ if word.starts_with("1to") => self.is_broadcast = true,
                _ => match word.strip_prefix('%').and_then(mask) {
                    Some(register) => self.mask = Some((register, false)),
                    None => bail!("{{{word}}} is not known"),
                },
            }
        }
        Ok(bare)
    }
}

fn operand(text: &str, comment: &str) -> Result<Operand> {
    if let Some(value) = text.strip_prefix('$') {
        return Ok(Operand::Immediate(number(value)?));
    }
    if let Some(inner) = text.strip_prefix('*') {
        return Ok(Operand::Indirect(match operand(inner, comment)? {
            Operand::General(register) => Place::Register(register.number),
            Operand::Memory(memory) => Place::Memory(memory),
            _ => bail!("a jump to {inner}"),
        }));
    }
    if let (Some(name), false) = (text.strip_prefix('%'), text.contains(':')) {
        return register(name.trim_end_matches(')')).with_context(|| format!("register {name}"));
    }
    memory(text, comment).map(Operand::Memory)
}

fn register(name: &str) -> Option<Operand> {
    let vector = |bytes| name[3..].parse().ok().map(|number| Operand::Vector(number, bytes));
    match name.get(..3) {
        Some("xmm") => return vector(16),
        Some("ymm") => return vector(32),
        Some("zmm") => return vector(64),
        _ => {}
    }
    mask(name).map(Operand::Mask).or_else(|| general(name).map(Operand::General))
}

fn mask(name: &str) -> Option<u8> {
    name.strip_prefix('k')?.parse().ok()
}

fn general(name: &str) -> Option<General> {
    if let Some(number) = HIGH_BYTES.iter().position(|&high| high == name) {
        return Some(General { number: number as u8, bytes: 1, is_high: true });
    }
    let of = |(number, names): (usize, &[&str; 4])| {
        let part = names.iter().position(|&part| part == name)?;
        Some(General { number: number as u8, bytes: 8 >> part, is_high: false })
    };
    GENERAL.iter().enumerate().find_map(of)
}

/// `offset(base,index,scale)`, with any part left out.
fn memory(text: &str, comment: &str) -> Result<Memory> {
    let mut memory = Memory { scale: 1, ..Memory::default() };
    let text = match text.split_once(':') {
        Some((_, rest)) => {
            memory.is_segment = true;
            rest
        }
        None => text,
    };
    let (offset, inside) = text.split_once('(').unwrap_or((text, ""));
    memory.offset = if offset.is_empty() { 0 } else { number(offset)? };
    let mut parts = inside.trim_end_matches(')').split(',');
    match parts.next().unwrap_or_default() {
        "" => {}
        "%rip" => {
            let target = comment.split_whitespace().next().context("no address in the comment")?;
            memory.offset = u64::from_str_radix(target, 16)?.cast_signed();
            memory.is_static = true;
        }
        base => memory.base = Some(whole(base)?),
    }
    memory.index = match parts.next().map(|name| (name, register(name.trim_start_matches('%')))) {
        None | Some(("%riz", _)) => None,
        Some((_, Some(Operand::Vector(number, _)))) => Some(Index::Vector(number)),
        Some((name, _)) => Some(Index::General(whole(name)?)),
    };
    if let Some(scale) = parts.next() {
        memory.scale = scale.parse().context("a scale")?;
    }
    Ok(memory)
}

/// The number of a register that addresses memory, and so is taken whole.
fn whole(name: &str) -> Result<u8> {
    let register = name.strip_prefix('%').and_then(general);
    let register = register.with_context(|| format!("register {name}"))?;
    ensure!(register.bytes == 8, "an address in {name}");
    Ok(register.number)
}

fn number(text: &str) -> Result<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    Ok(value.with_context(|| format!("number {text}"))?.cast_signed().wrapping_mul(sign))
}
