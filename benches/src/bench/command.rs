//! bench-all from the command line to the report.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    auto, batches, blocks, cpu,
    environment::Environment,
    files, first_call, fleet,
    gpu::{self, GpuResults},
    host_memory,
    plan::Options,
    record::{BlockCurve, Measurement, Record},
    report,
};

/// Runs bench-all; the exit code is 0, 1 where something failed, or 2 for wrong options.
#[must_use]
pub fn run() -> ExitCode {
    if std::env::var_os(cpu::PLAN).is_some() {
        return ended(cpu::measuring_process());
    }
    if let Ok(case) = std::env::var(first_call::CASE) {
        return ended(first_call::measuring_process(&case));
    }
    let options = Options::parse();
    if let Err(error) = options.check() {
        eprintln!("bench-all: {error}");
        return ExitCode::from(2);
    }
    ended(measure(&options))
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-all: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<(), String> {
    let environment = Environment::of_this_machine(options.peers);
    if environment.gpu_details.is_none() && options.gpu_only {
        return Err(format!("--gpu-only, but there is no GPU: {}", environment.gpu));
    }
    if environment.gpu_details.is_none() && !options.cpu_only {
        eprintln!("GPU: {}; measuring the CPU only", environment.gpu);
    }
    let is_part = options.batches
        || options.host_memory
        || options.first_calls
        || options.fleet
        || options.files
        || options.auto;
    let is_all = !is_part && !options.sustained;
    let single = if is_part { Single::default() } else { Single::measure(options)? };
    let takes_families = options.backend.is_empty(); // none of these is of a certain backend
    let is_wanted = |is_chosen| takes_families && (is_all || is_chosen);
    // Those in host memory belong to both.
    let has_batches = options.batches || options.host_memory;
    let batches = part(is_wanted(has_batches), options, batches::measure)?;
    let host_memory = part(is_wanted(options.host_memory), options, host_memory::measure)?;
    let first_calls = part(is_wanted(options.first_calls), options, first_call::measure)?;
    let fleet = part(is_wanted(options.fleet), options, fleet::measure)?;
    // Minutes that have nothing to do with a cipher, or with the GPU alone.
    let is_whole = options.cipher.is_empty() && !options.gpu_only;
    let wants_files = options.files || is_wanted(false) && is_whole;
    let files = part(wants_files, options, files::measure)?;
    let auto = part(is_wanted(options.auto), options, auto::measure)?;
    let Single { mut measurements, mut skipped, block_curves, on_gpu } = single;
    measurements.extend(on_gpu.measurements);
    skipped.extend(on_gpu.skipped);
    let is_nothing =
        measurements.is_empty() && batches.is_empty() && fleet.is_empty() && auto.is_empty();
    if is_nothing && files.is_empty() && host_memory.is_empty() && first_calls.is_empty() {
        return Err(format!("nothing was measured\n{}", skipped.join("\n")));
    }
    let mut kernels = on_gpu.kernels;
    if kernels.is_empty() && is_all {
        kernels = gpu::compiled_kernels("sm_90");
    }
    let folder = options.out.clone().unwrap_or_else(|| default_folder(&environment));
    let (thread_blocks, block_sizes) = (on_gpu.thread_blocks, on_gpu.block_sizes);
    let record = Record {
        environment,
        skipped,
        measurements,
        thread_blocks,
        block_sizes,
        auto,
        batches,
        host_memory,
        first_calls,
        fleet,
        files,
        block_curves,
        kernels,
    };
    report::write(&record, &folder)
        .map_err(|error| format!("writing {}: {error}", folder.display()))?;
    println!("{}", report::terminal(&record));
    println!("Report: {}", folder.join("report.md").display());
    Ok(())
}

/// A part of what is measured, where it is wanted.
fn part<T>(
    is_wanted: bool,
    options: &Options,
    measure: impl FnOnce(&Options) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    if is_wanted { measure(options) } else { Ok(Vec::new()) }
}

/// What is measured under one key.
#[derive(Default)]
struct Single {
    measurements: Vec<Measurement>,
    skipped: Vec<String>,
    block_curves: Vec<BlockCurve>,
    on_gpu: GpuResults,
}

impl Single {
    fn measure(options: &Options) -> Result<Self, String> {
        let (cases, skipped) = options.cpu_cases();
        let bar = progress_bar(cases.len() + gpu::steps(options));
        bar.set_message("CPU");
        let measurements = cpu::measure(&cases, options.quick, &bar)?;
        let block_curves = blocks::measure(options)?;
        bar.set_message("GPU");
        let on_gpu = gpu::measure(options, &bar)?;
        bar.finish_and_clear();
        Ok(Self { measurements, skipped, block_curves, on_gpu })
    }
}

fn default_folder(environment: &Environment) -> PathBuf {
    PathBuf::from("benches/record").join(environment.folder_name())
}

/// Hidden where standard error is no terminal.
fn progress_bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:4} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::new(steps as u64);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
