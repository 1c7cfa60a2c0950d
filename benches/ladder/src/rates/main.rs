//! `rates`: measures how many instructions of each kind a multiprocessor of this GPU runs per clock cycle, and how fast its
//! memory is copied. `cargo xtask rates` builds what it runs.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Parser;
use lanecrypt_cuda::{Device, DeviceBuffer};
use lanecrypt_ladder::{Entry, Job, Listing, Machine, Outputs, Place, is_asked, read, sampled};
use lanecrypt_roof::{Card, clocks, grouped};
use serde::{Deserialize, Serialize};

/// Measures the pipes of this GPU's multiprocessors and its memory.
///
/// Every thread repeats a step and reads its multiprocessor's clock before the first and behind the last, so that a rate
/// does not depend on the clock's frequency. The last lines say what `cargo xtask roof --card` and the book's calculator
/// take.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The folder with the kernels, which `cargo xtask rates` builds.
    folder: PathBuf,
    /// Runs only kernels whose names contain one of these.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Launches that are measured, of which the median counts; there is a quarter of a second between them.
    #[arg(long, default_value_t = 11)]
    samples: usize,
    #[command(flatten)]
    outputs: Outputs,
}

/// A kernel before it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kernel {
    #[serde(flatten)]
    entry: Entry,
    /// Steps of a thread for a block of output.
    steps: u32,
}

/// What was measured.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    machine: Machine,
    /// KiB of shared memory that a thread block can have.
    shared_kib: u32,
    rates: Vec<Rate>,
    /// GB/s of device memory, read and written together.
    copy: Option<f64>,
}

/// A rate.
#[derive(Serialize)]
struct Rate {
    #[serde(flatten)]
    kernel: Kernel,
    /// Steps of all threads of a multiprocessor per clock cycle.
    steps_per_clock: f64,
    /// As many as the fullest pipe has room for, by the rule of the ledger and nominal rates.
    roof: f64,
    /// Cycles over the device's time, in which the start of a launch is: somewhat less than the clock's frequency.
    gigahertz: f64,
}

/// Random numbers that the kernels read.
const NUMBERS: usize = 1024;
/// Blocks of each thread: about a millisecond of 64 lanes per cycle.
const ROUNDS: u64 = 24;
/// The kernel that copies.
const COPY: &str = "copy";
/// Bytes that it copies.
const COPIED: usize = 1 << 30;
/// Bytes of a block.
const BLOCK: usize = 16;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rates: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let mut kernels: Vec<Kernel> = read(&arguments.folder, "rates.json", "rates")?;
    kernels.retain(|kernel| is_asked(&arguments.only, &kernel.entry.name));
    ensure!(!kernels.is_empty(), "no kernel has such a name");
    let device = Device::default().map_err(|error| {
        anyhow!("rates are a GPU's, and none is here: {error}. `cargo xtask roof` predicts without")
    })?;
    let properties = device.properties();
    let mut record = Record {
        machine: properties.into(),
        shared_kib: properties.shared_bytes_per_block >> 10,
        rates: Vec::new(),
        copy: None,
    };
    let numbers = DeviceBuffer::from_host(&device, &numbers())?;
    for kernel in kernels {
        let listing = kernel.entry.open(&arguments.folder, Place::Gpu(&device))?;
        if kernel.entry.name == COPY {
            record.copy = Some(copied(&listing, &numbers, arguments.samples)?);
        } else {
            record.rates.push(rate(kernel, &listing, &numbers, arguments.samples)?);
        }
    }
    print!("{}\n{}\n{}", record.machine.gpu, record.table(), record.card());
    arguments.outputs.write("rates", &record, &record.report(), &record.csv())
}

/// Words in which no pattern meets that of banks, the same in each run.
fn numbers() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let next = |_| {
        // Marsaglia's xorshift, of which the high word is taken.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 32) as u32).to_le_bytes()
    };
    (0..NUMBERS).flat_map(next).collect()
}

/// The median of samples.
fn median(samples: usize, sample: impl FnMut() -> Result<f64>) -> Result<f64> {
    let all = sampled(samples, sample)?;
    Ok(all[all.len() / 2])
}

/// Steps per clock cycle.
fn rate(kernel: Kernel, listing: &Listing, numbers: &DeviceBuffer, samples: usize) -> Result<Rate> {
    let device = listing.device();
    let threads = u64::from(listing.grid()) * u64::from(kernel.entry.threads);
    let blocks = ROUNDS * threads;
    let mut output = DeviceBuffer::zeroed(device, usize::try_from(blocks)? * BLOCK)?;
    let mut readings = vec![0; usize::try_from(threads)? * BLOCK];
    let mut seconds = Vec::new();
    let clocks_taken = median(samples, || {
        let took = listing.run(Job {
            input: None,
            output: &mut output,
            blocks,
            table: numbers,
            words: &[0x3527_6d4b],
            keys: None,
        })?;
        seconds.push(took.as_secs_f64());
        output.read(0, &mut readings)?;
        Ok(f64::from(taken(&readings)))
    })?;
    seconds.sort_by(f64::total_cmp);
    let of_a_multiprocessor = threads / u64::from(device.properties().multiprocessors);
    let steps = (of_a_multiprocessor * ROUNDS * u64::from(kernel.steps)) as f64;
    let lanes = kernel.entry.lanes.context("a kernel that was not counted")?;
    Ok(Rate {
        steps_per_clock: steps / clocks_taken,
        roof: 1.0 / clocks(&lanes),
        gigahertz: clocks_taken / seconds[seconds.len() / 2] / 1e9,
        kernel,
    })
}

