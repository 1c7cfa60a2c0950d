//! Constant time, shown: builds and runs `lanecrypt-ct` over every backend.

use anyhow::{Context, Result};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{cargo, command, run, target},
    host_kernels,
};

/// A release as users build it, and valgrind can name the lines of what it finds.
const PROFILE: &str = "constant-time";

pub(crate) fn run_task(filter: Option<&str>) -> Result<()> {
    install_valgrind()?;
    let library = host_kernels::build()?;
    build()?;
    let program = target().join(PROFILE).join("lanecrypt-ct");
    run(command(program).args(filter).env(HOST_KERNELS, library))
}

/// Builds the program with names of functions that say which job they run: the search of its machine
/// code goes by them.
fn build() -> Result<()> {
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut build = cargo();
    build.args(["build", "--quiet", "--profile", PROFILE, "--package", "lanecrypt-ct"]);
    build.env("RUSTFLAGS", format!("{flags} -C symbol-mangling-version=v0"));
    run(build.env_remove("CARGO_ENCODED_RUSTFLAGS"))
}

fn install_valgrind() -> Result<()> {
    if command("valgrind").arg("--version").output().is_ok() {
        return Ok(());
    }
    println!("installing valgrind");
    let installed = run(command("apt-get").args(["update", "-qq"]))
        .and_then(|()| run(command("apt-get").args(["install", "-y", "-qq", "valgrind"])));
    installed.context("valgrind is needed, and could not be installed from the distribution")
}
