//! The tests: everything cargo runs, with the host build of the kernels, then the vectors.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{self, command, output, run, workspace},
    host_kernels, judges, wheel,
};

/// Backends that must run: one of them skipped is a failure.
pub(crate) const EXPECT: &str = "LANECRYPT_EXPECT";

pub(crate) fn run_all() -> Result<()> {
    let library = host_kernels::build()?;
    let kat = command::built("kat", &[])?;
    let mut environment = judges::install()?;
    environment.push((HOST_KERNELS, library.into_os_string()));
    if std::env::var_os(EXPECT).is_none() {
        environment.push((EXPECT, required(&kat)?.into()));
    }
    let variables = environment;
    let environment = || variables.iter().map(|(name, value)| (name, value));
    run(workspace("test").arg("--no-fail-fast").envs(environment()))?;
    // What only the host build of the kernels can show.
    let ignored = ["--lib", "--test", "tuning", "--", "--ignored"];
    run(workspace("test").args(ignored).envs(environment()))?;
    wheel::test(false, &variables)?;
    // What the optimiser makes of the ciphers is what users run.
    let conformance = ["--release", "--test", "conformance"];
    run(workspace("test").args(conformance).envs(environment()))?;
    run(command(&kat).arg("vectors").envs(environment()))
}

/// The registry's backends that need no GPU, as a list, but for those whose instructions this CPU
/// lacks.
fn required(kat: &PathBuf) -> Result<String> {
    let listed = output(command(kat).arg("--list-required").env_remove(EXPECT))?;
    let backends: Vec<_> = listed.lines().collect();
    // kat says nothing of kernels that were left out of it.
    ensure!(backends.iter().any(|name| name.contains("/host-")), "kat has no host-* backend");
    Ok(backends.join(","))
}

/// kat, with the host build of the kernels where it can be made.
pub(crate) fn kat(options: &[String]) -> Result<()> {
    match host_kernels::build() {
        Ok(library) => command::program("kat", &[], options, &[(HOST_KERNELS, library)]),
        Err(error) => {
            eprintln!("the host build of the kernels is left out: {error:#}");
            command::program("kat", &[], options, &[])
        }
    }
}
