//! Measuring on the CPU: criterion in a process of its own, so that its output stays out of ours.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use criterion::{Criterion, SamplingMode, Throughput};
use indicatif::ProgressBar;
use lanecrypt_record::{Figure, Place};
use serde::Deserialize;

use super::{
    cases::{Case, find},
    clock,
    runner::Data,
    verify::verify,
};

/// The environment variable that makes this program the measuring process: the path of its plan.
pub(crate) const PLAN: &str = "LANECRYPT_BENCH_PLAN";
/// How long to measure a case, in milliseconds.
const MILLISECONDS: &str = "LANECRYPT_BENCH_MILLISECONDS";

const GROUP: &str = "cpu";
const ESTIMATES: &str = "new/estimates.json";
const SAMPLE: &str = "new/sample.json";
/// What a single pass is noted as.
const SINGLE: &str = "single.json";
/// GHz of the core, measured between a case's verification and its measurement.
const CLOCK: &str = "clock";

/// Verifies and measures all cases.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(
    cases: &[Case],
    milliseconds: u64,
    bar: &ProgressBar,
) -> Result<Vec<Figure>, String> {
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let text = |error: std::io::Error| format!("measuring on the CPU: {error}");
    let folder = tempfile::tempdir().map_err(text)?;
    let plan = folder.path().join("plan.json");
    fs::write(&plan, serde_json::to_string(cases).map_err(|error| error.to_string())?)
        .map_err(text)?;
    let mut command = Command::new(std::env::current_exe().map_err(text)?);
    command.args(["--bench", "--quiet", "--noplot"]).env(PLAN, &plan);
    command.env(MILLISECONDS, milliseconds.to_string());
    let complaints = fs::File::create(folder.path().join("stderr")).map_err(text)?;
    let mut child = command.stdout(Stdio::piped()).stderr(complaints).spawn().map_err(text)?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            if line.map_err(text)?.contains("time:") {
                bar.inc(1);
            }
        }
    }
    let status = child.wait().map_err(text)?;
    if !status.success() {
        // Criterion's own progress goes there too.
        let complaints = fs::read_to_string(folder.path().join("stderr")).unwrap_or_default();
        let complaints = complaints.lines().filter(|line| !line.starts_with("Benchmarking"));
        let complaints = complaints.collect::<Vec<_>>().join("\n");
        return Err(format!("the measuring process ended with {status}: {complaints}"));
    }
    let results = cases.iter().enumerate();
    results.map(|(i, case)| result(&folder.path().join(GROUP).join(i.to_string()), case)).collect()
}

/// What criterion writes about a case.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    /// Nanoseconds.
    point_estimate: f64,
    /// Of a single pass there is none.
    confidence_interval: Option<ConfidenceInterval>,
}

/// Criterion's own, of 95%, in nanoseconds.
#[derive(Deserialize)]
struct ConfidenceInterval {
    lower_bound: f64,
    upper_bound: f64,
}

impl Estimate {
    fn interval(&self) -> Option<[f64; 2]> {
        let known = self.confidence_interval.as_ref();
        known.map(|known| [known.lower_bound / 1e9, known.upper_bound / 1e9])
    }
}

/// The passes that criterion took: how often each ran and how long that took.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    /// Nanoseconds.
    times: Vec<f64>,
}

impl Sample {
    /// Seconds of the fastest.
    fn fastest(&self) -> Option<f64> {
        let each = self.times.iter().zip(&self.iters).map(|(time, iters)| time / iters / 1e9);
        each.min_by(f64::total_cmp)
    }
}

fn result(folder: &Path, case: &Case) -> Result<Figure, String> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let (text, samples) = match read(ESTIMATES) {
        Some(text) => (Some(text), SAMPLES),
        None => (read(SINGLE), 1),
    };
    let missing = || format!("no result for {case:?}");
    let (_, contender) = find(case).ok_or_else(missing)?;
    let estimates: Estimates =
        serde_json::from_str(&text.ok_or_else(missing)?).map_err(|error| error.to_string())?;
    let sample = read(SAMPLE).map(|text| serde_json::from_str::<Sample>(&text)).transpose();
    let sample = sample.map_err(|error| error.to_string())?;
    Ok(Figure {
        cipher: case.cipher.clone(),
        key_bits: 8 * case.key_bytes,
        backend: case.backend.clone(),
        work: case.work,
        place: Place::Cpu,
        bytes: case.bytes,
        seconds: estimates.median.point_estimate / 1e9,
        interval: estimates.median.interval(),
        fastest_seconds: sample.and_then(|sample| sample.fastest()),
        samples,
        gigahertz: read(CLOCK).and_then(|text| text.parse().ok()),
        is_peer: contender.is_peer(),
        ..Figure::default()
    })
}

