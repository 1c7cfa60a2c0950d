//! Which tests run a mutant's code, and whether one of them fails.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    path::Path,
    process::Stdio,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;

use super::switches::Mutant;
use crate::test_programs::TestProgram;

/// A test, or where a program has thousands, those whose names begin alike.
#[derive(Debug)]
struct Trial<'a> {
    program: &'a TestProgram,
    /// The name, or what names begin with.
    filter: String,
    is_exact: bool,
    time: Duration,
    /// The mutants whose code it runs.
    reaches: BTreeSet<usize>,
}

/// Tests of a program that are trials by themselves, at most.
const MOST: usize = 400;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A test failed.
    Noticed,
    /// This many tests ran its code, and passed.
    Survived(usize),
}

/// Tests and what they need.
#[derive(Debug)]
pub(super) struct Trials<'a> {
    all: Vec<Trial<'a>>,
    environment: &'a [(&'static str, OsString)],
}

impl<'a> Trials<'a> {
    /// Runs all tests once, without a fault. `folder` is for what they say of the code that they run.
    ///
    /// # Errors
    /// Where one of them fails.
    pub(super) fn new(
        programs: &'a [TestProgram],
        environment: &'a [(&'static str, OsString)],
        folder: &Path,
    ) -> Result<Self> {
        let mut trials = Self { all: Vec::new(), environment };
        for program in programs {
            let names = trials.names(program)?;
            let is_exact = names.len() <= MOST;
            let end = |name: &String| match name.rfind("::") {
                Some(at) if !is_exact => at + 2,
                _ => name.len(),
            };
            let filters = names.iter().map(|name| name[..end(name)].to_owned());
            let filters: BTreeSet<_> = filters.collect();
            trials.all.extend(filters.into_iter().map(|filter| {
                let (time, reaches) = (Duration::ZERO, BTreeSet::new());
                Trial { program, filter, is_exact, time, reaches }
            }));
        }
        fs::create_dir_all(folder)?;
        let all = trials.all.par_iter().enumerate();
        let reached =
            all.map(|(number, trial)| trials.reached(trial, &folder.join(number.to_string())));
        let reached: Vec<_> = reached.collect::<Result<_>>()?;
        for (trial, (time, reaches)) in trials.all.iter_mut().zip(reached) {
            (trial.time, trial.reaches) = (time, reaches);
        }
        trials.all.sort_by_key(|trial| trial.time);
        Ok(trials)
    }

    fn names(&self, program: &TestProgram) -> Result<Vec<String>> {
        let mut list = program.started_by(&[] as &[&str]);
        list.args(["--list", "--format", "terse"]).envs(self.environment());
        let list = list.output().with_context(|| program.name.clone())?;
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        Ok(list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    fn environment(&self) -> impl Iterator<Item = (&'static str, OsString)> {
        self.environment.iter().cloned()
    }

    /// A run of a trial that is ended after this time, or when it takes memory or disk without end.
    fn run(&self, trial: &Trial<'_>, most: Duration, variable: (&str, &Path)) -> Result<bool> {
        let most = most.as_secs_f64().to_string();
        let limits = ["prlimit", "--as=42949672960", "--fsize=12884901888", "--core=0"];
        let limits = [&limits[..], &["timeout", "--signal=KILL", &most]].concat();
        let mut run = trial.program.started_by(&limits);
        run.args(trial.is_exact.then_some("--exact")).args(["--test-threads=1", &trial.filter]);
        if trial.program.has_tests_of_kernels() {
            run.arg("--include-ignored");
        }
        run.envs(self.environment()).env("RUST_BACKTRACE", "0").env(variable.0, variable.1);
        run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(run.status().context("prlimit, of util-linux")?.success())
    }

    fn reached(&self, trial: &Trial<'_>, log: &Path) -> Result<(Duration, BTreeSet<usize>)> {
        const LONG: Duration = Duration::from_secs(600);
        let start = Instant::now();
        let passed = self.run(trial, LONG, ("LANECRYPT_MUTANTS_LOG", log))?;
        let time = start.elapsed();
        let program = &trial.program.name;
        ensure!(passed, "without a fault, this fails: {program} {}", trial.filter);
        let numbers = fs::read_to_string(log).unwrap_or_default();
        let _ = fs::remove_file(log);
        Ok((time, numbers.lines().filter_map(|line| line.parse().ok()).collect()))
    }

    /// What becomes of each of these mutants.
    pub(super) fn outcomes(
        &self,
        mutants: &[Mutant],
        numbers: &BTreeSet<usize>,
    ) -> Result<BTreeMap<usize, Outcome>> {
        let done = AtomicUsize::new(0);
        // The trial that caught the last mutant of a file is likely to catch the next.
        let likely = Mutex::new(BTreeMap::<&str, usize>::new());
        let outcome = |&number: &usize| {
            let file = mutants[number - 1].file.as_str();
            let lock = || likely.lock().unwrap_or_else(PoisonError::into_inner);
            let first = lock().get(file).copied();
            let caught = self.caught_by(number, first)?;
            if let Some(trial) = caught {
                lock().insert(file, trial);
            }
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            if done.is_multiple_of(100) {
                println!("{done} of {} mutants", numbers.len());
            }
            let reach = self.all.iter().filter(|trial| trial.reaches.contains(&number)).count();
            Ok((number, caught.map_or(Outcome::Survived(reach), |_| Outcome::Noticed)))
        };
        numbers.par_iter().map(outcome).collect()
    }

    /// The trial that fails with this mutant, of those that run its code: `first` first, then by their time.
    fn caught_by(&self, number: usize, first: Option<usize>) -> Result<Option<usize>> {
        let variable = number.to_string();
        let others = (0..self.all.len()).filter(|trial| Some(*trial) != first);
        for at in first.into_iter().chain(others) {
            let trial = &self.all[at];
            // A mutant that loops is caught, too.
            let most = trial.time * 4 + Duration::from_secs(3);
            if trial.reaches.contains(&number)
                && !self.run(trial, most, ("LANECRYPT_MUTANT", Path::new(&variable)))?
            {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}
