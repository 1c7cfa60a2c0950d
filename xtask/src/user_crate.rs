//! The build of tests/user-crate: programs that call the ciphers as a user does.

use std::{ffi::OsString, path::PathBuf, process::Command};

use anyhow::Result;

use crate::command::{cargo, copy, root, run, target};

/// The package's folder.
pub(crate) const FOLDER: &str = "tests/user-crate";

/// Its folder of what is built, below the workspace's.
const TARGET: &str = "user-crate";

/// Checks that all of its programs compile, also the one that only `bench-all --swap` builds.
pub(crate) fn check() -> Result<()> {
    let mut check = of("check")?;
    run(check.args(["--bins", "--features", "swap"]))
}

/// A task of cargo in this package, with the versions of dependencies that the workspace has.
fn of(task: &str) -> Result<Command> {
    let folder = root().join(FOLDER);
    copy(&root().join("Cargo.lock"), &folder.join("Cargo.lock"))?;
    let mut cargo = cargo();
    cargo.args([task, "--quiet", "--release", "--target-dir"]).arg(target().join(TARGET));
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").current_dir(folder);
    Ok(cargo)
}

/// Builds one of its programs as a user does, with cargo's own release profile, but for the versions of
/// dependencies, which are the workspace's; and says where it is.
///
/// `flags` are what rustc is given besides, as `RUSTFLAGS` is.
pub(crate) fn built(program: &str, features: &[&str], flags: Option<OsString>) -> Result<PathBuf> {
    let mut build = of("build")?;
    build.envs(flags.map(|flags| ("RUSTFLAGS", flags)));
    run(build.args(["--bin", program, "--features", &features.join(",")]))?;
    Ok(target().join(TARGET).join("release").join(program))
}
