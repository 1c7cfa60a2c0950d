//! Constant time, shown: builds and runs `lanecrypt-ct` over every backend.

use std::path::PathBuf;

use anyhow::{Context, Result};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{apt_install, build_one_as_released, command, run, target},
    inside, kernels,
    sources::header,
    wheel,
};

/// Packages between the ciphers and this program. Other checks have them assert, or not optimised.
const BETWEEN: [&str; 5] = [
    "lanecrypt",
    "lanecrypt-luks",
    "lanecrypt-modes",
    "lanecrypt-openssl-provider",
    "lanecrypt-tink",
];

fn program() -> Result<PathBuf> {
    build_one_as_released("lanecrypt-ct", &BETWEEN)
}

pub(crate) fn run_task(filter: Option<&str>) -> Result<()> {
    install_valgrind()?;
    let library = kernels::host::build_for_valgrind()?;
    let mut check = command(program()?);
    check.args(filter).env(HOST_KERNELS, library);
    // Compiled for no backend that somebody asks for by name.
    if filter.is_none_or(|filter| filter.starts_with(header::NAME)) {
        check.arg("--inside").arg(inside::ptx()?);
    }
    run(&mut check)
}

/// Compares run times, on some cores at once or on the GPU. Nothing is installed, and nothing else runs beside it.
pub(crate) fn measure(
    filter: Option<&str>,
    times: usize,
    cores: Option<usize>,
    on_gpu: bool,
) -> Result<()> {
    let mut measure = command(program()?);
    measure.args(filter).arg(format!("--measure={times}"));
    measure.args(cores.map(|cores| format!("--cores={cores}")));
    run(measure.args(on_gpu.then_some("--gpu")))
}

/// The wheel as it is published, under valgrind with Python: it is built for that, which takes minutes.
pub(crate) fn wheel() -> Result<()> {
    install_valgrind()?;
    let python = wheel::clean_environment(&wheel::build()?)?;
    let log = target().join("wheel/valgrind.log");
    let mut trial = command("valgrind");
    trial.args(["--quiet", "--leak-check=no", "--error-limit=no", "--num-callers=20"]);
    trial.arg(format!("--log-file={}", log.display())).arg(python).arg("ct/wheel.py");
    // Python's own allocator reads memory that it has not written.
    run(trial.env("PYTHONMALLOC", "malloc"))
        .with_context(|| format!("{} has what valgrind says", log.display()))
}

fn install_valgrind() -> Result<()> {
    if command("valgrind").arg("--version").output().is_ok() {
        return Ok(());
    }
    apt_install(&["valgrind"])
        .context("valgrind is needed, and could not be installed from the distribution")
}
