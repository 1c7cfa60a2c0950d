//! `inside`: runs the kernels of the book that call `kernels/include/lanecrypt.cuh`, checks every block, and measures them.
//! `cargo xtask inside` builds what it runs.

mod dpf;
mod trials;

use std::{fmt::Write as _, path::PathBuf, process::ExitCode};

use anyhow::{Result, anyhow, ensure};
use clap::Parser;
use lanecrypt_cuda::Device;
use lanecrypt_ladder::{Entry, Machine, Outputs, Place, Timing, is_asked, measure};
use lanecrypt_roof::grouped;
use serde::Serialize;

use crate::trials::{Load, trial};

/// Runs the kernels that call lanecrypt.cuh: hashes under a fixed key, a key for each block, a tree of a distributed point
/// function, bit-sliced AES, products in GF(2^128).
///
/// Every block is compared with the crates `aes` and `ghash` before a kernel is measured.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The folder with the kernels, which `cargo xtask inside` builds.
    folder: PathBuf,
    /// Runs only kernels whose names contain one of these.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Launches that are measured, of which the median counts; there is a quarter of a second between them.
    #[arg(long, default_value_t = 11)]
    samples: usize,
    /// Runs the kernels as C++ on this CPU, which checks them, also for races, and says nothing about speed.
    #[arg(long)]
    host: bool,
    /// Checks and measures nothing.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// What ran on which machine.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    machine: Machine,
    kernels: Vec<Row>,
}

/// A kernel with one load.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    entry: Entry,
    load: String,
    /// Calls of the cipher, or products.
    calls: u64,
    calls_per_second: f64,
    /// Bits of blocks that a multiprocessor takes in a cycle, for comparing cards: calls times 128.
    bits_per_cycle: f64,
    #[serde(flatten)]
    timing: Timing,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("inside: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let mut entries: Vec<Entry> =
        lanecrypt_ladder::read(&arguments.folder, "listings.json", "inside")?;
    entries.retain(|entry| is_asked(&arguments.only, &entry.name));
    ensure!(!entries.is_empty(), "no kernel has such a name");
    if arguments.host {
        for entry in &entries {
            let listing = entry.open(&arguments.folder, Place::Host)?;
            let checked = trial(&entry.name)?.check(&listing, true)?;
            println!("{:<14} right: {checked}, no race", entry.name);
        }
        return Ok(());
    }
    let device = Device::default().map_err(|error| anyhow!("no GPU to run on: {error}"))?;
    let mut record = Record { machine: device.properties().into(), kernels: Vec::new() };
    for entry in &entries {
        let listing = entry.open(&arguments.folder, Place::Gpu(&device))?;
        let trial = trial(&entry.name)?;
        let checked = trial.check(&listing, false)?;
        println!("{:<14} right: {checked}", entry.name);
        if arguments.check {
            continue;
        }
        for load in trial.loads() {
            let mut run = trial.prepare(&listing, &load)?;
            let work = (load.calls, arguments.samples);
            let timing = measure(&record.machine, entry, &listing, work, &mut run)?;
            record.kernels.push(Row::new(&record.machine, entry, load, timing));
        }
    }
    if arguments.check {
        return Ok(());
    }
    print!("{}", record.table());
    let title = format!("# `lanecrypt.cuh` inside kernels, on an {}", record.machine.gpu);
    let report = format!("{title}\n\n```text\n{}```\n", record.table());
    arguments.outputs.write("inside", &record, &report, &record.csv())
}

impl Row {
    fn new(machine: &Machine, entry: &Entry, load: Load, timing: Timing) -> Self {
        let calls_per_second = load.calls as f64 / timing.seconds;
        // What was counted is of the listing's first load.
        let timing =
            if load.is_counted { timing } else { Timing { roof: None, binds: None, ..timing } };
        Self {
            entry: entry.clone(),
            load: load.name,
            calls: load.calls,
            calls_per_second,
            bits_per_cycle: 128.0 * calls_per_second / machine.gigaclocks() / 1e9,
            timing,
        }
    }
}

impl Record {
    /// For a program.
    fn csv(&self) -> String {
        let mut text = String::from(
            "kernel,load,calls,seconds,calls_per_second,gbit_per_second,roof,bits_per_cycle,binds,registers\n",
        );
        for Row { entry, load, calls, calls_per_second, bits_per_cycle, timing } in &self.kernels {
            let Timing { seconds, gbit_per_second, registers, .. } = timing;
            let roof = timing.roof.map(|roof| format!("{roof:.1}")).unwrap_or_default();
            let (name, binds) = (&entry.name, timing.binds.unwrap_or_default());
            let _ = writeln!(
                text,
                "{name},\"{load}\",{calls},{seconds:e},{calls_per_second:e},{gbit_per_second:.1},{roof},{bits_per_cycle:.3},\"{binds}\",{registers}"
            );
        }
        text
    }

    /// For a person.
    fn table(&self) -> String {
        let mut text = format!(
            "{}\n{:<12} {:<24} {:>8} {:>8} {:>7} {:>7} {:>8} {:<9} {:>9}\n",
            self.machine.gpu,
            "kernel",
            "load",
            "10^9 a s",
            "Gbit/s",
            "roof",
            "reached",
            "bits/clk",
            "binds",
            "registers"
        );
        for row in &self.kernels {
            let timing = &row.timing;
            let reached =
                timing.roof.map(|roof| format!("{:.0}%", 100.0 * timing.gbit_per_second / roof));
            let _ = writeln!(
                text,
                "{:<12} {:<24} {:>8.2} {:>8} {:>7} {:>7} {:>8.2} {:<9} {:>9}",
                row.entry.name,
                row.load,
                row.calls_per_second / 1e9,
                grouped(timing.gbit_per_second),
                timing.roof.map(grouped).unwrap_or_default(),
                reached.unwrap_or_default(),
                row.bits_per_cycle,
                timing.binds.unwrap_or_default(),
                timing.registers
            );
        }
        text
    }
}
