//! `ladder`: runs the rungs of the book's ladder, checks every block, and measures them. `cargo xtask ladder` builds what
//! it runs.

mod rung;
mod work;

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, anyhow, bail, ensure};
use clap::Parser;
use lanecrypt_cuda::Device;
use lanecrypt_ladder::{Listing, Machine, Outputs, Timing, is_asked, measure};
use lanecrypt_roof::grouped;
use serde::Serialize;

use crate::{
    rung::Rung,
    work::{Place, Work},
};

/// Runs the rungs of the ladder: AES-128 in counter mode on data that is on the device.
///
/// Every block of every rung is compared with the crate `aes`, for several lengths, before the rung is measured.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The folder with the rungs, which `cargo xtask ladder` builds.
    folder: PathBuf,
    /// Bytes of data, a multiple of 16 [default: 1 GiB on a GPU, 1 MiB on the host].
    #[arg(long)]
    bytes: Option<usize>,
    /// Runs only rungs whose names contain one of these.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Launches that are measured, of which the median counts; there is a quarter of a second between them.
    #[arg(long, default_value_t = 11)]
    samples: usize,
    /// Runs each rung once over all data and checks nothing: for a profiler.
    #[arg(long)]
    once: bool,
    /// Runs the rungs as C++ on this CPU, which checks them, also for races, and says nothing about speed.
    #[arg(long, conflicts_with = "once")]
    host: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// What ran on which machine.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    machine: Machine,
    bytes: usize,
    rungs: Vec<Row>,
}

/// A rung that was measured.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    rung: Rung,
    #[serde(flatten)]
    timing: Timing,
}

const GIB: usize = 1 << 30;

/// Blocks of short runs: one, a row less one and more one, and some that leave every rung a ragged end.
const SHORT: [u64; 5] = [1, 255, 257, 5003, 40_000];

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ladder: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let mut rungs: Vec<Rung> = lanecrypt_ladder::read(&arguments.folder, "rungs.json", "ladder")?;
    rungs.retain(|rung| is_asked(&arguments.only, &rung.entry.name));
    ensure!(!rungs.is_empty(), "no rung has such a name");
    let bytes = arguments.bytes.unwrap_or(if arguments.host { GIB / 1024 } else { GIB });
    ensure!(bytes > 0 && bytes.is_multiple_of(16), "{bytes} bytes are no whole blocks");
    ensure!(u32::try_from(bytes / 16).is_ok(), "a number of a block has 32 bits");
    if arguments.host {
        if arguments.only.is_empty() {
            rungs.retain(|rung| !rung.is_wrong()); // a race ends the program
        }
        return on_host(&rungs, bytes, &arguments.folder);
    }
    let device = Device::default().map_err(|error| anyhow!("no GPU to run on: {error}"))?;
    let work = Work::new(bytes);
    let mut place = work.on(&device)?;
    let mut record = Record { machine: device.properties().into(), bytes, rungs: Vec::new() };
    for rung in &rungs {
        let listing = rung.entry.open(&arguments.folder, lanecrypt_ladder::Place::Gpu(&device))?;
        if arguments.once {
            place.run(&listing, rung, place.blocks())?;
        } else if rung.is_wrong() {
            println!(
                "{}",
                verdict(rung, place.wrong_blocks(&listing, rung, place.blocks())?, &place)
            );
        } else {
            check(&mut place, &listing, rung)?;
            let work = (place.blocks(), arguments.samples);
            let timing = measure(&record.machine, &rung.entry, &listing, work, || {
                place.run(&listing, rung, work.0)
            })?;
            record.rungs.push(Row { rung: rung.clone(), timing });
        }
    }
    if arguments.once {
        return Ok(());
    }
    print!("{}", record.table());
    let report =
        format!("# The ladder on an {}\n\n```text\n{}```\n", record.machine.gpu, record.table());
    arguments.outputs.write("ladder", &record, &report, &record.csv())
}

