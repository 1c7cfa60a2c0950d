//! The tests: everything cargo runs, with the host build of the kernels, then the wheel and the vectors.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::{Result, anyhow, ensure};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    changed::Affected,
    checks::{examples, wgpu},
    command::{self, build_checked, checked, checking, command, output, root, run},
    judges, kernels,
    steps::{self, Step, step},
    test_programs::{self, TestProgram},
    wheel,
};

/// Backends that must run: one of them skipped is a failure.
pub(crate) const EXPECT: &str = "LANECRYPT_EXPECT";

/// Environment variables of tests.
pub(crate) type Variables = Vec<(&'static str, OsString)>;

/// Runs all tests, or those of what a change since this revision can break.
pub(crate) fn run_all(changed_since: Option<&str>) -> Result<()> {
    let made = Made::default();
    let mut main = vec![step("build of all tests and programs", || made.programs().map(drop))];
    let mut beside = vec![
        step("judges: programs and packages of others", || made.judges().map(drop)),
        step("host build of the kernels", || made.library().map(drop)),
    ];
    let mut waiting = Vec::new(); // mostly for Ray and Dask, which the wheel's tests start
    if let Some(revision) = changed_since {
        let affected = Affected::since(revision)?;
        println!("to be tested: {}", affected.shown());
        let (wheel, kat) = (affected.wheel, affected.kat);
        let made = &made;
        main.push(step("tests of these, but for those of documentation", move || {
            affected.run_tests(made.programs()?, &made.variables()?)
        }));
        main.extend(wheel.then(|| made.wheel()));
        main.extend(kat.then(|| made.kat()));
    } else {
        main.extend(made.on_all_cores());
        beside.extend(made.on_few_cores());
        waiting.push(made.wheel());
    }
    steps::run_all("test", &[&main, &beside, &waiting])
}

/// What several steps need, made by the first that does: others wait.
#[derive(Default)]
struct Made {
    library: Once<PathBuf>,
    judges: Once<Variables>,
    backends: Once<String>,
    programs: Once<Vec<TestProgram>>,
}

/// What was made, or why it could not be.
type Once<T> = OnceLock<Result<T>>;

fn once<T>(place: &Once<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    place.get_or_init(make).as_ref().map_err(|error| anyhow!("{error:#}"))
}

impl Made {
    /// The host build of the kernels.
    fn library(&self) -> Result<&PathBuf> {
        once(&self.library, kernels::host::build)
    }

    fn judges(&self) -> Result<&Variables> {
        once(&self.judges, judges::install)
    }

    fn programs(&self) -> Result<&[TestProgram]> {
        let made = once(&self.programs, || {
            build_checked()?;
            test_programs::all()
        });
        made.map(Vec::as_slice)
    }

    fn variables(&self) -> Result<Variables> {
        let mut variables = self.judges()?.clone();
        variables.push((HOST_KERNELS, self.library()?.into()));
        // What a driver for the CPU computes takes long, and is tested by itself.
        variables.extend(wgpu::NO_DRIVERS.map(|(name, value)| (name, value.into())));
        if std::env::var_os(EXPECT).is_none() {
            let backends = once(&self.backends, || required(self.library()?))?;
            variables.push((EXPECT, backends.into()));
        }
        Ok(variables)
    }

    fn run_programs(&self, options: &[&str], is_meant: fn(&TestProgram) -> bool) -> Result<()> {
        let programs = self.programs()?.iter().filter(|program| is_meant(program));
        test_programs::run_all(programs, options, &self.variables()?)
    }

    fn on_all_cores(&self) -> [Step<'_>; 3] {
        [
            step("conformance and devices", || self.run_programs(&[], fills_the_machine)),
            // What only the host build of the kernels can show.
            step("tests that need the host build of the kernels", || {
                self.run_programs(&["--ignored"], TestProgram::has_tests_of_kernels)
            }),
            self.kat(),
        ]
    }

    fn on_few_cores(&self) -> [Step<'_>; 3] {
        [
            step("unit tests, properties, doors", || {
                self.run_programs(&[], |program| !fills_the_machine(program))
            }),
            step("examples of the documentation", || {
                run(checking("test").arg("--doc").envs(self.variables()?))
            }),
            step("numbered examples of the crates", || {
                self.programs()?;
                examples::run_all()
            }),
        ]
    }

    fn wheel(&self) -> Step<'_> {
        step("the wheel, in a clean environment", || {
            self.programs()?;
            wheel::test(&wheel::checked()?, &self.variables()?)
        })
    }

    fn kat(&self) -> Step<'_> {
        step("kat: every vector on every backend", || {
            run(command(checked("kat")).arg("vectors").envs(self.variables()?))
        })
    }
}

/// Test programs that keep all cores busy, or measure what they decide by; most others wait for programs that they start.
fn fills_the_machine(program: &TestProgram) -> bool {
    ["conformance", "device", "endurance", "tuning"].contains(&program.name.as_str())
}

/// The registry's backends that need no GPU, as a list, but for those whose instructions this CPU
/// lacks.
fn required(library: &Path) -> Result<String> {
    let mut list = command(checked("kat"));
    list.arg("--list-required").env_remove(EXPECT).env(HOST_KERNELS, library);
    let listed = output(&mut list)?;
    let backends: Vec<_> = listed.lines().collect();
    // kat says nothing of kernels that were left out of it.
    ensure!(backends.iter().any(|name| name.contains("/host-")), "kat has no host-* backend");
    Ok(backends.join(","))
}

/// kat, with the host build of the kernels where it can be made.
pub(crate) fn kat(options: &[String]) -> Result<()> {
    let folder = only_folder(options);
    println!("building the kernels of {} for this CPU", folder.unwrap_or("all ciphers"));
    let host_kernels = kernels::host::build_of(folder).inspect_err(|error| {
        eprintln!("the host build of the kernels is left out: {error:#}");
    });
    let environment = host_kernels.ok().map(|library| (HOST_KERNELS, library));
    println!("building kat, which takes minutes where nothing is built yet");
    command::hand_over(&command::built("kat", &[])?, options, environment.as_slice())
}

/// The folder of kernels that options ask for, where they name one cipher and it has a folder of its name: a tenth of
/// the time that all take.
fn only_folder(options: &[String]) -> Option<&str> {
    let named = options.iter().enumerate().filter_map(|(i, option)| match option.as_str() {
        "--cipher" => options.get(i + 1).map(String::as_str),
        option => option.strip_prefix("--cipher="),
    });
    let named: Vec<&str> = named.collect();
    let [cipher] = named[..] else {
        return None;
    };
    root().join("kernels").join(cipher).is_dir().then_some(cipher)
}
