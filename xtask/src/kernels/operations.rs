//! The ledger: what every kernel of a program takes of a multiprocessor for a block, counted from its PTX by the rule of
//! `lanecrypt_ptx::count`.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::{Context, Result};
use lanecrypt_cuda::kernels::{Kernel, Program, Task, programs::PROGRAMS};
use lanecrypt_ptx::{
    count::{Load, Run, load},
    text,
};
use rayon::prelude::*;

/// Where it is kept.
pub(crate) const OPERATIONS: &str = "kernels/operations.csv";

const HEADER: &str = "kernel,count,warp,shared,alu,multiplier,all,read_bytes,written_bytes";
/// Blocks of a data unit in XTS: 4 KiB.
const UNIT_BLOCKS: u64 = 256;
/// Counters of which those of 16 bytes that are cached share all but the low two bytes.
const CHUNK: u64 = 65_536;
/// Threads whose warps are counted: in some kernels the second does other work than the first.
const THREADS: [u32; 2] = [0, 32];

/// The table, sorted by kernel. What a batch takes depends on its messages, and GHASH, which no cipher's block is of,
/// has counts on its page: neither is here; nor is the key stream by itself, which stores no block.
///
/// # Errors
/// Naming a kernel whose text cannot be run.
pub(crate) fn csv() -> Result<String> {
    let mut kernels: BTreeMap<&str, (&Program, Task, &Kernel)> = BTreeMap::new();
    for program in PROGRAMS {
        for (task, kernel) in program.kernels().filter(|(task, _)| *task != Task::Keystream) {
            // That of a new cipher, which waits for `cargo xtask kernels`, is an empty file.
            if !kernel.module().ptx.is_empty() {
                kernels.entry(kernel.name()).or_insert((program, task, kernel));
            }
        }
    }
    let kernels: Vec<_> = kernels.into_iter().collect();
    let rows = kernels.par_iter().map(|(name, (program, task, kernel))| {
        rows(program, *task, kernel).with_context(|| (*name).to_owned())
    });
    Ok(format!("{HEADER}\n{}", rows.collect::<Result<String>>()?))
}

/// Those of a kernel: one for each word that it may count by, two where its warps differ.
fn rows(program: &Program, task: Task, kernel: &Kernel) -> Result<String> {
    let text = text::Kernel::read(kernel.module().ptx, kernel.name())?;
    let layout = program.keys();
    let counts = layout.counts().iter().map(|&count| Some((layout.count_word()?, count)));
    let counts: Vec<_> = if layout.counts().is_empty() { vec![None] } else { counts.collect() };
    let mut rows = String::new();
    for count in counts {
        let run = Run {
            blocks: blocks(kernel),
            block_bytes: program.block_bytes() as u64,
            mode: match task {
                Task::XtsEncrypt | Task::XtsDecrypt => [UNIT_BLOCKS, 0, 0],
                _ => [0; 3],
            },
            count,
        };
        let threads = THREADS.into_iter().filter(|thread| *thread < kernel.threads());
        let mut loads: Vec<Load> =
            threads.map(|thread| load(&text, thread, &run)).collect::<Result<_>>()?;
        loads.dedup();
        for (warp, load) in loads.iter().enumerate() {
            let count = count.map_or(0, |(_, count)| count);
            let Load { shared, alu, multiplier, all, read_bytes, written_bytes } = load;
            writeln!(
                rows,
                "{},{count},{warp},{shared:.2},{alu:.2},{multiplier:.2},{all:.2},{read_bytes:.2},{written_bytes:.2}",
                kernel.name()
            )?;
        }
    }
    Ok(rows)
}

/// So many that each thread makes whole passes, through whole data units, or whole chunks of counters.
fn blocks(kernel: &Kernel) -> u64 {
    let unit = kernel.unit();
    let pass = u64::from(kernel.threads() / unit.threads * unit.blocks);
    let other = if unit.aligned { CHUNK } else { UNIT_BLOCKS * u64::from(kernel.threads() / 32) };
    let mut blocks = pass;
    while !blocks.is_multiple_of(other) {
        blocks += pass;
    }
    blocks
}
