//! What a kernel takes of the pipes of a multiprocessor: its PTX, counted as the assembler covers it.
//!
//! A thread runs the text over some data, and over twice as much. The difference is what data costs: each
//! instruction as often as it came up, so that loops count by their trips, and nothing of what a kernel does once.
//! PTX is not what a GPU executes, and the rule that leads from one to the other stands here alone:
//!
// ANCHOR: rule
//! - **Logic** is covered by functions of three inputs (LOP3): where the result of one
//!   operation is an operand of one other alone, in the same basic block, and both have
//!   three inputs together, they are one instruction. Sums are covered alike (IADD3),
//!   with a left shift or a product as an operand (LEA, IMAD).
//! - **ALU**: logic, right shifts and funnel shifts, byte permutations, selections,
//!   comparisons. **Multiplier**: `mad`, `mul`, `dp4a`. Sums and left shifts run on
//!   either, as the assembler likes: they count among all instructions and on no pipe.
//! - **What is the same for all threads of a warp** has a pipe of its own, and counts
//!   among all instructions alone.
//! - **Shared memory**, in lanes: 32 for each pass of a warp's access that nothing can
//!   save. A look-up meets no conflict; four words at once take two passes where lanes
//!   read the same, and four where they write, or where it is memory of the device. Words
//!   that lie together are loaded together. A shuffle is a pass.
//! - What a loop computes of values that do not change in it costs nothing: it is
//!   computed before.
//! - Moves, conversions, parameters, jumps that are always taken, and numbers that are
//!   added to addresses cost nothing.
// ANCHOR_END: rule
//!
//! Where it is in doubt the smaller number is taken, so that a bound by these counts holds.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Result, ensure};
use lanecrypt_circuit::cover;

use crate::{
    bits::word,
    machine::{KEYS, Memory, PARAMETERS, Stop, Thread},
    text::{Instruction, Kernel, Operand},
};

/// Lanes of a multiprocessor that a block takes of each pipe, and bytes of it in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Shared memory, and everything else that loads, stores or shuffles.
    pub shared: f64,
    /// The ALU pipe.
    pub alu: f64,
    /// The multiplier's.
    pub multiplier: f64,
    /// All instructions.
    pub all: f64,
    /// Bytes read of the data.
    pub read_bytes: f64,
    /// Bytes written.
    pub written_bytes: f64,
}

/// How a kernel is run to be counted.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Blocks of the shorter run; the longer one has twice as many.
    pub blocks: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// What the mode starts from: three double words of the parameters.
    pub mode: [u64; 3],
    /// The word of the keys that the kernel counts by, and what it is.
    pub count: Option<(usize, u32)>,
}

/// What a thread, and so the warp that it is of, takes for a block.
///
/// # Errors
/// Where the text cannot be run, or no block is written.
pub fn load(kernel: &Kernel, thread: u32, run: &Run) -> Result<Load> {
    let [short, long] = [1, 2].map(|times| finish(kernel, thread, times * run.blocks, run));
    let ((short, short_bytes), (long, long_bytes)) = (short?, long?);
    let [read, written] = [0, 1].map(|access| (long_bytes[access] - short_bytes[access]) as f64);
    ensure!(written > 0.0, "no block is written");
    let blocks = written / run.block_bytes as f64;
    let mut sums = [0; 4];
    for (cost, (long, short)) in costs(kernel).into_iter().zip(long.iter().zip(&short)) {
        for (sum, cost) in sums.iter_mut().zip(cost) {
            *sum += cost * (long - short);
        }
    }
    let [shared, alu, multiplier, all] = sums.map(|sum| sum as f64 / blocks);
    let [read_bytes, written_bytes] = [read, written].map(|bytes| bytes / blocks);
    Ok(Load { shared, alu, multiplier, all, read_bytes, written_bytes })
}

/// How often a thread comes to each instruction, and how many bytes of data it reads and writes. The others of its
/// thread block do not run: memory that they would write is zero, as tables are, and a shuffle gives what it was
/// given.
fn finish(kernel: &Kernel, thread: u32, blocks: u64, run: &Run) -> Result<(Vec<u64>, [u64; 2])> {
    let mut memory = Memory::with_parameters(blocks, run.mode);
    memory.elsewhere = Some(word(0));
    if let Some((place, count)) = run.count {
        memory.words.insert(PARAMETERS + KEYS + 4 * place as u64, word(count));
    }
    let mut thread = Thread::new(kernel, thread);
    loop {
        match thread.run(&mut memory)? {
            Stop::Barrier | Stop::Stored => {}
            Stop::Shuffle => {
                let (own, _) = thread.shuffled()?;
                thread.take(&own)?;
            }
            Stop::End => return Ok((thread.visits, memory.data_bytes)),
        }
    }
}