/// Checks all rungs on this CPU. A race ends the program.
fn on_host(rungs: &[Rung], bytes: usize, folder: &Path) -> Result<()> {
    let work = Work::new(bytes);
    for rung in rungs {
        let listing = rung.entry.open(folder, lanecrypt_ladder::Place::Host)?;
        let mut place = work.on(listing.device())?;
        if rung.is_wrong() {
            println!(
                "{}",
                verdict(rung, place.wrong_blocks(&listing, rung, place.blocks())?, &place)
            );
            continue;
        }
        check(&mut place, &listing, rung)?;
        println!(
            "{:<28} right: all blocks of {bytes} bytes and of shorter data, no race",
            rung.entry.name
        );
    }
    Ok(())
}

/// What a mistake comes to.
fn verdict(rung: &Rung, wrong: u64, place: &Place<'_>) -> String {
    let all = place.blocks();
    format!("{:<28} {wrong} of {all} blocks are wrong", rung.entry.name)
}

/// Compares every block of short and long data.
fn check(place: &mut Place<'_>, listing: &Listing, rung: &Rung) -> Result<()> {
    let all = place.blocks();
    // The longest has no whole row at its end.
    for blocks in SHORT.into_iter().chain([all, all.saturating_sub(37)]) {
        let blocks = blocks.clamp(1, all);
        let wrong = place.wrong_blocks(listing, rung, blocks)?;
        if wrong > 0 {
            bail!("{}: {wrong} of {blocks} blocks are wrong", rung.entry.name);
        }
    }
    Ok(())
}

impl Record {
    /// For a person.
    fn table(&self) -> String {
        let mut text = format!(
            "{}, {} MiB on the device\n{:<28} {:>8} {:>8} {:>7} {:>6}  {:<16} {:>9}\n",
            self.machine.gpu,
            self.bytes >> 20,
            "rung",
            "Gbit/s",
            "roof",
            "reached",
            "times",
            "binds",
            "registers"
        );
        for (i, row) in self.rungs.iter().enumerate() {
            let before = i.checked_sub(1).map(|before| self.rungs[before].timing.gbit_per_second);
            let reached = row
                .timing
                .roof
                .map(|roof| format!("{:.0}%", 100.0 * row.timing.gbit_per_second / roof));
            let _ = writeln!(
                text,
                "{:<28} {:>8} {:>8} {:>7} {:>6}  {:<16} {:>9}{}",
                row.rung.entry.name,
                grouped(row.timing.gbit_per_second),
                row.timing.roof.map(grouped).unwrap_or_default(),
                reached.unwrap_or_default(),
                before
                    .map(|before| format!("{:.2}", row.timing.gbit_per_second / before))
                    .unwrap_or_default(),
                row.timing.binds.unwrap_or_default(),
                row.timing.registers,
                if row.timing.local_bytes > 0 {
                    format!(", {} bytes spilled", row.timing.local_bytes)
                } else {
                    String::new()
                },
            );
        }
        text
    }

    fn csv(&self) -> String {
        let mut text = "rung,gbit_per_second,roof,seconds,fastest_seconds,binds,shared,alu,multiplier,all,registers,\
                        local_bytes,grid\n"
            .to_owned();
        for row in &self.rungs {
            let lanes = row
                .rung
                .entry
                .lanes
                .map(|lanes| lanes.map(|lanes| format!("{lanes:.2}")).join(","));
            let _ = writeln!(
                text,
                "{},{:.1},{},{:e},{:e},{},{},{},{},{}",
                row.rung.entry.name,
                row.timing.gbit_per_second,
                row.timing.roof.map(|roof| format!("{roof:.1}")).unwrap_or_default(),
                row.timing.seconds,
                row.timing.fastest_seconds,
                row.timing.binds.unwrap_or_default(),
                lanes.unwrap_or_else(|| ",,,".to_owned()),
                row.timing.registers,
                row.timing.local_bytes,
                row.timing.grid
            );
        }
        text
    }
}
