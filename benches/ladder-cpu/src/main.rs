//! `ladder-cpu`: runs the rungs of the book's ladder on one core of this CPU, checks every block, and measures them.
#![forbid(unsafe_code)]
#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

mod check;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "sets of instructions of x86"))]
mod count;
#[path = "../../../crates/sm4/src/maps.rs"]
#[allow(dead_code, reason = "the key schedule's maps")]
mod maps;
mod measure;
#[path = "../../schema/src/replace.rs"]
#[allow(unreachable_pub, reason = "of the schema all of it is public")]
mod replace;
mod report;
mod rungs;
#[path = "../../ladder/src/runner.rs"]
#[allow(unreachable_pub, reason = "of the runners of kernels it is public")]
mod runner;
#[path = "../../../crates/sm4/src/sbox.rs"]
mod sbox;

#[path = "../../../book/listings/ladder-cpu/01-byte-at-a-time.rs"]
mod rung_01;
#[path = "../../../book/listings/ladder-cpu/02-tables-of-words.rs"]
mod rung_02;
#[path = "../../../book/listings/ladder-cpu/03-blocks-side-by-side.rs"]
mod rung_03;
#[path = "../../../book/listings/ladder-cpu/04-bits-in-words.rs"]
mod rung_04;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/05-bits-in-256.rs"]
mod rung_05;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/06-bits-in-512.rs"]
mod rung_06;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/07-bytes-with-gfni.rs"]
mod rung_07;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/08-maps-merged.rs"]
mod rung_08;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/09-two-batches.rs"]
mod rung_09;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/10-words-in-lanes.rs"]
mod rung_10;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/11-groups-in-flight.rs"]
mod rung_11;
#[cfg(target_arch = "x86_64")]
#[path = "../../../book/listings/ladder-cpu/12-by-length.rs"]
mod rung_12;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;

use crate::{
    measure::Timing,
    report::Record,
    rungs::Rung,
    runner::{Outputs, is_asked},
};

/// Runs the rungs of the ladder on one core: SM4, every block by itself.
///
/// Every rung is held against known answers, and every block of many lengths against the first rung, before it is measured.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Checks and measures nothing.
    #[arg(long)]
    check: bool,
    /// Runs only rungs whose names contain one of these.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Milliseconds for each figure: passes of a fraction of one, of which the fastest counts.
    #[arg(long, default_value_t = 200)]
    milliseconds: u64,
    #[command(flatten)]
    outputs: Outputs,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ladder-cpu: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let mut rungs = rungs::all()?;
    rungs.retain(|rung| is_asked(&arguments.only, rung.name));
    ensure!(!rungs.is_empty(), "no rung has such a name");
    for rung in &rungs {
        match &rung.encrypt {
            Ok(encrypt) => check::check(rung.name, encrypt)?,
            Err(lacks) => println!("{:<24} NOT run: {lacks}", rung.name),
        }
        if arguments.check && rung.encrypt.is_ok() {
            println!("{:<24} right: known answers, and all blocks of many lengths", rung.name);
        }
    }
    if arguments.check {
        return Ok(());
    }
    let timed = |rung: &Rung| {
        let encrypt = rung.encrypt.as_ref().ok()?;
        Some(Timing::of(encrypt, arguments.milliseconds))
    };
    let timings = rungs.iter().map(timed).collect();
    let record = Record::new(&rungs, timings);
    print!("{}", record.table());
    arguments.outputs.write("ladder-cpu", &record, &record.report(), &record.csv())
}
