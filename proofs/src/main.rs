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

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use lanecrypt_circuit::{emit_rounds, emit_wgsl, graph};

use crate::subject::{Subject, Wgsl};

/// Proves that the bit-sliced form of every cipher computes its standard, for all blocks and all round keys.
#[derive(Parser)]
#[command(name = "cargo xtask prove")]
struct Arguments {
    /// Only this cipher [default: all].
    cipher: Option<String>,
    /// Only checks that the plans are what was recorded, and writes what is made of them into this folder: the ledger
    /// of what forms take, each cipher's kernels in WGSL, and the rounds of kernels in CUDA C++.
    #[arg(long, value_name = "FOLDER")]
    plans: Option<PathBuf>,
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
    if let Some(folder) = &arguments.plans {
        subjects.iter().try_for_each(check_plans)?;
        write(&folder.join("forms.csv"), &forms::csv(&subjects)?)?;
        return subjects.iter().try_for_each(|subject| write_kernels(subject, folder));
    }
    report::prove_all(&subjects)
}

/// Writes a cipher's kernels in WGSL, and the rounds of its bit-sliced kernel in CUDA C++, made from the plan with
/// three-input functions.
fn write_kernels(subject: &Subject, folder: &Path) -> Result<()> {
    let [with_gates, with_lookups] = subject.plans;
    let Wgsl { has_lookups, calls } = subject.wgsl;
    let plan = if has_lookups { with_lookups() } else { with_gates() };
    let text = emit_wgsl(subject.name, &plan, calls)?;
    write(&folder.join(format!("{}.wgsl", subject.name)), &text)?;
    let Some(rounds) = subject.rounds else { return Ok(()) };
    let text = emit_rounds(subject.name, &with_lookups(), rounds)?;
    write(&folder.join(format!("{}.cuh", subject.name)), &text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
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
