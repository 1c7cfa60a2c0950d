//! bench-all from the command line to the report.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use lanecrypt_record::{Environment, Figure, Part, Record};

use crate::bench::{
    measure::{
        auto, batches, blocks, cpu, environment, files, first_call, fleet, gpu, host_memory,
        kernels, swap,
    },
    options::{CommandLine, Options},
    output::Output,
    report::{compare::Comparison, page, runs::Runs, summary, write},
};

/// Where runs are recorded.
const RECORDS: &str = "benches/record";

/// Runs bench-all; the exit code is 0, 1 where something failed or became slower, or 2 for wrong options.
#[must_use]
pub fn run() -> ExitCode {
    if let Ok(case) = std::env::var(first_call::CASE) {
        return ended(first_call::measuring_process(&case).map(|()| ExitCode::SUCCESS));
    }
    let CommandLine { options, output } = CommandLine::parse();
    if let Err(error) = options.check() {
        eprintln!("bench-all: {error}");
        return ExitCode::from(2);
    }
    ended(carry_out(&options, &output))
}

fn ended(result: Result<ExitCode, String>) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("bench-all: {error}");
        ExitCode::FAILURE
    })
}

fn carry_out(options: &Options, output: &Output) -> Result<ExitCode, String> {
    if !output.report.is_empty() {
        return page_of_records(output).map(|()| ExitCode::SUCCESS);
    }
    // Read first: who mistypes a path learns that before an hour of measuring.
    let old = output.compare.as_deref().map(Record::read).transpose()?;
    let new = match &output.with {
        Some(path) => Record::read(path)?,
        None => measure_and_report(options, output)?,
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
        println!("{}", write::terminal(&merged));
    }
    println!("{}", summary::screen(&merged));
    if let Some(folder) = &output.out {
        write_tables(&merged, folder)?;
    }
    write_page(runs, folder)
}

fn write_tables(record: &Record, folder: &Path) -> Result<(), String> {
    write::files(record, folder).map_err(|error| format!("writing {}: {error}", folder.display()))
}

fn write_page(runs: Runs, folder: &Path) -> Result<(), String> {
    let path = page::write_to(&runs.or_recorded_gpu(Path::new(RECORDS)), folder)
        .map_err(|error| format!("writing {}: {error}", folder.display()))?;
    println!("Page: {}", path.display());
    Ok(())
}

/// Measures, writes all files, and ends with one screen.
fn measure_and_report(options: &Options, output: &Output) -> Result<Record, String> {
    let record = measure(options)?;
    let folder = output.out.clone().unwrap_or_else(|| default_folder(&record.environment));
    write_tables(&record, &folder)?;
    if output.verbose {
        println!("{}", write::terminal(&record));
    }
    println!("{}", summary::screen(&record));
    println!("Tables: {}", folder.join("report.md").display());
    write_page(Runs::of(record.clone(), &folder), &folder)?;
    Ok(record)
}

fn measure(options: &Options) -> Result<Record, String> {
    let environment = environment::of_this_machine(options.peers);
    if environment.gpu_details.is_none() && options.gpu_only {
        return Err(format!("--gpu-only, but there is no GPU: {}", environment.gpu));
    }
    if environment.gpu_details.is_none() && !options.cpu_only {
        eprintln!("GPU: {}; measuring the CPU only", environment.gpu);
    }
    // Those in host memory belong to both.
    let has_batches = options.batches || options.host_memory;
    let parts: [(Part, bool, Measure); 7] = [
        (Part::Batches, has_batches, batches::measure),
        (Part::HostMemory, options.host_memory, host_memory::measure),
        (Part::FirstCalls, options.first_calls, first_call::measure),
        (Part::Fleet, options.fleet, fleet::measure),
        (Part::Files, options.files, files::measure),
        (Part::Auto, options.auto, auto::measure),
        (Part::Swap, options.swap, swap::measure),
    ];
    let is_part = parts.iter().any(|(_, is_chosen, _)| *is_chosen);
    let is_all = !is_part && !options.sustained && !options.energy;
    let is_wanted = |part| match part {
        _ if !is_all || !options.backend.is_empty() => false, // none of these is of a certain backend
        // Minutes that have nothing to do with a cipher, or with the GPU alone.
        Part::Files => options.cipher.is_empty() && !options.gpu_only,
        Part::Swap => !options.gpu_only,
        _ => true,
    };
    let mut record = Record { environment, ..Record::default() };
    if !is_part {
        single(options, &mut record)?;
    }
    for (part, is_chosen, measure) in parts {
        if is_chosen || is_wanted(part) {
            record.add(part, measure(options)?);
        }
    }
    if record.is_empty() {
        return Err(format!("nothing was measured\n{}", record.skipped.join("\n")));
    }
    if record.kernels.is_empty() && is_all {
        record.kernels = kernels::compiled("sm_90");
    }
    Ok(record)
}

/// How a part is measured.
type Measure = fn(&Options) -> Result<Vec<Figure>, String>;

/// Measures what runs under one key.
fn single(options: &Options, record: &mut Record) -> Result<(), String> {
    let (cases, skipped) = options.cpu_cases();
    record.skipped = skipped;
    let bar = progress_bar(cases.len() + gpu::steps(options));
    bar.set_message("CPU");
    record.add(Part::Measurements, cpu::measure(&cases, options.milliseconds(), &bar)?);
    record.add(Part::BlockCurves, blocks::measure(options)?);
    bar.set_message("GPU");
    gpu::measure(options, &bar, record)?;
    #[cfg(feature = "wgpu")]
    crate::bench::measure::wgpu::measure(options, record)?;
    bar.finish_and_clear();
    Ok(())
}

fn default_folder(environment: &Environment) -> PathBuf {
    Path::new(RECORDS).join(environment::folder_name(environment))
}

/// Hidden where standard error is no terminal.
fn progress_bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:4} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::new(steps as u64);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
