//! How much of a multiprocessor each kernel fills: a table computed from what the compiler says that a
//! kernel takes, and from its launch.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use anyhow::{Context, Result};

use crate::generated;

/// A multiprocessor of compute capability 9.0, by CUDA's programming guide.
mod chip {
    pub(super) const ARCHITECTURE: &str = "sm_90";
    pub(super) const WARPS: u32 = 64;
    pub(super) const THREAD_BLOCKS: u32 = 32;
    pub(super) const SCHEDULERS: u32 = 4;
    pub(super) const REGISTERS_A_SCHEDULER: u32 = 16_384;
    /// In which a warp gets its registers.
    pub(super) const REGISTER_UNIT: u32 = 256;
    pub(super) const SHARED_BYTES: u32 = 228 << 10;
    /// What the system keeps of each thread block's.
    pub(super) const RESERVED_BYTES: u32 = 1 << 10;
}

/// What runs at once of a kernel.
#[derive(Debug, PartialEq, Eq)]
struct Resident {
    thread_blocks: u32,
    warps: u32,
    bound: &'static str,
}

/// Of thread blocks of this many threads.
fn resident(registers: u32, threads: u32, shared_bytes: u32) -> Resident {
    let warps = threads.div_ceil(32);
    let a_warp = (registers * 32).next_multiple_of(chip::REGISTER_UNIT);
    let by_registers = chip::REGISTERS_A_SCHEDULER / a_warp * chip::SCHEDULERS / warps;
    let by_shared = chip::SHARED_BYTES / (shared_bytes + chip::RESERVED_BYTES);
    let by_warps = (chip::WARPS / warps).min(chip::THREAD_BLOCKS);
    let thread_blocks = by_registers.min(by_shared).min(by_warps);
    let bound = match thread_blocks {
        n if n == by_warps => "threads",
        n if n == by_registers && n == by_shared => "registers, shared memory",
        n if n == by_registers => "registers",
        _ => "shared memory",
    };
    Resident { thread_blocks, warps: thread_blocks * warps, bound }
}

/// The table, from `resources.csv` and `src/launches.rs` of the kernels.
///
/// # Errors
/// Where they cannot be read.
pub(crate) fn table(kernels: &Path) -> Result<String> {
    let read = |path: &str| {
        let path = kernels.join(path);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let source = read("src/launches.rs")?;
    let launches = launches(&source);
    let mut text = "\n| kernel | registers a thread | threads a thread block | shared memory, KiB | thread blocks | \
        warps of 64 | bound by |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for line in read("resources.csv")?.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [kernel, chip::ARCHITECTURE, registers, static_bytes, ..] = cells[..] else { continue };
        let Some(&(threads, dynamic_bytes)) = launches.get(kernel) else { continue };
        if !kernel.ends_with("_ctr") {
            continue;
        }
        let registers: u32 = registers.parse().context("registers")?;
        let shared = static_bytes.parse::<u32>().context("shared memory")? + dynamic_bytes;
        let Resident { thread_blocks, warps, bound } = resident(registers, threads, shared);
        let _ = writeln!(
            text,
            "| `{kernel}` | {registers} | {threads} | {} | {thread_blocks} | {warps} | {bound} |",
            format!("{:.1}", f64::from(shared) / 1024.0).trim_end_matches(".0"),
        );
    }
    Ok(generated("kernels/resources.csv and kernels/src/launches.rs", &text))
}

/// Threads of a thread block and bytes of dynamic shared memory, by kernel.
fn launches(source: &str) -> BTreeMap<&str, (u32, u32)> {
    let number = |line: &str, field: &str| {
        let (_, rest) = line.split_once(field)?;
        rest.split([',', ' ']).next()?.parse().ok()
    };
    let launch = |line: &'_ str| {
        let fields = line.split_once("Launch {")?.1;
        Some((number(fields, "threads: ")?, number(fields, "shared_bytes: ")?))
    };
    source.lines().filter_map(|line| Some((line.split('"').nth(1)?, launch(line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcest_thing_bounds() {
        let of = |registers, threads, shared| {
            let resident = resident(registers, threads, shared);
            (resident.thread_blocks, resident.warps, resident.bound)
        };
        assert_eq!(of(32, 1024, 0), (2, 64, "threads"));
        assert_eq!(of(33, 1024, 0), (1, 32, "registers"));
        assert_eq!(of(34, 1024, 131_072), (1, 32, "registers, shared memory"));
        assert_eq!(of(32, 1024, 131_072), (1, 32, "shared memory"));
        assert_eq!(of(115, 512, 31_744), (1, 16, "registers"));
        assert_eq!(of(255, 256, 0), (1, 8, "registers"));
        assert_eq!(of(16, 32, 0), (32, 32, "threads"));
    }

    #[test]
    fn launches_are_read_from_the_generated_source() {
        let source = "    (\"a_ctr\", Launch { threads: 512, shared_bytes: 31744, unit: Unit { threads: \
            32, blocks: 256, aligned: true } }),";
        assert_eq!(launches(source), BTreeMap::from([("a_ctr", (512, 31_744))]));
    }
}
