//! The tests: everything cargo runs, with the host build of the kernels, then the wheel and the vectors.

use std::{ffi::OsString, path::Path, sync::LazyLock};

use anyhow::{Result, anyhow, ensure};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    changed::Affected,
    checks::{examples, wgpu},
    command::{self, build_checked, checked, checking, command, output, root, run},
    judges, kernels,
    steps::{self, step},
    test_programs::{self, TestProgram},
    wheel,
};

/// Backends that must run: one of them skipped is a failure.
pub(crate) const EXPECT: &str = "LANECRYPT_EXPECT";

/// Environment variables of tests.
pub(crate) type Variables = Vec<(&'static str, OsString)>;

/// Runs all tests, or those of what a change since this revision can break.
pub(crate) fn run_all(changed_since: Option<&str>) -> Result<()> {
    // Made once, by whoever needs them first: others wait.
    let library = LazyLock::new(kernels::host::build);
    let judges = LazyLock::new(judges::install);
    let backends = LazyLock::new(|| required(of(&library)?));
    let variables = || -> Result<Variables> {
        let mut variables = of(&judges)?.clone();
        variables.push((HOST_KERNELS, of(&library)?.into()));
        // What a driver for the CPU computes takes long, and is tested by itself.
        variables.extend(wgpu::NO_DRIVERS.map(|(name, value)| (name, value.into())));
        if std::env::var_os(EXPECT).is_none() {
            variables.push((EXPECT, of(&backends)?.into()));
        }
        Ok(variables)
    };
    let built = LazyLock::new(build_checked);
    let programs = LazyLock::new(|| {
        of(&built)?;
        test_programs::all()
    });
    let run_programs = |options: &[&str], is_meant: fn(&TestProgram) -> bool| {
        let programs = of(&programs)?.iter().filter(|program| is_meant(program));
        test_programs::run_all(programs, options, &variables()?)
    };
    let building = step("build of all tests and programs", || of(&built).map(drop));
    let wheel = step("the wheel, in a clean environment", || {
        of(&built)?;
        wheel::test(&wheel::checked()?, &variables()?)
    });
    let kat = step("kat: every vector on every backend", || {
        run(command(checked("kat")).arg("vectors").envs(variables()?))
    });
    let mut beside = vec![
        step("judges: programs and packages of others", || of(&judges).map(drop)),
        step("host build of the kernels", || of(&library).map(drop)),
    ];
    let mut main = vec![building];
    let mut waiting = Vec::new(); // mostly for Ray and Dask, which it starts
    if let Some(revision) = changed_since {
        let affected = Affected::since(revision)?;
        println!("to be tested: {}", affected.shown());
        let (has_wheel, has_kat) = (affected.wheel, affected.kat);
        let (programs, variables) = (&programs, &variables);
        main.push(step("tests of these, but for those of documentation", move || {
            affected.run_tests(of(programs)?, &variables()?)
        }));
        main.extend(has_wheel.then_some(wheel));
        main.extend(has_kat.then_some(kat));
    } else {
        main.push(step("conformance and devices", || run_programs(&[], fills_the_machine)));
        // What only the host build of the kernels can show.
        main.push(step("tests that need the host build of the kernels", || {
            run_programs(&["--ignored"], TestProgram::has_tests_of_kernels)
        }));
        main.push(kat);
        beside.push(step("unit tests, properties, doors", || {
            run_programs(&[], |program| !fills_the_machine(program))
        }));
        beside.push(step("examples of the documentation", || {
            run(checking("test").arg("--doc").envs(variables()?))
        }));
        beside.push(step("numbered examples of the crates", || {
            of(&built)?;
            examples::run_all()
        }));
        waiting.push(wheel);
    }
    steps::run_all("test", &[&main, &beside, &waiting])
}

/// Test programs that keep all cores busy, or measure what they decide by; most others wait for programs that they start.
fn fills_the_machine(program: &TestProgram) -> bool {
    ["conformance", "device", "endurance", "tuning"].contains(&program.name.as_str())
}

/// What was made, or why it could not be.
fn of<T, F: FnOnce() -> Result<T>>(made: &LazyLock<Result<T>, F>) -> Result<&T> {
    LazyLock::force(made).as_ref().map_err(|error| anyhow!("{error:#}"))
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