/// Cycles from the first reading on a multiprocessor to the last: the median of all multiprocessors. A reading is the
/// multiprocessor, its clock at the start of a thread and at the end, and a word that says nothing.
fn taken(readings: &[u8]) -> u32 {
    let mut of = BTreeMap::<_, Vec<_>>::new();
    for reading in readings.as_chunks::<BLOCK>().0 {
        let mut words = reading.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        let [multiprocessor, start, end] = core::array::from_fn(|_| words.next().unwrap_or(0));
        of.entry(multiprocessor).or_default().push((start, end));
    }
    let cycles = |clocks: &Vec<(u32, u32)>| {
        // The clock has 32 bits and may start anew between two readings.
        let since = |clock: u32| clock.wrapping_sub(clocks[0].0).cast_signed();
        let start = clocks.iter().map(|(start, _)| since(*start)).min();
        let end = clocks.iter().map(|(_, end)| since(*end)).max();
        end.unwrap_or(0).abs_diff(start.unwrap_or(0))
    };
    let mut all: Vec<u32> = of.values().map(cycles).collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// GB/s, read and written together.
fn copied(listing: &Listing, numbers: &DeviceBuffer, samples: usize) -> Result<f64> {
    let input = DeviceBuffer::zeroed(listing.device(), COPIED)?;
    let mut output = DeviceBuffer::zeroed(listing.device(), COPIED)?;
    let blocks = (COPIED / BLOCK) as u64;
    let seconds = median(samples, || {
        let job = Job {
            input: Some(&input),
            output: &mut output,
            blocks,
            table: numbers,
            words: &[],
            keys: None,
        };
        Ok(listing.run(job)?.as_secs_f64())
    })?;
    Ok(2.0 * COPIED as f64 / seconds / 1e9)
}

impl Rate {
    /// Lanes of all instructions per cycle.
    fn lanes(&self) -> f64 {
        self.kernel.entry.lanes.map_or(0.0, |lanes| lanes[3]) * self.steps_per_clock
    }
}

impl Record {
    /// For a person, and for a page.
    fn table(&self) -> String {
        let mut text = format!(
            "| {:<22} | per cycle | roof  | reached | lanes | GHz  | step |\n|{}|-----------|-------|---------|-------|------|-----|\n",
            "kernel",
            "-".repeat(24),
        );
        for rate in &self.rates {
            let Rate { kernel, steps_per_clock, roof, gigahertz } = rate;
            let _ = writeln!(
                text,
                "| {:<22} | {steps_per_clock:>9.1} | {roof:>5.1} | {:>6.0}% | {:>5.1} | {gigahertz:.2} | {} |",
                kernel.entry.name,
                100.0 * steps_per_clock / roof,
                rate.lanes(),
                kernel.entry.title,
            );
        }
        if let Some(copy) = self.copy {
            let _ = write!(
                text,
                "\n| memory                 | GB/s, read and written |\n|------------------------|------------------------|\n| \
                 {COPY:<22} | {:>22} |\n",
                grouped(copy),
            );
        }
        text
    }

    /// This card for `cargo xtask roof`, where all of it was measured.
    fn card(&self) -> String {
        let highest = self.rates.iter().map(|rate| rate.gigahertz).reduce(f64::max);
        let (Some(gigahertz), Some(memory)) = (highest, self.copy) else { return String::new() };
        let card = Card {
            name: self.machine.gpu.clone(),
            multiprocessors: self.machine.multiprocessors.into(),
            gigahertz,
            memory,
            shared_kib: self.shared_kib.into(),
            is_measured: true,
        };
        format!("for `cargo xtask roof CIPHER --card` and the calculator: \"{}\"\n", card.text())
    }

    /// The page of a record.
    fn report(&self) -> String {
        format!(
            "# Rates of an {}\n\nSteps of all threads of a multiprocessor per clock cycle, and how many the fullest pipe has room \
             for.\n\n{}\nThe card, {}",
            self.machine.gpu,
            self.table(),
            self.card(),
        )
    }

    fn csv(&self) -> String {
        let mut text = "kernel,steps_per_clock,roof,lanes_per_clock,gigahertz\n".to_owned();
        for rate in &self.rates {
            let _ = writeln!(
                text,
                "{},{:.3},{:.3},{:.3},{:.4}",
                rate.kernel.entry.name,
                rate.steps_per_clock,
                rate.roof,
                rate.lanes(),
                rate.gigahertz
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiprocessor_takes_from_its_first_reading_to_its_last() {
        let taken = |readings: &[[u32; 3]]| {
            let words = readings.iter().flat_map(|[number, start, end]| [*number, *start, *end, 7]);
            taken(&words.flat_map(u32::to_le_bytes).collect::<Vec<_>>())
        };
        assert_eq!(taken(&[[3, 100, 900], [3, 90, 1000]]), 910);
        // Over the end of the clock's 32 bits, on the second of three multiprocessors.
        assert_eq!(taken(&[[0, 5, 10], [1, u32::MAX - 9, 20], [2, 7, 90]]), 30);
    }

    #[test]
    fn numbers_meet_all_banks() {
        let numbers = numbers();
        let mut seen = [0; 32];
        numbers
            .as_chunks::<4>()
            .0
            .iter()
            .for_each(|word| seen[usize::from(word[0] >> 2 & 31)] += 1);
        assert!(seen.iter().all(|times| (12..60).contains(times)), "{seen:?}");
    }
}
