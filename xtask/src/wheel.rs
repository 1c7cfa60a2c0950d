//! The wheel of the Python package: built, installed where nothing else is, and tested there.

use std::{ffi::OsString, fs, path::PathBuf};

use anyhow::{Context, Result};

use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{command, output, pip_install, root, run, target},
    host_kernels, judges,
};

/// The builder of wheels: the newest of November 2026.
const MATURIN: &str = "maturin==1.16.0";

/// Environment variables of the tests.
type Variables = [(&'static str, OsString)];

/// `cargo xtask wheel`: what is built stays in `target/wheel/dist`.
pub(crate) fn run_task(release: bool) -> Result<()> {
    let mut variables = judges::install()?;
    if !release {
        variables.push((HOST_KERNELS, host_kernels::build()?.into_os_string()));
    }
    test(release, &variables)
}

/// Builds the wheel and runs its tests with these judges.
pub(crate) fn test(release: bool, variables: &Variables) -> Result<()> {
    let wheel = build(release)?;
    println!("{}, {} bytes", wheel.display(), fs::metadata(&wheel)?.len());
    let python = clean_environment(&wheel)?;
    // Alone: the package needs nothing but Python.
    run(command(&python).args(["-I", "-c", "import lanecrypt; print(lanecrypt.devices())"]))?;
    let tests = root().join("crates/python");
    let mut pytest = command(&python);
    pytest
        .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests"])
        .current_dir(tests);
    run(pytest.envs(variables.iter().map(|(name, value)| (name, value))))
}

fn folder() -> PathBuf {
    target().join("wheel")
}

/// The wheel, for this machine's Python and all newer ones.
pub(crate) fn build(release: bool) -> Result<PathBuf> {
    let tools = folder().join(MATURIN);
    let maturin = tools.join("bin/maturin");
    if !maturin.exists() {
        output(pip_install(&tools).arg(MATURIN))?;
    }
    let dist = folder().join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    let profile = if release { "release" } else { "dev" };
    let mut build = command(maturin);
    build.args(["build", "--quiet", "--manifest-path", "crates/python/Cargo.toml"]);
    build.args(["--profile", profile, "--interpreter", "python3", "--out"]).arg(&dist);
    if !release {
        build.args(["--features", "host-kernels"]); // a GPU wherever the tests run
    }
    output(build.env("CARGO_TARGET_DIR", target()))?;
    let mut wheels = fs::read_dir(&dist)?.filter_map(|entry| Some(entry.ok()?.path()));
    wheels.next().context("maturin built no wheel")
}

/// A new virtual environment with the wheel alone; its Python.
fn clean_environment(wheel: &PathBuf) -> Result<PathBuf> {
    let folder = folder().join("venv");
    output(command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let python = folder.join("bin/python");
    let pip = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"];
    output(command(&python).args(pip).arg(wheel))?;
    Ok(python)
}