/// What an instruction takes: shared memory, ALU, multiplier, all.
type Cost = [u64; 4];

const FREE: Cost = [0; 4];
/// On either pipe.
const EITHER: Cost = [0, 0, 0, 1];

/// Operations that are covered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Functions of bits.
    Logic,
    /// Sums of words, and of double words.
    Sum,
    LongSum,
    /// Operands of sums that an addition takes in.
    Scaled,
    LongScaled,
    /// What is by itself.
    Other,
}

impl Kind {
    /// Whether an operation takes in one of another kind.
    fn takes(self, operand: Self) -> bool {
        match self {
            Self::Logic => operand == Self::Logic,
            Self::Sum => matches!(operand, Self::Sum | Self::Scaled),
            Self::LongSum => matches!(operand, Self::LongSum | Self::LongScaled),
            _ => false,
        }
    }
}

/// Of an instruction by itself, whose results differ from thread to thread.
fn alone(instruction: &Instruction) -> (Kind, Cost) {
    let name = &instruction.name;
    let last = name.last().map_or("", String::as_str);
    let is_long = last.ends_with("64");
    let words = match &instruction.operands[..] {
        [Operand::Vector(all), ..] | [_, Operand::Vector(all)] => all.len() as u64,
        _ => 1,
    };
    let cost = match &name[0][..] {
        _ if last == "pred" => FREE,
        "lop3" | "and" | "or" | "xor" | "not" | "setp" if is_long => [0, 2, 0, 2],
        "lop3" | "and" | "or" | "xor" | "not" => return (Kind::Logic, [0, 1, 0, 1]),
        "add" | "sub" if is_long => return (Kind::LongSum, [0, 0, 0, 2]),
        "add" | "sub" => return (Kind::Sum, EITHER),
        "shl" if !is_long => return (Kind::Scaled, EITHER),
        "mul" if name[1] == "wide" => return (Kind::LongScaled, EITHER),
        "mad" | "mul" | "dp4a" if !is_long => [0, 0, 1, 1],
        "bfi" if is_long => FREE, // two words side by side
        "setp" | "shr" | "shf" | "prmt" | "selp" | "min" | "bfi" => [0, 1, 0, 1],
        "ld" if name[1] == "param" => FREE,
        "ld" | "st" | "atom" | "shfl" => [passes(instruction, words, is_long), 0, 0, 1],
        "bra" if instruction.guard.is_none() => FREE,
        // Some take more, where they are long.
        "neg" | "shl" | "mul" | "div" | "rem" | "bra" | "bar" => EITHER,
        _ => FREE,
    };
    (Kind::Other, cost)
}

/// Passes of a warp's access to memory.
fn passes(instruction: &Instruction, words: u64, is_long: bool) -> u64 {
    let words = if is_long { 2 * words } else { words };
    let has = |part: &str| instruction.name.iter().any(|name| name == part);
    match &instruction.name[0][..] {
        "ld" if has("shared") => words.div_ceil(2),
        "ld" | "st" => words,
        _ => 1,
    }
}

