//! Proves the bit-sliced forms equal to their standards: `cargo xtask prove`.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod ciphers;
mod controls;
mod examples;
mod forms;
mod model;
mod normal;
mod ptx;
mod report;
mod solver;
mod step;
mod subject;
mod whole;
mod wrong_kernels;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use lanecrypt_circuit::graph;

use crate::subject::Subject;

/// Proves that the bit-sliced form of every cipher computes its standard, for all blocks and all round keys.
#[derive(Parser)]
#[command(name = "cargo xtask prove")]
struct Arguments {
    /// Only this cipher [default: all].
    cipher: Option<String>,
    /// Only that the plans are what was recorded, and the ledger of what forms take, as CSV.
    #[arg(long)]
    plans: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("prove: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let is_meant =
        |subject: &Subject| arguments.cipher.as_deref().is_none_or(|name| name == subject.name);
    let subjects: Vec<_> = ciphers::all().into_iter().filter(is_meant).collect();
    ensure!(!subjects.is_empty(), "there is no such cipher");
    if arguments.plans {
        subjects.iter().try_for_each(check_plans)?;
        print!("{}", forms::csv(&subjects)?);
        return Ok(());
    }
    report::prove_all(&subjects)
}

/// Checks that a cipher's plans are what was recorded.
fn check_plans(subject: &Subject) -> Result<()> {
    for plan in subject.plans {
        let plan = plan();
        for whole in &plan.wholes {
            graph::check(&plan, whole)?;
        }
    }
    Ok(())
}
