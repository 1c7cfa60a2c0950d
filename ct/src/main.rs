//! `cargo xtask ct`: checks every backend's constant-time claim, and that the checks can fail.
//!
//! Backends of the CPU, and the kernels compiled for it, run under valgrind with key and data
//! undefined, and so do segments of sealed files and contexts of the provider; of instruction sets that valgrind does not
//! run the machine code is read, and the kernels' PTX is. A backend that claims to be constant-time must pass, and one that
//! does not claim it must trip. With `--measure`, times are compared instead.

mod ffi;
mod machine_code;
mod measure;
mod parts;
mod ptx;
mod report;
mod trial;
mod valgrind;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use lanecrypt::find_cipher;

use crate::{
    measure::Place,
    report::{Row, Verdict},
};

#[derive(Parser)]
#[command(name = "cargo xtask ct", about = "Checks every backend's constant-time claim")]
struct Options {
    /// Checks only backends whose name, as cipher/backend, contains this.
    #[arg(default_value = "")]
    filter: String,
    /// Compares the times of secrets that stay and secrets that change, this many times for each step, instead.
    #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "10000000")]
    measure: Option<usize>,
    /// Measures on this many cores at once.
    #[arg(long, value_name = "CORES", default_value_t = 1, requires = "measure")]
    cores: usize,
    /// Measures the kernels of this machine's GPU, by its clock, in place of the CPU.
    #[arg(long, requires = "measure", conflicts_with = "cores")]
    gpu: bool,
    /// Reads the PTX of kernels that call `lanecrypt.cuh`, too, from this folder.
    #[arg(long, value_name = "FOLDER")]
    inside: Option<PathBuf>,
    /// Runs one backend, named cipher/backend, or several; for use under valgrind.
    #[arg(long, hide = true)]
    trial: Vec<String>,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    if !options.trial.is_empty() {
        for name in &options.trial {
            println!("{}\t{name}", valgrind::TRIAL);
            run_trial(name)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(measurements) = options.measure {
        let place = if options.gpu { Place::Gpu } else { Place::Cpu { cores: options.cores } };
        return judged(&measure::rows(&options.filter, measurements, place)?, &options.filter);
    }
    ensure!(cfg!(target_arch = "x86_64"), "valgrind's requests are written for x86-64 alone");
    let mut rows = ptx::rows(&options.filter)?;
    if let Some(folder) = &options.inside {
        rows.extend(ptx::inside::rows(folder, &options.filter)?);
    }
    rows.extend(valgrind::rows(&options.filter)?);
    let code = judged(&rows, &options.filter)?;
    println!("{}", trial::REDUCED);
    Ok(code)
}

/// Prints rows, and says whether one is wrong.
fn judged(rows: &[Row], filter: &str) -> Result<ExitCode> {
    report::print(rows);
    let is_checked = report::count(rows, Verdict::NotHere) < rows.len();
    ensure!(is_checked, "no backend that can run here has {filter:?} in its name");
    let wrong = report::count(rows, Verdict::Wrong);
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_trial(name: &str) -> Result<()> {
    if parts::all().iter().any(|part| part.name == name) {
        return parts::run(name);
    }
    let (cipher, id) = name.split_once('/').context("a backend is named cipher/backend")?;
    let cipher = find_cipher(cipher)?;
    let backend = cipher.backend(id);
    trial::run(cipher, backend.with_context(|| format!("{} has no backend {id}", cipher.name))?)
}
