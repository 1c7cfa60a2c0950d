//! Measuring the first call of a process: how long a GPU takes to open, and how much longer the first
//! call takes than those after it, for which its kernels are loaded. Each is a process of its own, which
//! finds the driver's cache of compiled kernels empty, and then as the one before it left it.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use lanecrypt::cuda::{CipherKernels, Device, DeviceBuffer, Engine, Family, Operation};
use lanecrypt_record::{Figure, Place, Step, Work};
use serde::{Deserialize, Serialize};

use super::{keyed::Keyed, passes::median};
use crate::bench::{
    options::Options,
    plan::{RunWork as _, counter, iv, key, noise},
};

/// The environment variable that makes this program such a process: its case, as JSON.
pub(crate) const CASE: &str = "LANECRYPT_BENCH_FIRST_CALL";
/// Where the driver keeps what it compiled.
const CACHE: &str = "CUDA_CACHE_PATH";

/// What runs, and over how many bytes.
const CALLS: [(Work, Place, usize); 3] = [
    (Work::Ctr, Place::EndToEnd, 16 << 20),
    (Work::GcmEncrypt, Place::EndToEnd, 16 << 20),
    (Work::Ctr, Place::Resident, 256 << 20),
];

/// Pairs of processes that the medians are of; odd.
const SAMPLES: usize = 5;

/// A first call.
#[derive(Debug, Serialize, Deserialize)]
struct Case {
    cipher: String,
    work: Work,
    place: Place,
    bytes: usize,
}

/// Its times in seconds.
#[derive(Debug, Serialize, Deserialize)]
struct Times {
    open: f64,
    first: f64,
    second: f64,
}

/// Measures the chosen ciphers with their shortest keys.
///
/// # Errors
/// A sentence naming what failed.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    let mut measured = Vec::new();
    if options.cpu_only || Device::count().is_err() {
        return Ok(measured);
    }
    for cipher in options.ciphers() {
        let has_types = CipherKernels::of(cipher).is_some();
        for (work, place, bytes) in CALLS {
            if !has_types || (work == Work::GcmEncrypt && cipher.block_bytes != 16) {
                continue;
            }
            let case = Case { cipher: cipher.name.to_owned(), work, place, bytes };
            let figure = Keyed::new(cipher, cipher.key_bytes[0]).figure(work, place, bytes);
            let steps = [Step::Open, Step::Compile, Step::Load].into_iter().zip(medians(&case)?);
            measured.extend(steps.map(|(step, seconds)| Figure {
                step,
                seconds,
                samples: SAMPLES,
                ..figure.clone()
            }));
        }
    }
    Ok(measured)
}

/// Medians of what opening takes, and of what the first call takes longer than the second: with an empty
/// cache, and with what that process left.
fn medians(case: &Case) -> Result<[f64; 3], String> {
    let mut seconds = [const { Vec::new() }; 3];
    for _ in 0..SAMPLES {
        let cache = tempfile::tempdir().map_err(|error| error.to_string())?;
        let cold = in_a_process(case, cache.path())?;
        let warm = in_a_process(case, cache.path())?;
        let times = [warm.open, cold.first - cold.second, warm.first - warm.second];
        seconds.iter_mut().zip(times).for_each(|(seconds, time)| seconds.push(time));
    }
    Ok(seconds.map(median))
}

/// The times of a case in a process of its own, where the driver has this cache.
fn in_a_process(case: &Case, cache: &Path) -> Result<Times, String> {
    let failed = |what: &dyn std::fmt::Display| format!("the first call of {case:?}: {what}");
    let text = serde_json::to_string(case).map_err(|error| failed(&error))?;
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    command.env(CASE, text).env(CACHE, cache).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
}

/// What such a process does: its case, twice; it prints the times.
///
/// # Errors
/// A sentence naming what failed.
pub(crate) fn measuring_process(case: &str) -> Result<(), String> {
    let case: Case = serde_json::from_str(case).map_err(|error| error.to_string())?;
    let cipher = lanecrypt::find_cipher(&case.cipher).map_err(|error| error.to_string())?;
    let family = CipherKernels::of(cipher).map(|kernels| kernels.fastest);
    let family = family.ok_or_else(|| format!("{CASE}: no type is of {}", case.cipher))?;
    let times = times(&case, family).map_err(|error| error.to_string())?;
    println!("{}", serde_json::to_string(&times).map_err(|error| error.to_string())?);
    Ok(())
}

fn times(case: &Case, family: &Family) -> Result<Times, lanecrypt::Error> {
    let key = key(family.cipher().key_bytes[0]);
    let start = Instant::now();
    let device = Device::default()?;
    drop(DeviceBuffer::zeroed(&device, 16)?); // the rest of what the driver does once
    let open = start.elapsed().as_secs_f64();
    let mut data = vec![1; case.bytes];
    data[..1 << 20].copy_from_slice(noise(1 << 20));
    let mut resident = match case.place {
        Place::Resident => Some(DeviceBuffer::from_host(&device, &data)?),
        _ => None,
    };
    let mut call = || {
        let start = Instant::now();
        let engine = family.engine(&device, &key)?;
        run(&engine, case, &mut data, resident.as_mut())?;
        Ok::<f64, lanecrypt::Error>(start.elapsed().as_secs_f64())
    };
    let (first, second) = (call()?, call()?);
    Ok(Times { open, first, second })
}

/// One call, to its end.
fn run(
    engine: &Engine,
    case: &Case,
    data: &mut [u8],
    resident: Option<&mut DeviceBuffer>,
) -> Result<(), lanecrypt::Error> {
    let block = engine.program().block_bytes();
    let Some(buffer) = resident else {
        return case.work.run(engine, engine, &iv(block), data);
    };
    engine.run(Operation::Ctr(counter(block)), &mut buffer.slice_mut(0..case.bytes)?)?;
    Ok(buffer.read(case.bytes - 1, &mut [0])?) // which waits
}