/// What each instruction takes, where what becomes part of another takes nothing.
fn costs(kernel: &Kernel) -> Vec<Cost> {
    let instructions = &kernel.instructions;
    let reads: Vec<Vec<usize>> = instructions.iter().map(read).collect();
    let written: Vec<Vec<usize>> = instructions.iter().map(write).collect();
    let varies = varying(kernel, &reads, &written);
    let [readers, makers] = [&reads, &written].map(|registers| {
        let mut instructions = vec![Vec::new(); kernel.registers()];
        for (i, registers) in registers.iter().enumerate() {
            for &register in registers {
                instructions[register].push(i);
            }
        }
        instructions
    });
    let blocks = basic_blocks(kernel);
    let (kinds, mut costs): (Vec<Kind>, Vec<Cost>) = instructions.iter().map(alone).unzip();
    let constant = constant_in_loops(kernel, &reads, &makers);
    let is_access = |&i: &usize| ["ld", "st", "cvt"].contains(&&instructions[i].name[0][..]);
    // The address of shared memory is a number.
    let is_of_symbol = |register: &usize| match makers[*register][..] {
        [maker] => {
            instructions[maker].name[0] == "mov"
                && instructions[maker].operands[1] == Operand::Name("shared".into())
        }
        _ => false,
    };
    for (i, cost) in costs.iter_mut().enumerate() {
        let is_offset = kinds[i] == Kind::Sum && constants(&instructions[i]).next().is_some()
            || kinds[i] == Kind::LongSum && reads[i].iter().any(is_of_symbol);
        let is_of_access = |&sum: &usize| readers[sum].iter().all(is_access);
        if constant[i] || is_offset && written[i].iter().all(is_of_access) {
            *cost = FREE;
        }
        if !varies[i] {
            *cost = [cost[0], 0, 0, cost[3]];
        }
    }
    for loads in neighbours(instructions, &blocks) {
        costs[loads[0]][0] = (loads.len() as u64).div_ceil(2);
        loads[1..].iter().for_each(|&load| costs[load] = FREE);
    }
    let inputs = |i: usize| {
        // An immediate takes the place of an input, unless all its bits are the same.
        let immediates = constants(&instructions[i]).map(|place| usize::MAX - place);
        reads[i].iter().copied().chain(immediates).collect()
    };
    let maker = |register: usize, reader: usize| {
        let [maker] = makers.get(register)?[..] else { return None };
        let is_for_it =
            readers[register].len() == 1 && blocks[maker] == blocks[reader] && varies[maker];
        let is_for_it = is_for_it && !constant[maker];
        (is_for_it && kinds[reader].takes(kinds[maker])).then_some(maker)
    };
    for (maker, reader) in cover(instructions.len(), inputs, maker).into_iter().enumerate() {
        let Some(reader) = reader else { continue };
        costs[maker] = FREE;
        if kinds[maker] == Kind::LongScaled {
            costs[reader] = EITHER;
        }
    }
    costs
}

/// Places of operands that are numbers other than zero and all ones; of a function of three its table is none.
fn constants(instruction: &Instruction) -> impl Iterator<Item = usize> {
    let operands = if instruction.name[0] == "lop3" { 4 } else { usize::MAX };
    let is_number = |operand: &Operand| match operand {
        Operand::Immediate(value) => !matches!(*value as u32, 0 | u32::MAX),
        _ => false,
    };
    let all = instruction.operands.iter().take(operands).enumerate();
    all.filter(move |(_, operand)| is_number(operand)).map(|(place, _)| place)
}

/// Loads of single words of shared memory, in the same basic block, that lie in the same four.
fn neighbours(instructions: &[Instruction], blocks: &[usize]) -> Vec<Vec<usize>> {
    let mut neighbours: HashMap<_, Vec<usize>> = HashMap::new();
    for (i, load) in
        instructions.iter().enumerate().filter(|(_, i)| i.name == ["ld", "shared", "u32"])
    {
        if let Operand::Memory(base, offset) = &load.operands[1] {
            neighbours.entry((blocks[i], base, offset / 16)).or_default().push(i);
        }
    }
    neighbours.into_values().collect()
}

/// Whether an instruction computes the same in every pass of the innermost loop that it is in.
fn constant_in_loops(kernel: &Kernel, reads: &[Vec<usize>], makers: &[Vec<usize>]) -> Vec<bool> {
    let instructions = &kernel.instructions;
    let loops = instructions.iter().enumerate().filter_map(|(end, jump)| {
        let [Operand::Name(label)] = &jump.operands[..] else { return None };
        kernel.labels.get(label).map(|&start| start..end + 1).filter(|body| !body.is_empty())
    });
    let loops: Vec<_> = loops.collect();
    let mut constant = vec![false; instructions.len()];
    for (i, instruction) in instructions.iter().enumerate() {
        let bodies = loops.iter().filter(|body| body.contains(&i));
        let Some(body) = bodies.min_by_key(|body| body.len()) else { continue };
        let is_outside = |maker: &usize| !body.contains(maker);
        let is_constant = |&register: &usize| match makers[register][..] {
            [maker] => constant[maker] || is_outside(&maker),
            ref makers => makers.iter().all(is_outside),
        };
        let is_computed =
            !["ld", "st", "atom", "shfl", "bar", "bra", "ret"].contains(&&instruction.name[0][..]);
        constant[i] = is_computed
            && instruction.guard.is_none()
            && !reads[i].is_empty()
            && reads[i].iter().all(is_constant);
    }
    constant
}

