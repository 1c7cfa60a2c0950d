//! Searches for smaller circuits of the S-boxes of DES, on as many threads as there are to spare.
//!
//! `cargo run --release -p lanecrypt-circuit --example des_search -- 16 600 1000 found lut`
//!
//! Arguments: threads, seconds, first seed, a folder, then perhaps `lut` (the default) or `slp`,
//! and the steps of a search. Takes the eight boxes in turn, a seed each, and writes a circuit into
//! the folder when it is smaller than the one there, or than the committed one. Searches that have
//! begun are finished after the time is up. Copied into `crates/circuit/data` such a file is what
//! `cargo xtask codegen --derive` finds again, because its header states the seed and the steps.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use lanecrypt_circuit::lut::Effort;
use lanecrypt_circuit::small::Gates;
use lanecrypt_circuit::{Program, TARGETS, Target};
use lanecrypt_reference::des;

/// Steps of one search unless told otherwise: about twenty seconds for lookups.
const STEPS: u64 = 3_000_000;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

struct Arguments {
    threads: usize,
    time: Duration,
    first_seed: u64,
    folder: String,
    gates: Gates,
    steps: u64,
}

impl Arguments {
    fn parse() -> Option<Self> {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let [threads, seconds, first_seed, folder, more @ ..] = arguments.as_slice() else {
            return None;
        };
        let gates = match more.first().map(String::as_str) {
            None | Some("lut") => Gates::Lookups,
            Some("slp") => Gates::TwoInput,
            Some(_) => return None,
        };
        Some(Self {
            threads: threads.parse().ok()?,
            time: Duration::from_secs(seconds.parse().ok()?),
            first_seed: first_seed.parse().ok()?,
            folder: folder.clone(),
            gates,
            steps: more.get(1).map_or(Ok(STEPS), |steps| steps.parse()).ok()?,
        })
    }

    fn path(&self, target: &Target) -> String {
        let extension = if self.gates == Gates::Lookups { "lut" } else { "slp" };
        format!("{}/{}.{extension}", self.folder, target.name)
    }

    /// The gates of the smallest circuit so far: in the folder, or committed.
    fn known(&self, target: &Target) -> usize {
        let committed = match self.gates {
            Gates::Lookups => target.lookups(),
            Gates::TwoInput => target.two_input(),
        };
        let found = fs::read_to_string(self.path(target)).map(|text| text.parse::<Program>());
        let circuits = committed.into_iter().chain(found.into_iter().flatten());
        circuits.map(|circuit| circuit.counts().total()).min().unwrap_or(usize::MAX)
    }
}

fn main() -> Result<(), AnyError> {
    let Some(arguments) = Arguments::parse() else {
        eprintln!("usage: des_search THREADS SECONDS FIRST-SEED FOLDER [lut|slp [STEPS]]");
        process::exit(2);
    };
    fs::create_dir_all(Path::new(&arguments.folder))?;
    let targets = || TARGETS.iter().filter(|target| target.cipher == "des");
    let boxes: Vec<_> = targets().zip(&des::SBOXES).collect();
    let known = targets().map(|target| (target.name, arguments.known(target))).collect();
    let (known, next) = (Mutex::new(known), AtomicU64::new(0));
    let end = Instant::now() + arguments.time;
    thread::scope(|scope| {
        let work = || {
            while Instant::now() < end {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                let (target, table) = boxes[turn as usize % boxes.len()];
                let seed = arguments.first_seed + turn / boxes.len() as u64;
                try_seed(&arguments, target, table, seed, &known)?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..arguments.threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Ok(())))
    })
}

/// One search; writes what it finds if that is smaller than what is known.
fn try_seed(
    arguments: &Arguments,
    target: &Target,
    table: &[u8],
    seed: u64,
    known: &Mutex<HashMap<&str, usize>>,
) -> Result<(), AnyError> {
    let circuit = target.search(table, arguments.gates, Effort { seed, steps: arguments.steps })?;
    circuit.prove(table)?;
    let gates = circuit.counts().total();
    let Ok(mut known) = known.lock() else { return Ok(()) };
    let best = known.entry(target.name).or_insert(usize::MAX);
    println!("{}: seed {seed}: {gates} gates, smallest so far {}", target.name, gates.min(*best));
    if gates < *best {
        *best = gates;
        fs::write(arguments.path(target), circuit.to_string())?;
    }
    Ok(())
}
