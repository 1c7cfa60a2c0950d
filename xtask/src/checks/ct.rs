//! Constant time, shown: builds and runs `lanecrypt-ct` over every backend.

use std::path::PathBuf;

use anyhow::{Context, Result};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{apt_install, build_one_as_released, command, run},
    kernels,
};

/// Packages between the ciphers and this program. Other checks have them assert, or not optimised.
const BETWEEN: [&str; 3] = ["lanecrypt", "lanecrypt-openssl-provider", "lanecrypt-tink"];

fn program() -> Result<PathBuf> {
    build_one_as_released("lanecrypt-ct", &BETWEEN)
}

pub(crate) fn run_task(filter: Option<&str>) -> Result<()> {
    install_valgrind()?;
    let library = kernels::host::build_for_valgrind()?;
    let program = program()?;
    run(command(program).args(filter).env(HOST_KERNELS, library))
}

/// Compares run times. Nothing is installed, and nothing runs beside it.
pub(crate) fn measure(filter: Option<&str>, times: usize) -> Result<()> {
    let program = program()?;
    run(command(program).args(filter).arg(format!("--measure={times}")))
}

fn install_valgrind() -> Result<()> {
    if command("valgrind").arg("--version").output().is_ok() {
        return Ok(());
    }
    apt_install(&["valgrind"])
        .context("valgrind is needed, and could not be installed from the distribution")
}
