//! Constant time, shown: builds and runs `lanecrypt-ct` over every backend.

use anyhow::{Context, Result};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{apt_install, command, run, target, workspace},
    kernels,
};

pub(crate) fn run_task(filter: Option<&str>) -> Result<()> {
    install_valgrind()?;
    let library = kernels::host::build_for_valgrind()?;
    // As users get them: the build that checks has the rounds in functions of their own.
    run(workspace("build").args(["--quiet", "--release", "--bin", "lanecrypt-ct"]))?;
    let program = target().join("release/lanecrypt-ct");
    run(command(program).args(filter).env(HOST_KERNELS, library))
}

fn install_valgrind() -> Result<()> {
    if command("valgrind").arg("--version").output().is_ok() {
        return Ok(());
    }
    apt_install(&["valgrind"])
        .context("valgrind is needed, and could not be installed from the distribution")
}