/// The number of the basic block that each instruction is in.
fn basic_blocks(kernel: &Kernel) -> Vec<usize> {
    let mut starts: BTreeSet<usize> = kernel.labels.values().copied().collect();
    let jumps = kernel.instructions.iter().enumerate().filter(|(_, jump)| jump.name[0] == "bra");
    starts.extend(jumps.map(|(i, _)| i + 1));
    (0..kernel.instructions.len()).map(|i| starts.range(..=i).count()).collect()
}

/// Whether what an instruction makes may differ among the threads of a warp.
fn varying(kernel: &Kernel, reads: &[Vec<usize>], written: &[Vec<usize>]) -> Vec<bool> {
    let is_source = |instruction: &Instruction| match &instruction.name[0][..] {
        "ld" => instruction.name[1] != "param",
        "shfl" | "atom" => true,
        _ => instruction
            .operands
            .iter()
            .any(|operand| matches!(operand, Operand::Name(name) if name.starts_with("%tid"))),
    };
    let mut varies: Vec<bool> = kernel.instructions.iter().map(is_source).collect();
    let mut registers = vec![false; kernel.registers()];
    loop {
        let mut is_new = false;
        for (i, (reads, written)) in reads.iter().zip(written).enumerate() {
            varies[i] |= reads.iter().any(|&register| registers[register]);
            for &register in written.iter().filter(|_| varies[i]) {
                is_new |= !registers[register];
                registers[register] = true;
            }
        }
        if !is_new {
            return varies;
        }
    }
}

/// The registers of an operand.
fn registers(operand: &Operand) -> Vec<usize> {
    match operand {
        Operand::Register(register) => vec![*register],
        Operand::Vector(all) => all.iter().flat_map(registers).collect(),
        Operand::Memory(base, _) => registers(base),
        Operand::Immediate(_) | Operand::Name(_) => Vec::new(),
    }
}

/// How many of its operands an instruction writes.
fn results(instruction: &Instruction) -> usize {
    let has_none = ["st", "bra", "bar", "ret"].contains(&&instruction.name[0][..]);
    usize::from(!has_none)
}

/// The registers that it reads.
fn read(instruction: &Instruction) -> Vec<usize> {
    let operands = instruction.operands.iter().skip(results(instruction));
    operands.flat_map(registers).chain(instruction.guard.map(|(guard, _)| guard)).collect()
}

