//! bench-all from the command line to the report.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    auto, batches, blocks,
    compare::Comparison,
    cpu,
    environment::Environment,
    files, first_call, fleet,
    gpu::{self, GpuResults},
    host_memory,
    output::Output,
    page,
    plan::Options,
    record::{BlockCurve, Measurement, Record},
    report,
    runs::{self, Runs},
    summary,
};

/// Where runs are recorded.
const RECORDS: &str = "benches/record";

/// Runs bench-all; the exit code is 0, 1 where something failed or became slower, or 2 for wrong options.
#[must_use]
pub fn run() -> ExitCode {
    if std::env::var_os(cpu::PLAN).is_some() {
        return ended(cpu::measuring_process().map(|()| ExitCode::SUCCESS));
    }
    if let Ok(case) = std::env::var(first_call::CASE) {
        return ended(first_call::measuring_process(&case).map(|()| ExitCode::SUCCESS));
    }
    let options = Options::parse();
    if let Err(error) = options.check() {
        eprintln!("bench-all: {error}");
        return ExitCode::from(2);
    }
    ended(carry_out(&options))
}

fn ended(result: Result<ExitCode, String>) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("bench-all: {error}");
        ExitCode::FAILURE
    })
}

fn carry_out(options: &Options) -> Result<ExitCode, String> {
    let output = &options.output;
    if !output.report.is_empty() {
        return page_of_records(output).map(|()| ExitCode::SUCCESS);
    }
    // Read first: who mistypes a path learns that before an hour of measuring.
    let old = output.compare.as_deref().map(runs::read).transpose()?;
    let new = match &output.with {
        Some(path) => runs::read(path)?,
        None => measure_and_report(options)?,
    };
    let Some(old) = old else { return Ok(ExitCode::SUCCESS) };
    let comparison = Comparison::new(&old, &new, output.threshold);
    print!("\n{}", comparison.text(output.verbose));
    Ok(if comparison.has_loss() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The page of records that are there already and, in a folder of its own, the one record that they make.
fn page_of_records(output: &Output) -> Result<(), String> {
    let first = &output.report[0];
    let beside = if first.is_dir() { first } else { first.parent().unwrap_or(first) };
    let folder = output.out.as_deref().unwrap_or(beside);
    let runs = Runs::read(&output.report)?;
    let merged = runs.merged();
    if output.verbose {
        println!("{}", report::terminal(&merged));
    }
    println!("{}", summary::screen(&merged));
    if let Some(folder) = &output.out {
        write_tables(&merged, folder)?;
    }
    write_page(runs, folder)
}

fn write_tables(record: &Record, folder: &Path) -> Result<(), String> {
    report::write(record, folder).map_err(|error| format!("writing {}: {error}", folder.display()))
}

fn write_page(runs: Runs, folder: &Path) -> Result<(), String> {
    let path = page::write(&runs.or_recorded_gpu(Path::new(RECORDS)), folder)
        .map_err(|error| format!("writing {}: {error}", folder.display()))?;
    println!("Page: {}", path.display());
    Ok(())
}

/// Measures, writes all files, and ends with one screen.
fn measure_and_report(options: &Options) -> Result<Record, String> {
    let record = measure(options)?;
    let folder = options.output.out.clone().unwrap_or_else(|| default_folder(&record.environment));
    write_tables(&record, &folder)?;
    if options.output.verbose {
        println!("{}", report::terminal(&record));
    }
    println!("{}", summary::screen(&record));
    println!("Tables: {}", folder.join("report.md").display());
    write_page(Runs::of(record.clone(), &folder), &folder)?;
    Ok(record)
}

fn measure(options: &Options) -> Result<Record, String> {
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
    let (thread_blocks, block_sizes) = (on_gpu.thread_blocks, on_gpu.block_sizes);
    Ok(Record {
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
    })
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
    Path::new(RECORDS).join(environment.folder_name())
}

/// Hidden where standard error is no terminal.
fn progress_bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:4} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::new(steps as u64);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