/// Passes that criterion takes the median of.
const SAMPLES: usize = 20;

/// The measuring process: runs the plan that [`PLAN`] names. Criterion reads its own options from
/// the command line.
///
/// # Errors
/// A sentence naming what failed.
pub(crate) fn measuring_process() -> Result<(), String> {
    let plan = std::env::var_os(PLAN).ok_or("no plan")?;
    let folder = Path::new(&plan).parent().ok_or("the plan lies in a folder")?.to_path_buf();
    let text = fs::read_to_string(&plan).map_err(|error| error.to_string())?;
    let cases: Vec<Case> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let time = std::env::var(MILLISECONDS).ok().and_then(|text| text.parse().ok());
    let time = Duration::from_millis(time.ok_or("no time")?);
    let mut criterion = Criterion::default()
        .configure_from_args()
        .output_directory(&folder)
        .warm_up_time(time / 4)
        .measurement_time(time)
        .sample_size(SAMPLES)
        .nresamples(1001);
    for (i, case) in cases.iter().enumerate() {
        measure_case(&mut criterion, time, &folder, i, case)?;
    }
    Ok(())
}

fn measure_case(
    criterion: &mut Criterion,
    time: Duration,
    folder: &Path,
    number: usize,
    case: &Case,
) -> Result<(), String> {
    let (cipher, contender) = find(case).ok_or_else(|| format!("nothing computes {case:?}"))?;
    let folder = folder.join(GROUP).join(number.to_string());
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let write = |name: &str, text: String| {
        fs::write(folder.join(name), text).map_err(|error| error.to_string())
    };
    let pass = verify(case, cipher, contender)?;
    write(CLOCK, clock::gigahertz().to_string())?;
    // Timed once, by its verification: criterion would take `SAMPLES` times as long.
    if pass > time {
        write(SINGLE, format!(r#"{{"median":{{"point_estimate":{}}}}}"#, pass.as_nanos()))?;
        println!("{number} time: one pass");
        return Ok(());
    }
    let failed = |error| format!("{case:?}: {error}");
    let mut runner = contender.runner(cipher, case.work, case.key_bytes).map_err(failed)?;
    let mut data = Data::new(case.bytes, cipher.block_bytes);
    let mut group = criterion.benchmark_group(GROUP);
    group.throughput(Throughput::Bytes(case.bytes as u64));
    if pass > Duration::from_millis(5) {
        group.sampling_mode(SamplingMode::Flat);
    }
    group.bench_function(number.to_string(), |bencher| {
        bencher.iter(|| std::hint::black_box(&mut data).run(&mut *runner));
    });
    group.finish();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_pass_is_that_of_the_least_time_for_one_run() {
        let text = r#"{"sampling_mode":"Linear","iters":[1.0,2.0,4.0],"times":[9e9,6e9,16e9]}"#;
        let sample: Sample = serde_json::from_str(text).expect("it is criterion's form");
        assert_eq!(sample.fastest(), Some(3.0));
    }

    #[test]
    fn the_interval_is_criterions_where_it_took_one() {
        let text = r#"{"median":{"point_estimate":2e9,"standard_error":1,
            "confidence_interval":{"confidence_level":0.95,"lower_bound":1e9,"upper_bound":3e9}}}"#;
        let interval = |text| {
            serde_json::from_str::<Estimates>(text)
                .map(|estimates| estimates.median.interval())
                .ok()
        };
        assert_eq!(interval(text), Some(Some([1.0, 3.0])));
        assert_eq!(interval(r#"{"median":{"point_estimate":2e9}}"#), Some(None));
    }
}