/// Those that it writes.
fn write(instruction: &Instruction) -> Vec<usize> {
    instruction.operands.iter().take(results(instruction)).flat_map(registers).collect()
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::{MODULES, Module};

    use super::*;

    /// A kernel that stores a word per block, a block for each of two threads, of this work on `%r2` in a loop.
    fn kernel(work: &str) -> Kernel {
        let text = format!(
            ".visible .entry k(\n\t.param .b8 k_param_0[64]\n)\n.maxntid 2, 1, 1\n{{\n\
             mov.b64 %rd9, k_param_0;\nld.param.v2.u64 {{%rd1, %rd2}}, [%rd9];\n\
             ld.param.u32 %r8, [%rd9+16];\nmov.u32 %r1, %tid.x;\n\
             $L:\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n\
             ld.global.u32 %r2, [%rd4];\n{work}\nst.global.u32 [%rd5], %r3;\nadd.s32 %r1, %r1, 2;\n\
             setp.lt.u32 %p1, %r1, %r8;\n@%p1 bra $L;\nret;\n}}\n"
        );
        Kernel::read(&text, "k").expect("it can be read")
    }

    fn of(work: &str) -> Load {
        let run = Run { blocks: 64, block_bytes: 4, mode: [0; 3], count: None };
        load(&kernel(work), 0, &run).expect("it runs")
    }

    #[test]
    fn what_the_assembler_makes_one_instruction_of_is_one() {
        let plain = of("mov.u32 %r3, %r2;");
        // The comparison; the address is a product and two sums, the loop a sum and a jump.
        assert_eq!((plain.alu, plain.multiplier, plain.shared), (1.0, 0.0, 2.0));
        assert_eq!((plain.read_bytes, plain.written_bytes), (4.0, 4.0));
        let more = |work: &str| {
            let load = of(work);
            [load.shared, load.alu, load.multiplier, load.all]
                .into_iter()
                .zip([plain.shared, plain.alu, plain.multiplier, plain.all])
                .map(|(with, without)| with - without)
                .collect::<Vec<_>>()
        };
        // Three inputs together are one function, four are two.
        let three = "and.b32 %r4, %r2, %r1;\nxor.b32 %r3, %r4, %r8;";
        assert_eq!(more(three), [0.0, 1.0, 0.0, 1.0]);
        let four = "lop3.b32 %r4, %r2, %r1, %r8, 0x96;\nxor.b32 %r3, %r4, 5;";
        assert_eq!(more(&four.replace("0x96", "150")), [0.0, 2.0, 0.0, 2.0]);
        // What is used twice is no part of either.
        let twice = "xor.b32 %r4, %r2, 1;\nxor.b32 %r5, %r4, %r2;\nand.b32 %r3, %r5, %r4;";
        assert_eq!(more(twice), [0.0, 2.0, 0.0, 2.0]);
        assert_eq!(more("add.s32 %r4, %r2, %r1;\nadd.s32 %r3, %r4, %r8;"), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(more("mad.lo.s32 %r3, %r2, %r1, %r8;"), [0.0, 0.0, 1.0, 1.0]);
        // The same in all threads, of a number that is there before the loop.
        assert_eq!(more("and.b32 %r4, %r8, 7;\nadd.s32 %r3, %r2, %r4;"), [0.0, 0.0, 0.0, 1.0]);
        let look_up = "ld.shared.v4.u32 {%r4, %r5, %r6, %r3}, [shared];";
        assert_eq!(more(look_up), [2.0, 0.0, 0.0, 1.0]);
    }

    /// LOP3 in a kernel's machine code for compute capability 9.0: sections of an ELF file, 16 bytes per instruction.
    fn lop3(file: &[u8], kernel: &str) -> usize {
        let number = |at: usize, bytes: usize| {
            file[at..at + bytes].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
        };
        let header = |section: usize| number(0x28, 8) + 64 * section;
        let names = number(header(number(0x3e, 2)) + 0x18, 8);
        let sections = (0..number(0x3c, 2)).map(header);
        let name = format!(".text.{kernel}\0");
        let mut is_it =
            sections.filter(|at| file[names + number(*at, 4)..].starts_with(name.as_bytes()));
        let at = is_it.next().expect("its section");
        let (start, size) = (number(at + 0x18, 8), number(at + 0x20, 8));
        (start..start + size).step_by(16).filter(|at| number(*at, 2) & 0x1ff == 0x12).count()
    }

    /// Kernels of which the assembler writes a part of a loop's body once more, in front of the loop, and the LOP3 of
    /// that part: a round of ARIA.
    const COPIED: (&str, usize) = ("aria_bitslice", 1296);

    /// The rule against the assembler, where almost all is logic.
    #[test]
    fn logic_is_covered_as_in_the_machine_code() {
        let is_by_bits = |module: &&Module| module.name.ends_with("_bitslice");
        let mut compared = 0;
        for module in MODULES.iter().filter(is_by_bits) {
            // In XTS much is division, which the assembler brings.
            let names = module.entry_names().filter(|name| !name.contains("_xts"));
            for name in names {
                let kernel = Kernel::read(module.ptx, name).expect(name);
                let is_logic = |i: &Instruction| alone(i).0 == Kind::Logic;
                let costs = kernel.instructions.iter().zip(costs(&kernel));
                let counted = costs.filter(|(i, cost)| is_logic(i) && cost[1] > 0).count();
                let copied = if module.name == COPIED.0 { COPIED.1 } else { 0 };
                let made = lop3(module.machine_code, name) - copied;
                let ratio = counted as f64 / made as f64;
                assert!(
                    (0.98..1.01).contains(&ratio),
                    "{name}: {counted}, and {made} in machine code"
                );
                compared += 1;
            }
        }
        assert!(compared > 20, "{compared} kernels");
    }

    #[test]
    fn what_is_done_once_does_not_count_and_loops_do() {
        let once = kernel("mov.u32 %r3, %r2;");
        let inner = "mov.u32 %r7, 0;\n$I:\nprmt.b32 %r3, %r2, %r2, 12816;\nadd.s32 %r7, %r7, 1;\n\
                     setp.lt.u32 %p2, %r7, 10;\n@%p2 bra $I;";
        let run = Run { blocks: 64, block_bytes: 4, mode: [0; 3], count: None };
        let alu = |kernel: &Kernel| load(kernel, 0, &run).expect("it runs").alu.round() as i32;
        assert_eq!(alu(&kernel(inner)) - alu(&once), 0, "it can be done before the loop");
        let changing = inner.replace("%r2, %r2", "%r2, %r7");
        let more = alu(&kernel(&changing)) - alu(&once);
        assert_eq!(more, 10, "the counter and its comparison are the same in all threads");
        assert!(load(&once, 0, &Run { blocks: 0, ..run }).is_err());
    }
}
